/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_form.h - all that a line of a file is read by: made from keys and the file's header before a record is read,
 * and const from then on. Where the form is declared, no record has a say in it; where it is not, the first line is
 * asked, and the table of input_facts.h says that nothing is proved.
 */
#ifndef DPF_READING_INPUT_FORM_H
#define DPF_READING_INPUT_FORM_H

#include "reading/layout.h"

struct source;

struct input_form {
    const struct file_options *options;
    struct layout layout;
    int64_t header_block; /* of the file, where the header stands if there is one */
};

enum form_use {
    FORM_TO_READ, /* the file has to have a record, and a good one first */
    FORM_TO_LIST, /* faults of lines are listed, so that a declared form needs no first line */
    FORM_TO_LOOK, /* the form alone is asked for; what is wrong with the first line itself is no error here */
    FORM_TO_DOUBT /* likewise, with a warning if a declared header seems to be a record */
};

/* The form, where keys declare it. 1: they do; 0: they do not, and the first line has to be asked; -1: an error. */
int input_form_by_keys(const struct file_options *options, enum form_use use, const char *path,
                       struct input_form *out, struct dpf_error *error);
/* The form, by the first line of a file that is open at its beginning. 0; -1: an error. */
int input_form_by_first_line(const struct file_options *options, enum form_use use, const char *path,
                             struct source *source, struct input_form *out, struct dpf_error *error);
/* Either, without reading further. 1; 0: it is for the reading of the file to say what is wrong; -1: an error. */
int input_form_look(const struct file_options *options, const char *path, struct input_form *out,
                    struct dpf_error *error);
/* Warns of a declared header that seems to be a record. It is somebody's, so that only a person who holds the file may
   ask: a run says nothing of it. */
void input_form_warn(const struct file_options *options, const char *path);

/* Which columns the files of a table have, by their headers or by keys. All have the same: whether records have
   times must not follow from which file somebody's record is in. */
struct table_form {
    const char *path; /* of the first file; NULL: none yet */
    int values, times, weights;
};
/* Takes the form of another file, or refuses one that differs from it. path: the table's, or outlives it. */
int table_form_take(struct table_form *form, const char *path, const struct input_form *file,
                    struct dpf_error *error);

#endif
