/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct chunk *chunk_new(const struct file_options *options, const struct layout *layout, int64_t n)
{
    struct chunk *chunk = memory_new(1, sizeof *chunk);
    if (!chunk)
        return NULL;
    size_t count = (size_t)n;
    chunk->users = memory_raw(count, sizeof *chunk->users);
    chunk->items = memory_raw(count, sizeof *chunk->items);
    int missing = !chunk->users || !chunk->items;
    if (layout->columns[COLUMN_RATING] >= 0)
        missing |= !(chunk->values = memory_raw(count, sizeof *chunk->values));
    if (layout->columns[COLUMN_TIME] >= 0 && !layout->drops_times)
        missing |= !(chunk->stamps = memory_raw(count, sizeof *chunk->stamps));
    if (layout->columns[COLUMN_WEIGHT] >= 0)
        missing |= !(chunk->weights = memory_raw(count, sizeof *chunk->weights));
    if (options->voids != VOID_GONE)
        missing |= !(chunk->voids = memory_new(count, sizeof *chunk->voids));
    if (!missing)
        return chunk;
    chunk_free(chunk);
    return NULL;
}

void chunk_free(struct chunk *chunk)
{
    if (!chunk)
        return;
    free(chunk->users);
    free(chunk->items);
    free(chunk->values);
    free(chunk->stamps);
    free(chunk->times);
    free(chunk->weights);
    free(chunk->voids);
    free(chunk->lines_of);
    free(chunk);
}

/* The fields with delimiters between them, as far as they fit. */
static struct field join(const struct delimiter *delimiter, const struct field *fields, int64_t n,
                         char buffer[128])
{
    size_t used = 0;
    for (int64_t i = 0; i < n && i < FIELDS_MAX && used < 96; i++) {
        if (i > 0) {
            memcpy(buffer + used, delimiter->text, delimiter->length);
            used += delimiter->length;
        }
        size_t length = fields[i].length < 120 - used ? fields[i].length : 120 - used;
        memcpy(buffer + used, fields[i].data, length);
        used += length;
    }
    return (struct field){buffer, used};
}

static int wrong_count(const struct file_options *options, const struct layout *layout,
                       const struct field *fields, int64_t n, struct dpf_error *error)
{
    char name[32], show[96], buffer[128];
    n -= options->sections; /* the item stands in another line */
    struct field line = join(&options->delimiter, fields, n, buffer);
    const char *hint = n < layout->fields - options->sections
                           ? "a field is missing"
                           : "a field contains the delimiter, or one is extra";
    const char *other = n == 1 ? delimiter_suggest(&line) : NULL;
    if (other)
        hint = other;
    return error_set(error, DPF_FAULT_DATA, "expected %lld fields separated by %s%s, found %lld in %s; %s",
                     (long long)layout->fields - options->sections, delimiter_name(&options->delimiter, name),
                     options->n_fields ? " (data.fields)" : " as in the first line", (long long)n,
                     field_show(&line, show), hint);
}

/* What a column of this kind of file holds. */
static const char *column_word(const struct file_options *options, enum column column)
{
    static const char *const words[3][COLUMN_COUNT] = {
        {"user", "item", "rating", "time stamp", "privacy weight"},
        {"user", "linked user", "link's weight", "", ""},
        {"id", "id", "privacy weight", "", ""},
    };
    return words[options->one_id ? 2 : options->prefix[0] != '\0'][column];
}

