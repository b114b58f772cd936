/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratings.h - records by user while they are cleaned and split: CSR and what only loading needs.
 */
#ifndef DPF_DATA_RATINGS_H
#define DPF_DATA_RATINGS_H

#include "base/pool.h"
#include "data/dataset.h"
#include "data/table.h"

struct ratings {
    struct csr csr; /* rows: users */
    double *times;  /* NULL: unknown */
    int32_t *order; /* place of the record among its user's lines; NULL: not asked for */
};
void ratings_free(struct ratings *ratings);

/* Room for n records of these rows; arrays not asked for stay NULL. */
int ratings_reserve(struct ratings *ratings, int64_t rows, int64_t n, int values, int times, int weights,
                    int order);

/* From the order of lines to rows sorted by item, lines of one pair in their order. Frees the chunks'
 * records. */
int ratings_build(struct table *table, int64_t users, int want_order, struct pool *pool, struct ratings *out,
                  struct dpf_error *error);

/* What became of records that were not the only ones of their pair. */
struct resolved {
    int64_t removed; /* duplicates */
    int64_t dropped; /* pairs whose sum lies outside of the declared range, or that are at fault, */
    int64_t clipped; /* or whose sum was moved to an end of it */
};

/* Leaves one record a pair, and increases the counts. The table names lines in messages; NULL: no duplicates
 * occur. Pairs that are at fault are listed and left out; violations NULL: the first is an error. */
int ratings_resolve(struct ratings *ratings, const struct data_options *options, const struct table *table,
                    const struct id_map *users, const struct id_map *items, struct resolved *counts,
                    struct violations *violations, struct dpf_error *error);

/* Keeps the records whose flag is 0 (in place); returns the number of those removed. flags: one a record. */
int64_t ratings_remove(struct ratings *ratings, const uint8_t *flags);
/* Moves the flagged records' csr to out and keeps the others. */
int ratings_extract(struct ratings *ratings, const uint8_t *flags, struct csr *out);

#endif
