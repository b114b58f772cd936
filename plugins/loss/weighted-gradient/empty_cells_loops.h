/* SPDX-License-Identifier: Apache-2.0 */
/* empty_cells_loops.h - empty_cells for one kind of processor. A kernel of loops: see simd_loops.h. */
#include "simd_loops.h"

static SIMD_LOOP_TARGET void SIMD_LOOP(predictions)(const struct empty_cells *cells, const float *const *rows,
                                                    int64_t n, double *products)
{
    for (int64_t k = 0; k < n; k++)
        products[k] = empty_cells_product(rows[k], cells->seen, cells->columns);
}

/* Predictions become what own is multiplied with. */
static SIMD_LOOP_TARGET int64_t SIMD_LOOP(residuals)(const struct empty_cells *cells, double *products,
                                                     int64_t n)
{
    const double offset = cells->offset, clip = cells->clip, factor = cells->factor, most = cells->most;
    int64_t bad = 0;
    for (int64_t k = 0; k < n; k++) {
        const double e = offset + products[k];
        bad |= !(__builtin_fabs(e) <= most);
        products[k] = factor * (e > clip ? clip : e < -clip ? -clip : e);
    }
    return bad;
}

static SIMD_LOOP_TARGET int64_t SIMD_LOOP(too_large)(const double *x, int32_t n, double limit)
{
    int64_t bad = 0;
    for (int32_t i = 0; i < n; i++)
        bad |= !(__builtin_fabs(x[i]) < limit);
    return bad;
}

/* Most rows are so short that none of their numbers need be looked at: a number is at most the product and a grid step. */
static SIMD_LOOP_TARGET int64_t SIMD_LOOP(gradients)(const struct empty_cells *cells, const double *t,
                                                     int64_t n, double *out, int64_t stride)
{
    const double grid = cells->grid, limit = cells->limit;
    const int32_t d = cells->dimension;
    double sizes = 0; /* at least the largest; not a number if one is none */
    int64_t bad = 0;
    for (int32_t i = 0; i < d; i++)
        sizes += __builtin_fabs((double)cells->own[i]);
    for (int64_t k = 0; k < n; k++) {
        for (int32_t i = 0; i < d; i++)
            out[k * stride + i] = 0.0 + dpf_on_grid(t[k] * (double)cells->own[i], grid);
        if (!(1.001 * (__builtin_fabs(t[k]) * sizes + grid) < limit))
            bad |= SIMD_LOOP(too_large)(out + k * stride, d, limit);
    }
    return bad;
}

static int SIMD_LOOP(empty_cells)(const struct empty_cells *cells, const float *const *rows, int64_t n,
                                  double *out, int64_t stride)
{
    double products[EMPTY_CELLS_MOST];
    SIMD_LOOP(predictions)(cells, rows, n, products);
    const int64_t bad = SIMD_LOOP(residuals)(cells, products, n);
    return (bad | SIMD_LOOP(gradients)(cells, products, n, out, stride)) != 0;
}
