/* SPDX-License-Identifier: Apache-2.0 */
#include "tridiagonal.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

void tridiagonal_place(struct tridiagonal *t, int64_t d, double *memory)
{
    *t = (struct tridiagonal){d, memory, memory + d, memory + 3 * d, memory + 2 * d};
}

/*
 * v, tau and the new first entry of x, such that (I - tau v v') x is that entry and zeros. v[0] = 1 unless
 * tau is 0. Scaled by the largest entry, so that nothing overflows or is lost.
 */
INLINE double reflector(const double *x, int64_t stride, int64_t n, double *v, double *tau)
{
    double largest = 0, sum = 0;
    for (int64_t i = 1; i < n; i++)
        largest = fmax(largest, fabs(x[i * stride]));
    *tau = 0;
    memset(v, 0, (size_t)n * sizeof(double));
    if (!(largest > 0))
        return x[0];
    largest = fmax(largest, fabs(x[0]));
    for (int64_t i = 0; i < n; i++) {
        v[i] = x[i * stride] / largest;
        sum += v[i] * v[i];
    }
    const double norm = v[0] > 0 ? -sqrt(sum) : sqrt(sum);
    const double head = v[0] - norm; /* of one sign: no cancellation */
    *tau = -head / norm;
    for (int64_t i = 1; i < n; i++)
        v[i] /= head;
    v[0] = 1;
    return norm * largest;
}

/* a := H a H over rows and columns from first on. Loops run along rows, so that they vectorise in order. */
INLINE void two_sided(double *a, int64_t d, int64_t first, const double *v, double tau, double *p)
{
    const int64_t n = d - first;
    double *corner = a + first * d + first, inner = 0;
    memset(p, 0, (size_t)n * sizeof(double));
    for (int64_t r = 0; r < n; r++) {
        const double factor = tau * v[r];
        const double *row = corner + r * d;
        for (int64_t j = 0; j < n; j++)
            p[j] += factor * row[j];
    }
    for (int64_t j = 0; j < n; j++)
        inner += p[j] * v[j];
    for (int64_t j = 0; j < n; j++)
        p[j] -= 0.5 * tau * inner * v[j];
    for (int64_t r = 0; r < n; r++) {
        double *row = corner + r * d;
        const double vr = v[r], pr = p[r];
        for (int64_t j = 0; j < n; j++)
            row[j] -= vr * p[j] + pr * v[j];
    }
}

INLINE void reduce(struct tridiagonal *t, double *restrict a, double *restrict work)
{
    const int64_t d = t->d;
    for (int64_t i = 0; i + 2 < d; i++) {
        double *v = t->reflectors + i * d + i + 1;
        t->off[i] = reflector(a + (i + 1) * d + i, d, d - i - 1, v, &t->tau[i]);
        if (t->tau[i] != 0)
            two_sided(a, d, i + 1, v, t->tau[i], work);
    }
    for (int64_t i = 0; i < d; i++)
        t->diagonal[i] = a[i * d + i];
    if (d > 1)
        t->off[d - 2] = a[(d - 1) * d + d - 2];
    t->off[d - 1] = 0;
}

#define SIMD_TEMPLATE "tridiagonal_loops.h"
#include "each_kind.h"

void tridiagonal_reduce(struct tridiagonal *t, double *a, double *work)
{
    const int kind = simd_choose(SIMD_KIND_AUTO);
    SIMD_PICK(kind, reduce)(t, a, work);
}

static void reflect(const struct tridiagonal *t, int64_t i, double *x)
{
    const double *v = t->reflectors + i * t->d + i + 1;
    const int64_t n = t->d - i - 1;
    double even = 0, odd = 0; /* two chains of additions: half the latency */
    int64_t j = 0;
    x += i + 1;
    for (; j + 1 < n; j += 2) {
        even += v[j] * x[j];
        odd += v[j + 1] * x[j + 1];
    }
    if (j < n)
        even += v[j] * x[j];
    const double factor = t->tau[i] * (even + odd);
    for (j = 0; j < n; j++)
        x[j] -= factor * v[j];
}

void tridiagonal_into(const struct tridiagonal *t, double *x)
{
    for (int64_t i = 0; i + 2 < t->d; i++)
        reflect(t, i, x);
}

void tridiagonal_back(const struct tridiagonal *t, double *x)
{
    for (int64_t i = t->d - 3; i >= 0; i--)
        reflect(t, i, x);
}
