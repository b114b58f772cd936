/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds against values that exact binomial sums and the publication's own program give. */
#include <math.h>

#include "kit/test.h"
#include "audit/bounds.h"
#include "audit/held_out.h"

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.12g instead of %.12g", a, b);
}

/* Clopper and Pearson 1934; the intervals of 1, 5 of 10 and 10 of 100 are those of many tables. */
TEST(clopper_pearson_agrees_with_tables)
{
    static const struct {
        int64_t k, n;
        double alpha, lower, upper;
    } cases[] = {
        {1, 10, .025, 0.0025285785, 0.4450161170},     {5, 10, .025, 0.1870860284, 0.8129139716},
        {10, 100, .025, 0.0490046892, 0.1762225977},   {10, 10, .05, 0.7411344491, 1},
        {97, 100, .01, 0.9030289547, 0.9956050235},    {3, 1000, .05, 0.0008181754, 0.0077352447},
        {500, 1000, .025, 0.4685491730, 0.5314508270}, {0, 10, .05, 0, 0.2588655509},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_near(bounds_lower(cases[i].k, cases[i].n, cases[i].alpha), cases[i].lower, 1e-9);
        assert_near(bounds_upper(cases[i].k, cases[i].n, cases[i].alpha), cases[i].upper, 1e-9);
    }
}

/* The definition: at the lower bound p, k or more of n are seen with probability alpha. */
TEST(the_tail_at_the_bound_is_alpha)
{
    for (int64_t n = 1; n <= 60; n += 7)
        for (int64_t k = 1; k <= n; k++) {
            const double p = bounds_lower(k, n, 0.01);
            double tail = 0;
            for (int64_t i = k; i <= n; i++)
                tail += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
                            (double)i * log(p) + (double)(n - i) * log1p(-p));
            assert_near(tail, 0.01, 1e-10);
        }
}

TEST(epsilon_follows_from_both_bounds)
{
    const double p = bounds_lower(480, 500, .025), q = bounds_upper(20, 500, .025);
    assert_near(bounds_epsilon(480, 500, 20, 500, 0, .05), log(p / q), 1e-12);
    assert_near(bounds_epsilon(480, 500, 20, 500, 0.1, .05), log((p - 0.1) / q), 1e-12);
    assert_true(bounds_epsilon(250, 500, 250, 500, 0, .05) == 0);
    assert_true(bounds_epsilon(20, 500, 480, 500, 0, .05) == 0);
    assert_true(bounds_epsilon(20, 500, 0, 500, 0.5, .05) == 0);
}

/* Values of the program in appendix D of arXiv 2305.08846, with sums over exact binomial coefficients. */
TEST(one_run_agrees_with_the_publication)
{
    static const struct {
        int64_t m, r, v;
        double delta, epsilon;
    } bounds[] = {
        {100, 100, 75, 0, 0.70221393},
        {1000, 100, 100, 0, 3.49296543},
        {1000, 100, 100, 1e-5, 3.46537635},
        {1000, 200, 170, 1e-5, 1.39745896},
        {50, 20, 10, 0, 0},
        {500, 500, 400, 1e-3, 1.15744276},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        assert_near(bounds_one_run(bounds[i].m, bounds[i].r, bounds[i].v, bounds[i].delta, .05),
                    bounds[i].epsilon, 1e-7);
    assert_near(bounds_one_run_chance(100, 100, 75, 1, 0), 3.8272186726e-01, 1e-10);
    assert_near(bounds_one_run_chance(1000, 100, 90, 1, 1e-5), 8.4128856144e-04, 1e-12);
    assert_near(bounds_one_run_chance(1000, 200, 170, 1.5, 1e-4), 1.4838175763e-01, 1e-10);
}

/* ---- exact error rates: sums over all outcomes, no luck --------------------------------------------------
 */

static double mass(int64_t k, int64_t n, double p)
{
    if (p <= 0 || p >= 1)
        return k == (p <= 0 ? 0 : n);
    return exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) +
               (double)k * log(p) + (double)(n - k) * log1p(-p));
}

/* The probability that a bound of n trials each exceeds the truth ln((p - delta) / q). */
static double wrong_bounds(int64_t n, double p, double q, double delta, double alpha)
{
    const double truth = p - delta > q ? log((p - delta) / q) : 0;
    double wrong = 0;
    for (int64_t k = 0; k <= n; k++)
        for (int64_t l = 0; l <= n; l++)
            if (mass(k, n, p) > 0 && bounds_epsilon(k, n, l, n, delta, alpha) > truth)
                wrong += mass(k, n, p) * mass(l, n, q);
    return wrong;
}

