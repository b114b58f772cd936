/* SPDX-License-Identifier: Apache-2.0 */
/*
 * squared_error_kernels.c - the inner loops: one dot product and one scaled addition for each record.
 *
 * A record's derivative is w * factor * (e * y + lambda * x), e = <x, y> + offset - r clipped, where the
 * dot product runs over all columns and the derivative over the unknown ones.
 *
 * The loops are plain C whose lanes are written out, so that a compiler vectorises them without
 * reordering a sum. Every variant therefore gives the same bytes, on any x86-64 and elsewhere.
 */
#include <math.h>

#include "squared_error.h"

#define LANES 8
#define INLINE static inline __attribute__((always_inline))

/* Products of two floats are exact in double, so only the additions round. */
INLINE double dot_exact(const float *a, const float *b, int32_t n)
{
    double lane[LANES] = {0};
    int32_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            lane[l] += (double)a[i + l] * (double)b[i + l];
        }
    }
    for (int l = 0; i < n; i++, l++) {
        lane[l] += (double)a[i] * (double)b[i];
    }
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

INLINE float dot_local(const float *a, const float *b, int32_t n)
{
    float lane[LANES] = {0};
    int32_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            lane[l] += a[i + l] * b[i + l];
        }
    }
    for (int l = 0; i < n; i++, l++) {
        lane[l] += a[i] * b[i];
    }
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

/* out += t * y + w * reg, each term on the grid (see dpf_on_grid; the branch is taken outside). */
INLINE void add_exact(double *restrict out, const float *restrict y, const double *restrict reg, double t,
                      double w, double magic, int32_t n)
{
    if (reg && magic > 0) {
        for (int32_t i = 0; i < n; i++) {
            out[i] += ((t * (double)y[i] + w * reg[i]) + magic) - magic;
        }
    } else if (reg) {
        for (int32_t i = 0; i < n; i++) {
            out[i] += t * (double)y[i] + w * reg[i];
        }
    } else if (magic > 0) {
        for (int32_t i = 0; i < n; i++) {
            out[i] += (t * (double)y[i] + magic) - magic;
        }
    } else {
        for (int32_t i = 0; i < n; i++) {
            out[i] += t * (double)y[i];
        }
    }
}

INLINE void add_local(float *restrict out, const float *restrict y, const float *restrict reg, float t,
                      float w, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        out[i] += t * y[i];
    }
    if (reg) {
        for (int32_t i = 0; i < n; i++) {
            out[i] += w * reg[i];
        }
    }
}

/* Rows of the other side are far apart: ask for those of a record that comes soon. */
#define AHEAD 6
INLINE void fetch_ahead(const dpf_groups *groups, int64_t record, int64_t end)
{
    if (record + AHEAD < end) {
        const int32_t other = groups->others[record + AHEAD];
        __builtin_prefetch(dpf_row(groups->other, other));
        __builtin_prefetch(dpf_row(groups->residual, other));
    }
}

INLINE int exact_rows(const struct squared_error_task *task, int64_t first, int64_t count, double *reg,
                      double *out)
{
    const struct squared_error *loss = task->loss;
    const dpf_groups *groups = task->groups;
    const int32_t d = task->query->dimension;
    const int32_t unknown = task->query->first;
    const double magic = 6755399441055744.0 * task->grid; /* as in dpf_on_grid */
    const double clip = loss->clip;
    int bad = 0;

    for (int64_t g = first; g < first + count; g++) {
        const float *x = dpf_row(groups->self, groups->rows[g]);
        double *row = out + g * task->stride;
        const int64_t end = groups->offsets[g + 1];
        for (int32_t i = 0; i < d; i++) {
            row[i] = 0.0;
        }
        for (int32_t i = 0; reg && i < d; i++) {
            reg[i] = loss->factor * loss->lambda * (double)x[unknown + i];
        }
        for (int64_t k = groups->offsets[g]; k < end; k++) {
            const int32_t other = groups->others[k];
            const double w = groups->weights ? (double)groups->weights[k] : 1.0;
            const double value = groups->values ? (double)groups->values[k] : 1.0;
            fetch_ahead(groups, k, end);
            double e = dot_exact(x, dpf_row(groups->residual, other), groups->self->cols);
            e = (e + groups->offset) - value;
            bad |= w != 0.0 && !(clip < INFINITY) && !(fabs(e) <= RESIDUAL_LIMIT);
            e = e > clip ? clip : e < -clip ? -clip : e;
            add_exact(row, dpf_row(groups->other, other) + unknown, reg, loss->factor * w * e, w, magic, d);
        }
    }
    return bad;
}

INLINE int local_rows(const struct squared_error_task *task, int64_t first, int64_t count, float *reg,
                      float *out)
{
    const struct squared_error *loss = task->loss;
    const dpf_groups *groups = task->groups;
    const int32_t d = task->query->dimension;
    const int32_t unknown = task->query->first;
    const float clip = (float)loss->clip;
    const float factor = (float)loss->factor;
    const float offset = (float)groups->offset;

    for (int64_t g = first; g < first + count; g++) {
        const float *x = dpf_row(groups->self, groups->rows[g]);
        float *row = out + g * task->stride;
        const int64_t end = groups->offsets[g + 1];
        for (int32_t i = 0; i < d; i++) {
            row[i] = 0.0F;
        }
        for (int32_t i = 0; reg && i < d; i++) {
            reg[i] = factor * (float)loss->lambda * x[unknown + i];
        }
        for (int64_t k = groups->offsets[g]; k < end; k++) {
            const int32_t other = groups->others[k];
            const float w = groups->weights ? groups->weights[k] : 1.0F;
            const float value = groups->values ? groups->values[k] : 1.0F;
            fetch_ahead(groups, k, end);
            float e = dot_local(x, dpf_row(groups->residual, other), groups->self->cols);
            e = (e + offset) - value;
            e = e > clip ? clip : e < -clip ? -clip : e;
            add_local(row, dpf_row(groups->other, other) + unknown, reg, factor * w * e, w, d);
        }
    }
    return 0;
}

#define SIMD_TEMPLATE "squared_error_loops.h"
#include "each_kind.h"

squared_error_exact_kernel *squared_error_find_exact(int wanted)
{
    const int kind = simd_choose(wanted);
    return SIMD_PICK(kind, exact_rows);
}

/* Eight floats fill 256 bits; compilers make nothing good of them in wider registers. */
squared_error_local_kernel *squared_error_find_local(int wanted)
{
    int kind = simd_choose(wanted);
    if (wanted == SIMD_KIND_AUTO && kind == SIMD_KIND_AVX512)
        kind = SIMD_KIND_AVX2;
    return SIMD_PICK(kind, local_rows);
}
