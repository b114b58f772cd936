/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_random.h"
#include "kit/plain_release.h"

static const dpf_component *component;
static const dpf_mechanism *mechanism;

static double l1(const dpf_event *event)
{
    return event->sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l1;
}

/* What the events add up to. */
static double spent(const dpf_event *events, int32_t n)
{
    double epsilon = 0;
    for (int32_t i = 0; i < n; i++)
        epsilon += events[i].scale > 0 ? l1(&events[i]) / events[i].scale : 0;
    return epsilon;
}

static void check_plan(const dpf_noise_plan *plan, const dpf_event *events)
{
    for (int32_t b = 0; b < plan->n_blocks; b++) {
        assert_true(plain_is_power_of_two(plan->grid[b]));
        double t = plan->scale[b] / plan->grid[b];
        assert_true(t == floor(t));
        assert_true(t <= 0x1p42);
        assert_true(events[b].scale == plan->scale[b]);
    }
}

TEST(budget_is_spent_and_not_exceeded)
{
    static const char *settings[] = {"epsilon=0.5", "epsilon=0.5", "epsilon=0.5; sensitivity=joint",
                                     "epsilon=0.5; where=sum"};
    static const double shares[] = {0.1, 0.8, 0.1};
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        dpf_event events[2 * DPF_MAX_BLOCKS];
        plain_release_init(&r, 3, 50);
        plain_release_bound(&r, 0, 4.0, 4.0);
        plain_release_bound(&r, 1, 0.3, 0.3);
        plain_release_bound(&r, 2, 1.0, 1.0);
        r.release.block_shares = i == 1 ? shares : NULL;
        plain_open_random(&host, component, settings[i]);
        assert_int_equal(plain_plan(&host, &r, &plan, events), 3);
        check_plan(&plan, events);
        assert_true(spent(events, 3) <= 0.5);
        assert_true(spent(events, 3) > 0.5 * (1 - 0x1p-6));
        assert_int_equal(events[0].kind, DPF_EVENT_DISCRETE_LAPLACE);
        assert_int_equal(events[0].flags, 0);
        assert_true(mechanism->budget(host.self) == 0.5);
        plain_close(&host);
    }
}

TEST(shares_and_joint_set_the_scales)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_init(&r, 2, 10);
    plain_release_bound(&r, 0, 2.0, 2.0);
    static const double shares[] = {0.5, 0.25, 0.25};
    r.release.block_shares = shares;
    plain_open_random(&host, component, "epsilon=2");
    plain_plan(&host, &r, &plan, events);
    assert_true(fabs(plan.scale[0] / 2 - 1) < 1e-6);
    assert_true(fabs(plan.scale[1] / 2 - 1) < 1e-6);
    r.release.noise_factor = 3;
    plain_plan(&host, &r, &plan, events);
    assert_true(fabs(plan.scale[0] / 6 - 1) < 1e-6);
    plain_close(&host);
    r.release.noise_factor = 1;
    plain_open_random(&host, component, "epsilon=2; sensitivity=joint");
    assert_int_equal(mechanism->plan(host.self, &r.release, &plan), DPF_E_CONFIG);
    r.release.block_shares = NULL;
    plain_plan(&host, &r, &plan, events);
    for (int b = 0; b < 3; b++)
        assert_true(fabs(plan.scale[b] / 2 - 1) < 1e-6);
    plain_close(&host);
}

TEST(a_block_that_nobody_moves_gets_no_noise)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_init(&r, 2, 10);
    plain_release_bound(&r, 0, 0, 0);
    plain_release_bound(&r, 2, 0, 0);
    /* Not moved by the unit that is asked for, but by users: no noise, and no claim that it is public. */
    r.blocks[2].at[DPF_UNIT_USER][DPF_ADJ_REPLACE] = (dpf_norms){1, 1, 1};
    plain_open_random(&host, component, "epsilon=1");
    assert_int_equal(plain_plan(&host, &r, &plan, events), 3);
    assert_int_equal(events[0].kind, DPF_EVENT_NO_OP);
    assert_true(events[0].flags & DPF_EVENT_DATA_BLIND);
    assert_int_equal(events[2].kind, DPF_EVENT_NON_PRIVATE);
    assert_false(events[2].flags & DPF_EVENT_DATA_BLIND);
    assert_true(l1(&events[2]) == 0);
    assert_true(plan.scale[0] == 0);
    assert_true(plan.scale[2] == 0);
    assert_true(plan.variance[0] == 0);
    assert_true(fabs(plan.scale[1] - 1) < 1e-6);
    plain_close(&host);
}

