/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gram_tiles.h - sums of outer products, the kernel under ALS and under the blocked Cholesky
 * factorization. A template: see simd.h. No include guard.
 *
 * out[i][j] (op)= sum over r < n of left[r * left_ld + i] * right[r * ld + j], in the order of r.
 */

#ifndef GRAM_TILES_ONCE
#define GRAM_TILES_ONCE
#define GRAM_SET 0
#define GRAM_ADD 1
#define GRAM_SUBTRACT 2
/* Scattered cache lines that will be needed soon: while the processor multiplies, the memory is idle. */
struct gram_ahead {
    const float *base; /* line r lies at base + index[r] * stride */
    const int32_t *index;
    int64_t stride;
    int64_t n;
};
#endif

/* SIMD_ROWS rows, of which the first `stored` are written, by a fixed number of chunks of columns. */
SIMD_INLINE void SIMD(gram_tile)(const int chunks, const float *left, int64_t left_ld, const float *right,
                                 int64_t ld, int64_t n, float *out, int64_t out_ld, int64_t stored,
                                 const int op, const struct gram_ahead *ahead)
{
    const int64_t n_ahead = ahead ? ahead->n : 0;
    SIMD(v16) sum[SIMD_ROWS][SIMD_CHUNKS];
    SIMD_UNROLL for (int i = 0; i < SIMD_ROWS; i++)
    {
        SIMD_UNROLL for (int c = 0; c < chunks; c++) sum[i][c] = SIMD(v_zero)();
    }
    for (int64_t r = 0; r < n; r++, left += left_ld, right += ld) {
        SIMD(v16) y[SIMD_CHUNKS];
        if (ahead && r < n_ahead)
            __builtin_prefetch(ahead->base + ahead->index[r] * ahead->stride, 0, 2);
        SIMD_UNROLL for (int c = 0; c < chunks; c++) y[c] = SIMD(v_load)(right + 16 * c);
        SIMD_UNROLL for (int i = 0; i < SIMD_ROWS; i++)
        {
            const SIMD(v16) x = SIMD(v_all)(left[i]);
            SIMD_UNROLL for (int c = 0; c < chunks; c++) sum[i][c] = SIMD(v_fma)(x, y[c], sum[i][c]);
        }
    }
    SIMD_UNROLL for (int i = 0; i < SIMD_ROWS; i++)
    {
        if (i >= stored)
            break;
        SIMD_UNROLL for (int c = 0; c < chunks; c++)
        {
            float *to = out + i * out_ld + 16 * c;
            if (op == GRAM_SET)
                SIMD(v_store)(to, sum[i][c]);
            else if (op == GRAM_ADD)
                SIMD(v_store)(to, SIMD(v_add)(SIMD(v_load)(to), sum[i][c]));
            else
                SIMD(v_store)(to, SIMD(v_sub)(SIMD(v_load)(to), sum[i][c]));
        }
    }
}

/* SIMD_ROWS rows by any number of chunks, split evenly. left has SIMD_ROWS readable columns. */
SIMD_INLINE void SIMD(gram_strip)(int64_t chunks, const float *left, int64_t left_ld, const float *right,
                                  int64_t ld, int64_t n, float *out, int64_t out_ld, int64_t stored,
                                  const int op, const struct gram_ahead *ahead)
{
    while (chunks > 0) {
        const int64_t tiles = (chunks + SIMD_CHUNKS - 1) / SIMD_CHUNKS;
        const int64_t now = (chunks + tiles - 1) / tiles;
        if (now == 1)
            SIMD(gram_tile)(1, left, left_ld, right, ld, n, out, out_ld, stored, op, ahead);
#if SIMD_CHUNKS > 1
        else if (now == 2)
            SIMD(gram_tile)(2, left, left_ld, right, ld, n, out, out_ld, stored, op, ahead);
        else
            SIMD(gram_tile)(3, left, left_ld, right, ld, n, out, out_ld, stored, op, ahead);
#endif
        right += 16 * now;
        out += 16 * now;
        chunks -= now;
    }
}
