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

#define MOST_MASSES 20000

/* Masses of a Poisson number of that mean, within nine deviations of it, by recurrence. Returns how many. */
static int poisson_masses(double mean, double *out)
{
    const int reach = (int)(9 * sqrt(mean));
    double total = out[reach] = 1;
    assert_true(2 * reach < MOST_MASSES);
    for (int k = 1; k <= reach; k++) {
        total += out[reach + k] = out[reach + k - 1] * mean / (mean + k);
        total += out[reach - k] = out[reach - k + 1] * (mean - k + 1) / mean;
    }
    for (int i = 0; i <= 2 * reach; i++)
        out[i] /= total;
    return 2 * reach + 1;
}

/* The smallest shares that the plan may choose, where the law differs most from a normal one: the sum of two
   has the masses of the difference of two Poisson numbers of twice the mean. */
TEST(sums_of_small_shares_have_the_masses_of_the_law)
{
    enum { BINS = 40 };
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    static double x[CELLS], poisson[MOST_MASSES];
    int64_t counts[BINS] = {0};
    double p[BINS] = {0}, inside = 0;
    plan_for(&host, &r, "noise-multiplier=3; min-honest=2; grid-bits=8", &plan, events);
    const double mean = events[0].p.skellam.variance / (plan.grid[0] * plan.grid[0]) / 2;
    const int wide = (int)(sqrt(2 * mean) / 5), n = poisson_masses(mean, poisson);
    assert_true(mean >= 0x1p16);
    assert_true(mean < 0x1p19);
    shares_sum(&host, &r, &plan, 2, x);
    for (int i = 0; i < CELLS; i++) {
        const double bin = floor(x[i] / plan.grid[0] / wide) + BINS / 2;
        counts[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : (int)bin]++;
    }
    for (int b = 1; b < BINS - 1; b++) {
        for (int i = 0; i < wide; i++) {
            const int distance = abs((b - BINS / 2) * wide + i);
            for (int k = 0; k + distance < n; k++)
                p[b] += poisson[k] * poisson[k + distance];
        }
        inside += p[b];
    }
    p[0] = p[BINS - 1] = (1 - inside) / 2;
    goodness_assert(goodness_chi_square(counts, p, BINS), "sum of two shares", mean);
    plain_close(&host);
}

TEST(events_state_variance_and_both_norms)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plan_for(&host, &r, "noise-multiplier=1.5; min-honest=16", &plan, events);
    const dpf_norms *moved = &events[0].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE];
    assert_int_equal(events[0].kind, DPF_EVENT_SKELLAM);
    assert_int_equal(events[0].flags, DPF_EVENT_NOISE_SHARED);
    assert_int_equal(plan.where, DPF_NOISE_IN_SHARES);
    assert_true(plain_is_power_of_two(plan.grid[0]));
    assert_true(events[0].grid == plan.grid[0]);
    const double mean = events[0].p.skellam.variance / (events[0].grid * events[0].grid) / (2 * 16);
    assert_true(mean == floor(mean));
    assert_true(plan.variance[0] == SHARES_PARTIES * 2 * mean * plan.grid[0] * plan.grid[0]);
    assert_true(fabs(events[0].p.skellam.variance / (events[0].scale * events[0].scale) - 1) < 1e-14);
    assert_true(fabs(moved->l1 - (3 + CELLS * plan.grid[0])) < 1e-12);
    assert_true(moved->l2 >= 2);
    assert_true(events[0].scale / moved->l2 >= 1.5);
    assert_true(events[0].scale / moved->l2 < 1.51);
    assert_true(mechanism->flags == DPF_MECHANISM_DENSE);
    assert_true(isnan(mechanism->budget(host.self)));
    assert_int_equal(mechanism->lifetime(host.self), DPF_LIFETIME_ROUND);
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
    plain_check_memory_random(component, "");
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(31);
    component = plain_component("skellam", DPF_ROLE_MECHANISM, "skellam");
    mechanism = component->functions;
    return 0;
}

FIXTURE(setup, plain_random_end)
