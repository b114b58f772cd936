/* SPDX-License-Identifier: Apache-2.0 */
#include "home_solve.h"

#include <string.h>

#include "small_matrix.h"

void home_solve(int64_t d, const double *loadings, const double *bias, const double *variance,
                double residual_variance, const struct own_records *own, double *t, double *factor)
{
    memset(t, 0, (size_t)d * sizeof *t);
    memset(factor, 0, (size_t)(d * d) * sizeof *factor);
    for (int64_t k = 0; k < own->n; k++) {
        const int64_t item = own->items[k];
        const double *q = loadings + item * d, weight = 1 / (residual_variance + variance[item]),
                     residual = weight * (own->values[k] - bias[item]);
        for (int64_t r = 0; r < d; r++) {
            const double x = weight * q[r];
            t[r] += residual * q[r];
            for (int64_t c = 0; c <= r; c++)
                factor[r * d + c] += x * q[c];
        }
    }
    for (int64_t r = 0; r < d; r++)
        factor[r * d + r] += 1;
    if (small_cholesky(factor, d) == 0)
        small_solve(factor, d, t);
    else
        memset(t, 0, (size_t)d * sizeof *t); /* only if something is not finite */
}
