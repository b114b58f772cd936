/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_mask.h - numbers modulo M, masks that are uniform modulo M, and the derivation of keys.
 *
 * A mask is the ChaCha20 keystream of its key, nonce 0, read as words of b bits, one for each number. M a
 * power of two: a word's low bits. Else: the high half of word * M (Lemire, ACM TOMACS 29(1), 2019). The
 * words that would bias it, whose low half is below 2^b mod M, give way to others: the next unbiased words of
 * 64 bits of nonce 1, in the order of the numbers. So a mask is exactly uniform, a word's place does not
 * depend on other words, and a mask of fewer numbers is a prefix.
 */
#ifndef SECAGG_MASK_H
#define SECAGG_MASK_H

#include <stddef.h>
#include <stdint.h>

struct secagg_group {
    uint64_t modulus; /* 0: 2^64 */
    uint64_t low;     /* modulus - 1 if that is a mask of bits, else 0 */
    int bits;         /* of a number on the wire */
    int word;         /* bytes of keystream for a number, and of a number in a sum: 1, 2, 4 or 8 */
    int kind;         /* of processor (SIMD_KIND_...): the same masks on all */
};

/* modulus 0, or 2 .. 2^63. */
void secagg_group_init(struct secagg_group *group, uint64_t modulus);
/* x modulo M; negative numbers stand for M - |x|. */
uint64_t secagg_group_residue(const struct secagg_group *group, int64_t x);
/* 1 if all numbers are below M. */
int secagg_group_holds(const struct secagg_group *group, const uint64_t *numbers, uint64_t n);

/*
 * Sums of n numbers are kept at the width of the group's words, in memory of secagg_sums_bytes that is
 * aligned to 8 bytes and zero at first: add n numbers below M, a mask (or its negative) of n numbers, or
 * other sums.
 */
uint64_t secagg_sums_bytes(const struct secagg_group *group, uint64_t n);
void secagg_sums_add(const struct secagg_group *group, void *sums, const uint64_t *numbers, uint64_t n);
void secagg_sums_mask(const struct secagg_group *group, void *sums, uint64_t n, const uint8_t key[32],
                      int negative);
/* The sums, each below M. */
void secagg_sums_read(const struct secagg_group *group, const void *sums, uint64_t *numbers, uint64_t n);

/* A generator of secrets from a seed. */
struct secagg_source {
    uint8_t key[32];
    uint64_t block;
};
void secagg_source_bytes(struct secagg_source *source, uint8_t *out, size_t n);
/* n uniform elements of Shamir's field. */
void secagg_source_elements(struct secagg_source *source, uint64_t *out, size_t n);

/* Keyed BLAKE2b of (label, binding, a, b): the binding is that of the session. */
void secagg_derive(uint8_t out[32], const uint8_t key[32], const char *label, const uint8_t binding[32],
                   uint32_t a, uint32_t b);

/* One end of a pair in a direction or, for masks, the end with the smaller id first. */
struct secagg_end {
    uint32_t id;
    const uint8_t *public_key;
};
/* X25519 of n pairs of a secret and a public key, at most SECAGG_ABREAST, by far the dearest step; dear as
   one are several of them, up to eight, together, where `simulated` says that all clients are in this process: by our own
   vector code, which nobody but us has reviewed. A party's own keys meet libsodium alone. -1: a public key is unusable. */
#define SECAGG_ABREAST 8
extern const uint8_t secagg_base_point[32]; /* makes a secret's public key */
int secagg_exchange(uint8_t shared[][32], const uint8_t *const secrets[], const uint8_t *const publics[],
                    uint32_t n, int simulated);
/* A key that the two ends of a secret share, from the whole of it, for one label and order of the ends. */
void secagg_shared_key(uint8_t out[32], const uint8_t shared[32], const char *label,
                       const uint8_t binding[32], struct secagg_end first, struct secagg_end second);

#endif
