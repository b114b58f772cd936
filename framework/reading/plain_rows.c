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
    int quoting; /* quotes about a field are not its bytes */
    const struct block *block;
    size_t window, window_end; /* offsets in the block of what is marked */
    size_t n_ends, next_end;
    int any_odd;
    uint64_t user_key; /* of the last line's user, if it has at most eight bytes; 0: of none */
    int32_t user_code;
    uint32_t *
        ends; /* offsets in the window, ascending; the one before the first is UINT32_MAX, so that each column
                       begins 1 behind an end */
    uint32_t room[1 + WINDOW + 64];
    uint64_t odd[WINDOW / 64];
    struct cached values[CACHED];
};

struct plain_rows *plain_rows_new(const struct input_form *form, int kind)
{
    const struct delimiter *delimiter = &form->options->delimiter;
    const text_marks mark = text_marks_choose(kind);
    if (!mark || delimiter->runs || delimiter->length != 1 || form->options->sections ||
        form->layout.fields > FIELDS_MAX)
        return NULL;
    struct plain_rows *rows = memory_need(1, sizeof *rows);
    rows->form = form;
    rows->mark = mark;
    rows->room[0] = UINT32_MAX;
    rows->ends = rows->room + 1;
    rows->delimiter = delimiter->text[0];
    rows->quoting = form->options->quoting;
    return rows;
}

void plain_rows_free(struct plain_rows *rows)
{
    free(rows);
}

