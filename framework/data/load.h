/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - makes a dataset from [data] and [split].
 *
 * The two parameter tables are part of the configuration's schema ("dpframe describe data"). Loading
 * reads or generates records, maps ids, resolves duplicates, splits, and counts.
 */
#ifndef DPF_DATA_LOAD_H
#define DPF_DATA_LOAD_H

#include "base/error.h"
#include "base/pool.h"
#include "base/random.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "lines/paths.h"
#include "synthetic/generate.h"

/*
 * Checks [data] and [split] against each other and that all files exist, without reading them.
 * value_lo and value_hi get the declared range of a record's value as the loss will see it (1, 1 for
 * implicit feedback); infinite if undeclared. Faults: DPF_FAULT_CONFIG, DPF_FAULT_DATA for files (both
 * values are set by then).
 */
int data_check(const struct config_values *data, const struct config_values *split, double *value_lo,
               double *value_hi, struct dpf_error *error);
/* How many users and items there are, where catalogues say so: indexed as DPF_SIDE_*; -1: there is none. */
int data_listed(const struct config_values *data, const struct config_values *split, int64_t n[2],
                struct dpf_error *error);
/* Whether the first line is a record of this form, where it is not a header: for commands that write a
   configuration and may show the file's content. A run's reports must not depend on it. */
int data_check_record(const struct config_values *data, const struct config_values *split,
                      struct dpf_error *error);

/* Whether the files are what they are declared to be, for the curator's eyes: text, by their first bytes, and records of the
   form, by their first line. What a header begins is an error (DPF_FAULT_DATA); what a record begins is a warning, as a run
   asks lines one by one. Public features are read as a run reads them. */
int data_check_text(const struct config_values *data, const struct config_values *split,
                    struct dpf_error *error);

/*
 * Loads. seeded: the root of run.seed. Faults: DPF_FAULT_DATA, naming file:line, value and remedy. data_read
 * lists faults of single records in out->violations and leaves those records out, or, where records are
 * public and only values are protected, gives them a value in range; data_load reports the first one as an
 * error. What concerns a file as a whole is an error of both.
 */
int data_read(const struct config_values *data, const struct config_values *split,
              const struct random_root *seeded, struct pool *pool, struct dataset *out,
              struct dpf_error *error);
/* The same; of training records by item there are only counts, until data_index_items makes them. */
int data_read_by_user(const struct config_values *data, const struct config_values *split,
                      const struct random_root *seeded, struct pool *pool, struct dataset *out,
                      struct dpf_error *error);
/* Makes the training records by item, if there are none. */
int data_index_items(struct dataset *dataset, struct pool *pool, struct dpf_error *error);
int data_load(const struct config_values *data, const struct config_values *split,
              const struct random_root *seeded, struct pool *pool, struct dataset *out,
              struct dpf_error *error);

/* How many users and items data_read would find; generated data is not generated for it. */
int data_sizes(const struct config_values *data, const struct config_values *split,
               const struct random_root *seeded, int64_t *users, int64_t *items, struct dpf_error *error);

/*
 * Loading in two steps, for runs that read the same files and split them differently. What data_parse reads
 * is the same wherever data_source_key is; data_divide uses it up, whatever its status, and makes what
 * data_read_by_user does. After a fork each process has a copy to use up.
 */
struct data_parsed;
int data_parse(const struct config_values *data, const struct config_values *split,
               const struct random_root *seeded, struct pool *pool, struct data_parsed **out,
               struct dpf_error *error);
int data_divide(struct data_parsed *parsed, const struct config_values *data,
                const struct config_values *split, const struct random_root *seeded, struct pool *pool,
                struct dataset *out, struct dpf_error *error);
void data_parsed_free(struct data_parsed *parsed);
/* Names what data_parse reads; seed is [run] seed. Free it. */
char *data_source_key(const struct config_values *data, const struct config_values *split, int64_t seed);
/*
 * Calls visit for each key of [data] and [split] that names files, always in the same order, with the files. A
 * status other than 0 ends it.
 */
typedef int (*data_file_visitor)(void *context, const char *key, const struct paths *paths,
                                 struct dpf_error *error);
int data_visit_files(const struct config_values *data, const struct config_values *split,
                     data_file_visitor visit, void *context, struct dpf_error *error);
/* SHA-256 over all files that [data] and [split] name, as 64 hex digits; of nothing if data is generated. */
int data_files_sha256(const struct config_values *data, const struct config_values *split, char hex[65],
                      struct dpf_error *error);

#endif
