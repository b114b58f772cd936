/* SPDX-License-Identifier: Apache-2.0 */
#include "record_fixture.h"

static const dpf_component *component;

TEST(rates_and_weights)
{
    static const struct {
        const char *settings;
        double rate, weight;
        int32_t lifetime;
    } cases[] = {
        {"rate=0.25", 0.25, 4, DPF_LIFETIME_SOLVE},
        {"rate=0.25; weight=unit", 0.25, 1, DPF_LIFETIME_SOLVE},
        {"rate=1", 1, 1, DPF_LIFETIME_SOLVE},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct plain_host host;
        static float weights[CHECK_RECORDS];
        const dpf_sampler *sampler = component->functions;
        dpf_sampling sampling = {0};
        const dpf_draw draw = check_draw();
        int kept = 0;
        plain_open_random(&host, component, cases[k].settings);
        assert_int_equal(sampler->describe(host.self, &sampling), DPF_OK);
        assert_int_equal(sampling.kind, DPF_SAMPLING_POISSON);
        assert_int_equal(sampling.unit, DPF_UNIT_RECORD);
        assert_int_equal(sampling.hidden_from, DPF_OBSERVER_PARTIES);
        assert_int_equal(sampler->lifetime(host.self), cases[k].lifetime);
        assert_true(sampling.rate == cases[k].rate);
        assert_true(sampling.weight_max == cases[k].weight);
        check_take(&host, 0, &draw, weights);
        for (int i = 0; i < CHECK_RECORDS; i++) {
            assert_true(weights[i] == 0 || weights[i] == (float)cases[k].weight);
            kept += weights[i] > 0;
        }
        const double deviation = sqrt(CHECK_RECORDS * cases[k].rate * (1 - cases[k].rate));
        assert_true(fabs(kept - CHECK_RECORDS * cases[k].rate) <= 4.5 * deviation);
        plain_close(&host);
    }
}

TEST(fates_and_refusals)
{
    struct plain_host host;
    plain_open_random(&host, component, "");
    check_fates(&host);
    check_parties_refused(&host);
    plain_close(&host);
    plain_init(&host, component);
    host.random = &plain_random;
    assert_int_equal(plain_create(&host, "rate=0"), DPF_E_CONFIG);
    host.fail_after = 0;
    assert_int_equal(plain_create(&host, ""), DPF_E_MEMORY);
    plain_close(&host);
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(21);
    component = plain_component("uniform", DPF_ROLE_SAMPLER, "uniform");
    return 0;
}

FIXTURE(setup, plain_random_end)
