/* SPDX-License-Identifier: Apache-2.0 */
/* What attacks learn from trainings, and their rates: against figures by hand, and against known laws. */
#include <math.h>
#include <stdlib.h>
#include <sodium.h>

#include "kit/test.h"
#include "audit/attack_learn.h"
#include "audit/attack_rates.h"

#define TRAININGS 128
#define TARGETS 40
#define CELLS (TRAININGS * TARGETS)

static struct random_root *root;

static int begin(void **state)
{
    struct dpf_error error = {0};
    (void)state;
    if (sodium_init() < 0)
        return -1;
    root = random_root_seeded(3, "test", &error);
    return root ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    random_root_free(root);
    return 0;
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.9g instead of %.9g", a, b);
}

static void rates_of(const double *scores, const uint8_t *in, int64_t trainings, int64_t targets,
                     struct attack_rates *out)
{
    struct dpf_error error = {0};
    if (attack_rates_find(scores, in, trainings, targets, 0.95, root, out, &error) != 0)
        fail_msg("%s", error.text);
}

/* ---- rates --------------------------------------------------------------------------------------------- */

TEST(rates_by_hand)
{
    /* Positives 4, 3, 3, 1 and negatives 3, 2, 1, 0. Of 16 pairs the positive is above in 4 + 3 + 3 + 1 and
       equal in 1 + 1 + 1. */
    static const double scores[8] = {4, 3, 3, 1, 3, 2, 1, 0};
    static const uint8_t in[8] = {1, 1, 1, 1, 0, 0, 0, 0};
    struct attack_rates rates;
    rates_of(scores, in, 4, 2, &rates);
    assert_near(rates.auc.value, (11 + 1.5) / 16, 1e-12);
    /* Only the score 4 is above all negatives; those that tie with one are not. */
    assert_near(rates.true_positives[0].value, 0.25, 1e-12);
    assert_near(rates.true_positives[1].value, 0.25, 1e-12);
}

TEST(rates_at_few_false_positives)
{
    static double scores[4000];
    static uint8_t in[4000];
    struct attack_rates rates;
    /* 2000 negatives 0 .. 1999, 2000 positives half a step above them, 30 lower. */
    for (int i = 0; i < 2000; i++) {
        scores[i] = i;
        scores[2000 + i] = i + 0.5 - 30;
        in[2000 + i] = 1;
    }
    rates_of(scores, in, 40, 100, &rates);
    /* 20 negatives are above 1979: positives above it are those of i >= 2009.5. At 0.1 % none is, too. */
    assert_near(rates.true_positives[0].value, 0, 1e-12);
    for (int i = 0; i < 2000; i++)
        scores[2000 + i] = i + 0.5;
    rates_of(scores, in, 40, 100, &rates);
    assert_near(rates.true_positives[0].value, 21 / 2000.0, 1e-12);
    assert_near(rates.true_positives[1].value, 3 / 2000.0, 1e-12);
    assert_true(rates.auc.low <= rates.auc.value);
    assert_true(rates.auc.value <= rates.auc.high);
}

/* The bound against a sum over its definition, and its corners. */
TEST(bounds_follow_from_epsilon_and_delta)
{
    static const double epsilons[] = {0, 0.1, 1, 3, 8}, deltas[] = {0, 1e-5, 0.01, 0.3};
    assert_near(attack_bound_tpr(0.01, 1, 1e-5), exp(1) * 0.01 + 1e-5, 1e-12);
    assert_near(attack_bound_tpr(0.9, 1, 0), 1 - exp(-1) * 0.1, 1e-12);
    assert_near(attack_bound_tpr(0.001, INFINITY, 0), 1, 0);
    for (int e = 0; e < 5; e++)
        for (int d = 0; d < 4; d++) {
            double area = 0;
            const int n = 200000;
            for (int i = 0; i < n; i++)
                area += attack_bound_tpr((i + 0.5) / n, epsilons[e], deltas[d]) / n;
            assert_near(attack_bound_auc(epsilons[e], deltas[d]), area, 1e-8);
        }
    assert_near(attack_bound_auc(0, 0), 0.5, 1e-12);
}

/* ---- learning ------------------------------------------------------------------------------------------ */

struct planted {
    float *numbers;
    uint8_t in[CELLS];
    double scores[CELLS];
};

