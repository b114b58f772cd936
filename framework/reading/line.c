/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/line.h"

#include <math.h>
#include <string.h>

#include "lines/dates.h"
#include "lines/line_text.h"

/* ---- what is said of a line at fault ----------------------------------------------------------------- */

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
                      const struct field *field, float *out, int *is_clipped, struct dpf_error *error)
{
    double value;
    char show[96];
    if (field_real(field, &value) != 0)
        return bad_number(options, layout, COLUMN_RATING, field, error);
    if (value < options->value_lo || value > options->value_hi) {
        if (options->out_of_range != RANGE_CLIP)
            return out_of_range(options, field, error);
        value = value < options->value_lo ? options->value_lo : options->value_hi;
        *is_clipped = 1;
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

static int take_time(const struct file_options *options, const struct layout *layout,
                     const struct field *field, double *out, struct dpf_error *error)
{
    if ((field_real(field, out) != 0 || !isfinite(*out)) && field_date(field, out) != 0)
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

/* ---- the map ----------------------------------------------------------------------------------------- */

/* The fields of a line. -1: an error; then *n are complete, those before what is wrong. */
static int cut(const struct input_form *form, const struct line_source *source, const struct field *text,
               struct quoted *quoted, struct field fields[FIELDS_MAX], int64_t *n, struct dpf_error *error)
{
    const struct file_options *options = form->options;
    const int is_bad = line_check(text, source->longest, error) != 0;
    /* Of a line that is too long the last field goes on where it was cut. */
    const int64_t lost = source->longest != 0;
    if (!quoted || !memchr(text->data, '"', text->length)) {
        *n = fields_split(&options->delimiter, text->data, text->length, fields) - lost;
        return is_bad ? -1 : 0;
    }
    struct dpf_error own = {0};
    const size_t all = source->n - (size_t)(text->data - source->bytes);
    const int done = quoted_line(quoted, text->data, all, &own);
    if (done <= 0)
        quoted_reset(quoted);
    *n = quoted_fields(quoted, fields) - (done > 0 ? lost : 0);
    if (is_bad)
        return -1;
    if (done < 0)
        *error = own;
    else if (done == 0)
        error_set(
            error, DPF_FAULT_DATA,
            "a quoted field is not closed on its line; close it, set [data] multi-line = yes if fields go "
            "over several lines, or use format = tsv with this delimiter if quotes are ordinary "
            "characters");
    return done > 0 ? 0 : -1;
}

/* Time and weight of a line of which something is at fault: what can be read of them. */
static void read_besides(const struct input_form *form, const struct field *fields, int64_t n,
                         struct line *out)
{
    const struct layout *layout = &form->layout;
    const int time = layout->columns[COLUMN_TIME], weight = layout->columns[COLUMN_WEIGHT];
    if (n != layout->fields || time < 0 || !line_time(form, &fields[time], &out->time))
        out->time = 0;
    if (n != layout->fields || weight < 0 || !line_weight(form, &fields[weight], &out->weight))
        out->weight = 1;
}

/* A line that is at fault: void if its ids can be read, which are those of its columns, counted from the left; a
   section's line has the item last. */
static enum line_kind read_void(const struct input_form *form, const struct field *fields, int64_t n,
                                struct line *out)
{
    const struct file_options *options = form->options;
    const int64_t known = (n < FIELDS_MAX ? n : FIELDS_MAX) - options->sections;
    const int user = form->layout.columns[COLUMN_USER], item = form->layout.columns[COLUMN_ITEM];
    struct dpf_error bad = {0};
    if (user >= known || (!options->sections && item >= known))
        return LINE_NOTHING;
    out->user = fields[user];
    out->item = fields[options->sections ? known : item];
    if (check_id(options, &out->user, "", 0, &bad) != 0 || check_id(options, &out->item, "", 0, &bad) != 0)
        return LINE_NOTHING;
    out->value = void_value(options);
    out->is_dropped = out->is_clipped = 0;
    read_besides(form, fields, n, out);
    return LINE_VOID;
}

enum line_kind line_of_fields(const struct input_form *form, const struct field *fields, int64_t n,
                              struct line *out, struct dpf_error *error)
{
    const struct file_options *options = form->options;
    const struct layout *layout = &form->layout;
    const int *columns = layout->columns;
    if (n != layout->fields) {
        wrong_count(options, layout, fields, n, error);
        return read_void(form, fields, n, out);
    }
    out->user = fields[columns[COLUMN_USER]];
    out->item = fields[columns[COLUMN_ITEM]];
    out->value = out->weight = 1;
    out->time = 0;
    out->is_dropped = out->is_clipped = 0;
    if (check_id(options, &out->user, column_word(options, COLUMN_USER), columns[COLUMN_USER], error) != 0 ||
        check_id(options, &out->item, column_word(options, COLUMN_ITEM), columns[COLUMN_ITEM], error) != 0)
        return LINE_NOTHING;
    int status = 0;
    if (columns[COLUMN_RATING] >= 0)
        status = take_value(options, layout, &fields[columns[COLUMN_RATING]], &out->value, &out->is_clipped,
                            error);
    if (status == 0 && columns[COLUMN_TIME] >= 0)
        status = take_time(options, layout, &fields[columns[COLUMN_TIME]], &out->time, error);
    if (status == 0 && columns[COLUMN_WEIGHT] >= 0)
        status = take_weight(options, layout, &fields[columns[COLUMN_WEIGHT]], &out->weight, error);
    if (status == 0)
        return LINE_RECORD;
    const enum line_kind kind = read_void(form, fields, n, out);
    out->is_dropped = status > 0;
    return kind;
}

enum line_kind line_read(const struct input_form *form, const struct line_source *source,
                         struct quoted *quoted, struct line *out, struct dpf_error *error)
{
    struct field fields[FIELDS_MAX];
    int64_t n;
    const struct field text = line_text(source->bytes, source->n);
    if (!source->longest && line_text_is_blank(&text))
        return LINE_BLANK;
    const int is_cut = cut(form, source, &text, quoted, fields, &n, error) == 0;
    if (!is_cut && error->fault != DPF_FAULT_DATA)
        return LINE_NOTHING;
    if (is_cut && source->section && source->section->length == 0) {
        error_set(
            error, DPF_FAULT_DATA,
            "no line before this one, such as \"1:\", says which item it rates; the beginning of the file "
            "is missing, or it is not of format netflix");
        return LINE_NOTHING;
    }
    if (source->section && n < FIELDS_MAX)
        fields[n++] = *source->section;
    return is_cut ? line_of_fields(form, fields, n, out, error) : read_void(form, fields, n, out);
}

/* ---- a field by itself ------------------------------------------------------------------------------- */

int line_value(const struct input_form *form, const struct field *field, float *out)
{
    struct dpf_error error = {0};
    int is_clipped = 0;
    return take_value(form->options, &form->layout, field, out, &is_clipped, &error) == 0 && !is_clipped;
}

int line_time(const struct input_form *form, const struct field *field, double *out)
{
    struct dpf_error error = {0};
    return take_time(form->options, &form->layout, field, out, &error) == 0;
}

int line_weight(const struct input_form *form, const struct field *field, float *out)
{
    struct dpf_error error = {0};
    return take_weight(form->options, &form->layout, field, out, &error) == 0;
}
