/* SPDX-License-Identifier: Apache-2.0 */
/* Scores, moves and noise of what was seen follow from the law that an event states. */
#include <math.h>

#include "kit/test.h"
#include "audit/score.h"
#include "seen/laws.h"

static struct plan plan;
static dpf_event event;

/* One release of three numbers: the first has no noise, the last twice as much as the second. */
static double seen[3], exact[2][3], deviation[3];
static struct observation told[2];
static struct trace traces[2];

static int begin(void **state)
{
    (void)state;
    event.sensitivity = dpf_unstated();
    event.sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT] = (dpf_norms){4, 4, 4};
    plan.guarantee.unit = DPF_UNIT_USER;
    plan.guarantee.adjacency = DPF_ADJ_ZERO_OUT;
    for (int k = 0; k < 2; k++) {
        told[k] = (struct observation){.n_rows = 1,
                                       .gram_row = -1,
                                       .width = 3,
                                       .is_one = 1,
                                       .seen = seen,
                                       .exact = exact[k],
                                       .deviation = deviation,
                                       .query = {.width = 3, .n_blocks = 1, .blocks = {{.length = 3}}},
                                       .event = &event};
        traces[k] = (struct trace){.sums = {.items = &told[k], .n = 1, .capacity = 1}};
    }
    return 0;
}

static void take(int32_t kind)
{
    event.kind = kind;
    event.scale = 2;
    event.count = 1;
    for (int i = 0; i < 3; i++)
        deviation[i] = i * law_deviation(&event);
}

static void set(double *out, double a, double b, double c)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * (1 + fabs(b))))
        fail_msg("%.15g instead of %.15g", a, b);
}

static double moved(void)
{
    return law_share_of_move(&told[0], &told[1], DPF_UNIT_USER, DPF_ADJ_ZERO_OUT);
}

static double noise(int i)
{
    const struct law law = law_of(&event, &told[0], i, 0);
    return law_standardised(&law, seen[i], exact[0][i]);
}

static double ratio(void)
{
    const struct explanation two[2] = {{&traces[0], NULL}, {&traces[1], NULL}};
    return score_ratio(&plan, &traces[0], two);
}

TEST(ratios_are_those_of_the_law)
{
    take(DPF_EVENT_GAUSSIAN);
    set(seen, 1, 5, 3);
    set(exact[0], 1, 4, 3);
    set(exact[1], 1, 1, -1);
    assert_near(ratio(), -1.0 / 8 + 16.0 / 8 + 16.0 / 32);
    take(DPF_EVENT_LAPLACE);
    assert_near(ratio(), -1.0 / 2 + 4.0 / 2 + 4.0 / 4);
    assert_near(score_distance(&plan, &traces[0], &traces[1]), 3.0 / 2 + exp(-1.5) - 1 + 1 + exp(-1) - 1);
    event.p.response.flip = 0.25;
    take(DPF_EVENT_RANDOMIZED_RESPONSE);
    set(seen, 1, 0, 1);
    set(exact[0], 1, 0, 0);
    set(exact[1], 1, 1, 0);
    assert_near(ratio(), log(3));
    /* Released as it is, and different. */
    take(DPF_EVENT_GAUSSIAN);
    set(exact[1], 0, 0, 0);
    assert_near(ratio(), SCORE_CERTAIN);
}

TEST(moves_count_in_units_of_each_number_s_noise)
{
    take(DPF_EVENT_DISCRETE_GAUSSIAN);
    set(exact[0], 1, 3, 8);
    set(exact[1], 1, 0, 0);
    assert_near(moved(), 5.0 / 4);
    take(DPF_EVENT_DISCRETE_LAPLACE);
    assert_near(moved(), 7.0 / 4);
    set(exact[1], 0, 0, 0);
    assert_true(isinf(moved()));
    take(DPF_EVENT_PURE); /* nothing says in which units */
    assert_near(moved(), 0);
}

TEST(noise_is_in_units_of_its_deviation)
{
    take(DPF_EVENT_GAUSSIAN);
    set(seen, 1, 5, 3);
    set(exact[0], 1, 4, -1);
    assert_true(isnan(noise(0)));
    assert_near(noise(1), 0.5);
    assert_near(noise(2), 1);
    take(DPF_EVENT_LAPLACE);
    assert_near(noise(1), 0.5 / sqrt(2));
    /* Mean 0 and variance 1 of a flip; its fourth moment by hand. */
    event.p.response.flip = 0.2;
    take(DPF_EVENT_RANDOMIZED_RESPONSE);
    set(seen, 0, 1, 1);
    set(exact[0], 0, 0, 1);
    const double kept = noise(0), flipped = noise(1);
    assert_near(0.8 * kept + 0.2 * flipped, 0);
    assert_near(0.8 * kept * kept + 0.2 * flipped * flipped, 1);
    const struct law law = law_of(&event, &told[0], 0, 0);
    assert_near(law_fourth_moment(&law), 0.8 * pow(kept, 4) + 0.2 * pow(flipped, 4));
}

FIXTURE(begin, NULL)
