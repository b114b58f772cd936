/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_spectrum.h - a composition by the few frequencies at which its transform G is not next to 0, without an FFT.
 *
 * Many releases make a smooth composition: of millions of frequencies some forty have |G| > 1e-28. They are found by
 * halving intervals: with r the distance to the middle c of an interval in radians a grid point, and x a loss in grid points,
 *
 *   |phi(k)| <= |phi(c)| + r E|x|,    as |e^{i r x} - 1| <= r |x|,
 *
 * and an interval in which sum of T ln of that is below ln 1e-28 has no such frequency. What is left out has the Euclidean
 * norm 1e-28 at most. At the others G is summed term by term (pld_sums.h).
 *
 * Sums of mass(x) e^{-s x} over a range of grid points, which epsilon is read from, are then geometric: sums over these
 * frequencies of G_k z (1 - z^M) / (1 - z), z = e^{-s h + 2 pi i k / n}. Both differences are formed without cancellation, so
 * each term has a relative error of less than 64 units of rounding. By Cauchy and Schwarz the terms' moduli have the sum
 * ||mass|| ||weights|| at most, which bounds the error of the sum.
 */
#ifndef PLD_SPECTRUM_H
#define PLD_SPECTRUM_H

#include "pld_sums.h"

struct pld_spectrum {
    int64_t length; /* n of the circle */
    int64_t n;      /* frequencies, from 0 to length / 2 */
    int64_t *at;
    double *re, *im; /* of G */
};

/* Of the composition of all groups, if it has few enough frequencies to be faster than FFTs: s->n > 0. Otherwise s->n is 0. *squares: the
   square of the norm of the error of G, over all frequencies. */
dpf_status pld_spectrum_find(const dpf_host *host, const struct pld_terms *groups, int64_t n, int64_t length,
                             struct pld_spectrum *s, double *squares);
void pld_spectrum_free(const dpf_host *host, struct pld_spectrum *s);
/* The Euclidean norm of the masses. */
double pld_spectrum_norm(const struct pld_spectrum *s);
/* The sums of mass(start + m) e^{-decay m} over m = 1 .. count, for two decays; start is a point of the circle. */
void pld_spectrum_sums(const struct pld_spectrum *s, int64_t start, int64_t count, const double decay[2],
                       double sums[2]);

#endif