static void draw(struct planted *p, int64_t width, double shift, uint32_t seed)
{
    struct dpf_error error = {0};
    dpf_stream *stream = random_stream_open(root, "test", "planted", &error);
    dpf_cursor cursor;
    double *x = malloc((size_t)width * sizeof *x);
    p->numbers = malloc((size_t)(CELLS * width) * sizeof *p->numbers);
    assert_true(stream);
    assert_true(x);
    assert_true(p->numbers);
    random_seek(stream, seed, 0, 0, &cursor);
    random_bernoulli(&cursor, 0.5, p->in, CELLS);
    for (int64_t c = 0; c < CELLS; c++) {
        random_normal(&cursor, x, width);
        /* Targets have levels of their own: what counts is how a training differs from others with it. */
        for (int64_t i = 0; i < width; i++)
            p->numbers[c * width + i] =
                (float)(x[i] + 10 * (double)(c % TARGETS) + (i == 0 && p->in[c] ? shift : 0));
    }
    free(x);
    random_stream_free(stream);
}

static void learn(struct planted *p, int64_t width, int64_t n_items, struct attack_rates *rates)
{
    struct dpf_error error = {0};
    const struct attack_sample sample = {.trainings = TRAININGS,
                                         .targets = TARGETS,
                                         .width = width,
                                         .numbers = p->numbers,
                                         .n_items = n_items,
                                         .in = p->in};
    assert_int_equal(attack_learn(&sample, p->scores, &error), 0);
    rates_of(p->scores, p->in, TRAININGS, TARGETS, rates);
    free(p->numbers);
}

/* Nothing is there to be learnt: rates are those of guesses, within what chance allows, also of many numbers
   and over many draws. An attack that used what it attacks would seem to succeed. */
TEST(nothing_is_learnt_from_noise)
{
    static struct planted p;
    struct attack_rates rates;
    double sum = 0;
    for (uint32_t seed = 0; seed < 10; seed++) {
        draw(&p, seed % 2 ? 60 : 3, 0, seed);
        learn(&p, seed % 2 ? 60 : 3, 0, &rates);
        sum += rates.auc.value;
        assert_true(fabs(rates.auc.value - 0.5) < 0.035);
        assert_true(rates.true_positives[0].low <= 0.02);
    }
    assert_true(fabs(sum / 10 - 0.5) < 0.012);
}

/* A shift by d standard deviations: the best AUC is that of N(d, 1) against N(0, 1). It is nearly reached
   where the number stands alone, and less nearly among many that tell nothing. */
TEST(a_shift_is_found)
{
    static struct planted p;
    struct attack_rates rates;
    const double best = 0.5 * erfc(-2.0 / 2); /* Phi(2 / sqrt 2) */
    draw(&p, 1, 2, 100);
    learn(&p, 1, 0, &rates);
    assert_near(rates.auc.value, best, 0.02);
    assert_true(rates.auc.low < best);
    assert_true(best < rates.auc.high);
    draw(&p, 60, 2, 101);
    learn(&p, 60, 0, &rates);
    assert_true(rates.auc.value > best - 0.1);
}

/* Without noise a number that differs decides, and one target's says nothing of others. */
TEST(what_does_not_vary_decides)
{
    static struct planted p;
    struct attack_rates rates;
    draw(&p, 1, 0, 102);
    for (int c = 0; c < CELLS; c++)
        p.numbers[c] = c % TARGETS < TARGETS / 2 ? (p.in[c] ? 1.0f : 0.5f) : 7.0f;
    learn(&p, 1, 0, &rates);
    assert_near(rates.auc.value, 0.5 + 0.5 * (1 - 0.25), 0.02); /* half of the targets are told for certain */
    assert_near(rates.true_positives[0].value, 0.5, 0.05);
}

/* Lists of three of twenty items: with the target item 5 is listed in nine of ten, else in one of ten. */
TEST(a_listed_item_is_found)
{
    static struct planted p;
    struct attack_rates rates;
    struct dpf_error error = {0};
    dpf_cursor cursor;
    draw(&p, 3, 0, 103);
    dpf_stream *stream = random_stream_open(root, "test", "lists", &error);
    random_seek(stream, 0, 0, 0, &cursor);
    for (int c = 0; c < CELLS; c++) {
        uint64_t drawn[2];
        uint8_t listed;
        random_below(&cursor, 7, drawn, 2);
        random_bernoulli(&cursor, p.in[c] ? 0.9 : 0.1, &listed, 1);
        p.numbers[3 * c] = (float)(6 + drawn[0]);
        p.numbers[3 * c + 1] = (float)(13 + drawn[1]);
        p.numbers[3 * c + 2] = listed ? 5 : -1;
    }
    random_stream_free(stream);
    learn(&p, 3, 20, &rates);
    assert_near(rates.auc.value, 0.9 * 0.9 + 0.18 / 2, 0.05);
}

FIXTURE(begin, end)
