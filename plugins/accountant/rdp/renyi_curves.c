/* SPDX-License-Identifier: Apache-2.0 */
#include "renyi_curves.h"

#include <float.h>
#include <math.h>

/*
 * Sums over coordinates. Noise is independent over coordinates, so divergences add. The curves of
 * (discrete) Laplace noise are, as functions of the shift, logarithms of sums of exponentials of
 * linear functions with positive coefficients, hence convex, and 0 at 0. For a convex g with g(0) = 0
 * and shifts v with sum |v_i| <= D,  sum g(|v_i|) <= sum (|v_i|/D) g(D) <= g(D): the worst case puts
 * the whole L1 sensitivity into one coordinate. For Gaussian noise squares add: the L2 norm counts.
 */

static double gaussian_at(const struct renyi_curve *curve, double order)
{
    return order / (2.0 * curve->ratio * curve->ratio);
}

/*
 * Continuous: Mironov, arXiv 1702.07476, Corollary 3. Discrete, for shifts on the grid: Canonne,
 * Kamath, Steinke, arXiv 2004.00010, Proposition 5 (one coordinate; coordinates add).
 */
struct renyi_curve renyi_gaussian(double z)
{
    return (struct renyi_curve){gaussian_at, INFINITY, z, 0.0, 0.0};
}

/* A curve that is proved at integer orders only: (order - 1) D is convex in the order and 0 at order 1, so
   that a chord between integers is an upper bound. */
static double between_integers(const struct renyi_curve *curve, double order,
                               double (*at_integer)(const struct renyi_curve *curve, double order))
{
    const double low = floor(order);
    if (low == order || isinf(order))
        return at_integer(curve, order);
    const double at_low = low > 1.0 ? (low - 1.0) * at_integer(curve, low) : 0.0;
    const double at_high = low * at_integer(curve, low + 1.0);
    return ((low + 1.0 - order) * at_low + (order - low) * at_high) / (order - 1.0);
}

/*
 * Agarwal, Kairouz, Liu, arXiv 2110.04995, Theorem 3.5: with variance V and integer orders a,
 *   a L2^2/(2 V) + min(((2a-1) L2^2 + 6 L1)/(4 V^2), 3 L1/(2 V)).
 * ratio = L2^2/(2 V), offset = 3 L1/(2 V): the sum over coordinates is in the norms.
 */
static double skellam_at_integer(const struct renyi_curve *curve, double order)
{
    const double first = ((2.0 * order - 1.0) * curve->ratio + 2.0 * curve->offset) / (2.0 * curve->variance);
    return order * curve->ratio + (first < curve->offset ? first : curve->offset);
}

static double skellam_at(const struct renyi_curve *curve, double order)
{
    return between_integers(curve, order, skellam_at_integer);
}

struct renyi_curve renyi_skellam(double variance, double l1, double l2)
{
    return (struct renyi_curve){skellam_at, INFINITY, l2 * l2 / (2.0 * variance), 1.5 * l1 / variance,
                                variance};
}

/*
 * ln(a e^{x} + b e^{y}) / (order - 1) for a + b = 1. Near 0 the first-order terms cancel; computed
 * by expm1 with the rounding error added.
 */
static double two_point(double a, double x, double b, double y, double order)
{
    if (x > 1.0)
        return (x + log(a + b * exp(y - x))) / (order - 1.0);
    const double up = a * expm1(x), down = b * expm1(y);
    const double slack = 4.0 * DBL_EPSILON * (fabs(up) + fabs(down));
    return log1p(up + down + slack) / (order - 1.0);
}

/* Pure epsilon bounds each curve; so does order * epsilon^2 / 2 (Bun, Steinke, arXiv 1605.02065, Prop. 3.3).
 */
static double at_most_pure(double value, double epsilon, double order)
{
    const double quadratic = order * epsilon * epsilon / 2.0;
    const double bound = quadratic < epsilon ? quadratic : epsilon;
    return value > bound ? bound : value;
}

