/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often tests of sound noise fail (audit/noise_tally.h): statistics of as few numbers as are allowed stay within what
 * a normal law says of their tails, for each law of noise, so that the alarm means what it says.
 */
#include <math.h>

#include <sodium.h>

#include "kit/test.h"
#include "audit/noise_tally.h"
#include "base/random.h"

#define STATISTICS 20000

enum noise_law { NORMAL, LAPLACE, FLIP_OF_A_TENTH, N_LAWS };

static const double fourth_moments[N_LAWS] = {3, 6, 1 / 0.09 - 3};

/* Numbers of mean 0 and variance 1. */
static void fill(dpf_cursor *cursor, enum noise_law law, double *out, int n)
{
    uint8_t bits[2 * NOISE_FEWEST_PAIRS];
    if (law == NORMAL)
        random_normal(cursor, out, n);
    if (law == LAPLACE)
        random_laplace(cursor, out, n);
    if (law == FLIP_OF_A_TENTH)
        random_bernoulli(cursor, 0.1, bits, n);
    for (int i = 0; i < n; i++)
        out[i] = law == FLIP_OF_A_TENTH ? (bits[i] - 0.1) / 0.3 : law == LAPLACE ? out[i] / sqrt(2) : out[i];
}

/* How many of STATISTICS findings of an aspect are beyond so many deviations. */
static int beyond(dpf_stream *stream, enum noise_law law, enum noise_aspect aspect, double deviations)
{
    static double x[2 * NOISE_FEWEST_PAIRS];
    const int own = aspect == NOISE_VARIANCE || aspect == NOISE_MEAN;
    const int n = own ? NOISE_FEWEST_NUMBERS : NOISE_FEWEST_PAIRS;
    int found = 0;
    for (int k = 0; k < STATISTICS; k++) {
        struct noise_tally tally = {.fourth = fourth_moments[law]};
        dpf_cursor cursor;
        random_seek(stream, (uint32_t)law * 16 + (uint32_t)aspect, 0, (uint32_t)k, &cursor);
        fill(&cursor, law, x, 2 * n);
        for (int i = 0; i < n; i++)
            if (own)
                noise_tally_number(&tally, x[i]);
            else
                noise_tally_pair(&tally, aspect, x[i], x[n + i]);
        const struct noise_finding f = noise_tally_find(&tally, aspect);
        assert_int_equal(f.n, n);
        found += noise_fails(&f, deviations);
    }
    return found;
}

/* Beyond three standard deviations a normal statistic is 27 times in 10,000 (below them 13.5 times). */
TEST(few_numbers_have_normal_tails)
{
    static const enum noise_aspect aspects[] = {NOISE_VARIANCE, NOISE_MEAN, NOISE_ROWS};
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(11, "tails", &error);
    dpf_stream *stream = random_stream_open(root, "audit", "tails", &error);
    assert_non_null(stream);
    for (int law = 0; law < N_LAWS; law++)
        for (size_t a = 0; a < sizeof aspects / sizeof *aspects; a++) {
            const double expected = STATISTICS * (aspects[a] == NOISE_VARIANCE ? 1.35e-3 : 2.7e-3);
            const int found = beyond(stream, (enum noise_law)law, aspects[a], 3);
            if (found > 1.6 * expected + 5 * sqrt(expected))
                fail_msg("law %d, %s: %d of %d statistics beyond three deviations, %g are normal", law,
                         noise_aspect_name(aspects[a]), found, STATISTICS, expected);
        }
    random_stream_free(stream);
    random_root_free(root);
}

/* One alarm in a million audits, however many tests an audit has. */
TEST(the_rate_is_that_of_all_tests_together)
{
    for (int64_t m = 1; m < 100000; m *= 7) {
        const double each = erfc(noise_alarm(m) / sqrt(2));
        assert_true(fabs(each * (double)m / NOISE_FALSE_ALARMS - 1) < 1e-6);
    }
    assert_true(noise_alarm(6) > 5.2 && noise_alarm(6) < 5.3);
}

static int begin(void **state)
{
    (void)state;
    return sodium_init() < 0 ? -1 : 0;
}

FIXTURE(begin, NULL)
