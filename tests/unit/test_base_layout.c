/* SPDX-License-Identifier: Apache-2.0 */
/* Which blocks are whose, and what the cipher's two libraries make of them. */
#include "base/random.c"
#include "kit/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random_rows.h"

static dpf_stream *stream;

static int start(void **state)
{
    (void)state;
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(11, "noise", &error);
    stream = root ? random_stream_open(root, "layout", "test", &error) : NULL;
    random_root_free(root);
    return stream ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    random_stream_free(stream);
    return 0;
}

/* libsodium's bytes, whatever the number of blocks and wherever they begin: over 2^32 and 2^64, too. */
TEST(keystream_is_the_reference)
{
    enum { MOST = 1030 };
    static const uint64_t starts[] = {0, 1, 255, UINT32_MAX - 20, UINT64_MAX - 100, UINT64_C(1) << 63};
    static const uint64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 31, 64, 257, 1023, MOST};
    static uint64_t words[MOST * RANDOM_BLOCK_WORDS], expected[MOST * RANDOM_BLOCK_WORDS];
    const uint64_t nonce = UINT64_C(0x0123456789abcdef);
    uint8_t nonce_bytes[8];
    memcpy(nonce_bytes, &nonce, 8);
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            memset(expected, 0, sizeof(expected));
            memset(words, 0xa5, sizeof(words));
            crypto_stream_chacha20_xor_ic((uint8_t *)expected, (uint8_t *)expected,
                                          sizes[k] * RANDOM_BLOCK_WORDS * 8, nonce_bytes, starts[i],
                                          stream->key);
            keystream_blocks(stream->key, nonce, starts[i], sizes[k], words);
            assert_memory_equal(words, expected, sizes[k] * RANDOM_BLOCK_WORDS * 8);
            if (sizes[k] < MOST)
                assert_int_equal(words[sizes[k] * RANDOM_BLOCK_WORDS], UINT64_C(0xa5a5a5a5a5a5a5a5));
        }
}

/* The same for blocks wherever they lie. */
TEST(scattered_blocks_are_the_reference)
{
    enum { MOST = 70 };
    uint64_t counters[MOST], words[(MOST + 1) * RANDOM_BLOCK_WORDS], expected[RANDOM_BLOCK_WORDS];
    const uint64_t nonce = UINT64_C(0xfedcba9876543210);
    uint8_t nonce_bytes[8];
    memcpy(nonce_bytes, &nonce, 8);
    for (uint64_t i = 0; i < MOST; i++) /* some follow one another, some do not, some wrap */
        counters[i] = i % 7 < 3 ? 1000 + i : i * UINT64_C(0x9e3779b97f4a7c15) | (i % 7 == 4 ? UINT32_MAX : 0);
    for (uint64_t n = 1; n <= MOST; n++) {
        memset(words, 0xa5, sizeof(words));
        keystream_scattered(stream->key, nonce, counters, n, words);
        for (uint64_t i = 0; i < n; i++) {
            memset(expected, 0, sizeof(expected));
            crypto_stream_chacha20_xor_ic((uint8_t *)expected, (uint8_t *)expected, sizeof(expected),
                                          nonce_bytes, counters[i], stream->key);
            assert_memory_equal(words + i * RANDOM_BLOCK_WORDS, expected, sizeof(expected));
        }
        assert_int_equal(words[n * RANDOM_BLOCK_WORDS], UINT64_C(0xa5a5a5a5a5a5a5a5));
    }
}

/* Sizes are enough and waste at most an eighth; their labels are their own; a block names its row. */
TEST(blocks_have_one_owner)
{
    for (unsigned size = 1; size < 256; size++)
        assert_true(layout_blocks_of(size) > layout_blocks_of(size - 1));
    for (uint64_t words = 1; words < UINT64_C(1) << 34; words += words / 37 + 1)
        for (unsigned kind = 0; kind < LAYOUT_KINDS; kind++) {
            const uint64_t blocks = (words + 7) / 8;
            const struct random_layout layout = layout_rows(kind, words);
            assert_true(layout.blocks >= blocks);
            assert_true(layout.blocks <= blocks + blocks / 8);
            assert_true(blocks > 16 || layout.blocks == blocks);
            uint64_t most = (UINT64_C(1) << LAYOUT_PLACE_BITS) / layout.blocks;
            most = most > UINT64_C(1) << 32 ? UINT64_C(1) << 32 : most;
            assert_true(layout_has(&layout, most));
            assert_false(layout_has(&layout, most + 1));
            const uint64_t rows[] = {0, 1, 2, most / 2, most - 2, most - 1};
            for (int i = 0; i < 6; i++)
                for (int end = 0; end < 2; end++) {
                    const uint64_t counter =
                        layout_counter(&layout, (uint32_t)rows[i]) + (end ? layout.blocks - 1 : 0);
                    const struct random_owner owner = layout_owner(counter);
                    assert_int_equal(owner.label, layout.label);
                    assert_int_equal(owner.row, rows[i]);
                    assert_int_equal(counter >> 59 & 7, kind);
                    assert_int_equal(counter >> 62, 2); /* neither a sequence nor the name of an overflow */
                }
            assert_int_equal(layout_overflow(&layout, UINT32_MAX) >> 62, 3);
            assert_true(layout_overflow(&layout, 1) != layout_overflow(&layout, 2));
        }
    assert_int_equal(layout_owner(layout_sequence(UINT32_MAX) + (UINT64_C(1) << 31) - 1).row, UINT32_MAX);
    assert_int_equal(layout_owner(layout_sequence(UINT32_MAX) + (UINT64_C(1) << 31) - 1).label, 0);
}

