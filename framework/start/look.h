/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look.h - what the first lines of a file look like: a guess that a person confirms before it becomes configuration.
 *
 * It is for the eyes of whoever holds the file. A run infers nothing from records: what it needs is declared.
 */
#ifndef DPF_START_LOOK_H
#define DPF_START_LOOK_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

#define LOOK_FIELDS 16 /* columns that are shown and guessed at; lines may have more */
#define LOOK_WORDS 48

enum look_role { LOOK_USER, LOOK_ITEM, LOOK_RATING, LOOK_TIME, LOOK_ROLES };

struct look {
    int64_t lines;         /* that were looked at; 0: the file has none */
    const char *format;    /* as [data] format */
    const char *delimiter; /* as [data] delimiter; NULL: the format's own */
    int has_header;
    int64_t fields;
    int columns[LOOK_ROLES];                /* 0-based, or -1: none looks like it */
    char names[LOOK_FIELDS][LOOK_WORDS];    /* of the header; "" without one */
    char examples[LOOK_FIELDS][LOOK_WORDS]; /* the first values of each column */
};

/* Looks at the first lines, unpacked if the name ends in .gz. What is no text (Parquet, UTF-16, ...) is a
 * DPF_FAULT_DATA that names the remedy. is_list: a catalogue, of which only the item's column is looked for. */
int look_at(const char *path, int is_list, struct look *out, struct dpf_error *error);
/* What separates the fields, as a word of [data] delimiter. */
const char *look_delimiter(const struct look *look);
/* Whether the lines have the form of a format that leaves nothing to declare; of others (csv, tsv) always. */
int look_fits(const struct look *look, const char *format);
/* A column of names for people by its own name (title, name), or -1. */
int look_title(const struct look *look);
/* The guess as a small table for a terminal. */
void look_table(const struct look *look, const char *path, struct text *out);

#endif
