/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampled_metrics.h - metrics of a model on a sample of users, made estimates of those on all users.
 *
 * What other models do for a user says much of what this one does, and they were evaluated on all users. So a user's
 * result is predicted from theirs by least squares on the sample, and the mean of the prediction over all users is known: the
 * regression estimator of survey sampling (Cochran, Sampling Techniques, 3rd edition, 1977, sections 7.3 and 6.8 for
 * quotients).
 */
#ifndef DPF_EVALUATE_SAMPLED_METRICS_H
#define DPF_EVALUATE_SAMPLED_METRICS_H

#include "evaluate/evaluate.h"

#define SAMPLED_MOST_KNOWN 8

/*
 * Replaces the values of metrics that have results by user (user_values.h), and their intervals: with 95 % they have the
 * value that evaluating all users would give, not that of a population. Others, such as counts of users and coverage, are
 * not known of all: NaN. known: of other models on all users, or NULL; those with other metrics or users are left out.
 * Returns how many users the sample has; 0, and nothing is changed, where it has all of them, or nothing is known.
 */
int64_t sampled_metrics_extend(struct metrics *sampled, const struct metrics *const *known, int n_known);

#endif
