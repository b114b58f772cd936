/* SPDX-License-Identifier: Apache-2.0 */
#include "noisy_quadratic.h"

#include <math.h>
#include <string.h>

#include "normal_equations.h"

void noisy_raise(const double *values, const double *vectors, int64_t d, double floor, double *out)
{
    memset(out, 0, (size_t)(d * d) * sizeof(double));
    for (int64_t k = 0; k < d; k++) {
        const double value = fmax(values[k], floor), *v = vectors + k * d;
        for (int64_t i = 0; value > 0 && i < d; i++)
            for (int64_t j = 0; j < d; j++)
                out[i * d + j] += value * v[i] * v[j];
    }
}

int noisy_solve(double *matrix, int64_t d, double *x)
{
    for (int64_t i = 0; i < d; i++) {
        double *row = matrix + i * d;
        for (int64_t j = 0; j <= i; j++) {
            const double *other = matrix + j * d;
            double sum = row[j];
            for (int64_t k = 0; k < j; k++)
                sum -= row[k] * other[k];
            if (j == i && !(sum > 0))
                return -1;
            row[j] = j < i ? sum / other[j] : sqrt(sum);
        }
        for (int64_t k = 0; k < i; k++)
            x[i] -= row[k] * x[k];
        x[i] /= row[i];
    }
    for (int64_t i = d - 1; i >= 0; i--) {
        x[i] /= matrix[i * d + i];
        for (int64_t k = 0; k < i; k++)
            x[k] -= matrix[i * d + k] * x[i];
    }
    return 0;
}

dpf_status noisy_store(const dpf_host *host, const dpf_solve *batch, int64_t index, const double *x,
                       int64_t d)
{
    float *next = batch->next + index * batch->next_stride + batch->query->first;
    for (int64_t i = 0; i < d; i++) {
        next[i] = (float)x[i];
        if (!isfinite(next[i]))
            return normal_fail(host, batch, index, "its solution is not finite; add regularisation");
    }
    return DPF_OK;
}
