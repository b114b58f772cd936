/* SPDX-License-Identifier: Apache-2.0 */
/* The line reader with blocks of any size: no cut between blocks may show. */
#include "kit/data_support.h"

#include <math.h>

#include "reading/table.h"

static const struct file_options usual = {
    .delimiter = {",", 1, 0},
    .quoting = 1,
    .multi_line = 1,
    .columns = {"auto", "auto", "auto", "auto", "none"},
    .keys = {"column.user", "column.item", "column.rating", "column.time", "column.privacy-weight"},
    .rating_needed = 1,
    .value_lo = -INFINITY,
    .value_hi = INFINITY,
    .prefix = "",
};

static const struct file_options netflix = {
    .header = HEADER_NO,
    .delimiter = {",", 1, 0},
    .n_fields = 4,
    .sections = 1,
    .columns = {"1", "4", "2", "3", "none"},
    .keys = {"column.user", "column.item", "column.rating", "column.time", "column.privacy-weight"},
    .rating_needed = 1,
    .value_lo = -INFINITY,
    .value_hi = INFINITY,
    .prefix = "",
};
static const struct file_options *form = &usual; /* of the files that are read */

/* Everything read, line by line, with line numbers. */
static char *read_as_text(const char *text, size_t block, int workers, struct dpf_error *error)
{
    struct table table = {0};
    struct ids users = {0}, items = {0};
    struct read_control control = {.block_size = block, .memory = text, .length = strlen(text)};
    struct pool *pool = pool_new(workers);
    char *out = calloc(1, 20000);
    size_t used = 0;
    assert_non_null(out);
    if (table_read(&table, "memory.csv", form, &control, &users, &items, NULL, pool, error) == 0) {
        int32_t ranks[2][200];
        struct id_map maps[2];
        assert_int_equal(ids_finish(&users, &maps[0], ranks[0]), 0);
        assert_int_equal(ids_finish(&items, &maps[1], ranks[1]), 0);
        table_finish_ids(&table, ranks[0], ranks[1]);
        for (size_t c = 0; c < table.n_chunks; c++) {
            const struct chunk *k = table.chunks[c];
            for (int64_t i = 0; i < k->n; i++)
                used +=
                    (size_t)sprintf(out + used, "%lld:%s|%s|%g\n",
                                    (long long)(k->first_line + (k->lines_of ? k->lines_of[i] : i)),
                                    id_map_text(&maps[0], k->user_map[k->users[i]]),
                                    id_map_text(&maps[1], k->item_map[k->items[i]]), (double)k->values[i]);
        }
        sprintf(out + used, "%lld lines, %lld empty", (long long)table.lines, (long long)table.empty);
        id_map_free(&maps[0]);
        id_map_free(&maps[1]);
    }
    ids_free(&users);
    ids_free(&items);
    table_free(&table);
    pool_free(pool);
    return out;
}

static void assert_same_for_all_blocks(const char *text, size_t smallest)
{
    struct dpf_error error = {0};
    char *whole = read_as_text(text, 0, 1, &error);
    assert_int_equal(error.fault, 0);
    for (size_t block = smallest; block < smallest + 40; block++) {
        char *pieces = read_as_text(text, block, 1 + (int)(block % 3), &error);
        if (error.fault)
            fail_msg("block %zu: %s", block, error.text);
        assert_string_equal(pieces, whole);
        free(pieces);
    }
    free(whole);
}

TEST(lines_across_blocks_are_whole)
{
    char text[4000] = "\xef\xbb\xbf"
                      "user,item,rating\r\n";
    for (int i = 0; i < 100; i++)
        sprintf(text + strlen(text), "u%d,%d,%d.5\r\n%s", i * 37 % 41, i * 5 % 17, i % 5,
                i % 9 ? "" : "\r\n");
    strcat(text, "last,1,2");
    assert_same_for_all_blocks(text, 22);
}

/* The item in force where a block begins is that of an earlier one, which another thread may still be
 * reading. */
TEST(sections_go_over_blocks)
{
    char text[6000] = "", expected[6000] = "";
    int line = 0;
    struct dpf_error error = {0};
    form = &netflix;
    for (int movie = 1; movie <= 12; movie++) {
        sprintf(text + strlen(text), "%d:\r\n", movie * 1001);
        line++;
        for (int i = 0; i < movie * 7 % 10; i++) {
            sprintf(text + strlen(text), "%d,%d,2005-0%d-17\n", 100 * movie + i, i % 5 + 1, i % 9 + 1);
            sprintf(expected + strlen(expected), "%d:%d|%d|%d\n", ++line, 100 * movie + i, movie * 1001,
                    i % 5 + 1);
        }
    }
    sprintf(expected + strlen(expected), "%d lines, 0 empty", line);
    char *whole = read_as_text(text, 0, 1, &error);
    assert_string_equal(whole, expected);
    free(whole);
    assert_same_for_all_blocks(text, 18);
    form = &usual;
}

