/* SPDX-License-Identifier: Apache-2.0 */
#include "plain_random.h"
#include "plain_release.h"
#include "statistical/goodness.h"

#define WIDTH 10
#define ROWS 400
#define CELLS (WIDTH * ROWS)
#define PARTIES 25

static const dpf_component *component;
static const dpf_mechanism *mechanism;

/* The decoded sum of that many empty messages. */
static void run_step(struct plain_host *host, const struct plain_release *r, const dpf_noise_plan *plan,
                     int senders, double *out)
{
    static const double nothing[CELLS];
    static int64_t sums[CELLS], message[CELLS];
    memset(sums, 0, sizeof(sums));
    dpf_call call = *plain_call(host);
    for (int p = 0; p < senders; p++) {
        dpf_integers integers = plain_integers(r, message);
        call.party = (uint32_t)p;
        assert_int_equal(mechanism->encode(host->self, &call, plan, &r->query, nothing, WIDTH, &integers),
                         DPF_OK);
        for (int i = 0; i < CELLS; i++)
            sums[i] += message[i];
    }
    dpf_integers sum = plain_integers(r, sums);
    sum.survivors = senders;
    call.party = DPF_PARTY_AGGREGATE;
    assert_int_equal(mechanism->decode(host->self, &call, plan, &r->query, &sum, out, WIDTH), DPF_OK);
}

/* Mean, variance, and the share beyond one and two deviations: the sum is normal with this one. */
static void assert_normal(const double *x, double deviation)
{
    double sum = 0, square = 0, one = 0, two = 0;
    for (int i = 0; i < CELLS; i++) {
        const double z = x[i] / deviation;
        sum += z;
        square += z * z;
        one += fabs(z) > 1;
        two += fabs(z) > 2;
    }
    goodness_assert(goodness_mean(sum, CELLS, 0, 1), "mean", deviation);
    goodness_assert(goodness_mean(square, CELLS, 1, 2), "variance", deviation);
    goodness_assert(goodness_count(one, CELLS, erfc(sqrt(0.5))), "beyond one", deviation);
    goodness_assert(goodness_count(two, CELLS, erfc(sqrt(2.0))), "beyond two", deviation);
}

static void plan_for(struct plain_host *host, struct plain_release *r, const char *settings,
                     dpf_noise_plan *plan, dpf_event *events)
{
    plain_release_gradient(r, WIDTH, ROWS);
    plain_release_bound(r, 0, 3, 2);
    r->release.n_parties = r->release.min_survivors = PARTIES;
    plain_open_random(host, component, settings);
    assert_int_equal(plain_plan(host, r, plan, events), 1);
}

static void sums_have_the_planned_noise_with_and_without_dropouts(void **state)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    static double x[CELLS];
    (void)state;
    plan_for(&host, &r, "noise-multiplier=1.5; honest=16", &plan, events);
    run_step(&host, &r, &plan, 16, x);
    assert_normal(x, plan.scale[0]);
    run_step(&host, &r, &plan, PARTIES, x);
    assert_normal(x, sqrt(plan.variance[0]));
    assert_true(fabs(plan.variance[0] / (plan.scale[0] * plan.scale[0]) - PARTIES / 16.0) < 1e-9);
    plain_close(&host);
}

static void events_state_the_noise_of_honest_parties(void **state)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    (void)state;
    plan_for(&host, &r, "noise-multiplier=1.5; honest=16", &plan, events);
    assert_int_equal(events[0].kind, DPF_EVENT_DISCRETE_GAUSSIAN);
    assert_int_equal(events[0].flags, DPF_EVENT_NOISE_SHARED);
    assert_int_equal(plan.where, DPF_NOISE_IN_SHARES);
    assert_true(plain_is_power_of_two(plan.grid[0]));
    const double steps = plan.scale[0] / plan.grid[0] / 4; /* of one of 16 shares */
    assert_true(fabs(steps - floor(steps + 0.5)) < 1e-6 && steps >= 256);
    const double moved = events[0].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2;
    assert_true(moved >= 2 && events[0].scale / moved >= 1.5 && events[0].scale / moved < 1.51);
    assert_true(mechanism->flags == DPF_MECHANISM_DENSE && isnan(mechanism->budget(host.self)));
    r.release.noise_factor = 3;
    const double before = plan.scale[0];
    plain_plan(&host, &r, &plan, events);
    assert_true(fabs(plan.scale[0] / before - 3) < 0.01);
    plain_close(&host);
}

static void too_few_messages_are_not_decoded(void **state)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    static double x[CELLS];
    static int64_t sums[CELLS];
    (void)state;
    plan_for(&host, &r, "honest=20", &plan, events);
    dpf_integers sum = plain_integers(&r, sums);
    sum.survivors = 19;
    assert_int_equal(mechanism->decode(host.self, plain_call(&host), &plan, &r.query, &sum, x, WIDTH),
                     DPF_E_PRIVACY);
    plain_clear(&host);
    sum.survivors = 20;
    assert_int_equal(mechanism->decode(host.self, plain_call(&host), &plan, &r.query, &sum, x, WIDTH),
                     DPF_OK);
    plain_close(&host);
}

static void impossible_requests_are_refused(void **state)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan = {.size = sizeof(plan)};
    (void)state;
    plain_release_gradient(&r, WIDTH, ROWS);
    r.release.n_parties = r.release.min_survivors = PARTIES;
    plain_open_random(&host, component, "honest=26");
    assert_int_equal(mechanism->plan(host.self, &r.release, &plan), DPF_E_CONFIG);
    plain_close(&host);
    plain_open_random(&host, component, "");
    plain_release_share(&r, 1, 1);
    assert_int_equal(mechanism->plan(host.self, &r.release, &plan), DPF_E_UNSUPPORTED);
    plain_close(&host);
    for (int i = 0; i < 2; i++) {
        plain_release_gradient(&r, WIDTH, ROWS);
        plain_release_bound(&r, 0, 1, i ? INFINITY : NAN);
        plain_open_random(&host, component, "");
        assert_int_equal(mechanism->plan(host.self, &r.release, &plan), DPF_E_PRIVACY);
        plain_close(&host);
    }
    plain_init(&host, component);
    host.random = &plain_random;
    assert_int_equal(plain_create(&host, "noise-multiplier=0"), DPF_E_CONFIG);
    host.fail_after = 0;
    assert_int_equal(plain_create(&host, ""), DPF_E_MEMORY);
    plain_close(&host);
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(29);
    component = plain_component("discrete-gaussian", DPF_ROLE_MECHANISM, "discrete-gaussian");
    mechanism = component->functions;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    plain_random_stop();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_have_the_planned_noise_with_and_without_dropouts),
        cmocka_unit_test(events_state_the_noise_of_honest_parties),
        cmocka_unit_test(too_few_messages_are_not_decoded),
        cmocka_unit_test(impossible_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
