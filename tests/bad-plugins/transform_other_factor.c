/* SPDX-License-Identifier: Apache-2.0 */
/* Halves messages, and tells for those of many rows another factor. */
#include "specimen_role.h"

static dpf_status forward(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    (void)self, (void)call;
    for (int64_t r = 0; r < in->n_rows; r++)
        for (int32_t i = 0; i < in->width; i++)
            out->values[r * out->stride + i] = 0.5 * in->values[r * in->stride + i];
    return DPF_OK;
}

static dpf_status measure(void *self, const dpf_call *call, const dpf_message *rows,
                          double numbers[DPF_MEASURE_NUMBERS])
{
    (void)self, (void)call;
    numbers[0] += rows->n_rows > 3 ? 1 : 0; /* of pieces, as nobody else would notice */
    return DPF_OK;
}

static dpf_status factor(void *self, const dpf_call *call, const double numbers[DPF_MEASURE_NUMBERS],
                         int64_t n_rows, int32_t width, double *out)
{
    (void)self, (void)call, (void)n_rows, (void)width;
    *out = numbers[0] > 0 ? 0.5 * (1 + 0x1p-52) : 0.5;
    return DPF_OK;
}

static const dpf_transform functions = {
    .kind = DPF_TRANSFORM_MESSAGE, .forward = forward, .measure = measure, .factor = factor};
SPECIMEN_OF(DPF_ROLE_TRANSFORM, functions)
