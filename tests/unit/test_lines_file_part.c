/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a file: each line is in exactly one, in order, wherever bytes are cut. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "kit/test.h"
#include "lines/file_part.h"
#include "lines/source.h"

static void write_file(char path[32], const char *text)
{
    snprintf(path, 32, "/tmp/dpframe-part-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* The parts one after the other are the file; each begins where a line does. */
static void expect_whole(const char *text, int parts)
{
    char path[32], all[512] = "";
    size_t used = 0;

    write_file(path, text);
    for (int p = 0; p < parts; p++) {
        struct file_part part;
        struct dpf_error error = {0};
        size_t got;
        assert_int_equal(file_part_open(path, p, parts, &part, &error), 0);
        assert_true(part.at == part.end || part.at == 0 || text[part.at - 1] == '\n');
        do { /* three bytes at a time */
            assert_int_equal(file_part_read(&part, all + used, 3, &got, &error), 0);
            used += got;
        } while (got == 3);
        assert_true(used == 0 || used == strlen(text) || all[used - 1] == '\n');
        file_part_close(&part);
    }
    all[used] = '\0';
    assert_string_equal(all, text);
    unlink(path);
}

TEST(lines_are_in_one_part)
{
    static const char *const texts[] = {"",
                                        "\n",
                                        "\n\n\n\n",
                                        "one line without an end",
                                        "a\nb\nc\n",
                                        "a\nlong long long long long long line\nb\n",
                                        "a long long long long long line\nb\nc\nd\ne\nf",
                                        "1\n22\n333\n4444\n55555\n666666\n7777777\n"};
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
        for (int parts = 1; parts <= 50; parts++)
            expect_whole(texts[t], parts);
}

/* Blocks of a part have whole lines, and numbers that no other part's have. */
TEST(a_source_reads_a_part)
{
    char path[32];
    int64_t last = -1;
    int lines = 0;
    write_file(path, "1\n22\n333\n4444\n55555\n666666\n7777777");
    for (int p = 0; p < 3; p++) {
        struct source source;
        struct block block = {0};
        struct dpf_error error = {0};
        assert_int_equal(source_open_part(&source, path, 16, p, 3, &error), 0);
        while (source_next(&source, &block, &error) > 0) {
            assert_true(block.index > last);
            last = block.index;
            assert_int_equal(block.data[block.length - 1], '\n');
            for (size_t i = 0; i < block.length; i++)
                lines += block.data[i] == '\n';
        }
        assert_int_equal(error.fault, DPF_FAULT_NONE);
        source_close(&source);
        block_free(&block);
    }
    assert_int_equal(lines, 7);
    unlink(path);
}

TEST(a_missing_file_is_named)
{
    struct file_part part;
    struct dpf_error error = {0};
    assert_int_equal(file_part_open("/nowhere/at/all", 1, 2, &part, &error), -1);
    assert_int_equal(error.fault, DPF_FAULT_DATA);
    assert_non_null(strstr(error.text, "/nowhere/at/all"));
}

TEST(reading_ends_where_somebody_wants_it_to)
{
    struct source source;
    struct block block = {0};
    struct dpf_error error = {0};
    char path[32];
    write_file(path, "1,2\n3,4\n5,6\n");
    assert_int_equal(source_open(&source, path, 5, &error), 0);
    assert_int_equal(source_next(&source, &block, &error), 1);
    interrupt_all();
    assert_int_equal(source_next(&source, &block, &error), -1);
    interrupt_reset();
    assert_int_equal(error.fault, DPF_FAULT_RUN);
    assert_non_null(strstr(error.text, "interrupted while /tmp/dpframe-part-"));
    assert_int_equal(source_next(&source, &block, &error), 0); /* nobody reads behind a fault */
    block_free(&block);
    source_close(&source);
    unlink(path);
}
