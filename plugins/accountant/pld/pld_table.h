/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_table.h - dominating pairs that are lists of points: of the Poisson binomial mechanism, and of what is
 * only known by a bound of its hockey-stick divergence.
 *
 *   Poisson    For one mix of the other clients, the divergence at epsilon is the largest value of
 *   binomial   P(Z >= k) - y Q(Z >= k) over k, y = e^epsilon: a maximum of lines in y, and so is the largest
 * over all mixes and both directions (pbm_mixes.h). It is convex and falls, so it is the divergence of a pair
 * (Zhu, Dong, Wang, arXiv 2106.08567, Lemma 9), whose points are where lines meet: from line (A, B) to line
 * (A', B'), of mass A - A' under P and B - B' under Q. No single mix dominates. Rounding errors and the
 * masses that mixes leave out are added to A and taken from B.
 *
 *   zCDP       (xi, rho)-zCDP bounds the divergence at every epsilon (concentrated.h), in both directions,
 * and so at -epsilon: H(e^-x) = 1 - e^-x (1 - H'(e^x)). The chords between the bounds at a few thousand
 * points are above the true divergence, which is convex. One pair stands for all such releases of a ledger
 * together: their xi and rho add, however they alternate with the others, which may be judged apart
 * (concurrent composition: Vadhan, Zhang, arXiv 2207.08335).
 */
#ifndef PLD_TABLE_H
#define PLD_TABLE_H

#include "concentrated.h"
#include "pbm_mixes.h"

struct pld_table {
    int64_t n;
    double *loss;    /* ascending */
    double *p_below; /* n + 1 of them: P at the first i points; q_below alike */
    double *q_below;
    double *p_above; /* P at the points from i on */
    double *q_above;
    double infinite; /* mass of P apart */
};

/* NULL if memory runs out. */
struct pld_table *pld_table_pbm(const dpf_host *host, const struct pbm_mixes *pbm);
/* A pair that does occur: the first mix of a list that has them all. */
struct pld_table *pld_table_pbm_mix(const dpf_host *host, const struct pbm_mixes *pbm);
/* rho > 0. */
struct pld_table *pld_table_concentrated(const dpf_host *host, const struct concentrated *bound);
void pld_table_free(const dpf_host *host, struct pld_table *table);

/* How many points have at most that loss. */
int64_t pld_table_find(const struct pld_table *table, double loss);

#endif
