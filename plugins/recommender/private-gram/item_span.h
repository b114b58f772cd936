/* SPDX-License-Identifier: Apache-2.0 */
/*
 * item_span.h - what is known of items before their Gram: noisy counts, weights from them, and directions in
 * which the Gram is expected to be large.
 *
 * Everything here is computed from the released counts, public features and constants.
 */
#ifndef PRIVATE_GRAM_ITEM_SPAN_H
#define PRIVATE_GRAM_ITEM_SPAN_H

#include "dense_algebra.h"
#include "dpframe/features.h"
#include "gram_plan.h"

struct item_span {
    int64_t n_items;
    double *count;   /* of each item: estimated number of users */
    double *weight;  /* of each item: (count + offset)^-exponent */
    int32_t *column; /* of each item among the m with the largest noisy counts, ascending; -1: not there */
    int32_t *item;   /* of each of the m columns */
    int32_t m;
    /* What the counts let expect of every user's row: count weight of the columns, to norm 1, which is in the basis;
       and the part of it that rows of the second release keep. They are q and s of centred_row.h. */
    double *shared;
    double kept;
    /*
     * A row for each column: an orthonormal basis of diag(count weight) [1, log count, log^2 count, features,
     * squares of numbers]. The same functions of all other items, in the same basis, are the rows of `all`.
     */
    struct matrix basis; /* m x d */
    struct matrix all;   /* n_items x d */
};

/* totals: the noisy integer sums of the first release. features may be NULL. */
int item_span_make(const dpf_call *call, const struct gram_plan *plan, int64_t n_users, int64_t n_items,
                   const int64_t *totals, const dpf_features *features, struct item_span *out);

#endif