/* A header that is not in the first block is one all the same. */
TEST(empty_lines_before_the_header)
{
    assert_same_for_all_blocks(
        "\n\r\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\nuser,item,rating\n1,2,3\n2,2,4\n", 18);
}

TEST(a_nul_byte_is_no_earlier_than_it_stands)
{
    static const char text[] = "1,1,1\n1,2,bad\n1,\0,1\n";
    for (size_t block = 8; block < 40; block++)
        for (size_t skip = 0; skip < 2; skip++) {
            /* Without the bad line the NUL byte is the first fault. */
            char bytes[32];
            size_t n = sizeof text - 1;
            memcpy(bytes, text, n);
            if (skip)
                memcpy(bytes + 10, "999", 3);
            struct table table = {0};
            struct ids users = {0}, items = {0};
            struct dpf_error error = {0};
            struct read_control control = {.block_size = block, .memory = bytes, .length = n};
            assert_int_equal(table_read(&table, "m", &usual, &control, &users, &items, NULL, NULL, &error),
                             -1);
            const char *expected = skip ? "m:3: a NUL byte" : "m:2: rating \"bad\"";
            if (strncmp(error.text, expected, strlen(expected)) != 0)
                fail_msg("block %zu: %s", block, error.text);
            ids_free(&users);
            ids_free(&items);
            table_free(&table);
        }
}

TEST(quoted_rows_across_blocks_are_whole)
{
    char text[4000] = "";
    for (int i = 0; i < 60; i++)
        sprintf(text + strlen(text), i % 4 ? "%d,%d,1,,t\n" : "\"%d x\"\"y\",%d,1,,\"a\nb\"\r\n\n", i % 7, i);
    assert_same_for_all_blocks(text, 22);
}

/* The first fault in the file is reported, whichever thread finds its own first. */
TEST(the_first_fault_is_reported)
{
    char text[4000] = "";
    for (int i = 1; i <= 150; i++)
        sprintf(text + strlen(text), i == 77 || i == 78 || i > 100 ? "%d,1,bad%d\n" : "%d,1,2\n", i, i);
    for (int repeat = 0; repeat < 50; repeat++) {
        struct dpf_error error = {0};
        free(read_as_text(text, 16 + (size_t)repeat, 3, &error));
        assert_int_equal(error.fault, DPF_FAULT_DATA);
        if (strncmp(error.text, "memory.csv:77: rating \"bad77\"", 29) != 0)
            fail_msg("%s", error.text);
    }
}

TEST(a_line_longer_than_a_block_is_refused)
{
    struct dpf_error error = {0};
    free(read_as_text("1,1,1\n1,2,1\n1234567890,1234567890,1234567890\n", 20, 2, &error));
    assert_int_equal(error.fault, DPF_FAULT_DATA);
    assert_non_null(strstr(error.text, "memory.csv:3: a line is longer than 20 bytes"));

    /* Its beginning may be all blanks: it is no empty line. */
    char text[400] = "1,1,1\n", *end = text + 6;
    error = (struct dpf_error){0};
    memset(end, ' ', 300);
    strcpy(end + 300, "1,2,1\n");
    free(read_as_text(text, 100, 2, &error));
    assert_int_equal(error.fault, DPF_FAULT_DATA);
    assert_non_null(strstr(error.text, "memory.csv:2: a line is longer than 100 bytes"));
}

TEST(more_lines_than_a_block_holds)
{
    static char text[60000];
    struct dpf_error error = {0};
    size_t used = 0;
    for (int i = 0; i < 5000; i++)
        used += (size_t)sprintf(text + used, "%d,%d,3\n", i % 90, i % 80);
    struct table table = {0};
    struct ids users = {0}, items = {0};
    struct read_control control = {.block_size = 64, .memory = text, .length = used};
    struct pool *pool = pool_new(3);
    assert_int_equal(table_read(&table, "m", &usual, &control, &users, &items, NULL, pool, &error), 0);
    assert_int_equal(table.records, 5000);
    assert_int_equal(users.n, 90);
    assert_int_equal(items.n, 80);
    assert_true(table.n_chunks > 500);
    ids_free(&users);
    ids_free(&items);
    table_free(&table);
    pool_free(pool);
}
