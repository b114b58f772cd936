/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Audits of mechanisms whose epsilon is known: how often a bound exceeds it, which the confidence allows for,
 * and how near to it bounds come. Many audits of few trials, with fixed keys.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "audit/bounds.h"
#include "audit/held_out.h"
#include "audit/one_run.h"
#include "base/random.h"

#define AUDITS 100
#define TRIALS 200 /* with each data set; half of them choose */
#define ALPHA 0.2  /* so large that wrong bounds are seen, and counted */

static dpf_stream *stream;

/* Scores of trials with inputs 1 and 0. */
typedef void (*mechanism)(dpf_cursor *cursor, double input, double *scores, int64_t n);

static void laplace(dpf_cursor *cursor, double input, double *scores, int64_t n) /* epsilon 1 */
{
    random_laplace(cursor, scores, n);
    for (int64_t i = 0; i < n; i++)
        scores[i] += input;
}

#define SHIFT 3.0
static void gaussian(dpf_cursor *cursor, double input, double *scores, int64_t n)
{
    random_normal(cursor, scores, n);
    for (int64_t i = 0; i < n; i++)
        scores[i] += SHIFT * input;
}

static void response(dpf_cursor *cursor, double input, double *scores, int64_t n) /* epsilon 1 */
{
    static uint8_t kept[TRIALS];
    random_bernoulli(cursor, 1 / (1 + exp(-1)), kept, n);
    for (int64_t i = 0; i < n; i++)
        scores[i] = kept[i] ? input : 1 - input;
}

static void nothing(dpf_cursor *cursor, double input, double *scores, int64_t n) /* epsilon 0 */
{
    (void)input;
    random_normal(cursor, scores, n);
}

static double above(double x) /* of the standard normal law */
{
    return erfc(x * M_SQRT1_2) / 2;
}

