/* SPDX-License-Identifier: Apache-2.0 */
/* catalogue_items.h - a catalogue of items from what a run has released. */
#ifndef DPF_SAVED_CATALOGUE_ITEMS_H
#define DPF_SAVED_CATALOGUE_ITEMS_H

#include "run/arguments.h"

/* Of arguments->rest[0]: the items that it ranks first for somebody of whom nothing is known, an id a line. */
int catalogue_items(const struct arguments *arguments, struct dpf_error *error);

#endif
