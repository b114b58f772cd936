/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_residues.h - words of keystream to residues modulo m, added to sums. Loops: see simd_loops.h. No
 * include guard.
 *
 * The residue of a word w of b bits is the high half of w m. Words whose low half is below 2^b mod m would
 * make some residues likelier (Lemire, ACM TOMACS 29(1), 2019); flags[i] tells whether word i is one, and the
 * caller replaces its residue. Sums are below m and stay so: the smaller of s and s - m, modulo 2^b, is the
 * reduced one as s < 2 m <= 2^b.
 */
#include "simd_loops.h"

#define DEFINE_ADD_RESIDUES(BITS, WORD, WIDE)                                                                \
    static SIMD_LOOP_TARGET void SIMD_LOOP(add_residues##BITS)(                                              \
        WORD *restrict sums, const WORD *restrict words, uint64_t n, WORD m, WORD biased, int negative,      \
        uint8_t *restrict flags)                                                                             \
    {                                                                                                        \
        const WORD turn = negative ? m : 0, sign = negative ? (WORD)-1 : 0; /* x ^ sign - sign: x or -x */   \
        for (uint64_t i = 0; i < n; i++) {                                                                   \
            const WIDE product = (WIDE)((WIDE)words[i] * m);                                                 \
            const WORD x = (WORD)(product >> BITS), low = (WORD)(words[i] * (WIDE)m);                        \
            const WORD s = (WORD)(sums[i] + turn + (WORD)((x ^ sign) - sign)), t = (WORD)(s - m);            \
            sums[i] = s < t ? s : t;                                                                         \
            flags[i] = low < biased;                                                                         \
        }                                                                                                    \
    }

DEFINE_ADD_RESIDUES(16, uint16_t, uint32_t)
DEFINE_ADD_RESIDUES(32, uint32_t, uint64_t)
#undef DEFINE_ADD_RESIDUES
