/* SPDX-License-Identifier: Apache-2.0 */
/* noisy_quadratic.h - of solvers of quadratics whose matrices have noise, in float64: eigenvalues raised, a definite system, a row. */
#ifndef DPF_NOISY_QUADRATIC_H
#define DPF_NOISY_QUADRATIC_H

#include "dpframe/role/solver.h"

/* out (d x d) := the matrix with those eigenvalues, the ones below floor raised to it, and eigenvectors of eigen_symmetric. */
void noisy_raise(const double *values, const double *vectors, int64_t d, double floor, double *out);
/* x := matrix^-1 x in place, by Cholesky's factorization of the lower triangle; -1 if a pivot is not positive. */
int noisy_solve(double *matrix, int64_t d, double *x);
/* x becomes the row's next value; fails if it is not finite. */
dpf_status noisy_store(const dpf_host *host, const dpf_solve *batch, int64_t index, const double *x,
                       int64_t d);

#endif
