/* SPDX-License-Identifier: Apache-2.0 */
/* The aggregator "sum", with one fault each. */
#include "faults.h"

#include "../../plugins/aggregator/adding/adding.c"

#include "../../plugins/aggregator/adding/adding_exchange.c"

#include "../../plugins/aggregator/sum/plain_sum.c"

/* One party of fifty is not in the sum, though it is counted. */
static dpf_status drops_one(void *self, const dpf_call *call, dpf_aggregation *into,
                            const dpf_encoded *message)
{
    dpf_encoded nobody = *message;
    if (call->party % 50 != 49)
        return adding_absorb(self, call, into, message);
    nobody.n_rows = 0;
    return adding_absorb(self, call, into, &nobody);
}

/* One party of fifty is in the sum twice. */
static dpf_status one_twice(void *self, const dpf_call *call, dpf_aggregation *into,
                            const dpf_encoded *message)
{
    const dpf_status status = adding_absorb(self, call, into, message);
    if (status != DPF_OK || call->party % 50 != 49)
        return status;
    into->survivors--;
    return adding_absorb(self, call, into, message);
}

/* Numbers beyond 32 bits lose their upper part. */
static dpf_status cuts_numbers(void *self, const dpf_call *call, dpf_aggregation *into,
                               const dpf_encoded *message)
{
    const dpf_status status = adding_absorb(self, call, into, message);
    for (int64_t i = 0; status == DPF_OK && i < into->rows * into->width; i++)
        into->sums[i] = (int32_t)(uint32_t)(uint64_t)into->sums[i];
    return status;
}

/* The first row gets a number that nobody has sent. */
static dpf_status adds_its_own(void *self, const dpf_call *call, dpf_aggregation *into,
                               const dpf_encoded *message)
{
    const dpf_status status = adding_absorb(self, call, into, message);
    if (status == DPF_OK && into->survivors == 1)
        into->sums[0] += INT64_C(1) << 30;
    return status;
}

/* The sum holds a part of each earlier one. */
static int64_t left_over;
static dpf_status keeps_the_last(void *self, const dpf_call *call, dpf_aggregation *into,
                                 const dpf_encoded *message)
{
    const dpf_status status = adding_absorb(self, call, into, message);
    if (status != DPF_OK)
        return status;
    if (into->survivors == 1)
        into->sums[0] += left_over;
    left_over = into->sums[0] / 2 + 12345678;
    return DPF_OK;
}

/* Later messages count less: the order matters. */
static dpf_status by_order(void *self, const dpf_call *call, dpf_aggregation *into,
                           const dpf_encoded *message)
{
    const dpf_status status = adding_absorb(self, call, into, message);
    for (int64_t i = 0; status == DPF_OK && i < into->rows * into->width; i++)
        into->sums[i] -= into->sums[i] / 64;
    return status;
}

/* The second row's numbers are in the first row, too. */
static dpf_status mixes_rows(void *self, const dpf_call *call, dpf_aggregation *into,
                             const dpf_encoded *message)
{
    dpf_encoded second = *message;
    const dpf_status status = adding_absorb(self, call, into, message);
    if (status != DPF_OK || message->rows || message->n_rows < 2)
        return status;
    second.values += message->stride;
    second.n_rows = 1;
    into->survivors--;
    return adding_absorb(self, call, into, &second);
}

#define AGGREGATOR(ABSORB, SCALE)                                                                            \
    {                                                                                                        \
        .sees = DPF_SEES_MESSAGES, .absorb = (ABSORB), .merge = adding_merge, .scale = (SCALE)               \
    }
static const dpf_aggregator tables[] = {AGGREGATOR(drops_one, scale),      AGGREGATOR(one_twice, scale),
                                        AGGREGATOR(cuts_numbers, scale),   AGGREGATOR(adds_its_own, scale),
                                        AGGREGATOR(keeps_the_last, scale), AGGREGATOR(by_order, scale),
                                        AGGREGATOR(mixes_rows, scale)};
#define SPOILT(NAME, I) FAULT_COMPONENT(NAME, DPF_ROLE_AGGREGATOR, &tables[I], NULL, 0, NULL, 0)
static const dpf_component faults[] = {SPOILT("sum-drops-one", 0),      SPOILT("sum-one-twice", 1),
                                       SPOILT("sum-cuts-numbers", 2),   SPOILT("sum-adds-its-own", 3),
                                       SPOILT("sum-keeps-the-last", 4), SPOILT("sum-by-order", 5),
                                       SPOILT("sum-mixes-rows", 6)};
SEVEN_FAULTS("aggregator")
