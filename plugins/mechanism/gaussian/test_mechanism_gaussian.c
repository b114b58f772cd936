/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_random.h"
#include "kit/plain_release.h"

static const dpf_component *component;
static const dpf_mechanism *mechanism;

/* The noise multiplier of one block of sensitivity 1, on the finest grid. */
static double multiplier_of(const char *settings)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_gradient(&r, 1, 1);
    plain_open_random(&host, component, settings);
    plain_plan(&host, &r, &plan, events);
    double event_multiplier =
        events[0].scale / events[0].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2;
    assert_true(event_multiplier <= plan.scale[0]);
    plain_close(&host);
    return event_multiplier;
}

/* References: the equation solved by bisection in 50-digit arithmetic; the first is also the value that
   Google's dp_accounting gives. */
TEST(the_analytic_calibration_is_balle_wang)
{
    static const struct {
        const char *settings;
        double z;
    } cases[] = {
        {"calibration=analytic; epsilon=1; delta=1e-5", 3.7306316348159418},
        {"calibration=analytic; epsilon=0.1; delta=1e-6", 36.304690426195785},
        {"calibration=analytic; epsilon=10; delta=1e-10", 0.68304396722748118},
        {"calibration=analytic; epsilon=0.001; delta=1e-8", 3619.1520805598608},
        {"calibration=analytic; epsilon=100; delta=1e-5", 0.094669907014746388},
        /* e^epsilon is no double from here on, nor is what it multiplies. */
        {"calibration=analytic; epsilon=743; delta=1e-10", 0.030551087425119426},
        {"calibration=analytic; epsilon=745; delta=1e-6", 0.029271663961001412},
        {"calibration=analytic; epsilon=1000; delta=1e-6", 0.024850366686947720},
        {"calibration=analytic; epsilon=5000; delta=0.3", 0.010051569857798915},
        {"calibration=analytic; epsilon=100000; delta=1e-5", 0.0022574827698998382},
        {"calibration=analytic; epsilon=1000000; delta=1e-12", 0.00071063241446261301},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double z = multiplier_of(cases[i].settings);
        assert_true(z >= cases[i].z * (1 - 1e-12));                /* the private side */
        assert_true(z <= cases[i].z * (1 + 1.2e-6) + 2 * 0x1p-21); /* some grid steps */
    }
}

TEST(the_classic_calibration_is_the_formula)
{
    double z = multiplier_of("calibration=classic; epsilon=0.5; delta=1e-5");
    double formula = sqrt(2 * log(1.25e5)) / 0.5;
    assert_true(z >= formula * (1 - 1e-12));
    assert_true(z <= formula * (1 + 1.2e-6));
    assert_true(z > multiplier_of("calibration=analytic; epsilon=0.5; delta=1e-5"));
}

TEST(contradictions_are_refused)
{
    static const char *bad[] = {"calibration=classic; epsilon=1; delta=1e-5",
                                "calibration=analytic; epsilon=1", "calibration=classic; epsilon=0.5",
                                "calibration=sigma; sigma=0"};
    struct plain_host host;
    plain_init(&host, component);
    host.random = &plain_random;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(plain_create(&host, bad[i]), DPF_E_CONFIG);
    host.fail_after = 0;
    assert_int_equal(plain_create(&host, "calibration=sigma"), DPF_E_MEMORY);
    plain_close(&host);
}

/* Whatever the shares are, the blocks together are one Gaussian of the multiplier asked for. */
TEST(blocks_compose_to_the_multiplier)
{
    static const double shares[] = {0.2, 0.5, 0.3};
    for (int i = 0; i < 2; i++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        dpf_event events[2 * DPF_MAX_BLOCKS];
        double rho = 0;
        plain_release_init(&r, 3, 100);
        plain_release_bound(&r, 0, 9, 4);
        plain_release_bound(&r, 1, 9, 0.1);
        r.release.block_shares = i ? shares : NULL;
        plain_open_random(&host, component, "calibration=noise-multiplier; noise-multiplier=2");
        assert_int_equal(plain_plan(&host, &r, &plan, events), 3);
        for (int b = 0; b < 3; b++) {
            double t = plan.scale[b] / plan.grid[b];
            double d = events[b].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2 / events[b].scale;
            rho += d * d;
            assert_true(plain_is_power_of_two(plan.grid[b]));
            assert_true(t == floor(t));
            assert_true(t <= 0x1p24);
            assert_true(plan.variance[b] == plan.scale[b] * plan.scale[b]);
            assert_int_equal(events[b].kind, DPF_EVENT_DISCRETE_GAUSSIAN);
        }
        assert_true(rho <= 0.25);
        assert_true(rho > 0.2499);
        assert_true(isnan(mechanism->budget(host.self)));
        double before = plan.scale[1];
        r.release.noise_factor = 2.5;
        plain_plan(&host, &r, &plan, events);
        assert_true(fabs(plan.scale[1] / before - 2.5) < 1e-4);
        plain_close(&host);
    }
}

