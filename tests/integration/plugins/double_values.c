/* SPDX-License-Identifier: Apache-2.0 */
/* A record transform: values twice as large, predictions halved. */
#include "stateless.h"

static dpf_status bounds(void *self, dpf_bounds *b)
{
    (void)self;
    b->value_lo *= 2;
    b->value_hi *= 2;
    return DPF_OK;
}

static dpf_status records(void *self, const dpf_call *call, const dpf_records *r, float *values)
{
    (void)self;
    (void)call;
    for (int64_t i = 0; i < r->n; i++)
        values[i] *= 2;
    return DPF_OK;
}

static dpf_status predictions(void *self, const dpf_call *call, const dpf_records *r, double *scores)
{
    (void)self;
    (void)call;
    for (int64_t i = 0; i < r->n; i++)
        scores[i] /= 2;
    return DPF_OK;
}

static const dpf_transform functions = {
    .kind = DPF_TRANSFORM_RECORD, .bounds = bounds, .records = records, .predictions = predictions};

STATELESS_PLUGIN(DPF_ROLE_TRANSFORM, "test-double", NULL, 0, functions)
