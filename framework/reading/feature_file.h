/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feature_file.h - reads a file of public features, and selects the rows of the run's ids.
 *
 * The columns, their means and their deviations depend on the file alone: all lines count, also those of ids
 * that occur nowhere else. So no user's records can change them.
 */
#ifndef DPF_READING_FEATURE_FILE_H
#define DPF_READING_FEATURE_FILE_H

#include "dataset/dataset.h"
#include "reading/feature_options.h"

/* Reads the file and fills out with a row for each id of rows, NULL: of the file; out stays empty without a path.
   Faults: DPF_FAULT_DATA, naming file, line and value. */
int feature_file_load(const struct feature_options *options, const struct id_map *rows,
                      struct feature_table *out, struct dpf_error *error);

/* Words of titles, which stand in the column that year-of names, as categories; empty without such a column. */
int feature_file_words(const struct feature_options *options, const struct id_map *rows,
                       struct feature_table *out, struct dpf_error *error);

/* Whether home terms can have tables of the file's facts (feature_classes.h): of all lines, of which a run has some. A file that
   is not here is not checked. */
int feature_file_check_sets(const struct feature_options *options, struct dpf_error *error);

#endif
