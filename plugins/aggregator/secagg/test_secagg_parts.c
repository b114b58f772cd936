/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the protocol on their own: packing, masks, sharing, graphs; known answers. */
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "kit/test.h"
#include "secagg_agreed.h"
#include "secagg_client.h"
#include "secagg_graph.h"
#include "secagg_keystream.h"
#include "secagg_mask.h"
#include "secagg_shamir.h"
#include "secagg_wire.h"
#include "simd_kind.h"

__extension__ typedef unsigned __int128 wide;

static struct secagg_source source_of(uint8_t byte)
{
    struct secagg_source source = {.block = 0};
    memset(source.key, byte, sizeof(source.key));
    return source;
}

/* ---- vectors ------------------------------------------------------------------------------------ */

TEST(packing_is_exact)
{
    enum { N = 77 };
    uint64_t numbers[N], back[N];
    for (int bits = 1; bits <= 64; bits++) {
        struct secagg_source source = source_of((uint8_t)bits);
        for (uint64_t n = 1; n <= N; n += 4) {
            const size_t bytes = (size_t)secagg_packed_bytes(n, bits);
            uint8_t *packed = malloc(bytes); /* exact: a byte too far is found by the sanitizer */
            assert_non_null(packed);
            secagg_source_bytes(&source, (uint8_t *)numbers, n * sizeof(*numbers));
            for (uint64_t i = 0; i < n; i++)
                numbers[i] = bits == 64 ? numbers[i] : numbers[i] & ((UINT64_C(1) << bits) - 1);
            secagg_pack(numbers, n, bits, packed);
            for (uint64_t i = 0; i < n * (uint64_t)bits; i++) /* bit by bit, as the format is defined */
                assert_int_equal(packed[i / 8] >> (i % 8) & 1,
                                 numbers[i / (uint64_t)bits] >> (i % (uint64_t)bits) & 1);
            secagg_unpack(packed, n, bits, back);
            assert_memory_equal(numbers, back, n * sizeof(*numbers));
            free(packed);
        }
    }
}

static const uint64_t moduli[] = {2,
                                  3,
                                  101,
                                  256,
                                  1001,
                                  1501,
                                  1 << 16,
                                  14146,
                                  32000,
                                  (1 << 15) + 1,
                                  (1 << 24) - 3,
                                  (1 << 24) + 1,
                                  UINT64_C(1) << 32,
                                  (UINT64_C(1) << 40) + 15,
                                  (UINT64_C(1) << 62) + 1,
                                  (UINT64_C(1) << 63) - 25,
                                  (UINT64_C(1) << 63),
                                  0};
#define N_MODULI (sizeof(moduli) / sizeof(moduli[0]))
static const int kinds[] = {SIMD_KIND_PORTABLE, SIMD_KIND_AVX2, SIMD_KIND_AVX512, SIMD_KIND_NEON};

static int has_kind(int kind)
{
    return simd_choose(kind) == kind;
}

static void keystream_bytes(const uint8_t key[32], uint8_t nonce, uint64_t block, uint8_t *out, size_t n)
{
    const uint8_t nonces[8] = {nonce};
    memset(out, 0, n);
    crypto_stream_chacha20_xor_ic(out, out, n, nonces, block, key);
}

/* The keystream is libsodium's, whatever the processor and the number of blocks, over a carry of the counter.
 */
TEST(keystream_is_chacha20)
{
    enum { MOST = 40 };
    const uint8_t key[32] = {5, 6, 7};
    const uint64_t firsts[] = {0, 3, UINT64_C(0xfffffff5)};
    uint64_t made[MOST * SECAGG_BLOCK_WORDS];
    uint8_t expected[sizeof(made)];
    for (int k = 0; k < 4; k++)
        for (int f = 0; f < 3 && has_kind(kinds[k]); f++)
            for (size_t n = 1; n <= MOST; n++) {
                secagg_keystream(kinds[k], key, 1, firsts[f], made, n);
                keystream_bytes(key, 1, firsts[f], expected, n * 64);
                assert_memory_equal(made, expected, n * 64);
            }
}

