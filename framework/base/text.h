/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - strings: growing buffers, numbers that ignore the locale, nearest names, safe display. */
#ifndef DPF_BASE_TEXT_H
#define DPF_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* A growing string; starts as all zeros. data is NUL-terminated once anything was added. */
struct text {
    char *data;
    size_t length;
    size_t capacity;
};
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_append(struct text *text, const char *bytes, size_t n);
void text_free(struct text *text);

/* Whole-string parsers, independent of the locale. Return 0, or -1 if the text is no such number or
   overflows. Reals: decimal or scientific; "inf" and "-inf" are parsed; NaN, hex, and a number other
   than 0 that would become 0 are refused. */
int text_to_int(const char *text, int64_t *out);
int text_to_real(const char *text, double *out);
/* Shortest decimal text that parses back to the same float64. Returns buffer. */
char *text_from_real(double value, char buffer[32]);
/* The same of a float32: in tens of nanoseconds where it is 0 or between 1e-5 and 1e15. Returns buffer. */
char *text_from_float(float value, char buffer[32]);
/* With thousands separators, "1,000,209". Returns buffer. */
char *text_from_count(int64_t value, char buffer[32]);

/* The candidate nearest to name by edit distance, or NULL if none is near enough to suggest. */
const char *text_nearest(const char *name, const char *const *candidates, int64_t n);

/*
 * Text of others made fit for a message: control bytes and whatever is not UTF-8 as \xNN, "..." in
 * place of what exceeds some 80 bytes. Returns buffer.
 */
#define TEXT_SHOWN 96
char *text_show(const char *text, char buffer[TEXT_SHOWN]);
/* The same for a text of any length, into so many bytes, at least 16. */
char *text_escape(const char *text, char *buffer, size_t size);
/* Length of the UTF-8 sequence at text, 1 to 4; 0 if there is none, or at the terminating NUL. */
int text_utf8_length(const char *text);

#endif
