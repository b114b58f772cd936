/* SPDX-License-Identifier: Apache-2.0 */
#include "secagg_mask.h"

#include <sodium.h>
#include <string.h>

#include "secagg_keystream.h"
#include "secagg_shamir.h"
#include "secagg_wire.h"
#include "x25519_lanes.h"

#define SIMD_TEMPLATE "secagg_residues.h"
#include "each_kind.h"

__extension__ typedef unsigned __int128 wide;

#define CHUNK 4096 /* bytes of keystream at a time: they stay in the first-level cache, and so do sums */

union chunk {
    uint8_t bytes[CHUNK];
    uint16_t words16[CHUNK / 2];
    uint32_t words32[CHUNK / 4];
    uint64_t words64[CHUNK / 8];
};

/* ---- the group ---------------------------------------------------------------------------------- */

/* The fewest bytes in which sums of two residues fit and few words are biased. */
static int word_for(uint64_t modulus)
{
    if (modulus <= UINT64_C(1) << 15 && (UINT64_C(1) << 16) % modulus <= 2048) /* one word in 32 */
        return 2;
    return modulus <= UINT64_C(1) << 24 ? 4 : 8; /* one in 256; in two, the worst for M near 2^63 */
}

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
        group->word = word_for(modulus);
    group->kind = simd_choose(SIMD_KIND_AUTO);
}

uint64_t secagg_group_residue(const struct secagg_group *group, int64_t x)
{
    if (group->low)
        return (uint64_t)x & group->low;
    const uint64_t size = (x < 0 ? 0 - (uint64_t)x : (uint64_t)x) % group->modulus;
    return x < 0 && size != 0 ? group->modulus - size : size;
}

int secagg_group_holds(const struct secagg_group *group, const uint64_t *numbers, uint64_t n)
{
    int inside = 1;
    for (uint64_t i = 0; i < n && group->modulus; i++)
        inside &= numbers[i] < group->modulus;
    return inside;
}

/* ---- sums --------------------------------------------------------------------------------------- */

uint64_t secagg_sums_bytes(const struct secagg_group *group, uint64_t n)
{
    return n * (uint64_t)group->word;
}

/*
 * Where M is a power of two, words wrap, and what they hold above M does not matter. Else a sum is below M,
 * and the sum of two is reduced by one subtraction, as 2 M is at most 2^16, 2^32 or 2^64.
 */
#define DEFINE_SUMS(BITS, WORD)                                                                              \
    static void add_numbers##BITS(WORD *restrict sums, const uint64_t *restrict numbers, uint64_t n,         \
                                  WORD modulus)                                                              \
    {                                                                                                        \
        for (uint64_t i = 0; i < n; i++) {                                                                   \
            const WORD s = (WORD)(sums[i] + numbers[i]);                                                     \
            sums[i] = (WORD)(s - (modulus && s >= modulus ? modulus : 0));                                   \
        }                                                                                                    \
    }                                                                                                        \
    static void add_words##BITS(WORD *restrict sums, const WORD *restrict words, uint64_t n, int negative)   \
    {                                                                                                        \
        if (!negative)                                                                                       \
            for (uint64_t i = 0; i < n; i++)                                                                 \
                sums[i] = (WORD)(sums[i] + words[i]);                                                        \
        else                                                                                                 \
            for (uint64_t i = 0; i < n; i++)                                                                 \
                sums[i] = (WORD)(sums[i] - words[i]);                                                        \
    }                                                                                                        \
    static void read_words##BITS(const WORD *sums, uint64_t *numbers, uint64_t n, uint64_t low)              \
    {                                                                                                        \
        for (uint64_t i = 0; i < n; i++)                                                                     \
            numbers[i] = sums[i] & low;                                                                      \
    }
DEFINE_SUMS(8, uint8_t)
DEFINE_SUMS(16, uint16_t)
DEFINE_SUMS(32, uint32_t)
DEFINE_SUMS(64, uint64_t)
#undef DEFINE_SUMS

void secagg_sums_add(const struct secagg_group *group, void *sums, const uint64_t *numbers, uint64_t n)
{
    const uint64_t modulus = group->low ? 0 : group->modulus;
    if (group->word == 1)
        add_numbers8(sums, numbers, n, 0);
    else if (group->word == 2)
        add_numbers16(sums, numbers, n, (uint16_t)modulus);
    else if (group->word == 4)
        add_numbers32(sums, numbers, n, (uint32_t)modulus);
    else
        add_numbers64(sums, numbers, n, modulus);
}