/* Mironov, arXiv 1702.07476, Proposition 6. */
static double laplace_at(const struct renyi_curve *curve, double order)
{
    const double epsilon = curve->epsilon;
    if (isinf(order))
        return epsilon;
    const double a = order / (2.0 * order - 1.0), b = (order - 1.0) / (2.0 * order - 1.0);
    const double value = two_point(a, (order - 1.0) * epsilon, b, -order * epsilon, order);
    return at_most_pure(value, epsilon, order);
}

struct renyi_curve renyi_laplace(double epsilon)
{
    return (struct renyi_curve){laplace_at, epsilon, 0.0, 0.0, 0.0};
}

/*
 * Pr[x] = c e^{-s|x|} on the integers, c = tanh(s/2), against its shift by m > 0. Summing
 * P(x)^a P(x-m)^{1-a} over x <= 0, 0 < x < m and x >= m, all geometric, with r = e^{-s(2a-1)}:
 *   A e^{(a-1)sm} + B e^{-asm},  A = c/(1-e^{-s}) + c r/(1-r),  B = 1 - A = c/(1-e^{-s}) - c/(1-r),
 * and c/(1-e^{-s}) = 1/(1+e^{-s}). B > 0 for a > 1, so the argument above holds; it is an upper bound
 * for real sm = epsilon between grid points by convexity.
 */
static double discrete_laplace_at(const struct renyi_curve *curve, double order)
{
    const double epsilon = curve->epsilon, s = curve->ratio;
    if (isinf(order))
        return epsilon;
    const double a = 1.0 / (1.0 + exp(-s)) + tanh(s / 2.0) / expm1(s * (2.0 * order - 1.0));
    const double upper = a * (1.0 + 4.0 * DBL_EPSILON) < 1.0 ? a * (1.0 + 4.0 * DBL_EPSILON) : 1.0;
    const double value = two_point(upper, (order - 1.0) * epsilon, 1.0 - upper, -order * epsilon, order);
    return at_most_pure(value, epsilon, order);
}

struct renyi_curve renyi_discrete_laplace(double epsilon, double step)
{
    return (struct renyi_curve){discrete_laplace_at, epsilon, step, 0.0, 0.0};
}

/* Randomized response with p = e^eps/(1+e^eps) dominates every eps-DP pair (Kairouz, Oh, Viswanath,
   arXiv 1311.0776, Theorem 2.1 of the composition proof). */
static double pure_at(const struct renyi_curve *curve, double order)
{
    const double epsilon = curve->epsilon;
    if (isinf(order) || isinf(epsilon))
        return epsilon;
    const double p = 1.0 / (1.0 + exp(-epsilon)), q = 1.0 / (1.0 + exp(epsilon));
    const double value = two_point(p, (order - 1.0) * epsilon, q, -(order - 1.0) * epsilon, order);
    return at_most_pure(value, epsilon, order);
}

struct renyi_curve renyi_pure(double epsilon)
{
    return (struct renyi_curve){pure_at, epsilon, 0.0, 0.0, 0.0};
}

static double response_at(const struct renyi_curve *curve, double order)
{
    const struct renyi_curve bit = {pure_at, curve->epsilon / curve->ratio, 0.0, 0.0, 0.0};
    return curve->ratio * pure_at(&bit, order);
}

struct renyi_curve renyi_response(double flip, double bits)
{
    const double rare = flip < 0.5 ? flip : 1.0 - flip;
    const double epsilon = rare > 0.0 ? log1p(-rare) - log(rare) : INFINITY;
    return (struct renyi_curve){response_at, bits * epsilon, bits, 0.0, 0.0};
}

static double concentrated_at(const struct renyi_curve *curve, double order)
{
    return curve->ratio == 0.0 ? curve->offset : curve->offset + curve->ratio * order;
}

struct renyi_curve renyi_concentrated(double xi, double rho)
{
    return (struct renyi_curve){concentrated_at, rho == 0.0 ? xi : INFINITY, rho, xi, 0.0};
}

