/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading is a map: what becomes of a line follows from the declared form and that line alone. So a file is what
 * line_read makes of its lines, one after the other: in any order, with any line put in or taken out, in blocks of any
 * size, by any number of threads, by either parser; and a line at fault is void, with the same ids, in all of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "base/text.h"
#include "reading/line.h"
#include "reading/table.h"

#define LINES 40
#define LONGEST 160

static const struct file_options forms[] = {
    {.header = HEADER_NO,
     .delimiter = {",", 1, 0},
     .n_fields = 4,
     .quoting = 1,
     .columns = {"1", "2", "3", "4", "none"},
     .value_lo = 1,
     .value_hi = 5,
     .voids = VOID_CELL,
     .drops_stay = 1,
     .ids_stay = 1,
     .encoding = IDS_LATIN1},
    {.header = HEADER_NO,
     .delimiter = {"\t", 1, 0},
     .n_fields = 3,
     .columns = {"3", "1", "2", "none", "none"},
     .value_lo = -INFINITY,
     .value_hi = 5,
     .voids = VOID_VALUE,
     .out_of_range = RANGE_DROP},
    {.header = HEADER_NO,
     .delimiter = {" ", 1, 1},
     .n_fields = 4,
     .columns = {"1", "2", "none", "3", "4"},
     .value_lo = -INFINITY,
     .value_hi = INFINITY},
    {.header = HEADER_NO,
     .delimiter = {"::", 2, 0},
     .n_fields = 3,
     .columns = {"2", "1", "3", "none", "none"},
     .value_lo = 0,
     .value_hi = INFINITY,
     .out_of_range = RANGE_CLIP},
};

struct drawn_line {
    char bytes[LONGEST];
    size_t length; /* with its end */
};

static uint64_t state = 1;

static uint32_t below(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % n);
}

static void put(struct drawn_line *line, const char *bytes, size_t n)
{
    if (line->length + n + 2 >= LONGEST)
        return;
    memcpy(line->bytes + line->length, bytes, n);
    line->length += n;
}

/* Fields that are usual, and with a probability of a fifth each, odd ones or a delimiter too many or too few. */
static void make_line(const struct file_options *form, struct drawn_line *line)
{
    static const struct {
        const char *bytes;
        size_t n;
    } odd[] = {{"", 0},
               {"NaN", 3},
               {"inf", 3},
               {"1e39", 4},
               {"-0", 2},
               {"007", 3},
               {"3,5", 3},
               {"\"", 1},
               {"\"a,b\"", 5},
               {"\"a\"\"b\"", 6},
               {"a\0b", 3},
               {"\r", 1},
               {" 4 ", 3},
               {"\xef\xbb\xbf"
                "5",
                4},
               {"\x1f\x8b\x08", 3},
               {"\xe9t\xe9", 3},
               {"\xff\xfe"
                "1",
                3},
               {"2001-02-03", 10},
               {"7:", 2},
               {"PK\3\4", 4},
               {"user", 4},
               {"\xef\xbb\xbf\xef\xbb\xbf"
                "6",
                7},
               {"99999999999", 11},
               {"\"x", 2}};
    char number[16];
    line->length = 0;
    const int64_t fields = form->n_fields + (below(12) == 0) - (below(12) == 0);
    for (int64_t f = 0; f < fields && below(40) > 0; f++) {
        if (f > 0)
            put(line, form->delimiter.text, form->delimiter.length);
        const uint32_t which = below(sizeof odd / sizeof *odd);
        if (below(5) == 0)
            put(line, odd[which].bytes, odd[which].n);
        else
            put(line, number, (size_t)sprintf(number, "%u", 1 + below(7)));
    }
    if (below(6) == 0)
        put(line, "\r", 1);
    line->bytes[line->length++] = '\n';
}

/* All records of the bytes, as texts in the order of lines; then how many lines were faults. */
static void read_bytes(const struct file_options *form, const char *bytes, size_t length, size_t block,
                       int workers, int careful, struct text *out, int64_t *faults)
{
    struct violations violations = {0};
    struct table table = {.violations = &violations};
    struct ids users = {0}, items = {0};
    struct dpf_error error = {0};
    const struct read_control control = {
        .block_size = block, .memory = bytes, .length = length, .careful = careful};
    struct pool *pool = workers ? pool_new(workers) : NULL;
    if (table_read(&table, "memory", form, &control, &users, &items, NULL, pool, &error) != 0)
        fail_msg("%s", error.text);
    int32_t ranks[2][LINES * 4];
    struct id_map maps[2];
    assert_int_equal(ids_finish(&users, &maps[0], ranks[0]), 0);
    assert_int_equal(ids_finish(&items, &maps[1], ranks[1]), 0);
    table_finish_ids(&table, ranks[0], ranks[1]);
    for (size_t c = 0; c < table.n_chunks; c++) {
        const struct chunk *k = table.chunks[c];
        for (int64_t i = 0; i < k->n; i++)
            text_add(out, "%s|%s|%d|%a|%a|%a\n", id_map_text(&maps[0], k->user_map[k->users[i]]),
                     id_map_text(&maps[1], k->item_map[k->items[i]]), k->voids ? k->voids[i] : 0,
                     k->values ? (double)k->values[i] : 0.0, chunk_has_times(k) ? chunk_time(k, i) : 0.0,
                     k->weights ? (double)k->weights[i] : 0.0);
    }
    /* What a file seems to be is remarked, and no line's fault. */
    *faults += violations.n - (violations.kept > 0 && strstr(violations.list[0].text, ": this is ") != NULL);
    id_map_free(&maps[0]);
    id_map_free(&maps[1]);
    ids_free(&users);
    ids_free(&items);
    table_free(&table);
    violations_free(&violations);
    pool_free(pool);
}

