/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reports.h - one training of a recommender, and what its releases show about chosen cells.
 *
 * An observer that reads these alone: rows of all users would be many.
 */
#ifndef DPF_AUDIT_REPORTS_H
#define DPF_AUDIT_REPORTS_H

#include "base/pool.h"
#include "dataset/dataset.h"
#include "plan/plan.h"

/* A cell of the release: the number that is sent for a user's item. */
struct reported {
    int32_t user, item;
    double *number; /* -1 where no such row is sent */
};

/* Trains with the data set, and writes down the numbers of n cells, sorted by user. */
int reports_run(struct plan *plan, const struct dataset *dataset, struct pool *pool, struct reported *cells,
                int64_t n, struct dpf_error *error);

/* The items that a user has in one of two sets only, at most capacity of them; returns how many. */
int64_t reports_differ(const struct dataset *const sets[2], int32_t user, int32_t *items, int64_t capacity);

#endif