TEST(bounds_are_wrong_as_seldom_as_stated)
{
    static const double p[] = {.02, .3, .5, .9, .99, 1}, q[] = {.001, .05, .3, .5, .9},
                        delta[] = {0, .01, .3};
    for (size_t i = 0; i < 6 * 5 * 3; i++) {
        const double a = p[i % 6], b = q[i / 6 % 5], d = delta[i / 30];
        assert_true(wrong_bounds(1, a, b, d, .05) <= .05);
        assert_true(wrong_bounds(12, a, b, d, .05) <= .05);
        assert_true(wrong_bounds(12, a, b, d, .5) <= .5);
        assert_true(wrong_bounds(12, a, b, d, .001) <= .001);
    }
    /* Not by being useless: with one of the probabilities known to be 1 its half of alpha is used up. */
    assert_true(wrong_bounds(400, 1, .1, 0, .05) > .01);
}

/* Randomised response of m bits, all guessed: the guesses that are right are Binomial(m, q). */
TEST(one_run_is_wrong_as_seldom_as_stated)
{
    static const double epsilons[] = {0, .3, 1, 4}, alphas[] = {.5, .05, .001};
    for (size_t i = 0; i < 4 * 3; i++) {
        const double epsilon = epsilons[i % 4], alpha = alphas[i / 4], q = 1 / (1 + exp(-epsilon));
        double wrong = 0, next = 0;
        for (int64_t v = 0; v <= 200; v++)
            if (bounds_one_run(200, 200, v, 0, alpha) > epsilon)
                wrong += mass(v, 200, q);
            else
                next = mass(v, 200, q);
        assert_true(wrong <= alpha + 1e-9);
        assert_true(wrong + next >
                    alpha - 1e-9); /* nothing is given away: one guess less would be too many */
    }
    /* Large numbers: neither an overflow nor more than is refuted. */
    assert_true(bounds_one_run(1000000, 1000000, 1000000, 0, .05) > 12);
    assert_true(bounds_one_run(1000000, 1000000, 1000000, 0, .05) < 14);
    assert_true(bounds_one_run_chance(10, 10, 10, 60, 0) > 0.999999);
    assert_true(bounds_one_run(1, 1, 1, 0, .4) == 0); /* one coin tossed: 1/2 */
    assert_true(bounds_one_run(1, 1, 1, 0, .6) > 0);
}

/* ---- held-out thresholds ------------------------------------------------------------------------------ */

#define N 2000

/* Quantiles of a logistic law around a centre: exact samples without luck. */
static void fill(double *out, double centre, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const double u = ((double)i + 0.5) / (double)n;
        out[i] = centre + log(u / (1 - u));
    }
}

TEST(scores_of_one_law_show_nothing)
{
    static double a[N], b[N], constant[N];
    fill(a, 0, N);
    fill(b, 0, N);
    const struct held_out_scores same = {{a, b}, N}, flat = {{constant, constant}, N};
    struct held_out_rule rule = held_out_choose(&same, 0, .05);
    assert_true(held_out_judge(&rule, &same, 0, .05).epsilon == 0);
    rule = held_out_choose(&flat, 0, .05);
    assert_true(held_out_judge(&rule, &flat, 0, .05).epsilon == 0);
}

/* Two logistic laws, 1 apart: the ratio of tails tends to e. Whichever of the sets is the larger one. */
TEST(shifted_scores_show_the_shift)
{
    static double a[N], b[N];
    fill(a, 1, N);
    fill(b, 0, N);
    for (int swapped = 0; swapped < 2; swapped++) {
        const struct held_out_scores scores = {{swapped ? b : a, swapped ? a : b}, N};
        const struct held_out_rule rule = held_out_choose(&scores, 0, .05);
        const struct held_out_verdict verdict = held_out_judge(&rule, &scores, 0, .05);
        assert_true(verdict.epsilon > 0.6);
        assert_true(verdict.epsilon < 1);
        assert_int_equal(verdict.n, N);
    }
}

/* Counts have few values: the step between two of them is found among however many trials. */
TEST(steps_of_discrete_scores_are_found)
{
    enum { MANY = 30011 };
    static double a[MANY], b[MANY];
    for (int i = 0; i < MANY; i++) {
        a[i] = i < 20011;
        b[i] = i < 10011;
    }
    const struct held_out_scores scores = {{a, b}, MANY};
    const struct held_out_rule rule = held_out_choose(&scores, 0, .05);
    const double epsilon = held_out_judge(&rule, &scores, 0, .05).epsilon;
    assert_true(epsilon > 0.65);
    assert_true(epsilon < log(2));
}
