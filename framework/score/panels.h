/* SPDX-License-Identifier: Apache-2.0 */
/*
 * panels.h - rows of items as the kernels of near scores read them, in an order in which blocks of items can be skipped.
 *
 * Items whose rows are 0 in the same columns stand together, and among them the longest rows come first. A panel has only those columns
 * in which one of its items is not 0. Of each block it is known how long its rows are: by Cauchy's inequality a user's
 * scores in it are at most the product of two lengths. One column, in which only few users are not 0 or which outweighs the others,
 * is left out of that length, and bounded by its own ends.
 */
#ifndef DPF_SCORE_PANELS_H
#define DPF_SCORE_PANELS_H

#include "score/scorer.h"

#define NEAR_USERS 16 /* at a time, whose rows have other numbers than 0 in all columns */
#define NEAR_GROUP                                                                                           \
    256 /* the same, where rows are 0 in most: each panel is read from far away once for all of them */
#define NEAR_PANEL 48               /* items that stand together */
#define NEAR_BLOCK (8 * NEAR_PANEL) /* whose scores stay in the nearest cache */

struct score_panels {
    int64_t n_items, n_panels, n_blocks, stride;
    int32_t *item, *place; /* at each place; the place of each item, -1: it has none */
    float *numbers;        /* panel after panel: columns x NEAR_PANEL, zeros past the last item */
    int64_t *at;           /* of each panel in `numbers` */
    int32_t *first, *columns;
    double *longest;          /* of each block, without the lone column */
    float *lone_lo, *lone_hi; /* of each block, in that column */
    int64_t lone;             /* the column; -1: none */
    double *largest;          /* magnitude, by column */
    double norm;              /* largest of a whole row */
};
/* Of the scorer's products, without the items that barred has (by item; NULL: none). */
int score_panels_init(struct score_panels *panels, const struct scorer *scorer, int64_t n_items,
                      const uint8_t *barred, struct dpf_error *error);
void score_panels_free(struct score_panels *panels);

/* Of a user's row: squares[c] becomes the sum of squares before column c, without the lone one; stride + 1 numbers. */
void score_panels_measure(const struct score_panels *panels, const float *row, double *squares);
/* Of all products of that row with a row of the block, in exact arithmetic. */
struct score_bounds {
    double most; /* what none exceeds */
    double size; /* the same of the sum of the magnitudes of what is added */
};
struct score_bounds score_panels_bound(const struct score_panels *panels, int64_t block, const float *row,
                                       const double *squares);
#endif
