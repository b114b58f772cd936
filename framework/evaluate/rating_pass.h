/* SPDX-License-Identifier: Apache-2.0 */
/* rating_pass.h - errors of predicted values, over records, by user and by band of activity. */
#ifndef DPF_EVALUATE_RATING_PASS_H
#define DPF_EVALUATE_RATING_PASS_H

#include "evaluate/bootstrap.h"
#include "evaluate/evaluate_options.h"

/* Means over n; NaN if n is 0. */
struct rating_error {
    int64_t n;
    double squared;
    double absolute;
};

struct rating_results {
    struct rating_error records;
    struct rating_error users;  /* means of each user's MSE and MAE */
    double rmse_by_user;        /* mean of each user's RMSE */
    int64_t without_scores;     /* users that are left out: only where metrics are released */
    int64_t cold;               /* records whose user or item has no training record */
    struct rating_error *bands; /* n_bands + 1 of them if there are boundaries, else NULL */
    struct user_sums by_user;   /* of the test part, or where intervals are asked for */
};
/* The averages, without bands, from a row of sums. */
void rating_averages(const double *sums, struct rating_results *out);

int rating_pass(const struct evaluate_options *options, const struct dataset *dataset,
                const struct scorer *scorer, struct pool *pool, int train_part, struct rating_results *out,
                struct dpf_error *error);
void rating_results_free(struct rating_results *results);

/* sum over k < l of (L_k - L_l)^2 / g^2 over the g bands that have records; NaN without any. */
double rating_band_variance(const struct rating_error *bands, int64_t n, int64_t *used);

#endif
