/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection as it is made (draws of the number, of candidates, the first of the best) against exact
 * probabilities of what is released, of candidates that answer with flipped bits. test_golden_selection shows
 * that the accountant covers these probabilities.
 */
#include <math.h>
#include <string.h>

#include "kit/test.h"
#include "select/select_run.h"
#include "select/repetitions.h"

#define TRIALS 60000
#define CANDIDATES 3

/* Candidate c answers 1 with that probability; the score is the answer, and candidate 2 fails where it would
 * say 0. */
static const double ones[CANDIDATES] = {0.2, 0.7, 0.5};

static double generating(const struct repetitions *law, double x)
{
    if (law->law == DPF_REPETITIONS_POISSON)
        return exp(law->mean * (x - 1));
    const double rest = 1 - (1 - law->gamma) * x;
    return law->eta == 0 ? log(rest) / log(law->gamma)
                         : (pow(rest, -law->eta) - 1) / (pow(law->gamma, -law->eta) - 1);
}

/* Of outputs (candidate, answer) 0 .. 5, and 6: nothing has a score. Failure is the lowest level, then 0,
 * then 1. */
static void exactly(const struct repetitions *law, double probability[7])
{
    const double fails = 0.5 / CANDIDATES, zeros = (0.8 + 0.3) / CANDIDATES;
    const double nothing = generating(law, fails), zero = generating(law, fails + zeros) - nothing,
                 one = generating(law, 1) - generating(law, fails + zeros);
    memset(probability, 0, 7 * sizeof *probability);
    for (int c = 0; c < CANDIDATES; c++) {
        probability[2 * c] = c < 2 ? zero * (1 - ones[c]) / (0.8 + 0.3) : 0;
        probability[2 * c + 1] = one * ones[c] / (0.2 + 0.7 + 0.5);
    }
    probability[6] = nothing;
}

static int one_selection(const struct repetitions *law, dpf_cursor *cursor)
{
    static int64_t candidates[4096];
    static double scores[4096];
    struct select_state state = {.candidates = candidates, .scores = scores};
    state.n_runs = repetitions_draw(law, cursor);
    assert_true(state.n_runs < 4096);
    for (int64_t i = 0; i < state.n_runs; i++) {
        uint64_t which;
        uint8_t answer;
        random_below(cursor, CANDIDATES, &which, 1);
        random_bernoulli(cursor, ones[which], &answer, 1);
        candidates[i] = (int64_t)which;
        scores[i] = which == 2 && !answer ? -(double)INFINITY : answer;
    }
    const int64_t best = select_best(&state);
    return best == SELECT_NOTHING ? 6 : (int)(2 * candidates[best]) + (scores[best] > 0);
}

TEST(releases_have_their_probabilities)
{
    struct repetitions laws[5];
    struct dpf_error error = {0};
    assert_int_equal(repetitions_negative_binomial(1, 5, &laws[0]), 0);
    assert_int_equal(repetitions_negative_binomial(0, 3, &laws[1]), 0);
    assert_int_equal(repetitions_negative_binomial(-0.5, 2, &laws[2]), 0);
    assert_int_equal(repetitions_negative_binomial(2.5, 6, &laws[3]), 0);
    assert_int_equal(repetitions_poisson(1.5, &laws[4]), 0);
    struct random_root *root = random_root_seeded(11, "test", &error);
    dpf_stream *stream = random_stream_open(root, "select", "test", &error);
    for (uint32_t l = 0; l < 5; l++) {
        double probability[7], counts[7] = {0}, chi = 0, freedom = -1;
        dpf_cursor cursor;
        exactly(&laws[l], probability);
        random_seek(stream, l, 0, 0, &cursor);
        for (int i = 0; i < TRIALS; i++)
            counts[one_selection(&laws[l], &cursor)]++;
        for (int o = 0; o < 7; o++) {
            const double expected = TRIALS * probability[o];
            if (probability[o] == 0) {
                assert_true(counts[o] == 0);
                continue;
            }
            chi += (counts[o] - expected) * (counts[o] - expected) / expected;
            freedom++;
        }
        if (!(chi < 25)) /* 5 degrees of freedom: 1.4e-4 */
            fail_msg("law %u: chi square %g of %g degrees of freedom", l, chi, freedom);
    }
    random_stream_free(stream);
    random_root_free(root);
}

TEST(the_first_of_the_best_is_taken)
{
    double scores[4] = {-INFINITY, -0.9, -0.9, -1.2};
    struct select_state runs = {.n_runs = 4, .scores = scores};
    assert_int_equal(select_best(&runs), 1);
    scores[3] = 0.5;
    assert_int_equal(select_best(&runs), 3);
    scores[0] = NAN; /* not over */
    assert_int_equal(select_best(&runs), SELECT_NO_RUN);
    for (int i = 0; i < 4; i++)
        scores[i] = -INFINITY;
    assert_int_equal(select_best(&runs), SELECT_NOTHING);
    runs.n_runs = 0;
    assert_int_equal(select_best(&runs), SELECT_NOTHING);
}
