/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accountant's Renyi divergences against their definition: sums and integrals of P^a Q^(1-a) in
 * long double, in both directions. No formula of the accountant is used.
 */
#include "kit/accounting_case.h"

typedef long double (*log_density)(const void *shape, long double x);

/* ln sum over a lattice of w exp(a ln p + (1-a) ln q). Spacing h, Simpson weights if smooth. */
static long double log_power_sum(log_density p, const void *p_shape, log_density q, const void *q_shape,
                                 long double a, long double low, long double h, int64_t n, int smooth)
{
    long double top = -INFINITY, sum = 0.0L;
    for (int64_t i = 0; i <= n; i++) {
        const long double x = low + (long double)i * h;
        const long double weight = !smooth ? 1.0L : i == 0 || i == n ? h / 3 : i % 2 ? 4 * h / 3 : 2 * h / 3;
        const long double value = a * p(p_shape, x) + (1 - a) * q(q_shape, x) + logl(weight);
        if (value > top) {
            sum *= expl(top - value);
            top = value;
        }
        sum += expl(value - top);
    }
    return top + logl(sum);
}

struct shape {
    long double scale;
    long double shift;
    long double rate; /* of the mixture (1-rate) at 0 + rate at shift */
    long double log_norm;
};

static long double log_mix(long double x, long double y, long double rate)
{
    const long double u = logl(1 - rate) + x, v = logl(rate) + y;
    return u > v ? u + log1pl(expl(v - u)) : v + log1pl(expl(u - v));
}

static long double gaussian(const void *shape, long double x)
{
    const struct shape *s = shape;
    const long double at = x * x / (2 * s->scale * s->scale);
    const long double moved = (x - s->shift) * (x - s->shift) / (2 * s->scale * s->scale);
    return s->log_norm + (s->rate >= 1 ? -moved : s->rate <= 0 ? -at : log_mix(-at, -moved, s->rate));
}

static long double laplace(const void *shape, long double x)
{
    const struct shape *s = shape;
    const long double at = fabsl(x) / s->scale, moved = fabsl(x - s->shift) / s->scale;
    return s->log_norm + (s->rate >= 1 ? -moved : s->rate <= 0 ? -at : log_mix(-at, -moved, s->rate));
}

/* Normalisation by the sum itself. */
static struct shape make_shape(log_density density, long double scale, long double shift, long double rate,
                               long double low, long double h, int64_t n, int smooth)
{
    struct shape s = {scale, shift, rate, 0.0L};
    s.log_norm = -log_power_sum(density, &s, density, &s, 1.0L, low, h, n, smooth);
    return s;
}

/* D_a of the mixture against the noise alone, or the reverse, by definition. */
static double divergence(log_density density, double scale, double shift, double rate, double a, int reverse,
                         int smooth)
{
    /* The mass of P^a Q^(1-a) lies between -a*shift and a*shift; the kinks of Laplace lie on the lattice. */
    const long double reach = 40.0L * (long double)scale + (long double)(a * fabs(shift));
    const long double fine = density == laplace ? 1024 : 64; /* kinks cost Simpson's rule its speed */
    const long double h = smooth ? (long double)scale / fine : 1.0L;
    /* Simpson's rule is exact to its order only with the kinks at even nodes. */
    const int64_t half = 2 * ((int64_t)(reach / h / 2) + 1);
    const long double low = -(long double)half * h;
    const struct shape p = make_shape(density, (long double)scale, (long double)shift, (long double)rate, low,
                                      h, 2 * half, smooth);
    const struct shape q =
        make_shape(density, (long double)scale, (long double)shift, 0.0L, low, h, 2 * half, smooth);
    const long double value =
        reverse ? log_power_sum(density, &q, density, &p, (long double)a, low, h, 2 * half, smooth)
                : log_power_sum(density, &p, density, &q, (long double)a, low, h, 2 * half, smooth);
    return (double)(value / ((long double)a - 1));
}

/* ours bounds both directions, and is within `loose` of the larger one. */
static void check_bound(dpf_event event, log_density density, double rate, double a, int smooth, double loose)
{
    const double d = event.sensitivity.at[0][0].l1;
    const double forward = divergence(density, event.scale, d, rate, a, 0, smooth);
    const double backward = divergence(density, event.scale, d, rate, a, 1, smooth);
    const double exact = forward > backward ? forward : backward;
    if (rate < 1.0)
        event = case_sampled(event, rate);
    const double ours = case_divergence(&event, 1, a);
    const double rounding = smooth && density == laplace ? 1e-6 : 1e-9; /* of the integration */
    if (ours < exact * (1.0 - rounding) || ours > exact * (1.0 + loose))
        fail_msg("%s scale %g d %g rate %g order %g: %.15g, exact %.15g", dpf_event_kind_name(event.kind),
                 event.scale, d, rate, a, ours, exact);
}

