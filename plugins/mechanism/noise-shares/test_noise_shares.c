/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every mechanism whose noise comes in shares keeps to, as a table: the law of sums with and without dropouts, what
 * plans and events state, that the noise costs no less than the budget and no more, and what is refused.
 */
#include "shares_fixture.h"

#define ROWS 400
#define HONEST 16
#define CELLS (SHARES_WIDTH * ROWS)

static void assert_laplace(const double *x, int64_t n, double scale)
{
    double sum = 0, square = 0, one = 0, three = 0;
    for (int64_t i = 0; i < n; i++) {
        const double z = x[i] / scale;
        sum += z;
        square += z * z;
        one += fabs(z) > 1;
        three += fabs(z) > 3;
    }
    goodness_assert(goodness_mean(sum, (double)n, 0, 2), "mean", scale);
    goodness_assert(goodness_mean(square, (double)n, 2, 20), "variance", scale);
    goodness_assert(goodness_count(one, (double)n, exp(-1)), "beyond one", scale);
    goodness_assert(goodness_count(three, (double)n, exp(-3)), "beyond three", scale);
}

static const struct law {
    const char *id, *settings;
    int32_t event, norm;
    double scale_of_norm; /* at least */
    double variance;      /* of a scale of 1 */
    void (*check)(const double *x, int64_t n, double scale);
    uint32_t flags;
    const char *none, *gram, *gram_again;
} laws[] = {
    {"discrete-gaussian", "noise-multiplier=1.5", DPF_EVENT_DISCRETE_GAUSSIAN, 2, 1.5, 1,
     shares_assert_normal, DPF_MECHANISM_DENSE | DPF_MECHANISM_SHARES | DPF_MECHANISM_DIVIDES,
     "noise-multiplier=0", "", NULL},
    {"skellam", "noise-multiplier=1.5", DPF_EVENT_SKELLAM, 2, 1.5, 1, shares_assert_normal,
     DPF_MECHANISM_DENSE | DPF_MECHANISM_SHARES | DPF_MECHANISM_DIVIDES, "noise-multiplier=0", "", NULL},
    {"laplace-gamma", "epsilon=0.8", DPF_EVENT_DISCRETE_LAPLACE, 1, 1.25, 2, assert_laplace,
     DPF_MECHANISM_DENSE | DPF_MECHANISM_ROUNDS | DPF_MECHANISM_SHARES | DPF_MECHANISM_DIVIDES, "epsilon=0",
     "", "simulate=sum"},
    {"laplace-gamma", "epsilon=0.8; simulate=sum", DPF_EVENT_DISCRETE_LAPLACE, 1, 1.25, 2, assert_laplace,
     DPF_MECHANISM_DENSE | DPF_MECHANISM_ROUNDS | DPF_MECHANISM_SHARES | DPF_MECHANISM_DIVIDES, NULL, NULL,
     NULL},
};
#define LAWS (sizeof laws / sizeof laws[0])

static const dpf_component *component_of(const struct law *law)
{
    return plain_component(law->id, DPF_ROLE_MECHANISM, law->id);
}

static void plan_for(const struct law *law, struct plain_host *host, struct plain_release *r,
                     dpf_noise_plan *plan, dpf_event *events)
{
    shares_release(r, ROWS, HONEST);
    plain_release_bound(r, 0, 3, 2);
    plain_open_random(host, component_of(law), law->settings);
    assert_int_equal(plain_plan(host, r, plan, events), 1);
}

/* Of as many messages as are honest at least, the sum has the noise that is stated; of all it has more. */
TEST(sums_have_the_planned_noise_with_and_without_dropouts)
{
    static double x[CELLS];
    for (const struct law *law = laws; law < laws + LAWS; law++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        dpf_event events[2 * DPF_MAX_BLOCKS];
        plan_for(law, &host, &r, &plan, events);
        shares_sum(&host, &r, &plan, HONEST, x);
        law->check(x, CELLS, plan.scale[0]);
        const double all = plan.variance[0] / (law->variance * plan.scale[0] * plan.scale[0]);
        assert_true(fabs(all - SHARES_PARTIES / (double)HONEST) < 1e-6);
        shares_sum(&host, &r, &plan, SHARES_PARTIES, x);
        double square = 0;
        for (int i = 0; i < CELLS; i++)
            square += x[i] * x[i] / plan.variance[0];
        /* The sum of more shares is nearer to a normal law: its kurtosis is at most that of the stated one. */
        goodness_assert(goodness_mean(square, CELLS, 1, law->variance > 1 ? 5 : 2), law->id, SHARES_PARTIES);
        plain_close(&host);
    }
}

TEST(plans_and_events_state_the_noise_of_honest_parties)
{
    for (const struct law *law = laws; law < laws + LAWS; law++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        dpf_event events[2 * DPF_MAX_BLOCKS];
        plan_for(law, &host, &r, &plan, events);
        const dpf_mechanism *mechanism = host.component->functions;
        assert_int_equal(events[0].kind, law->event);
        assert_int_equal(events[0].flags, DPF_EVENT_NOISE_SHARED);
        assert_int_equal(dpf_event_norm(law->event), law->norm);
        assert_int_equal(plan.where, DPF_NOISE_IN_SHARES);
        assert_true(plain_is_power_of_two(plan.grid[0]));
        assert_true(mechanism->flags == law->flags);
        assert_int_equal(mechanism->lifetime(host.self), DPF_LIFETIME_ROUND);
        assert_int_equal(plan.bare, strstr(law->settings, "simulate=sum") != NULL);
        /* No less noise than the budget asks for, and hardly more. */
        const dpf_norms *moved = &events[0].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE];
        const double norm = law->norm == 1 ? moved->l1 : moved->l2;
        assert_true(norm >= (law->norm == 1 ? 3 : 2));
        assert_true(events[0].scale / norm >= law->scale_of_norm * (1 - 1e-12));
        assert_true(events[0].scale / norm < law->scale_of_norm * 1.03);
        r.release.noise_factor = 3;
        const double before = plan.scale[0];
        plain_plan(&host, &r, &plan, events);
        assert_true(fabs(plan.scale[0] / before - 3) < 0.01);
        plain_close(&host);
    }
}

TEST(what_cannot_be_private_is_refused)
{
    for (const struct law *law = laws; law < laws + LAWS; law++) {
        if (!law->none)
            continue;
        shares_check_too_few(component_of(law));
        shares_check_gram(component_of(law), law->gram);
        if (law->gram_again)
            shares_check_gram(component_of(law), law->gram_again);
        shares_check_refusals(component_of(law), law->none);
        plain_check_memory_random(component_of(law), "");
    }
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(29);
    return 0;
}

FIXTURE(setup, plain_random_end)