void plain_rows_begin(struct plain_rows *rows, const struct block *block)
{
    rows->block = block;
    rows->user_key = 0;
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

/* How many bytes at offsets first .. last - 1 of the window are odd. */
static int count_odd(const struct plain_rows *rows, size_t first, size_t last)
{
    if (first >= last)
        return 0;
    const size_t w = first / 64, end = (last - 1) / 64;
    const uint64_t from = UINT64_MAX << (first % 64), to = UINT64_MAX >> (63 - (last - 1) % 64);
    if (w == end)
        return __builtin_popcountll(rows->odd[w] & from & to);
    int n = __builtin_popcountll(rows->odd[w] & from) + __builtin_popcountll(rows->odd[end] & to);
    for (size_t i = w + 1; i < end; i++)
        n += __builtin_popcountll(rows->odd[i]);
    return n;
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

/* An id, and the number that it is, or UINT64_MAX: it is another text, or a number of more digits. */
struct id {
    struct field text;
    uint64_t number;
};

/* Whether check_id of line.c has nothing to say: the id is not missing, nor "NaN". */
static inline int read_id(const char *start, size_t length, struct id *out)
{
    uint64_t number;
    out->text = (struct field){start, length};
    out->number = UINT64_MAX;
    if (length - 1 >= 8)
        return length != 0;
    if (digits_before(start + length, length, &number) != 0)
        return length != 3;
    if (start[0] != '0' || length == 1)
        out->number = number;
    return 1;
}

/* As ids_add. */
static inline int32_t take_id(struct ids *ids, const struct id *id)
{
    if (id->number < (uint64_t)ids->n_small && ids->small[id->number] >= 0)
        return ids->small[id->number];
    return ids_add(ids, &id->text);
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

/* A time: a whole number of at most 15 digits, or UINT64_MAX and another one. */
struct time {
    uint64_t whole;
    double other;
};

static inline int take_time(const struct plain_rows *rows, const char *start, size_t length, struct time *out)
{
    uint64_t high, low;
    const char *end = start + length;
    const struct field field = {start, length};
    if (length - 1 < 8 && digits_before(end, length, &low) == 0) {
        out->whole = low;
    } else if (length - 9 < 7 && digits_before(end, 8, &low) == 0 &&
               digits_before(end - 8, length - 8, &high) == 0) {
        out->whole = high * 100000000 + low;
    } else {
        out->whole = UINT64_MAX;
        return line_time(rows->form, &field, &out->other) ? 0 : -1;
    }
    return 0;
}

static inline int keep_time(struct chunk *chunk, const struct time *time)
{
    if (chunk->stamps && time->whole <= UINT32_MAX) {
        chunk->stamps[chunk->n] = (uint32_t)time->whole;
        return 0;
    }
    return row_keep_time(chunk, time->whole == UINT64_MAX ? time->other : (double)time->whole);
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* A line of the window: where its columns end, and what is left out of them. */
struct plain_line {
    const char *window;
    const uint32_t *ends;
    int64_t fields;
    size_t cr;  /* bytes before the end of the line */
    int quotes; /* fields may stand in quotes */
};

static inline int is_quoted(const char *first, size_t length)
{
    return length >= 2 && first[0] == '"' && first[length - 1] == '"';
}

/* The bytes of a field, between the end before it and its own. */
static inline const char *field_of(const struct plain_line *line, int64_t f, size_t *length)
{
    const uint32_t first = line->ends[f - 1] + 1;
    *length = line->ends[f] - first - (f == line->fields - 1 ? line->cr : 0);
    return line->window + first;
}

static inline const char *column_of(const struct plain_rows *rows, const struct plain_line *line,
                                    enum column column, size_t *length)
{
    const char *first = field_of(line, rows->form->layout.columns[column], length);
    if (!line->quotes || !is_quoted(first, *length))
        return first;
    *length -= 2;
    return first + 1;
}

/* Whether the odd bytes of a line are quotes about whole fields, two each. Then no end is within quotes, and no quote is
   doubled: there are as many as fields begin and end with. */
static int are_quotes(const struct plain_line *line, int odd)
{
    for (int64_t f = 0; f < line->fields; f++) {
        size_t length;
        const char *first = field_of(line, f, &length);
        odd -= 2 * is_quoted(first, length);
    }
    return odd == 0;
}

/* 0, or -1: the line needs care, and nothing of it was taken. */
static inline __attribute__((always_inline)) int take_line(struct plain_rows *rows,
                                                           const struct plain_line *line, int64_t number,
                                                           struct slot *slot, struct chunk *chunk)
{
    const int64_t i = chunk->n;
    size_t length;
    struct id user, item;
    const char *text = column_of(rows, line, COLUMN_USER, &length);
    const uint64_t key = length - 1 < 8 ? bytes_before(text + length, length) : 0;
    const int same = key == rows->user_key && key;
    if (!same && !read_id(text, length, &user))
        return -1;
    text = column_of(rows, line, COLUMN_ITEM, &length);
    if (!read_id(text, length, &item))
        return -1;
    if (chunk->values) {
        text = column_of(rows, line, COLUMN_RATING, &length);
        if (take_value(rows, text, length, &chunk->values[i]) != 0)
            return -1;
    }
    struct time time = {0, 0};
    if (rows->form->layout.columns[COLUMN_TIME] >= 0) {
        text = column_of(rows, line, COLUMN_TIME, &length);
        if (take_time(rows, text, length, &time) != 0)
            return -1;
    }
    if (chunk->weights) {
        text = column_of(rows, line, COLUMN_WEIGHT, &length);
        if (!line_weight(rows->form, &(struct field){text, length}, &chunk->weights[i]))
            return -1;
    }
    /* From here on only memory can run out, of which the careful path tells. */
    const int32_t code = same ? rows->user_code : take_id(&slot->users, &user);
    rows->user_key = key;
    rows->user_code = code;
    chunk->users[i] = code;
    chunk->items[i] = take_id(&slot->items, &item);
    if (code < 0 || chunk->items[i] < 0 ||
        ((chunk->lines_of || number != i) && row_note_line(chunk, number) != 0) ||
        keep_time(chunk, &time) != 0)
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

/* The plain lines of the window from the next end on; stops at one that needs care. */
static inline __attribute__((always_inline)) int64_t
take_lines(struct plain_rows *rows, int64_t fields, int64_t line, struct slot *slot, struct chunk *chunk)
{
    const char *window = rows->block->data + rows->window;
    const int64_t complete = (int64_t)(rows->n_ends - rows->next_end) / fields;
    const uint32_t *ends = rows->ends + rows->next_end;
    int64_t taken = 0;
    for (; taken < complete; taken++, ends += fields) {
        if (!has_fields(window, ends, fields))
            break;
        const uint32_t *last = ends + fields - 1;
        struct plain_line at = {window, ends, fields,
                                .cr = last[0] != last[-1] + 1 && window[last[0] - 1] == '\r'};
        const int odd = rows->any_odd ? count_odd(rows, ends[-1] + 1, last[0]) : 0;
        at.quotes = odd > 0;
        if ((odd > 0 && !(rows->quoting && are_quotes(&at, odd))) ||
            take_line(rows, &at, line + taken, slot, chunk) != 0)
            break;
    }
    rows->next_end += (size_t)(taken * fields);
    return taken;
}

/* Finds the ends of fields from an offset on. 0: they do not make up one whole line, so the line there needs care. */
static int find_lines(struct plain_rows *rows, size_t at)
{
    const size_t fields = (size_t)rows->form->layout.fields;
    if (at >= rows->window_end)
        mark_window(rows, at);
    while (rows->next_end < rows->n_ends && rows->window + rows->ends[rows->next_end] < at)
        rows->next_end++; /* of a line that the careful path took */
    if (rows->n_ends - rows->next_end >= fields)
        return 1;
    if (at > rows->window)
        mark_window(rows, at);
    return rows->n_ends >= fields; /* else longer than a window, or too few fields before the end */
}

int64_t plain_rows_take(struct plain_rows *rows, size_t *at, int64_t line, struct slot *slot,
                        struct chunk *chunk)
{
    const int64_t fields = rows->form->layout.fields;
    int64_t taken = 0;
    if (*at < 16) /* numbers are read from eight bytes, or sixteen, before their ends */
        return 0;
    while (*at < rows->block->length && find_lines(rows, *at)) {
        /* The usual numbers of fields, known to the compiler. */
        const int64_t n = fields == 4   ? take_lines(rows, 4, line + taken, slot, chunk)
                          : fields == 3 ? take_lines(rows, 3, line + taken, slot, chunk)
                                        : take_lines(rows, fields, line + taken, slot, chunk);
        taken += n;
        *at = rows->window + (uint32_t)(rows->ends[(int64_t)rows->next_end - 1] + 1);
        if (n == 0 || rows->n_ends - rows->next_end >= (size_t)fields)
            break; /* the next line needs care */
    }
    return taken;
}
