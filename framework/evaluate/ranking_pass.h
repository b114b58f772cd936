/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranking_pass.h - ranking metrics over all users with positives, and over bands of users and of items.
 *
 * A pass adds up one row of sums over users. Every average follows from such a row: that of all users, and
 * that of a resampled population (bootstrap.h).
 */
#ifndef DPF_EVALUATE_RANKING_PASS_H
#define DPF_EVALUATE_RANKING_PASS_H

#include "evaluate/bootstrap.h"
#include "evaluate/evaluate_options.h"

struct ranking_results {
    double *sums;
    int64_t without_positives; /* users that are left out */
    int64_t short_of_negatives;
    int64_t without_scores;   /* users that are left out: only where metrics are released */
    double *coverage;         /* by cut-off; NULL unless it was asked for */
    double *gini;             /* the same */
    struct user_sums by_user; /* of the test part, or where intervals are asked for */
};

int ranking_pass(const struct evaluate_options *options, const struct dataset *dataset,
                 const struct scorer *scorer, const struct random_root *seeded, struct pool *pool,
                 int train_part, struct ranking_results *out, struct dpf_error *error);
void ranking_results_free(struct ranking_results *results);

/* Users with positives: all of them (band -1) or those of a band of activity. */
double ranking_users(const struct evaluate_options *options, const double *sums, int64_t band);
/* Mean of a metric by list over those users; NaN if there are none. */
double ranking_mean(const struct evaluate_options *options, const double *sums, int64_t band,
                    enum metric_id id, int64_t cutoff);
double ranking_relative_rank(const double *sums);
/* Positives that are items of a band of popularity, and the share of them that is among the first k. */
double ranking_positives(const struct evaluate_options *options, const double *sums, int64_t band);
double ranking_found(const struct evaluate_options *options, const double *sums, int64_t band,
                     int64_t cutoff);

#endif
