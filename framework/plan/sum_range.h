/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum_range.h - where the numbers of a sum of honest messages lie, in steps of their grid.
 *
 * Whether sums fit 64 bits (condition C12) and whether a sum that was opened can be one of honest messages (sum_close)
 * are judged by the same bounds.
 */
#ifndef DPF_PLAN_SUM_RANGE_H
#define DPF_PLAN_SUM_RANGE_H

#include "plan/plan.h"

/* What bounds the numbers of one block. */
struct sum_range {
    double most;     /* a contribution, in units of the value; NaN or infinite: not bounded */
    double each;     /* contributions of a message */
    double messages; /* of a sum; those that were sent, where a message is a user's */
};
/* Of block b, or block b - n_blocks of the Gram row. users: that may send. */
struct sum_range plan_sum_range(const struct plan *plan, const struct term_plan *term, int b, double users);

/* Whether sums of a term stay within 64 bits. */
struct sum_fit {
    int block;      /* the first whose sums may not; -1: all do */
    int unbounded;  /* since nothing public bounds a contribution to one of them */
    int fewer_bits; /* with grids so much coarser all do; 0 if they do, or no grid helps */
};
/* For term->noise. users: that may send. */
struct sum_fit plan_sums_fit(const struct plan *plan, const struct term_plan *term, double users);

/*
 * The bound on a column of a sum over n messages: n `message` + 64 (sqrt(n `variance`) + 1) in size; or from 0 to n `most`.
 *
 * A number of an honest message is never larger than `message` without its noise. The noise of a sum is beyond 64
 * of its standard deviations d with a probability of at most 2^-101:
 *
 *     Gaussian, discrete too    subgaussian with proxy d^2: 2 exp(-2048)
 *     Laplace of scale s, n of them or shares that make up r >= 1 of them, discrete or not: E exp(u X) is at most
 *                               (1 - u^2 s^2)^-r for u s < 1, and d^2 = 2 r s^2. u = 0.8 / s bounds the tail by exp(1.03 r -
 *                               72.4 sqrt(r)), which is below exp(-71) for 1 <= r <= 2500; u = 32 / d by exp(-1000) beyond
 *     Skellam                   E exp(u X) = exp(d^2 (cosh u - 1)); u = 1 bounds the tail by exp(0.55 d^2 - 64 d), below
 *                               exp(-70) for 1.2 <= d <= 100; u = 32 / d by exp(-1000) beyond
 *
 * With 2^60 numbers in a run, that is far below 2^-40 a run.
 */
struct sum_bound {
    double message;  /* NaN: nothing is known */
    double variance; /* of the noise of a message; where every row has its noise once, see `once` */
    double once;     /* variance that a sum has whatever n */
    double most;     /* above 0: numbers are from 0 to `most`, noise included */
    double messages; /* above 0: `message` counts so often, whatever n */
};
/* For all columns of a message of the term: first those of its rows, then those of the Gram row. out has room for twice
   the width of what is sent. */
void plan_sum_bounds(const struct plan *plan, const struct term_plan *term, const dpf_noise_plan *noise,
                     struct sum_bound *out);
/* The largest size of a number in a sum of n honest messages; NaN or infinite: not known. */
double sum_bound_largest(const struct sum_bound *bound, int64_t n);

#endif
