/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feature_file.h - a file of public features, read as it is, and as rows of the run's ids.
 *
 * What columns there are, and their means and deviations, follows from the file alone: all of its lines
 * count, also those of ids that occur nowhere else. So nobody's records can change them.
 */
#ifndef DPF_READING_FEATURE_FILE_H
#define DPF_READING_FEATURE_FILE_H

#include "dataset/dataset.h"
#include "reading/feature_options.h"

/* Reads the file and fills out with a row for each id of rows; out stays empty without a path.
   Faults: DPF_FAULT_DATA, naming file, line and value. */
int feature_file_load(const struct feature_options *options, const struct id_map *rows,
                      struct feature_table *out, struct dpf_error *error);

#endif
