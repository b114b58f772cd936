/* SPDX-License-Identifier: Apache-2.0 */
/* similar_items.h - the items most similar to one, from the directory of a run. */
#ifndef DPF_SAVED_SIMILAR_ITEMS_H
#define DPF_SAVED_SIMILAR_ITEMS_H

#include "run/arguments.h"

/* Of arguments->rest[0], to --item, as CSV. */
int similar_items(const struct arguments *arguments, struct dpf_error *error);

#endif
