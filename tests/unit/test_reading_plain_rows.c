/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path of the line reader beside the careful one: the same records, counts, messages and line
 * numbers for random files with every fault that a line may have, on every kind of processor.
 */
#include "kit/data_support.h"

#include <math.h>

#include "base/log.h"
#include "base/text.h"
#include "reading/plain_rows.h"
#include "reading/table.h"
#include "simd/text_marks.h"

static const int kinds[] = {SIMD_KIND_PORTABLE, SIMD_KIND_AVX2, SIMD_KIND_AVX512, SIMD_KIND_NEON};

static uint64_t state_of_draws;
static unsigned draw(unsigned below)
{
    state_of_draws = state_of_draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state_of_draws >> 33) % below;
}

/* ---- marks -------------------------------------------------------------------------------------- */

/* Every byte in every place beside every other that matters, as the definition says. */
TEST(marks_are_as_defined)
{
    enum { WORDS = 40 };
    static char text[64 * WORDS + 80];
    static const char special[] = ",\n\r\" \t;|0a.\xc3\x80\xff\x7f\x21\x20\x1f\x01";
    uint64_t ends[WORDS], odd[WORDS];
    for (int turn = 0; turn < 200; turn++) {
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = turn % 2 ? (char)draw(256) : special[draw(sizeof special)];
        const char delimiter = special[turn % 6 == 1 ? 7 : turn % 6];
        for (int k = 0; k < 4; k++) {
            const text_marks mark = text_marks_choose(kinds[k]);
            if (!mark)
                continue;
            mark(text, WORDS, delimiter, ends, odd);
            for (size_t i = 0; i < 64 * WORDS; i++) {
                const unsigned char c = (unsigned char)text[i];
                const int end = text[i] == delimiter || c == '\n';
                const int strange = c < 0x21 || c > 0x7f || c == '"';
                const int line_end = c == '\r' && text[i + 1] == '\n';
                assert_int_equal(ends[i / 64] >> (i % 64) & 1, end);
                assert_int_equal(odd[i / 64] >> (i % 64) & 1, strange && !end && !line_end);
            }
        }
    }
}

/* ---- both paths --------------------------------------------------------------------------------- */

/* All that a reading gives, as text. */
static char *read_as_text(const char *text, size_t length, const struct file_options *options, size_t block,
                          int careful, int kind, int listing)
{
    struct violations violations = {0};
    struct table table = {.violations = listing ? &violations : NULL};
    struct ids users = {0}, items = {0};
    struct dpf_error error = {0};
    const struct read_control control = {
        .block_size = block, .memory = text, .length = length, .careful = careful, .kind = kind};
    const int status = table_read(&table, "f.csv", options, &control, &users, &items, NULL, NULL, &error);
    struct text out = {0};
    text_add(&out, "%d %d %s\n%lld lines %lld empty %lld records %lld dropped %lld clipped\n", status,
             (int)error.fault, error.fault ? error.text : "", (long long)table.lines, (long long)table.empty,
             (long long)table.records, (long long)table.dropped, (long long)table.clipped);
    char *faults = violations_text(&violations);
    text_add(&out, "%lld faults\n%s\n", (long long)violations.n, faults ? faults : "");
    for (size_t c = 0; c < table.n_chunks; c++) {
        const struct chunk *k = table.chunks[c];
        for (int64_t i = 0; i < k->n; i++) {
            text_add(&out, "%lld: %d %d", (long long)(k->first_line + (k->lines_of ? k->lines_of[i] : i)),
                     k->user_map ? k->user_map[k->users[i]] : k->users[i],
                     k->item_map ? k->item_map[k->items[i]] : k->items[i]);
            text_add(&out, " %a %a %a %d\n", k->values ? (double)k->values[i] : 0,
                     chunk_has_times(k) ? chunk_time(k, i) : 0, k->weights ? (double)k->weights[i] : 0,
                     k->voids ? k->voids[i] : 0);
        }
    }
    for (int side = 0; side < 2; side++) {
        const struct ids *ids = side ? &items : &users;
        for (int64_t i = 0; i < ids->n; i++)
            if (ids->lengths[i] < 0)
                text_add(&out, "%lld\n", (long long)ids->numbers[i]);
            else
                text_add(&out, "%.*s\n", (int)ids->lengths[i], ids->bytes + ids->numbers[i]);
    }
    free(faults);
    ids_free(&users);
    ids_free(&items);
    table_free(&table);
    violations_free(&violations);
    return out.data;
}

