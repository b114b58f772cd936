/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - the map: what a line says, by the declared form and that line alone.
 *
 * Nothing here knows where a line stands, what stands in others, or what becomes of the result. Each function's
 * outcome follows from its arguments, so that a file is what its lines are, in any order, with any line put in or
 * taken out (test_reading_map.c).
 */
#ifndef DPF_READING_LINE_H
#define DPF_READING_LINE_H

#include "lines/quoted.h"
#include "reading/input_form.h"

enum line_kind {
    LINE_BLANK,   /* nobody's */
    LINE_NOTHING, /* a fault, and not even its ids can be read */
    LINE_VOID,    /* its ids are known, and nothing else counts: a fault, or a value that is dropped */
    LINE_RECORD
};

/* The bytes of a line. */
struct line_source {
    const char *bytes;
    size_t n;                    /* with the line end */
    size_t longest;              /* 0; or the line is longer than so many bytes, and these are its first */
    const struct field *section; /* the item of lines that lack it (format netflix); NULL: they have it */
};

/* What it says: of a record all, of a void line the ids, and time and weight where they can be read. Texts lie in the
   bytes or in the parser of quotes. */
struct line {
    struct field user, item;
    double time;
    float value, weight; /* 1 where there is no such column; the value of a void line is void_value */
    int is_dropped;      /* a void line, by its value: no fault */
    int is_clipped;      /* the value was moved to an end of the range */
};

/*
 * Reads a line. quoted: the thread's parser of lines with quotes, in which no row is open before and after; NULL:
 * quotes are ordinary. error is set for faults alone; its text lacks file and line. LINE_NOTHING with another fault
 * than one of the data: memory ran out.
 */
enum line_kind line_read(const struct input_form *form, const struct line_source *source,
                         struct quoted *quoted, struct line *out, struct dpf_error *error);
/* The same where the fields are known: those of a row that goes over several lines. */
enum line_kind line_of_fields(const struct input_form *form, const struct field *fields, int64_t n,
                              struct line *out, struct dpf_error *error);

/* The value of void records: the lower end of the range, else the upper one, else 0. */
float void_value(const struct file_options *options);
/* What line_of_fields makes of a field where it has nothing to say about it: 1; 0: it has, or the record goes. */
int line_value(const struct input_form *form, const struct field *field, float *out);
int line_time(const struct input_form *form, const struct field *field, double *out);
int line_weight(const struct input_form *form, const struct field *field, float *out);

#endif
