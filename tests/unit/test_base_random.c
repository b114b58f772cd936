/* SPDX-License-Identifier: Apache-2.0 */
/* The file under test is included: known keys can then be put where derived ones would be. */
#include "base/random.c"
#include "kit/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct random_root *seeded(uint64_t seed, const char *domain)
{
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(seed, domain, &error);
    assert_non_null(root);
    return root;
}

static dpf_stream *opened(const struct random_root *root, const char *section, const char *purpose)
{
    struct dpf_error error = {0};
    dpf_stream *stream = random_stream_open(root, section, purpose, &error);
    assert_non_null(stream);
    return stream;
}

static uint64_t first_word(const char *section, const char *purpose, uint32_t draw, uint32_t party,
                           uint32_t row)
{
    struct random_root *root = seeded(7, "noise");
    dpf_stream *stream = opened(root, section, purpose);
    dpf_cursor cursor;
    uint64_t word;
    random_seek(stream, draw, party, row, &cursor);
    random_bits(&cursor, &word, 1);
    random_stream_free(stream);
    random_root_free(root);
    return word;
}

/* RFC 8439, section 2.3.2: the same 16 bytes, of which the RFC calls other parts counter (1) and nonce. Block
   1 is the second of the window. */
TEST(keystream_is_chacha20)
{
    static const uint8_t expected[64] = {
        0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15, 0x50, 0x0f, 0xdd, 0x1f, 0xa3, 0x20, 0x71, 0xc4,
        0xc7, 0xd1, 0xf4, 0xc7, 0x33, 0xc0, 0x68, 0x03, 0x04, 0x22, 0xaa, 0x9a, 0xc3, 0xd4, 0x6c, 0x4e,
        0xd2, 0x82, 0x64, 0x46, 0x07, 0x9f, 0xaa, 0x09, 0x14, 0xc2, 0xd7, 0x05, 0xd9, 0x8b, 0x02, 0xa2,
        0xb5, 0x12, 0x9c, 0xd1, 0xde, 0x16, 0x4e, 0xb9, 0xcb, 0xd0, 0x83, 0xe8, 0xa2, 0x50, 0x3c, 0x4e};
    dpf_stream stream = {.generation = SEEDED};
    for (int i = 0; i < KEY_BYTES; i++)
        stream.key[i] = (uint8_t)i;
    dpf_cursor cursor;
    uint64_t words[16];
    random_seek(&stream, 0x4a000000, 0, 0x12000000, &cursor);
    random_bits(&cursor, words, 16);
    assert_memory_equal(words + 8, expected, sizeof(expected));
}

/* Any way of reading gives libsodium's keystream, over many refills. */
TEST(reading_in_pieces_changes_nothing)
{
    struct random_root *root = seeded(1, "run");
    dpf_stream *stream = opened(root, "split", "test");
    enum { N = 3000 };
    static uint8_t zeros[8 * N];
    uint64_t expected[N], words[N];
    uint8_t nonce[8] = {3, 0, 0, 0, 4, 0, 0, 0};
    crypto_stream_chacha20_xor_ic((uint8_t *)expected, zeros, sizeof(zeros), nonce, UINT64_C(5) << 31,
                                  stream->key);
    for (int64_t piece = 1; piece <= N; piece += piece / 2 + 1) {
        dpf_cursor cursor;
        random_seek(stream, 3, 4, 5, &cursor);
        for (int64_t i = 0; i < N; i += piece)
            random_bits(&cursor, words + i, i + piece <= N ? piece : N - i);
        assert_memory_equal(words, expected, sizeof(words));
    }
    random_stream_free(stream);
    random_root_free(root);
}

