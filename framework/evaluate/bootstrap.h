/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootstrap.h - confidence intervals of averages over users.
 *
 * A replicate is a population with a random number of copies of each user, Poisson with mean 1; its averages
 * follow from the same rows of sums as those of all users. The interval lies between quantiles
 * of the replicates (the percentile bootstrap: Efron, Tibshirani, An Introduction to the Bootstrap, 1993,
 * section 13.3; Poisson weights: Chamandy et al., Estimating Uncertainty for Massive Data Streams, 2012). It
 * shows how much a figure depends on the users in the test; splits, noise and initial values are other
 * sources of variation.
 */
#ifndef DPF_EVALUATE_BOOTSTRAP_H
#define DPF_EVALUATE_BOOTSTRAP_H

#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"
#include "base/random.h"
#include "dataset/ids.h"

/* Each user's contribution to a row of sums; zeros for users that are left out. */
struct user_sums {
    double *rows;
    int64_t n_users, width;
};
int user_sums_init(struct user_sums *sums, int64_t n_users, int64_t width, struct dpf_error *error);
void user_sums_free(struct user_sums *sums);
double *user_sums_row(const struct user_sums *sums, int64_t user);
/* Adds a user's row to others. */
void user_sums_add(const struct user_sums *sums, int64_t user, double *into);

/* All ranks' rows, each of its own users. */
int user_sums_gather(struct user_sums *sums, const struct dataset *dataset, struct dpf_error *error);

/* Values from a row of sums. */
struct statistic {
    const void *context;
    void (*values)(const void *context, const double *sums, double *out);
    int64_t n;
};

/* How often a user stands in each of n replicates, from uniform numbers in [0, 1). */
void bootstrap_copies(const double *uniform, int64_t n, double *copies);

/*
 * low and high (statistic->n each) of the level, from so many replicates; NaN where no replicate has a value.
 * How often a user stands in each replicate depends on the seed and on the user's id alone.
 */
int bootstrap_intervals(const struct user_sums *sums, const struct id_map *users,
                        const struct random_root *seeded, struct pool *pool, int64_t replicates, double level,
                        const struct statistic *statistic, double *low, double *high,
                        struct dpf_error *error);

#endif