/* The definition of a mask, number by number; how many words were replaced. */
static uint64_t mask_as_defined(const struct secagg_group *group, const uint8_t key[32], uint64_t *out,
                                uint64_t n)
{
    const uint64_t word = (uint64_t)group->word, spares = 4 * n + 64;
    uint8_t *bytes = malloc(n * word), *spare = malloc(spares * 8);
    uint64_t used = 0, replaced = 0;
    assert_non_null(bytes);
    assert_non_null(spare);
    keystream_bytes(key, 0, 0, bytes, n * word);
    keystream_bytes(key, 1, 0, spare, spares * 8);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t w = 0, bits = 8 * word;
        memcpy(&w, bytes + i * word, word);
        if (group->low) {
            out[i] = w & group->low;
            continue;
        }
        const wide m = group->modulus;
        wide range = (wide)1 << bits;
        if (w * m % range < range % m) {
            range = (wide)1 << 64;
            bits = 64;
            do {
                assert_true(used < spares);
                w = secagg_get64(spare + 8 * used++);
            } while (w * m % range < range % m);
            replaced++;
        }
        out[i] = (uint64_t)(w * m >> bits);
    }
    free(bytes);
    free(spare);
    return replaced;
}

/* Added to sums and taken from them, on every kind of processor, for lengths that end anywhere in a chunk. */
TEST(masks_are_as_defined)
{
    enum { N = 5003 };
    static uint64_t mask[N], start[N], sums[N], got[N];
    static const uint64_t lengths[] = {1, 31, 64, 1000, N};
    for (size_t m = 0; m < N_MODULI; m++) {
        struct secagg_group group;
        struct secagg_source source = source_of((uint8_t)m);
        const uint8_t key[32] = {1, (uint8_t)m};
        secagg_group_init(&group, moduli[m]);
        const uint64_t replaced = mask_as_defined(&group, key, mask, N);
        assert_true(moduli[m] != 1001 || (group.word == 2 && replaced > 0));
        assert_true(moduli[m] != (UINT64_C(1) << 62) + 1 || replaced > N / 5);
        for (int i = 0; i < N; i++) {
            secagg_source_bytes(&source, (uint8_t *)&start[i], 8);
            start[i] = secagg_group_residue(&group, (int64_t)start[i]);
        }
        for (int k = 0; k < 4; k++)
            for (size_t l = 0; l < 5 && has_kind(kinds[k]); l++)
                for (int negative = 0; negative < 2; negative++) {
                    const uint64_t n = lengths[l];
                    group.kind = kinds[k];
                    memset(sums, 0, sizeof(sums));
                    secagg_sums_add(&group, sums, start, n);
                    secagg_sums_mask(&group, sums, n, key, negative);
                    secagg_sums_read(&group, sums, got, n);
                    for (uint64_t i = 0; i < n; i++) {
                        const wide range = moduli[m] ? moduli[m] : (wide)1 << 64;
                        const wide sum = negative ? range + start[i] - mask[i] : (wide)start[i] + mask[i];
                        assert_true(got[i] == (uint64_t)(sum % range));
                    }
                }
    }
}

