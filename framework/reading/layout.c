/* SPDX-License-Identifier: Apache-2.0 */
#include "reading/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Names that files of ratings use in their headers. */
static const char *const usual_names[COLUMN_COUNT][12] = {
    [COLUMN_USER] = {"user", "userid", "user_id", "user-id", "uid", "reviewerid", "customerid",
                     "user_id:token"},
    [COLUMN_ITEM] = {"item", "itemid", "item_id", "item-id", "iid", "movieid", "movie_id", "placeid",
                     "productid", "asin", "item_id:token"},
    [COLUMN_RATING] = {"rating", "ratings", "value", "score", "stars", "count", "rating:float"},
    [COLUMN_TIME] = {"time", "timestamp", "unixreviewtime", "timestamp:float"},
};
static const char *const column_words[COLUMN_COUNT] = {"user", "item", "rating", "time", "privacy weight"};

int layout_is_usual(enum column column, const struct field *field)
{
    for (int i = 0; i < 12 && usual_names[column][i]; i++)
        if (field_is(field, usual_names[column][i]))
            return 1;
    return 0;
}

/* The field that the test accepts; -1: none, -2: more than one. */
static int find_usual(enum column column, const struct field *fields, int n)
{
    int found = -1;
    for (int i = 0; i < n; i++)
        if (layout_is_usual(column, &fields[i])) {
            if (found >= 0)
                return -2;
            found = i;
        }
    return found;
}

static int is_automatic(const char *text)
{
    return strcmp(text, "auto") == 0;
}

static int is_absent(const char *text)
{
    return strcmp(text, "none") == 0;
}

static int is_word(const struct field *field)
{
    static const char *const missing[] = {"nan", "na", "n/a", "null", "none", "inf", "-inf", "infinity"};
    double number;
    if (field_real(field, &number) == 0)
        return 0;
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
        if (field_is(field, missing[i]))
            return 0;
    for (size_t i = 0; i < field->length; i++)
        if ((field->data[i] | 0x20) >= 'a' && (field->data[i] | 0x20) <= 'z')
            return 1;
    return 0;
}

static int looks_like_header(const struct file_options *options, const struct field *fields, int n)
{
    int64_t number;
    for (int c = 0; c < COLUMN_COUNT; c++)
        if (!is_automatic(options->columns[c]) && !is_absent(options->columns[c]) &&
            text_to_int(options->columns[c], &number) != 0)
            return 1; /* configured by name: there must be one */
    /* A word of headers where no field is a number: one is enough, for the other column may have any name. */
    int has_number = 0, has_usual = 0;
    for (int i = 0; i < n; i++) {
        double value;
        has_number |= field_real(&fields[i], &value) == 0;
        for (int c = COLUMN_USER; c <= COLUMN_TIME; c++)
            has_usual |= layout_is_usual((enum column)c, &fields[i]);
    }
    if (has_usual && !has_number)
        return 1;
    int64_t rating = 3;
    if (is_absent(options->columns[COLUMN_RATING]))
        return 0;
    if (!is_automatic(options->columns[COLUMN_RATING]))
        (void)text_to_int(options->columns[COLUMN_RATING], &rating);
    return rating >= 1 && rating <= n && is_word(&fields[rating - 1]);
}

static int find_named(const struct file_options *options, enum column c, const struct field *fields, int n,
                      struct dpf_error *error)
{
    struct field wanted = {options->columns[c], strlen(options->columns[c])};
    int found = -1;
    for (int i = 0; i < n; i++) {
        if (fields[i].length != wanted.length || memcmp(fields[i].data, wanted.data, wanted.length) != 0)
            continue;
        if (found >= 0)
            return error_set(error, DPF_FAULT_DATA, "the header names \"%s\" twice; give data.%s as a number",
                             options->columns[c], options->keys[c]);
        found = i;
    }
    if (found >= 0)
        return found;
    struct text names = {0};
    char show[96];
    for (int i = 0; i < n && i < 16; i++)
        text_add(&names, "%s%s", i ? ", " : "", field_show(&fields[i], show));
    error_set(error, DPF_FAULT_DATA, "data.%s names a column \"%s\", but the header has %s", options->keys[c],
              options->columns[c], names.data ? names.data : "none");
    text_free(&names);
    return -1;
}

