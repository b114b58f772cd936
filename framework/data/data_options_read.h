/* SPDX-License-Identifier: Apache-2.0 */
/* data_options_read.h - turns the values of [data] and [split] into options, and answers what follows from
 * them alone. */
#ifndef DPF_DATA_DATA_OPTIONS_READ_H
#define DPF_DATA_DATA_OPTIONS_READ_H

#include "reading/data_options.h"

/* Checks the sections against each other too. */
int data_options_read(const struct config_values *data, const struct config_values *split,
                      struct data_options *out, struct dpf_error *error);

/* Warns of keys that others make meaningless: most likely a mistake, unless an included file had them for a
   kind that is no longer asked for. */
void data_options_warn(const struct config_values *data, const struct config_values *split,
                       const struct data_options *options);

enum data_feedback data_feedback(const struct config_values *data);

/* Folds of "[split] kind = k-fold, fold = all", which describes a run for each; 0: one run. */
int64_t data_all_folds(const struct config *config);
/* 1 if [split] makes a test part. */
int data_is_split(const struct config_values *split);
/* 1 if [data] asks for generated ratings, so that there is no file. */
int data_is_generated(const struct config_values *data);
/* The generator's options from the synthetic.* keys of [data], whatever its format. */
int data_synthetic_options(const struct config_values *data, struct generate_options *out,
                           struct dpf_error *error);

#endif
