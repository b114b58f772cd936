/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near_scores.h - near scores (see finalists.h) of several users at a time, and passes over them. A template:
 * see simd.h. No include guard.
 */
#include "simd/simd.h"

#include "simd/gram_tiles.h"

/* Sums of products of NEAR_USERS users (stride x NEAR_USERS) with a panel of items (stride x NEAR_PANEL). */
#if defined(SIMD_AVX2)
/* Four users by 24 items: twelve sums, a row and a number fill the sixteen registers; gram_strip's eight sums do not
   hide how long one takes. */
SIMD_TARGET static void SIMD(near_panel)(const float *users, const float *panel, int64_t stride, float *out,
                                         int64_t out_ld)
{
    enum { ROWS = 4, VECTORS = 3, COLUMNS = 8 * VECTORS };
    for (int64_t tile = 0; tile < NEAR_USERS / ROWS * (NEAR_PANEL / COLUMNS); tile++) {
        const int64_t first = tile / (NEAR_PANEL / COLUMNS) * ROWS,
                      column = tile % (NEAR_PANEL / COLUMNS) * COLUMNS;
        const float *left = users + first, *right = panel + column;
        __m256 sum[ROWS][VECTORS];
        SIMD_UNROLL for (int i = 0; i < ROWS * VECTORS; i++) sum[i / VECTORS][i % VECTORS] =
            _mm256_setzero_ps();
        for (int64_t r = 0; r < stride; r++, left += NEAR_USERS, right += NEAR_PANEL) {
            __m256 y[VECTORS];
            SIMD_UNROLL for (int c = 0; c < VECTORS; c++) y[c] = _mm256_loadu_ps(right + 8 * c);
            SIMD_UNROLL for (int i = 0; i < ROWS; i++)
            {
                const __m256 x = _mm256_broadcast_ss(left + i);
                SIMD_UNROLL for (int c = 0; c < VECTORS; c++) sum[i][c] = _mm256_fmadd_ps(x, y[c], sum[i][c]);
            }
        }
        SIMD_UNROLL for (int i = 0; i < ROWS * VECTORS; i++) _mm256_storeu_ps(
            out + (first + i / VECTORS) * out_ld + column + i % VECTORS * 8, sum[i / VECTORS][i % VECTORS]);
    }
}
#else
SIMD_TARGET static void SIMD(near_panel)(const float *users, const float *panel, int64_t stride, float *out,
                                         int64_t out_ld)
{
    for (int64_t i = 0; i < NEAR_USERS; i += SIMD_ROWS)
        SIMD(gram_strip)
    (NEAR_PANEL / 16, users + i, NEAR_USERS, panel, NEAR_PANEL, stride, out + i * out_ld, out_ld, SIMD_ROWS,
     GRAM_SET, NULL);
}
#endif

/* The same for one user whose row is 0 but in n columns, which hold these values; less `first` they are those of the panel. */
SIMD_TARGET static void SIMD(near_few)(const float *values, const int32_t *columns, int64_t n, int64_t first,
                                       const float *panel, float *out)
{
    SIMD(v16) a = SIMD(v_zero)(), b = a, c = a;
    for (int64_t k = 0; k < n; k++) {
        const SIMD(v16) x = SIMD(v_all)(values[k]);
        const float *y = panel + (columns[k] - first) * NEAR_PANEL;
        a = SIMD(v_fma)(x, SIMD(v_load)(y), a);
        b = SIMD(v_fma)(x, SIMD(v_load)(y + 16), b);
        c = SIMD(v_fma)(x, SIMD(v_load)(y + 32), c);
    }
    SIMD(v_store)(out, a);
    SIMD(v_store)(out + 16, b);
    SIMD(v_store)(out + 32, c);
}

/* The places of those of n numbers, a multiple of 16, that are at least the bar. Returns how many. places has
   room for 16 more. */
SIMD_TARGET static int64_t SIMD(near_find)(const float *x, int64_t n, float bar, int32_t *places)
{
    const SIMD(v16) least = SIMD(v_all)(bar);
    int64_t found = 0;
    for (int64_t i = 0; i < n; i += 16)
        found += SIMD(v_places)(SIMD(v_at_least)(SIMD(v_load)(x + i), least), (int32_t)i, places + found);
    return found;
}

/* The largest of each 8 numbers, of n, a multiple of 128: n / 8 of them. */
SIMD_TARGET static void SIMD(near_largest)(const float *x, int64_t n, float *out)
{
    for (int64_t i = 0; i < n; i += 128) {
        SIMD(v16) most = SIMD(v_load)(x + i);
        for (int64_t v = 16; v < 128; v += 16)
            most = SIMD(v_max)(most, SIMD(v_load)(x + i + v));
        SIMD(v_store)(out + i / 8, most);
    }
}

/* How many of n numbers, a multiple of 16, are at least the bar. */
SIMD_TARGET static int64_t SIMD(near_count)(const float *x, int64_t n, float bar)
{
    const SIMD(v16) least = SIMD(v_all)(bar);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i += 16)
        count += __builtin_popcount(SIMD(v_at_least)(SIMD(v_load)(x + i), least));
    return count;
}

/*
 * Sums what a table of slots has for n numbers, a multiple of 16 and at most 2^10: number x belongs to slot
 * (x - low) scale + 1, of 0 .. last. Negative slots of the table are not counted; the places of their numbers
 * are listed, *n_listed of them. Sums are exact for entries below 2^19.
 */
SIMD_TARGET static int64_t SIMD(near_look_up)(const float *x, int64_t n, float low, float scale, float last,
                                              const float *table, int32_t *places, int64_t *n_listed)
{
    const SIMD(v16) zero = SIMD(v_zero)(), one = SIMD(v_all)(1), most = SIMD(v_all)(last);
    const SIMD(v16) from = SIMD(v_all)(low), by = SIMD(v_all)(scale);
    SIMD(v16) sum = zero;
    float lanes[16];
    int64_t listed = 0, total = 0;
    for (int64_t i = 0; i < n; i += 16) {
        SIMD(v16) slot = SIMD(v_add)(SIMD(v_mul)(SIMD(v_sub)(SIMD(v_load)(x + i), from), by), one);
        slot = SIMD(v_min)(SIMD(v_max)(slot, zero), most);
        const SIMD(v16) found = SIMD(v_look_up)(table, slot);
        sum = SIMD(v_add)(sum, SIMD(v_max)(found, zero));
        listed += SIMD(v_places)(SIMD(v_at_least)(found, zero) ^ 0xffff, (int32_t)i, places + listed);
    }
    SIMD(v_store)(lanes, sum);
    for (int l = 0; l < 16; l++)
        total += (int64_t)lanes[l];
    *n_listed = listed;
    return total;
}

static const struct near_kernels SIMD(near_kernels) = {
    .panel = SIMD(near_panel),
    .few = SIMD(near_few),
    .find = SIMD(near_find),
    .count = SIMD(near_count),
    .look_up = SIMD(near_look_up),
    .largest = SIMD(near_largest),
};
