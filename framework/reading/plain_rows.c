/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/plain_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "simd/text_marks.h"

#define WINDOW 4096 /* bytes that are marked at a time */
#define CACHED 256  /* values; ratings have few */

/* A value's bytes, and what line_value makes of them. */
struct cached {
    uint64_t key; /* 0: free, as no value is empty */
    float value;
};

struct plain_rows {
    const struct input_form *form;
    text_marks mark;
    char delimiter;
    const struct block *block;
    size_t window, window_end; /* offsets in the block of what is marked */
    size_t n_ends, next_end;
    int any_odd;
    uint32_t ends[WINDOW + 64]; /* offsets in the window, ascending */
    uint64_t odd[WINDOW / 64];
    struct cached values[CACHED];
};

struct plain_rows *plain_rows_new(const struct input_form *form, int kind, struct dpf_error *error)
{
    const struct delimiter *delimiter = &form->options->delimiter;
    const text_marks mark = text_marks_choose(kind);
    if (!mark || delimiter->runs || delimiter->length != 1 || form->options->sections ||
        form->layout.fields > FIELDS_MAX)
        return NULL;
    struct plain_rows *rows = memory_new(1, sizeof *rows);
    if (!rows) {
        error_memory(error);
        return NULL;
    }
    rows->form = form;
    rows->mark = mark;
    rows->delimiter = delimiter->text[0];
    return rows;
}

void plain_rows_free(struct plain_rows *rows)
{
    free(rows);
}

void plain_rows_begin(struct plain_rows *rows, const struct block *block)
{
    rows->block = block;
    rows->window = rows->window_end = 0;
    rows->n_ends = rows->next_end = 0;
}

/* ---- marks -------------------------------------------------------------------------------------- */

/* Marks the window that begins at an offset of the block. */
static void mark_window(struct plain_rows *rows, size_t at)
{
    const struct block *block = rows->block;
    const size_t left = block->length - at, length = left < WINDOW ? left : WINDOW;
    const size_t n_words = (length + 63) / 64;
    uint64_t ends[WINDOW / 64], any = 0;
    rows->mark(block->data + at, n_words, rows->delimiter, ends, rows->odd);
    if (length % 64) { /* the bytes behind the block are not text */
        ends[n_words - 1] &= (UINT64_C(1) << (length % 64)) - 1;
        rows->odd[n_words - 1] &= (UINT64_C(1) << (length % 64)) - 1;
    }
    size_t n = 0;
    for (size_t w = 0; w < n_words; w++) {
        uint64_t bits = ends[w];
        const size_t more = (size_t)__builtin_popcountll(bits);
        any |= rows->odd[w];
        /* Eight at a time, whether there are as many or not: fewer branches that cannot be foretold. */
        for (size_t k = n; bits != 0; k += 8)
            for (size_t i = 0; i < 8; i++) {
                rows->ends[k + i] = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(bits | UINT64_C(1) << 63);
                bits &= bits - 1;
            }
        n += more;
    }
    rows->window = at;
    rows->window_end = at + length;
    rows->n_ends = n;
    rows->next_end = 0;
    rows->any_odd = any != 0;
}

/* Whether a byte at offsets first .. last - 1 of the window is odd. */
static int is_odd(const struct plain_rows *rows, size_t first, size_t last)
{
    if (first >= last)
        return 0;
    const size_t w = first / 64, end = (last - 1) / 64;
    const uint64_t from = UINT64_MAX << (first % 64), to = UINT64_MAX >> (63 - (last - 1) % 64);
    if (w == end)
        return (rows->odd[w] & from & to) != 0;
    uint64_t any = rows->odd[w] & from;
    for (size_t i = w + 1; i < end; i++)
        any |= rows->odd[i];
    return (any | (rows->odd[end] & to)) != 0;
}

/* ---- fields ------------------------------------------------------------------------------------- */

/* The last `length` of the eight bytes before end, 1 to 8; the other bytes are zero, and behind them. */
static inline uint64_t bytes_before(const char *end, size_t length)
{
    uint64_t word;
    memcpy(&word, end - 8, 8); /* little-endian, as dpframe/abi.h demands */
    return word >> (8 * (8 - length));
}

/* The number of at most eight digits before end. 0, or -1 if there is another character. */
static inline int digits_before(const char *end, size_t length, uint64_t *out)
{
    const uint64_t keep = UINT64_MAX << (8 * (8 - length));
    uint64_t x;
    memcpy(&x, end - 8, 8);
    x = (x ^ UINT64_C(0x3030303030303030)) & keep;
    if (((x + UINT64_C(0x7676767676767676)) | x) & UINT64_C(0x8080808080808080))
        return -1;
    x = x * 10 + (x >> 8); /* pairs, in every other byte */
    x = (((x & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064)) +
         ((x >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001))) >>
        32;
    *out = x;
    return 0;
}

/* Whether check_id of line.c has nothing to say: the id is not missing, nor "NaN". */
static inline int is_id(const char *start, size_t length)
{
    uint64_t number;
    return length != 0 && (length != 3 || digits_before(start + length, length, &number) == 0);
}

