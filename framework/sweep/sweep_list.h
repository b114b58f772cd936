/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_list.h - the progress of a sweep's points, read from its directory alone: no plugin is loaded. */
#ifndef DPF_SWEEP_SWEEP_LIST_H
#define DPF_SWEEP_SWEEP_LIST_H

#include "run/arguments.h"

/* dpframe sweep --list: one line for each point, or a JSON array with --json. */
int sweep_list(const struct arguments *arguments, struct dpf_error *error);
/* What a report of the directory lacks, on standard output; nothing if all points are done. */
int sweep_list_missing(const char *directory, struct dpf_error *error);

#endif
