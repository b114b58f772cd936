/* SPDX-License-Identifier: Apache-2.0 */
/* Packed files beside zlib alone: the same bytes, or the same words, for files that are whole, damaged or cut off. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "kit/test.h"
#include "lines/gzip.h"

enum { MEMBERS = 3, LENGTH = 700000, ROOM = MEMBERS * LENGTH + 1 };

static char path[] = "/tmp/dpframe-gzip-XXXXXX\0gz";
static unsigned char packed[ROOM], damaged[ROOM];
static char text[ROOM], ours[ROOM], theirs[ROOM];

static uint64_t state_of_draws = 3;
static unsigned draw(unsigned below)
{
    state_of_draws = state_of_draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state_of_draws >> 33) % below;
}

/* Members of each strategy, one of them not compressed. */
static size_t pack(void)
{
    static const int levels[MEMBERS] = {6, 0, 1};
    size_t used = 0, at = 0;
    for (int m = 0; m < MEMBERS; m++) {
        z_stream stream = {0};
        const size_t length = m == 1 ? 5000 : LENGTH;
        for (size_t i = 0; i < length; i++)
            text[at + i] = "0123456789,\n"[draw(12)];
        assert_int_equal(
            deflateInit2(&stream, levels[m], Z_DEFLATED, 15 + 16, 8, m == 2 ? Z_FIXED : Z_DEFAULT_STRATEGY),
            Z_OK);
        stream.next_in = (unsigned char *)text + at;
        stream.avail_in = (uInt)length;
        stream.next_out = packed + used;
        stream.avail_out = (uInt)(sizeof packed - used);
        assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
        used = sizeof packed - stream.avail_out;
        deflateEnd(&stream);
        at += length;
    }
    return used;
}

/* What zlib makes of the members one after the other; what it says, or "". */
static size_t unpack(const unsigned char *bytes, size_t n, char *out, const char **says)
{
    z_stream stream = {0};
    size_t used = 0;
    *says = "";
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = (unsigned char *)(uintptr_t)bytes;
    stream.avail_in = (uInt)n;
    for (int code = Z_OK; code == Z_OK;) {
        stream.next_out = (unsigned char *)out + used;
        stream.avail_out = (uInt)(ROOM - used);
        code = inflate(&stream, Z_NO_FLUSH);
        used = ROOM - stream.avail_out;
        if (code == Z_STREAM_END && stream.avail_in >= 2 && stream.next_in[0] == 0x1f &&
            stream.next_in[1] == 0x8b)
            code = inflateReset(&stream);
        else if (code == Z_STREAM_END)
            *says = stream.avail_in > 0 ? "are not gzip" : "";
        else if (code != Z_OK)
            *says = code == Z_BUF_ERROR ? "unexpected end of file" : stream.msg;
    }
    inflateEnd(&stream);
    return used;
}

static void compare(const unsigned char *bytes, size_t n)
{
    const char *says;
    struct dpf_error error = {0};
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, n, stream), n);
    assert_int_equal(fclose(stream), 0);
    const size_t length = unpack(bytes, n, theirs, &says);
    struct gzip *gzip = gzip_open(path, &error);
    assert_non_null(gzip);
    size_t used = 0, got = 1;
    int status = 0;
    while (status == 0 && got > 0) {
        const size_t wanted = 1 + draw(draw(2) ? 300000 : 3000);
        status = gzip_read(gzip, ours + used, wanted < ROOM - used ? wanted : ROOM - used, &got, &error);
        used += status == 0 ? got : 0;
    }
    gzip_close(gzip);
    assert_int_equal(status == 0, !*says);
    if (status != 0)
        assert_non_null(strstr(error.text, says));
    else
        assert_int_equal(used, length);
    assert_true(used <= length);
    assert_memory_equal(ours, theirs, used);
}

static void name_file(char plain[sizeof path])
{
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    memcpy(plain, path, sizeof path);
    path[strlen(path)] = '.'; /* the name says that it is packed */
}

static void remove_files(const char *plain)
{
    unlink(path);
    unlink(plain);
    memcpy(path, "/tmp/dpframe-gzip-XXXXXX\0gz", sizeof path);
}

TEST(damage_is_told_as_zlib_tells_it)
{
    const size_t n = pack();
    char plain[sizeof path];
    name_file(plain);
    compare(packed, n);
    for (int turn = 0; turn < 60; turn++) {
        memcpy(damaged, packed, n);
        for (unsigned k = 0; k <= draw(3); k++)
            damaged[2 + draw((unsigned)(turn % 3 ? n - 2 : 300))] ^= (unsigned char)(1u << draw(8));
        compare(damaged, n);
    }
    for (int turn = 0; turn < 20; turn++)
        compare(packed, turn < 5 ? (size_t)(2 + 3 * turn) : 2 + draw((unsigned)n - 2));
    remove_files(plain);
}

/* A member of a few bytes; its header has all that one can have, or nothing. */
static size_t pack_few(int full, unsigned char *out)
{
    z_stream stream = {0};
    unsigned char few[] = "1,2,3\n", extra[] = "extra", name[] = "d.csv", comment[] = "c";
    gz_header header = {
        .extra = extra, .extra_len = sizeof extra, .name = name, .comment = comment, .hcrc = 1};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    if (full)
        assert_int_equal(deflateSetHeader(&stream, &header), Z_OK);
    stream.next_in = few;
    stream.avail_in = sizeof few - 1;
    stream.next_out = out;
    stream.avail_out = 200;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return 200 - stream.avail_out;
}

/* Each bit of the first member, and of the second, and each length. */
TEST(each_bit_of_a_header_counts_as_for_zlib)
{
    char plain[sizeof path];
    name_file(plain);
    for (int full = 0; full < 4; full++) {
        const size_t first = pack_few(full & 1, packed), n = first + pack_few(full >> 1, packed + first);
        for (size_t bit = 16; bit < 8 * n; bit++) {
            if (bit / 8 - first < 2) /* what is no member any more is told of as what was joined to one */
                continue;
            memcpy(damaged, packed, n);
            damaged[bit / 8] ^= (unsigned char)(1u << bit % 8);
            compare(damaged, n);
        }
        for (size_t length = 2; length <= n; length++)
            compare(packed, length);
    }
    remove_files(plain);
}