void secagg_sums_read(const struct secagg_group *group, const void *sums, uint64_t *numbers, uint64_t n)
{
    const uint64_t low = group->low ? group->low : UINT64_MAX;
    if (group->word == 1)
        read_words8(sums, numbers, n, low);
    else if (group->word == 2)
        read_words16(sums, numbers, n, low);
    else if (group->word == 4)
        read_words32(sums, numbers, n, low);
    else
        read_words64(sums, numbers, n, low);
}

/* ---- masks of bits ------------------------------------------------------------------------------ */

static void mask_by_bits(const struct secagg_group *group, uint8_t *sums, uint64_t n, const uint8_t *key,
                         int negative)
{
    union chunk chunk;
    const uint64_t word = (uint64_t)group->word, step = CHUNK / word;
    for (uint64_t at = 0; at < n; at += step) {
        const uint64_t some = n - at < step ? n - at : step;
        void *to = sums + at * word;
        secagg_keystream(group->kind, key, 0, at * word / 64, chunk.words64, (size_t)(some * word + 63) / 64);
        if (word == 1)
            add_words8(to, chunk.bytes, some, negative);
        else if (word == 2)
            add_words16(to, chunk.words16, some, negative);
        else if (word == 4)
            add_words32(to, chunk.words32, some, negative);
        else
            add_words64(to, chunk.words64, some, negative);
    }
    sodium_memzero(&chunk, sizeof(chunk));
}

/* ---- masks of residues -------------------------------------------------------------------------- */

#define SPARE_BLOCKS 16 /* at a time: as cheap as one */

/* Words in place of biased ones. */
struct spare {
    const struct secagg_group *group;
    const uint8_t *key;
    uint64_t biased; /* 2^64 mod M */
    uint64_t block;
    uint64_t words[SPARE_BLOCKS * SECAGG_BLOCK_WORDS];
    int left; /* unused words: the last ones */
};

static uint64_t spare_residue(struct spare *spare)
{
    const int n_words = SPARE_BLOCKS * SECAGG_BLOCK_WORDS;
    for (;;) {
        if (spare->left == 0) {
            secagg_keystream(spare->group->kind, spare->key, 1, spare->block, spare->words, SPARE_BLOCKS);
            spare->block += SPARE_BLOCKS;
            spare->left = n_words;
        }
        const wide product = (wide)spare->words[n_words - spare->left--] * spare->group->modulus;
        if ((uint64_t)product >= spare->biased)
            return (uint64_t)(product >> 64);
    }
}

/* The sum in which x was added (or subtracted) has `right` instead. */
static uint64_t replace(uint64_t sum, uint64_t x, uint64_t right, uint64_t modulus, int negative)
{
    const uint64_t more = negative ? x : right, less = negative ? right : x;
    sum += more;
    sum -= sum >= modulus ? modulus : 0;
    return sum >= less ? sum - less : sum + modulus - less;
}

/* Sixty-four bytes that are 0 or 1 as bits. */
static uint64_t flags_of(const uint8_t *flags)
{
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t eight;
        memcpy(&eight, flags + 8 * i, sizeof(eight));
        bits |= (eight * UINT64_C(0x0102040810204080) >> 56) << (8 * i);
    }
    return bits;
}

/*
 * A chunk of words to sums. Nothing here depends on secrets but which words are biased, and these hide
 * nothing.
 */
