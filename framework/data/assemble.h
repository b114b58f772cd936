/* SPDX-License-Identifier: Apache-2.0 */
/* assemble.h - turns records in the order of lines into rows. */
#ifndef DPF_DATA_ASSEMBLE_H
#define DPF_DATA_ASSEMBLE_H

#include "base/pool.h"
#include "dataset/ratings.h"
#include "reading/table.h"

/* What rows are to have beside users and items, if all files have it. */
struct ratings_wish {
    int values; /* and weights, and which are void */
    int times, order;
    int last; /* nothing is built of this table again: it keeps who, what and where, and loses what is taken from it */
};

/* From the order of lines to rows sorted by item, lines of one pair in their order. */
int ratings_build(struct table *table, int64_t users, const struct ratings_wish *wish, struct pool *pool,
                  struct ratings *out, struct dpf_error *error);
/* Chunks are small pieces, whose memory the library would keep while what is made of them takes as much again. What few
   records took it may keep: *freed, how many were freed since the last time, is 0 afterwards if it was returned. */
void ratings_return_freed(int64_t *freed);

#endif
