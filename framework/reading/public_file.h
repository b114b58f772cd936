/* SPDX-License-Identifier: Apache-2.0 */
/*
 * public_file.h - FILE or FILE:COLUMN, a public table whose first line says how it is to be read.
 *
 * A table that is public may decide its own form, which a file of records may not: its fields are separated by TABs if its first
 * line has one, else by the first '::', ';', '|' or comma of that line. A column is a name of the header, or a number from 1.
 */
#ifndef DPF_READING_PUBLIC_FILE_H
#define DPF_READING_PUBLIC_FILE_H

#include "base/error.h"
#include "base/text.h"
#include "dataset/ids.h"
#include "lines/fields.h"
#include "lines/quoted.h"

struct public_file {
    char *path;
    char *column; /* as configured behind the colon, or NULL */
    struct delimiter delimiter;
    int quoting;
    struct text line;      /* the first one */
    struct quoted *quoted; /* has its fields, if some are quoted */
    struct field fields[FIELDS_MAX];
    int64_t n; /* of all its fields */
};

/* The file's path without the column. Free it. */
char *public_file_path(const char *configured);
/* Looks at the first line. Free out, also after an error; faults name the file. */
int public_file_look(const char *configured, struct public_file *out, struct dpf_error *error);
void public_file_free(struct public_file *file);
/* The 0-based column of this name or number, or -1. */
int public_file_column(const struct public_file *file, const char *column);
/* The 0-based column of the ids of items (or users) that the header names, as in the records (item, or NULL) or by a usual
   name; -1: no header names one. */
int public_file_id_column(const struct public_file *file, int side, const char *item);
/* -1: the error says that the file has no such column, and which ones it has. key: of [data]. */
int public_file_no_column(const struct public_file *file, const char *key, const char *column,
                          struct dpf_error *error);

/* -1 with an error if the first id, and no other, is not a number: the first line is then a header that was read as a row. */
int public_file_header_read(const struct public_file *file, const struct ids *ids, struct dpf_error *error);

#endif
