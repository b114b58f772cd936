/* SPDX-License-Identifier: Apache-2.0 */
#include "secagg_mask.h"

#include <sodium.h>
#include <string.h>

#include "secagg_shamir.h"
#include "secagg_wire.h"

__extension__ typedef unsigned __int128 wide;

#define CHUNK 8192 /* bytes of keystream at a time: they stay in the first-level cache */

union chunk {
    uint8_t bytes[CHUNK];
    uint16_t words16[CHUNK / 2];
    uint32_t words32[CHUNK / 4];
    uint64_t words64[CHUNK / 8];
};

/* ---- the group ---------------------------------------------------------------------------------- */

void secagg_group_init(struct secagg_group *group, uint64_t modulus)
{
    group->modulus = modulus;
    group->low = modulus == 0 ? UINT64_MAX : (modulus & (modulus - 1)) == 0 ? modulus - 1 : 0;
    group->bits = 0;
    for (uint64_t most = modulus - 1; most > 0; most >>= 1)
        group->bits++;
    if (group->low)
        group->word = group->bits <= 8 ? 1 : group->bits <= 16 ? 2 : group->bits <= 32 ? 4 : 8;
    else
        group->word = group->bits <= 24 ? 4 : 8; /* few words are skipped */
}

uint64_t secagg_group_residue(const struct secagg_group *group, int64_t x)
{
    if (group->low)
        return (uint64_t)x & group->low;
    const uint64_t size = (x < 0 ? 0 - (uint64_t)x : (uint64_t)x) % group->modulus;
    return x < 0 && size != 0 ? group->modulus - size : size;
}

/* Sums modulo a number that leaves no room for unreduced ones. */
static int is_tight(const struct secagg_group *group)
{
    return !group->low && group->word == 8;
}

static inline uint64_t add_tight(uint64_t sum, uint64_t x, uint64_t modulus)
{
    const uint64_t s = sum + x; /* both below 2^63 */
    return s - (s >= modulus ? modulus : 0);
}

void secagg_group_add(const struct secagg_group *group, uint64_t *sums, const uint64_t *numbers, uint64_t n)
{
    if (is_tight(group)) {
        for (uint64_t i = 0; i < n; i++)
            sums[i] = add_tight(sums[i], numbers[i], group->modulus);
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        sums[i] += numbers[i];
}

void secagg_group_reduce(const struct secagg_group *group, uint64_t *sums, uint64_t n)
{
    for (uint64_t i = 0; i < n && group->low; i++)
        sums[i] &= group->low;
    for (uint64_t i = 0; i < n && !group->low; i++)
        sums[i] %= group->modulus;
}

int secagg_group_holds(const struct secagg_group *group, const uint64_t *numbers, uint64_t n)
{
    int inside = 1;
    for (uint64_t i = 0; i < n && group->modulus; i++)
        inside &= numbers[i] < group->modulus;
    return inside;
}

/* ---- masks -------------------------------------------------------------------------------------- */

/* The keystream from a block on; n is a multiple of 64 except at the end. */
static void keystream(const uint8_t key[32], uint64_t block, uint8_t *out, size_t n)
{
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES]; /* a key has one stream */
    memset(out, 0, n);
    crypto_stream_chacha20_xor_ic(out, out, n, nonce, block, key);
}

/* Wrapping arithmetic is arithmetic modulo 2^64. */
#define DEFINE_ADD_WORDS(TYPE)                                                                               \
    static void add_##TYPE(uint64_t *restrict sums, const TYPE *restrict words, uint64_t n, int negative)    \
    {                                                                                                        \
        if (!negative)                                                                                       \
            for (uint64_t i = 0; i < n; i++)                                                                 \
                sums[i] += words[i];                                                                         \
        else                                                                                                 \
            for (uint64_t i = 0; i < n; i++)                                                                 \
                sums[i] -= words[i];                                                                         \
    }
DEFINE_ADD_WORDS(uint8_t)
DEFINE_ADD_WORDS(uint16_t)
DEFINE_ADD_WORDS(uint32_t)
DEFINE_ADD_WORDS(uint64_t)

static void mask_by_bits(const struct secagg_group *group, uint64_t *sums, uint64_t n, const uint8_t *key,
                         int negative)
{
    union chunk chunk;
    const uint64_t step = CHUNK / (uint64_t)group->word;
    for (uint64_t at = 0; at < n; at += step) {
        const uint64_t some = n - at < step ? n - at : step;
        keystream(key, at * (uint64_t)group->word / 64, chunk.bytes, (size_t)(some * (uint64_t)group->word));
        if (group->word == 1)
            add_uint8_t(sums + at, chunk.bytes, some, negative);
        else if (group->word == 2)
            add_uint16_t(sums + at, chunk.words16, some, negative);
        else if (group->word == 4)
            add_uint32_t(sums + at, chunk.words32, some, negative);
        else
            add_uint64_t(sums + at, chunk.words64, some, negative);
    }
    sodium_memzero(&chunk, sizeof(chunk));
}

/*
 * Adds a residue for each of at most n accepted words of a chunk; how many there were. Nothing here
 * depends on secrets but which words are skipped, and skipped words hide nothing.
 */
static uint64_t take_words32(uint64_t modulus, uint64_t *restrict sums, const uint32_t *restrict words,
                             uint64_t n_words, uint64_t n, uint64_t turn, uint64_t sign)
{
    const uint32_t m = (uint32_t)modulus, biased = (uint32_t)((UINT64_C(1) << 32) % m);
    uint32_t skipped = 0;
    uint64_t taken = 0;
    for (uint64_t i = 0; i < n_words; i++)
        skipped |= words[i] * m < biased;
    if (!skipped) {
        n = n < n_words ? n : n_words;
        for (uint64_t i = 0; i < n; i++)
            sums[i] += turn + (((uint64_t)words[i] * m >> 32) ^ sign) - sign;
        return n;
    }
    for (uint64_t i = 0; i < n_words && taken < n; i++)
        if (words[i] * m >= biased)
            sums[taken++] += turn + (((uint64_t)words[i] * m >> 32) ^ sign) - sign;
    return taken;
}