TEST(every_unit_is_stated_with_rounding)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_gradient(&r, 4, 10);
    r.blocks[0].at[DPF_UNIT_USER][DPF_ADJ_REPLACE] = (dpf_norms){8, 5, 3};
    r.blocks[0].at[DPF_UNIT_USER][DPF_ADJ_FLIP] = (dpf_norms){NAN, NAN, NAN};
    r.blocks[0].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE] = (dpf_norms){INFINITY, INFINITY, 1};
    r.release.from_data = 1;
    r.release.fewer_bits = 26;
    plain_open_random(&host, component, "epsilon=1");
    assert_int_equal(plain_plan(&host, &r, &plan, events), 1);
    double g = plan.grid[0];
    const dpf_norms *user = events[0].sensitivity.at[DPF_UNIT_USER];
    assert_true(user[DPF_ADJ_REPLACE].l1 == 8 + 40 * g);
    assert_true(user[DPF_ADJ_REPLACE].l2 == 5 + sqrt(40) * g);
    assert_true(user[DPF_ADJ_REPLACE].linf == 3 + g);
    assert_true(isnan(user[DPF_ADJ_FLIP].l1));
    assert_true(isinf(user[DPF_ADJ_ADD_REMOVE].l1));
    assert_true(events[0].flags & DPF_EVENT_BOUNDS_FROM_DATA);
    plain_close(&host);
}

/* Where sums would not fit, the host asks for a coarser grid; there is a coarsest one. */
TEST(grids_are_as_much_coarser_as_is_asked_for)
{
    static const int fewer[] = {0, 5, 26, 40};
    double usual = 0;
    for (int i = 0; i < 4; i++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        dpf_event events[2 * DPF_MAX_BLOCKS];
        plain_release_gradient(&r, 4, 10);
        plain_release_bound(&r, 0, 1, 1);
        r.release.fewer_bits = fewer[i];
        plain_open_random(&host, component, "epsilon=1");
        assert_int_equal(plain_plan(&host, &r, &plan, events), 1);
        usual = i ? usual : plan.grid[0];
        assert_true(plan.grid[0] == ldexp(usual, fewer[i] < 26 ? fewer[i] : 26));
        assert_true(l1(&events[0]) == 1 + 40 * plan.grid[0]);
        assert_true(plan.scale[0] >= l1(&events[0]));
        plain_close(&host);
    }
}

static void expect_refusal(const struct plain_release *r, const char *settings, dpf_status expected)
{
    struct plain_host host;
    dpf_noise_plan plan = {.size = sizeof(plan)};
    plain_open_random(&host, component, settings);
    assert_int_equal(mechanism->plan(host.self, &r->release, &plan), expected);
    assert_int_equal(host.code, expected);
    assert_true(strlen(host.report) > 20);
    plain_close(&host);
}

TEST(what_is_not_bounded_is_refused)
{
    struct plain_release r;
    plain_release_init(&r, 2, 10);
    plain_release_bound(&r, 1, NAN, NAN);
    expect_refusal(&r, "epsilon=1", DPF_E_PRIVACY);
    plain_release_bound(&r, 1, INFINITY, 1);
    expect_refusal(&r, "epsilon=1", DPF_E_PRIVACY);
    plain_release_bound(&r, 1, -1, 1);
    expect_refusal(&r, "epsilon=1", DPF_E_PRIVACY);
    plain_release_bound(&r, 1, 1, 1);
    static const double without[] = {0.5, 0.5, 0};
    r.release.block_shares = without;
    expect_refusal(&r, "epsilon=1", DPF_E_CONFIG);
    r.release.block_shares = NULL;
    plain_release_bound(&r, 1, 1e-300, 1);
    expect_refusal(&r, "epsilon=1", DPF_E_RANGE);
    plain_release_bound(&r, 1, 1, 1);
    r.query.blocks[0].layout = DPF_LAYOUT_LOWER;
    expect_refusal(&r, "epsilon=1", DPF_E_UNSUPPORTED);
}

TEST(contradictions_are_refused)
{
    struct plain_host host;
    plain_init(&host, component);
    host.random = &plain_random;
    assert_int_equal(plain_create(&host, "epsilon=0"), DPF_E_CONFIG);
    plain_close(&host);
    plain_init(&host, component);
    host.random = &plain_random;
    host.fail_after = 0;
    assert_int_equal(plain_create(&host, ""), DPF_E_MEMORY);
    plain_close(&host);
}

