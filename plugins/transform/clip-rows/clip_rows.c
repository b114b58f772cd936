/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clip_rows.c - scales each row that a loss reads into a ball: y * min(1, C / |y|).
 *
 * Only the copy that the loss reads is scaled; the factors themselves stay as they are.
 */
#include <math.h>

#include "dpframe/dpframe.h"

enum { P_NORM, P_BOUND, P_COUNT };
enum { NORM_L2, NORM_L1 };

static const dpf_enum_value norms[] = {
    {"l2", "Euclidean norm (for Gaussian noise)"},
    {"l1", "sum of absolute values (for Laplace noise, and the Poisson binomial mechanism)"},
};

/* The least bound keeps the underflow of float32 far below the slack of clip_row. */
static const dpf_param params[P_COUNT] = {
    [P_NORM] = DPF_PARAM_ENUM_F("norm", NORM_L2, norms, DPF_PARAM_PRIVACY, "The norm that is bounded."),
    [P_BOUND] = DPF_PARAM_REAL_F("bound", 1.0, 1e-20, 1e18, DPF_PARAM_PRIVACY, "",
                                 "C, the largest norm of a row as the loss reads it."),
};

struct clip_rows {
    int64_t norm;
    double bound;
};

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    (void)host;
    struct clip_rows *clip = *self;
    clip->norm = values->values[P_NORM].integer;
    clip->bound = values->values[P_BOUND].real;
    return DPF_OK;
}

/*
 * The bound that holds after the clip. A bound that is a maximum over private data must not survive,
 * even if it is the smaller one: the clip replaces it by a constant.
 */
static double tightened(const dpf_bounds *bounds, double before, double clip)
{
    return bounds->from_data ? clip : fmin(before, clip);
}

static dpf_status set_bounds(void *self, dpf_bounds *bounds)
{
    const struct clip_rows *clip = self;
    const double c = clip->bound;
    /* |y|_inf <= |y|_2 <= |y|_1 <= sqrt(d) |y|_2 */
    const double l1 = clip->norm == NORM_L1 ? c : sqrt((double)bounds->dimension) * c;

    bounds->other_l1 = tightened(bounds, bounds->other_l1, l1);
    bounds->other_l2 = tightened(bounds, bounds->other_l2, c);
    bounds->other_linf = tightened(bounds, bounds->other_linf, c);
    return DPF_OK;
}

static double row_norm(const float *row, int32_t n, int64_t norm)
{
    double sum = 0.0;

    for (int32_t i = 0; i < n; i++) {
        const double x = (double)row[i];
        sum += norm == NORM_L1 ? fabs(x) : x * x; /* squares of floats do not overflow a double */
    }
    return norm == NORM_L1 ? sum : sqrt(sum);
}

/*
 * After scaling the exact norm is at most C: the computed norm is low by at most n 2^-53 (n < 2^20),
 * and rounding a product to float raises a coordinate by at most 2^-24, so shrinking by 2^-22 covers
 * both. A row within C (1 - 2^-30) is inside whatever its norm's rounding, and is left untouched.
 */
static dpf_status clip_row(const struct clip_rows *clip, float *row, int32_t n)
{
    const double norm = row_norm(row, n, clip->norm);

    if (!isfinite(norm)) {
        return DPF_E_NUMERIC;
    }
    if (norm > clip->bound * (1.0 - 0x1p-30)) {
        const double scale = fmin(1.0, clip->bound / norm) * (1.0 - 0x1p-22);
        for (int32_t i = 0; i < n; i++) {
            row[i] = (float)(scale * (double)row[i]);
        }
    }
    return DPF_OK;
}

static dpf_status factors(void *self, const dpf_call *call, float *rows, int64_t count, int64_t stride,
                          int32_t first, int32_t cols)
{
    const struct clip_rows *clip = self;

    for (int64_t r = 0; r < count; r++) {
        if (clip_row(clip, rows + r * stride + first, cols) != DPF_OK) {
            return call->host->fail(
                call->host, DPF_E_NUMERIC, -1,
                "a factor row is not finite: the training has diverged; lower the rate of "
                "the other side's solver");
        }
    }
    return DPF_OK;
}

static const dpf_transform functions = {
    .kind = DPF_TRANSFORM_FACTOR,
    .bounds = set_bounds,
    .factors = factors,
};

DPF_COMPONENT(
    component, DPF_ROLE_TRANSFORM, functions, .id = "clip-rows", .version = "1.0.0",
    .summary = "Clips the rows that the loss reads to a norm, which bounds every record's gradient",
    .citation =
        "Abadi et al., Deep learning with differential privacy (CCS 2016), gradient clipping, for rows",
    DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct clip_rows))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.clip-rows", "1.0.0", "Apache-2.0", component)
