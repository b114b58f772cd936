/* SPDX-License-Identifier: Apache-2.0 */
/* What is its own. What it has in common with others: ../noise-shares/test_noise_shares.c. */
#include "shares_fixture.h"

#define ROWS 400
#define CELLS (SHARES_WIDTH * ROWS)

static const dpf_component *component;
static const dpf_mechanism *mechanism;

static void plan_for(struct plain_host *host, struct plain_release *r, const char *settings, int64_t honest,
                     int fewer_bits, dpf_noise_plan *plan, dpf_event *events)
{
    shares_release(r, ROWS, honest);
    r->release.fewer_bits = fewer_bits;
    plain_release_bound(r, 0, 3, 2);
    plain_open_random(host, component, settings);
    assert_int_equal(plain_plan(host, r, plan, events), 1);
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
    plan_for(&host, &r, "noise-multiplier=3", 2, 8, &plan, events);
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

/* A unit moves the sum of absolute values, too: by its own and by a step of the grid for each coordinate. */
TEST(events_state_variance_and_both_norms)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plan_for(&host, &r, "noise-multiplier=1.5", 16, 0, &plan, events);
    const dpf_norms *moved = &events[0].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE];
    assert_true(events[0].grid == plan.grid[0]);
    const double mean = events[0].p.skellam.variance / (events[0].grid * events[0].grid) / (2 * 16);
    assert_true(mean == floor(mean));
    assert_true(plan.variance[0] == SHARES_PARTIES * 2 * mean * plan.grid[0] * plan.grid[0]);
    assert_true(fabs(events[0].p.skellam.variance / (events[0].scale * events[0].scale) - 1) < 1e-14);
    assert_true(fabs(moved->l1 - (3 + CELLS * plan.grid[0])) < 1e-12);
    assert_true(isnan(mechanism->budget(host.self)));
    plain_close(&host);
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