/* Many masks and numbers stay exact, whatever the width of the sums; nothing is read beyond them. */
TEST(masks_cancel)
{
    enum { N = 777, KEYS = 70 };
    static uint64_t start[N], got[N];
    for (size_t m = 0; m < N_MODULI; m++) {
        struct secagg_group group;
        struct secagg_source source = source_of((uint8_t)m);
        secagg_group_init(&group, moduli[m]);
        void *sums = calloc(1, secagg_sums_bytes(&group, N)); /* exact, for the sanitizer */
        assert_non_null(sums);
        for (int i = 0; i < N; i++) {
            secagg_source_bytes(&source, (uint8_t *)&start[i], 8);
            start[i] = secagg_group_residue(&group, (int64_t)start[i]);
        }
        secagg_sums_add(&group, sums, start, N);
        for (int k = 0; k < 2 * KEYS; k++) { /* each key once more, with the other sign */
            const uint8_t key[32] = {2, (uint8_t)m, (uint8_t)(k % KEYS)};
            secagg_sums_mask(&group, sums, N, key, (k % KEYS % 3 == 0) ^ (k >= KEYS));
            secagg_sums_read(&group, sums, got, N);
            assert_true(secagg_group_holds(&group, got, N));
            assert_int_equal(memcmp(got, start, sizeof(start)) == 0, k == 2 * KEYS - 1);
        }
        free(sums);
    }
}

/* Chi square of the residues modulo 3 * 2^22 - 1, by tercile: 2 degrees of freedom; 40 is beyond chance. A
   range without its last value, or words reduced by a remainder, would be seen modulo 3. */
TEST(masks_are_uniform)
{
    enum { N = 300000 };
    const uint64_t thirds[] = {3, 3 * (UINT64_C(1) << 22) - 1, 3 * (UINT64_C(1) << 61) + 1};
    for (int m = 0; m < 3; m++) {
        struct secagg_group group;
        const uint8_t key[32] = {4, (uint8_t)m};
        uint64_t *sums = calloc(N, sizeof(*sums)), *mask = calloc(N, sizeof(*mask)), counts[3] = {0};
        assert_non_null(sums);
        assert_non_null(mask);
        secagg_group_init(&group, thirds[m]);
        secagg_sums_mask(&group, sums, N, key, 0);
        secagg_sums_read(&group, sums, mask, N);
        for (int i = 0; i < N; i++)
            counts[mask[i] / (thirds[m] / 3 + (thirds[m] % 3 != 0))]++;
        double chi = 0;
        for (int k = 0; k < 3; k++)
            chi += ((double)counts[k] - N / 3.0) * ((double)counts[k] - N / 3.0) / (N / 3.0);
        assert_true(chi < 40);
        free(sums);
        free(mask);
    }
}

/*
 * Every residue modulo 32,000 from words of 16 bits, of which 1,536 are biased: kept, they would make as many
 * residues half as likely again, and chi square 35,000 larger. 31,999 degrees of freedom: mean 31,999,
 * standard deviation 253; between 30,000 and 34,000 is 8 of these either way.
 */
TEST(biased_words_are_replaced)
{
    enum { M = 32000, N = M * 100 };
    struct secagg_group group;
    const uint8_t key[32] = {11};
    uint64_t *sums = calloc(N, sizeof(*sums)), *mask = calloc(N, sizeof(*mask)),
             *counts = calloc(M, sizeof(*counts));
    assert_non_null(sums);
    assert_non_null(mask);
    assert_non_null(counts);
    secagg_group_init(&group, M);
    assert_int_equal(group.word, 2);
    secagg_sums_mask(&group, sums, N, key, 0);
    secagg_sums_read(&group, sums, mask, N);
    for (int i = 0; i < N; i++)
        counts[mask[i]]++;
    double chi = 0;
    for (int k = 0; k < M; k++)
        chi += ((double)counts[k] - 100) * ((double)counts[k] - 100) / 100;
    assert_true(chi > 30000 && chi < 34000);
    free(sums);
    free(mask);
    free(counts);
}

