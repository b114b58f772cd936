/* SPDX-License-Identifier: Apache-2.0 */
#include "eigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "tridiagonal.h"

#define MOST_STEPS 60 /* for one eigenvalue; two or three are usual */

int64_t eigen_size(int64_t d)
{
    return tridiagonal_size(d) + 2 * d;
}

/* The first m >= k at which the matrix falls apart: off[m] is nothing beside its neighbours. */
static int64_t block_end(const double *diagonal, const double *off, int64_t d, int64_t k)
{
    int64_t m = k;
    while (m + 1 < d && fabs(off[m]) > DBL_EPSILON * (fabs(diagonal[m]) + fabs(diagonal[m + 1])) &&
           fabs(off[m]) > DBL_MIN)
        m++;
    return m;
}

static void rotate(double *upper, double *lower, int64_t d, double c, double s)
{
    for (int64_t i = 0; i < d; i++) {
        const double x = lower[i];
        lower[i] = s * upper[i] + c * x;
        upper[i] = c * upper[i] - s * x;
    }
}

/* One implicit QL step on rows k..m, from the bottom up. Row j of vectors goes with diagonal[j]. */
static void ql_step(double *diagonal, double *off, double *vectors, int64_t d, int64_t k, int64_t m)
{
    double g = (diagonal[k + 1] - diagonal[k]) / (2 * off[k]);
    double s = 1, c = 1, p = 0;
    g = diagonal[m] - diagonal[k] + off[k] / (g + copysign(hypot(g, 1), g));
    for (int64_t i = m - 1; i >= k; i--) {
        const double f = s * off[i], b = c * off[i];
        const double r = hypot(f, g);
        off[i + 1] = r;
        if (r == 0) { /* it fell apart on the way */
            diagonal[i + 1] -= p;
            off[m] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = diagonal[i + 1] - p;
        const double t = (diagonal[i] - g) * s + 2 * c * b;
        p = s * t;
        diagonal[i + 1] = g + p;
        g = c * t - b;
        rotate(vectors + i * d, vectors + (i + 1) * d, d, c, s);
    }
    diagonal[k] -= p;
    off[k] = g;
    off[m] = 0;
}

int eigen_symmetric(double *a, int64_t d, double *values, double *vectors, double *work)
{
    struct tridiagonal t;
    tridiagonal_place(&t, d, work);
    tridiagonal_reduce(&t, a, work + tridiagonal_size(d));
    memset(vectors, 0, (size_t)(d * d) * sizeof(double));
    for (int64_t i = 0; i < d; i++)
        vectors[i * d + i] = 1;
    for (int64_t k = 0; k < d; k++) {
        int64_t m = block_end(t.diagonal, t.off, d, k);
        for (int step = 0; m != k; m = block_end(t.diagonal, t.off, d, k)) {
            if (step++ == MOST_STEPS)
                return -1;
            ql_step(t.diagonal, t.off, vectors, d, k, m);
        }
    }
    memcpy(values, t.diagonal, (size_t)d * sizeof(double));
    for (int64_t k = 0; k < d; k++)
        tridiagonal_back(&t, vectors + k * d);
    return 0;
}
