/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role/transform.h - changes of records, factors or messages, with their inverses.
 *
 * A component has one of four kinds:
 *   record   changes records' values before the loss, and undoes it at prediction (stretching);
 *   factor   changes the other side's rows as the loss reads them (clipping a row to a norm);
 *   message  changes what a party is about to send, and what the server decodes (clipping a user's
 *            whole contribution, Hadamard flattening);
 *   state    changes the space in which the released rows live (sparse random projection): rows are
 *            solved there, and readers see them through the adjoint.
 * Transforms are applied in the order in which the configuration lists them; inverses in the
 * opposite order.
 */
#ifndef DPFRAME_ROLE_TRANSFORM_H
#define DPFRAME_ROLE_TRANSFORM_H

#include "../host.h"
#include "../privacy.h"
#include "../query.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPF_ROLE_TRANSFORM "dpframe.transform/1"

#define DPF_TRANSFORM_RECORD 1
#define DPF_TRANSFORM_FACTOR 2
#define DPF_TRANSFORM_MESSAGE 3
#define DPF_TRANSFORM_STATE 4

/* Flags. */
#define DPF_TRANSFORM_PER_USER UINT32_C(1)    /* message: must see one user's message at a time */
#define DPF_TRANSFORM_NEEDS_DENSE UINT32_C(2) /* message: needs all rows, not only those with records */
#define DPF_TRANSFORM_BY_WEIGHT                                                                              \
    UINT32_C(4) /* record: a value's distance from a constant is multiplied by the privacy weight, <= 1 */
/* message: forward keeps Euclidean norms and inverse is its adjoint, so that noise of equal variance in all
   numbers keeps that variance (dpf_solve.noise_variance) */
#define DPF_TRANSFORM_ISOMETRY UINT32_C(8)

/* Records with their users, items and privacy weights (NULL: all 1). */
typedef struct dpf_records {
    uint32_t size;
    int32_t reserved;
    int64_t n;
    const int32_t *users;
    const int32_t *items;
    const float *privacy_weights;
} dpf_records;

/* A party's message before encoding, in float64: n_rows rows of width numbers. */
typedef struct dpf_message {
    uint32_t size;
    uint32_t party;
    int64_t n_rows;
    const int32_t *rows; /* which rows, ascending; NULL: first_row .. first_row + n_rows - 1 */
    int64_t first_row;
    int64_t total_rows; /* rows of a dense message */
    double *values;
    int64_t stride;
    int32_t width;
    int32_t zero_rows; /* besides these: rows of zeros, which the host has left out */
} dpf_message;

/* What measure remembers of a message. */
#define DPF_MEASURE_NUMBERS 16

/* Functions of other kinds than the component's are NULL. */
typedef struct dpf_transform {
    int32_t kind;
    uint32_t flags;

    /* [setup, optional] Changes the bounds that the loss gets. NULL: no change. */
    dpf_status (*bounds)(void *self, dpf_bounds *bounds);
    /*
     * [setup, optional] Message and state kinds: changes the sensitivities of the blocks (n_blocks entries of
     * the query) and of the blocks of the Gram row, the last row of the message; gram is NULL if no Gram row
     * passes the transform. rows_in is the number of rows before, Gram row included. `before` bounds several
     * blocks together; `after` arrives empty: add what still holds. NULL: the sensitivities of a message
     * stay; those behind a state transform are unknown.
     */
    dpf_status (*sensitivity)(void *self, const dpf_query *query, int64_t rows_in, dpf_sensitivity *blocks,
                              dpf_sensitivity *gram, const dpf_joint_norms *before, dpf_joint_norms *after);
    /* [setup, optional] Message and state kinds: rows after the transform. NULL: as before. */
    dpf_status (*rows)(void *self, int64_t rows_in, int64_t *rows_out);

    /* [run, required of record transforms] Changes values[i] in place. */
    dpf_status (*records)(void *self, const dpf_call *call, const dpf_records *records, float *values);
    /* [run, optional] record: applies the inverse to predictions, in place. NULL: predictions stay. */
    dpf_status (*predictions)(void *self, const dpf_call *call, const dpf_records *records, double *scores);

    /* [run, required of factor transforms] Changes count rows in place; cols numbers of interest from
     * column first. */
    dpf_status (*factors)(void *self, const dpf_call *call, float *rows, int64_t count, int64_t stride,
                          int32_t first, int32_t cols);

    /* [run, required of message transforms] Works in place if the number of rows stays, else from in to
     * out. */
    dpf_status (*forward)(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out);
    /* [run, optional] message: maps the decoded sum back to rows; NULL if forward only clips. */
    dpf_status (*inverse)(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out);

    /* [run, required of state transforms] Maps rows into the projected space (S x), and back (S' y). */
    dpf_status (*project)(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out);
    dpf_status (*adjoint)(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out);
    /*
     * [run, optional] message, both or none, where forward multiplies all numbers of a message by one factor:
     * measure takes some rows of a message after those that it was given before, `numbers` begins as zeros;
     * factor tells, after the last of n_rows rows, what forward would multiply the message by, to the last
     * bit, however it was cut. DPF_E_UNSUPPORTED, or what forward would report: the message must be whole.
     */
    dpf_status (*measure)(void *self, const dpf_call *call, const dpf_message *rows,
                          double numbers[DPF_MEASURE_NUMBERS]);
    dpf_status (*factor)(void *self, const dpf_call *call, const double numbers[DPF_MEASURE_NUMBERS],
                         int64_t n_rows, int32_t width, double *out);
    /* NULL. A later minor may name a slot; what it names is optional. */
    void (*reserved_slots[2])(void);
} dpf_transform;

#ifdef __cplusplus
}
#endif
#endif
