/* SPDX-License-Identifier: Apache-2.0 */
/* empty_data.h - a file without records in place of [data] path: what the server of a federation has. */
#ifndef DPF_FEDERATION_EMPTY_DATA_H
#define DPF_FEDERATION_EMPTY_DATA_H

#include "run/arguments.h"

struct empty_data {
    int file; /* -1: none */
    char *override;
};

/* Makes the file, and names it among the overrides. */
int empty_data_make(struct empty_data *data, struct arguments *arguments, struct dpf_error *error);
void empty_data_remove(struct empty_data *data);

#endif
