/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_host.h"
#include "kit/plain_release.h"

static const dpf_component *component;
static const dpf_mechanism *mechanism;

TEST(sums_are_those_of_the_rounded_values)
{
    enum { ROWS = 30, WIDTH = 6, PARTIES = 5 };
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    double values[ROWS * WIDTH], exact[ROWS * WIDTH] = {0}, out[ROWS * WIDTH];
    int64_t message[ROWS * WIDTH], sums[ROWS * WIDTH] = {0};
    plain_release_init(&r, 2, ROWS);
    r.release.n_parties = PARTIES;
    plain_open(&host, component, "grid-bits=20");
    assert_int_equal(plain_plan(&host, &r, &plan, events), 3);
    for (int party = 0; party < PARTIES; party++) {
        for (int i = 0; i < ROWS * WIDTH; i++) {
            values[i] = sin(party + 7.1 * i) * 1000;
            exact[i] += round(values[i] * 0x1p20) * 0x1p-20;
        }
        dpf_encoded integers = plain_integers(&r, message);
        assert_int_equal(
            mechanism->encode(host.self, plain_call(&host), &plan, &r.query, values, WIDTH, &integers),
            DPF_OK);
        for (int i = 0; i < ROWS * WIDTH; i++)
            sums[i] += message[i];
    }
    dpf_encoded sum = plain_integers(&r, sums);
    assert_int_equal(mechanism->decode(host.self, plain_call(&host), &plan, &r.query, &sum, out, WIDTH),
                     DPF_OK);
    for (int i = 0; i < ROWS * WIDTH; i++)
        assert_true(out[i] == exact[i]);
    plain_close(&host);
}

TEST(halves_round_to_even_and_what_is_just_below_does_not)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    double values[] = {0.5, -0.5, 0x1.fffffffffffffp-2, 2.5, -2.5, 0x1p51, -0x1p51, 1e-320, 1.5, -3.5};
    int64_t expected[] = {0, 0, 0, 2, -2, INT64_C(1) << 51, -(INT64_C(1) << 51), 0, 2, -4}, out[10];
    plain_release_gradient(&r, 10, 1);
    plain_open(&host, component, "grid-bits=0");
    plain_plan(&host, &r, &plan, events);
    dpf_encoded integers = plain_integers(&r, out);
    assert_int_equal(mechanism->encode(host.self, plain_call(&host), &plan, &r.query, values, 10, &integers),
                     DPF_OK);
    assert_memory_equal(out, expected, sizeof(expected));
    plain_close(&host);
}

/* By a loop without branches as one by one, on both sides of every bound and where halves are. */
TEST(rounding_in_vectors)
{
    static const double limits[] = {0x1p52, 0x1p40, 0x1p40 - 1, 0x1.8p31, 4398046511104.0 / 3, 17};
    for (size_t l = 0; l < sizeof(limits) / sizeof(limits[0]); l++)
        for (int e = -3; e < 53; e++) {
            const double at[] = {ldexp(1, e),     ldexp(1, e) + 0.5, nextafter(ldexp(1, e), 0), limits[l],
                                 limits[l] + 0.5, limits[l] - 0.5,   nextafter(limits[l], 0),   2.5};
            for (int i = 0; i < 16; i++) {
                const double x = i < 8 ? at[i] : -at[i - 8], values[3] = {x * 0x1p-5, 0.375, -x * 0x1p-5};
                int64_t expected[3] = {0}, out[3] = {0};
                int ok = 1;
                for (int k = 0; k < 3; k++)
                    ok &= dpf_additive_to_integer(values[k] * 0x1p5, limits[l], &expected[k]);
                assert_int_equal(dpf_additive_round(0x1p-5, limits[l], values, 3, out),
                                 ok ? DPF_OK : DPF_E_RANGE);
                if (ok)
                    assert_memory_equal(out, expected, sizeof(out));
            }
        }
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e300};
    int64_t out;
    for (int i = 0; i < 4; i++)
        assert_int_equal(dpf_additive_round(1, 0x1p52, &bad[i], 1, &out), DPF_E_RANGE);
}

TEST(nothing_is_private_unless_nobody_moves_it)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_init(&r, 2, 10);
    plain_release_bound(&r, 0, 0, 0);
    plain_release_bound(&r, 1, NAN, NAN);
    plain_open(&host, component, "");
    assert_int_equal(plain_plan(&host, &r, &plan, events), 3);
    assert_int_equal(events[0].kind, DPF_EVENT_NO_OP);
    assert_true(events[0].flags & DPF_EVENT_DATA_BLIND);
    assert_int_equal(events[1].kind, DPF_EVENT_NON_PRIVATE);
    assert_int_equal(events[2].kind, DPF_EVENT_NON_PRIVATE);
    assert_int_equal(plan.where, DPF_NOISE_NOWHERE);
    assert_true(!mechanism->budget);
    plain_close(&host);
}

TEST(a_sum_cannot_overflow)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    double value = 0x1p18;
    int64_t out = 0;
    plain_release_gradient(&r, 1, 1);
    r.release.n_parties = 4096;
    plain_open(&host, component, "grid-bits=32"); /* 2^50 steps a party, 2^62 in all */
    plain_plan(&host, &r, &plan, events);
    dpf_encoded integers = plain_integers(&r, &out);
    assert_int_equal(mechanism->encode(host.self, plain_call(&host), &plan, &r.query, &value, 1, &integers),
                     DPF_E_RANGE);
    value -= 1;
    assert_int_equal(mechanism->encode(host.self, plain_call(&host), &plan, &r.query, &value, 1, &integers),
                     DPF_OK);
    out = INT64_MAX;
    assert_int_equal(mechanism->decode(host.self, plain_call(&host), &plan, &r.query, &integers, &value, 1),
                     DPF_E_RANGE);
    plain_close(&host);
}

TEST(creation_survives_memory_running_out)
{
    plain_check_memory(component, "");
}

static int setup(void **state)
{
    (void)state;
    component = plain_component("none", DPF_ROLE_MECHANISM, "none");
    mechanism = component->functions;
    return 0;
}

FIXTURE(setup, NULL)
