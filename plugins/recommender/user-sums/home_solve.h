/* SPDX-License-Identifier: Apache-2.0 */
/* home_solve.h - a user's own regression on what was released of items, which stays with the user. */
#ifndef DPF_USER_SUMS_HOME_SOLVE_H
#define DPF_USER_SUMS_HOME_SOLVE_H

#include <stdint.h>

/* A user's records. */
struct own_records {
    int64_t n;
    const int32_t *items;
    const double *values;
};

/*
 * The mean of t ~ N(0, I) given values b_i + q_i . t + noise of variance residual_variance + variance_i: d
 * numbers. factor (d x d) becomes the Cholesky factor of the inverse of its covariance.
 */
void home_solve(int64_t d, const double *loadings, const double *bias, const double *variance,
                double residual_variance, const struct own_records *own, double *t, double *factor);

#endif
