/* SPDX-License-Identifier: Apache-2.0 */
#include "small_matrix.h"

#include <math.h>
#include <string.h>

#include "eigen.h"

int small_cholesky(double *a, int64_t d)
{
    for (int64_t j = 0; j < d; j++) {
        double pivot = a[j * d + j];
        for (int64_t k = 0; k < j; k++)
            pivot -= a[j * d + k] * a[j * d + k];
        if (!(pivot > 0) || !isfinite(pivot))
            return -1;
        a[j * d + j] = sqrt(pivot);
        for (int64_t i = j + 1; i < d; i++) {
            double sum = a[i * d + j];
            for (int64_t k = 0; k < j; k++)
                sum -= a[i * d + k] * a[j * d + k];
            a[i * d + j] = sum / a[j * d + j];
        }
        for (int64_t k = j + 1; k < d; k++)
            a[j * d + k] = 0;
    }
    return 0;
}

void small_solve(const double *l, int64_t d, double *x)
{
    for (int64_t i = 0; i < d; i++) {
        for (int64_t k = 0; k < i; k++)
            x[i] -= l[i * d + k] * x[k];
        x[i] /= l[i * d + i];
    }
    for (int64_t i = d - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < d; k++)
            x[i] -= l[k * d + i] * x[k];
        x[i] /= l[i * d + i];
    }
}

void small_inverse(const double *l, int64_t d, double *out, double *work)
{
    for (int64_t j = 0; j < d; j++) {
        memset(work, 0, (size_t)d * sizeof *work);
        work[j] = 1;
        small_solve(l, d, work);
        for (int64_t i = 0; i <= j; i++)
            out[i * d + j] = out[j * d + i] = work[i];
    }
}

int64_t small_eigen_size(int64_t d)
{
    return eigen_size(d) + d;
}

static void swap_pair(double *values, double *vectors, int64_t d, int64_t a, int64_t b)
{
    const double value = values[a];
    values[a] = values[b];
    values[b] = value;
    for (int64_t i = 0; i < d; i++) {
        const double x = vectors[a * d + i];
        vectors[a * d + i] = vectors[b * d + i];
        vectors[b * d + i] = x;
    }
}

int small_eigen(double *a, int64_t d, double *values, double *vectors, double *work)
{
    if (eigen_symmetric(a, d, values, vectors, work) != 0)
        return -1;
    for (int64_t i = 0; i < d; i++) {
        int64_t largest = i;
        for (int64_t k = i + 1; k < d; k++)
            if (values[k] > values[largest])
                largest = k;
        swap_pair(values, vectors, d, i, largest);
    }
    return 0;
}
