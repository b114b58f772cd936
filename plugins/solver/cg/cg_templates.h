/* SPDX-License-Identifier: Apache-2.0 */
/* cg_templates.h - cg_kernels for one kind of processor: a template, see simd.h. No include guard. */

#include "simd.h"

#include "gram_tiles.h"

SIMD_TARGET static void SIMD(cg_multiply)(const float *s, int64_t padded, const float *xt, float *out)
{
    for (int64_t g = 0; g < CG_GROUP; g += SIMD_ROWS)
        SIMD(gram_strip)
    (padded / 16, xt + g, CG_GROUP, s, padded, padded, out + g * padded, padded, SIMD_ROWS, GRAM_SET, NULL);
}

SIMD_TARGET static void SIMD(cg_multiply_one)(const float *s, int64_t padded, const float *x, float *out)
{
    int64_t c = 0;
    for (; c + 64 <= padded; c += 64) {
        SIMD(v16) s0 = SIMD(v_zero)(), s1 = s0, s2 = s0, s3 = s0;
        for (int64_t r = 0; r < padded; r++) {
            const SIMD(v16) f = SIMD(v_all)(x[r]);
            const float *line = s + r * padded + c;
            s0 = SIMD(v_fma)(f, SIMD(v_load)(line), s0);
            s1 = SIMD(v_fma)(f, SIMD(v_load)(line + 16), s1);
            s2 = SIMD(v_fma)(f, SIMD(v_load)(line + 32), s2);
            s3 = SIMD(v_fma)(f, SIMD(v_load)(line + 48), s3);
        }
        SIMD(v_store)(out + c, s0);
        SIMD(v_store)(out + c + 16, s1);
        SIMD(v_store)(out + c + 32, s2);
        SIMD(v_store)(out + c + 48, s3);
    }
    for (; c < padded; c += 16) {
        SIMD(v16) sum = SIMD(v_zero)();
        for (int64_t r = 0; r < padded; r++)
            sum = SIMD(v_fma)(SIMD(v_all)(x[r]), SIMD(v_load)(s + r * padded + c), sum);
        SIMD(v_store)(out + c, sum);
    }
}

SIMD_TARGET static float SIMD(cg_dot)(const float *a, const float *b, int64_t padded)
{
    SIMD(v16) sum = SIMD(v_zero)();
    float out[4];
    for (int64_t i = 0; i < padded; i += 16)
        sum = SIMD(v_fma)(SIMD(v_load)(a + i), SIMD(v_load)(b + i), sum);
    SIMD(v_sum4)(sum, sum, sum, sum, out);
    return out[0];
}

SIMD_TARGET static void SIMD(cg_add)(float factor, const float *x, int64_t padded, float *y)
{
    const SIMD(v16) f = SIMD(v_all)(factor);
    for (int64_t i = 0; i < padded; i += 16)
        SIMD(v_store)(y + i, SIMD(v_fma)(f, SIMD(v_load)(x + i), SIMD(v_load)(y + i)));
}

SIMD_TARGET static void SIMD(cg_renew)(float factor, const float *x, int64_t padded, float *y)
{
    const SIMD(v16) f = SIMD(v_all)(factor);
    for (int64_t i = 0; i < padded; i += 16)
        SIMD(v_store)(y + i, SIMD(v_fma)(f, SIMD(v_load)(y + i), SIMD(v_load)(x + i)));
}

static const struct cg_kernels SIMD(cg_kernels) = {
    .multiply = SIMD(cg_multiply),
    .multiply_one = SIMD(cg_multiply_one),
    .dot = SIMD(cg_dot),
    .add = SIMD(cg_add),
    .renew = SIMD(cg_renew),
};
