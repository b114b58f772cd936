/* SPDX-License-Identifier: Apache-2.0 */
/* design_list.h - a list of texts of a sweep's description. */
#ifndef DPF_SWEEP_DESIGN_LIST_H
#define DPF_SWEEP_DESIGN_LIST_H

#include <stddef.h>

#include "base/error.h"

#define DESIGN_MAX_POINTS 100000

struct design_list {
    char **texts;
    size_t n, capacity;
};

/* Takes over a text from malloc. */
void design_list_add(struct design_list *list, char *text);
void design_list_free(struct design_list *list);

#endif