/* ChaCha20 with an all-zero key and nonce: the first words of the keystream are published (RFC 8439, A.1). */
TEST(masks_known_answer)
{
    const uint8_t key[32] = {0};
    uint64_t sums[4] = {0}, mask[4];
    struct secagg_group group;
    secagg_group_init(&group, UINT64_C(1) << 32);
    secagg_sums_mask(&group, sums, 4, key, 0);
    secagg_sums_read(&group, sums, mask, 4);
    assert_int_equal(mask[0], 0xade0b876);
    assert_int_equal(mask[1], 0x903df1a0);
    assert_int_equal(mask[2], 0xe56a5d40);
    assert_int_equal(mask[3], 0x28bd8653);
    secagg_group_init(&group, 0);
    memset(sums, 0, sizeof(sums));
    secagg_sums_mask(&group, sums, 1, key, 0);
    secagg_sums_read(&group, sums, mask, 1);
    assert_true(mask[0] == UINT64_C(0x903df1a0ade0b876));
    secagg_group_init(&group, 1000); /* (0xb876 * 1000) >> 16, (0xade0 * 1000) >> 16 */
    memset(sums, 0, sizeof(sums));
    secagg_sums_mask(&group, sums, 2, key, 0);
    secagg_sums_read(&group, sums, mask, 2);
    assert_int_equal(mask[0], 720);
    assert_int_equal(mask[1], 679);
}

TEST(residues)
{
    struct secagg_group group;
    secagg_group_init(&group, 7);
    assert_int_equal(secagg_group_residue(&group, -1), 6);
    assert_int_equal(secagg_group_residue(&group, -7), 0);
    assert_int_equal(secagg_group_residue(&group, INT64_MIN), 6); /* -2^63 = -(2^3)^21 = -1 */
    assert_int_equal(group.bits, 3);
    secagg_group_init(&group, 8);
    assert_int_equal(secagg_group_residue(&group, -1), 7);
    assert_int_equal(group.bits, 3);
    secagg_group_init(&group, 9);
    assert_int_equal(group.bits, 4);
    secagg_group_init(&group, 0);
    assert_int_equal(group.bits, 64);
    assert_true(secagg_group_residue(&group, -1) == UINT64_MAX);
}

/* ---- sharing ------------------------------------------------------------------------------------ */

static void combine(const uint32_t *ids, uint8_t (*shares)[SECAGG_SHARE_BYTES], uint32_t n, secagg_secret out)
{
    uint64_t points[16], weights[16], work[16];
    assert_true(n <= 16);
    for (uint32_t i = 0; i < n; i++)
        points[i] = secagg_point(ids[i]);
    assert_int_equal(secagg_weights(points, n, weights, work), 0);
    memset(out, 0, sizeof(secagg_secret));
    for (uint32_t i = 0; i < n; i++)
        secagg_combine(weights[i], shares[i], out);
}

/* Every subset of 7 members: t and more give the secret, fewer do not. */
TEST(thresholds)
{
    static const uint32_t all[7] = {0, 1, 5, 77, 1000000, 4000000000U, 4294967294U};
    for (uint32_t threshold = 2; threshold <= 7; threshold++) {
        struct secagg_source source = source_of((uint8_t)threshold);
        secagg_secret coefficients[7], secret;
        uint8_t shares[7][SECAGG_SHARE_BYTES];
        secagg_source_elements(&source, coefficients[0], (size_t)threshold * SECAGG_LANES);
        for (int i = 0; i < 7; i++)
            secagg_share(coefficients, threshold, secagg_point(all[i]), shares[i]);
        for (unsigned set = 1; set < 1U << 7; set++) {
            uint32_t ids[7], n = 0;
            uint8_t some[7][SECAGG_SHARE_BYTES];
            for (int i = 0; i < 7; i++)
                if (set >> i & 1) {
                    memcpy(some[n], shares[i], SECAGG_SHARE_BYTES);
                    ids[n++] = all[i];
                }
            combine(ids, some, n, secret);
            const int same = memcmp(secret, coefficients[0], sizeof(secret)) == 0;
            assert_int_equal(same, n >= threshold);
        }
    }
}

/* threshold - 1 shares fit every secret: for any other one there are coefficients that give the same shares.
 */
