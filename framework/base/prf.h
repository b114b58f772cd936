/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prf.h - values that belong to ids: a keyed pseudorandom function of (seed, purpose, id bytes).
 *
 * Assignments from run.seed (which records are held out, weights, silos) must not change for anybody when
 * another user joins or leaves. So each depends on the id of the user, item or record alone, never on its
 * number, the order of ids or their count. The number of units drawn in this way is binomial, not exact. For
 * long draws at an id see random_seek_id in random.h.
 *
 *   key of a purpose    BLAKE2b-256, keyed by the root, of ("dpframe prf 1", |section|, section, |purpose|,
 *                       purpose)
 *   key within an id    BLAKE2b-256, keyed by the key above, of the id's bytes
 *   value               SipHash-2-4 (Aumasson, Bernstein, INDOCRYPT 2012), keyed by the first 16 bytes, of
 *                       the id's bytes: 64 bits, little-endian
 *
 * Ids are canonical: decimal integers, or UTF-8, as struct id_map holds them. Keys are as public as the seed.
 */
#ifndef DPF_BASE_PRF_H
#define DPF_BASE_PRF_H

#include <stdint.h>

#include "base/random.h"

struct prf {
    uint8_t key[32];
};

void prf_open(const struct random_root *root, const char *section, const char *purpose, struct prf *out);
/* The function within an id, for pairs: that of a user, taken at an item's id, is the record's. */
void prf_within(const struct prf *prf, const char *id, struct prf *out);
uint64_t prf_value(const struct prf *prf, const char *id);

/* The value as a real in [0, 1), a multiple of 2^-53. */
static inline double prf_unit(uint64_t value)
{
    return (double)(value >> 11) * 0x1p-53;
}

/* The value as one of n equal parts: floor(n value / 2^64), for 0 < n. */
static inline int64_t prf_part(uint64_t value, int64_t n)
{
    __extension__ typedef unsigned __int128 wide;
    return (int64_t)((wide)value * (uint64_t)n >> 64);
}

#endif
