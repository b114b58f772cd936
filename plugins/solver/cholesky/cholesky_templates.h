/* SPDX-License-Identifier: Apache-2.0 */
/* cholesky_templates.h - cholesky_kernels for one kind of processor: a template, see simd.h. */

#include "simd.h"

#include "gram_tiles.h"

SIMD_TARGET static void SIMD(add_lower)(const float *base, const float *a, int64_t d, int64_t padded,
                                        float *matrix)
{
    for (int64_t i = 0; i < padded; i++) {
        for (int64_t j = 0; j <= i; j += 16) {
            SIMD(v16) x = SIMD(v_load)(base + i * padded + j);
            if (i < d)
                x = SIMD(v_add)(x, SIMD(v_load)(a + i * padded + j));
            SIMD(v_store)(matrix + i * padded + j, x);
        }
    }
}

/* rhs of a panel's rows -= the part that the rows below it have decided. */
SIMD_INLINE void SIMD(panel_rhs)(const float *below, int64_t padded, int64_t n, const float *z, float *rhs)
{
    SIMD(v16) even = SIMD(v_load)(rhs), odd = SIMD(v_zero)();
    for (int64_t r = 0; r + 2 <= n; r += 2) { /* n is a multiple of 16 */
        even = SIMD(v_fnma)(SIMD(v_all)(z[r]), SIMD(v_load)(below + r * padded), even);
        odd = SIMD(v_fnma)(SIMD(v_all)(z[r + 1]), SIMD(v_load)(below + (r + 1) * padded), odd);
    }
    SIMD(v_store)(rhs, SIMD(v_add)(even, odd));
}

/*
 * The 16 x 16 block on the diagonal, in place, rows from the last. Row j is scaled and its entries
 * right of the diagonal are cleared, which lets later steps use whole rows.
 */
SIMD_INLINE int64_t SIMD(factor_diagonal)(float *block, int64_t padded, float *inverse)
{
    SIMD(v16) row[16];
    SIMD_UNROLL for (int i = 0; i < 16; i++) row[i] = SIMD(v_load)(block + i * padded);
    SIMD_UNROLL for (int j = 15; j >= 0; j--)
    {
        float *line = block + j * padded;
        SIMD(v_store)(line, row[j]);
        const float pivot = line[j];
        if (!(pivot > 0))
            return j;
        inverse[j] = 1.0f / sqrtf(pivot);
        row[j] = SIMD(v_mul)(SIMD(v_load_first)(line, j + 1), SIMD(v_all)(inverse[j]));
        SIMD(v_store)(line, row[j]);
        SIMD_UNROLL for (int i = 0; i < j; i++) row[i] = SIMD(v_fnma)(SIMD(v_all)(line[i]), row[j], row[i]);
    }
    return -1;
}

/* The 16 x 16 block left of a factored one. */
SIMD_INLINE void SIMD(solve_chunk)(const float *diagonal, int64_t padded, const float *inverse, float *block)
{
    SIMD(v16) row[16];
    SIMD_UNROLL for (int i = 0; i < 16; i++) row[i] = SIMD(v_load)(block + i * padded);
    SIMD_UNROLL for (int j = 15; j >= 0; j--)
    {
        const float *line = diagonal + j * padded;
        row[j] = SIMD(v_mul)(row[j], SIMD(v_all)(inverse[j]));
        SIMD_UNROLL for (int i = 0; i < j; i++) row[i] = SIMD(v_fnma)(SIMD(v_all)(line[i]), row[j], row[i]);
        SIMD(v_store)(block + j * padded, row[j]);
    }
}

/* L'z = rhs within a panel. */
SIMD_INLINE void SIMD(solve_rhs)(const float *diagonal, int64_t padded, const float *inverse, float *rhs)
{
    SIMD(v16) rest = SIMD(v_load)(rhs);
    float at[16];
    for (int j = 15; j >= 0; j--) {
        SIMD(v_store)(at, rest);
        rhs[j] = at[j] * inverse[j];
        rest = SIMD(v_fnma)(SIMD(v_all)(rhs[j]), SIMD(v_load)(diagonal + j * padded), rest);
    }
}

SIMD_TARGET static int64_t SIMD(factor)(float *matrix, int64_t padded, float *inverse, float *rhs)
{
    for (int64_t p = padded - 16; p >= 0; p -= 16) {
        float *panel = matrix + p * padded;
        const float *below = panel + 16 * padded;
        const int64_t n = padded - p - 16;
        for (int64_t i = 0; n > 0 && i < 16; i += SIMD_ROWS)
            SIMD(gram_strip)
        (p / 16 + 1, below + p + i, padded, below, padded, n, panel + i * padded, padded, SIMD_ROWS,
         GRAM_SUBTRACT, NULL);
        const int64_t bad = SIMD(factor_diagonal)(panel + p, padded, inverse + p);
        if (bad >= 0)
            return p + bad;
        for (int64_t c = 0; c < p; c += 16)
            SIMD(solve_chunk)(panel + p, padded, inverse + p, panel + c);
        SIMD(panel_rhs)(below + p, padded, n, rhs + p + 16, rhs + p);
        SIMD(solve_rhs)(panel + p, padded, inverse + p, rhs + p);
    }
    return -1;
}

SIMD_TARGET static void SIMD(first_half)(const float *factor, int64_t padded, const float *inverse,
                                         float *rhs)
{
    for (int64_t p = padded - 16; p >= 0; p -= 16) {
        const float *panel = factor + p * padded;
        SIMD(panel_rhs)(panel + 16 * padded + p, padded, padded - p - 16, rhs + p + 16, rhs + p);
        SIMD(solve_rhs)(panel + p, padded, inverse + p, rhs + p);
    }
}

SIMD_TARGET static void SIMD(second_half)(const float *factor, int64_t padded, const float *inverse, float *z)
{
    for (int64_t p = 0; p < padded; p += 16) {
        const float *panel = factor + p * padded;
        float dot[16];
        for (int64_t i = 0; i < 16; i += 4) {
            const float *line = panel + i * padded;
            SIMD(v16) s0 = SIMD(v_zero)(), s1 = s0, s2 = s0, s3 = s0;
            for (int64_t c = 0; c < p; c += 16) {
                const SIMD(v16) x = SIMD(v_load)(z + c);
                s0 = SIMD(v_fma)(x, SIMD(v_load)(line + c), s0);
                s1 = SIMD(v_fma)(x, SIMD(v_load)(line + padded + c), s1);
                s2 = SIMD(v_fma)(x, SIMD(v_load)(line + 2 * padded + c), s2);
                s3 = SIMD(v_fma)(x, SIMD(v_load)(line + 3 * padded + c), s3);
            }
            SIMD(v_sum4)(s0, s1, s2, s3, dot + i);
        }
        for (int64_t i = 0; i < 16; i++)
            dot[i] = z[p + i] - dot[i];
        for (int64_t j = 0; j < 16; j++) {
            z[p + j] = dot[j] * inverse[p + j];
            for (int64_t i = j + 1; i < 16; i++)
                dot[i] -= panel[i * padded + p + j] * z[p + j];
        }
    }
}

static const struct cholesky_kernels SIMD(cholesky_kernels) = {
    .add_lower = SIMD(add_lower),
    .factor = SIMD(factor),
    .first_half = SIMD(first_half),
    .second_half = SIMD(second_half),
};
