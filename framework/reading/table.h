/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - records in the order of the files, with ids as codes.
 */
#ifndef DPF_READING_TABLE_H
#define DPF_READING_TABLE_H

#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"
#include "base/violations.h"
#include "dataset/ids.h"
#include "lines/source.h"
#include "reading/chunk.h"
#include "reading/data_options.h"
#include "reading/input_form.h"

struct table {
    struct table_form form;
    struct chunk **chunks;
    size_t n_chunks, chunks_capacity;
    struct slot *slots;
    int n_slots;
    int64_t lines, empty, records, dropped, clipped;
    int64_t strangers;   /* records whose user or item has no index; counted when rows are built */
    int drops_strangers; /* they are not faults */
    int strangers_told;
    int keeps_voids; /* void records are among them, see enum void_rule */
    /* Where it is set, lines that are not records are listed there and left out, and reading goes on; else
       the first of them ends it. */
    struct violations *violations;
    char **paths; /* the table's own */
    int n_paths;
};

/* How a file is read beyond its options. */
struct read_control {
    size_t block_size;  /* 0: the usual */
    const char *memory; /* the file's content; NULL: read the file */
    size_t length;
    int careful;     /* every line by the careful path */
    int kind;        /* of processor, of the fast one: SIMD_KIND_... */
    int part, parts; /* several ranks read parts of the file (file_part.h), all of them; 0: one reads all */
    char (*part_hashes)
        [65]; /* SHA-256 of the part as it is read, at its place; with hash, of all parts; or NULL */
};

/*
 * Reads a file and appends its records. The dictionaries of the ids seen are merged into users and
 * items (which may be one), and chunks' maps give codes of these. hash: 65 bytes for the SHA-256 of the file,
 * or NULL.
 */
int table_read(struct table *table, const char *path, const struct file_options *options,
               const struct read_control *control, struct ids *users, struct ids *items, char *hash,
               struct pool *pool, struct dpf_error *error);
/* Whether the first line of a file without a header is a record. It is somebody's, so that only a person who
   writes a configuration may be told: a run counts it among its faults. */
int table_check_record(const char *path, const struct file_options *options, struct dpf_error *error);
/* Makes all maps lead to final indices instead of merged codes. */
void table_finish_ids(struct table *table, const int32_t *user_rank, const int32_t *item_rank);
/* File and line of the record with these indices, the nth from 0. 0, or -1 if there is none. */
int table_find(const struct table *table, int32_t user, int32_t item, int nth, const char **path,
               int64_t *line);
/* Other chunks, with maps of their own, in place of all; paths stay. Takes over the arrays; chunks is an
 * array of n. */
void table_replace(struct table *table, struct chunk **chunks, size_t n, struct slot *maps, int64_t records);
void table_free(struct table *table);

#endif