/* As ids_add. */
static inline int32_t take_id(struct ids *ids, const char *start, size_t length)
{
    uint64_t number;
    if (length <= 8 && (start[0] != '0' || length == 1) &&
        digits_before(start + length, length, &number) == 0 && (int64_t)number < ids->n_small &&
        ids->small[number] >= 0)
        return ids->small[number];
    const struct field field = {start, length};
    return ids_add(ids, &field);
}

static inline int take_value(struct plain_rows *rows, const char *start, size_t length, float *out)
{
    if (length - 1 >= 8)
        return -1;
    const uint64_t key = bytes_before(start + length, length);
    struct cached *cached = &rows->values[key * UINT64_C(0x9e3779b97f4a7c15) >> 56];
    if (cached->key != key) {
        const struct field field = {start, length};
        float value;
        if (!line_value(rows->form, &field, &value))
            return -1;
        *cached = (struct cached){key, value};
    }
    *out = cached->value;
    return 0;
}

static inline int take_time(const struct plain_rows *rows, const char *start, size_t length, double *out)
{
    uint64_t high = 0, low;
    const char *end = start + length;
    const struct field field = {start, length};
    if (length - 1 < 8 && digits_before(end, length, &low) == 0)
        *out = (double)low;
    else if (length - 9 < 7 && digits_before(end, 8, &low) == 0 &&
             digits_before(end - 8, length - 8, &high) == 0)
        *out = (double)(high * 100000000 + low);
    else
        return line_time(rows->form, &field, out) ? 0 : -1;
    return 0;
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* The bytes of a column of the line at start. */
static inline const char *column_of(const struct plain_rows *rows, const char *start, const uint32_t *ends,
                                    enum column column, size_t *length)
{
    const char *window = rows->block->data + rows->window;
    const int c = rows->form->layout.columns[column];
    const char *first = c == 0 ? start : window + ends[c - 1] + 1, *last = window + ends[c];
    *length = (size_t)(last - first);
    if (c == rows->form->layout.fields - 1 && *length > 0 && last[-1] == '\r')
        --*length;
    return first;
}

/* 0, or -1: the line needs care, and nothing of it was taken. */
static inline int take_line(struct plain_rows *rows, const char *start, const uint32_t *ends, int64_t line,
                            struct slot *slot, struct chunk *chunk)
{
    const int64_t i = chunk->n;
    size_t length, user_length, item_length;
    const char *user = column_of(rows, start, ends, COLUMN_USER, &user_length);
    const char *item = column_of(rows, start, ends, COLUMN_ITEM, &item_length);
    if (!is_id(user, user_length) || !is_id(item, item_length))
        return -1;
    if (chunk->values) {
        const char *value = column_of(rows, start, ends, COLUMN_RATING, &length);
        if (take_value(rows, value, length, &chunk->values[i]) != 0)
            return -1;
    }
    double time = 0;
    if (rows->form->layout.columns[COLUMN_TIME] >= 0) {
        const char *text = column_of(rows, start, ends, COLUMN_TIME, &length);
        if (take_time(rows, text, length, &time) != 0)
            return -1;
    }
    if (chunk->weights) {
        const char *weight = column_of(rows, start, ends, COLUMN_WEIGHT, &length);
        if (!line_weight(rows->form, &(struct field){weight, length}, &chunk->weights[i]))
            return -1;
    }
    /* From here on only memory can run out, of which the careful path tells. */
    chunk->users[i] = take_id(&slot->users, user, user_length);
    chunk->items[i] = take_id(&slot->items, item, item_length);
    if (chunk->users[i] < 0 || chunk->items[i] < 0 || row_note_line(chunk, line) != 0 ||
        row_keep_time(chunk, time) != 0)
        return -1;
    chunk->n++;
    return 0;
}

/* Whether the line has as many fields as the first one: the ends are delimiters, and the last is that of the
   line. */
static inline int has_fields(const char *window, const uint32_t *ends, int64_t fields)
{
    int bad = window[ends[fields - 1]] != '\n';
    for (int64_t f = 0; f < fields - 1; f++)
        bad |= window[ends[f]] == '\n';
    return !bad;
}

int64_t plain_rows_take(struct plain_rows *rows, size_t *at, int64_t line, struct slot *slot,
                        struct chunk *chunk)
{
    const int64_t fields = rows->form->layout.fields;
    const char *data = rows->block->data;
    int64_t taken = 0;
    if (*at < 16) /* numbers are read from eight bytes, or sixteen, before their ends */
        return 0;
    while (*at < rows->block->length) {
        if (*at >= rows->window_end)
            mark_window(rows, *at);
        while (rows->next_end < rows->n_ends && rows->window + rows->ends[rows->next_end] < *at)
            rows->next_end++; /* of a line that the careful path took */
        if (rows->n_ends - rows->next_end < (size_t)fields) {
            if (*at == rows->window)
                return taken; /* longer than a window, or too few fields before the end */
            mark_window(rows, *at);
            continue;
        }
        const uint32_t *ends = rows->ends + rows->next_end;
        const char *window = data + rows->window;
        if (!has_fields(window, ends, fields) ||
            (rows->any_odd && is_odd(rows, *at - rows->window, ends[fields - 1])) ||
            take_line(rows, data + *at, ends, line + taken, slot, chunk) != 0)
            return taken;
        *at = rows->window + ends[fields - 1] + 1;
        rows->next_end += (size_t)fields;
        taken++;
    }
    return taken;
}
