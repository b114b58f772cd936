/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_user_file.h - private/by_user.npy: what each user contributes to the metrics of the test part, see
 * evaluate/user_values.h. Its rows are those of the run's list of users; run.json names its columns.
 */
#ifndef DPF_RUN_BY_USER_FILE_H
#define DPF_RUN_BY_USER_FILE_H

#include <jansson.h>

#include "evaluate/user_values.h"

#define BY_USER_FILE "private/by_user.npy"

/* Whether there is anything to write; values may be NULL. */
int by_user_exists(const struct user_values *values);
/* What run.json says of the columns. New reference. */
json_t *by_user_json(const struct user_values *values);
int by_user_write(const char *directory, const struct user_values *values, struct dpf_error *error);
/* *out is NULL on failure: a fault of the data that names the file. */
int by_user_read(const char *directory, const json_t *run, struct user_values **out, struct dpf_error *error);

#endif