TEST(the_gram_row_has_its_own_budget)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_init(&r, 2, 10);
    plain_release_share(&r, 5, 5);
    r.release.gram_share = 0.25;
    plain_open_random(&host, component, "epsilon=1");
    assert_int_equal(plain_plan(&host, &r, &plan, events), 6);
    assert_true(spent(events, 3) <= 0.75);
    assert_true(spent(events, 3) > 0.749);
    assert_true(spent(events + 3, 3) <= 0.25);
    assert_true(spent(events + 3, 3) > 0.249);
    r.release.gram_share = 0;
    assert_int_equal(plain_plan(&host, &r, &plan, events), 6);
    assert_int_equal(events[3].kind, DPF_EVENT_NON_PRIVATE);
    assert_true(spent(events, 3) > 0.999);
    r.release.gram = NULL;
    plain_plan(&host, &r, &plan, events);
    assert_int_equal(events[3].kind, DPF_EVENT_NON_PRIVATE);
    assert_true(isnan(l1(&events[3])));
    plain_close(&host);
}

#define ROWS 20
#define WIDTH 6 /* packed 3, linear 2, count 1 */

static void encode(struct plain_host *host, const struct plain_release *r, const dpf_noise_plan *plan,
                   const double *values, int64_t *out)
{
    dpf_encoded integers = plain_integers(r, out);
    assert_int_equal(
        mechanism->encode(host->self, plain_call(host), plan, &r->query, values, WIDTH, &integers), DPF_OK);
}

TEST(noise_depends_on_where_it_is_read_only)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    double values[ROWS * WIDTH] = {0};
    int64_t all[ROWS * WIDTH], other[ROWS * WIDTH], some[2 * WIDTH];
    plain_release_init(&r, 2, ROWS);
    plain_open_random(&host, component, "epsilon=1");
    plain_plan(&host, &r, &plan, events);
    encode(&host, &r, &plan, values, all);
    int32_t rows[2] = {17, 3};
    dpf_encoded part = plain_integers(&r, some);
    part.rows = rows;
    part.n_rows = 2;
    assert_int_equal(mechanism->encode(host.self, plain_call(&host), &plan, &r.query, values, WIDTH, &part),
                     DPF_OK);
    assert_memory_equal(some, all + 17 * WIDTH, WIDTH * sizeof(*all));
    assert_memory_equal(some + WIDTH, all + 3 * WIDTH, WIDTH * sizeof(*all));
    for (int change = 0; change < 2; change++) {
        host.call.draw = change == 0;
        host.call.party = change == 1;
        encode(&host, &r, &plan, values, other);
        for (int i = 0; i < ROWS * WIDTH; i++)
            assert_true(all[i] != other[i]);
    }
    for (int i = 1; i < ROWS * WIDTH; i++)
        assert_true(all[i] != all[i - 1]);
    plain_close(&host);
}

TEST(a_trusted_curator_adds_noise_once)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    double values[ROWS * WIDTH], out[ROWS * WIDTH], again[ROWS * WIDTH];
    int64_t sums[ROWS * WIDTH];
    for (int i = 0; i < ROWS * WIDTH; i++)
        values[i] = 0.37 * i - 20;
    plain_release_init(&r, 2, ROWS);
    plain_release_bound(&r, 2, 0, 0);
    plain_open_random(&host, component, "epsilon=1; where=sum");
    plain_plan(&host, &r, &plan, events);
    encode(&host, &r, &plan, values, sums);
    for (int i = 0; i < ROWS * WIDTH; i++) {
        double grid = plan.grid[i % WIDTH < 3 ? 0 : i % WIDTH < 5 ? 1 : 2];
        assert_true(fabs((double)sums[i] * grid - values[i]) <= grid / 2);
    }
    dpf_encoded sum = plain_integers(&r, sums);
    assert_int_equal(mechanism->decode(host.self, plain_call(&host), &plan, &r.query, &sum, out, WIDTH),
                     DPF_OK);
    assert_int_equal(mechanism->decode(host.self, plain_call(&host), &plan, &r.query, &sum, again, WIDTH),
                     DPF_OK);
    assert_memory_equal(out, again, sizeof(out));
    for (int i = 0; i < ROWS * WIDTH; i++)
        if (i % WIDTH == 5)
            assert_true(fabs(out[i] - values[i]) <= plan.grid[2] / 2);
        else {
            assert_true(out[i] != values[i]);
            assert_true(fabs(out[i] - values[i]) < 100);
        }
    plain_close(&host);
}

