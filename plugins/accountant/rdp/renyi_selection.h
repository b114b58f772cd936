/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renyi_selection.h - the Renyi curve of a private selection from those of its candidates.
 *
 * Q draws a candidate by a public law and runs it; its output is the candidate, what the run releases, and
 * its score. Its divergences are at most the largest of any candidate, R(a): the candidate is part of the
 * output and drawn alike for both neighbours. A draws K, runs Q that often and releases the output of the
 * best score. Ties go to the first; as the runs are alike and independent that is any of them with the same
 * probability, so that outputs are totally ordered after a random number is added to each.
 *
 * Papernot, Steinke, arXiv 2110.03620. With f the generating function of K, the density of A is that of Q
 * times f'(q), where q is the probability that Q is worse (or level, and lower in the random number), so
 *   e^{(a-1) D(A||A')} <= Pr[K = 0] + e^{(a-1) R(a)} max f'(q)^a f'(q')^{1-a},
 * where (q, q') are two numbers that one function of Q's output has under the neighbours.
 *
 * Truncated negative binomial (Theorem 2): f'(q) = mean (gamma / (1 - (1-gamma) q))^{1+eta}, and any order b
 * that relates q and q' gives
 *   D_a <= R(a) + (1+eta) ((1-1/b) R(b) + ln(1/gamma)/b) + ln(mean)/(a-1),   b in [1, infinity].
 *
 * Poisson (Theorem 6): f'(q) = mean e^{mean (q-1)}. Where Q is (e, d)-DP with e^e <= 1 + 1/(a-1),
 *   a q - (a-1) q' - 1 <= (a-1) d,   so   max <= mean e^{(a-1) mean d}.
 * d comes from the curve; where all releases of a run are Gaussian without a draw it is that of the Gaussian pair, exactly.
 * No run at all is an outcome, too, of probability e^-mean. The theorem leaves it out; it counts here:
 *   D_a <= ln(e^-mean + mean e^{(a-1) (R(a) + mean d)}) / (a-1).
 * Without it a mean of 0.1 and a mechanism that reads no data would have a negative divergence.
 */
#ifndef RENYI_SELECTION_H
#define RENYI_SELECTION_H

#include "dpframe/selection.h"
#include "order_search.h"
#include "renyi_releases.h"

struct renyi_selection {
    dpf_selection law;
    struct renyi_releases *candidates; /* as many as the law states */
    double share;                      /* negative binomial: (1+eta) times the least over b */
    double *orders, *values;           /* Poisson: R at some orders, ascending */
    int64_t n_orders;
    double mu; /* Poisson: one run is dominated by a Gaussian pair of this mean; NaN if it is not */
};

/* The candidates are there: what is needed of their curve. */
dpf_status renyi_selection_prepare(const dpf_host *host, const struct order_list *list,
                                   struct renyi_selection *selection);
/* Of one copy. */
double renyi_selection_at(const struct renyi_selection *selection, double order);
void renyi_selection_free(const dpf_host *host, struct renyi_selection *selection);

#endif
