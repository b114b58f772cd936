/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        return;
    text->data = memory_need_grow(text->data, &text->capacity, text->length + (size_t)length + 1, 1);
    va_start(args, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
    va_end(args);
    text->length += (size_t)length;
}

void text_append(struct text *text, const char *bytes, size_t n)
{
    text->data = memory_need_grow(text->data, &text->capacity, text->length + n + 1, 1);
    memcpy(text->data + text->length, bytes, n);
    text->length += n;
    text->data[text->length] = '\0';
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int text_to_int(const char *text, int64_t *out)
{
    int negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    if (!*text)
        return -1;
    /* Counts downwards, since the range reaches further there. */
    int64_t value = 0;
    for (; *text; text++) {
        if (!is_digit(*text) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, *text - '0', &value))
            return -1;
    }
    if (!negative && value == INT64_MIN)
        return -1;
    *out = negative ? value : -value;
    return 0;
}

/* Whether text is a decimal number without sign; *zero tells whether all of its digits are 0. */
static int is_decimal(const char *text, int *zero)
{
    int digits = 0;
    *zero = 1;
    for (int point = 0; is_digit(*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = 1;
        } else {
            digits++;
            *zero &= *text == '0';
        }
    }
    if (digits == 0)
        return 0;
    if (*text == 'e' || *text == 'E') {
        text++;
        if (*text == '-' || *text == '+')
            text++;
        if (!is_digit(*text))
            return 0;
        while (is_digit(*text))
            text++;
    }
    return *text == '\0';
}

/* strtod in the C locale, whatever the thread's locale is. */
static double c_strtod(const char *text)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    int saved = errno;
    double value = plain ? strtod(text, NULL) : (double)NAN;
    errno = saved;
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    return value;
}

int text_to_real(const char *text, double *out)
{
    const char *unsigned_part = text + (*text == '-' || *text == '+');
    if (strcmp(unsigned_part, "inf") == 0) {
        *out = *text == '-' ? -(double)INFINITY : (double)INFINITY;
        return 0;
    }
    int zero;
    if (!is_decimal(unsigned_part, &zero))
        return -1;
    double value = c_strtod(text);
    if (!isfinite(value) || (value == 0 && !zero))
        return -1;
    *out = value;
    return 0;
}

/* The fewest significant digits that identify |value|, and the power of ten of the first. */
static int shortest_digits(double value, char digits[20], int *exponent)
{
    char buffer[40];
    for (int n = 1;; n++) {
        snprintf(buffer, sizeof buffer, "%.*e", n - 1, value);
        char *e = strchr(buffer, 'e');
        *exponent = atoi(e + 1);
        digits[0] = buffer[0];
        /* buffer[1] is the decimal point, a comma in some locales. */
        memcpy(digits + 1, buffer + 2, (size_t)(n - 1));
        digits[n] = '\0';
        snprintf(buffer, sizeof buffer, "%se%d", digits, *exponent - (n - 1));
        if (n == 17 || c_strtod(buffer) == value)
            return n;
    }
}

char *text_from_real(double value, char buffer[32])
{
    if (!isfinite(value))
        return strcpy(buffer, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    const char *sign = signbit(value) ? "-" : "";
    if (value == 0)
        return strcpy(buffer, *sign ? "-0" : "0");
    char digits[20];
    char wide[40] = {0}; /* what the compiler can prove to fit; 25 bytes are used at most */
    int exponent;
    int n = shortest_digits(fabs(value), digits, &exponent);
    if (exponent < -4 || exponent > 15)
        snprintf(wide, sizeof wide, "%s%c%s%.16se%d", sign, digits[0], n > 1 ? "." : "", digits + 1,
                 exponent);
    else if (exponent < 0)
        snprintf(wide, sizeof wide, "%s0.%.*s%.17s", sign, -exponent - 1, "000", digits);
    else if (n <= exponent + 1)
        snprintf(wide, sizeof wide, "%s%.17s%.*s", sign, digits, exponent + 1 - n, "000000000000000");
    else
        snprintf(wide, sizeof wide, "%s%.*s.%.17s", sign, exponent + 1, digits, digits + exponent + 1);
    return memcpy(buffer, wide, 32);
}

/*
 * So many digits of x that they parse back to it, as an integer without its last zeros; 10^*exponent is what its first
 * digit is worth. The quotient of integer and power of ten is rounded once to double; one in the middle between two floats
 * may lie on either side of it, and does not count.
 */
static uint64_t few_digits(float x, int *exponent)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9, 1e10,
                                   1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20};
    const double value = (double)x;
    int first = -5;
    while (value >= (first + 1 < 0 ? 1 / power[-first - 1] : power[first + 1]))
        first++;
    for (int n = 6;; n++) {
        const int shift = n - 1 - first;
        uint64_t digits = (uint64_t)llrint(shift < 0 ? value / power[-shift] : value * power[shift]), bits;
        const double back = shift < 0 ? (double)digits * power[-shift] : (double)digits / power[shift];
        memcpy(&bits, &back, sizeof bits);
        if (n < 9 && ((float)back != x || (bits & 0x1fffffff) == 0x10000000))
            continue;
        *exponent = first + (digits >= (uint64_t)power[n]);
        while (digits % 10 == 0)
            digits /= 10;
        return digits;
    }
}

