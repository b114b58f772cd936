/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - several ranks read a file, each a part of it, and exchange ids and records.
 *
 * A rank reads the lines that begin in its part of each file (file_part.h). It sends each id to the rank that the
 * id's hash names, which removes duplicates; then all ranks receive all ids, sorted as in one process, so indices
 * do not depend on the parts. It sends each record to the rank that has the user, in the order of the file; that
 * rank builds, cleans and divides rows as one process would, and sends training records to the rank that has the
 * item, by user. So a rank holds the records of its part, its users and its items; only ids and numbers of records
 * are complete on every rank.
 */
#ifndef DPF_DATA_SPREAD_H
#define DPF_DATA_SPREAD_H

#include "reading/data_options.h"
#include "dataset/dataset.h"
#include "dataset/ids.h"
#include "reading/table.h"

/*
 * Whether the files can be read in parts; if not, each rank reads all of them and keeps its own (shares.h).
 * Not: one process; generated data; files with quoted line ends or sections; what looks at records of several
 * users (filters, links, an exact split). Of a compressed file the first rank reads all.
 */
int spread_is_possible(const struct data_options *options);

/* The ids of all ranks, each once. */
int spread_ids(const struct ids *own, struct ids *all, struct dpf_error *error);
/* Decides whose users are whose, by the numbers of their lines. Ids are final. */
int spread_users(const struct table *table, struct dataset *dataset, struct dpf_error *error);
/* The table becomes that of the rank's users, from all ranks' parts. */
int spread_records(struct table *table, const struct dataset *dataset, struct dpf_error *error);
/* Training records by item for the rank's items. */
int spread_items(struct dataset *dataset, struct dpf_error *error);
/* All ranks' numbers of records of each user, and sums of what was counted. */
int spread_finish(struct dataset *dataset, struct dpf_error *error);

#endif