static const char *const ids[] = {"1",
                                  "2",
                                  "17",
                                  "409",
                                  "12345678",
                                  "123456789",
                                  "4194304",
                                  "9223372036854775807",
                                  "9223372036854775808",
                                  "anna",
                                  "B00A",
                                  "x1",
                                  "a b",
                                  "abc",
                                  "7up",
                                  "100"};
static const char *const bad_ids[] = {
    "",    " 5",        "5 ",       "007",     "07",    "0",       "-3",    "-0",   "nan",
    "NaN", "na",        "\xc3\xa4", "\xe4",    "\"q\"", "\"a,b\"", "\"",    "a\rb", "\x7f",
    "+1",  "12345678a", "\"a\"\"",  "\"\"b\"", "\"\"",  "q\"q\"",  "\"\"\""};
static const char *const values[] = {"1", "3.5", "4", "0.5", "5", "2.5", "10", "2.25", "3", "1.125"};
static const char *const bad_values[] = {"",
                                         " 3",
                                         "x",
                                         "3,5",
                                         "nan",
                                         "inf",
                                         "-1",
                                         "7",
                                         "1e0",
                                         "0x1",
                                         "3.",
                                         ".5",
                                         "0003",
                                         "1.2.3",
                                         "12345678901234567890",
                                         "\"4\"",
                                         "4.0000000000000000001",
                                         "-0",
                                         "99999999",
                                         "1.0000001"};
static const char *const times[] = {"964982703", "1112486027", "0", "12", "1234567890123"};
static const char *const bad_times[] = {"",
                                        "-5",
                                        "2005-01-02",
                                        "2005-13-02",
                                        "1e9",
                                        "9.5",
                                        "123456789012345",
                                        "1234567890123456",
                                        "12345678901234567",
                                        "x",
                                        "000964982703",
                                        " 12"};
#define PICK(list) list[draw(sizeof list / sizeof list[0])]

/* faults: how many of 1,000 fields are unusual or wrong. */
static size_t random_file(char *out, size_t room, const char *delimiter, int columns, unsigned faults)
{
    size_t used = 0;
    const unsigned quoted = draw(3) ? 0 : draw(2) ? 300 : 1000; /* of 1,000 fields */
    const char *end = draw(4) ? "\n" : "\r\n";
    if (draw(3) == 0)
        used += (size_t)sprintf(out, "user%sitem%srating%s%s%s", delimiter, delimiter,
                                columns > 3 ? delimiter : "", columns > 3 ? "timestamp" : "", end);
    while (used + 300 < room) {
        int wanted = columns;
        if (draw(1000) < faults)
            wanted += draw(2) ? 1 : -1;
        if (draw(1000) < faults / 4 + 1) {
            used += (size_t)sprintf(out + used, "%s%s", draw(2) ? " \t" : "", end);
            continue;
        }
        for (int c = 0; c < wanted; c++) {
            const int bad = draw(1000) < faults;
            const char *text = c < 2    ? bad ? PICK(bad_ids) : PICK(ids)
                                  : c == 2 ? bad ? PICK(bad_values) : PICK(values)
                                  : c == 3 ? bad ? PICK(bad_times) : PICK(times)
                                  : bad ? "\xc3\xa9 x"
                                        : "tag";
            const char *quote = draw(1000) < quoted ? "\"" : "";
            used += (size_t)sprintf(out + used, "%s%s%s%s", c ? delimiter : "", quote, text, quote);
        }
        if (draw(5000) < faults)
            out[used++] = '\0';
        used += (size_t)sprintf(out + used, "%s", draw(1000) < faults ? "\r\r\n" : end);
    }
    return draw(2) ? used : used - 1; /* the last line may lack its end */
}

