/* SPDX-License-Identifier: Apache-2.0 */
/* A message transform that changes the number of rows: one row of zeros before, two after. */
#include "stateless.h"

static dpf_status rows(void *self, int64_t rows_in, int64_t *rows_out)
{
    (void)self;
    *rows_out = rows_in + 3;
    return DPF_OK;
}

static dpf_status copy(const dpf_call *call, const dpf_message *in, dpf_message *out, int64_t shift,
                       int64_t n)
{
    if (in->rows || out->rows || in->width != out->width || in->values == out->values)
        return call->host->fail(call->host, DPF_E_INTERNAL, -1, "rows that change need two dense messages");
    for (int64_t r = 0; r < n; r++)
        memcpy(out->values + (r + (shift > 0 ? shift : 0)) * out->stride,
               in->values + (r + (shift < 0 ? -shift : 0)) * in->stride, (size_t)in->width * sizeof(double));
    return DPF_OK;
}

static dpf_status forward(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    (void)self;
    if (out->n_rows != in->n_rows + 3)
        return call->host->fail(call->host, DPF_E_INTERNAL, -1, "three rows are to be added");
    return copy(call, in, out, 1, in->n_rows);
}

static dpf_status inverse(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    (void)self;
    if (out->n_rows != in->n_rows - 3)
        return call->host->fail(call->host, DPF_E_INTERNAL, -1, "three rows are to be taken away");
    return copy(call, in, out, -1, out->n_rows);
}

static const dpf_transform functions = {
    .kind = DPF_TRANSFORM_MESSAGE, .rows = rows, .forward = forward, .inverse = inverse};

STATELESS_PLUGIN(DPF_ROLE_TRANSFORM, "test-pad", NULL, 0, functions)