static int bad_number(const struct file_options *options, const struct layout *layout, enum column column,
                      const struct field *field, struct dpf_error *error)
{
    char show[96];
    const char *hint =
        column == COLUMN_TIME ? "correct it, or set column.time = none" : "correct the line or remove it";
    if (column == COLUMN_RATING && !layout->has_header && !options->one_id)
        hint = "if this line names the columns, set header = yes; else correct the line or remove it";
    if (field->length == 0)
        hint = "it is missing; complete the line or remove it";
    else if (memchr(field->data, '"', field->length) && !options->quoting)
        hint = "for quoted fields use format = csv with a delimiter of one character";
    else if (memchr(field->data, ',', field->length))
        hint = "numbers use a decimal point, whatever the locale";
    else if (field_is(field, "nan"))
        hint = "there is no rule for NaN; remove the line";
    return error_set(error, DPF_FAULT_DATA, "%s %s in column %d is not a number; %s",
                     column_word(options, column), field_show(field, show), layout->columns[column] + 1,
                     hint);
}

/* A float32 never lies outside of the declared float64 range, since sensitivities rest on it. */
static float round_inwards(double value, double lo, double hi)
{
    float rounded = (float)value;
    if ((double)rounded > hi)
        rounded = nextafterf(rounded, -INFINITY);
    else if ((double)rounded < lo)
        rounded = nextafterf(rounded, INFINITY);
    return rounded;
}

float void_value(const struct file_options *options)
{
    const double lo = options->value_lo, hi = options->value_hi;
    return round_inwards(isfinite(lo) ? lo : isfinite(hi) ? hi : 0, lo, hi);
}

static int out_of_range(const struct file_options *options, const struct field *field,
                        struct dpf_error *error)
{
    char show[96];
    if (options->out_of_range == RANGE_DROP)
        return 1;
    return error_set(
        error, DPF_FAULT_DATA,
        "value %s is outside the declared range %g to %g; correct value-min and value-max, or set "
        "out-of-range = clip or drop",
        field_show(field, show), options->value_lo, options->value_hi);
}

/* 1: it is to be dropped. -1: an error. */
static int take_value(const struct file_options *options, const struct layout *layout,
                      const struct field *field, float *out, int64_t *clipped, struct dpf_error *error)
{
    double value;
    char show[96];
    if (field_real(field, &value) != 0)
        return bad_number(options, layout, COLUMN_RATING, field, error);
    if (value < options->value_lo || value > options->value_hi) {
        if (options->out_of_range != RANGE_CLIP)
            return out_of_range(options, field, error);
        value = value < options->value_lo ? options->value_lo : options->value_hi;
        ++*clipped;
    } else if (value < 0 && isinf(options->value_lo)) {
        if (options->prefix[0])
            return error_set(error, DPF_FAULT_DATA, "the %s %s is negative; correct the line or remove it",
                             column_word(options, COLUMN_RATING), field_show(field, show));
        return error_set(error, DPF_FAULT_DATA,
                         "value %s is negative; if that is right, declare the range with value-min and "
                         "value-max",
                         field_show(field, show));
    }
    *out = round_inwards(value, options->value_lo, options->value_hi);
    if (!isfinite(*out))
        return error_set(error, DPF_FAULT_DATA, "value %s is too large for a 32-bit number",
                         field_show(field, show));
    return 0;
}

static int check_id(const struct file_options *options, const struct field *field, const char *what,
                    int column, struct dpf_error *error)
{
    char show[96];
    if (field->length == 0)
        return error_set(error, DPF_FAULT_DATA,
                         "the %s in column %d is empty; complete the line or remove it", what, column + 1);
    if (field->length == 3 && field_is(field, "nan"))
        return error_set(error, DPF_FAULT_DATA,
                         "the %s in column %d is %s, which stands for a missing value; remove the line", what,
                         column + 1, field_show(field, show));
    if (memchr(field->data, 0, field->length))
        return error_set(error, DPF_FAULT_DATA, "the %s in column %d has a NUL byte", what, column + 1);
    if (memchr(field->data, '\n', field->length) || memchr(field->data, '\r', field->length))
        return error_set(
            error, DPF_FAULT_DATA,
            "the %s %s contains a line end, but a list of ids has one id a line; correct the file", what,
            field_show(field, show));
    if (options->encoding == IDS_UTF8 && !ids_is_utf8(field->data, field->length))
        return error_set(error, DPF_FAULT_DATA,
                         "the %s %s is not UTF-8; set encoding = latin-1 or convert the file", what,
                         field_show(field, show));
    return 0;
}

