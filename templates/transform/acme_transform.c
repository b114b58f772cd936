/* SPDX-License-Identifier: Apache-2.0 */
/* acme_transform.c - clips every number of a factor row to [-bound, bound], as the loss reads it. */
#include <math.h>

#include "dpframe/dpframe.h"

static const dpf_param params[] = {
    DPF_PARAM_REAL_F("bound", 1.0, 0.0, 1e18, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                     "Largest absolute value."),
};

struct clip_box {
    double bound;
};

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    struct clip_box *box = *self;
    (void)host;
    box->bound = values->values[0].real;
    return DPF_OK;
}

static dpf_status set_bounds(void *self, dpf_bounds *bounds)
{
    const struct clip_box *box = self;
    if (bounds->from_data) /* maxima over private data: replaced, even where they are smaller */
        bounds->other_l1 = bounds->other_l2 = bounds->other_linf = (double)INFINITY;
    bounds->other_linf = fmin(bounds->other_linf, box->bound);
    bounds->other_l2 = fmin(bounds->other_l2, box->bound * sqrt(bounds->dimension));
    bounds->other_l1 = fmin(bounds->other_l1, box->bound * bounds->dimension);
    return DPF_OK;
}

static dpf_status factors(void *self, const dpf_call *call, float *rows, int64_t count, int64_t stride,
                          int32_t first, int32_t cols)
{
    const struct clip_box *box = self;
    const float bound = nextafterf((float)box->bound, 0); /* rounding to float must not exceed the bound */
    for (int64_t r = 0; r < count; r++)
        for (float *x = rows + r * stride + first; x < rows + r * stride + first + cols; x++) {
            if (!isfinite(*x))
                return call->host->fail(call->host, DPF_E_NUMERIC, -1, "a factor is not finite");
            *x = fminf(fmaxf(*x, -bound), bound);
        }
    return DPF_OK;
}

static const dpf_transform functions = {DPF_TRANSFORM_FACTOR, 0, set_bounds, .factors = factors};

DPF_COMPONENT(component, DPF_ROLE_TRANSFORM, functions, .id = "acme-transform", .version = "1.0.0",
              .summary = "Clips every number of a row to a box", .citation = "", DPF_PARAMS(params),
              .create = create, .instance_bytes = sizeof(struct clip_box))

DPF_SINGLE_COMPONENT_PLUGIN("com.acme.transform", "1.0.0", "Apache-2.0", component)
