/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_sums.h - tilted masses around a circle, and the powers of their characteristic function, summed term by term.
 *
 * A composition of many releases has G = product of phi_i^{T_i} next to 0 unless every phi is within about 1/T of 1, at
 * few frequencies; there z = phi - 1 is summed as p (e^{i theta} - 1), which is off by at most
 * c eps sum p |e^{i theta} - 1| <= c eps sqrt(2 (1 - Re phi)), that is T c eps O(T^{-1/2}) in the end, and
 * G = exp(sum of T log(1 + z)).
 */
#ifndef PLD_SUMS_H
#define PLD_SUMS_H

#include "pld_law.h"

struct pld_term {
    double mass;
    int64_t at; /* from -n/2 to n/2, 0 next to the mean */
};

/* A group's tilted masses around a circle of grid points. */
struct pld_terms {
    struct pld_term *terms;
    int64_t n;
    double copies, centre;
    double surplus; /* of their sum above 1 */
};

/* Compensated. */
struct pld_sum {
    double value, rest;
};

/* e^{-2 pi i m / n} - 1 for whole m from -n/2 to n/2, by two tables: with m = a b + c, |c| <= b/2, it is
   (A + 1)(C + 1) - 1, and no small difference of large numbers. */
struct pld_circle {
    int64_t n, block, blocks;
    double *fine_re, *fine_im;     /* of c + block/2 */
    double *coarse_re, *coarse_im; /* of a + blocks */
};

void pld_sum_add(struct pld_sum *sum, double x);
/* Where the whole number index is on a circle of n. */
int64_t pld_around(double index, int64_t n);
/* e^{-2 pi i turn} - 1, with a small relative error. */
void pld_less_one(double turn, double *re, double *im);

/* Room for the masses of n groups, or NULL. */
struct pld_terms *pld_terms_new(const dpf_host *host, const struct pld_losses *losses, int64_t n);
void pld_terms_free(const dpf_host *host, struct pld_terms *groups, int64_t n);
/* One group's, on a circle of n. Roundings of a tilted mass are on the safe side. */
void pld_terms_read(const struct pld_losses *losses, double tilt, int from_below, int64_t n,
                    struct pld_terms *out);

dpf_status pld_circle_new(const dpf_host *host, int64_t n, struct pld_circle *c);
void pld_circle_free(const dpf_host *host, struct pld_circle *c);

/* phi - 1 of a group at frequency k. */
void pld_sums_near_one(const struct pld_circle *c, const struct pld_terms *group, int64_t k, double *re,
                       double *im);
/* G at frequency k, and a bound of its relative error. */
double pld_sums_power(const struct pld_circle *c, const struct pld_terms *groups, int64_t n, int64_t k,
                      double *re, double *im);

#endif
