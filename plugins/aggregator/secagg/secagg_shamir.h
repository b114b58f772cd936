/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_shamir.h - Shamir's secret sharing over the field of p = 2^61 - 1 elements.
 *
 * A secret is four independent elements, so that it and each of its shares take 32 bytes on the wire and
 * a secret has 244 bits; keys are derived from it by hashing. p is a Mersenne prime: a product is reduced
 * by shifts and additions alone, which is as fast as it is easy to see that its time does not depend on
 * the operands. The points at which polynomials are evaluated are a member's id + 1.
 */
#ifndef SECAGG_SHAMIR_H
#define SECAGG_SHAMIR_H

#include <stddef.h>
#include <stdint.h>

#define SECAGG_PRIME ((UINT64_C(1) << 61) - 1)
#define SECAGG_LANES 4
#define SECAGG_SHARE_BYTES 32

typedef uint64_t secagg_secret[SECAGG_LANES]; /* each below p */

static inline uint64_t secagg_point(uint32_t id)
{
    return (uint64_t)id + 1;
}

/* coefficients[0] is the secret, the others uniform; threshold of them. */
void secagg_share(secagg_secret *coefficients, uint32_t threshold, uint64_t point,
                  uint8_t share[SECAGG_SHARE_BYTES]);

/* 0, or -1 if the bytes are no share. */
int secagg_share_check(const uint8_t share[SECAGG_SHARE_BYTES]);

/*
 * Weights with which the shares at n points add up to the secret. work holds n numbers.
 * 0, or -1 if two points are the same.
 */
int secagg_weights(const uint64_t *points, uint32_t n, uint64_t *weights, uint64_t *work);
/* sum += weight * share */
void secagg_combine(uint64_t weight, const uint8_t share[SECAGG_SHARE_BYTES], secagg_secret sum);

void secagg_secret_bytes(const secagg_secret secret, uint8_t out[SECAGG_SHARE_BYTES]);

#endif
