/* SPDX-License-Identifier: Apache-2.0 */
/* What mean adds to sum: the scale. That both add alike is seen on messages of either sign. */
#include "kit/plain_host.h"

#define N 6
#define PARTIES 5

static const dpf_aggregator *open_component(struct plain_host *host, const char *id)
{
    plain_open(host, plain_component(id, DPF_ROLE_AGGREGATOR, id), "");
    return host->component->functions;
}

static dpf_aggregation aggregate(struct plain_host *host, int64_t (*values)[N], int64_t *sums)
{
    const dpf_aggregator *functions = host->component->functions;
    dpf_aggregation into = {.size = sizeof(into),
                            .width = 2,
                            .rows = N / 2,
                            .n_parties = PARTIES,
                            .sums = memset(sums, 0, N * sizeof(int64_t))};
    for (int32_t p = 0; p < PARTIES; p++) {
        const dpf_encoded message = {.size = sizeof(message),
                                     .width = 2,
                                     .n_rows = N / 2,
                                     .total_rows = N / 2,
                                     .values = values[p],
                                     .stride = 2};
        assert_int_equal(functions->absorb(host->self, plain_call(host), &into, &message), DPF_OK);
    }
    return into;
}

TEST(the_mean_of_messages)
{
    struct plain_host mean;
    int64_t values[PARTIES][N], sums[N];
    const dpf_aggregator *functions = open_component(&mean, "mean");
    for (int32_t p = 0; p < PARTIES; p++)
        for (int32_t i = 0; i < N; i++)
            values[p][i] = (p - 2) * 1000 + 7 * i;
    const dpf_aggregation into = aggregate(&mean, values, sums);
    assert_int_equal(into.survivors, PARTIES);
    for (int32_t i = 0; i < N; i++)
        assert_true(fabs((double)sums[i] * functions->scale(mean.self, into.survivors) - 7 * i) < 1e-9);
    assert_true(functions->scale(mean.self, 1) == 1.0);
    assert_true(functions->scale(mean.self, 0) == 0.0); /* nobody: nothing, not a division by zero */
    assert_int_equal(functions->sees, DPF_SEES_MESSAGES);
    assert_int_equal(functions->flags, DPF_AGGREGATOR_BY_ROWS | DPF_AGGREGATOR_ADDS);
    plain_close(&mean);
}

TEST(memory)
{
    plain_check_memory(plain_component("mean", DPF_ROLE_AGGREGATOR, "mean"), "");
}
