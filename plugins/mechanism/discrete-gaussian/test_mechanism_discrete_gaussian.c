/* SPDX-License-Identifier: Apache-2.0 */
#include "shares_check.h"

#define ROWS 400
#define CELLS (SHARES_WIDTH * ROWS)

static const dpf_component *component;
static const dpf_mechanism *mechanism;

static void plan_for(struct plain_host *host, struct plain_release *r, const char *settings,
                     dpf_noise_plan *plan, dpf_event *events)
{
    shares_release(r, ROWS);
    plain_release_bound(r, 0, 3, 2);
    plain_open_random(host, component, settings);
    assert_int_equal(plain_plan(host, r, plan, events), 1);
}

TEST(sums_have_the_planned_noise_with_and_without_dropouts)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    static double x[CELLS];
    plan_for(&host, &r, "noise-multiplier=1.5; min-honest=16", &plan, events);
    shares_sum(&host, &r, &plan, 16, x);
    shares_assert_normal(x, CELLS, plan.scale[0]);
    shares_sum(&host, &r, &plan, SHARES_PARTIES, x);
    shares_assert_normal(x, CELLS, sqrt(plan.variance[0]));
    assert_true(fabs(plan.variance[0] / (plan.scale[0] * plan.scale[0]) - SHARES_PARTIES / 16.0) < 1e-9);
    plain_close(&host);
}

TEST(events_state_the_noise_of_honest_parties)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plan_for(&host, &r, "noise-multiplier=1.5; min-honest=16", &plan, events);
    assert_int_equal(events[0].kind, DPF_EVENT_DISCRETE_GAUSSIAN);
    assert_int_equal(events[0].flags, DPF_EVENT_NOISE_SHARED);
    assert_int_equal(plan.where, DPF_NOISE_IN_SHARES);
    assert_true(plain_is_power_of_two(plan.grid[0]));
    const double steps = plan.scale[0] / plan.grid[0] / 4; /* of one of 16 shares */
    assert_true(fabs(steps - floor(steps + 0.5)) < 1e-6);
    assert_true(steps >= 256);
    const double moved = events[0].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2;
    assert_true(moved >= 2);
    assert_true(events[0].scale / moved >= 1.5);
    assert_true(events[0].scale / moved < 1.51);
    assert_true(mechanism->flags == DPF_MECHANISM_DENSE);
    assert_true(isnan(mechanism->budget(host.self)));
    r.release.noise_factor = 3;
    const double before = plan.scale[0];
    plain_plan(&host, &r, &plan, events);
    assert_true(fabs(plan.scale[0] / before - 3) < 0.01);
    plain_close(&host);
}

TEST(what_cannot_be_private_is_refused)
{
    shares_check_too_few(component);
    shares_check_gram(component, "gram-share=0.25");
    shares_check_refusals(component, "noise-multiplier=0");
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(29);
    component = plain_component("discrete-gaussian", DPF_ROLE_MECHANISM, "discrete-gaussian");
    mechanism = component->functions;
    return 0;
}

FIXTURE(setup, plain_random_end)
