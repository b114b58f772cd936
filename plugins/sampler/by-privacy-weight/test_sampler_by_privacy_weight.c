/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_host.h"

static const dpf_component *component;
static const dpf_sampler *sampler;
static const float given[] = {0.25F, 0.5F, 0.99999994F, 1, 1, 2, 0};
#define N 7

static dpf_status draw_all(struct plain_host *host, const float *privacy_weights, float *out)
{
    static const int32_t ids[N] = {0, 1, 2, 3, 4, 5, 6};
    dpf_draw draw = {.size = sizeof(draw),
                     .level = DPF_LEVEL_RECORD,
                     .n = N,
                     .users = ids,
                     .items = ids,
                     .privacy_weights = privacy_weights};
    return sampler->draw(host->self, plain_call(host), &draw, out);
}

/* Ranges that meet divide the records: each is in one term, none is in both. */
TEST(ranges_that_meet_divide_the_records)
{
    struct plain_host sensitive, open;
    float first[N], second[N];
    plain_open(&sensitive, component, "below=1");
    plain_open(&open, component, "from=1");
    assert_int_equal(draw_all(&sensitive, given, first), DPF_OK);
    assert_int_equal(draw_all(&open, given, second), DPF_OK);
    for (int i = 0; i < N; i++) {
        assert_true(first[i] == (given[i] < 1 ? 1 : 0));
        assert_true(first[i] + second[i] == 1);
    }
    assert_int_equal(draw_all(&open, NULL, second), DPF_OK); /* without weights all weigh 1 */
    assert_int_equal(draw_all(&sensitive, NULL, first), DPF_OK);
    for (int i = 0; i < N; i++) {
        assert_true(second[i] == 1);
        assert_true(first[i] == 0);
    }
    plain_close(&sensitive);
    plain_close(&open);
}

TEST(nothing_is_amplified)
{
    struct plain_host host;
    dpf_sampling sampling = {0};
    plain_open(&host, component, "from=0.25; below=0.5");
    assert_int_equal(sampler->describe(host.self, &sampling), DPF_OK);
    assert_int_equal(sampling.kind, DPF_SAMPLING_WEIGHTED);
    assert_int_equal(sampling.hidden_from, -1);
    assert_true(sampling.rate == 1);
    assert_true(sampling.weight_max == 1);
    assert_int_equal(sampler->lifetime(host.self), DPF_LIFETIME_RUN);
    plain_close(&host);
}

TEST(nonsense_is_refused)
{
    struct plain_host host;
    float out[N], bad[N];
    plain_init(&host, component);
    assert_int_equal(plain_create(&host, "from=1; below=1"), DPF_E_CONFIG);
    plain_close(&host);
    for (int i = 0; i < 2; i++) {
        plain_open(&host, component, "");
        memcpy(bad, given, sizeof(bad));
        bad[3] = i ? NAN : -1;
        assert_int_equal(draw_all(&host, bad, out), DPF_E_RANGE);
        plain_close(&host);
    }
    dpf_draw draw = {.size = sizeof(draw), .level = DPF_LEVEL_PARTY, .n = 1};
    plain_open(&host, component, "");
    assert_int_equal(sampler->draw(host.self, plain_call(&host), &draw, out), DPF_E_UNSUPPORTED);
    plain_close(&host);
    plain_check_memory(component, "");
}

static int setup(void **state)
{
    (void)state;
    component = plain_component("by-privacy-weight", DPF_ROLE_SAMPLER, "by-privacy-weight");
    sampler = component->functions;
    return 0;
}

FIXTURE(setup, NULL)
