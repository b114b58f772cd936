/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count_posterior.h - what noisy counts say of the true ones, by empirical Bayes.
 *
 * The noise is known, and all items' counts together show how counts are distributed: maximum likelihood on a grid, by
 * EM (the nonparametric one of Kiefer and Wolfowitz, Ann. Math. Stat. 1956). An item's count is then distributed by Bayes'
 * rule. Everything is computed from the released counts, so it costs nothing.
 */
#ifndef DPF_RATINGS_COUNT_POSTERIOR_H
#define DPF_RATINGS_COUNT_POSTERIOR_H

#include <stdint.h>

/* Numbers of work for n items. */
int64_t count_posterior_size(int64_t n);
/*
 * sums: counts over `root`, with Gaussian noise of deviation sigma, which is 0 without noise. Of each item the mean of the
 * count and of log(count + smooth); of few items, and without noise, the count is what the sum says, 0 at least. Never
 * fails; all results are finite if the sums are.
 */
void count_posterior(const double *sums, int64_t n, double sigma, double root, double smooth, double *work,
                     double *mean, double *mean_log);

#endif
