/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/bounds.h"

#include <math.h>

#define LARGEST_EPSILON 100.0

/* The continued fraction of the incomplete beta function (NIST DLMF 8.17.22), by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double f = d;
    for (int i = 1; i < 10000; i++) {
        const double k = i;
        const double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
        const double odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
        double step = 1;
        for (int half = 0; half < 2; half++) {
            const double coefficient = half ? odd : even;
            d = 1 + coefficient * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + coefficient / c;
            c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            f *= step;
        }
        if (fabs(step - 1) < 1e-15)
            break;
    }
    return f;
}

/* What Stirling's formula leaves of ln Gamma(z). */
static double stirling_rest(double z)
{
    const double r = 1 / (z * z);
    if (z < 16)
        return lgamma(z) - (z - 0.5) * log(z) + z - 0.9189385332046727417803297364;
    return (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r / 1188)))) / z;
}

/*
 * x^a (1-x)^b / B(a, b). With millions of trials the gamma functions are so large that their differences
 * would lose nine digits; by Stirling's formula they become a divergence of (x, 1-x) from the mode, which
 * loses none.
 */
static double beta_front(double a, double b, double x)
{
    const double n = a + b, away = n * x - a;
    const double divergence = a * log1p(away / a) + b * log1p(-away / b);
    const double rest = stirling_rest(n) - stirling_rest(a) - stirling_rest(b);
    return exp(divergence + rest) * sqrt(a / n * b / 6.283185307179586476925286767);
}

/* The regularised incomplete beta function: the probability that a Beta(a, b) number is at most x. */
static double beta_below(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x >= 1;
    const double front = beta_front(a, b, x);
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double bounds_lower(int64_t k, int64_t n, double alpha)
{
    if (k <= 0)
        return 0;
    /* P[Binomial(n, p) >= k] = I_p(k, n - k + 1) rises with p: the largest p that makes k too many. */
    double below = 0, above = (double)k / (double)n;
    if (k == n)
        return pow(alpha, 1.0 / (double)n);
    for (int i = 0; i < 60; i++) {
        const double p = (below + above) / 2;
        *(beta_below((double)k, (double)(n - k) + 1, p) < alpha ? &below : &above) = p;
    }
    return below;
}

double bounds_upper(int64_t k, int64_t n, double alpha)
{
    return 1 - bounds_lower(n - k, n, alpha);
}

double bounds_epsilon(int64_t k, int64_t n, int64_t l, int64_t m, double delta, double alpha)
{
    const double p = bounds_lower(k, n, alpha / 2) - delta, q = bounds_upper(l, m, alpha / 2);
    return p > q ? log(p / q) : 0;
}

/* Tail and partial sums of Binomial(r, q) that Theorem 5.2 is made of. */
double bounds_one_run_chance(int64_t m, int64_t r, int64_t v, double epsilon, double delta)
{
    /* ln of the accuracy of randomised response, and of the rest: finite where 1 - q is below rounding. */
    const double hit = -log1p(exp(-epsilon)), miss = hit - epsilon, size = lgamma((double)r + 1);
    double tail = 0, partial = 0, steepest = 0;
    for (int64_t w = r; w >= 0; w--) {
        const double mass = exp(size - lgamma((double)w + 1) - lgamma((double)(r - w) + 1) + (double)w * hit +
                                (double)(r - w) * miss);
        if (w >= v) {
            tail += mass;
            continue;
        }
        if (delta <= 0)
            break;
        partial += mass;
        steepest = fmax(steepest, partial / (double)(v - w));
    }
    return fmin(1, tail + 2 * (double)m * delta * steepest);
}

/* The chance may fall again as epsilon grows (its delta term does): what an epsilon refuted allows, all
   smaller ones would allow too, so that any epsilon that is refuted is a lower bound. */
double bounds_one_run(int64_t m, int64_t r, int64_t v, double delta, double alpha)
{
    double refuted = 0, possible = LARGEST_EPSILON;
    if (!(bounds_one_run_chance(m, r, v, 0, delta) < alpha))
        return 0;
    for (int i = 0; i < 60; i++) {
        const double epsilon = (refuted + possible) / 2;
        *(bounds_one_run_chance(m, r, v, epsilon, delta) < alpha ? &refuted : &possible) = epsilon;
    }
    return refuted;
}
