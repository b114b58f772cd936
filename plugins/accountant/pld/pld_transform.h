/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_transform.h - the composition of tilted losses by FFT, with a bound on what rounding does.
 *
 * The losses of each group, tilted to sum to 1 and moved so that their mean is next to 0, go around a circle
 * of n grid points. The composition is the inverse transform of G = product of phi_i^{T_i}.
 *
 * By FFT: an FFT has a relative error of at most c eps log2(n) in the Euclidean norm (Higham, Accuracy and
 * Stability of Numerical Algorithms, Theorem 24.2; c < 6 for radix 2, here 8), so one number of a transform
 * of p is off by at most eta = c eps log2(n) sqrt(n sum p^2), and G by T eta |G|^{(T-1)/T} <= T eta (2 |G| +
 * 2^{1-T}) to the first order; with w < .1 the sum of all T eta, the rest, and that |G| is known with that
 * error, are within a factor e^{8w}.
 *
 * By sums: T of a million makes that too much. But G is next to 0 unless every phi is within about 1/T of 1,
 * at few frequencies; there z = phi - 1 is summed term by term as p (e^{i theta} - 1), which is off by at
 * most c eps sum p |e^{i theta} - 1| <= c eps sqrt(2 (1 - Re phi)), that is T c eps O(T^{-1/2}) in the end,
 * and G = exp(sum of T log(1 + z)).
 *
 * By Parseval the error of the composition has the norm of the error of G over sqrt(n).
 */
#ifndef PLD_TRANSFORM_H
#define PLD_TRANSFORM_H

#include <fftw3.h>

#include "pld_law.h"

struct pld_transform {
    int64_t n;
    double *real; /* the composition: see pld_transform_index */
    fftw_complex *one;
    fftw_complex *product;
    fftw_plan forward;
    fftw_plan backward;
    double shift; /* a whole number, in grid points */
    double error; /* bound on the error of the result, in the Euclidean norm */
};

/* Makes room for `length` grid points at least. DPF_E_MEMORY or DPF_OK. */
dpf_status pld_transform_fit(const dpf_host *host, double length, struct pld_transform *t);
void pld_transform_free(const dpf_host *host, struct pld_transform *t);
/* Of n groups, on the same grid. DPF_E_MEMORY or DPF_OK. */
dpf_status pld_transform_compose(const dpf_host *host, const struct pld_losses *losses, int64_t n,
                                 double tilt, int from_below, struct pld_transform *t);
/* Where the grid point x is in t->real. */
int64_t pld_transform_index(const struct pld_transform *t, double x);

#endif
