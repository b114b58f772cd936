/* SPDX-License-Identifier: Apache-2.0 */
#include "record_fixture.h"

static const dpf_component *component;

/* User u's row has length 2 (u + 1) / CHECK_USERS. */
static double length_of(int user)
{
    return 2.0 * (user + 1) / CHECK_USERS;
}

static void open_for_items(struct plain_host *host, const char *settings)
{
    const dpf_sampler_setup setup = {.size = sizeof(setup), .side = DPF_SIDE_ITEMS, .budget = NAN};
    plain_open_random(host, component, settings);
    assert_int_equal(((const dpf_sampler *)component->functions)->prepare(host->self, &setup), DPF_OK);
}

TEST(in_proportion_to_length)
{
    struct plain_host host;
    static float weights[CHECK_RECORDS];
    const dpf_draw draw = check_draw();
    dpf_sampling sampling = {0};
    double sum = 0, variance = 0;
    open_for_items(&host, "rate=0.5; norm=1; max-weight=8");
    assert_int_equal(((const dpf_sampler *)component->functions)->describe(host.self, &sampling), DPF_OK);
    assert_int_equal(sampling.kind, DPF_SAMPLING_WEIGHTED);
    assert_true(sampling.weight_max == 8);
    assert_true(sampling.rate == 1);
    check_take(&host, 0, &draw, weights);
    for (int i = 0; i < CHECK_RECORDS; i++) {
        const double wished = fmin(8, fmax(1, 1 / (0.5 * length_of(check_users[i]))));
        assert_true(weights[i] == 0 || fabs(weights[i] / wished - 1) < 1e-6);
        sum += (double)weights[i];
        variance += wished - 1;
    }
    /* Sums are unbiased. */
    assert_true(fabs(sum - CHECK_RECORDS) < 4.5 * sqrt(variance));
    check_fates(&host);
    check_parties_refused(&host);
    plain_close(&host);
}

/* At its expected size no other probabilities have less variance sum (1/q - 1) |p|^2: moving probability
   between any two users who are neither always kept nor at the limit makes it worse. */
TEST(least_variance)
{
    const double rate = 0.5, move = 1e-3;
    for (int a = 0; a < CHECK_USERS; a++)
        for (int b = 0; b < CHECK_USERS; b++) {
            const double la = length_of(a), lb = length_of(b), qa = rate * la, qb = rate * lb;
            if (a == b || qa < 0.125 + move || qb < 0.125 + move || qa > 1 - move || qb > 1 - move)
                continue;
            const double as_is = la * la / qa + lb * lb / qb;
            assert_true(la * la / (qa + move) + lb * lb / (qb - move) > as_is);
        }
}

TEST(refusals)
{
    struct plain_host host;
    plain_init(&host, component);
    host.random = &plain_random;
    assert_int_equal(plain_create(&host, "norm=0"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&host, "max-weight=0.5"), DPF_E_CONFIG);
    host.fail_after = 0;
    assert_int_equal(plain_create(&host, ""), DPF_E_MEMORY);
    plain_close(&host);
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(22);
    component = plain_component("utility-optimal", DPF_ROLE_SAMPLER, "utility-optimal");
    return 0;
}

FIXTURE(setup, plain_random_end)