#define DEFINE_TAKE(BITS, WORD)                                                                              \
    static void take_words##BITS(struct spare *spare, WORD *sums, const WORD *words, uint64_t n,             \
                                 int negative)                                                               \
    {                                                                                                        \
        const WORD m = (WORD)spare->group->modulus, biased = (WORD)((UINT64_C(1) << BITS) % m);              \
        uint8_t flags[CHUNK / sizeof(WORD)];                                                                 \
        const int kind = spare->group->kind;                                                                 \
        memset(flags + n / 64 * 64, 0, n < sizeof(flags) ? 64 : 0);                                          \
        SIMD_PICK(kind, add_residues##BITS)(sums, words, n, m, biased, negative, flags);                     \
        for (uint64_t i = 0; i < n; i += 64) {                                                               \
            for (uint64_t some = flags_of(flags + i); some != 0; some &= some - 1) {                         \
                const uint64_t k = i + (uint64_t)__builtin_ctzll(some);                                      \
                sums[k] = (WORD)replace(sums[k], (uint64_t)words[k] * m >> BITS, spare_residue(spare), m,    \
                                        negative);                                                           \
            }                                                                                                \
        }                                                                                                    \
    }
DEFINE_TAKE(16, uint16_t)
DEFINE_TAKE(32, uint32_t)
#undef DEFINE_TAKE

static void take_words64(struct spare *spare, uint64_t *sums, const uint64_t *words, uint64_t n, int negative)
{
    const uint64_t modulus = spare->group->modulus;
    for (uint64_t i = 0; i < n; i++) {
        const wide product = (wide)words[i] * modulus;
        const uint64_t x =
            (uint64_t)product < spare->biased ? spare_residue(spare) : (uint64_t)(product >> 64);
        const uint64_t s = sums[i] + (negative ? modulus - x : x); /* below 2^64 */
        sums[i] = s - (s >= modulus ? modulus : 0);
    }
}

static void mask_by_residues(const struct secagg_group *group, uint8_t *sums, uint64_t n, const uint8_t *key,
                             int negative)
{
    union chunk chunk;
    struct spare spare = {.group = group, .key = key, .biased = (0 - group->modulus) % group->modulus};
    const uint64_t word = (uint64_t)group->word, step = CHUNK / word;
    for (uint64_t at = 0; at < n; at += step) {
        const uint64_t some = n - at < step ? n - at : step;
        void *to = sums + at * word;
        secagg_keystream(group->kind, key, 0, at * word / 64, chunk.words64, (size_t)(some * word + 63) / 64);
        if (word == 2)
            take_words16(&spare, to, chunk.words16, some, negative);
        else if (word == 4)
            take_words32(&spare, to, chunk.words32, some, negative);
        else
            take_words64(&spare, to, chunk.words64, some, negative);
    }
    sodium_memzero(&chunk, sizeof(chunk));
    sodium_memzero(&spare, sizeof(spare));
}

void secagg_sums_mask(const struct secagg_group *group, void *sums, uint64_t n, const uint8_t key[32],
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
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES]; /* a key has one stream */
    memset(out, 0, n);
    crypto_stream_chacha20_xor_ic(out, out, n, nonce, source->block, source->key);
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

const uint8_t secagg_base_point[32] = {9};

/* The first of n exchanges, as many as there are lanes; how many these are. */
static uint32_t exchange_abreast(uint8_t shared[][32], const uint8_t *const secrets[],
                                 const uint8_t *const publics[], uint32_t n)
{
    const uint8_t *lane_secrets[X25519_LANES_MOST], *lane_publics[X25519_LANES_MOST];
    uint8_t out[X25519_LANES_MOST][32];
    const uint32_t width = x25519_width(), done = n < width ? n : width;
    for (uint32_t l = 0; l < width; l++) {
        lane_secrets[l] = secrets[l < n ? l : 0];
        lane_publics[l] = publics[l < n ? l : 0];
    }
    x25519_lanes(lane_secrets, lane_publics, out);
    memcpy(shared, out, (size_t)done * sizeof(out[0]));
    sodium_memzero(out, sizeof(out));
    return done;
}

/* Refused is a point of small order, for which the secret is zero: everybody would know it. */
int secagg_exchange(uint8_t shared[][32], const uint8_t *const secrets[], const uint8_t *const publics[],
                    uint32_t n, int simulated)
{
    uint32_t done = 0;
    int zero = 0;
    if (simulated && x25519_width() > 0)
        while (n - done >= X25519_LANES_WORTH)
            done += exchange_abreast(shared + done, secrets + done, publics + done, n - done);
    for (uint32_t i = 0; i < done; i++)
        zero |= sodium_is_zero(shared[i], sizeof(shared[i]));
    for (uint32_t i = done; i < n; i++)
        zero |= crypto_scalarmult(shared[i], secrets[i], publics[i]) != 0;
    return zero ? -1 : 0;
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
