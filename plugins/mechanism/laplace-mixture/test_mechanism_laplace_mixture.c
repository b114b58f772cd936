/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_random.h"
#include "kit/plain_release.h"
#include "kit/goodness.h"

#define D 8
#define ROWS 2500
#define CELLS (D * ROWS)
#define BINS 100
#define MAX_PARTIES 40

static const dpf_component *component;
static const dpf_mechanism *mechanism;
static double zeros[CELLS];
static int64_t encoded[CELLS], sums[CELLS];

static double scale_of(const struct plain_host *host, const struct plain_release *r)
{
    dpf_noise_plan plan = {.size = sizeof(plan)};
    assert_int_equal(mechanism->plan(host->self, &r->release, &plan), DPF_OK);
    assert_int_equal(plan.where, DPF_NOISE_IN_SHARES);
    assert_true(plain_is_power_of_two(plan.grid[0]));
    return plan.scale[0];
}

/* The sum of all parties' shares, in units of the scale; parties counts those that send, of which each row is
   told. */
static void add_shares(struct plain_host *host, const struct plain_release *r, const dpf_noise_plan *plan,
                       int32_t parties, uint32_t draw, double *out)
{
    static int32_t contributors[ROWS];
    dpf_encoded message = plain_integers(r, encoded);
    dpf_encoded sum = plain_integers(r, sums);
    message.contributors = contributors;
    for (int i = 0; i < ROWS; i++)
        contributors[i] = parties;
    memset(sums, 0, sizeof(sums));
    host->call.draw = draw;
    for (int32_t p = 0; p < parties; p++) {
        host->call.party = (uint32_t)p;
        assert_int_equal(mechanism->encode(host->self, plain_call(host), plan, &r->query, zeros, D, &message),
                         DPF_OK);
        for (int i = 0; i < CELLS; i++)
            sums[i] += encoded[i];
    }
    sum.survivors = parties;
    assert_int_equal(mechanism->decode(host->self, plain_call(host), plan, &r->query, &sum, out, D), DPF_OK);
    for (int i = 0; i < CELLS; i++)
        out[i] /= plan->scale[0];
}

static double laplace_below(double x)
{
    return x < 0 ? 0.5 * exp(x) : 1 - 0.5 * exp(-x);
}

static double normal_below(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static double fit(const double *x, double (*below)(double))
{
    int64_t counts[BINS] = {0};
    double p[BINS];
    for (int i = 0; i < CELLS; i++) {
        int bin = (int)floor(x[i] * 10) + BINS / 2;
        counts[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin]++;
    }
    for (int b = 0; b < BINS; b++)
        p[b] = (b == BINS - 1 ? 1 : below((b + 1 - BINS / 2) / 10.0)) -
               (b == 0 ? 0 : below((b - BINS / 2) / 10.0));
    return goodness_chi_square(counts, p, BINS);
}

/* Theorem 3: whatever the number of parties, the sum is Laplace of the scale that was planned. */
TEST(shares_add_up_to_laplace_noise)
{
    static double x[CELLS];
    for (int32_t parties = 1; parties <= MAX_PARTIES; parties = parties * 4 + 1) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        dpf_event events[2 * DPF_MAX_BLOCKS];
        plain_release_gradient(&r, D, ROWS);
        r.release.n_parties = parties;
        plain_open_random(&host, component, "epsilon=0.7");
        plain_plan(&host, &r, &plan, events);
        add_shares(&host, &r, &plan, parties, 0, x);
        goodness_assert(fit(x, laplace_below), "Laplace", parties);
        assert_true(fabs(fit(x, normal_below)) > 20); /* the test can tell */
        double square = 0;
        for (int i = 0; i < CELLS; i++)
            square += x[i] * x[i];
        /* Var x^2 = 24 - 4 */
        goodness_assert(goodness_mean(square, CELLS, 2, 20), "variance", parties);
        assert_true(fabs(plan.variance[0] / (2 * plan.scale[0] * plan.scale[0]) - 1) < 1e-12);
        plain_close(&host);
    }
}

/* The reason for NOISE_KNOWN: with h, which all parties of a row have in common, the shares are normal. Two
   parties' shares of one coordinate have correlated squares. */
TEST(the_known_factor_is_common_to_all_parties)
{
    static double first[CELLS], second[CELLS];
    static int32_t one[ROWS];
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_gradient(&r, D, ROWS);
    plain_open_random(&host, component, "");
    plain_plan(&host, &r, &plan, events);
    dpf_encoded message = plain_integers(&r, encoded);
    message.contributors = one;
    for (int i = 0; i < ROWS; i++)
        one[i] = 1;
    double product = 0, square = 0;
    for (uint32_t p = 0; p < 2; p++) {
        host.call.party = p;
        assert_int_equal(mechanism->encode(host.self, plain_call(&host), &plan, &r.query, zeros, D, &message),
                         DPF_OK);
        for (int i = 0; i < CELLS; i++)
            (p ? second : first)[i] = (double)encoded[i] * plan.grid[0] / plan.scale[0];
    }
    for (int i = 0; i < CELLS; i++) {
        product += first[i] * second[i];
        square += first[i] * first[i] * second[i] * second[i];
    }
    /* E x y = 0, E x^2 y^2 = 4 E h^2 = 8; without a common factor it would be 4. */
    goodness_assert(goodness_mean(product, CELLS, 0, 8), "shares are uncorrelated", 0);
    assert_true(square / CELLS > 6.5);
    assert_true(square / CELLS < 9.5);
    plain_close(&host);
}

