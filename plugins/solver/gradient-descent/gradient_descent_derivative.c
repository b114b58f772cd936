/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient_descent_derivative.c - derivatives from both forms of a query.
 *
 * A gradient query states the derivative without the public regulariser, whose derivative is
 * ridge_constant * x. A quadratic query states the objective x'Ax - b'x + x' diag(..) x, whose
 * derivative is (A + A') x - b + 2 diag(..) x.
 */
#include "gradient_descent.h"

/* out += 2 A x for the lower triangle A[i][j], j <= i, of a symmetric matrix. */
static void add_triangle(const float *a, int64_t ld, int32_t d, const double *x, double *out)
{
    for (int32_t i = 0; i < d; i++) {
        /* ld 0: packed, where row i starts at i (i + 1) / 2 */
        const float *row = a + (ld ? i * ld : (int64_t)i * (i + 1) / 2);
        double sum = 0.0;
        for (int32_t j = 0; j < i; j++) {
            sum += (double)row[j] * x[j];
            out[j] += 2.0 * (double)row[j] * x[i];
        }
        out[i] += 2.0 * (sum + (double)row[i] * x[i]);
    }
}

/* out += (A + A') x for a full matrix, which noise may have made asymmetric. */
static void add_full(const float *a, int64_t ld, int32_t d, const double *x, double *out)
{
    for (int32_t i = 0; i < d; i++) {
        const float *row = a + i * ld;
        double sum = 0.0;
        for (int32_t j = 0; j < d; j++) {
            sum += (double)row[j] * x[j];
            out[j] += (double)row[j] * x[i];
        }
        out[i] += sum;
    }
}

static void add_quadratic(const dpf_block *block, const float *a, int32_t d, const double *x, double *out)
{
    switch (block->layout) {
    case DPF_LAYOUT_FULL:
        add_full(a, block->ld ? block->ld : d, d, x, out);
        break;
    case DPF_LAYOUT_LOWER:
        add_triangle(a, block->ld, d, x, out);
        break;
    default:
        add_triangle(a, 0, d, x, out);
        break;
    }
}

static void add_blocks(const dpf_query *query, const float *blocks, const double *x, double *out)
{
    const int32_t d = query->dimension;

    for (int32_t b = 0; b < query->n_blocks; b++) {
        const dpf_block *block = &query->blocks[b];
        const float *values = blocks + block->offset;
        switch (block->kind) {
        case DPF_BLOCK_GRADIENT:
            for (int32_t i = 0; i < d; i++) {
                out[i] += (double)values[i];
            }
            break;
        case DPF_BLOCK_QUADRATIC:
            add_quadratic(block, values, d, x, out);
            break;
        case DPF_BLOCK_LINEAR:
            for (int32_t i = 0; i < d; i++) {
                out[i] -= (double)values[i];
            }
            break;
        default: /* count */
            for (int32_t i = 0; query->ridge_per_count && i < d; i++) {
                out[i] += 2.0 * (double)query->ridge_per_count[i] * (double)values[0] * x[i];
            }
            break;
        }
    }
}

void gradient_descent_derivative(const dpf_query *query, const float *blocks, const float *gram,
                                 const double *x, double *out)
{
    const double power = query->form == DPF_FORM_QUADRATIC ? 2.0 : 1.0;

    for (int32_t i = 0; i < query->dimension; i++) {
        out[i] = query->ridge_constant ? power * (double)query->ridge_constant[i] * x[i] : 0.0;
    }
    add_blocks(query, blocks, x, out);
    if (gram) {
        add_blocks(query, gram, x, out);
    }
}
