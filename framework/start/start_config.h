/* SPDX-License-Identifier: Apache-2.0 */
/* start_config.h - a configuration for somebody's own file of records, written and checked. */
#ifndef DPF_START_START_CONFIG_H
#define DPF_START_START_CONFIG_H

#include "run/arguments.h"

/* For the file rest[0] and the facts after it. Prints what it wrote, promises and expects. */
int start_config(struct arguments *arguments, struct dpf_error *error);

#endif
