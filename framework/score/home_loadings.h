/* SPDX-License-Identifier: Apache-2.0 */
/*
 * home_loadings.h - public facts as further loadings of a regression that a user solves at home (ridge/1).
 *
 * Of an item with categories g (over their norm) and standardized numbers x:
 *     .3 g, the 64 most common; .3 x, clipped to -3 .. 3; for each number .15 exp(-(x - c)^2 / (2 w^2)) at the middles c of
 *     ninths of the items' numbers, w = FEATURE_WIDTH; and .15 g clip(x, -1.5, 1.5) of the first number.
 * A number that is missing is 0 in all of these. The first 8 numbers are used. Of the first two kinds only that part counts which
 * released loadings do not have: models that were released with the facts would have them twice, with too much weight. That part is
 * what a ridge regression on released loadings leaves, with a ridge of .003 of the items: of facts whose released loadings are as good
 * as 0 more is left. The ridge was chosen on ml-latest-small and MovieLens 100K.
 */
#ifndef DPF_SCORE_HOME_LOADINGS_H
#define DPF_SCORE_HOME_LOADINGS_H

#include "dataset/dataset.h"

/* Rows of *columns numbers for the items; NULL: out of memory. released: rows of `n` numbers, `stride` apart. */
float *home_loadings_make(const struct feature_table *features, const float *released, int64_t n,
                          int64_t stride, int64_t *columns);

#endif