/* Needed once the lines of a chunk are no longer one record each. */
static int list_lines(struct chunk *chunk)
{
    chunk->lines_of = memory_raw((size_t)chunk->lines, sizeof *chunk->lines_of);
    if (!chunk->lines_of)
        return -1;
    for (int64_t i = 0; i < chunk->n; i++)
        chunk->lines_of[i] = (uint32_t)i;
    return 0;
}

int row_note_line(struct chunk *chunk, int64_t line)
{
    if (!chunk->lines_of && line == chunk->n)
        return 0;
    if (!chunk->lines_of && list_lines(chunk) != 0)
        return -1;
    chunk->lines_of[chunk->n] = (uint32_t)line;
    return 0;
}

/* From here on times are kept as they are. */
static int widen_times(struct chunk *chunk)
{
    chunk->times = memory_raw((size_t)chunk->lines, sizeof *chunk->times);
    if (!chunk->times)
        return -1;
    for (int64_t i = 0; i < chunk->n; i++)
        chunk->times[i] = (double)chunk->stamps[i];
    free(chunk->stamps);
    chunk->stamps = NULL;
    return 0;
}

int row_keep_time(struct chunk *chunk, double time)
{
    if (chunk->stamps) {
        const int fits = time >= 0 && time <= (double)UINT32_MAX && (double)(uint32_t)time == time;
        if (fits)
            chunk->stamps[chunk->n] = (uint32_t)time;
        if (fits || widen_times(chunk) != 0)
            return fits ? 0 : -1;
    }
    if (chunk->times)
        chunk->times[chunk->n] = time;
    return 0;
}

static int number_at(const struct field *field, size_t at, size_t digits, int *out)
{
    *out = 0;
    for (size_t i = at; i < at + digits; i++) {
        if (i >= field->length || field->data[i] < '0' || field->data[i] > '9')
            return -1;
        *out = 10 * *out + (field->data[i] - '0');
    }
    return 0;
}

/* Days from 1970-01-01 in the proleptic Gregorian calendar, March to February years of 400-year cycles. */
static int64_t days_from_epoch(int year, int month, int day)
{
    const int64_t y = year - (month <= 2), era = y / 400, of_era = y - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && is_leap);
}

/* Behind the seconds: a fraction, then Z or +HH:MM (the zone, UTC where there is none). -1: something else. */
static int take_zone(const struct field *field, size_t at, double *seconds)
{
    const char *text = field->data;
    double unit = 1;
    if (at < field->length && text[at] == '.') {
        const size_t first = ++at;
        for (; at < field->length && text[at] >= '0' && text[at] <= '9'; at++)
            *seconds += (text[at] - '0') * (unit /= 10);
        if (at == first)
            return -1;
    }
    if (at == field->length || (at + 1 == field->length && text[at] == 'Z'))
        return 0;
    int hours, minutes;
    const size_t colon = at + 6 == field->length;
    if ((text[at] != '+' && text[at] != '-') || at + 5 + colon != field->length ||
        (colon && text[at + 3] != ':') || number_at(field, at + 1, 2, &hours) != 0 ||
        number_at(field, at + 3 + colon, 2, &minutes) != 0 || hours > 23 || minutes > 59)
        return -1;
    *seconds -= (text[at] == '+' ? 1 : -1) * (hours * 3600 + minutes * 60);
    return 0;
}

/* ISO 8601: YYYY-MM-DD, and HH:MM:SS with a fraction and a zone behind a blank or a T, as seconds. -1: it is none of
 * these, or there is no such day. */