TEST(too_few_shares_say_nothing)
{
    struct secagg_source source = source_of(3);
    secagg_secret coefficients[2], other[2];
    uint8_t share[SECAGG_SHARE_BYTES], again[SECAGG_SHARE_BYTES];
    secagg_source_elements(&source, coefficients[0], 2 * SECAGG_LANES);
    secagg_share(coefficients, 2, 2, share);
    for (int lane = 0; lane < SECAGG_LANES; lane++) {
        other[0][lane] = 42;
        /* (share - 42) / 2, where 1/2 is 2^60 */
        const uint64_t difference = (secagg_get64(share + 8 * lane) + SECAGG_PRIME - 42) % SECAGG_PRIME;
        other[1][lane] = difference % 2 ? (difference + SECAGG_PRIME) / 2 : difference / 2;
    }
    secagg_share(other, 2, 2, again);
    assert_memory_equal(share, again, sizeof(share));
}

/* f(x) = 1 + 2x + 3x^2 and one that wraps, worked out with other means (Python's integers). */
TEST(sharing_known_answer)
{
    secagg_secret coefficients[3] = {{1, SECAGG_PRIME - 1, 123456789, UINT64_C(1234567890123456789)},
                                     {2, SECAGG_PRIME - 2, 987654321, UINT64_C(987654321987654321)},
                                     {3, SECAGG_PRIME - 3, 555555555, UINT64_C(1111111111111111111)}};
    uint8_t share[SECAGG_SHARE_BYTES];
    secagg_share(coefficients, 3, 10, share);
    assert_int_equal(secagg_get64(share), 321);
    assert_true(secagg_get64(share + 8) == SECAGG_PRIME - 321);
    assert_int_equal(secagg_get64(share + 16), UINT64_C(65555555499));
    assert_true(secagg_get64(share + 24) == UINT64_C(12542732785331696));
    secagg_share(coefficients, 3, UINT64_C(4294967295), share);
    assert_true(secagg_get64(share) == UINT64_C(2305842992033824793));
    assert_true(secagg_get64(share + 24) == UINT64_C(1558114337125361328));
}

TEST(bad_points)
{
    uint64_t points[3] = {4, 9, 4}, weights[3], work[3];
    uint8_t share[SECAGG_SHARE_BYTES] = {0};
    assert_int_equal(secagg_weights(points, 3, weights, work), -1);
    assert_int_equal(secagg_share_check(share), 0);
    secagg_put64(share + 16, SECAGG_PRIME);
    assert_int_equal(secagg_share_check(share), -1);
}

/* ---- keys --------------------------------------------------------------------------------------- */

static void agree(uint8_t out[32], const uint8_t secret[32], const uint8_t public_key[32], const char *label,
                  const uint8_t binding[32], struct secagg_end first, struct secagg_end second)
{
    uint8_t shared[1][32];
    assert_int_equal(secagg_exchange(shared, &secret, &public_key, 1, 1), 0);
    secagg_shared_key(out, shared[0], label, binding, first, second);
}

TEST(pairs_agree)
{
    uint8_t a[32] = {1}, b[32] = {2}, pa[32], pb[32], binding[32] = {3};
    uint8_t ab[32], ba[32], other[32];
    crypto_scalarmult_base(pa, a);
    crypto_scalarmult_base(pb, b);
    const struct secagg_end first = {5, pa}, second = {6, pb}, stranger = {7, pb};
    agree(ab, a, pb, "x", binding, first, second);
    agree(ba, b, pa, "x", binding, first, second);
    assert_memory_equal(ab, ba, 32);
    agree(other, a, pb, "y", binding, first, second);
    assert_memory_not_equal(ab, other, 32);
    agree(other, a, pb, "x", binding, second, first);
    assert_memory_not_equal(ab, other, 32);
    agree(other, a, pb, "x", binding, first, stranger);
    assert_memory_not_equal(ab, other, 32);
    binding[31] ^= 1;
    agree(other, a, pb, "x", binding, first, second);
    assert_memory_not_equal(ab, other, 32);
}