/* The smallest delta of Gaussian noise of deviation 1 for a change of SHIFT (Balle, Wang, ICML 2018). */
static double gaussian_delta(double epsilon)
{
    return above(epsilon / SHIFT - SHIFT / 2) - exp(epsilon) * above(epsilon / SHIFT + SHIFT / 2);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct outcome {
    double wrong;    /* share of audits whose bound exceeds epsilon */
    double median;   /* bound */
    double unlearnt; /* share, if the trials that chose the event judged it as well */
};

static struct outcome audit_often(mechanism run, uint32_t key, double epsilon, double delta)
{
    static double bounds[AUDITS], scores[2][TRIALS];
    struct outcome outcome = {0, 0, 0};
    for (uint32_t a = 0; a < AUDITS; a++) {
        for (uint32_t set = 0; set < 2; set++) {
            dpf_cursor cursor;
            random_seek(stream, key, a, set, &cursor);
            run(&cursor, set == 0, scores[set], TRIALS);
        }
        const struct held_out_scores choosing = {{scores[0], scores[1]}, TRIALS / 2};
        const struct held_out_scores judging = {{scores[0] + TRIALS / 2, scores[1] + TRIALS / 2}, TRIALS / 2};
        const struct held_out_rule rule = held_out_choose(&choosing, delta, ALPHA);
        bounds[a] = held_out_judge(&rule, &judging, delta, ALPHA).epsilon;
        outcome.wrong += bounds[a] > epsilon ? 1.0 / AUDITS : 0;
        outcome.unlearnt +=
            held_out_judge(&rule, &choosing, delta, ALPHA).epsilon > epsilon ? 1.0 / AUDITS : 0;
    }
    qsort(bounds, AUDITS, sizeof bounds[0], compare);
    outcome.median = bounds[AUDITS / 2];
    return outcome;
}

/* The bound that somebody gets who knows the best event, with probabilities p and q, and has average luck. */
static double within_reach(double p, double q, double delta)
{
    const double n = TRIALS / 2;
    return bounds_epsilon((int64_t)floor(n * p), TRIALS / 2, (int64_t)ceil(n * q), TRIALS / 2, delta, ALPHA);
}

static void assert_outcome(const struct outcome *outcome, double epsilon, double best)
{
    if (!(outcome->wrong <= ALPHA && outcome->median <= epsilon && outcome->median >= 0.75 * best))
        fail_msg("of bounds %g are wrong; median %g, within reach %g", outcome->wrong, outcome->median, best);
}

TEST(bounds_of_randomised_response_hold)
{
    const struct outcome outcome = audit_often(response, 1, 1, 0);
    const double p = 1 / (1 + exp(-1));
    assert_outcome(&outcome, 1, within_reach(p, 1 - p, 0));
}

/* All events "above t" with t > 1 have a ratio of exactly e, the best one within reach has the most trials.
 */
TEST(bounds_of_laplace_noise_hold)
{
    const struct outcome outcome = audit_often(laplace, 2, 1, 0);
    assert_outcome(&outcome, 1, within_reach(0.5, 0.5 * exp(-1), 0));
}

TEST(bounds_of_gaussian_noise_hold)
{
    const double epsilon = 4.5, delta = gaussian_delta(epsilon);
    const struct outcome outcome = audit_often(gaussian, 3, epsilon, delta);
    double best = 0;
    for (double t = 0; t < SHIFT; t += 0.1)
        best = fmax(best, within_reach(above(t - SHIFT), above(t), delta));
    assert_true(delta > 0.2);
    assert_true(best > 1.5);
    assert_outcome(&outcome, epsilon, best);
}

/* Nothing to be found; and what is found if trials that chose are asked again, which shows that the rates
   above could have been exceeded. */
TEST(null_data_shows_nothing)
{
    const struct outcome outcome = audit_often(nothing, 4, 0, 0);
    assert_true(outcome.wrong <= ALPHA);
    assert_true(outcome.median == 0);
    assert_true(outcome.unlearnt > 2 * ALPHA);
}

/* ---- one run ------------------------------------------------------------------------------------------ */

#define CANARIES 400

static int fall(const void *a, const void *b)
{
    return compare(*(const double *const *)b, *(const double *const *)a);
}

/* Each canary alone with its noise, moved by so much; guesses are made from what was released, sorted. */
static double run_once(uint32_t key, uint32_t a, double moved)
{
    static double scores[CANARIES], noise[CANARIES];
    static const double *order[CANARIES];
    static unsigned char coins[CANARIES], bits[CANARIES];
    dpf_cursor cursor;
    random_seek(stream, key, a, 0, &cursor);
    random_bernoulli(&cursor, 0.5, coins, CANARIES);
    random_laplace(&cursor, noise, CANARIES);
    for (int c = 0; c < CANARIES; c++) {
        scores[c] = noise[c] + (coins[c] ? 0 : moved);
        order[c] = &scores[c];
    }
    qsort(order, CANARIES, sizeof order[0], fall);
    for (int i = 0; i < CANARIES; i++)
        bits[i] = coins[order[i] - scores];
    const struct one_run one_run = {.n = CANARIES, .bits = bits};
    return one_run_judge(&one_run, 0, ALPHA).epsilon;
}

TEST(bounds_of_one_run_hold)
{
    static double bounds[AUDITS];
    double wrong = 0, found = 0; /* shares of audits */
    for (uint32_t a = 0; a < AUDITS; a++) {
        bounds[a] = run_once(5, a, 1);
        wrong += bounds[a] > 1 ? 1.0 / AUDITS : 0;
        found += run_once(6, a, 0) > 0 ? 1.0 / AUDITS : 0;
    }
    qsort(bounds, AUDITS, sizeof bounds[0], compare);
    assert_true(wrong <= ALPHA);
    assert_true(bounds[AUDITS / 2] > 0.5);
    assert_true(bounds[AUDITS / 2] < 1);
    assert_true(found <= ALPHA);
}

static int begin(void **state)
{
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(20, "noise", &error);
    (void)state;
    stream = root ? random_stream_open(root, "audit", "simulated", &error) : NULL;
    random_root_free(root);
    return stream ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    random_stream_free(stream);
    return 0;
}

FIXTURE(begin, end)
