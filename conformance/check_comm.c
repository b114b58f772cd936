/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of comms, for a process alone: it is rank 0 of 1, and gets back what it gave. */
#include <string.h>

#include "conformance/check_scenario.h"

enum { N = 100 };

struct alone {
    struct instance *instance;
    const dpf_comm *comm;
};

static int join(struct check *check, struct alone *alone)
{
    dpf_ranks ranks = {.size = sizeof ranks, .rank = -1};
    alone->instance = check_instance(check);
    if (!alone->instance)
        return -1;
    alone->comm = alone->instance->functions;
    if (alone->comm->open(alone->instance->self, &ranks) != DPF_OK)
        return check_skip(check, "there is nothing to join here");
    if (ranks.rank != 0 || ranks.ranks != 1 || ranks.near != 1)
        return check_fail(check, "a process alone is rank %d of %d, %d of them near", ranks.rank, ranks.ranks,
                          ranks.near);
    return 0;
}

static void fill(struct check *check, int64_t *values)
{
    struct check_source source = {check->seed};
    for (int i = 0; i < N; i++)
        values[i] = (int64_t)check_next(&source);
    values[0] = INT64_MAX;
    values[1] = INT64_MIN;
}

static void expect_same(struct check *check, const char *call, dpf_status status, const int64_t *values,
                        const int64_t *before)
{
    if (status != DPF_OK)
        check_fail(check, "%s of one rank fails with status %d", call, (int)status);
    else if (memcmp(values, before, N * sizeof *values) != 0)
        check_fail(check, "%s of one rank changes what the rank gave", call);
}

static void rule_alone(struct check *check)
{
    static const int64_t offsets[2] = {0, N};
    int64_t values[N], before[N], moved[N] = {0};
    struct alone alone;
    if (join(check, &alone) != 0)
        return;
    void *self = alone.instance->self;
    fill(check, values);
    memcpy(before, values, sizeof values);
    expect_same(check, "sum", alone.comm->sum(self, values, N), values, before);
    expect_same(check, "reduce", alone.comm->reduce(self, values, offsets), values, before);
    expect_same(check, "gather", alone.comm->gather(self, values, sizeof *values, offsets), values, before);
    expect_same(check, "broadcast", alone.comm->broadcast(self, values, sizeof values, 0), values, before);
    expect_same(check, "exchange",
                alone.comm->exchange(self, sizeof *values, values, offsets, moved, offsets), moved, before);
    expect_same(check, "least", alone.comm->least(self, &values[2]), values, before);
    expect_same(check, "sum of nothing", alone.comm->sum(self, values, 0), values, before);
}

static const struct check_rule rules[] = {
    {"comm.alone", DPF_ROLE_COMM, rule_alone,
     "one rank is rank 0 of 1, and every call gives back what it gave"},
};
const struct check_rules check_comm_rules = CHECK_RULES(rules);
