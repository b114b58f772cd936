/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weights.h - privacy weights: a record's budget relative to the largest one.
 *
 * The record of user i and item j has the budget epsilon * W_ij, W_ij in (0, 1]. Weights are products of a
 * user's and an item's, drawn by groups or read from files; or they belong to records: a column of the
 * ratings, or marks of sensitive records.
 */
#ifndef DPF_DATA_WEIGHTS_H
#define DPF_DATA_WEIGHTS_H

#include "base/pool.h"
#include "base/random.h"
#include "dataset/dataset.h"
#include "reading/data_options.h"

/* The weights.* keys of [data]; column_weight: the ratings have a column of weights. */
int weights_read(const struct config_values *data, int column_weight, struct weights_options *out,
                 struct dpf_error *error);
/* Reads dataset->weights from files, where they come from files; no seed and no split changes them. */
int weights_load(const struct data_options *options, struct pool *pool, struct dataset *dataset,
                 struct dpf_error *error);
/* Draws dataset->weights unless they were read, and gives the records of both parts theirs, by user: before
   they are transposed. Draws belong to ids (base/prf.h): a weight does not depend on other users or items. */
int weights_assign(const struct data_options *options, const struct random_root *seeded,
                   struct dataset *dataset, struct dpf_error *error);

/* The range and the mean of privacy weights, as far as the configuration tells; the mean is NaN, and hi
   infinite, where only the data does. */
struct data_weight_range {
    double lo, hi, mean;
};
void data_weight_range(const struct config_values *data, struct data_weight_range *out);

#endif
