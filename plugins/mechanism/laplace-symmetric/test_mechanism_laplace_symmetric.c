/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_random.h"
#include "kit/plain_release.h"

#define D 6
#define ROWS 3000

static const dpf_component *component;

/* With one seed the noise is laplace's own, number by number. */
TEST(packed_is_laplace)
{
    struct plain_host host[2];
    static int64_t out[2][50 * 28];
    static double values[50 * 28];
    const dpf_component *both[2] = {component, plain_component("laplace", DPF_ROLE_MECHANISM, "laplace")};
    for (int k = 0; k < 2; k++) {
        struct plain_release r;
        dpf_noise_plan plan;
        dpf_event events[2 * DPF_MAX_BLOCKS];
        plain_random_start(5);
        plain_open_random(&host[k], both[k], "epsilon=2; shares=0.8,0.1,0.1");
        plain_release_init(&r, D, 50);
        const int32_t n = plain_plan(&host[k], &r, &plan, events);
        assert_int_equal(n, 3);
        for (int b = 0; b < 3; b++) {
            const double share = b == 0 ? 0.8 : 0.1;
            assert_int_equal(events[b].kind, DPF_EVENT_DISCRETE_LAPLACE);
            const double epsilon =
                events[b].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1 / events[b].scale;
            assert_true(epsilon <= 2 * share);
            assert_true(epsilon > 2 * share * (1 - 1e-6));
        }
        assert_int_equal(r.query.width, 28);
        dpf_encoded integers = plain_integers(&r, out[k]);
        const dpf_mechanism *mechanism = both[k]->functions;
        assert_int_equal(
            mechanism->encode(host[k].self, plain_call(&host[k]), &plan, &r.query, values, 28, &integers),
            DPF_OK);
        plain_close(&host[k]);
        plain_random_stop();
    }
    assert_memory_equal(out[0], out[1], sizeof(out[0]));
}

/*
 * The mirrored matrix: each number of the triangle has the variance of its scale, and what lies on both sides
 * of the diagonal is one number. A histogram of all of them against the exact masses: chi-squared, 15
 * classes.
 */
TEST(noise_is_laplace_and_symmetric)
{
    enum { CLASSES = 15, WIDTH = D * (D + 1) / 2 };
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    double counts[CLASSES] = {0}, chi = 0, product = 0, square = 0;
    const double n = (double)ROWS * WIDTH;
    plain_random_start(8);
    plain_open_random(&host, component, "epsilon=1; shares=1,0,0");
    plain_release_init(&r, D, ROWS);
    plain_release_bound(&r, 1, 0, 0);
    plain_release_bound(&r, 2, 0, 0);
    plain_plan(&host, &r, &plan, events);
    double *values = calloc((size_t)(ROWS * r.query.width), sizeof(double));
    int64_t *out = calloc((size_t)(ROWS * r.query.width), sizeof(int64_t));
    assert_true(values);
    assert_true(out);
    dpf_encoded integers = plain_integers(&r, out);
    const dpf_mechanism *mechanism = component->functions;
    mechanism->encode(host.self, plain_call(&host), &plan, &r.query, values, r.query.width, &integers);
    for (int64_t row = 0; row < ROWS; row++) {
        const int64_t *packed = out + row * r.query.width;
        for (int i = 0; i < WIDTH; i++) {
            const double x = (double)packed[i] * plan.grid[0] / plan.scale[0];
            const double below = x < 0 ? 0.5 * exp(x) : 1 - 0.5 * exp(-x);
            counts[(int)fmin(CLASSES - 1, CLASSES * below)]++;
            square += x * x;
            product += i > 0 ? x * (double)packed[i - 1] * plan.grid[0] / plan.scale[0] : 0;
        }
    }
    for (int k = 0; k < CLASSES; k++)
        chi += (counts[k] - n / CLASSES) * (counts[k] - n / CLASSES) / (n / CLASSES);
    assert_true(chi < 42.6); /* 14 degrees of freedom: one chance in 10^4 */
    assert_true(fabs(square / n - 2) < 5 * sqrt(20 / n));
    assert_true(fabs(product / n) < 5 * 2 / sqrt(n)); /* neighbours in the triangle are independent */
    free(values);
    free(out);
    plain_close(&host);
    plain_random_stop();
}

TEST(full_matrices_are_refused)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan = {.size = sizeof(plan)};
    plain_random_start(5);
    plain_open_random(&host, component, "");
    plain_release_init(&r, D, 10);
    r.query.blocks[0].layout = DPF_LAYOUT_FULL;
    const dpf_mechanism *mechanism = component->functions;
    assert_int_equal(mechanism->plan(host.self, &r.release, &plan), DPF_E_UNSUPPORTED);
    assert_non_null(strstr(host.report, "block-layout = packed"));
    plain_close(&host);
    plain_random_stop();
}

static int load(void **state)
{
    (void)state;
    component = plain_component("laplace-symmetric", DPF_ROLE_MECHANISM, "laplace-symmetric");
    return 0;
}

FIXTURE(load, NULL)
