/* SPDX-License-Identifier: Apache-2.0 */
/* Scores that are learnt tell samples apart by centre or by spread, and see nothing where there is nothing.
 */
#include <math.h>

#include "kit/test.h"
#include "audit/score_fit.h"

#define N 200
#define WIDTH 50

static double samples[2][N * WIDTH];
static const double *const both[2] = {samples[0], samples[1]};
static struct learnt learnt[WIDTH];

/* A number in (0, 1) of k: equidistributed, so that no sample is an unlucky one. */
static double spread_out(int64_t k, int64_t i)
{
    return fmod(((double)k + 0.5) * 0.6180339887498949 + (double)i * 0.7548776662466927, 1);
}

/* Logistic numbers; number 7 of the second sample is moved and scaled. */
static void fill(double moved, double scaled)
{
    for (int s = 0; s < 2; s++)
        for (int64_t k = 0; k < N; k++)
            for (int64_t i = 0; i < WIDTH; i++) {
                const double u = fmin(fmax(spread_out(k, i + 100 * s), 1e-4), 1 - 1e-4), x = log(u / (1 - u));
                samples[s][k * WIDTH + i] = s == 1 && i == 7 ? moved + scaled * x : x;
            }
}

/* Share of pairs in which the first sample's vector has the larger score; ties are halves. */
static double told_apart(enum learn_kind kind)
{
    double right = 0;
    assert_int_equal(learn_from(kind, both, N, WIDTH, learnt), 0);
    for (int64_t k = 0; k < N; k++) {
        const double a = learn_score(kind, learnt, samples[0] + k * WIDTH, WIDTH),
                     b = learn_score(kind, learnt, samples[1] + (k * 7 + 3) % N * WIDTH, WIDTH);
        right += a > b ? 1 : a < b ? 0 : 0.5;
    }
    return right / N;
}

static int64_t counted(void)
{
    int64_t n = 0;
    for (int64_t i = 0; i < WIDTH; i++)
        n += learnt[i].counts;
    return n;
}

TEST(shifts_are_learnt)
{
    fill(2, 1);
    for (int kind = 0; kind < LEARN_N_KINDS; kind++) {
        assert_true(told_apart((enum learn_kind)kind) > 0.75);
        assert_true(counted() == 1);
        assert_true(learnt[7].counts);
    }
}

TEST(spreads_are_learnt)
{
    fill(0, 4);
    assert_true(told_apart(LEARN_DENSITIES) > 0.7);
    assert_true(learnt[7].counts);
}

/* A number that one of the data sets always has tells for certain. */
TEST(constants_are_learnt)
{
    fill(3, 0);
    assert_true(told_apart(LEARN_DENSITIES) > 0.98);
    for (int64_t k = 0; k < N; k++)
        samples[0][k * WIDTH + 7] = 1;
    assert_true(told_apart(LEARN_MEANS) > 0.99);
    for (int64_t k = 0; k < N * WIDTH; k++)
        samples[0][k] = samples[1][k] = 5;
    assert_true(fabs(told_apart(LEARN_MEANS) - 0.5) < 1e-12);
    assert_true(fabs(told_apart(LEARN_DENSITIES) - 0.5) < 1e-12);
}