TEST(values_that_do_not_fit_are_refused)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e300, 0x1p19};
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    double values[ROWS * WIDTH] = {0};
    int64_t out[ROWS * WIDTH];
    plain_release_init(&r, 2, ROWS);
    plain_open_random(&host, component, "epsilon=1");
    plain_plan(&host, &r, &plan, events);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        dpf_encoded integers = plain_integers(&r, out);
        values[4] = bad[i];
        plain_clear(&host);
        assert_int_equal(
            mechanism->encode(host.self, plain_call(&host), &plan, &r.query, values, WIDTH, &integers),
            DPF_E_RANGE);
        assert_int_equal(host.code, DPF_E_RANGE);
    }
    plain_close(&host);
}

/* The grid follows the contributions where epsilon is large, and the noise where it is small. */
TEST(large_sums_fit_at_any_epsilon)
{
    static const char *settings[] = {"epsilon=0.01", "epsilon=1", "epsilon=100", "epsilon=100000"};
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        dpf_event events[2 * DPF_MAX_BLOCKS];
        double sum = 100000;
        int64_t out;
        plain_release_gradient(&r, 1, 1);
        plain_open_random(&host, component, settings[i]);
        plain_plan(&host, &r, &plan, events);
        check_plan(&plan, events);
        assert_true(plan.scale[0] / plan.grid[0] >= 0x1p12);
        assert_true(spent(events, 1) <= host.values[0].real);
        assert_true(spent(events, 1) > host.values[0].real * 0.999);
        dpf_encoded integers = plain_integers(&r, &out);
        assert_int_equal(mechanism->encode(host.self, plain_call(&host), &plan, &r.query, &sum, 1, &integers),
                         DPF_OK);
        plain_close(&host);
    }
}

/*
 * All neighbours with two coordinates at a grid so coarse that rounding counts: the largest ratio of
 * exact output masses, over a window of outputs, is at most e^epsilon. Without the rounding in the
 * sensitivity it would be more, which is checked too.
 */
TEST(enumerated_masses_of_neighbours_are_within_epsilon)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    const double epsilon = 0.7;
    double worst = 0, l1_bound = 0.05;
    plain_release_gradient(&r, 2, 1);
    plain_release_bound(&r, 0, l1_bound, l1_bound);
    r.release.fewer_bits = 26;
    plain_open_random(&host, component, "epsilon=0.7; where=sum");
    plain_plan(&host, &r, &plan, events);
    double t = plan.scale[0] / plan.grid[0];
    for (int i = 0; i <= 40; i++)
        for (int j = 0; j <= 40; j++) {
            /* a at sub-grid offsets, b at distance l1_bound in L1, split between the coordinates. */
            double a[2] = {(i - 20) * plan.grid[0] / 40, (j - 20) * plan.grid[0] / 40};
            double part = j / 40.0;
            double b[2] = {a[0] + part * l1_bound, a[1] - (1 - part) * l1_bound};
            int64_t x[2], y[2];
            dpf_encoded xs = plain_integers(&r, x), ys = plain_integers(&r, y);
            assert_int_equal(mechanism->encode(host.self, plain_call(&host), &plan, &r.query, a, 2, &xs),
                             DPF_OK);
            assert_int_equal(mechanism->encode(host.self, plain_call(&host), &plan, &r.query, b, 2, &ys),
                             DPF_OK);
            for (int64_t o0 = -300; o0 <= 300; o0 += 25)
                for (int64_t o1 = -300; o1 <= 300; o1 += 25) {
                    double ratio = (fabs((double)(o0 - y[0])) + fabs((double)(o1 - y[1])) -
                                    fabs((double)(o0 - x[0])) - fabs((double)(o1 - x[1]))) /
                                   t;
                    worst = fmax(worst, fabs(ratio));
                }
        }
    assert_true(worst <= epsilon);
    assert_true(worst > l1_bound / plan.scale[0]);
    plain_close(&host);
}

TEST(epsilon_is_linear_in_the_weight)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    double epsilon;
    plain_release_init(&r, 2, 10);
    r.release.noise_factor = 2;
    plain_open_random(&host, component, "epsilon=3; lifetime=run");
    plain_plan(&host, &r, &plan, events);
    assert_int_equal(mechanism->epsilon_at_weight(host.self, &plan, 4, &epsilon), DPF_OK);
    assert_true(fabs(epsilon - 6) < 1e-12);
    assert_int_equal(mechanism->lifetime(host.self), DPF_LIFETIME_RUN);
    plain_close(&host);
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(11);
    component = plain_component("laplace", DPF_ROLE_MECHANISM, "laplace");
    mechanism = component->functions;
    return 0;
}

FIXTURE(setup, plain_random_end)
