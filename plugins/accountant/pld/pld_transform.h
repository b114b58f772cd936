/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_transform.h - the composition of tilted losses, by frequencies or by FFT, with a bound on what rounding does.
 *
 * The losses of each group, tilted to sum to 1 and moved so that their mean is next to 0, go around a circle
 * of n grid points. The composition is the inverse transform of G = product of phi_i^{T_i}.
 *
 * Where few frequencies count, G is known by them alone, and no array of n numbers is made (pld_spectrum.h).
 *
 * Otherwise by FFT: an FFT has a relative error of at most c eps log2(n) in the Euclidean norm (Higham, Accuracy and
 * Stability of Numerical Algorithms, Theorem 24.2; c < 6 for radix 2, here 8), so one number of a transform
 * of p is off by at most eta = c eps log2(n) sqrt(n sum p^2), and G by T eta |G|^{(T-1)/T} <= T eta (2 |G| +
 * 2^{1-T}) to the first order; with w < .1 the sum of all T eta, the rest, and that |G| is known with that
 * error, are within a factor e^{8w}. T of a million makes that too much: then numbers of G that are not next to 0 are
 * replaced by sums (pld_sums.h).
 *
 * By Parseval the error of the composition has the norm of the error of G over sqrt(n).
 */
#ifndef PLD_TRANSFORM_H
#define PLD_TRANSFORM_H

#include <fftw3.h>

#include "pld_spectrum.h"

struct pld_transform {
    int64_t n;
    struct pld_spectrum spectrum; /* the composition, or with no frequency: */
    double *real;                 /* the masses at the points of the circle, see pld_transform_index */
    fftw_complex *one;
    fftw_complex *product;
    fftw_plan forward;
    fftw_plan backward;
    double shift;    /* a whole number, in grid points */
    double error;    /* bound on the error of the masses, in the Euclidean norm */
    double rounding; /* of sums of masses by frequencies, for weights of norm 1 */
};

/* For `length` grid points at least. */
void pld_transform_fit(const dpf_host *host, double length, struct pld_transform *t);
void pld_transform_free(const dpf_host *host, struct pld_transform *t);
/* Of n groups, on the same grid. DPF_E_MEMORY or DPF_OK. */
dpf_status pld_transform_compose(const dpf_host *host, const struct pld_losses *losses, int64_t n,
                                 double tilt, int from_below, struct pld_transform *t);
/* Where the grid point x is on the circle. */
int64_t pld_transform_index(const struct pld_transform *t, double x);

#endif
