/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line reader on arbitrary bytes. The first eight bytes choose the options, the rest is the file.
 * Beside memory errors it looks for broken promises: indices outside of the maps, records that no line
 * can hold, errors without a text, and results that depend on where blocks are cut.
 */
#include "fuzz_file.h"

#include <math.h>

#include "base/log.h"
#include "reading/table.h"

static struct file_options choose(const uint8_t *bytes)
{
    static const char *const delimiters[] = {"comma", "tab", "semicolon", "space", "spaces", "::"};
    static const char *const columns[] = {"auto", "auto", "1", "2", "3", "user", "item", "none"};
    struct file_options options = {
        .header = (enum data_header)(bytes[0] % 3),
        .quoting = 0,
        .encoding = (enum ids_encoding)(bytes[1] % 3),
        .keys = {"column.user", "column.item", "column.rating", "column.time", "column.privacy-weight"},
        .rating_needed = bytes[2] & 1,
        .time_needed = bytes[2] >> 1 & 1,
        .value_lo = bytes[2] & 4 ? 1 : -INFINITY,
        .value_hi = bytes[2] & 4 ? 5 : INFINITY,
        .out_of_range = (enum data_out_of_range)((bytes[2] >> 4) % 3),
        .prefix = "",
    };
    PROMISE(delimiter_parse(delimiters[bytes[3] % 6], &options.delimiter) == 0);
    options.quoting = bytes[2] & 8 && options.delimiter.length == 1 && !options.delimiter.runs;
    for (int c = 0; c < COLUMN_COUNT; c++)
        options.columns[c] = bytes[4] & 1 << c ? columns[(bytes[5] + 3 * c) % 8] : "auto";
    return options;
}

struct outcome {
    int status;
    int64_t records, lines;
    double sum;
    struct dpf_error error;
};

static void check_records(struct table *table, const struct ids *users, const struct ids *items,
                          struct outcome *out)
{
    struct id_map maps[2] = {{0}, {0}};
    int32_t *user_rank = malloc(((size_t)users->n + 1) * sizeof *user_rank);
    int32_t *item_rank = malloc(((size_t)items->n + 1) * sizeof *item_rank);
    PROMISE(user_rank && item_rank && ids_finish(users, &maps[0], user_rank) == 0 &&
            ids_finish(items, &maps[1], item_rank) == 0);
    table_finish_ids(table, user_rank, item_rank);
    for (int m = 0; m < 2; m++)
        for (int64_t i = 0; i < maps[m].n; i++)
            PROMISE(id_map_find(&maps[m], id_map_text(&maps[m], i)) == i);
    for (size_t c = 0; c < table->n_chunks; c++) {
        const struct chunk *chunk = table->chunks[c];
        PROMISE(chunk->n + chunk->empty + chunk->dropped <= chunk->lines);
        for (int64_t i = 0; i < chunk->n; i++) {
            int32_t user = chunk->user_map[chunk->users[i]], item = chunk->item_map[chunk->items[i]];
            PROMISE(user >= 0 && user < maps[0].n && item >= 0 && item < maps[1].n);
            PROMISE(!chunk->values || isfinite(chunk->values[i]));
            out->sum += user * 3.0 + item + (chunk->values ? chunk->values[i] : 0);
        }
    }
    for (int m = 0; m < 2; m++)
        id_map_free(&maps[m]);
    free(user_rank);
    free(item_rank);
}

static void read_once(const struct file_options *options, const char *bytes, size_t length, size_t block,
                      struct outcome *out)
{
    struct table table = {0};
    struct ids users = {0}, items = {0};
    struct read_control control = {block, bytes, length};
    memset(out, 0, sizeof *out);
    out->status = table_read(&table, "input", options, &control, &users, &items, NULL, NULL, &out->error);
    PROMISE((out->status == 0) == (out->error.fault == DPF_FAULT_NONE));
    PROMISE(out->status == 0 || strlen(out->error.text) > 5);
    out->records = table.records;
    out->lines = table.lines;
    if (out->status == 0)
        check_records(&table, &users, &items, out);
    ids_free(&users);
    ids_free(&items);
    table_free(&table);
}

/*
 * A CR inside a line ends no row of a plain block, but does for the parser of quotes, which takes over at the
 * first block that holds one. Both refuse such rows, for reasons of their own.
 */
static int has_lone_cr(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\r' && (i + 1 == length || text[i + 1] != '\n'))
            return 1;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole, pieces;
    if (size < 8)
        return 0;
    log_set_level(LOG_LEVEL_WARNING);
    struct file_options options = choose(data);
    const char *text = (const char *)data + 8;
    read_once(&options, text, size - 8, size + 16, &whole);
    read_once(&options, text, size - 8, 16 + (size_t)data[6], &pieces);
    if (strstr(pieces.error.text, "a line is longer than"))
        return 0;
    int same_reason = !has_lone_cr(text, size - 8);
    if (same_reason && strcmp(whole.error.text, pieces.error.text) != 0)
        fprintf(stderr, "whole: %s\npieces: %s\n", whole.error.text, pieces.error.text);
    PROMISE(whole.status == pieces.status);
    PROMISE(!same_reason || strcmp(whole.error.text, pieces.error.text) == 0);
    PROMISE(whole.status != 0 ||
            (whole.records == pieces.records && whole.lines == pieces.lines && whole.sum == pieces.sum));
    return 0;
}
