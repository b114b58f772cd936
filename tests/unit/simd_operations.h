/* SPDX-License-Identifier: Apache-2.0 */
/* simd_operations.h - every operation of simd.h on sixteen numbers: a template, see there. No include guard. */
#include "simd/simd.h"

static SIMD_TARGET void SIMD(operate)(const struct sixteen *in, const float *table, struct results *out)
{
    const SIMD(v16) a = SIMD(v_load)(in->a), b = SIMD(v_load)(in->b), c = SIMD(v_load)(in->c);
    SIMD(v_store)(out->lanes[ADD], SIMD(v_add)(a, b));
    SIMD(v_store)(out->lanes[SUB], SIMD(v_sub)(a, b));
    SIMD(v_store)(out->lanes[MUL], SIMD(v_mul)(a, b));
    SIMD(v_store)(out->lanes[FMA], SIMD(v_fma)(a, b, c));
    SIMD(v_store)(out->lanes[FNMA], SIMD(v_fnma)(a, b, c));
    SIMD(v_store)(out->lanes[ALL], SIMD(v_all)(in->a[3]));
    SIMD(v_store)(out->lanes[LEAST], SIMD(v_min)(SIMD(v_load)(in->odd), b));
    SIMD(v_store)(out->lanes[MOST], SIMD(v_max)(SIMD(v_load)(in->odd), b));
    SIMD(v_store)(out->lanes[LOOK_UP], SIMD(v_look_up)(table, SIMD(v_load)(in->places)));
    for (int64_t n = 1; n <= 16; n++)
        SIMD(v_store)(out->lanes[FIRST + n], SIMD(v_load_first)(in->a, n));
    out->mask = SIMD(v_at_least)(SIMD(v_load)(in->odd), b);
    out->n_places = SIMD(v_places)(out->mask, 100, out->places);
    SIMD(v_sum4)(a, b, c, SIMD(v_add)(a, c), out->sums);
}
