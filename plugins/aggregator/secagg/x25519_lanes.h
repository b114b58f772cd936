/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x25519_lanes.h - X25519 (RFC 7748) of several secrets and public keys, abreast: eight in the 512-bit registers of a
 * processor with 52-bit multiply-add, four in 256-bit registers. The bytes are libsodium's, which a test compares.
 */
#ifndef X25519_LANES_H
#define X25519_LANES_H

#include "simd_kind.h"

#define X25519_LANES_WORTH 3 /* exchanges from which all lanes cost less than each alone */
#define X25519_LANES_MOST 8

#if SIMD_X86
#include "x25519_fma.h"
#include "x25519_ifma.h"
#endif

/* Lanes that this processor has; 0: none. */
static inline uint32_t x25519_width(void)
{
#if SIMD_X86
    if (simd_choose(SIMD_KIND_AVX512) >= 0 && __builtin_cpu_supports("avx512ifma"))
        return 8;
    if (simd_choose(SIMD_KIND_AVX2) >= 0)
        return 4;
#endif
    return 0;
}

/* out[l]: the shared secret of secrets[l] and keys[l] for x25519_width() lanes; all zero if keys[l] is a point of small
 * order. */
static inline void x25519_lanes(const uint8_t *const secrets[], const uint8_t *const keys[],
                                uint8_t out[][32])
{
#if SIMD_X86
    if (x25519_width() == 8)
        x25519_ifma_lanes(secrets, keys, out);
    else
        x25519_fma_lanes(secrets, keys, out);
#else
    (void)secrets;
    (void)keys;
    (void)out;
#endif
}

#endif
