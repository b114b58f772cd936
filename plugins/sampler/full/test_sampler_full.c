/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_host.h"

TEST(everybody_has_weight_one)
{
    const dpf_component *component = plain_component("full", DPF_ROLE_SAMPLER, "full");
    const dpf_sampler *sampler = component->functions;
    struct plain_host host;
    dpf_sampling sampling = {0};
    dpf_draw draw = {.size = sizeof(draw), .level = DPF_LEVEL_PARTY, .n = 100, .first = 7};
    float weights[101];
    plain_check_memory(component, "");
    plain_open(&host, component, "");
    assert_int_equal(sampler->describe(host.self, &sampling), DPF_OK);
    assert_int_equal(sampling.kind, DPF_SAMPLING_NONE);
    assert_int_equal(sampling.hidden_from, -1);
    assert_true(sampling.rate == 1);
    assert_true(sampling.weight_max == 1);
    weights[100] = -5;
    assert_int_equal(sampler->draw(host.self, plain_call(&host), &draw, weights), DPF_OK);
    for (int i = 0; i < 100; i++)
        assert_true(weights[i] == 1);
    assert_true(weights[100] == -5);
    plain_close(&host);
}