TEST(every_part_of_the_name_matters)
{
    uint64_t words[] = {first_word("a", "bc", 0, 0, 0), first_word("ab", "c", 0, 0, 0),
                        first_word("abc", "", 0, 0, 0), first_word("", "abc", 0, 0, 0),
                        first_word("a", "bc", 1, 0, 0), first_word("a", "bc", 0, 1, 0),
                        first_word("a", "bc", 0, 0, 1), first_word("a", "bc", 0, DPF_PARTY_AGGREGATE, 0)};
    int n = sizeof(words) / sizeof(words[0]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            assert_int_not_equal(words[i], words[j]);
    assert_int_equal(first_word("a", "bc", 0, 0, 0), words[0]);
}

TEST(roots_differ_by_seed_and_domain)
{
    struct dpf_error error = {0};
    struct random_root *roots[] = {seeded(1, "run"), seeded(2, "run"), seeded(1, "noise"),
                                   random_root_secure(&error), random_root_secure(&error)};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(roots[i]->key, roots[j]->key, KEY_BYTES);
    for (int i = 0; i < 5; i++)
        random_root_free(roots[i]);
}

/* Computed from the definitions in random.c and random_layout.h by an independent program (Python's hashlib
   and a ChaCha20 of the RFC). A change would change every seeded run. */
TEST(recorded_words)
{
    assert_int_equal(first_word("users.mechanism", "noise", 1, 2, 3), UINT64_C(0x53685ed4e839f1f7));
    assert_int_equal(first_word("items.sampler", "draw", 0, DPF_PARTY_AGGREGATE, 9),
                     UINT64_C(0x22c2994998c7dbe7));
}

/* The last blocks of an index are read; a word more stops the program. */
TEST(an_index_ends)
{
    struct random_root *root = seeded(1, "run");
    dpf_stream *stream = opened(root, "a", "b");
    enum { LEFT = 3, N = LEFT * RANDOM_BLOCK_WORDS };
    uint64_t words[N + 1], expected[N] = {0}, next;
    uint8_t nonce[8] = {0};
    crypto_stream_chacha20_xor_ic((uint8_t *)expected, (uint8_t *)expected, sizeof(expected), nonce,
                                  (UINT64_C(8) << LAYOUT_SEQUENCE_BITS) - LEFT, stream->key);
    for (int extra = 0; extra < 2; extra++) {
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGABRT, SIG_DFL);
            if (!freopen("/dev/null", "w", stderr))
                _exit(9);
            dpf_cursor cursor;
            random_seek(stream, 0, 0, 7, &cursor);
            random_cursor_of(&cursor)->block = (UINT64_C(1) << LAYOUT_SEQUENCE_BITS) - LEFT;
            random_bits(&cursor, words, N + extra);
            random_seek(stream, 0, 0, 8, &cursor);
            random_bits(&cursor, &next, 1); /* the block behind them is the next row's */
            _exit(memcmp(words, expected, sizeof(expected)) == 0 && next != words[N - 1] ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(extra ? WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT
                          : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    random_stream_free(stream);
    random_root_free(root);
}

static int exit_of_child_that_draws(const dpf_stream *stream)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(9);
        dpf_cursor cursor;
        random_seek(stream, 0, 0, 0, &cursor);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(a_forked_child_cannot_draw_secure_noise)
{
    struct dpf_error error = {0};
    struct random_root *secure = random_root_secure(&error);
    struct random_root *fixed = seeded(1, "noise");
    dpf_stream *streams[] = {opened(secure, "a", "b"), opened(fixed, "a", "b")};
    assert_int_equal(exit_of_child_that_draws(streams[0]), -SIGABRT);
    assert_int_equal(exit_of_child_that_draws(streams[1]), 0);
    for (int i = 0; i < 2; i++)
        random_stream_free(streams[i]);
    random_root_free(secure);
    random_root_free(fixed);
}

TEST(permutations_permute)
{
    struct random_root *root = seeded(1, "run");
    dpf_stream *stream = opened(root, "split", "order");
    enum { N = 500 };
    int64_t order[N];
    int seen[N] = {0}, fixed_points = 0;
    dpf_cursor cursor;
    random_seek(stream, 0, 0, 0, &cursor);
    random_permutation(&cursor, order, N);
    uint32_t small[N];
    random_seek(stream, 0, 0, 0, &cursor);
    random_permutation32(&cursor, small, N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(small[i], order[i]);
        assert_in_range(order[i], 0, N - 1);
        assert_int_equal(seen[order[i]]++, 0);
        fixed_points += order[i] == i;
    }
    assert_in_range(fixed_points, 0, 9); /* Poisson(1) but for 10^-7 */
    random_stream_free(stream);
    random_root_free(root);
}

TEST(bounds_and_ends)
{
    struct random_root *root = seeded(1, "run");
    dpf_stream *stream = opened(root, "a", "b");
    dpf_cursor cursor;
    uint64_t whole[64];
    uint8_t flips[64];
    int64_t noise[8];
    random_seek(stream, 0, 0, 0, &cursor);
    random_below(&cursor, 1, whole, 64);
    for (int i = 0; i < 64; i++)
        assert_int_equal(whole[i], 0);
    random_below(&cursor, UINT64_MAX, whole, 64);
    for (int i = 0; i < 64; i++)
        assert_true(whole[i] < UINT64_MAX);
    random_bernoulli(&cursor, 0.0, flips, 64);
    for (int i = 0; i < 64; i++)
        assert_int_equal(flips[i], 0);
    random_bernoulli(&cursor, 1.0, flips, 64);
    for (int i = 0; i < 64; i++)
        assert_int_equal(flips[i], 1);
    random_bernoulli(&cursor, 0x1p-1074, flips, 64);
    for (int i = 0; i < 64; i++)
        assert_int_equal(flips[i], 0);
    assert_int_equal(random_discrete_laplace(&cursor, 0, noise, 8), DPF_E_RANGE);
    assert_int_equal(random_discrete_laplace(&cursor, (UINT64_C(1) << 42) + 1, noise, 8), DPF_E_RANGE);
    assert_int_equal(random_discrete_gaussian(&cursor, 0, noise, 8), DPF_E_RANGE);
    assert_int_equal(random_discrete_gaussian(&cursor, (UINT64_C(1) << 24) + 1, noise, 8), DPF_E_RANGE);
    assert_int_equal(random_discrete_laplace(&cursor, UINT64_C(1) << 42, noise, 8), DPF_OK);
    assert_int_equal(random_discrete_gaussian(&cursor, UINT64_C(1) << 24, noise, 8), DPF_OK);
    assert_int_equal(random_skellam(&cursor, (UINT64_C(1) << 14) - 1, noise, 8), DPF_E_RANGE);
    assert_int_equal(random_skellam(&cursor, (UINT64_C(1) << 47) + 1, noise, 8), DPF_E_RANGE);
    assert_int_equal(random_poisson(&cursor, (UINT64_C(1) << 14) - 1, noise, 8), DPF_E_RANGE);
    assert_int_equal(random_skellam(&cursor, UINT64_C(1) << 47, noise, 8), DPF_OK);
    random_stream_free(stream);
    random_root_free(root);
}
