/* SPDX-License-Identifier: Apache-2.0 */
/* Says that rows are clipped to norm 1, and leaves them. */
#include "specimen_role.h"

static dpf_status bounds(void *self, dpf_bounds *bounds)
{
    (void)self;
    bounds->other_l2 = 1;
    return DPF_OK;
}

static dpf_status factors(void *self, const dpf_call *call, float *rows, int64_t count, int64_t stride,
                          int32_t first, int32_t cols)
{
    (void)self, (void)call, (void)rows, (void)count, (void)stride, (void)first, (void)cols;
    return DPF_OK;
}

static const dpf_transform functions = {.kind = DPF_TRANSFORM_FACTOR, .bounds = bounds, .factors = factors};
SPECIMEN_OF(DPF_ROLE_TRANSFORM, functions)
