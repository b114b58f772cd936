/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tridiagonal.h - a symmetric matrix as Q T Q' with T tridiagonal.
 *
 * After one reduction (Householder, Golub and Van Loan, Matrix Computations, section 8.3.1) every system
 * (A + s I) x = c costs O(d), whatever the shift s.
 */
#ifndef DPF_TRIDIAGONAL_H
#define DPF_TRIDIAGONAL_H

#include <stdint.h>

struct tridiagonal {
    int64_t d;
    double *diagonal, *off; /* d numbers each; off[i] couples i and i + 1, the last is 0 */
    double *reflectors;     /* Q = H_0 H_1 .., H_i = I - tau_i v_i v_i'; v_i in row i, from column i + 1 */
    double *tau;
};

/* Doubles of memory behind a tridiagonal of order d. */
static inline int64_t tridiagonal_size(int64_t d)
{
    return d * d + 3 * d;
}
void tridiagonal_place(struct tridiagonal *t, int64_t d, double *memory);

/* Reduces a (d x d, both triangles, overwritten); work has 2 d numbers. The same bits on any processor. */
void tridiagonal_reduce(struct tridiagonal *t, double *a, double *work);
/* x := Q' x and x := Q x. */
void tridiagonal_into(const struct tridiagonal *t, double *x);
void tridiagonal_back(const struct tridiagonal *t, double *x);

#endif
