/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.h - a public list of items or users, from a file, in the order of its lines.
 *
 * A list of the ids in the records shows which ids occur, and one user's records can add to it. With a
 * catalogue the rows of a side, their number and their order depend on the catalogue's file alone.
 */
#ifndef DPF_READING_CATALOGUE_H
#define DPF_READING_CATALOGUE_H

#include "dataset/ids.h"
#include "reading/data_options.h"

/* The ids of FILE (an id on each line, up to the first TAB), or of the column of a table, FILE:COLUMN. records says how ids are
   encoded, and what their column may be called in a header. Faults: DPF_FAULT_DATA, naming file and line, for an id that
   stands there twice too. */
int catalogue_load(const char *configured, int side, const struct file_options *records, struct id_map *out,
                   struct dpf_error *error);

#endif
