/* SPDX-License-Identifier: Apache-2.0 */
/* recommend_lists.h - lists of items for one user or for all, from the directory of a run. */
#ifndef DPF_SAVED_RECOMMEND_LISTS_H
#define DPF_SAVED_RECOMMEND_LISTS_H

#include "run/arguments.h"

/* Of arguments->rest[0], for --user or --all, as CSV. */
int recommend_lists(const struct arguments *arguments, struct dpf_error *error);

#endif
