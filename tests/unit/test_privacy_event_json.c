/* SPDX-License-Identifier: Apache-2.0 */
/* Events come back from JSON as they were, whatever their numbers are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "privacy/event_json.h"

static int same(double a, double b)
{
    return (isnan(a) && isnan(b)) || !(a < b || a > b || isnan(a) || isnan(b));
}

static int same_norms(const dpf_norms *a, const dpf_norms *b)
{
    return same(a->l1, b->l1) && same(a->l2, b->l2) && same(a->linf, b->linf);
}

static dpf_event sample(void)
{
    dpf_event e = {.kind = DPF_EVENT_SKELLAM,
                   .flags = DPF_EVENT_NOISE_SHARED | DPF_EVENT_DATA_BLIND,
                   .lifetime = 2,
                   .side = 1,
                   .count = INT64_C(1) << 50,
                   .term = 3,
                   .blocks = UINT32_MAX,
                   .round = 7,
                   .weighted = 1,
                   .scale = 0.1,
                   .grid = 0x1p-40,
                   .p = {{1.0 / 3, 1e-300, 0, -0.0, INFINITY, 5, 6, 7}},
                   .sensitivity = dpf_unstated(),
                   .unweighted = {0.1, 0.2, 0.3},
                   .sampling = {.kind = DPF_SAMPLING_POISSON,
                                .unit = DPF_UNIT_USER,
                                .hidden_from = -1,
                                .rate = 0.3,
                                .weight_max = 1,
                                .weight_from = 0.1,
                                .weight_below = 0.9,
                                .budget = 2,
                                .threshold = 3}};
    e.sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT] = (dpf_norms){M_PI, INFINITY, 1e-17};
    return e;
}

static void assert_same(const dpf_event *a, const dpf_event *b)
{
    assert_true(a->kind == b->kind);
    assert_true(a->flags == b->flags);
    assert_true(a->lifetime == b->lifetime);
    assert_true(a->side == b->side);
    assert_true(a->count == b->count);
    assert_true(a->term == b->term);
    assert_true(a->blocks == b->blocks);
    assert_true(a->round == b->round);
    assert_true(a->weighted == b->weighted);
    assert_true(same(a->scale, b->scale));
    assert_true(same(a->grid, b->grid));
    for (int i = 0; i < 8; i++)
        assert_true(same(a->p.all[i], b->p.all[i]));
    for (int u = 0; u < DPF_UNIT_ROWS; u++)
        for (int k = 0; k < DPF_ADJACENCY_ROWS; k++)
            assert_true(same_norms(&a->sensitivity.at[u][k], &b->sensitivity.at[u][k]));
    assert_true(same_norms(&a->unweighted, &b->unweighted));
    assert_memory_equal(&a->sampling, &b->sampling, sizeof a->sampling);
    assert_memory_equal(a->reserved, b->reserved, sizeof a->reserved);
}

TEST(events_come_back)
{
    const dpf_event events[] = {sample(), {.kind = DPF_EVENT_NO_OP, .sensitivity = dpf_unstated()}};
    json_t *written = events_to_json(events, 2);
    char *text = json_dumps(written, JSON_REAL_PRECISION(17));
    json_t *read = json_loads(text, 0, NULL);
    int64_t n;
    dpf_event *back = events_from_json(read, &n);
    assert_int_equal(n, 2);
    for (int i = 0; i < 2; i++)
        assert_same(&events[i], &back[i]);
    free(back);
    free(text);
    json_decref(read);
    json_decref(written);
}

TEST(other_lists_are_refused)
{
    static const char *const texts[] = {"{}", "[1]", "[[]]", "[[1,2,3]]", "[\"a\"]", "null"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int64_t n = 0;
        json_t *json = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        assert_null(events_from_json(json, &n));
        assert_int_equal(n, -1);
        json_decref(json);
    }
    const dpf_event event = sample();
    json_t *list = events_to_json(&event, 1);
    int64_t n = 0;
    json_array_set_new(json_array_get(list, 0), 0, json_string("much")); /* kind */
    assert_null(events_from_json(list, &n));
    assert_int_equal(n, -1);
    json_array_set_new(json_array_get(list, 0), 0, json_real(1e30));
    assert_null(events_from_json(list, &n));
    json_array_set_new(json_array_get(list, 0), 0, json_real(1));
    json_array_append_new(json_array_get(list, 0), json_real(1)); /* from another version */
    assert_null(events_from_json(list, &n));
    json_decref(list);
}