static struct file_options random_options(const char *delimiter)
{
    struct file_options options = {
        .header = (enum data_header)draw(3),
        .quoting = (int)draw(2),
        .encoding = (enum ids_encoding)draw(3),
        .columns = {"auto", "auto", draw(4) ? "auto" : "none", draw(4) ? "auto" : "none", "none"},
        .keys = {"column.user", "column.item", "column.rating", "column.time", "column.privacy-weight"},
        .value_lo = draw(2) ? 0.5 : -INFINITY,
        .value_hi = draw(2) ? 5 : INFINITY,
        .out_of_range = (enum data_out_of_range)draw(3),
        .voids = (enum void_rule)draw(3),
        .drops_stay = (int)draw(2),
        .ids_stay = (int)draw(2),
        .prefix = draw(8) ? "" : "relation.",
    };
    options.multi_line = options.quoting && draw(3) == 0;
    if (draw(6) == 0) { /* other places, and a weight */
        options.header = HEADER_NO;
        options.columns[COLUMN_USER] = "2";
        options.columns[COLUMN_ITEM] = "1";
        options.columns[COLUMN_RATING] = "none";
        options.columns[COLUMN_WEIGHT] = "3";
    }
    assert_int_equal(delimiter_parse(delimiter, &options.delimiter), 0);
    return options;
}

static void check_file(const char *text, size_t length, const struct file_options *options)
{
    static const size_t blocks[] = {500, 700, 5000, 65536};
    const size_t block = blocks[draw(4)];
    for (int listing = 0; listing < 2; listing++) {
        char *careful = read_as_text(text, length, options, block, 1, 0, listing);
        for (int k = 0; k < 4; k++) {
            if (!text_marks_choose(kinds[k]))
                continue;
            char *fast = read_as_text(text, length, options, block, 0, kinds[k], listing);
            assert_string_equal(fast, careful);
            free(fast);
        }
        free(careful);
    }
}

TEST(paths_agree)
{
    static const char *const delimiters[] = {",", "\t", ";", " ", "|"};
    static const unsigned faults[] = {0, 1, 5, 50, 400};
    enum { ROOM = 30000 };
    char *text = malloc(ROOM);
    assert_non_null(text);
    log_set_level(LOG_LEVEL_WARNING);
    state_of_draws = 20;
    for (int turn = 0; turn < 400; turn++) {
        const char *delimiter = delimiters[draw(5)];
        const size_t length =
            random_file(text, turn % 8 ? 3000 : ROOM, delimiter, 3 + (int)draw(3), faults[turn % 5]);
        const struct file_options options = random_options(delimiter);
        char *exact = malloc(length + 1); /* nothing behind it may be read */
        assert_non_null(exact);
        memcpy(exact, text, length);
        check_file(exact, length, &options);
        free(exact);
    }
    free(text);
}

/* Without faults the fast path takes every line but the first ones, or this test would compare nothing. */
static void check_taken(const char *text, int quoting)
{
    const struct delimiter comma = {",", 1, 0};
    const struct file_options options = {
        .delimiter = comma, .value_lo = 0.5, .value_hi = 5, .quoting = quoting, .prefix = ""};
    const struct input_form form = {.options = &options,
                                    .layout = {.fields = 4, .columns = {0, 1, 2, 3, -1}}};
    struct slot slot = {0};
    const size_t length = strlen(text), first = (size_t)(strchr(text, '\n') - text) + 1;
    char data[200 + BLOCK_MARGIN] = {0};
    memcpy(data, text, length);
    const struct block block = {.data = data, .length = length};

    for (int k = 0; k < 4; k++) {
        struct plain_rows *rows = plain_rows_new(&form, kinds[k]);
        struct chunk *chunk = chunk_new(&form, &slot, 4);
        size_t at = first;
        if (!text_marks_choose(kinds[k])) {
            chunk_free(chunk);
            continue;
        }
        assert_non_null(rows);
        assert_non_null(chunk);
        chunk->lines = 4;
        plain_rows_begin(rows, &block);
        assert_int_equal(plain_rows_take(rows, &at, 1, &slot, chunk), 3);
        assert_int_equal(at, block.length);
        assert_int_equal(chunk->n, 3);
        assert_true(chunk->values[2] == 1 && chunk_time(chunk, 2) == 964982706);
        plain_rows_free(rows);
        chunk_free(chunk);
    }
    ids_free(&slot.users);
    ids_free(&slot.items);
    slabs_close(&slot.id_slabs);
    slabs_close(&slot.column_slabs);
}

TEST(lines_are_taken)
{
    check_taken("1,2,3.5,964982703\n2,2,4,964982704\n3,anna,5,964982705\n4,9,1,964982706\n", 0);
    check_taken("\"1\",2,\"3.5\",964982703\n\"2\",2,4,\"964982704\"\r\n\"3\",\"anna\",\"5\",\"964982705\"\n"
                "4,\"9\",\"1\",964982706\n",
                1);
}
