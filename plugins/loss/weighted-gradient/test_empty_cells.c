/* SPDX-License-Identifier: Apache-2.0 */
/* All kinds of processor give the bytes of the definition, cell by cell, and find the same faults. */
#include <math.h>
#include <string.h>

#include "kit/test.h"
#include "dpframe/query.h"
#include "empty_cells.h"

#define MOST_D 9
#define STRIDE 11

static const int kinds[] = {SIMD_KIND_AVX512, SIMD_KIND_AVX2, SIMD_KIND_NEON, SIMD_KIND_PORTABLE};
static uint64_t seed = 5;

static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)seed * 0x1p-63;
}

static void define(const struct empty_cells *cells, const double *products, int64_t n, double *out)
{
    for (int64_t k = 0; k < n; k++) {
        const double e = fmax(-cells->clip, fmin(cells->clip, cells->offset + products[k]));
        for (int32_t i = 0; i < cells->dimension; i++)
            out[k * STRIDE + i] = 0.0 + dpf_on_grid((cells->factor * e) * (double)cells->own[i], cells->grid);
    }
}

TEST(bytes_are_those_of_the_definition)
{
    float own[MOST_D];
    struct empty_cells cells = {.factor = 2, .most = 4, .limit = INFINITY, .own = own};
    for (int trial = 0; trial < 2000; trial++) {
        double given[EMPTY_CELLS_MOST], expected[EMPTY_CELLS_MOST * STRIDE], got[EMPTY_CELLS_MOST * STRIDE];
        const int64_t n = trial % (EMPTY_CELLS_MOST + 1);
        cells.dimension = 1 + trial % MOST_D;
        cells.offset = trial % 2 ? uniform() : 0;
        cells.clip = trial % 3 ? 1.5 : INFINITY;
        cells.grid = trial % 5 ? 0x1p-30 : 0;
        for (int i = 0; i < MOST_D; i++)
            own[i] = i == trial % 20 ? -0.0F : (float)uniform();
        for (int64_t k = 0; k < n; k++)
            given[k] = 3 * uniform();
        memset(expected, 7, sizeof(expected));
        define(&cells, given, n, expected);
        for (int k = 0; k < 4; k++) {
            const empty_cells kernel = empty_cells_find(kinds[k]);
            double products[EMPTY_CELLS_MOST];
            if (!kernel) /* not of this processor */
                continue;
            memcpy(products, given, sizeof(given));
            memset(got, 7, sizeof(got));
            assert_int_equal(kernel(&cells, products, n, got, STRIDE), 0);
            assert_memory_equal(got, expected, sizeof(got));
        }
    }
}

/* A prediction beyond the largest, a gradient at its limit, and numbers that are none, wherever they stand. */
TEST(faults_are_found)
{
    static const double faults[] = {4.5, -4.5, NAN, INFINITY};
    const float one = 1, none = NAN;
    for (int k = 0; k < 4; k++)
        for (int64_t at = 0; empty_cells_find(kinds[k]) && at < EMPTY_CELLS_MOST; at++)
            for (int f = 0; f < 7; f++) {
                struct empty_cells cells = {
                    .clip = INFINITY, .factor = 2, .most = 4, .limit = 8, .own = &one, .dimension = 1};
                double products[EMPTY_CELLS_MOST] = {0}, out[EMPTY_CELLS_MOST];
                products[at] = f < 4 ? faults[f] : 3;
                cells.limit = f == 4 ? 6 : 8;
                cells.own = f == 5 ? &none : &one;
                assert_int_equal(empty_cells_find(kinds[k])(&cells, products, EMPTY_CELLS_MOST, out, 1),
                                 f < 6);
            }
}