static void assert_hex(const uint8_t bytes[32], const char *hex)
{
    char text[65];
    assert_string_equal(sodium_bin2hex(text, sizeof(text), bytes, 32), hex);
}

/* X25519 alone and several abreast is libsodium's: random keys, and numbers around 0, p = 2^255 - 19 and
 * 2^256. */
TEST(exchanges_are_x25519)
{
    struct secagg_source source = source_of(3);
    uint8_t secrets[8][32], publics[8][32], shared[8][32], expected[32];
    const uint8_t *secret[8], *public_key[8];
    for (int turn = 0; turn < 300; turn++) {
        const uint32_t n = 1 + (uint32_t)turn % 8;
        secagg_source_bytes(&source, secrets[0], sizeof(secrets));
        secagg_source_bytes(&source, publics[0], sizeof(publics));
        for (uint32_t i = 0; i < n; i++) {
            if (turn % 3 == 1) { /* few bits set, or few clear */
                memset(publics[i], turn % 2 ? 0xff : 0, 32);
                publics[i][0] = (uint8_t)(2 + turn + 31 * (int)i);
                publics[i][31] = (uint8_t)(turn % 2 ? 0x7f + 0x80 * (i % 2) : 0x80 * (i % 2));
            }
            if (turn % 5 == 1)
                memset(secrets[i], turn % 2 ? 0xff : 0, 32);
            secret[i] = secrets[i];
            public_key[i] = publics[i];
        }
        int usable = 1;
        for (uint32_t i = 0; i < n; i++)
            usable &= crypto_scalarmult(expected, secrets[i], publics[i]) == 0;
        assert_int_equal(secagg_exchange(shared, secret, public_key, n, 1), usable ? 0 : -1);
        for (uint32_t i = 0; usable && i < n; i++) {
            assert_int_equal(crypto_scalarmult(expected, secrets[i], publics[i]), 0);
            assert_memory_equal(shared[i], expected, 32);
        }
    }
}

/* Each of the points whose secret is known to all is refused, alone and among good ones. */
TEST(known_secrets_are_refused)
{
    static const char *const small[] = {
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    };
    uint8_t points[sizeof(small) / sizeof(small[0])][32], secret[32] = {77}, shared[8][32];
    const uint8_t *secrets[8], *publics[8];
    for (size_t p = 0; p < sizeof(small) / sizeof(small[0]); p++)
        assert_int_equal(sodium_hex2bin(points[p], 32, small[p], 64, NULL, NULL, NULL), 0);
    for (size_t p = 0; p < sizeof(small) / sizeof(small[0]); p++)
        for (uint32_t n = 1; n <= 8; n += 7)
            for (uint32_t at = 0; at < n; at++) {
                for (uint32_t i = 0; i < n; i++) {
                    secrets[i] = secret;
                    publics[i] = i == at ? points[p] : secagg_base_point;
                }
                assert_int_equal(secagg_exchange(shared, secrets, publics, n, 1), -1);
            }
}

static void assert_hex(const uint8_t bytes[32], const char *hex);

