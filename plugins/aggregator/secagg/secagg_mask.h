/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secagg_mask.h - numbers modulo M, masks that are uniform modulo M, and the derivation of keys.
 *
 * A mask is the ChaCha20 keystream of its key, read as words. M a power of two: a word's low bits.
 * Else: the high half of word * M (Lemire, ACM TOMACS 29(1), 2019), words that would bias it skipped, so
 * that a mask is exactly uniform. Both ends skip the same words.
 */
#ifndef SECAGG_MASK_H
#define SECAGG_MASK_H

#include <stddef.h>
#include <stdint.h>

struct secagg_group {
    uint64_t modulus; /* 0: 2^64 */
    uint64_t low;     /* modulus - 1 if that is a mask of bits, else 0 */
    int bits;         /* of a number on the wire */
    int word;         /* bytes of keystream for a number */
};

/* modulus 0, or 2 .. 2^63. */
void secagg_group_init(struct secagg_group *group, uint64_t modulus);
/* x modulo M; negative numbers stand for M - |x|. */
uint64_t secagg_group_residue(const struct secagg_group *group, int64_t x);
/*
 * Sums are kept unreduced while they fit: add n numbers below M, or a mask (its negative) of n numbers;
 * reduce at the end. At most 2^32 additions between reductions.
 */
void secagg_group_add(const struct secagg_group *group, uint64_t *sums, const uint64_t *numbers, uint64_t n);
void secagg_group_mask(const struct secagg_group *group, uint64_t *sums, uint64_t n, const uint8_t key[32],
                       int negative);
void secagg_group_reduce(const struct secagg_group *group, uint64_t *sums, uint64_t n);
/* 1 if all numbers are below M. */
int secagg_group_holds(const struct secagg_group *group, const uint64_t *numbers, uint64_t n);

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
/* The Diffie-Hellman secret of two ends, by far the dearest step. -1: the public key is unusable. */
int secagg_exchange(uint8_t shared[32], const uint8_t secret[32], const uint8_t other_public[32]);
/* A key that the two ends of a secret share, from the whole of it, for one label and order of the ends. */
void secagg_shared_key(uint8_t out[32], const uint8_t shared[32], const char *label,
                       const uint8_t binding[32], struct secagg_end first, struct secagg_end second);
/* Both, for a secret of which one key is made. */
int secagg_agree(uint8_t out[32], const uint8_t secret[32], const uint8_t other_public[32], const char *label,
                 const uint8_t binding[32], struct secagg_end first, struct secagg_end second);

#endif