static int take_date(const struct field *field, double *out)
{
    int year, month, day, hour = 0, minute = 0, second = 0;
    const char *text = field->data;
    if ((field->length != 10 && field->length < 19) || text[4] != '-' || text[7] != '-' ||
        number_at(field, 0, 4, &year) != 0 || number_at(field, 5, 2, &month) != 0 ||
        number_at(field, 8, 2, &day) != 0)
        return -1;
    if (field->length >= 19 &&
        ((text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':' ||
         number_at(field, 11, 2, &hour) != 0 || number_at(field, 14, 2, &minute) != 0 ||
         number_at(field, 17, 2, &second) != 0))
        return -1;
    if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month) || hour > 23 || minute > 59 ||
        second > 60)
        return -1;
    *out = (double)(days_from_epoch(year, month, day) * 86400 + hour * 3600 + minute * 60 + second);
    return field->length > 19 ? take_zone(field, 19, out) : 0;
}

static int take_time(const struct file_options *options, const struct layout *layout,
                     const struct field *field, double *out, struct dpf_error *error)
{
    if ((field_real(field, out) != 0 || !isfinite(*out)) && take_date(field, out) != 0)
        return bad_number(options, layout, COLUMN_TIME, field, error);
    *out += 0.0; /* one zero, whether other lines have times that need more than 32 bits or not */
    return 0;
}

static int take_weight(const struct file_options *options, const struct layout *layout,
                       const struct field *field, float *out, struct dpf_error *error)
{
    double value;
    char show[96];
    if (field_real(field, &value) != 0)
        return bad_number(options, layout, COLUMN_WEIGHT, field, error);
    if (!(value >= 0) || !isfinite((float)value))
        return error_set(error, DPF_FAULT_DATA,
                         "privacy weight %s in column %d must be a number of 0 or more",
                         field_show(field, show), layout->columns[COLUMN_WEIGHT] + 1);
    *out = (float)value;
    return 0;
}

/* What a line says beside its ids and its value. */
struct besides {
    double time;
    float weight;
};

/* Adds a record that has its value already. -1 if memory runs out. */
static int append(const struct layout *layout, struct slot *slot, struct chunk *chunk,
                  const struct field *user, const struct field *item, const struct besides *besides,
                  int64_t line)
{
    const int64_t i = chunk->n;
    chunk->users[i] = ids_add(&slot->users, user);
    chunk->items[i] = ids_add(&slot->items, item);
    if (chunk->weights)
        chunk->weights[i] = besides->weight;
    if (chunk->users[i] < 0 || chunk->items[i] < 0 || row_note_line(chunk, line) != 0 ||
        (layout->columns[COLUMN_TIME] >= 0 && row_keep_time(chunk, besides->time) != 0))
        return -1;
    chunk->n++;
    return 0;
}

/* What becomes of a void line whose ids are good. -1 if memory runs out. */
static int append_void(const struct file_options *options, const struct layout *layout, struct slot *slot,
                       struct chunk *chunk, const struct field *user, const struct field *item,
                       const struct besides *besides, int64_t line, int is_dropped)
{
    if (chunk->voids && (!is_dropped || options->drops_stay)) {
        if (chunk->values)
            chunk->values[chunk->n] = void_value(options);
        chunk->voids[chunk->n] = 1;
        return append(layout, slot, chunk, user, item, besides, line);
    }
    const int lost =
        options->ids_stay && (ids_add(&slot->users, user) < 0 || ids_add(&slot->items, item) < 0);
    return lost ? -1 : 0;
}

/* Time and weight of a line of which something is at fault: what can be read of them. */
static struct besides read_besides(const struct file_options *options, const struct layout *layout,
                                   const struct field *fields, int64_t n)
{
    const int time = layout->columns[COLUMN_TIME], weight = layout->columns[COLUMN_WEIGHT];
    struct besides besides = {0, 1};
    if (n != layout->fields)
        return besides;
    if (time >= 0 && !row_time(options, layout, &fields[time], &besides.time))
        besides.time = 0;
    if (weight >= 0 && !row_weight(options, layout, &fields[weight], &besides.weight))
        besides.weight = 1;
    return besides;
}

