/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - counts of loaded records, users and items. */
#ifndef DPF_DATASET_SUMMARY_H
#define DPF_DATASET_SUMMARY_H

#include "dataset/dataset.h"

/* Fills ratings, users, items, value statistics and cold counts from the records of both parts. */
int summary_fill(struct dataset *dataset, struct dpf_error *error);

/* Whether no line is a record: no key of [data] left any out either. */
int summary_has_no_record(const struct dataset_summary *summary);

/* The one-line summary. Free it. */
char *data_summary_text(const struct dataset *dataset);
/* The same of the server of a federation, which knows catalogues alone. Free it. */
char *data_catalogues_text(const struct dataset *dataset);

#endif