static struct file_options complete(const struct file_options *form)
{
    static const char *const keys[] = {"column.user", "column.item", "column.rating", "column.time",
                                       "column.privacy-weight"};
    struct file_options options = *form;
    memcpy(options.keys, keys, sizeof keys);
    options.rating_needed = strcmp(form->columns[COLUMN_RATING], "none") != 0;
    options.prefix = "";
    return options;
}

/* Another order; a line gone; a line twice. */
static int rearrange(struct drawn_line *lines, int n)
{
    for (int i = n - 1; i > 0; i--) {
        const int j = (int)below((uint32_t)i + 1);
        const struct drawn_line other = lines[i];
        lines[i] = lines[j];
        lines[j] = other;
    }
    if (n > 1 && below(2))
        return n - 1;
    lines[0] = lines[n - 1];
    return n;
}

/* What the map makes of the line, in the same words. */
static void read_line(const struct input_form *form, const struct drawn_line *drawn, struct quoted *quoted,
                      struct text *out, int64_t *faults)
{
    const struct file_options *options = form->options;
    const struct line_source source = {.bytes = drawn->bytes, .n = drawn->length};
    struct dpf_error error = {0};
    struct line line;
    const enum line_kind kind = line_read(form, &source, quoted, &line, &error);
    *faults += error.fault != 0;
    assert_true(kind != LINE_NOTHING || error.fault);
    assert_true(kind != LINE_VOID || line.is_dropped == !error.fault);
    const int stays = options->voids != VOID_GONE && (options->drops_stay || error.fault);
    if (kind != LINE_RECORD && !(kind == LINE_VOID && stays))
        return;
    struct ids ids = {0};
    int32_t ranks[2];
    struct id_map map;
    const int32_t user = ids_add(&ids, &line.user), item = ids_add(&ids, &line.item);
    struct ids merged = {0};
    int32_t codes[2];
    int64_t converted = 0;
    assert_int_equal(ids_merge(&merged, &ids, options->encoding, codes, &converted), 0);
    assert_int_equal(ids_finish(&merged, &map, ranks), 0);
    text_add(out, "%s|%s|%d|%a|%a|%a\n", id_map_text(&map, ranks[codes[user]]),
             id_map_text(&map, ranks[codes[item]]), kind == LINE_VOID,
             form->layout.columns[COLUMN_RATING] >= 0 ? (double)line.value : 0.0,
             form->layout.columns[COLUMN_TIME] >= 0 ? line.time : 0.0,
             form->layout.columns[COLUMN_WEIGHT] >= 0 ? (double)line.weight : 0.0);
    id_map_free(&map);
    ids_free(&ids);
    ids_free(&merged);
}

static void tell_difference(int way, const char *whole, const char *alone)
{
    size_t same = 0, start = 0;
    for (; whole[same] && whole[same] == alone[same]; same++)
        start = whole[same] == '\n' ? same + 1 : start;
    if (whole[same] != alone[same])
        fail_msg("way %d: the file has %.60s, its lines have %.60s", way, whole + start, alone + start);
}

static void check(const struct file_options *options, const struct drawn_line *lines, int n)
{
    static const size_t blocks[] = {0, 170, 256, 1024};
    char file[LINES * LONGEST];
    struct text alone = {0};
    size_t length = 0;
    int64_t faults = 0;
    struct dpf_error error = {0};
    struct input_form form;
    struct quoted *quoted = options->quoting ? quoted_new(&options->delimiter, &error) : NULL;
    assert_int_equal(input_form_by_keys(options, FORM_TO_LIST, "memory", &form, &error), 1);
    for (int i = 0; i < n; i++) {
        read_line(&form, &lines[i], quoted, &alone, &faults);
        memcpy(file + length, lines[i].bytes, lines[i].length);
        length += lines[i].length;
    }
    for (int way = 0; way < 8; way++) {
        struct text whole = {0};
        int64_t all = 0;
        read_bytes(options, file, length - (way & 1 && length > 0 && n > 0 && lines[n - 1].length > 1),
                   blocks[way % 4], way < 4 ? 0 : 3, way & 2, &whole, &all);
        tell_difference(way, whole.data ? whole.data : "", alone.data ? alone.data : "");
        assert_int_equal(all, faults);
        text_free(&whole);
    }
    text_free(&alone);
    quoted_free(quoted);
}

TEST(a_file_is_its_lines)
{
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const struct file_options form = complete(&forms[f]);
        for (int trial = 0; trial < 40; trial++) {
            struct drawn_line lines[LINES];
            int n = (int)below(LINES) + 1;
            for (int i = 0; i < n; i++)
                make_line(&form, &lines[i]);
            check(&form, lines, n);
            n = rearrange(lines, n);
            check(&form, lines, n);
        }
    }
}

/* Bytes that are no text at all. */
TEST(a_file_of_any_bytes_is_its_lines)
{
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const struct file_options form = complete(&forms[f]);
        for (int trial = 0; trial < 20; trial++) {
            struct drawn_line lines[LINES];
            for (int i = 0; i < LINES; i++) {
                lines[i].length = below(30);
                for (size_t b = 0; b < lines[i].length; b++) {
                    const char byte = (char)below(256);
                    lines[i].bytes[b] = byte == '\n' ? ',' : byte;
                }
                lines[i].bytes[lines[i].length++] = '\n';
            }
            check(&form, lines, LINES);
        }
    }
}
