/* SPDX-License-Identifier: Apache-2.0 */
/* The laws of the number of runs: their means, and draws against exact probabilities, with fixed keys. */
#include <math.h>
#include <string.h>

#include "kit/test.h"
#include "select/repetitions.h"

static const struct {
    int poisson;
    double eta, mean;
} laws[] = {{0, 1, 1},   {0, 1, 10},  {0, 0, 10},   {0, 0.5, 5}, {0, -0.5, 4}, {0, -0.9, 1.3}, {0, 2, 30},
            {0, 3.7, 8}, {0, 40, 60}, {0, 1, 1.01}, {1, 0, 0.3}, {1, 0, 1},    {1, 0, 12.75},  {1, 0, 40}};
#define N_LAWS (sizeof laws / sizeof *laws)

static struct repetitions make(size_t i)
{
    struct repetitions law;
    assert_int_equal(laws[i].poisson ? repetitions_poisson(laws[i].mean, &law)
                                     : repetitions_negative_binomial(laws[i].eta, laws[i].mean, &law),
                     0);
    return law;
}

#define MOST 20000

/* Probabilities sum to 1 and have the mean that was asked for; the ledger's mean is the same. */
TEST(means_are_those_asked_for)
{
    for (size_t i = 0; i < N_LAWS; i++) {
        const struct repetitions law = make(i);
        double sum = 0, mean = 0;
        for (int64_t k = 0; k < 4000; k++) {
            const double p = repetitions_probability(&law, k);
            sum += p;
            mean += (double)k * p;
        }
        if (!(fabs(sum - 1) < 1e-9 && fabs(mean - laws[i].mean) < 1e-6 * laws[i].mean))
            fail_msg("law %zu: probabilities sum to %.12g, mean %.12g", i, sum, mean);
        assert_true(laws[i].poisson || fabs(dpf_negative_binomial_mean(law.eta, law.gamma) - laws[i].mean) <
                                           1e-9 * laws[i].mean);
    }
}

TEST(draws_have_their_probabilities)
{
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(7, "test", &error);
    dpf_stream *stream = random_stream_open(root, "select", "repetitions", &error);
    assert_non_null(stream);
    for (size_t i = 0; i < N_LAWS; i++) {
        const struct repetitions law = make(i);
        static int64_t counts[512];
        dpf_cursor cursor;
        memset(counts, 0, sizeof counts);
        random_seek(stream, (uint32_t)i, 0, 0, &cursor);
        for (int n = 0; n < MOST; n++) {
            const int64_t k = repetitions_draw(&law, &cursor);
            assert_true(k >= (laws[i].poisson ? 0 : 1));
            counts[k < 511 ? k : 511]++;
        }
        /* Cells of at least 8 expected draws, the rest in one. */
        double chi = 0, rest_expected = MOST, rest_found = MOST;
        int cells = 0;
        for (int64_t k = 0; k < 511; k++) {
            const double expected = MOST * repetitions_probability(&law, k);
            if (expected < 8)
                continue;
            chi += ((double)counts[k] - expected) * ((double)counts[k] - expected) / expected;
            rest_expected -= expected;
            rest_found -= (double)counts[k];
            cells++;
        }
        if (rest_expected > 8) {
            chi += (rest_found - rest_expected) * (rest_found - rest_expected) / rest_expected;
            cells++;
        }
        const double freedom = cells - 1.0;
        if (freedom < 1)
            assert_int_equal(counts[1], MOST); /* one run */
        else if (!(chi < freedom + 5 * sqrt(2 * freedom) + 12))
            fail_msg("law %zu: chi square %g of %g degrees of freedom", i, chi, freedom);
    }
    random_stream_free(stream);
    random_root_free(root);
}

TEST(what_cannot_be_drawn_is_refused)
{
    struct repetitions law;
    assert_int_equal(repetitions_negative_binomial(1, 0.9, &law), -1);
    assert_int_equal(repetitions_negative_binomial(-1, 2, &law), -1);
    assert_int_equal(repetitions_negative_binomial(-0.9, 1000, &law), -1); /* gamma would be next to 0 */
    assert_int_equal(repetitions_negative_binomial(NAN, 2, &law), -1);
    assert_int_equal(repetitions_poisson(0, &law), -1);
    assert_int_equal(repetitions_poisson(1e9, &law), -1);
}
