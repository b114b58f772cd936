/* SPDX-License-Identifier: Apache-2.0 */
/* load_for_items.h - loads records for a trained model: the model's items, the file's users. */
#ifndef DPF_DATA_LOAD_FOR_ITEMS_H
#define DPF_DATA_LOAD_FOR_ITEMS_H

#include "data/load.h"
#include "reading/data_options.h"

/* The ids of a file with one a line, in the order of its lines. Free it with id_map_free. */
int id_map_read(const char *path, struct id_map *out, struct dpf_error *error);

/* Texts of that many items, a line each; lines may be empty, or the same. */
int id_map_read_names(const char *path, int64_t n, struct id_map *out, struct dpf_error *error);

/*
 * A later file, read in the form of the run's own, which has a header: its first line is no record, and a fault if it names an
 * item of the model and no column (DPF_FAULT_DATA). A file without a header would lose a record in silence.
 */
int data_check_first_line(const char *path, const struct file_options *options, const struct id_map *items,
                          struct dpf_error *error);

/* Counts of a file's records whose users or items the model does not have. */
struct left_records {
    int64_t unknown_items; /* records of items that it does not know */
};

/*
 * As data_load, with all records in the training part ([split] kind must be none). items, which the data set
 * takes over, whatever the status, replaces the file's own items. Public features are those of these items.
 */
int data_load_for_items(const struct config_values *data, const struct config_values *split,
                        const struct random_root *seeded, struct pool *pool, struct id_map *items,
                        struct dataset *out, struct left_records *left, struct dpf_error *error);
/* The public features and words of the items of a data set, which replace those that it has. */
int data_load_item_features(const struct config_values *data, struct dataset *dataset,
                            struct dpf_error *error);

#endif
