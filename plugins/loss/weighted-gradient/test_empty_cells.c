/* SPDX-License-Identifier: Apache-2.0 */
/* All kinds of processor give the bytes of the definition, cell by cell, and find the same faults. */
#include <math.h>
#include <string.h>

#include "kit/test.h"
#include "dpframe/query.h"
#include "empty_cells.h"

#define MOST_D 9
#define MOST_COLUMNS 13
#define STRIDE 11

static const int kinds[] = {SIMD_KIND_AVX512, SIMD_KIND_AVX2, SIMD_KIND_NEON, SIMD_KIND_PORTABLE};
static uint64_t seed = 5;

static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)seed * 0x1p-63;
}

/* In the order in which the four sums add. */
static double product(const float *x, const float *y, int32_t n)
{
    double sums[4] = {0, 0, 0, 0};
    for (int32_t c = 0; c < n; c++)
        sums[c < n / 4 * 4 ? c % 4 : 0] += (double)x[c] * (double)y[c];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static void define(const struct empty_cells *cells, const float *const *rows, int64_t n, double *out)
{
    for (int64_t k = 0; k < n; k++) {
        const double prediction = cells->offset + product(rows[k], cells->seen, cells->columns);
        const double e = fmax(-cells->clip, fmin(cells->clip, prediction));
        for (int32_t i = 0; i < cells->dimension; i++)
            out[k * STRIDE + i] = 0.0 + dpf_on_grid((cells->factor * e) * (double)cells->own[i], cells->grid);
    }
}

TEST(bytes_are_those_of_the_definition)
{
    float own[MOST_D], seen[MOST_COLUMNS], given[EMPTY_CELLS_MOST][MOST_COLUMNS];
    const float *rows[EMPTY_CELLS_MOST];
    struct empty_cells cells = {.seen = seen, .factor = 2, .most = 4, .limit = INFINITY, .own = own};
    for (int k = 0; k < EMPTY_CELLS_MOST; k++)
        rows[k] = given[k];
    for (int trial = 0; trial < 2000; trial++) {
        double expected[EMPTY_CELLS_MOST * STRIDE], got[EMPTY_CELLS_MOST * STRIDE];
        const int64_t n = trial % (EMPTY_CELLS_MOST + 1);
        cells.dimension = 1 + trial % MOST_D;
        cells.columns = 1 + trial % MOST_COLUMNS;
        cells.offset = trial % 2 ? uniform() : 0;
        cells.clip = trial % 3 ? 1.5 : INFINITY;
        cells.grid = trial % 5 ? 0x1p-30 : 0;
        cells.limit = trial % 7 ? INFINITY : 8; /* no number reaches it */
        for (int i = 0; i < MOST_D; i++)
            own[i] = i == trial % 20 ? -0.0F : (float)uniform();
        for (int c = 0; c < MOST_COLUMNS; c++)
            seen[c] = (float)uniform();
        for (int64_t k = 0; k < n; k++)
            for (int c = 0; c < MOST_COLUMNS; c++)
                given[k][c] = 2.9F / (float)cells.columns * (float)uniform();
        memset(expected, 7, sizeof(expected));
        define(&cells, rows, n, expected);
        for (int k = 0; k < 4; k++) {
            const empty_cells kernel = empty_cells_find(kinds[k]);
            if (!kernel) /* not of this processor */
                continue;
            memset(got, 7, sizeof(got));
            assert_int_equal(kernel(&cells, rows, n, got, STRIDE), 0);
            assert_memory_equal(got, expected, sizeof(got));
        }
    }
}

/* A prediction beyond the largest, a gradient at its limit, and numbers that are none, wherever they stand. */
TEST(faults_are_found)
{
    static const float faults[] = {4.5F, -4.5F, NAN, INFINITY}, good = 3, nothing = 0, ones[3] = {1, 1, 1},
                       none[3] = {NAN, 1, 1};
    for (int k = 0; k < 4; k++)
        for (int64_t at = 0; empty_cells_find(kinds[k]) && at < EMPTY_CELLS_MOST; at++)
            for (int f = 0; f < 7; f++) {
                struct empty_cells cells = {.seen = ones,
                                            .columns = 1,
                                            .clip = INFINITY,
                                            .factor = 2,
                                            .most = 4,
                                            .limit = 8,
                                            .own = ones,
                                            .dimension = 3};
                const float *rows[EMPTY_CELLS_MOST];
                double out[3 * EMPTY_CELLS_MOST];
                for (int64_t r = 0; r < EMPTY_CELLS_MOST; r++)
                    rows[r] = &nothing;
                rows[at] = f < 4 ? &faults[f] : &good;
                cells.limit = f == 4 ? 6 : 8;
                cells.own = f == 5 ? none : ones;
                assert_int_equal(empty_cells_find(kinds[k])(&cells, rows, EMPTY_CELLS_MOST, out, 3), f < 6);
            }
}
