/* SPDX-License-Identifier: Apache-2.0 */
/*
 * item_names.h - names of items for people: a column of a public file, [data] item-names = FILE:COLUMN.
 *
 * Nothing is trained on them, and no name that is missing stops a run: which items occur may be private.
 */
#ifndef DPF_READING_ITEM_NAMES_H
#define DPF_READING_ITEM_NAMES_H

#include "base/error.h"
#include "config/config.h"
#include "dataset/dataset.h"

/* FILE:COLUMN, as configured; "" if there is none. */
const char *item_names_configured(const struct config_values *data);
/* Whether the file is there and has the columns. Faults: DPF_FAULT_CONFIG, DPF_FAULT_DATA. */
int item_names_check(const struct config_values *data, struct dpf_error *error);
/* A text for each item, "" where the file has none; out stays empty if no file is named. Faults: DPF_FAULT_DATA, naming
   file, line and value. */
int item_names_load(const struct config_values *data, const struct id_map *items, struct id_map *out,
                    struct dpf_error *error);

#endif
