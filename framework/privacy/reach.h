/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.h - what a guarantee implies: for groups of units, and for a test between neighbours.
 *
 * Groups. k units are k steps between neighbours. A release of additive noise without an amplifying draw
 * moves by at most k times its sensitivity, whatever came before, and is accounted for with that sensitivity.
 * Otherwise, for each epsilon, a group has (k epsilon, delta (e^{k epsilon} - 1)/(e^epsilon - 1)).
 *
 * Tests. A test between two neighbours with false alarm rate a has a miss rate of at least the maximum over
 * epsilon of 1 - delta(epsilon) - e^epsilon a and e^-epsilon (1 - delta(epsilon) - a) (Wasserman, Zhou, 2010;
 * Dong, Roth, Su, arXiv 1905.02383, Proposition 2.12). The maximum over some epsilons is a valid lower bound
 * of it.
 *
 * Gaussian differential privacy. A run with Gaussian noise alone, without an amplifying draw, is mu-GDP,
 * where mu^2 is the sum of the squared shifts; for integer noise, of the Gaussian pair that dominates it.
 * Otherwise mu is that of the Gaussian mechanism with the same epsilon at this delta, for comparison.
 */
#ifndef DPF_PRIVACY_REACH_H
#define DPF_PRIVACY_REACH_H

#include "plugin/registry.h"
#include "privacy/ledger.h"

struct guarantee;

#define REACH_N_GROUPS 3
#define REACH_N_TESTS 3

struct reach {
    int known; /* 0: no accountant has a finite epsilon */
    char accountant[32];
    int group[REACH_N_GROUPS];            /* 2, 5, 10 */
    double group_epsilon[REACH_N_GROUPS]; /* at the guarantee's delta; infinity if none is found */
    double false_alarm[REACH_N_TESTS];    /* .01, .05, .1 */
    double missed[REACH_N_TESTS];         /* at least; NaN if the accountant has no curve */
    double mu;                            /* NaN if there is none */
    int mu_holds;                         /* 1: mu-GDP; 0: of the same epsilon at this delta */
};

/* Fills guarantee->reach by the accountant of the least epsilon among the accounts, which are there. Leaves
   them alone. */
void reach_measure(struct guarantee *guarantee, struct instance *const *accountants, int n,
                   const struct ledger *ledger, int64_t rounds);
/* The least miss rate of a test with that false alarm rate, by points of a curve. */
double reach_missed(const double *epsilon, const double *delta, int n, double false_alarm);

#endif
