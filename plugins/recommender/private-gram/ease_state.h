/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ease_state.h - EASE (Steck, Embarrassingly Shallow Autoencoders, WWW 2019) on an estimated Gram, as a
 * state.
 *
 * With the Gram as D + F F', F m x r, its inverse is P = 1/D - (1/D) F N F' (1/D), N = (1 + F'(1/D)F)^-1
 * (Woodbury). EASE predicts column j of a row z by sum_{i != j} z_i B_ij, B_ij = -P_ij / P_jj: an item never
 * predicts itself. Off the diagonal B_ij = u_i v_j, u_i = F_i / D_i and v_j = N F_j' / (D_j P_jj), so m x r
 * numbers hold it, and a score is (sum_i z_i u_i) v_j - z_j (u_j v_j): the formula ease/1, with u as "in" and v as "out". Other items have no row of their own
 * in the Gram; their columns are predicted from the span: z P crossing.
 *
 * A Gram that is not denoised is not of low rank. Then P is its inverse with D added, u is 1 on the diagonal, v_j is B_.j and 0 at j; the state has no u.
 *
 * Items' weights are undone in part: a score is divided by weight^rescale.
 */
#ifndef PRIVATE_GRAM_EASE_STATE_H
#define PRIVATE_GRAM_EASE_STATE_H

#include "denoise.h"

#define EASE_MAGIC UINT64_C(0x314d415247565044) /* "DPVGRAM1" */

struct ease_header {
    uint64_t magic;
    int64_t n_items;
    int64_t m; /* items with a column of their own */
    int64_t r; /* factors of these */
    int64_t d; /* of all others */
    uint64_t bytes;
    struct value_weights values; /* of records in a user's row */
    int32_t whole;               /* u is 1 on the diagonal, and not there */
};

/* Where everything is; sizes as in the header. */
struct ease_state {
    struct ease_header *header;
    int32_t *column;   /* n_items: of each item, ascending, or -1 */
    float *weight;     /* m */
    float *popularity; /* n_items: at most 1, for users without a record among the m items */
    float *undo;       /* n_items: weight^-rescale */
    float *in;   /* m x ease_state_width: u_i, unless the header says otherwise, then the row of P crossing */
    float *out;  /* r x m: v, factor after factor */
    float *span; /* d x n_items */
};

/* The most that fit may need; 0: too many. */
uint64_t ease_state_room(int64_t n_items, int64_t most_columns);
/* Numbers of a row of "in". */
int64_t ease_state_width(const struct ease_header *header);
/* The layout of a state that has a header. */
struct ease_state ease_state_at(void *bytes);
/* From the estimate. Returns how many bytes of the room are used, 0 after a fault. */
uint64_t ease_state_make(const dpf_call *call, const struct gram_plan *plan, const struct item_span *span,
                         struct gram_estimate *estimate, void *bytes, uint64_t room);
#endif
