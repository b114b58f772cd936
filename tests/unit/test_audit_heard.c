/* SPDX-License-Identifier: Apache-2.0 */
/* What a recommender tells a witness: scores, moves and noise follow from the law that its event states. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "audit/heard.h"
#include "audit/score.h"

static struct plan plan;
static dpf_event *event;

/* One release of three numbers: the first has no noise, the last twice as much as the second. */
static double seen[3], exact[2][3], scales[3] = {0, 1, 2};
static struct heard told[2];
static struct hearing hearing[2];

static int begin(void **state)
{
    (void)state;
    plan.recommender.n_releases = 1;
    event = &plan.recommender.releases[0].event;
    *event = (dpf_event){.kind = DPF_EVENT_GAUSSIAN, .scale = 2, .count = 1};
    event->sensitivity = dpf_unstated();
    event->sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT] = (dpf_norms){4, 4, 4};
    plan.guarantee.unit = DPF_UNIT_USER;
    plan.guarantee.adjacency = DPF_ADJ_ZERO_OUT;
    for (int k = 0; k < 2; k++) {
        told[k] = (struct heard){.n = 3, .width = 3, .seen = seen, .exact = exact[k], .scales = scales};
        hearing[k] = (struct hearing){.items = &told[k], .n = 1, .capacity = 1};
    }
    return 0;
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

static double ratio(void)
{
    const struct hearing *const two[2] = {&hearing[0], &hearing[1]};
    return hearing_ratio(&plan, &hearing[0], two);
}

static void ratios_are_those_of_the_law(void **state)
{
    (void)state;
    event->kind = DPF_EVENT_GAUSSIAN;
    set(seen, 1, 5, 3);
    set(exact[0], 1, 4, 3);
    set(exact[1], 1, 1, -1);
    assert_near(ratio(), -1.0 / 8 + 16.0 / 8 + 16.0 / 32);
    event->kind = DPF_EVENT_LAPLACE;
    assert_near(ratio(), -1.0 / 2 + 4.0 / 2 + 4.0 / 4);
    assert_near(hearing_distance(&plan, &hearing[0], &hearing[1]), 3.0 / 2 + exp(-1.5) - 1 + 1 + exp(-1) - 1);
    event->kind = DPF_EVENT_RANDOMIZED_RESPONSE;
    event->p[0] = 0.25;
    set(seen, 1, 0, 1);
    set(exact[0], 1, 0, 0);
    set(exact[1], 1, 1, 0);
    assert_near(ratio(), log(3));
    /* Released as it is, and different. */
    event->kind = DPF_EVENT_GAUSSIAN;
    set(exact[1], 0, 0, 0);
    assert_near(ratio(), SCORE_CERTAIN);
}

static void moves_count_in_units_of_each_number_s_noise(void **state)
{
    (void)state;
    event->kind = DPF_EVENT_DISCRETE_GAUSSIAN;
    set(exact[0], 1, 3, 8);
    set(exact[1], 1, 0, 0);
    assert_near(hearing_move(&plan, &hearing[0], &hearing[1], 0), 5.0 / 4);
    event->kind = DPF_EVENT_DISCRETE_LAPLACE;
    assert_near(hearing_move(&plan, &hearing[0], &hearing[1], 0), 7.0 / 4);
    set(exact[1], 0, 0, 0);
    assert_true(isinf(hearing_move(&plan, &hearing[0], &hearing[1], 0)));
    event->kind = DPF_EVENT_PURE; /* nothing says in which units */
    assert_near(hearing_move(&plan, &hearing[0], &hearing[1], 0), 0);
}

static void noise_is_in_units_of_its_deviation(void **state)
{
    (void)state;
    event->kind = DPF_EVENT_GAUSSIAN;
    set(seen, 1, 5, 3);
    set(exact[0], 1, 4, -1);
    assert_true(isnan(hearing_noise(&plan, &told[0], 0)));
    assert_near(hearing_noise(&plan, &told[0], 1), 0.5);
    assert_near(hearing_noise(&plan, &told[0], 2), 1);
    event->kind = DPF_EVENT_LAPLACE;
    assert_near(hearing_noise(&plan, &told[0], 1), 0.5 / sqrt(2));
    /* Mean 0 and variance 1 of a flip; its fourth moment by hand. */
    event->kind = DPF_EVENT_RANDOMIZED_RESPONSE;
    event->p[0] = 0.2;
    set(seen, 0, 1, 1);
    set(exact[0], 0, 0, 1);
    const double kept = hearing_noise(&plan, &told[0], 0), flipped = hearing_noise(&plan, &told[0], 1);
    assert_near(0.8 * kept + 0.2 * flipped, 0);
    assert_near(0.8 * kept * kept + 0.2 * flipped * flipped, 1);
    assert_near(hearing_fourth_moment(&plan, &told[0]), 0.8 * pow(kept, 4) + 0.2 * pow(flipped, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ratios_are_those_of_the_law),
                                       cmocka_unit_test(moves_count_in_units_of_each_number_s_noise),
                                       cmocka_unit_test(noise_is_in_units_of_its_deviation)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
