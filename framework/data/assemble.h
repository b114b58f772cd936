/* SPDX-License-Identifier: Apache-2.0 */
/* assemble.h - turns records in the order of lines into rows. */
#ifndef DPF_DATA_ASSEMBLE_H
#define DPF_DATA_ASSEMBLE_H

#include "base/pool.h"
#include "dataset/ratings.h"
#include "reading/table.h"

/* From the order of lines to rows sorted by item, lines of one pair in their order; with their times, if they
   are wanted and all files have them. */
int ratings_build(struct table *table, int64_t users, int want_times, int want_order, struct pool *pool,
                  struct ratings *out, struct dpf_error *error);

#endif
