/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binomial_sum.h - the exact law of a sum of independent binomials. The Poisson binomial mechanism releases
 * such sums.
 */
#ifndef DPF_AUDIT_BINOMIAL_SUM_H
#define DPF_AUDIT_BINOMIAL_SUM_H

#include <stdint.h>

/*
 * ln P[Z = k] of the sum Z of n binomials, of `trials` trials each, with success probabilities p[] in (0, 1).
 * Minus infinity if k is not in 0 .. n trials. To about ten digits, far out in the tails too.
 */
double binomial_sum_log(const double *p, int64_t n, int64_t trials, int64_t k);

/* Operations that one value of it takes: terms of its sum times binomials. */
double binomial_sum_cost(int64_t n, int64_t trials);

#endif
