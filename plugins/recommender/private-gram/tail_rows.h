/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tail_rows.h - rows of the Gram for items without a column, from a release of their own.
 *
 * A column for every item would make users spend most of their norm on items of the tail: on MovieLens 100K,
 * 2.2 times as many columns cost as much NDCG where the added columns were thrown away as where they were
 * used. So these items get a small share of the budget beside the Gram: sum z w', z the user's row over them,
 * scaled to norm 1 on its own, and w the user's row over the columns along the estimate's largest directions,
 * as in the projected form.
 *
 * A row that was released is combined with what counts and features let expect, each by how well it is known:
 * the expected row differs from the true one with the covariance that it has for items with a column, in
 * proportion to (count weight)^2.
 */
#ifndef PRIVATE_GRAM_TAIL_ROWS_H
#define PRIVATE_GRAM_TAIL_ROWS_H

#include "denoise.h"
#include "gram_message.h"

struct tail {
    struct gram_columns head, rest; /* items with a column; all others */
    int32_t *item;                  /* of each of the others */
    struct gram_directions along;
    struct matrix directions; /* m x d, orthonormal */
    double *squares;          /* d eigenvalues of the estimate */
};

/* What users need to know for the release. */
int tail_make(const dpf_call *call, const struct gram_plan *plan, const struct item_span *span,
              const struct gram_estimate *estimate, struct tail *out);
/* sums: the noisy integers of the release, a row of d for each of the others. Adds directions to span->all and
   to estimate->crossing. */
int tail_correct(const dpf_call *call, const struct gram_plan *plan, const struct tail *tail,
                 const int64_t *sums, struct item_span *span, struct gram_estimate *estimate);

#endif
