/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score_form.h - how a recommender's scores follow from its state: arrays, numbers and the name of a formula.
 *
 * The host knows the formulas, computes scores by them for batches of users, and saves the arrays as .npy files, so
 * that a saved model can be used without the component that made it. docs/model-state.md has each formula with its arrays and
 * numbers, their shapes, units and ranges; names here are those that stand there:
 *
 *   base/1        one order of items for everybody
 *   rows/1        a number plus the product of a stored row of the user and a row of the item
 *   ridge/1       the same where a ridge regression on the user's own records makes the user's row
 *   ease/1        an item-to-item matrix of low rank, applied to the user's own records
 *   neighbours/1  sums of similarities to items of the user's history
 */
#ifndef DPFRAME_SCORE_FORM_H
#define DPFRAME_SCORE_FORM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DPF_ARRAY_F4 1 /* float */
#define DPF_ARRAY_F8 2 /* double: kept as float where the formula says float */
#define DPF_ARRAY_I4 3
#define DPF_ARRAY_U1 4

/* One array, row after row, of numbers that are all finite. Frozen. */
typedef struct dpf_array {
    const char *name; /* "loadings" */
    int32_t type;     /* DPF_ARRAY_* */
    int32_t reserved_number;
    int64_t rows;
    int64_t columns;
    int64_t stride;   /* numbers from one row to the next; 0: columns */
    const void *data; /* in the state; at least rows * columns numbers; NULL is allowed without any */
    uint64_t reserved[4];
} dpf_array;

/* All of it belongs to the component and is valid as long as the state and the call's scratch are. */
typedef struct dpf_form {
    uint32_t size;
    int32_t n_arrays;
    int32_t n_scalars;
    int32_t reserved;
    const char *formula; /* "ridge/1" */
    const dpf_array *arrays;
    const char *const *scalar_names; /* "centre" */
    const double *scalars;           /* finite */
} dpf_form;

#ifdef __cplusplus
}
#endif
#endif
