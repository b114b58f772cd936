/* SPDX-License-Identifier: Apache-2.0 */
/* Weights against Eq. 22, Eq. 22 against numeric integration, and what the draws do. */
#include "record_fixture.h"

static const dpf_component *component;

static dpf_status prepare(struct plain_host *host, const char *settings, double budget, int with_profile,
                          dpf_sampling *sampling)
{
    static double slope;
    const dpf_sampler *sampler = component->functions;
    dpf_sampler_setup setup = {.size = sizeof(setup), .side = DPF_SIDE_ITEMS, .budget = budget};
    slope = budget;
    if (with_profile) {
        setup.epsilon_at_weight = check_linear_profile;
        setup.context = &slope;
    }
    plain_open_random(host, component, settings);
    const dpf_status status = sampler->prepare(host->self, &setup);
    *sampling = (dpf_sampling){0};
    if (status == DPF_OK)
        assert_int_equal(sampler->describe(host->self, sampling), DPF_OK);
    return status;
}

static double amplified(double loss, double weight)
{
    return log1p(expm1(loss) / weight);
}

/* ---- weights ---------------------------------------------------------------------------------- */

/* Theorem 2 as published: the least weight that brings phi_max to the target. */
TEST(fixed_maximum)
{
    for (int k = 1; k <= 40; k++) {
        struct plain_host host;
        dpf_sampling sampling;
        char settings[96];
        const double budget = 0.25 * k, target = 1;
        snprintf(settings, sizeof(settings), "profile=fixed-maximum; target=%g; max-weight=1e6", target);
        assert_int_equal(prepare(&host, settings, budget, 0, &sampling), DPF_OK);
        const double exact = fmax(1, expm1(budget) / expm1(target));
        assert_true(fabs(sampling.weight_max / exact - 1) < 1e-6);
        assert_true(amplified(budget, sampling.weight_max) <= fmax(target, 0) + 1e-12); /* the safe end */
        assert_true(sampling.rate == 1 / sampling.weight_max);
        assert_int_equal(sampling.kind, DPF_SAMPLING_POISSON);
        assert_int_equal(sampling.unit, DPF_UNIT_RECORD);
        plain_close(&host);
    }
}

/* phi(w) = w phi(1): the largest weight that still meets the target, and no gain where there is none to be
 * had. */
TEST(loss_by_weight)
{
    for (int k = 0; k <= 20; k++) {
        struct plain_host host;
        dpf_sampling sampling;
        const double budget = 0.5, target = 0.5 + 0.1 * k;
        char settings[64];
        snprintf(settings, sizeof(settings), "target=%.17g", target);
        assert_int_equal(prepare(&host, settings, budget, 1, &sampling), DPF_OK);
        const double w = sampling.weight_max;
        assert_true(amplified(budget * w, w) <= target + 1e-12);
        assert_true(amplified(budget * w * (1 + 1e-6), w * (1 + 1e-6)) > target);
        if (k == 0)
            assert_true(w == 1);
        plain_close(&host);
    }
    /* A target below the budget cannot be reached by weighting. */
    struct plain_host host;
    dpf_sampling sampling;
    assert_int_equal(prepare(&host, "target=0.4", 0.5, 1, &sampling), DPF_E_CONFIG);
    assert_non_null(strstr(host.report, "target"));
    plain_close(&host);
}