/* ln(1 + q (e^epsilon - 1)); the same bound holds for the reverse ratio. */
double renyi_amplified_pure(double epsilon, double q)
{
    if (isinf(epsilon) || q >= 1.0)
        return epsilon;
    return epsilon < 1.0 ? log1p(q * expm1(epsilon)) : epsilon + log(q + (1.0 - q) * exp(-epsilon));
}

/* ---- Poisson sampling, integer orders ----------------------------------------------------------- */

static double log_expm1(double x)
{
    return x > 40.0 ? x : log(expm1(x)); /* e^-40 is below one rounding */
}

static double log_add(double x, double y)
{
    const double top = x > y ? x : y, low = x > y ? y : x;
    return isinf(low) && low < 0.0 ? top : top + log1p(exp(low - top));
}

/* ln(1 + e^x) */
static double softplus(double x)
{
    return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/*
 * ln E_Q[((1-q) + q P/Q)^n] for an integer n >= 1. The binomial sum without its first two terms and
 * with 1 subtracted from each moment has positive terms only, so nothing cancels for small q:
 *   E - 1 = sum_{k=2}^{n} C(n,k) q^k (1-q)^{n-k} (e^{(k-1) D_k(P||Q)} - 1).
 */
static double log_binomial_moment(const struct renyi_curve *curve, double q, double n)
{
    const double log_odds = log(q) - log1p(-q);
    double sum = -INFINITY;
    double log_term = n * log1p(-q); /* of C(n,k) q^k (1-q)^{n-k} */
    double error = DBL_EPSILON * fabs(log_term);
    for (double k = 0.0; k < n;) {
        const double factor = log((n - k) / (k + 1.0));
        log_term += factor + log_odds;
        error += DBL_EPSILON * (fabs(log_term) + fabs(factor) + fabs(log_odds) + 1.0);
        k += 1.0;
        if (k < 2.0)
            continue;
        /* Terms below e^-40 of the sum add less than one rounding each, which the slack covers. */
        const double term = log_term + log_expm1((k - 1.0) * curve->at(curve, k));
        if (term > sum - 40.0)
            sum = log_add(sum, term);
    }
    return softplus(sum + error + 4.0 * DBL_EPSILON * (n + fabs(sum)));
}

/* (order-1) D is convex in the order: a chord between integers is an upper bound. It is 0 at order 1. */
static double log_moment(const struct renyi_curve *curve, double q, double order)
{
    const double low = floor(order);
    if (low == order)
        return log_binomial_moment(curve, q, order);
    const double at_low = low > 1.0 ? log_binomial_moment(curve, q, low) : 0.0;
    const double at_high = log_binomial_moment(curve, q, low + 1.0);
    return (low + 1.0 - order) * at_low + (order - low) * at_high;
}

double renyi_poisson(const struct renyi_curve *curve, double q, double order)
{
    if (q >= 1.0)
        return curve->at(curve, order);
    double bound = INFINITY;
    if (!isinf(curve->epsilon)) {
        const struct renyi_curve pure = renyi_pure(renyi_amplified_pure(curve->epsilon, q));
        bound = pure_at(&pure, order);
    }
    if (isinf(order))
        return bound;
    const double value = log_moment(curve, q, order) / (order - 1.0);
    return value > bound ? bound : value;
}

/* ---- Poisson sampling of Gaussian noise, fractional orders -------------------------------------- */

/* sum * e^top, where each term carries a bound of its rounding error. */
struct signed_sum {
    double top;
    double sum;
    double error;
};

static void signed_sum_add(struct signed_sum *s, double log_term, double sign, double rounding)
{
    if (log_term > s->top) {
        const double factor = exp(s->top - log_term);
        s->sum *= factor;
        s->error *= factor;
        s->top = log_term;
    }
    const double term = exp(log_term - s->top);
    s->sum += sign * term;
    s->error += rounding * term;
}

static double log_erfc(double x)
{
    if (x < 25.0)
        return log(erfc(x));
    const double t = 1.0 / (2.0 * x * x);
    const double series = 1.0 - t * (1.0 - 3.0 * t * (1.0 - 5.0 * t * (1.0 - 7.0 * t)));
    return -x * x - log(x * sqrt(acos(-1.0))) + log(series);
}

struct series {
    double z;
    double x0; /* where the two addends are equal */
    double log_q;
    double log_rest; /* ln(1 - q) */
};

struct series_term {
    double log_value;
    double rounding;
};

/* C(a,i) q^n (1-q)^rest times E[e^{n (2x-1)/(2 z^2)}] below x0 (side 1) or above it (side -1). */
static struct series_term series_term_at(const struct series *s, double log_choose, double choose_error,
                                         double n, double rest, double side)
{
    const double moment = n * (n - 1.0) / (2.0 * s->z * s->z);
    const double tail = log_erfc(side * (n - s->x0) / (sqrt(2.0) * s->z)) - log(2.0);
    const double weight = n * s->log_q, rest_weight = rest * s->log_rest;
    const double size = fabs(log_choose) + fabs(weight) + fabs(rest_weight) + fabs(moment) + 2.0 * fabs(tail);
    return (struct series_term){log_choose + weight + rest_weight + moment + tail,
                                choose_error + 4.0 * DBL_EPSILON * (size + 8.0)};
}

/*
 * ln E[(1 - q + q e^{(2x-1)/(2 z^2)})^a], x ~ N(0, z^2): split where the two addends are equal,
 * x0 = z^2 ln(1/q - 1) + 1/2, and expand the power of the smaller one on each side. For i > a the
 * terms alternate, and they fall in magnitude, since each is an integral of the i-th power of a
 * number below 1 times a falling binomial coefficient; so the first omitted ones bound the rest.
 * NaN if the error bound is no use.
 */
static double log_fractional_moment(double z, double q, double a)
{
    const int limit = 20000;
    const double log_q = log(q), log_rest = log1p(-q);
    const struct series series = {z, z * z * (log_rest - log_q) + 0.5, log_q, log_rest};
    struct signed_sum s = {-INFINITY, 0.0, 0.0};
    double log_choose = 0.0, sign = 1.0, choose_error = 0.0;
    for (int i = 0;; i++) {
        const double j = a - i;
        const struct series_term low = series_term_at(&series, log_choose, choose_error, i, j, 1.0);
        const struct series_term high = series_term_at(&series, log_choose, choose_error, j, i, -1.0);
        if (i > a && (i >= limit || (exp(low.log_value - s.top) < s.sum * DBL_EPSILON &&
                                     exp(high.log_value - s.top) < s.sum * DBL_EPSILON))) {
            s.error += exp(low.log_value - s.top) + exp(high.log_value - s.top);
            break;
        }
        signed_sum_add(&s, low.log_value, sign, low.rounding);
        signed_sum_add(&s, high.log_value, sign, high.rounding);
        log_choose += log(fabs(j)) - log(i + 1.0);
        choose_error += 2.0 * DBL_EPSILON * (fabs(log_choose) + 1.0);
        sign = j < 0.0 ? -sign : sign;
    }
    return s.sum > s.error ? s.top + log(s.sum + s.error) : NAN;
}

double renyi_poisson_gaussian(double z, double q, double order)
{
    const struct renyi_curve curve = renyi_gaussian(z);
    if (q >= 1.0)
        return curve.at(&curve, order);
    if (isinf(order))
        return INFINITY;
    double value = log_moment(&curve, q, order);
    if (order != floor(order)) {
        /* The chord holds always; the series is sharper where it converges to enough digits. */
        const double fractional = log_fractional_moment(z, q, order);
        if (fractional >= 0.0 && fractional < value)
            value = fractional;
    }
    return value / (order - 1.0);
}
