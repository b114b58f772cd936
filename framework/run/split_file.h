/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split_file.h - private/split of a run: each user's training and test records, so that a list for one user needs no other
 * user's records.
 *
 * A command that has read and split the training file for one user writes it; the next one reads that user's rows alone. It
 * counts only while the configuration and all files that it names are as they were (adr/0059), and may be removed at any
 * time.
 */
#ifndef DPF_RUN_SPLIT_FILE_H
#define DPF_RUN_SPLIT_FILE_H

#include "dataset/dataset.h"
#include "plan/plan.h"
#include "run/arguments.h"

#define SPLIT_FILE "private/split"

/* What it was made from: the run, the arguments, and the files as they are now, by size, time and place. hash: of the data
   that the run was trained on. */
struct split_key {
    unsigned char bytes[32];
};
int split_key_make(const struct arguments *arguments, const char *directory, const struct plan *plan,
                   const char *hash, struct split_key *out, struct dpf_error *error);

/* After data_read_by_user. Not where records are more than items and values, and not if it cannot be written. */
void split_file_write(const char *directory, const struct split_key *key, const struct dataset *dataset);

/* A user's records, and how many records each item has, into a data set that has ids and no records. 1; 0: there is no such
   file, or it is of something else. */
int split_file_read(const char *directory, const struct split_key *key, int64_t user,
                    struct dataset *dataset);

#endif
