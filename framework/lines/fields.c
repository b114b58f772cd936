/* SPDX-License-Identifier: Apache-2.0 */
#include "lines/fields.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const struct {
    const char *name;
    const char *text;
    int runs;
} known_delimiters[] = {
    {"comma", ",", 0},  {"tab", "\t", 0}, {"semicolon", ";", 0},     {"space", " ", 0},
    {"spaces", " ", 1}, {"pipe", "|", 0}, {"double-colon", "::", 0},
};

int delimiter_parse(const char *text, struct delimiter *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof known_delimiters / sizeof known_delimiters[0]; i++)
        if (strcmp(text, known_delimiters[i].name) == 0) {
            text = known_delimiters[i].text;
            out->runs = known_delimiters[i].runs;
            break;
        }
    size_t length = strlen(text);
    if (length == 0 || length >= sizeof out->text)
        return -1;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        int alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (alphanumeric || c == '"' || c == '.' || c == '-' || c == '+' || c == '\n' || c == '\r')
            return -1;
    }
    memcpy(out->text, text, length);
    out->length = length;
    return 0;
}

const char *delimiter_name(const struct delimiter *delimiter, char buffer[32])
{
    if (delimiter->runs)
        return "spaces";
    if (strcmp(delimiter->text, "\t") == 0)
        return "TAB";
    if (strcmp(delimiter->text, " ") == 0)
        return "a space";
    snprintf(buffer, 32, "'%s'", delimiter->text);
    return buffer;
}

static void store(struct field *field, const char *start, const char *end)
{
    while (start < end && (*start == ' ' || *start == '\t'))
        start++;
    while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    field->data = start;
    field->length = (size_t)(end - start);
}

static int64_t split_runs(const char *at, const char *end, struct field fields[FIELDS_MAX])
{
    int64_t n = 0;
    for (;;) {
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        if (at == end)
            return n;
        const char *start = at;
        while (at < end && *at != ' ' && *at != '\t')
            at++;
        if (n < FIELDS_MAX)
            fields[n] = (struct field){start, (size_t)(at - start)};
        n++;
    }
}

const char *delimiter_suggest(const struct field *line)
{
    static const char *const hints[] = {"the line has TABs: did you mean delimiter = tab?",
                                        "the line has semicolons: did you mean delimiter = semicolon?",
                                        "the line has vertical bars: did you mean delimiter = pipe?",
                                        "the line has commas: did you mean delimiter = comma?",
                                        "the line has blanks: did you mean delimiter = spaces?"};
    static const char separators[] = "\t;|, ";
    for (size_t i = 1; i < line->length; i++)
        if (line->data[i - 1] == ':' && line->data[i] == ':')
            return "the line has '::': did you mean delimiter = double-colon?";
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (memchr(line->data, separators[i], line->length))
            return hints[i];
    return NULL;
}

int64_t fields_split(const struct delimiter *delimiter, const char *line, size_t length,
                     struct field fields[FIELDS_MAX])
{
    const char *end = line + length;
    if (delimiter->runs)
        return split_runs(line, end, fields);
    const char first = delimiter->text[0];
    const size_t width = delimiter->length;
    const char *start = line;
    int64_t n = 0;
    for (const char *at = line; at < end; at++) {
        if (*at != first)
            continue;
        if (width > 1 && ((size_t)(end - at) < width || memcmp(at, delimiter->text, width) != 0))
            continue;
        if (n < FIELDS_MAX)
            store(&fields[n], start, at);
        n++;
        start = at + width;
        at = start - 1;
    }
    if (n < FIELDS_MAX)
        store(&fields[n], start, end);
    return n + 1;
}

int field_integer(const struct field *field, int64_t *out)
{
    const char *at = field->data;
    size_t length = field->length;
    int negative = length > 0 && *at == '-';
    at += negative;
    length -= (size_t)negative;
    /* 18 digits cannot overflow; 19 are checked; "-0" and "007" are texts, or two ids would become one. */
    if (length == 0 || length > 19 || (*at == '0' && (length > 1 || negative)))
        return -1;
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned char)at[i] - (unsigned)'0';
        if (digit > 9)
            return -1;
        value = value * 10 + digit;
    }
    if (value > (uint64_t)INT64_MAX)
        return -1;
    *out = negative ? -(int64_t)value : (int64_t)value;
    return 0;
}

static int real_slow(const struct field *field, double *out)
{
    char copy[256];
    if (field->length == 0 || field->length >= sizeof copy || memchr(field->data, 0, field->length))
        return -1;
    memcpy(copy, field->data, field->length);
    copy[field->length] = '\0';
    return text_to_real(copy, out);
}

int field_real(const struct field *field, double *out)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *at = field->data;
    const char *end = at + field->length;
    int negative = at < end && *at == '-';
    at += negative;
    /* Up to 15 digits make an integer below 2^53, and a quotient of two exact doubles is correctly rounded.
     */
    if (at == end || end - at > 16)
        return real_slow(field, out);
    uint64_t digits = 0;
    int n = 0;
    const char *point = NULL;
    for (; at < end; at++) {
        unsigned digit = (unsigned char)*at - (unsigned)'0';
        if (digit <= 9) {
            digits = digits * 10 + digit;
            n++;
        } else if (*at == '.' && !point) {
            point = at + 1;
        } else {
            return real_slow(field, out);
        }
    }
    if (n == 0 || n > 15)
        return real_slow(field, out);
    double value = (double)digits;
    if (point)
        value /= powers[end - point];
    *out = negative ? -value : value;
    return 0;
}

const char *field_show(const struct field *field, char buffer[96])
{
    static const char hex[] = "0123456789abcdef";
    size_t used = 0;
    buffer[used++] = '"';
    for (size_t i = 0; i < field->length; i++) {
        if (used > 84) {
            memcpy(buffer + used, "...", 3);
            used += 3;
            break;
        }
        unsigned char c = (unsigned char)field->data[i];
        if (c >= 0x20 && c < 0x7f) {
            buffer[used++] = (char)c;
        } else {
            buffer[used++] = '\\';
            buffer[used++] = 'x';
            buffer[used++] = hex[c >> 4];
            buffer[used++] = hex[c & 15];
        }
    }
    buffer[used++] = '"';
    buffer[used] = '\0';
    return buffer;
}

int field_is(const struct field *field, const char *text)
{
    if (strlen(text) != field->length)
        return 0;
    for (size_t i = 0; i < field->length; i++) {
        unsigned char a = (unsigned char)field->data[i];
        unsigned char b = (unsigned char)text[i];
        a = a >= 'A' && a <= 'Z' ? (unsigned char)(a + 32) : a;
        b = b >= 'A' && b <= 'Z' ? (unsigned char)(b + 32) : b;
        if (a != b)
            return 0;
    }
    return 1;
}