TEST(gaussian_is_exact)
{
    static const double orders[] = {1.3, 1.75, 2.0, 3.5, 7.2, 16.0, 31.9};
    static const double rates[] = {0.01, 0.3, 0.9, 1.0};
    static const double scales[] = {0.7, 2.0, 6.0};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (size_t j = 0; j < sizeof rates / sizeof *rates; j++)
            for (size_t k = 0; k < sizeof scales / sizeof *scales; k++)
                check_bound(case_event(DPF_EVENT_GAUSSIAN, scales[k], 1.0), gaussian, rates[j], orders[i], 1,
                            1e-6);
}

/* Orders near 1 and tiny rates, where the series cancels and the chord takes over. */
TEST(gaussian_stays_a_bound_where_the_series_cancels)
{
    static const double orders[] = {1.01, 1.1, 2.0001, 5.9999};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        check_bound(case_event(DPF_EVENT_GAUSSIAN, 3.0, 1.0), gaussian, 1e-6, orders[i], 1,
                    orders[i] < 2.0 ? 1.3 : 0.15);
}

TEST(discrete_gaussian_is_bounded)
{
    static const double orders[] = {1.5, 2.0, 4.0, 6.5};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        dpf_event event = case_event(DPF_EVENT_DISCRETE_GAUSSIAN, 3.0, 2.0);
        event.grid = 1.0;
        check_bound(event, gaussian, 1.0, orders[i], 0, 1e-6);
        /* Between integers a chord is used; below 2 it starts from order 1. */
        check_bound(event, gaussian, 0.1, orders[i], 0, orders[i] < 2.0 ? 0.5 : 0.05);
    }
}

TEST(laplace_is_exact)
{
    static const double orders[] = {1.2, 2.0, 5.5, 40.0};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        check_bound(case_event(DPF_EVENT_LAPLACE, 2.0, 1.0), laplace, 1.0, orders[i], 1, 1e-5);
        check_bound(case_event(DPF_EVENT_LAPLACE, 1.0, 1.0), laplace, 1.0, orders[i], 1, 1e-5);
    }
}

TEST(discrete_laplace_is_exact)
{
    static const double orders[] = {1.2, 2.0, 5.0, 40.0};
    static const double shifts[] = {1.0, 3.0, 10.0};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        for (size_t j = 0; j < sizeof shifts / sizeof *shifts; j++) {
            dpf_event event = case_event(DPF_EVENT_DISCRETE_LAPLACE, 4.0, shifts[j]);
            event.grid = 1.0;
            check_bound(event, laplace, 1.0, orders[i], 0, 1e-9);
            check_bound(event, laplace, 0.2, orders[i], 0, orders[i] < 2.0 ? 1.2 : 1e-9);
        }
    }
}

/* No split of an L1 sensitivity over coordinates is worse than all of it in one. */
TEST(one_coordinate_is_the_worst_case)
{
    for (double a = 1.1; a < 60.0; a *= 2.3) {
        dpf_event whole = case_event(DPF_EVENT_DISCRETE_LAPLACE, 5.0, 12.0);
        whole.grid = 1.0;
        const double bound = case_divergence(&whole, 1, a);
        for (int first = 1; first <= 6; first++) {
            const double sum = divergence(laplace, 5.0, first, 1.0, a, 0, 0) +
                               divergence(laplace, 5.0, 12.0 - first, 1.0, a, 0, 0);
            assert_true(sum <= bound * (1.0 + 1e-9));
        }
    }
}

/* Randomized response is an epsilon-DP release and the worst one. */
TEST(pure_bound_is_tight)
{
    for (double epsilon = 0.01; epsilon < 30.0; epsilon *= 3.0) {
        for (double a = 1.05; a < 300.0; a *= 2.0) {
            const long double p = 1 / (1 + expl(-(long double)epsilon)), q = 1 - p;
            const long double moment = powl(p, a) * powl(q, 1 - a) + powl(q, a) * powl(p, 1 - a);
            const double exact = isfinite((double)moment) && q > 0 ? (double)(logl(moment) / (a - 1)) : NAN;
            dpf_event pure = case_event(DPF_EVENT_PURE, 1.0, 1.0);
            pure.p.pure.epsilon = epsilon;
            const double ours = case_divergence(&pure, 1, a);
            assert_true(ours <= epsilon * (1.0 + 1e-9));
            if (!isnan(exact) && exact > 1e-9) {
                assert_true(ours >= exact * (1.0 - 1e-9));
                assert_true(ours <= exact * (1.0 + 1e-6));
            }
            dpf_event response = case_event(DPF_EVENT_RANDOMIZED_RESPONSE, 1.0, 3.0);
            response.p.response.flip = 1.0 / (1.0 + exp(epsilon));
            const double bits = case_divergence(&response, 1, a);
            assert_true(fabs(bits - 3.0 * ours) <= 1e-6 * bits);
        }
    }
}
