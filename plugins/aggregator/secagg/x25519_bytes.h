/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x25519_bytes.h - numbers modulo p = 2^255 - 19 from 32 bytes to five limbs of 51 bits, and back.
 *
 * No branch and no address depends on a secret.
 */
#ifndef X25519_BYTES_H
#define X25519_BYTES_H

#include <stdint.h>
#include <string.h>

#define X25519_LOW ((UINT64_C(1) << 51) - 1)

static inline uint64_t x25519_get64(const uint8_t *bytes)
{
    uint64_t x;
    memcpy(&x, bytes, sizeof(x)); /* little-endian, as dpframe/abi.h demands */
    return x;
}

/* The highest bit is left out, as RFC 7748 asks. */
static inline void x25519_limbs(const uint8_t key[32], uint64_t limb[5])
{
    limb[0] = x25519_get64(key) & X25519_LOW;
    limb[1] = x25519_get64(key + 6) >> 3 & X25519_LOW;
    limb[2] = x25519_get64(key + 12) >> 6 & X25519_LOW;
    limb[3] = x25519_get64(key + 19) >> 1 & X25519_LOW;
    limb[4] = x25519_get64(key + 24) >> 12 & X25519_LOW;
}

/* The number, below p, as 32 bytes; limbs are below 2^53. */
static inline void x25519_bytes(uint64_t limb[5], uint8_t out[32])
{
    for (int pass = 0; pass < 2; pass++) { /* below 2^255 + 2^7, then below 2^255 */
        for (int i = 0; i < 4; i++) {
            limb[i + 1] += limb[i] >> 51;
            limb[i] &= X25519_LOW;
        }
        limb[0] += 19 * (limb[4] >> 51);
        limb[4] &= X25519_LOW;
    }
    /* x + 19 has bit 255 if, and only if, x is p or more. */
    uint64_t over = (limb[0] + 19) >> 51;
    for (int i = 1; i < 5; i++)
        over = (limb[i] + over) >> 51;
    limb[0] += 19 * over;
    for (int i = 0; i < 4; i++) {
        limb[i + 1] += limb[i] >> 51;
        limb[i] &= X25519_LOW;
    }
    limb[4] &= X25519_LOW;
    const uint64_t words[4] = {limb[0] | limb[1] << 51, limb[1] >> 13 | limb[2] << 38,
                               limb[2] >> 26 | limb[3] << 25, limb[3] >> 39 | limb[4] << 12};
    memcpy(out, words, sizeof(words));
}

/* Bit i: whether bits i and i + 1 of the secret differ, so that the ladder swaps its points before step i. Bit 254
 * counts as set, bits 255 and 0 to 2 as clear. */
static inline void x25519_swaps(const uint8_t secret[32], uint64_t swaps[4])
{
    uint64_t word[5];
    for (int i = 0; i < 4; i++)
        word[i] = x25519_get64(secret + 8 * i);
    word[0] &= ~UINT64_C(7);
    word[3] = (word[3] & ~(UINT64_C(3) << 62)) | UINT64_C(1) << 62;
    word[4] = 0;
    for (int i = 0; i < 4; i++)
        swaps[i] = word[i] ^ (word[i] >> 1 | word[i + 1] << 63);
}

#endif
