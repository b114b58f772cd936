/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noisy_metrics.h - released metrics: sums of users' bounded contributions, with noise.
 *
 * A user contributes a vector of numbers, group after group. A group is a set of metrics that are averaged
 * over the same things, and their count c:
 *
 *   records   errors of predicted values over test records (mse, rmse, mae). With n test records the user
 *             counts c = min(n, R)/R, R = release-records, and each metric x = c y, where y is the user's
 *             own mean of it.
 *   users     the same by user (mse-user, mae-user, rmse-user): c = 1 with any test record, else 0.
 *   rankings  metrics of the user's list: c = 1 with any positive, else 0.
 *
 * y is clipped to its range and moved to the middle of it, so that |y| <= 1: errors lie between 0 and
 * release-error, metrics of a list between 0 and 1. The release consists of the sums over users of
 * every number and count, with noise. A metric is the ratio of its sum to its group's count, so the number of
 * users with test records stays hidden too. rmse follows from the sum of mse, f1-of-means from precision and
 * recall, so neither has its own number.
 *
 * Sensitivity. All of it is on a grid of step g = 2^-b, b >= 0: numbers of a user are integers C = c/g and X
 * with |X| <= C <= 1/g, since rounding to the grid is monotone; sums are of integers, and exact. A user's
 * vector follows from earlier releases and from the user's own records in the training and test parts
 * (condition C2). So between neighbours, who differ in one user, or in one record of one user, one
 * vector differs. With m metrics in G groups, in steps of g, and s = 1/g:
 *
 *   a user comes or goes    the vector itself: each of m + G numbers is at most s. L1 (m + G) s,
 *                           L2 sqrt(m + G) s.
 *   other records           two vectors, of counts C, C' and metrics X, X' in a group of m' metrics. Its
 *                           part of the squared L2 norm is at most m' (C + C')^2 + (C - C')^2. This is
 *                           convex in (C, C'), so it is largest in a corner of [0, s]^2: 4 m' s^2, or
 *                           (m' + 1) s^2, which is not larger as m' >= 1. L2 2 sqrt(m) s; in the same way
 *                           L1 2 m s. One record of the user can turn each vector into any other.
 *
 * A user whose scores fail or are not finite contributes zeros and stops nothing (C12).
 */
#ifndef DPF_EVALUATE_NOISY_METRICS_H
#define DPF_EVALUATE_NOISY_METRICS_H

#include "dpframe/privacy.h"
#include "evaluate/bootstrap.h"
#include "evaluate/evaluate_options.h"

enum noisy_group { NOISY_RECORDS, NOISY_USERS, NOISY_RANKINGS, NOISY_N_GROUPS };

/* A sum that is released. */
struct noisy_sum {
    enum noisy_group group;
    enum metric_id id; /* mse for rmse, too */
    int is_count;      /* of its group: comes after the group's metrics */
    int64_t cutoff;    /* index, of metrics that have one */
    double middle, half;
};

#define NOISY_MOST_SUMS 128

struct noisy_layout {
    int n;
    struct noisy_sum sums[NOISY_MOST_SUMS];
    int count_at[NOISY_N_GROUPS]; /* -1: no such group */
    double most_records;          /* R */
};

/*
 * From the options alone: which sums there are. value_lo, value_hi: the declared range, infinite where there
 * is none. At least one metric must be a mean over users or records.
 */
int noisy_layout_make(const struct evaluate_options *options, double value_lo, double value_hi,
                      struct noisy_layout *out, struct dpf_error *error);

/* How far one user moves the sums, in units of the largest contribution to one of them. */
void noisy_moves(const struct noisy_layout *layout, struct metric_moves *out);

/*
 * A user's contribution in steps of the grid, a power of two that is at most 1: layout->n integers. Rows
 * are those of the passes; NULL: there was no such pass.
 */
void noisy_contribution(const struct noisy_layout *layout, const struct evaluate_options *options,
                        const double *rating, const double *ranking, double grid, int64_t *out);

/* The sums of what all users contribute, exactly. Rows of a pass that was not made are NULL. */
void noisy_add_up(const struct noisy_layout *layout, const struct evaluate_options *options,
                  const struct user_sums *rating, const struct user_sums *ranking, double grid,
                  int64_t *sums);

/* Adds a draw of integer noise to each of noise->numbers sums. A key gives the same draws again: it serves
   one release. */
int noisy_draw(const struct metric_noise *noise, int64_t *sums, struct dpf_error *error);

/* Metrics from sums with noise (in steps of the grid), in the order in which they were chosen; the others
   are left out. */
void noisy_finish(const struct noisy_layout *layout, const struct evaluate_options *options,
                  const struct metric_noise *noise, const int64_t *sums, struct metrics *out);

#endif