/* RFC 7748, section 5.2: both vectors, and the result of a thousand iterations, eight abreast. */
TEST(exchanges_known_answers)
{
    static const char *const text[6] = {"a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
                                        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
                                        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
                                        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
                                        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
                                        "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"};
    uint8_t bytes[6][32], k[32] = {9}, u[32] = {9}, shared[8][32];
    const uint8_t *secrets[8], *publics[8];
    for (int i = 0; i < 6; i++)
        assert_int_equal(sodium_hex2bin(bytes[i], 32, text[i], 64, NULL, NULL, NULL), 0);
    for (int i = 0; i < 8; i++) {
        secrets[i] = bytes[3 * (i % 2)];
        publics[i] = bytes[3 * (i % 2) + 1];
    }
    assert_int_equal(secagg_exchange(shared, secrets, publics, 8, 1), 0);
    for (int i = 0; i < 8; i++)
        assert_memory_equal(shared[i], bytes[3 * (i % 2) + 2], 32);
    for (int i = 0; i < 8; i++) {
        secrets[i] = k;
        publics[i] = u;
    }
    for (int turn = 0; turn < 1000; turn++) {
        assert_int_equal(secagg_exchange(shared, secrets, publics, 8, 1), 0);
        memcpy(u, k, 32);
        memcpy(k, shared[turn % 8], 32);
    }
    assert_hex(k, "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51");
}

/* Computed by other means: X25519 as RFC 7748 writes it down, and Python's BLAKE2b. */
TEST(derivations_known_answers)
{
    uint8_t a[32], b[32], a_public[32], b_public[32], binding[32], key[32];
    struct secagg_terms terms = {
        .round = 5, .modulus = 1501, .dimension = 14336, .threshold = 67, .flags = SECAGG_MALICIOUS};
    for (int i = 0; i < 32; i++) {
        a[i] = (uint8_t)i;
        b[i] = (uint8_t)(100 + i);
        binding[i] = 7;
        terms.context[i] = 8;
        terms.server_public[i] = 6;
        terms.session[i % 16] = (uint8_t)(i % 16);
    }
    crypto_scalarmult_base(a_public, a);
    crypto_scalarmult_base(b_public, b);
    const struct secagg_end first = {3, a_public}, second = {9, b_public};
    assert_int_equal(secagg_pair_masks(a, first, &second, 1, binding, 1, &key), 0);
    assert_hex(key, "743e994739241637dbff50aae811a71e0080427260a6f421f756e7aa9058df5d");
    assert_int_equal(secagg_pair_masks(b, second, &first, 1, binding, 1, &key), 0);
    assert_hex(key, "743e994739241637dbff50aae811a71e0080427260a6f421f756e7aa9058df5d");
    secagg_derive(key, a, "self mask", binding, 3, 3);
    assert_hex(key, "5ff3338fab223ed270efd2644780d538d606027e41c8d9a76e39819b0a93baff");
    secagg_bind(&terms, key);
    assert_hex(key, "41cd27be20e32f700243bf1601158053c8315a7f123df422d480f14b37a9e394");
}

/* ---- graphs ------------------------------------------------------------------------------------- */

/* Degrees and thresholds of other people's implementation, for 2^-40 and 2^-20. */
TEST(degrees_known_answers)
{
    static const struct {
        uint32_t n;
        double corrupt, lost;
        int guarded;
        uint32_t degree, threshold;
    } known[] = {
        {10, .05, .33, 0, 4, 2},          {100, .05, .33, 0, 28, 6},      {1000, .05, .33, 0, 72, 24},
        {10000, .05, .33, 0, 86, 29},     {100000, .05, .33, 0, 96, 32},  {1000000, .05, .33, 0, 102, 34},
        {100, .33, .33, 0, 68, 34},       {1000, .33, .33, 0, 286, 150},  {10000, .33, .33, 0, 422, 221},
        {1000000, .33, .33, 0, 518, 270}, {100, .45, .45, 0, 92, 46},     {1000, .45, .45, 0, 822, 417},
        {100, .33, .05, 0, 34, 29},       {1000, .33, .05, 0, 78, 60},    {100, .05, .33, 1, 72, 39},
        {1000, .05, .33, 1, 398, 223},    {10000, .05, .33, 1, 746, 420}, {1000000, .05, .33, 1, 970, 545},
        {1000, .3, .3, 1, 872, 584},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        struct secagg_graph graph = {0, 0};
        assert_int_equal(
            secagg_graph_choose(known[i].n, known[i].corrupt, known[i].lost, known[i].guarded, &graph), 0);
        assert_int_equal(graph.degree, known[i].degree);
        assert_int_equal(graph.threshold, known[i].threshold);
    }
}