/* Columns given by number or name. */
static int place_configured(const struct file_options *options, const struct field *fields, int n,
                            int64_t all, struct layout *out, struct dpf_error *error)
{
    char name[32];
    for (int c = 0; c < COLUMN_COUNT; c++) {
        int64_t number;
        out->columns[c] = -1;
        if (is_automatic(options->columns[c]) || is_absent(options->columns[c]))
            continue;
        if (text_to_int(options->columns[c], &number) == 0) {
            if (number < 1 || number > FIELDS_MAX)
                return error_set(error, DPF_FAULT_CONFIG, "data.%s must be 1 to %d or a name, not \"%s\"",
                                 options->keys[c], FIELDS_MAX, options->columns[c]);
            if (number > all && options->one_id && options->rating_needed)
                return error_set(
                    error, DPF_FAULT_DATA,
                    "a line holds an id and its weight, but this one has %lld field(s) separated by "
                    "%s",
                    (long long)all, delimiter_name(&options->delimiter, name));
            if (number > all)
                return error_set(error, DPF_FAULT_DATA,
                                 "data.%s is %lld, but the line has %lld field(s) separated by %s",
                                 options->keys[c], (long long)number, (long long)all,
                                 delimiter_name(&options->delimiter, name));
            out->columns[c] = (int)number - 1;
        } else if (!out->has_header) {
            return error_set(error, DPF_FAULT_DATA,
                             "data.%s is a name, \"%s\", but the file has no header (data.%sheader = no); "
                             "give the column's number",
                             options->keys[c], options->columns[c], options->prefix);
        } else {
            out->columns[c] = find_named(options, (enum column)c, fields, n, error);
            if (out->columns[c] < 0)
                return -1;
        }
    }
    return 0;
}

static int is_taken(const struct layout *layout, int column)
{
    for (int c = 0; c < COLUMN_COUNT; c++)
        if (layout->columns[c] == column)
            return 1;
    return 0;
}

static int place_automatic(const struct file_options *options, const struct field *fields, int n,
                           struct layout *out, struct dpf_error *error)
{
    /* Names first, so that a header in another order than ours is understood. */
    for (int c = 0; c < COLUMN_COUNT && out->has_header; c++) {
        int found = is_automatic(options->columns[c]) ? find_usual((enum column)c, fields, n) : -1;
        if (found == -2)
            return error_set(error, DPF_FAULT_DATA, "the header has two names for the %s; set data.%s",
                             column_words[c], options->keys[c]);
        if (found >= 0 && !is_taken(out, found))
            out->columns[c] = found;
    }
    for (int c = 0; c < COLUMN_COUNT; c++) {
        if (!is_automatic(options->columns[c]) || out->columns[c] >= 0)
            continue;
        if (c == COLUMN_TIME && (out->has_header || n != 4))
            continue;
        if (c < n && !is_taken(out, c))
            out->columns[c] = c;
    }
    return 0;
}

static int missing_column(const struct file_options *options, const struct field *fields, int64_t all,
                          int column, struct dpf_error *error)
{
    char name[32], remedy[192];
    const char *other = all == 1 ? delimiter_suggest(&fields[0]) : NULL;
    snprintf(remedy, sizeof remedy, "set data.%s%s, or data.%sdelimiter if the line is split wrongly",
             options->keys[column],
             column == COLUMN_RATING ? " (or feedback = implicit if there are no ratings)"
             : column == COLUMN_TIME ? " (or split.by = random if there are no time stamps)"
                                     : "",
             options->prefix);
    return error_set(error, DPF_FAULT_DATA,
                     "cannot tell which of %lld field(s) separated by %s is the %s; %s", (long long)all,
                     delimiter_name(&options->delimiter, name), column_words[column], other ? other : remedy);
}

static int check_complete(const struct file_options *options, const struct field *fields, int64_t all,
                          const struct layout *layout, struct dpf_error *error)
{
    const int needed[COLUMN_COUNT] = {1, 1, options->rating_needed, options->time_needed, 0};
    for (int c = 0; c < COLUMN_COUNT; c++) {
        if (needed[c] && layout->columns[c] < 0)
            return missing_column(options, fields, all, c, error);
        for (int d = 0; d < c; d++)
            if (layout->columns[c] >= 0 && layout->columns[c] == layout->columns[d] &&
                !(options->one_id && c == COLUMN_ITEM && d == COLUMN_USER))
                return error_set(error, DPF_FAULT_CONFIG, "data.%s and data.%s are both column %d",
                                 options->keys[d], options->keys[c], layout->columns[c] + 1);
    }
    return 0;
}

int layout_decide(const struct file_options *options, const struct field *fields, int64_t n,
                  struct layout *out, struct dpf_error *error)
{
    int stored = n < FIELDS_MAX ? (int)n : FIELDS_MAX;
    memset(out, 0, sizeof *out);
    out->has_header = options->header == HEADER_YES ||
                      (options->header == HEADER_AUTO && looks_like_header(options, fields, stored));
    out->fields = options->n_fields ? options->n_fields : n;
    out->drops_times = options->time_unused;
    if (out->has_header && n != out->fields)
        return error_set(error, DPF_FAULT_DATA,
                         "the header has %lld field(s), but data.fields is %lld; correct it, or "
                         "data.%sdelimiter if the line is split wrongly",
                         (long long)n, (long long)out->fields, options->prefix);
    /* A record on the first line says nothing of the form where it is declared. */
    n = out->fields;
    if (!out->has_header)
        stored = n < FIELDS_MAX ? (int)n : FIELDS_MAX;
    if (place_configured(options, fields, stored, n, out, error) != 0)
        return -1;
    if (place_automatic(options, fields, stored, out, error) != 0)
        return -1;
    return check_complete(options, fields, n, out, error);
}
