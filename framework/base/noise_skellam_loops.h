/* SPDX-License-Identifier: Apache-2.0 */
/* noise_skellam_loops.h - proposals of Poisson numbers judged from the first digits: (4) of noise_skellam.c.
 * A kernel of loops: see simd_loops.h. */
#include "simd/simd_loops.h"

/* Three words make a proposal: side and block; place in the block; and what decides. */
static SIMD_LOOP_TARGET void SIMD_LOOP(read_proposals)(const uint64_t *restrict words, int64_t n,
                                                       const struct poisson_mean *restrict p,
                                                       struct poisson_proposals *restrict out)
{
    const uint64_t w = p->w;
    const int64_t *tails = p->tails; /* as constants they would be made anew for each vector */
    const uint64_t low = UINT64_C(0xffffffff);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t place = words[3 * i + 1];
        const int64_t v = (int64_t)(words[3 * i] << 1 >> 1);
        uint64_t block = 0, tie = 0;
        _Pragma("GCC unroll 7") for (int j = 0; j < JUDGED_BLOCKS; j++)
        {
            block += (uint64_t)(v < tails[j]);
            tie |= (uint64_t)(v == tails[j]);
        }
        /* The product of place and w, w < 2^24, by halves. */
        const uint64_t below = (place & low) * (w & low), above = (place >> 32) * (w & low) + (below >> 32);
        out->k[i] = block * w + (above >> 32);
        out->paid[i] = block - (uint64_t)(block > 0);
        out->again[i] = (uint64_t)((above << 32 | (below & low)) < w);
        out->open[i] = tie | (uint64_t)(block == JUDGED_BLOCKS);
        out->side[i] = words[3 * i] >> 63 << 63;
        out->last[i] = words[3 * i + 2];
    }
}

static SIMD_LOOP_TARGET void SIMD_LOOP(judge_proposals)(const struct poisson_proposals *restrict in,
                                                        int64_t n, const struct poisson_mean *restrict p,
                                                        int64_t *restrict values, uint64_t *restrict verdicts)
{
    const double mean = p->mean, inverse = p->inverse, twelfth = p->twelfth;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t side = in->side[i]; /* the sign of r */
        const double whole = real_of_bits(in->k[i] | UINT64_C(0x4330000000000000)) - 0x1p52;
        const double paid = real_of_bits(in->paid[i] | UINT64_C(0x4330000000000000)) - 0x1p52;
        const double shift = real_of_bits(real_bits(whole) ^ side),
                     half = real_of_bits(real_bits(0.5) ^ side);
        const struct real_split u = real_split((real_of_word(in->last[i]) + 0.5) * 0x1p-64);
        const double t = shift * inverse;
        /* x = t/(2 + t) and s = f/(2 + f) by one division */
        const double over = 1 / ((2 + t) * (2 + u.f));
        const double x = t * ((2 + u.f) * over), s = u.f * ((2 + t) * over), y = x * x, z = s * s;
        double q = 2.0 / 9;
        q = real_fma(q, y, 2.0 / 7, SIMD_LOOP_FUSED);
        q = real_fma(q, y, 2.0 / 5, SIMD_LOOP_FUSED);
        q = real_fma(q, y, 2.0 / 3, SIMD_LOOP_FUSED);
        const double logarithm = real_fma(x, y * q, x * 2, SIMD_LOOP_FUSED);
        double reciprocal = 1 - t; /* 1 - t + t^2 - t^3 + t^4 */
        reciprocal = real_fma(-t, reciprocal, 1.0, SIMD_LOOP_FUSED);
        reciprocal = real_fma(-t, reciprocal, 1.0, SIMD_LOOP_FUSED);
        reciprocal = real_fma(-t, reciprocal, 1.0, SIMD_LOOP_FUSED);
        const double minus_log =
            real_fma(mean + (shift + half), logarithm, -shift, SIMD_LOOP_FUSED) - t * reciprocal * twelfth;
        double r = 2.0 / 13;
        r = real_fma(r, z, 2.0 / 11, SIMD_LOOP_FUSED);
        r = real_fma(r, z, 2.0 / 9, SIMD_LOOP_FUSED);
        r = real_fma(r, z, 2.0 / 7, SIMD_LOOP_FUSED);
        r = real_fma(r, z, 2.0 / 5, SIMD_LOOP_FUSED);
        r = real_fma(r, z, 2.0 / 3, SIMD_LOOP_FUSED);
        const double log_u =
            real_fma(u.e, 0x1.62e42fefa39efp-1, real_fma(s, z * r, s * 2, SIMD_LOOP_FUSED), SIMD_LOOP_FUSED);
        const double distance = (paid - log_u) - minus_log;
        const double size = real_of_bits(real_bits(distance) << 1 >> 1);
        const uint64_t unsure = in->open[i] | in->again[i] | (uint64_t)(in->last[i] < JUDGED_LEAST_WORD) |
                                (uint64_t)(size <= whole * 0x1p-47 + 0x1p-36);
        values[i] = (int64_t)(in->k[i] ^ (0 - (side >> 63))); /* -1 - k is the complement of k */
        /* VERDICT_NO and VERDICT_KEPT, else VERDICT_OPEN, else VERDICT_AGAIN */
        verdicts[i] = ((uint64_t)(distance > 0) & (unsure ^ 1)) | unsure << 1 | in->again[i];
    }
}

static void SIMD_LOOP(judge_poissons)(const uint64_t *words, int64_t n, const struct poisson_mean *p,
                                      int64_t *values, uint64_t *verdicts)
{
    struct poisson_proposals read;
    SIMD_LOOP(read_proposals)(words, n, p, &read);
    SIMD_LOOP(judge_proposals)(&read, n, p, values, verdicts);
}
