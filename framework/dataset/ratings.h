/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ratings.h - records by user while they are cleaned and split: CSR, and fields that only loading needs.
 */
#ifndef DPF_DATASET_RATINGS_H
#define DPF_DATASET_RATINGS_H

#include "dataset/dataset.h"

struct ratings {
    struct csr csr; /* rows: users */
    double *times;  /* NULL: unknown */
    int32_t *order; /* place of the record among its user's lines; NULL: not asked for */
};
void ratings_free(struct ratings *ratings);

/* Which arrays ratings have. */
struct ratings_columns {
    int values, times, weights, order, voids;
};

/* Room for n records of these rows; arrays not asked for stay NULL. */
int ratings_reserve(struct ratings *ratings, int64_t rows, int64_t n, const struct ratings_columns *has);

/* Keeps the records whose flag is 0 (in place); returns the number of those removed. flags: one a record. */
int64_t ratings_remove(struct ratings *ratings, const uint8_t *flags);
/* Makes those whose flag is not 0 void, where void records are kept; returns how many were not before. */
int64_t ratings_void(struct ratings *ratings, const uint8_t *flags);
/* Moves the flagged records' csr to out and keeps the others. */
int ratings_extract(struct ratings *ratings, const uint8_t *flags, struct csr *out);

#endif