int row_add_void(const struct file_options *options, const struct layout *layout, struct slot *slot,
                 struct chunk *chunk, const struct field *fields, int64_t n, int64_t line,
                 struct dpf_error *error)
{
    const int64_t known = (n < FIELDS_MAX ? n : FIELDS_MAX) - options->sections;
    const int user = layout->columns[COLUMN_USER], item = layout->columns[COLUMN_ITEM];
    struct dpf_error bad = {0};
    if ((!chunk->voids && !options->ids_stay) || user >= known || (!options->sections && item >= known))
        return 0;
    const struct field *users = &fields[user], *items = &fields[options->sections ? known : item];
    if (check_id(options, users, "", 0, &bad) != 0 || check_id(options, items, "", 0, &bad) != 0)
        return 0;
    const struct besides besides = read_besides(options, layout, fields, n);
    if (append_void(options, layout, slot, chunk, users, items, &besides, line, 0) == 0)
        return 0;
    *error = (struct dpf_error){0};
    return error_memory(error);
}

/* The value, the time and the weight of a line whose fields are as many as they should be. 1: its value is to
   be dropped. */
static int take_fields(const struct file_options *options, const struct layout *layout, struct chunk *chunk,
                       const struct field *fields, struct besides *besides, struct dpf_error *error)
{
    const int *columns = layout->columns;
    int status = 0;
    if (chunk->values)
        status = take_value(options, layout, &fields[columns[COLUMN_RATING]], &chunk->values[chunk->n],
                            &chunk->clipped, error);
    if (status == 0 && columns[COLUMN_TIME] >= 0)
        status = take_time(options, layout, &fields[columns[COLUMN_TIME]], &besides->time, error);
    if (status == 0 && columns[COLUMN_WEIGHT] >= 0)
        status = take_weight(options, layout, &fields[columns[COLUMN_WEIGHT]], &besides->weight, error);
    return status;
}

int row_add(const struct file_options *options, const struct layout *layout, struct slot *slot,
            struct chunk *chunk, const struct field *fields, int64_t n, int64_t line, struct dpf_error *error)
{
    const int *columns = layout->columns;
    if (n != layout->fields) {
        wrong_count(options, layout, fields, n, error);
        row_add_void(options, layout, slot, chunk, fields, n, line, error);
        return -1;
    }
    const struct field *user = &fields[columns[COLUMN_USER]];
    const struct field *item = &fields[columns[COLUMN_ITEM]];
    if (check_id(options, user, column_word(options, COLUMN_USER), columns[COLUMN_USER], error) != 0 ||
        check_id(options, item, column_word(options, COLUMN_ITEM), columns[COLUMN_ITEM], error) != 0)
        return -1;
    struct besides besides = {0, 1};
    const int status = take_fields(options, layout, chunk, fields, &besides, error);
    if (status < 0) {
        row_add_void(options, layout, slot, chunk, fields, n, line, error);
        return -1;
    }
    if (status == 0)
        return append(layout, slot, chunk, user, item, &besides, line) == 0 ? 0 : error_memory(error);
    chunk->dropped++;
    besides = read_besides(options, layout, fields, n);
    return append_void(options, layout, slot, chunk, user, item, &besides, line, 1) == 0
               ? 0
               : error_memory(error);
}

int row_value(const struct file_options *options, const struct layout *layout, const struct field *field,
              float *out)
{
    struct dpf_error error = {0};
    int64_t clipped = 0;
    return take_value(options, layout, field, out, &clipped, &error) == 0 && clipped == 0;
}

int row_time(const struct file_options *options, const struct layout *layout, const struct field *field,
             double *out)
{
    struct dpf_error error = {0};
    return take_time(options, layout, field, out, &error) == 0;
}

int row_weight(const struct file_options *options, const struct layout *layout, const struct field *field,
               float *out)
{
    struct dpf_error error = {0};
    return take_weight(options, layout, field, out, &error) == 0;
}
