/* SPDX-License-Identifier: Apache-2.0 */
/* empty_cells_loops.h - empty_cells for one kind of processor. A kernel of loops: see simd_loops.h. */
#include "simd_loops.h"

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

static SIMD_LOOP_TARGET int64_t SIMD_LOOP(gradients)(const struct empty_cells *cells, const double *t,
                                                     int64_t n, double *out, int64_t stride)
{
    const double grid = cells->grid, limit = cells->limit;
    const int32_t d = cells->dimension;
    int64_t bad = 0;
    for (int64_t k = 0; k < n; k++)
        for (int32_t i = 0; i < d; i++) {
            const double x = 0.0 + dpf_on_grid(t[k] * (double)cells->own[i], grid);
            bad |= !(__builtin_fabs(x) < limit);
            out[k * stride + i] = x;
        }
    return bad;
}

static int SIMD_LOOP(empty_cells)(const struct empty_cells *cells, double *products, int64_t n, double *out,
                                  int64_t stride)
{
    const int64_t bad = SIMD_LOOP(residuals)(cells, products, n);
    return (bad | SIMD_LOOP(gradients)(cells, products, n, out, stride)) != 0;
}
