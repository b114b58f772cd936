/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretch.c - each rating's distance from a centre, 0 as published, is multiplied by its privacy weight W in
 * (0, 1], and a prediction's divided by it.
 *
 * Why: noise for ratings that change by at most D protects a stretched rating, which changes by W D only,
 * with W epsilon (Alaggan, Gambs, Kermarrec, "Heterogeneous differential privacy"; Hu, Fang, Theorem 2).
 * Dividing at prediction brings the scale of ratings back (Algorithm 1, lines 13-17 of the latter).
 *
 * A value r in [lo, hi] becomes c + W (r - c), which lies between the smaller of lo and c and the larger of
 * hi and c. Replacing r by r' moves it by W |r - r'| <= hi - lo. It is computed in float64 and rounded to
 * float32, which moves each of the two by at most 2^-24 of the largest magnitude; twice as much is added.
 */
#include <math.h>

#include "dpframe/dpframe.h"

enum { P_RESCALE, P_CENTER, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_RESCALE] =
        DPF_PARAM_BOOL_F("rescale", 1, 0,
                         "Divide predictions by the weight. Without, they have the scale of stretched "
                         "ratings."),
    [P_CENTER] =
        DPF_PARAM_REAL_F("center", 0.0, -1e6, 1e6, 0, "",
                         "The value that stretching leaves in place; the model's offset, if it has one."),
};

struct stretch {
    int64_t rescale;
    double center;
};

static dpf_status stretch_create(const dpf_host *host, const dpf_params *values, void **self)
{
    (void)host;
    struct stretch *stretch = *self;
    stretch->rescale = values->values[P_RESCALE].integer;
    stretch->center = values->values[P_CENTER].real;
    return DPF_OK;
}

static dpf_status stretch_bounds(void *self, dpf_bounds *bounds)
{
    double center = ((const struct stretch *)self)->center;
    double change = bounds->value_change > 0 ? bounds->value_change : bounds->value_hi - bounds->value_lo;
    bounds->value_lo = fmin(bounds->value_lo, center);
    bounds->value_hi = fmax(bounds->value_hi, center);
    bounds->value_change = change + 0x1p-22 * fmax(fabs(bounds->value_lo), fabs(bounds->value_hi));
    return DPF_OK;
}

static dpf_status refuse(const dpf_call *call)
{
    return call->host->fail(
        call->host, DPF_E_PRIVACY, -1,
        "a privacy weight is not above 0 and at most 1: stretching by it would let a rating move "
        "the result further than the noise allows for; scale the weights");
}

static dpf_status stretch_records(void *self, const dpf_call *call, const dpf_records *records, float *values)
{
    double center = ((const struct stretch *)self)->center;
    for (int64_t i = 0; records->privacy_weights && i < records->n; i++) {
        float weight = records->privacy_weights[i];
        if (!(weight > 0 && weight <= 1))
            return refuse(call);
        values[i] = (float)(center + (double)weight * ((double)values[i] - center));
    }
    return DPF_OK;
}

static dpf_status stretch_predictions(void *self, const dpf_call *call, const dpf_records *records,
                                      double *scores)
{
    const struct stretch *stretch = self;
    for (int64_t i = 0; stretch->rescale && records->privacy_weights && i < records->n; i++) {
        float weight = records->privacy_weights[i];
        if (!(weight > 0 && weight <= 1))
            return refuse(call);
        scores[i] = stretch->center + (scores[i] - stretch->center) / (double)weight;
    }
    return DPF_OK;
}

static const dpf_transform functions = {
    .kind = DPF_TRANSFORM_RECORD,
    .flags = DPF_TRANSFORM_BY_WEIGHT,
    .bounds = stretch_bounds,
    .records = stretch_records,
    .predictions = stretch_predictions,
};

DPF_COMPONENT(component, DPF_ROLE_TRANSFORM, functions, .id = "stretch", .version = "1.0.0",
              .summary = "Ratings times their privacy weights, undone at prediction: heterogeneous privacy",
              .citation =
                  "Alaggan, Gambs, Kermarrec, J. Privacy and Confidentiality 7(2), 2016; Hu, Fang, arXiv "
                  "2212.00306, Eq. 3 and Algorithm 1",
              DPF_PARAMS(params), .create = stretch_create, .instance_bytes = sizeof(struct stretch))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.transform.stretch", "1.0.0", "Apache-2.0", component)