static uint64_t take_words64(uint64_t modulus, uint64_t *sums, const uint64_t *words, uint64_t n_words,
                             uint64_t n, int negative)
{
    const uint64_t biased = (0 - modulus) % modulus; /* 2^64 mod modulus */
    uint64_t taken = 0;
    for (uint64_t i = 0; i < n_words && taken < n; i++) {
        const wide product = (wide)words[i] * modulus;
        if ((uint64_t)product < biased)
            continue;
        const uint64_t x = (uint64_t)(product >> 64);
        sums[taken] = add_tight(sums[taken], negative ? modulus - x : x, modulus);
        taken++;
    }
    return taken;
}

static void mask_by_residues(const struct secagg_group *group, uint64_t *sums, uint64_t n, const uint8_t *key,
                             int negative)
{
    union chunk chunk;
    /* -x is modulus - x; x ^ sign - sign is -x where sign is all ones. */
    const uint64_t sign = negative ? UINT64_MAX : 0, turn = negative ? group->modulus : 0;
    uint64_t block = 0, at = 0;
    while (at < n) {
        /* Whole blocks, so that what is skipped at their end does not matter for the next. */
        uint64_t bytes = ((n - at) * (uint64_t)group->word + 63) / 64 * 64;
        bytes = bytes < CHUNK ? bytes : CHUNK;
        keystream(key, block, chunk.bytes, (size_t)bytes);
        block += bytes / 64;
        if (group->word == 4)
            at += take_words32(group->modulus, sums + at, chunk.words32, bytes / 4, n - at, turn, sign);
        else
            at += take_words64(group->modulus, sums + at, chunk.words64, bytes / 8, n - at, negative);
    }
    sodium_memzero(&chunk, sizeof(chunk));
}

void secagg_group_mask(const struct secagg_group *group, uint64_t *sums, uint64_t n, const uint8_t key[32],
                       int negative)
{
    if (group->low)
        mask_by_bits(group, sums, n, key, negative);
    else
        mask_by_residues(group, sums, n, key, negative);
}

/* ---- secrets and keys --------------------------------------------------------------------------- */

void secagg_source_bytes(struct secagg_source *source, uint8_t *out, size_t n)
{
    keystream(source->key, source->block, out, n);
    source->block += (n + 63) / 64;
}

void secagg_source_elements(struct secagg_source *source, uint64_t *out, size_t n)
{
    secagg_source_bytes(source, (uint8_t *)out, n * sizeof(*out));
    for (size_t i = 0; i < n; i++) {
        out[i] &= SECAGG_PRIME;
        while (out[i] == SECAGG_PRIME) { /* once in 2^61 */
            secagg_source_bytes(source, (uint8_t *)&out[i], sizeof(out[i]));
            out[i] &= SECAGG_PRIME;
        }
    }
}

static void hash_begin(crypto_generichash_state *state, const uint8_t key[32], const char *label,
                       const uint8_t binding[32])
{
    static const char domain[16] = "dpframe secagg 1"; /* not terminated: all of it is hashed */
    const size_t length = strlen(label);
    const uint8_t size = (uint8_t)length;
    crypto_generichash_init(state, key, 32, 32);
    crypto_generichash_update(state, (const uint8_t *)domain, sizeof(domain));
    crypto_generichash_update(state, &size, 1);
    crypto_generichash_update(state, (const uint8_t *)label, length);
    crypto_generichash_update(state, binding, 32);
}

static void hash_id(crypto_generichash_state *state, uint32_t id)
{
    uint8_t bytes[4];
    secagg_put32(bytes, id);
    crypto_generichash_update(state, bytes, sizeof(bytes));
}

void secagg_derive(uint8_t out[32], const uint8_t key[32], const char *label, const uint8_t binding[32],
                   uint32_t a, uint32_t b)
{
    crypto_generichash_state state;
    hash_begin(&state, key, label, binding);
    hash_id(&state, a);
    hash_id(&state, b);
    crypto_generichash_final(&state, out, 32);
    sodium_memzero(&state, sizeof(state));
}

int secagg_exchange(uint8_t shared[32], const uint8_t secret[32], const uint8_t other_public[32])
{
    /* Refused is a point of small order: everybody would know the secret. */
    return crypto_scalarmult(shared, secret, other_public) == 0 ? 0 : -1;
}

void secagg_shared_key(uint8_t out[32], const uint8_t shared[32], const char *label,
                       const uint8_t binding[32], struct secagg_end first, struct secagg_end second)
{
    crypto_generichash_state state;
    hash_begin(&state, shared, label, binding);
    hash_id(&state, first.id);
    hash_id(&state, second.id);
    crypto_generichash_update(&state, first.public_key, 32);
    crypto_generichash_update(&state, second.public_key, 32);
    crypto_generichash_final(&state, out, 32);
    sodium_memzero(&state, sizeof(state));
}

int secagg_agree(uint8_t out[32], const uint8_t secret[32], const uint8_t other_public[32], const char *label,
                 const uint8_t binding[32], struct secagg_end first, struct secagg_end second)
{
    uint8_t shared[32];
    if (secagg_exchange(shared, secret, other_public) != 0)
        return -1;
    secagg_shared_key(out, shared, label, binding, first, second);
    sodium_memzero(shared, sizeof(shared));
    return 0;
}