/* What audits are told of h: the sum of all shares, over the deviation given h, is standard normal. */
TEST(the_known_deviation_leaves_normal_noise)
{
    static double x[CELLS], deviation[CELLS];
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_gradient(&r, D, ROWS);
    r.release.n_parties = 5;
    plain_open_random(&host, component, "epsilon=0.7");
    plain_plan(&host, &r, &plan, events);
    add_shares(&host, &r, &plan, 5, 3, x);
    dpf_encoded sum = plain_integers(&r, sums);
    assert_int_equal(
        mechanism->conditional_stddev(host.self, plain_call(&host), &plan, &r.query, &sum, deviation, D),
        DPF_OK);
    for (int i = 0; i < CELLS; i++)
        x[i] *= plan.scale[0] / deviation[i];
    goodness_assert(fit(x, normal_below), "normal given h", 0);
    assert_true(fabs(fit(x, laplace_below)) > 20);
    plain_close(&host);
}

TEST(the_scale_is_the_publications)
{
    struct plain_host host;
    struct plain_release r;
    /* Theorem 2: 2 sqrt(K) Delta / epsilon, for K = 4, Delta = 4; the L1 sensitivity is the numerator. */
    plain_release_gradient(&r, 4, 10);
    plain_release_bound(&r, 0, 2 * 2 * 4, 8);
    plain_open_random(&host, component, "epsilon=0.5");
    assert_true(fabs(scale_of(&host, &r) / 32 - 1) < 1e-6);
    r.release.noise_factor = 2;
    assert_true(fabs(scale_of(&host, &r) / 64 - 1) < 1e-6);
    assert_true(mechanism->budget(host.self) == 0.5);
    double epsilon;
    dpf_noise_plan plan = {.size = sizeof(plan)};
    assert_int_equal(mechanism->epsilon_at_weight(host.self, &plan, 0.25, &epsilon), DPF_OK);
    assert_true(epsilon == 0.125);
    plain_close(&host);
}

TEST(events_say_what_is_wrong_with_it)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_gradient(&r, D, ROWS);
    plain_open_random(&host, component, "epsilon=2; lifetime=run");
    assert_int_equal(plain_plan(&host, &r, &plan, events), 1);
    assert_int_equal(events[0].kind, DPF_EVENT_LAPLACE);
    assert_int_equal(events[0].flags,
                     DPF_EVENT_NOISE_KNOWN | DPF_EVENT_NOISE_SHARED | DPF_EVENT_FLOATING_POINT);
    assert_int_equal(mechanism->lifetime(host.self), DPF_LIFETIME_RUN);
    assert_true(events[0].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l1 / events[0].scale <= 2);
    assert_true(mechanism->flags & DPF_MECHANISM_CONTRIBUTORS);
    plain_close(&host);
    plain_open_random(&host, component, "");
    assert_int_equal(mechanism->lifetime(host.self), DPF_LIFETIME_ROUND);
    plain_close(&host);
}

TEST(impossible_requests_are_refused)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_gradient(&r, D, ROWS);
    plain_open_random(&host, component, "");
    plain_plan(&host, &r, &plan, events);
    dpf_encoded message = plain_integers(&r, encoded);
    assert_int_equal(mechanism->encode(host.self, plain_call(&host), &plan, &r.query, zeros, D, &message),
                     DPF_E_UNSUPPORTED);
    plain_clear(&host);
    static int32_t none[ROWS];
    message.contributors = none;
    assert_int_equal(mechanism->encode(host.self, plain_call(&host), &plan, &r.query, zeros, D, &message),
                     DPF_E_INTERNAL);
    plain_clear(&host);
    plain_release_share(&r, 1, 1);
    assert_int_equal(mechanism->plan(host.self, &r.release, &plan), DPF_E_UNSUPPORTED);
    plain_close(&host);
    for (int i = 0; i < 2; i++) {
        plain_release_gradient(&r, D, ROWS);
        plain_release_bound(&r, 0, i ? INFINITY : NAN, 1);
        plain_open_random(&host, component, "");
        assert_int_equal(mechanism->plan(host.self, &r.release, &plan), DPF_E_PRIVACY);
        plain_close(&host);
    }
    plain_init(&host, component);
    host.random = &plain_random;
    assert_int_equal(plain_create(&host, "epsilon=0"), DPF_E_CONFIG);
    host.fail_after = 0;
    assert_int_equal(plain_create(&host, ""), DPF_E_MEMORY);
    plain_close(&host);
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(19);
    component = plain_component("laplace-mixture", DPF_ROLE_MECHANISM, "laplace-mixture");
    mechanism = component->functions;
    return 0;
}

FIXTURE(setup, plain_random_end)
