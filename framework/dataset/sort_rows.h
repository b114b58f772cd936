/* SPDX-License-Identifier: Apache-2.0 */
/* sort_rows.h - sorts each row of ratings by item; records of one item keep their order. */
#ifndef DPF_DATASET_SORT_ROWS_H
#define DPF_DATASET_SORT_ROWS_H

#include "base/pool.h"
#include "dataset/ratings.h"

/* Ascending by the upper 32 bits; equal ones keep their order. scratch: n more. Linear time. */
void sort_keys(uint64_t *keys, uint64_t *scratch, int64_t n);
int sort_rows(struct ratings *ratings, struct pool *pool, struct dpf_error *error);

#endif
