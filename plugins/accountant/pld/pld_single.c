/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_single.h"

#include <float.h>
#include <math.h>

/* q e^epsilon where e^epsilon alone may be too large, and the relative error of that. */
static double raised(double q, double epsilon, double *error)
{
    if (q <= 0.0)
        return 0.0;
    *error += DBL_EPSILON * (8.0 + 4.0 * fabs(epsilon) + (epsilon < 700.0 ? 0.0 : 4.0 * fabs(log(q))));
    return epsilon < 700.0 ? q * exp(epsilon) : exp(log(q) + epsilon);
}

/* Phi(-x) over the normal density at x, x >= 0. */
static double mills(double x)
{
    double below = 0.0;
    if (x < 6.0)
        return 0.5 * erfc(x * 0.70710678118654752440) * exp(x * x / 2.0) * 2.5066282746310005024;
    for (int k = 60; k > 0; k--)
        below = k / (x + below);
    return 1.0 / (x + below);
}

/* Both terms have the factor e^{-a^2/2}, which alone may vanish. */
static double gaussian_delta(double mu, double side, double epsilon)
{
    const double a = epsilon / mu - mu / 2.0, b = epsilon / mu + mu / 2.0;
    const double error = 16.0 * DBL_EPSILON * (4.0 + epsilon / mu + mu);
    const double density = exp(-a * a / 2.0) * 0.39894228040143267794;
    const double slack = DBL_EPSILON * (4.0 + a * a); /* of the density */
    const double q = density * (1.0 - side * slack) * mills(b) * (1.0 - side * error);
    if (a < 0.0)
        return (1.0 - 0.5 * erfc(-a * 0.70710678118654752440)) * (1.0 + side * error) - q;
    const double difference = mills(a) * (1.0 + side * error) - mills(b) * (1.0 - side * error);
    return density * (1.0 + side * slack) * difference + side * 0x1p-1070;
}

double pld_single_delta(const struct pld_pair *pair, int from_below, double epsilon)
{
    const double side = from_below ? -1.0 : 1.0;
    const struct pld_tails tails = pld_pair_tails(pair, epsilon);
    const double error = tails.error + DBL_EPSILON;
    double q_error = error, delta;
    if (pair->shape == PLD_GAUSSIAN && pair->rate >= 1.0) {
        delta = gaussian_delta(pair->size, side, epsilon);
    } else {
        const double p = tails.p_high * (1.0 + side * error), q = raised(tails.q_high, epsilon, &q_error);
        delta = p - q * (1.0 - side * q_error) + side * 0x1p-1070;
        if (from_below && epsilon > 700.0 && tails.q_high < 0x1p-1000)
            delta = 0.0; /* it may have vanished */
    }
    return delta < 0.0 ? 0.0 : delta > 1.0 ? 1.0 : delta;
}

double pld_single_epsilon(const struct pld_pair *pair, int from_below, double delta)
{
    const double side = from_below ? -1.0 : 1.0, end = pld_pair_largest(pair);
    double low = 0.0, high = 1.0;
    if (pld_single_delta(pair, from_below, 0.0) <= delta)
        return 0.0;
    while (high < 1e300 && !(pld_single_delta(pair, from_below, high) <= delta)) {
        low = high;
        high *= 2.0;
    }
    if (!(high < 1e300) && isinf(end))
        return INFINITY;
    while (high - low > 4.0 * DBL_EPSILON * high && high > 1e-300) {
        const double middle = low + (high - low) / 2.0;
        if (pld_single_delta(pair, from_below, middle) <= delta)
            high = middle;
        else
            low = middle;
    }
    /* At high it was at most delta, and at low more: each is a bound of its side. */
    return side > 0.0 ? high : low;
}
