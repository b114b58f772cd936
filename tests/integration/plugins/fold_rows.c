/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state transform: the sparse projection onto p rows in which row i goes to row i mod p, with sign
 * (-1)^(i / p). A record touches one row before and after, so no norm changes.
 */
#include "stateless.h"

static const dpf_param params[] = {
    DPF_PARAM_INT_F("rows", 2, 1, 1000, 0, "rows", "Rows of the projected space.")};

static double sign(const struct stateless *self, int64_t i)
{
    return i / self->first % 2 ? -1.0 : 1.0;
}

static dpf_status rows(void *self, int64_t rows_in, int64_t *rows_out)
{
    (void)rows_in;
    *rows_out = ((struct stateless *)self)->first;
    return DPF_OK;
}

static dpf_status sensitivity(void *self, const dpf_query *query, int64_t rows_in, dpf_sensitivity *blocks,
                              dpf_sensitivity *gram, const dpf_joint_norms *before, dpf_joint_norms *after)
{
    (void)self;
    (void)query;
    (void)rows_in;
    (void)blocks;
    (void)gram;
    (void)before;
    (void)after;
    return DPF_OK;
}

static dpf_status project(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    const struct stateless *fold = self;
    if (in->rows || out->rows || out->n_rows != fold->first)
        return call->host->fail(call->host, DPF_E_INTERNAL, -1, "project needs dense messages");
    for (int64_t r = 0; r < out->n_rows; r++)
        memset(out->values + r * out->stride, 0, (size_t)out->width * sizeof(double));
    for (int64_t i = 0; i < in->n_rows; i++)
        for (int32_t c = 0; c < in->width; c++)
            out->values[i % fold->first * out->stride + c] += sign(fold, i) * in->values[i * in->stride + c];
    return DPF_OK;
}

static dpf_status adjoint(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    const struct stateless *fold = self;
    (void)call;
    for (int64_t i = 0; i < out->n_rows; i++)
        for (int32_t c = 0; c < out->width; c++)
            out->values[i * out->stride + c] = sign(fold, i) * in->values[i % fold->first * in->stride + c];
    return DPF_OK;
}

static const dpf_transform functions = {.kind = DPF_TRANSFORM_STATE,
                                        .rows = rows,
                                        .sensitivity = sensitivity,
                                        .project = project,
                                        .adjoint = adjoint};

STATELESS_PLUGIN(DPF_ROLE_TRANSFORM, "test-fold", params, 1, functions)