TEST(no_degree_is_enough)
{
    struct secagg_graph graph;
    assert_int_equal(secagg_graph_choose(4, .05, .33, 0, &graph), 0);
    assert_int_equal(secagg_graph_choose(3, .05, .33, 0, &graph), -1);
    assert_int_equal(secagg_graph_choose(20, .5, .6, 0, &graph), -1);
}

TEST(graphs_are_regular)
{
    static const uint32_t cases[][2] = {{4, 2}, {5, 2}, {5, 4}, {9, 6}, {101, 28}};
    static uint32_t order[101], neighbours[101 * 28], again[101 * 28];
    for (int c = 0; c < 5; c++) {
        const uint32_t n = cases[c][0], k = cases[c][1];
        struct secagg_source source = source_of((uint8_t)c);
        secagg_graph_draw(&source, n, k, order, neighbours);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < k; j++) {
                const uint32_t peer = neighbours[i * k + j];
                int back = 0;
                assert_true(peer < n);
                assert_true(peer != i);
                assert_true((j == 0 || peer > neighbours[i * k + j - 1]));
                for (uint32_t l = 0; l < k; l++)
                    back += neighbours[peer * k + l] == i;
                assert_int_equal(back, 1);
            }
        secagg_graph_draw(&source, n, k, order, again); /* the source has moved on */
        if (n > 5)
            assert_memory_not_equal(neighbours, again, (size_t)n * k * sizeof(*again));
    }
}

static int start(void **state)
{
    (void)state;
    return sodium_init() < 0 ? -1 : 0;
}

FIXTURE(start, NULL)

/* ---- what two clients agree on ------------------------------------------------------------------------ */

static void secret_of(uint32_t a, uint32_t b, uint8_t secret[32])
{
    for (int i = 0; i < 32; i++)
        secret[i] = (uint8_t)(a * 7 + b * 13 + (uint32_t)i);
}

/* Of as many pairs as there is room for, whose places collide: each is found from both ends, others are not. */
TEST(a_pair_agrees_once)
{
    enum { CLIENTS = 24, PAIRS = CLIENTS * (CLIENTS - 1) / 2 };
    static struct secagg_agreed_slot slots[1024];
    struct secagg_agreed agreed = {slots, secagg_agreed_slots(PAIRS)};
    uint8_t secret[32], other[32];
    assert_true(agreed.n >= 2 * PAIRS && agreed.n <= 1024);
    for (int turn = 0; turn < 2; turn++) {
        for (uint32_t a = 0; a < CLIENTS; a++)
            for (uint32_t b = 0; b < a; b++) {
                assert_int_equal(secagg_agreed_find(&agreed, b, a, secret), 0);
                secret_of(a, b, secret);
                secagg_agreed_keep(&agreed, a, b, secret);
                memset(other, 0, sizeof(other));
                secagg_agreed_keep(&agreed, b, a, other); /* the first stays */
            }
        for (uint32_t a = 0; a < CLIENTS; a++)
            for (uint32_t b = 0; b < a; b++)
                for (int swapped = 0; swapped < 2; swapped++) {
                    secret_of(a, b, secret);
                    assert_int_equal(secagg_agreed_find(&agreed, swapped ? b : a, swapped ? a : b, other), 1);
                    assert_memory_equal(secret, other, sizeof(secret));
                }
        assert_int_equal(secagg_agreed_find(&agreed, CLIENTS, 0, other), 0);
        secagg_agreed_clear(&agreed);
    }
    for (uint64_t i = 0; i < agreed.n; i++)
        assert_true(sodium_is_zero((const uint8_t *)&slots[i], sizeof(slots[i])));
    assert_int_equal(secagg_agreed_find(NULL, 1, 2, other), 0);
}
