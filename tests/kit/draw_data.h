/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw_data.h - small data sets for a drawing, as lines that know whose they are.
 *
 * A few files of a few dozen records in the form that the drawing declares, with catalogues, links, features and
 * weights beside them. Users and items are numbers here; draw_id gives their texts, integers and words.
 */
#ifndef DPF_TEST_DRAW_DATA_H
#define DPF_TEST_DRAW_DATA_H

#include <stddef.h>

#include "kit/draw.h"

#define DRAW_FILES 3
#define DRAW_USERS 24
#define DRAW_ITEMS 16

struct draw_line {
    int file, user, item; /* whose it is, whether or not the bytes say so */
    int is_void;          /* no record, by oddness; -1: may be one */
    char *bytes;          /* without its end */
    size_t n;
};

struct draw_form {
    const char *format;
    char delimiter[4];
    int header, sections, time, weight; /* whether files have a header, lines of sections, these columns */
    double lo, hi;                      /* of values */
};

struct draw_data {
    struct draw_form form;
    int users, items, files;
    int without_time[DRAW_FILES]; /* a file that lacks the column of times */
    int crlf, unended;            /* line ends; whether the last line lacks one */
    struct draw_line *lines;
    int n, capacity;
};

/* "7" or "u5": the same for all drawings. Valid until the fourth next call. */
const char *draw_id(int is_item, int index);
void draw_form_of(const struct drawing *drawing, struct draw_form *form);
/* odd: percent of lines that have something odd. */
void draw_data_make(struct draw_data *data, struct draw_random *random, const struct drawing *drawing, int odd);
/* Declared numbers of users and items become those of the data, or of its catalogues. */
void draw_data_declare(const struct draw_data *data, struct drawing *drawing);
void draw_data_copy(const struct draw_data *from, struct draw_data *out);
void draw_data_free(struct draw_data *data);
/* A line of a record, as the form has it. Takes the place at the end. */
struct draw_line *draw_data_add(struct draw_data *data, struct draw_random *random, int file, int user, int item);
void draw_data_remove(struct draw_data *data, int line);
/* Writes the files of records alone, or (all) catalogues, links, features and weights too. */
int draw_data_write(const struct draw_data *data, const struct drawing *drawing, const char *directory, int all);

#endif