TEST(sigma_is_taken_as_it_stands)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_init(&r, 2, 10);
    plain_release_bound(&r, 0, INFINITY, INFINITY);
    plain_release_bound(&r, 1, 0, 0);
    plain_open_random(&host, component, "calibration=sigma; sigma=0.75");
    plain_plan(&host, &r, &plan, events);
    assert_true(plan.scale[0] >= 0.75);
    assert_true(plan.scale[0] < 0.75 + 1e-6); /* up to a multiple of the grid */
    assert_true(plan.scale[1] == 0);
    assert_true(plan.scale[2] == plan.scale[0]);
    assert_true(isinf(events[0].sensitivity.at[0][0].l2));
    assert_int_equal(events[1].kind, DPF_EVENT_NO_OP);
    plain_close(&host);
}

TEST(what_is_not_bounded_is_refused)
{
    static const double bad[] = {NAN, INFINITY};
    for (int i = 0; i < 2; i++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan = {.size = sizeof(plan)};
        plain_release_init(&r, 2, 10);
        plain_release_bound(&r, 1, 1, bad[i]);
        plain_open_random(&host, component, "calibration=analytic; epsilon=1; delta=1e-5");
        assert_int_equal(mechanism->plan(host.self, &r.release, &plan), DPF_E_PRIVACY);
        assert_non_null(strstr(host.report, "linear"));
        assert_non_null(strstr(host.report, "clip-user"));
        plain_close(&host);
    }
}

TEST(the_gram_row_has_its_part)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_gradient(&r, 4, 10);
    plain_release_share(&r, 3, 3);
    r.release.gram_share = 0.36;
    plain_open_random(&host, component, "calibration=noise-multiplier");
    assert_int_equal(plain_plan(&host, &r, &plan, events), 2);
    assert_true(fabs(plan.scale[0] - 1 / 0.8) < 1e-5);
    assert_true(fabs(plan.gram_scale[0] - 3 / 0.6) < 1e-5);
    r.release.gram = NULL;
    plan = (dpf_noise_plan){.size = sizeof(plan)};
    assert_int_equal(mechanism->plan(host.self, &r.release, &plan), DPF_E_PRIVACY);
    plain_close(&host);
}

/* The last row is drawn with the gram scale, others with their own. */
TEST(rows_get_the_noise_that_is_planned)
{
    enum { ROWS = 64, D = 8 };
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    double zeros[(ROWS + 1) * D] = {0}, own = 0, last = 0;
    int64_t out[(ROWS + 1) * D];
    plain_release_gradient(&r, D, ROWS);
    plain_release_share(&r, 1e6, 1e6);
    r.release.gram_share = 0.5;
    plain_open_random(&host, component, "calibration=noise-multiplier");
    plain_plan(&host, &r, &plan, events);
    dpf_encoded integers = plain_integers(&r, out);
    assert_int_equal(mechanism->encode(host.self, plain_call(&host), &plan, &r.query, zeros, D, &integers),
                     DPF_OK);
    for (int i = 0; i < ROWS * D; i++)
        own = fmax(own, fabs((double)out[i] * plan.grid[0]));
    for (int i = ROWS * D; i < (ROWS + 1) * D; i++)
        last = fmax(last, fabs((double)out[i] * plan.gram_grid[0]));
    assert_true(own > 2);
    assert_true(own < 10);
    assert_true(last > 3e5);
    assert_true(last < 1e7);
    plain_close(&host);
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(12);
    component = plain_component("gaussian", DPF_ROLE_MECHANISM, "gaussian");
    mechanism = component->functions;
    return 0;
}

FIXTURE(setup, plain_random_end)
