/* SPDX-License-Identifier: Apache-2.0 */
/* An aggregator that averages, and one that needs whole messages (as secure aggregation does). */
#include "stateless.h"

static dpf_status absorb(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_encoded *message)
{
    (void)self;
    (void)call;
    for (int64_t r = 0; r < message->n_rows; r++) {
        int64_t row = message->rows ? message->rows[r] : message->first_row + r;
        for (int32_t c = 0; c < message->width; c++)
            into->sums[row * into->width + c] += message->values[r * message->stride + c];
    }
    into->survivors++;
    return DPF_OK;
}

static double one_over_n(void *self, int64_t survivors)
{
    (void)self;
    return survivors > 0 ? 1.0 / (double)survivors : 1.0;
}

static double one(void *self, int64_t survivors)
{
    (void)self;
    (void)survivors;
    return 1.0;
}

static const dpf_aggregator mean = {
    .sees = DPF_SEES_MESSAGES, .flags = DPF_AGGREGATOR_BY_ROWS, .absorb = absorb, .scale = one_over_n};
/* Without merge: one worker, in the order of parties. */
static const dpf_aggregator whole = {
    .sees = DPF_SEES_SUM, .flags = DPF_AGGREGATOR_DENSE, .absorb = absorb, .scale = one};

#define AGGREGATOR(NAME, ID, FUNCTIONS)                                                                      \
    static const dpf_component NAME = {                                                                      \
        .size = sizeof(dpf_component),                                                                       \
        .role = DPF_ROLE_AGGREGATOR,                                                                         \
        .id = ID,                                                                                            \
        .version = "1.0.0",                                                                                  \
        .summary = "For tests of the engine",                                                                \
        .citation = "",                                                                                      \
        .param_stride = sizeof(dpf_param),                                                                   \
        .create = stateless_create,                                                                          \
        .destroy = stateless_destroy,                                                                        \
        .functions = &(FUNCTIONS),                                                                           \
    }
AGGREGATOR(mean_component, "test-mean", mean);
AGGREGATOR(whole_component, "test-whole", whole);

static const dpf_component *const components[] = {&mean_component, &whole_component};
static const dpf_plugin plugin = {
    DPF_PLUGIN_MAGIC, sizeof(dpf_plugin), 0,         2, "org.dpframe.test-aggregators",
    "1.0.0",          "Apache-2.0",       components};
DPF_PLUGIN_ENTRY(plugin)
