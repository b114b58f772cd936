/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds.h - bounds of epsilon from counts, at a stated confidence.
 *
 * Every bound errs on the private side: of a confidence interval it takes the end that gives the smaller
 * epsilon, of a bisection the end that the counts still refute.
 */
#ifndef DPF_AUDIT_BOUNDS_H
#define DPF_AUDIT_BOUNDS_H

#include <stdint.h>

/*
 * One-sided bounds of Clopper and Pearson on a probability of which k of n independent trials were seen: each
 * is wrong with probability at most alpha. 0 <= k <= n, n >= 1, 0 < alpha < 1.
 */
double bounds_lower(int64_t k, int64_t n, double alpha);
double bounds_upper(int64_t k, int64_t n, double alpha);

/*
 * An event was seen in k of n trials with one data set and in l of m with its neighbour. A release that is
 * (epsilon, delta)-DP has p <= e^epsilon q + delta, so with confidence 1 - alpha its epsilon is at least
 * ln((p - delta) / q), p bounded from below and q from above with alpha / 2 each. 0 where that is negative.
 */
double bounds_epsilon(int64_t k, int64_t n, int64_t l, int64_t m, double delta, double alpha);

/*
 * One run with m canaries, each in or out by a fair coin; r of the coins were guessed, v correctly. The
 * largest probability that an (epsilon, delta)-DP run allows for that, and the largest epsilon that it
 * refutes with confidence 1 - alpha (0: none). Steinke, Nasr, Jagielski, "Privacy Auditing with One (1)
 * Training Run", arXiv 2305.08846, Theorem 5.2 and appendix D. 0 <= v <= r <= m.
 */
double bounds_one_run_chance(int64_t m, int64_t r, int64_t v, double epsilon, double delta);
double bounds_one_run(int64_t m, int64_t r, int64_t v, double delta, double alpha);

#endif