/* Outside of what few_digits serves. */
static char *from_odd_float(float value, char buffer[32])
{
    for (int n = 6; n <= 9; n++) {
        snprintf(buffer, 32, "%.*g", n, (double)value);
        if (strtof(buffer, NULL) == value)
            break;
    }
    return buffer;
}

char *text_from_float(float value, char buffer[32])
{
    const float size = fabsf(value);
    char digits[20], *to = buffer;
    int exponent, n = 0;
    if (size == 0)
        return strcpy(buffer, signbit(value) ? "-0" : "0");
    if (!(size >= 1e-5F && size < 1e15F))
        return isfinite(value) ? from_odd_float(value, buffer) : text_from_real((double)value, buffer);
    for (uint64_t rest = few_digits(size, &exponent); rest; rest /= 10)
        digits[n++] = (char)('0' + rest % 10);
    if (value < 0)
        *to++ = '-';
    if (exponent < 0) {
        *to++ = '0';
        *to++ = '.';
        for (int i = -1; i > exponent; i--)
            *to++ = '0';
    }
    for (int at = 0; at < n || at <= exponent; at++) {
        if (exponent >= 0 && at == exponent + 1)
            *to++ = '.';
        *to++ = at < n ? digits[n - 1 - at] : '0';
    }
    *to = '\0';
    return buffer;
}

char *text_from_count(int64_t value, char buffer[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64, value);
    char *out = buffer;
    for (int i = 0; i < length; i++) {
        int left = length - i; /* digits from here on, this one included */
        if (i > 0 && is_digit(digits[i - 1]) && left % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return buffer;
}

/* Longer names get no suggestion, which bounds the work. */
#define NEAREST_MAX 64

/* Names that differ only in case or in the kind of dash are the same for a suggestion. */
static char folded(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '_' ? (char)'-' : c;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: insertions, deletions, substitutions, swaps of neighbours. */
static int edit_distance(const char *a, int n, const char *b, int m)
{
    int rows[3][NEAREST_MAX + 1];
    for (int j = 0; j <= m; j++)
        rows[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *row = rows[i % 3];
        const int *last = rows[(i - 1) % 3];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int differ = folded(a[i - 1]) != folded(b[j - 1]);
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + differ);
            if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                folded(a[i - 2]) == folded(b[j - 1]))
                row[j] = least(row[j], rows[(i - 2) % 3][j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

/* Length of the words before a dot that both begin with: they say nothing about how near the rest is. */
static size_t common_words(const char *a, const char *b)
{
    size_t common = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '.')
            common = i + 1;
    return common;
}

/* How far name is from the candidate, or NEAREST_MAX if that is too far to suggest it. */
static int suggestion_distance(const char *name, const char *candidate)
{
    size_t common = common_words(name, candidate);
    const char *a = name + common, *b = candidate + common;
    size_t length = strlen(a), other = strlen(b);
    if (length == 0 || other == 0 || length > NEAREST_MAX || other > NEAREST_MAX)
        return NEAREST_MAX;
    int distance = edit_distance(a, (int)length, b, (int)other);
    int longer = (int)(length > other ? length : other);
    /* "eps" is far from "epsilon" by edits, but plainly means it. */
    if (length >= 3 && length < other && strncmp(a, b, length) == 0)
        distance = 1;
    int limit = longer < 4 ? 1 : (longer + 2) / 3;
    /* Another spelling of capitals is no edit, however short the name is. */
    return distance == 0 || (distance <= limit && distance < longer) ? distance : NEAREST_MAX;
}

const char *text_nearest(const char *name, const char *const *candidates, int64_t n)
{
    const char *best = NULL;
    int best_distance = NEAREST_MAX;
    for (int64_t i = 0; i < n; i++) {
        int distance = candidates[i] ? suggestion_distance(name, candidates[i]) : NEAREST_MAX;
        if (distance < best_distance) {
            best = candidates[i];
            best_distance = distance;
        }
    }
    return best;
}

int text_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    int length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, and beyond U+10FFFF. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

/* U+2028 to U+202E and U+2066 to U+2069: ends of lines, and what turns the direction of a line. */
static int turns_the_line(const char *text)
{
    const unsigned char *b = (const unsigned char *)text;
    return b[0] == 0xe2 &&
           ((b[1] == 0x80 && b[2] >= 0xa8 && b[2] <= 0xae) || (b[1] == 0x81 && b[2] >= 0xa6 && b[2] <= 0xa9));
}

char *text_escape(const char *text, char *buffer, size_t size)
{
    size_t used = 0;
    while (*text) {
        int length = text_utf8_length(text);
        unsigned char first = (unsigned char)*text;
        /* C1 controls are two bytes long in UTF-8, 0xc2 and 0x80 to 0x9f. */
        int control = first < 0x20 || first == 0x7f || (first == 0xc2 && (unsigned char)text[1] < 0xa0) ||
                      (length == 3 && turns_the_line(text));
        if (used + 8 >= size) {
            strcpy(buffer + used, "...");
            return buffer;
        }
        if (length == 0 || control) {
            snprintf(buffer + used, 5, "\\x%02x", first);
            used += 4;
            text++;
        } else {
            memcpy(buffer + used, text, (size_t)length);
            used += (size_t)length;
            text += length;
        }
    }
    buffer[used] = '\0';
    return buffer;
}

char *text_show(const char *text, char buffer[TEXT_SHOWN])
{
    return text_escape(text, buffer, 89);
}
