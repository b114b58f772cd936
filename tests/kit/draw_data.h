/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw_data.h - small data sets for a drawing, as lines that know whose they are, and neighbouring ones.
 *
 * A few files of a few dozen records in the form that the drawing declares, with catalogues, links, features and
 * weights beside them. Users and items are numbers here; draw_id gives their texts, integers and words. Two data
 * sets that differ in one unit are one list of lines, of which each says in which of the two it is: all other lines
 * are the same byte by byte, in the same order.
 */
#ifndef DPF_TEST_DRAW_DATA_H
#define DPF_TEST_DRAW_DATA_H

#include <stddef.h>

#include "kit/draw.h"

#define DRAW_FILES 3
#define DRAW_USERS 24
#define DRAW_ITEMS 16
#define DRAW_FIELDS 6

/* In which data set a line is. */
#define IN_FIRST 1
#define IN_SECOND 2
#define IN_BOTH 3

struct draw_line {
    int file, user, item; /* whose it is, whether or not the bytes say so */
    int where;
    int intact;    /* its ids can be read */
    int separated; /* by the form's delimiter; 0: the first field is the whole line */
    int is_long;   /* followed by 2 MiB more */
    int n;
    struct {
        unsigned char bytes[30], n;
    } fields[DRAW_FIELDS];
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
    int gz_name[DRAW_FILES];      /* its name says that it is compressed, and it is not */
    int crlf, unended;            /* line ends; whether the last line lacks one */
    int odd_times;                /* in percent: fractions, before 1970, beyond 32 bits, dates */
    struct draw_line *lines;
    int n, capacity;
};

/* "7" or "u5": the same for all drawings. Valid until the fourth next call. */
const char *draw_id(int is_item, int index);
/* Users have these numbers for ids from now on, DRAW_USERS of them; NULL: their usual ids. Catalogues and the like are
   to be written anew. */
void draw_name_users(const int *numbers);
/* Public files lack some ids from now on, each file others; 0: they have all. */
void draw_files_lack(int some);
void draw_form_of(const struct drawing *drawing, struct draw_form *form);
void draw_data_make(struct draw_data *data, struct draw_random *random, const struct drawing *drawing);
/* Declared numbers of users and items become those of the data, or of its catalogues. */
void draw_data_declare(const struct draw_data *data, struct drawing *drawing);
void draw_data_copy(const struct draw_data *from, struct draw_data *out);
void draw_data_free(struct draw_data *data);
/* A line of a record, as the form has it, at that place (-1: the end). */
struct draw_line *draw_data_add(struct draw_data *data, struct draw_random *random, int at, int file,
                                int user, int item);
void draw_data_remove(struct draw_data *data, int line);
void draw_line_set(struct draw_line *line, int field, const void *bytes, size_t n);
/* Writes the files of records of one data set (IN_FIRST, IN_SECOND, or IN_BOTH for all lines). */
int draw_data_write(const struct draw_data *data, int which, const char *directory);
/* Writes catalogues, links, features, weights and the test part. */
int draw_data_write_others(const struct draw_data *data, const struct drawing *drawing,
                           const char *directory);

#endif
