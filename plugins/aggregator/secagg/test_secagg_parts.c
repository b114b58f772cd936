/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the protocol on their own: packing, masks, sharing, graphs; known answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

#include "secagg_client.h"
#include "secagg_graph.h"
#include "secagg_mask.h"
#include "secagg_shamir.h"
#include "secagg_wire.h"

static struct secagg_source source_of(uint8_t byte)
{
    struct secagg_source source = {.block = 0};
    memset(source.key, byte, sizeof(source.key));
    return source;
}

/* ---- vectors ------------------------------------------------------------------------------------ */

static void packing_is_exact(void **state)
{
    enum { N = 77 };
    uint64_t numbers[N], back[N];
    (void)state;

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

/* A mask and its negative cancel, whatever the modulus; and all residues are hit about equally. */
static void masks_cancel(void **state)
{
    static const uint64_t moduli[] = {2,
                                      3,
                                      101,
                                      256,
                                      1501,
                                      1 << 16,
                                      14146,
                                      (1 << 24) - 3,
                                      (1 << 24) + 1,
                                      UINT64_C(1) << 32,
                                      (UINT64_C(1) << 40) + 15,
                                      (UINT64_C(1) << 63) - 25,
                                      (UINT64_C(1) << 63),
                                      0};
    enum { N = 5003 };
    static uint64_t sums[N], start[N];
    (void)state;

    for (size_t m = 0; m < sizeof(moduli) / sizeof(moduli[0]); m++) {
        struct secagg_group group;
        struct secagg_source source = source_of((uint8_t)m);
        uint8_t first[32] = {1, (uint8_t)m}, second[32] = {2, (uint8_t)m};
        secagg_group_init(&group, moduli[m]);
        for (int i = 0; i < N; i++) {
            secagg_source_bytes(&source, (uint8_t *)&start[i], 8);
            start[i] = secagg_group_residue(&group, (int64_t)start[i]);
        }
        memcpy(sums, start, sizeof(sums));
        secagg_group_mask(&group, sums, N, first, 0);
        secagg_group_mask(&group, sums, N, second, 1);
        secagg_group_reduce(&group, sums, N);
        assert_true(secagg_group_holds(&group, sums, N));
        assert_memory_not_equal(sums, start, sizeof(sums));
        secagg_group_mask(&group, sums, N, second, 0);
        secagg_group_mask(&group, sums, N, first, 1);
        secagg_group_reduce(&group, sums, N);
        assert_memory_equal(sums, start, sizeof(sums));
    }
}

/* The prefix of a long mask is the mask of a short vector: skipping words must not depend on the length. */
static void masks_have_prefixes(void **state)
{
    enum { N = 4500 };
    static uint64_t whole[N], prefix[N];
    static const uint64_t moduli[] = {5, (1 << 24) - 3, (UINT64_C(1) << 62) + 1};
    (void)state;

    for (int m = 0; m < 3; m++) {
        struct secagg_group group;
        const uint8_t key[32] = {9};
        secagg_group_init(&group, moduli[m]);
        memset(whole, 0, sizeof(whole));
        secagg_group_mask(&group, whole, N, key, 0);
        for (int n = 1; n < N; n += 271) {
            memset(prefix, 0, sizeof(prefix));
            secagg_group_mask(&group, prefix, (uint64_t)n, key, 0);
            assert_memory_equal(prefix, whole, (size_t)n * sizeof(*whole));
        }
    }
}

/* Chi square of the residues modulo 3 * 2^22 - 1, by tercile: 2 degrees of freedom; 40 is beyond chance. A
   range without its last value, or words reduced by a remainder, would be seen modulo 3. */
static void masks_are_uniform(void **state)
{
    enum { N = 300000 };
    const uint64_t moduli[] = {3, 3 * (UINT64_C(1) << 22) - 1, 3 * (UINT64_C(1) << 61) + 1};
    (void)state;

    for (int m = 0; m < 3; m++) {
        struct secagg_group group;
        const uint8_t key[32] = {4, (uint8_t)m};
        uint64_t *mask = calloc(N, sizeof(*mask)), counts[3] = {0};
        assert_non_null(mask);
        secagg_group_init(&group, moduli[m]);
        secagg_group_mask(&group, mask, N, key, 0);
        for (int i = 0; i < N; i++)
            counts[mask[i] / (moduli[m] / 3 + (moduli[m] % 3 != 0))]++;
        double chi = 0;
        for (int k = 0; k < 3; k++)
            chi += ((double)counts[k] - N / 3.0) * ((double)counts[k] - N / 3.0) / (N / 3.0);
        assert_true(chi < 40);
        free(mask);
    }
}

/* ChaCha20 with an all-zero key and nonce: the first words of the keystream are published (RFC 8439, A.1). */
static void masks_known_answer(void **state)
{
    const uint8_t key[32] = {0};
    uint64_t sums[4] = {0};
    struct secagg_group group;
    (void)state;

    secagg_group_init(&group, UINT64_C(1) << 32);
    secagg_group_mask(&group, sums, 4, key, 0);
    assert_int_equal(sums[0], 0xade0b876);
    assert_int_equal(sums[1], 0x903df1a0);
    assert_int_equal(sums[2], 0xe56a5d40);
    assert_int_equal(sums[3], 0x28bd8653);
    secagg_group_init(&group, 0);
    memset(sums, 0, sizeof(sums));
    secagg_group_mask(&group, sums, 1, key, 0);
    assert_true(sums[0] == UINT64_C(0x903df1a0ade0b876));
    secagg_group_init(&group, 1000); /* (0xade0b876 * 1000) >> 32 */
    memset(sums, 0, sizeof(sums));
    secagg_group_mask(&group, sums, 1, key, 0);
    assert_int_equal(sums[0], UINT64_C(0xade0b876) * 1000 >> 32);
}

static void residues(void **state)
{
    struct secagg_group group;
    (void)state;

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
static void thresholds(void **state)
{
    static const uint32_t all[7] = {0, 1, 5, 77, 1000000, 4000000000U, 4294967294U};
    (void)state;

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
static void too_few_shares_say_nothing(void **state)
{
    struct secagg_source source = source_of(3);
    secagg_secret coefficients[2], other[2];
    uint8_t share[SECAGG_SHARE_BYTES], again[SECAGG_SHARE_BYTES];
    (void)state;

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
static void sharing_known_answer(void **state)
{
    secagg_secret coefficients[3] = {{1, SECAGG_PRIME - 1, 123456789, UINT64_C(1234567890123456789)},
                                     {2, SECAGG_PRIME - 2, 987654321, UINT64_C(987654321987654321)},
                                     {3, SECAGG_PRIME - 3, 555555555, UINT64_C(1111111111111111111)}};
    uint8_t share[SECAGG_SHARE_BYTES];
    (void)state;

    secagg_share(coefficients, 3, 10, share);
    assert_int_equal(secagg_get64(share), 321);
    assert_true(secagg_get64(share + 8) == SECAGG_PRIME - 321);
    assert_int_equal(secagg_get64(share + 16), UINT64_C(65555555499));
    assert_true(secagg_get64(share + 24) == UINT64_C(12542732785331696));
    secagg_share(coefficients, 3, UINT64_C(4294967295), share);
    assert_true(secagg_get64(share) == UINT64_C(2305842992033824793));
    assert_true(secagg_get64(share + 24) == UINT64_C(1558114337125361328));
}

static void bad_points(void **state)
{
    uint64_t points[3] = {4, 9, 4}, weights[3], work[3];
    uint8_t share[SECAGG_SHARE_BYTES] = {0};
    (void)state;

    assert_int_equal(secagg_weights(points, 3, weights, work), -1);
    assert_int_equal(secagg_share_check(share), 0);
    secagg_put64(share + 16, SECAGG_PRIME);
    assert_int_equal(secagg_share_check(share), -1);
}

/* ---- keys --------------------------------------------------------------------------------------- */

static void pairs_agree(void **state)
{
    uint8_t a[32] = {1}, b[32] = {2}, pa[32], pb[32], binding[32] = {3}, zero[32] = {0};
    uint8_t ab[32], ba[32], other[32];
    (void)state;

    crypto_scalarmult_base(pa, a);
    crypto_scalarmult_base(pb, b);
    const struct secagg_end first = {5, pa}, second = {6, pb}, stranger = {7, pb};
    assert_int_equal(secagg_agree(ab, a, pb, "x", binding, first, second), 0);
    assert_int_equal(secagg_agree(ba, b, pa, "x", binding, first, second), 0);
    assert_memory_equal(ab, ba, 32);
    assert_int_equal(secagg_agree(other, a, pb, "y", binding, first, second), 0);
    assert_memory_not_equal(ab, other, 32);
    assert_int_equal(secagg_agree(other, a, pb, "x", binding, second, first), 0);
    assert_memory_not_equal(ab, other, 32);
    assert_int_equal(secagg_agree(other, a, pb, "x", binding, first, stranger), 0);
    assert_memory_not_equal(ab, other, 32);
    binding[31] ^= 1;
    assert_int_equal(secagg_agree(other, a, pb, "x", binding, first, second), 0);
    assert_memory_not_equal(ab, other, 32);
    assert_int_equal(secagg_agree(other, a, zero, "x", binding, first, second), -1);
}

static void assert_hex(const uint8_t bytes[32], const char *hex)
{
    char text[65];
    assert_string_equal(sodium_bin2hex(text, sizeof(text), bytes, 32), hex);
}

/* Computed by other means: X25519 as RFC 7748 writes it down, and Python's BLAKE2b. */
static void derivations_known_answers(void **state)
{
    uint8_t a[32], b[32], a_public[32], b_public[32], binding[32], key[32];
    struct secagg_terms terms = {
        .round = 5, .modulus = 1501, .dimension = 14336, .threshold = 67, .flags = SECAGG_MALICIOUS};
    (void)state;

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
    assert_int_equal(secagg_pair_mask(a, first, second, binding, key), 0);
    assert_hex(key, "743e994739241637dbff50aae811a71e0080427260a6f421f756e7aa9058df5d");
    assert_int_equal(secagg_pair_mask(b, second, first, binding, key), 0);
    assert_hex(key, "743e994739241637dbff50aae811a71e0080427260a6f421f756e7aa9058df5d");
    secagg_derive(key, a, "self mask", binding, 3, 3);
    assert_hex(key, "5ff3338fab223ed270efd2644780d538d606027e41c8d9a76e39819b0a93baff");
    secagg_bind(&terms, key);
    assert_hex(key, "41cd27be20e32f700243bf1601158053c8315a7f123df422d480f14b37a9e394");
}

/* ---- graphs ------------------------------------------------------------------------------------- */

/* Degrees and thresholds of other people's implementation, for 2^-40 and 2^-20. */
static void degrees_known_answers(void **state)
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
    (void)state;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        struct secagg_graph graph = {0, 0};
        assert_int_equal(
            secagg_graph_choose(known[i].n, known[i].corrupt, known[i].lost, known[i].guarded, &graph), 0);
        assert_int_equal(graph.degree, known[i].degree);
        assert_int_equal(graph.threshold, known[i].threshold);
    }
}

static void no_degree_is_enough(void **state)
{
    struct secagg_graph graph;
    (void)state;

    assert_int_equal(secagg_graph_choose(4, .05, .33, 0, &graph), 0);
    assert_int_equal(secagg_graph_choose(3, .05, .33, 0, &graph), -1);
    assert_int_equal(secagg_graph_choose(20, .5, .6, 0, &graph), -1);
}

static void graphs_are_regular(void **state)
{
    static const uint32_t cases[][2] = {{4, 2}, {5, 2}, {5, 4}, {9, 6}, {101, 28}};
    static uint32_t order[101], neighbours[101 * 28], again[101 * 28];
    (void)state;

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packing_is_exact),
        cmocka_unit_test(masks_cancel),
        cmocka_unit_test(masks_have_prefixes),
        cmocka_unit_test(masks_are_uniform),
        cmocka_unit_test(masks_known_answer),
        cmocka_unit_test(residues),
        cmocka_unit_test(thresholds),
        cmocka_unit_test(too_few_shares_say_nothing),
        cmocka_unit_test(sharing_known_answer),
        cmocka_unit_test(bad_points),
        cmocka_unit_test(pairs_agree),
        cmocka_unit_test(derivations_known_answers),
        cmocka_unit_test(degrees_known_answers),
        cmocka_unit_test(no_degree_is_enough),
        cmocka_unit_test(graphs_are_regular),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
