/* SPDX-License-Identifier: Apache-2.0 */
/* The law of sums of binomials against convolution, number by number, and far out in the tails. */
#include <math.h>
#include <string.h>

#include "kit/test.h"
#include "audit/binomial_sum.h"

#define MOST 4096

/* All probabilities by multiplying (1 - p + p z) trial by trial, in long double. */
static void convolve(const double *p, int64_t n, int64_t trials, long double out[MOST + 1])
{
    memset(out, 0, (MOST + 1) * sizeof *out);
    out[0] = 1;
    int64_t most = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < trials; t++) {
            const long double q = 1 - (long double)p[i];
            most++;
            for (int64_t k = most; k > 0; k--)
                out[k] = out[k] * q + out[k - 1] * (long double)p[i];
            out[0] *= q;
        }
}

static void compare(const double *p, int64_t n, int64_t trials)
{
    static long double exact[MOST + 1];
    double sum = 0;
    convolve(p, n, trials, exact);
    for (int64_t k = 0; k <= n * trials; k++) {
        const double log_law = binomial_sum_log(p, n, trials, k), expected = (double)logl(exact[k]);
        if (!(fabs(log_law - expected) < 1e-9 + 1e-11 * fabs(expected)))
            fail_msg("%d messages of %d trials, %d: %.15g for %.15g", (int)n, (int)trials, (int)k, log_law,
                     expected);
        sum += exp(log_law);
    }
    assert_true(fabs(sum - 1) < 1e-9);
}

TEST(laws_are_those_of_a_convolution)
{
    double p[64];
    for (int i = 0; i < 64; i++)
        p[i] = 0.25 + 0.5 * ((i * 37) % 64) / 63.0;
    static const int64_t cases[][2] = {{1, 1}, {1, 7}, {2, 1}, {2, 16}, {3, 5}, {10, 10}, {64, 1}, {24, 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare(p, cases[i][0], cases[i][1]);
    for (int i = 0; i < 64; i++)
        p[i] = i % 2 ? 0.75 : 0.25;
    compare(p, 16, 40);
    static const double alike[40] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
    compare(alike, 7, 12);
}

TEST(what_cannot_be_has_no_probability)
{
    const double p[2] = {0.3, 0.6};
    assert_true(binomial_sum_log(p, 2, 4, -1) == -INFINITY && binomial_sum_log(p, 2, 4, 9) == -INFINITY);
    assert_true(binomial_sum_log(p, 0, 4, 0) == 0);
}

TEST(many_messages_cost_more)
{
    assert_true(binomial_sum_cost(1, 1) < binomial_sum_cost(10, 10));
    assert_true(binomial_sum_cost(100, 100) > 1e4 && binomial_sum_cost(100, 100) < 1e6);
}