/* Rows that would not have places are refused, whoever asks. */
TEST(rows_without_a_place_are_refused)
{
    const int64_t all = INT64_C(1) << 32, wide = INT64_C(1) << 22;
    assert_true(random_rows_fit(all, wide - 8));
    assert_false(random_rows_fit(all, wide));
    assert_true(random_rows_fit(all / 2, wide));
    assert_false(random_rows_fit(all + 1, 1));
    assert_false(random_rows_fit(1, 0));
    assert_false(random_rows_fit(1, INT64_MAX));
    uint64_t word;
    dpf_rows rows = {.n = 1, .width = 1, .stride = 1, .first = all - 1};
    assert_int_equal(random_row_bits(stream, &rows, &word), DPF_OK);
    rows.first = all;
    assert_int_equal(random_row_bits(stream, &rows, &word), DPF_E_RANGE);
    rows.first = -1;
    assert_int_equal(random_row_bits(stream, &rows, &word), DPF_E_RANGE);
    rows.first = INT64_MAX;
    assert_int_equal(random_row_bits(stream, &rows, &word), DPF_E_RANGE);
    rows = (dpf_rows){.n = 1, .width = wide + 1, .first = all - 1};
    assert_int_equal(random_row_bits(stream, &rows, &word), DPF_E_RANGE);
    const int32_t ids[] = {5, -1};
    rows = (dpf_rows){.n = 2, .width = 1, .stride = 1, .ids = ids};
    assert_int_equal(random_row_bits(stream, &rows, &word), DPF_E_RANGE);
    rows.n = 0;
    assert_int_equal(random_row_bits(stream, &rows, NULL), DPF_OK);
}

/* A row is the same whether it is read alone, with others before and behind it, or in another order. */
TEST(rows_are_the_same_alone_and_together)
{
    enum { ROWS = 300 };
    static const int64_t widths[] = {1, 8, 9, 50, 128, 129, 200, 2048, 2049, 5000};
    static uint64_t all[ROWS * 5000], alone[5000], some[5 * 5000];
    for (size_t k = 0; k < sizeof(widths) / sizeof(widths[0]); k++) {
        const int64_t width = widths[k], n = width < 1000 ? ROWS : 20;
        const struct random_layout layout = layout_rows(RANDOM_KIND_BITS, (uint64_t)width);
        dpf_rows rows = {.draw = 3, .party = 4, .n = n, .first = 1000, .width = width, .stride = width};
        assert_int_equal(random_row_bits(stream, &rows, all), DPF_OK);
        for (int64_t i = 0; i < n; i++) {
            rows.n = 1;
            rows.first = 1000 + i;
            assert_int_equal(random_row_bits(stream, &rows, alone), DPF_OK);
            assert_memory_equal(alone, all + i * width, (size_t)width * 8);
            const uint8_t nonce[8] = {3, 0, 0, 0, 4, 0, 0, 0};
            memset(alone, 0, sizeof(alone));
            crypto_stream_chacha20_xor_ic((uint8_t *)alone, (uint8_t *)alone, (uint64_t)width * 8, nonce,
                                          layout_counter(&layout, (uint32_t)(1000 + i)), stream->key);
            assert_memory_equal(alone, all + i * width, (size_t)width * 8);
        }
        const int32_t ids[] = {1007, 1003, 1004, 1005, 1019};
        rows = (dpf_rows){.draw = 3, .party = 4, .n = 5, .ids = ids, .width = width, .stride = width};
        assert_int_equal(random_row_bits(stream, &rows, some), DPF_OK);
        for (int i = 0; i < 5; i++)
            assert_memory_equal(some + i * width, all + (ids[i] - 1000) * width, (size_t)width * 8);
    }
}

/* No word of one row is a word of another, of the same or another kind or width, or of a sequence. */
TEST(rows_share_no_word)
{
    enum { ROWS = 50, WORDS = 24, KINDS = LAYOUT_KINDS, ALL = ROWS * (WORDS * KINDS + WORDS + 16 + 16) };
    static uint64_t words[ALL];
    int64_t n = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        for (unsigned kind = 0; kind < KINDS; kind++) {
            const struct random_layout layout = layout_rows(kind, WORDS);
            random_row_blocks(stream, &layout, 5, row, 0, layout.blocks, words + n);
            n += WORDS;
        }
        const struct random_layout narrow = layout_rows(RANDOM_KIND_BITS, 16);
        random_row_blocks(stream, &narrow, 5, row, 0, narrow.blocks, words + n);
        n += 16;
        dpf_cursor cursor;
        random_seek(stream, 5, 0, row, &cursor);
        random_bits(&cursor, words + n, WORDS);
        n += WORDS;
        struct random_overflow overflow;
        for (int which = 0; which < 2; which++) {
            random_overflow_open(stream, which ? &narrow : &(struct random_layout){0}, 5, row, &overflow);
            random_overflow_block(&overflow, 0, 0, words + n);
            n += 8;
        }
    }
    assert_int_equal(n, ALL);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            assert_true(words[i] != words[j]);
}

#ifndef NDEBUG
/* Where assertions are on, blocks of a row beyond its own stop the program. */
TEST(reading_beyond_a_row_is_caught)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(9);
        uint64_t words[32];
        owned_blocks(stream, 0, layout_sequence(3) + (UINT64_C(1) << LAYOUT_SEQUENCE_BITS) - 1, 2, 0, 3, 3,
                     words);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_true(WTERMSIG(status) == SIGABRT);
}
#endif

FIXTURE(start, stop)