/* Records with small rows have small losses, and are kept less often. */
TEST(losses_by_norm)
{
    struct plain_host host;
    dpf_sampling sampling;
    static float weights[CHECK_RECORDS];
    const dpf_draw draw = check_draw();
    const double budget = 0.5, target = 1.2;
    double sum = 0, variance = 0;
    float last = 1e9f;
    assert_int_equal(prepare(&host, "target=1.2; losses=norm; bound=4; max-weight=12", budget, 1, &sampling),
                     DPF_OK);
    assert_int_equal(sampling.kind, DPF_SAMPLING_WEIGHTED);
    assert_true(sampling.weight_max == 12);
    check_take(&host, 0, &draw, weights);
    for (int u = 0; u < CHECK_USERS; u++) {
        float given = 0;
        const double share = (u + 1.0) / CHECK_USERS; /* of the bound: |p|_1 is 4 (u + 1) / CHECK_USERS */
        for (int i = 0; i < CHECK_ITEMS; i++) {
            given = fmaxf(given, weights[u * CHECK_ITEMS + i]);
            sum += (double)weights[u * CHECK_ITEMS + i];
        }
        if (given == 0)
            continue; /* none of the user's records was kept */
        variance += CHECK_ITEMS * ((double)given - 1);
        assert_true(given <= last);
        last = given;
        assert_true(amplified(budget * share * given, given) <= target + 1e-9);
    }
    assert_true(fabs(sum - CHECK_RECORDS) < 4.5 * sqrt(variance));
    assert_true(last > 5);
    assert_true(last < 5.2); /* (e^(w/2) - 1) / w = e^1.2 - 1 at w = 5.1 */
    plain_close(&host);
}

/* ---- Eq. 22 against numeric integration ------------------------------------------------------- */

/* P(x > a) style masses are avoided: densities, by the trapezoidal rule on a grid that the kinks lie on. */
static double hockey_stick(double shift, double scale, double rate, double epsilon, int swapped)
{
    const double lo = -60 * scale, hi = shift + 60 * scale, step = scale / 400;
    double sum = 0;
    for (double x = lo; x <= hi; x += step) {
        const double q = exp(-fabs(x) / scale) / (2 * scale);
        const double p = (1 - rate) * q + rate * exp(-fabs(x - shift) / scale) / (2 * scale);
        sum += fmax(0, swapped ? q - exp(epsilon) * p : p - exp(epsilon) * q) * step;
    }
    return sum;
}

/* Laplace noise of scale b, a record of norm D and weight w: delta(epsilon') is 0, and positive below. */
TEST(theorem_2_by_integration)
{
    const double losses[] = {0.3, 1, 2.5}, weights[] = {1, 1.5, 4, 10};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 4; b++) {
            const double scale = 1, shift = losses[a], w = weights[b];
            const double epsilon = amplified(losses[a], w);
            assert_true(hockey_stick(shift, scale, 1 / w, epsilon + 1e-9, 0) < 1e-12);
            assert_true(hockey_stick(shift, scale, 1 / w, epsilon + 1e-9, 1) < 1e-12);
            assert_true(hockey_stick(shift, scale, 1 / w, epsilon * 0.98, 0) > 1e-6);
        }
}

/* What is proved of a record that is weighted by w: no better than without sampling. */
TEST(weighting_amplifies_nothing)
{
    for (double phi = 0.1; phi < 4; phi += 0.3)
        for (double w = 1; w < 20; w *= 1.3)
            assert_true(amplified(w * phi, w) >= phi - 1e-12);
}

/* ---- the rest ---------------------------------------------------------------------------------- */

TEST(fates_and_refusals)
{
    struct plain_host host;
    dpf_sampling sampling;
    assert_int_equal(prepare(&host, "target=2", 0.5, 1, &sampling), DPF_OK);
    assert_int_equal(sampling.hidden_from, DPF_OBSERVER_PARTIES);
    check_fates(&host);
    check_parties_refused(&host);
    plain_close(&host);
    assert_int_equal(prepare(&host, "", 1, 0, &sampling), DPF_E_CONFIG); /* no profile */
    plain_close(&host);
    assert_int_equal(prepare(&host, "profile=fixed-maximum", NAN, 0, &sampling), DPF_E_CONFIG);
    plain_close(&host);
    assert_int_equal(prepare(&host, "target=1; profile=fixed-maximum; max-weight=2", 5, 0, &sampling),
                     DPF_E_CONFIG);
    plain_close(&host);
    plain_init(&host, component);
    host.random = &plain_random;
    assert_int_equal(plain_create(&host, "target=0"), DPF_E_CONFIG);
    host.fail_after = 0;
    assert_int_equal(plain_create(&host, ""), DPF_E_MEMORY);
    plain_close(&host);
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(23);
    component = plain_component("importance", DPF_ROLE_SAMPLER, "importance");
    return 0;
}

FIXTURE(setup, plain_random_end)
