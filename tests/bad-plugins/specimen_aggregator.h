/* SPDX-License-Identifier: Apache-2.0 */
/* specimen_aggregator.h - a plain sum. */
#ifndef DPF_TESTS_SPECIMEN_AGGREGATOR_H
#define DPF_TESTS_SPECIMEN_AGGREGATOR_H

#include "specimen_role.h"

#ifndef TERM
#define TERM(SUM, X) (X)
#endif

#ifndef FINISH
#define FINISH enough
static dpf_status enough(void *self, const dpf_call *call, dpf_aggregation *into)
{
    (void)self, (void)call;
    return into->survivors < into->least_survivors ? DPF_E_PRIVACY : DPF_OK;
}
#endif

static dpf_status absorb(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_encoded *message)
{
    (void)self, (void)call;
    for (int64_t r = 0; r < message->n_rows; r++)
        for (int32_t i = 0; i < message->width; i++) {
            int64_t row = message->rows ? message->rows[r] : message->first_row + r;
            int64_t *sum = &into->sums[row * into->width + i];
            *sum += TERM(*sum, message->values[r * message->stride + i]);
        }
    into->survivors++;
    return DPF_OK;
}

static dpf_status merge(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_aggregation *from)
{
    (void)self, (void)call;
    for (int64_t i = 0; i < into->rows * into->width; i++)
        into->sums[i] += from->sums[i];
    into->survivors += from->survivors;
    return DPF_OK;
}

static double scale(void *self, int64_t survivors)
{
    (void)self;
    return SCALE(survivors);
}

static const dpf_aggregator functions = {
    .sees = DPF_SEES_SUM, .absorb = absorb, .merge = merge, .finish = FINISH, .scale = scale};
SPECIMEN_OF(DPF_ROLE_AGGREGATOR, functions)

#endif
