/* SPDX-License-Identifier: Apache-2.0 */
/* Weights follow the counts of a public column, lie in (0, 1], and depend on nothing else. */
#include "kit/plain_host.h"

#define ITEMS 6
#define RECORDS 12

static const dpf_component *component;

/* Two columns, a category before the count; the last item has no count, and item 1 a negative one. */
static const dpf_feature_column columns[] = {
    {.name = "genre=Drama", .kind = DPF_FEATURE_CATEGORY, .deviation = 1},
    {.name = "score", .kind = DPF_FEATURE_NUMBER, .field = 1, .deviation = 1},
};
static const int64_t offsets[ITEMS + 1] = {0, 2, 3, 4, 6, 7, 8};
static const int32_t at[] = {0, 1, 1, 1, 0, 1, 1, 0};
static const float values[] = {1, 30, -4, 0, 1, 1e6F, 10, 1};
static const double counts[ITEMS] = {30, 0, 0, 1e6, 10, 0};
static const dpf_features features = {.size = sizeof features,
                                      .n_fields = 2,
                                      .rows = ITEMS,
                                      .columns = 2,
                                      .offsets = offsets,
                                      .at = at,
                                      .values = values,
                                      .column = columns};

static int32_t users[RECORDS], items[RECORDS];

static dpf_draw records(const dpf_features *of_items)
{
    for (int i = 0; i < RECORDS; i++) {
        users[i] = i / ITEMS;
        items[i] = (5 * i + 2) % ITEMS;
    }
    return (dpf_draw){.size = sizeof(dpf_draw),
                      .level = DPF_LEVEL_RECORD,
                      .n = RECORDS,
                      .users = users,
                      .items = items,
                      .item_features = of_items};
}

static dpf_status draw(struct plain_host *host, const dpf_draw *what, float *weights)
{
    const dpf_sampler *sampler = component->functions;
    plain_clear(host);
    return sampler->draw(host->self, plain_call(host), what, weights);
}

TEST(weights_follow_counts)
{
    struct plain_host host;
    float weights[RECORDS];
    const dpf_sampler *sampler = component->functions;
    const dpf_draw what = records(&features);
    dpf_sampling sampling = {.kind = 99};
    plain_open(&host, component, "exponent=0.5; offset=10");
    assert_int_equal(sampler->level, DPF_LEVEL_RECORD);
    assert_int_equal(sampler->describe(host.self, &sampling), DPF_OK);
    assert_int_equal(sampling.kind, DPF_SAMPLING_NONE);
    assert_int_equal(sampling.hidden_from, -1);
    assert_true(sampling.weight_max == 1);
    assert_int_equal(draw(&host, &what, weights), DPF_OK);
    for (int i = 0; i < RECORDS; i++) {
        const double expected = 1 / sqrt(1 + counts[items[i]] / 10);
        assert_true(fabs((double)weights[i] / expected - 1) < 1e-6);
        assert_true(weights[i] <= 1);
    }
    plain_close(&host);
    plain_open(&host, component, "exponent=0");
    assert_int_equal(draw(&host, &what, weights), DPF_OK);
    for (int i = 0; i < RECORDS; i++)
        assert_true(weights[i] == 1);
    plain_close(&host);
    /* However steep, a record keeps a weight. */
    plain_open(&host, component, "exponent=4; offset=1e-30");
    assert_int_equal(draw(&host, &what, weights), DPF_OK);
    for (int i = 0; i < RECORDS; i++)
        assert_true(weights[i] > 0);
    plain_close(&host);
}

TEST(refusals_and_memory)
{
    struct plain_host host;
    float weights[RECORDS];
    dpf_draw what = records(&features);
    plain_open(&host, component, "column=counts");
    assert_int_equal(draw(&host, &what, weights), DPF_E_CONFIG);
    plain_close(&host);
    plain_open(&host, component, "column=genre=Drama"); /* a category is no count */
    assert_int_equal(draw(&host, &what, weights), DPF_E_CONFIG);
    plain_close(&host);
    plain_open(&host, component, "");
    what.item_features = NULL;
    assert_int_equal(draw(&host, &what, weights), DPF_E_CONFIG);
    what.size = offsetof(dpf_draw, item_features); /* of a host that knows no features here */
    what.item_features = &features;
    assert_int_equal(draw(&host, &what, weights), DPF_E_CONFIG);
    what = records(&features);
    what.level = DPF_LEVEL_PARTY;
    assert_int_equal(draw(&host, &what, weights), DPF_E_UNSUPPORTED);
    plain_close(&host);
    plain_check_memory(component, "");
}

static int setup(void **state)
{
    (void)state;
    component = plain_component("count-weights", DPF_ROLE_SAMPLER, "count-weights");
    return 0;
}

FIXTURE(setup, NULL)
