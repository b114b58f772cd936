/* SPDX-License-Identifier: Apache-2.0 */
/* Frames: what is written is read, and nothing else is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "federation/frames.h"

static float numbers[3 * 4];
static const struct remote_rows rows = {.data = numbers, .rows = 3, .stride = 4, .columns = 2};

static int is_opaque(enum frame_kind kind)
{
    return kind == FRAME_STEP || kind == FRAME_DIFFERS;
}

static struct frame example(enum frame_kind kind)
{
    static const uint8_t step[] = {1, 2, 3, 4, 5};
    struct frame frame = {.kind = kind, .round = 70000};
    if (kind == FRAME_HELLO || kind == FRAME_TERMS) {
        memset(frame.agreement, 0xa1, sizeof frame.agreement);
        frame.insecure = 1;
    }
    if (kind == FRAME_HELLO) {
        memset(frame.instance, 0xb2, sizeof frame.instance);
        strcpy(frame.text, "user 17");
    }
    if (kind == FRAME_TERMS)
        memset(frame.session, 0xc3, sizeof frame.session);
    if (kind == FRAME_TERMS || kind == FRAME_READY)
        frame.number = 0x64636261; /* is text, too */
    if (kind == FRAME_ROUND)
        memset(frame.server_key, 0xd4, sizeof frame.server_key);
    if (kind == FRAME_REFUSED || kind == FRAME_ABORT)
        strcpy(frame.text, "why not");
    if (is_opaque(kind)) {
        frame.bytes = step;
        frame.n_bytes = sizeof step;
    }
    return frame;
}

static int has_rows(enum frame_kind kind)
{
    return kind == FRAME_ROUND || kind == FRAME_OVER;
}

static uint8_t *write_example(enum frame_kind kind, size_t *n)
{
    const struct frame frame = example(kind);
    for (int i = 0; i < 12; i++)
        numbers[i] = (float)i / 3 - 1;
    uint8_t *bytes = frame_write(&frame, has_rows(kind) ? &rows : NULL, n);
    assert_non_null(bytes);
    return bytes;
}

TEST(what_is_written_is_read)
{
    for (enum frame_kind kind = FRAME_HELLO; kind < FRAME_N_KINDS; kind++) {
        size_t n;
        uint8_t *bytes = write_example(kind, &n);
        const struct frame wanted = example(kind);
        struct frame got;
        assert_int_equal(frame_read(bytes, n, &got), 0);
        assert_int_equal(got.kind, kind);
        assert_int_equal(got.round, 70000);
        assert_memory_equal(got.agreement, wanted.agreement, 32);
        assert_memory_equal(got.session, wanted.session, 16);
        assert_memory_equal(got.instance, wanted.instance, 16);
        assert_memory_equal(got.server_key, wanted.server_key, 32);
        assert_int_equal(got.insecure, wanted.insecure);
        assert_int_equal(got.number, wanted.number);
        assert_string_equal(got.text, wanted.text);
        if (is_opaque(kind)) {
            assert_int_equal(got.n_bytes, 5);
            assert_memory_equal(got.bytes, wanted.bytes, 5);
        }
        if (has_rows(kind)) {
            float other[3 * 5] = {0};
            const struct remote_rows to = {.data = other, .rows = 3, .stride = 5, .columns = 2};
            assert_int_equal(frame_take_rows(&got, &to), 0);
            for (int r = 0; r < 3; r++)
                assert_memory_equal(other + 5 * r, numbers + 4 * r, 2 * sizeof(float));
        }
        free(bytes);
    }
}

TEST(what_is_cut_or_longer_is_refused)
{
    for (enum frame_kind kind = FRAME_HELLO; kind < FRAME_N_KINDS; kind++) {
        size_t n;
        struct frame got;
        uint8_t *bytes = write_example(kind, &n);
        const int open_ended = is_opaque(kind) || kind == FRAME_REFUSED || kind == FRAME_ABORT;
        const size_t fixed = kind == FRAME_HELLO ? n - 7 : open_ended ? FRAME_HEADER : n;
        for (size_t cut = 0; cut < fixed; cut++)
            assert_int_equal(frame_read(bytes, cut, &got), -1);
        uint8_t *longer = malloc(n + FRAME_TEXT);
        assert_non_null(longer);
        memcpy(longer, bytes, n);
        memset(longer + n, 'x', FRAME_TEXT);
        if (!is_opaque(kind)) {
            assert_int_equal(frame_read(longer, n + FRAME_TEXT, &got), -1);
        }
        longer[n] = '\0'; /* no text holds one */
        if (!is_opaque(kind)) {
            assert_int_equal(frame_read(longer, n + 1, &got), -1);
        }
        free(longer);
        free(bytes);
    }
}

TEST(headers_are_exact)
{
    size_t n;
    struct frame got;
    uint8_t *bytes = write_example(FRAME_READY, &n);
    for (int at = 0; at < 4; at++)
        for (int value = 0; value < 256; value++) {
            const uint8_t before = bytes[at];
            bytes[at] = (uint8_t)value;
            const int is_right = at == 1 ? value == FRAME_READY || is_opaque((enum frame_kind)value) ||
                                               value == FRAME_REFUSED || value == FRAME_ABORT
                                         : value == before;
            assert_int_equal(frame_read(bytes, n, &got), is_right ? 0 : -1);
            bytes[at] = before;
        }
    free(bytes);
}

/* Sizes that do not fit, in every way that 12 bytes can say so, and numbers that are none. */
TEST(rows_are_checked)
{
    size_t n;
    struct frame got;
    uint8_t *bytes = write_example(FRAME_OVER, &n);
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint8_t before[12];
        memcpy(before, bytes + FRAME_HEADER, 12);
        bytes[FRAME_HEADER + (seed >> 33) % 12] = (uint8_t)(seed >> 40);
        if (frame_read(bytes, n, &got) == 0) {
            assert_true(got.rows * got.columns == 6);
        }
        memcpy(bytes + FRAME_HEADER, before, 12);
    }
    const struct remote_rows other = {.data = numbers, .rows = 2, .stride = 4, .columns = 3};
    assert_int_equal(frame_read(bytes, n, &got), 0);
    assert_int_equal(frame_take_rows(&got, &other), -1);
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        memcpy(bytes + n - sizeof(float), &bad[i], sizeof(float));
        assert_int_equal(frame_read(bytes, n, &got), 0);
        assert_int_equal(frame_take_rows(&got, &rows), -1);
    }
    free(bytes);
}
