/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - what a side step computes from the data for each row, as numbers in blocks.
 *
 * A query is a sum over records. For each row of the side that is solved it has `width` numbers,
 * divided into blocks. Two forms:
 *   gradient   one block of length d: the derivative of the row's objective, to which the solver adds
 *              ridge_constant * x (element by element);
 *   quadratic  the coefficients of x'Ax - b'x + x' diag(ridge_per_count * n + ridge_constant) x:
 *              A (order 2), b (order 1) and n (a count). It is minimised by
 *              (A + diag(...)) x = b / 2.
 * A query may have one further row, the Gram row, which depends on the other side's factors alone
 * and is added to every row (the Gram matrix of implicit feedback). In messages it is the last row.
 */
#ifndef DPFRAME_QUERY_H
#define DPFRAME_QUERY_H

#include "features.h"
#include "view.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPF_FORM_GRADIENT 1
#define DPF_FORM_QUADRATIC 2

#define DPF_BLOCK_GRADIENT 1  /* d numbers */
#define DPF_BLOCK_QUADRATIC 2 /* A; see layouts */
#define DPF_BLOCK_LINEAR 3    /* b: d numbers */
#define DPF_BLOCK_COUNT 4     /* n: 1 number, multiplies ridge_per_count */

/* Layouts of a quadratic block. Bit values: a loss states which ones it can write. */
#define DPF_LAYOUT_PACKED UINT32_C(1) /* lower triangle by rows: (i,j), j <= i, at i(i+1)/2 + j */
/* d x d by rows; may be asymmetric after i.i.d. noise: solvers use (A+A')/2 */
#define DPF_LAYOUT_FULL UINT32_C(2)
#define DPF_LAYOUT_LOWER UINT32_C(4) /* d rows with stride ld; only j <= i is defined. Local sides only */
/* length 0: A is never formed, only multiplied by (dpf_loss.apply). Local sides only */
#define DPF_LAYOUT_OPERATOR UINT32_C(8)

/* Fixed: queries of more blocks would need new revisions of the roles. */
#define DPF_MAX_BLOCKS 8

typedef struct dpf_block {
    int32_t kind;    /* DPF_BLOCK_* */
    uint32_t layout; /* DPF_LAYOUT_*; 0 for vectors */
    int32_t offset;  /* first number, within the row's width */
    int32_t length;  /* how many numbers */
    int32_t ld;      /* stride of a LOWER or FULL block, else 0 */
    int32_t reserved[3];
} dpf_block;

/* Which cells contribute. */
#define DPF_SUPPORT_OBSERVED 1 /* only records: which rows a party touches depends on its data */
#define DPF_SUPPORT_DENSE 2    /* every cell; unobserved ones contribute too */

typedef struct dpf_query {
    uint32_t size;
    int32_t form;      /* DPF_FORM_* */
    int32_t dimension; /* d, unknowns of a row */
    int32_t first;     /* first of the d columns of a factor row that are unknown */
    int32_t width;     /* numbers of a row, all blocks */
    int32_t support;   /* DPF_SUPPORT_* */
    int32_t has_gram;  /* 1 if there is a Gram row */
    int32_t n_blocks;
    dpf_block blocks[DPF_MAX_BLOCKS];
    /* Public regularisation, d numbers each, or NULL for zeros; owned by the loss instance. */
    const float *ridge_per_count;
    const float *ridge_constant;
} dpf_query;

/*
 * Records grouped by row. Group g belongs to row rows[g] of the side that is solved; its records are the
 * entries offsets[g] .. offsets[g+1]-1 of the arrays. In the message of a single user a group has one
 * record, or none where a dense query includes an unobserved cell.
 */
typedef struct dpf_groups {
    uint32_t size;
    int32_t side;            /* that is solved */
    const dpf_factors *self; /* rows as they stand before the step */
    const dpf_factors *other;
    int64_t n_groups;
    const int32_t *rows;
    const int64_t *offsets; /* n_groups + 1 */
    const int32_t *others;  /* row of the other side */
    const float *values;    /* NULL: all 1 (implicit feedback) */
    /* Sampling and record weights; NULL: all 1. A record of weight 0 adds exactly 0, whatever its value: it was not
       drawn, or it is void (its line was at fault, but who rated what is public). All 1 give what NULL gives. */
    const float *weights;
    double offset; /* constant part of every prediction */
    /* If the party is a user and users are the other side: that user's row. Else -1. */
    int32_t party_row;
    int32_t reserved;
    /* Rows of the other side to predict from: the same as other, unless [users] or [items] residual = raw
       asks for the rows before factor transforms. Never NULL. */
    const dpf_factors *residual;
    const dpf_features *self_features;  /* public features of the side that is solved; NULL: none */
    const dpf_features *other_features; /* of the other side. Use dpf_self_features, dpf_other_features. */
} dpf_groups;

static inline const dpf_features *dpf_self_features(const dpf_groups *groups)
{
    return groups->size > offsetof(dpf_groups, self_features) ? groups->self_features : NULL;
}
static inline const dpf_features *dpf_other_features(const dpf_groups *groups)
{
    return groups->size > offsetof(dpf_groups, other_features) ? groups->other_features : NULL;
}

/* Sets `out` to a gradient query: one block of d numbers, no regularisation. */
static inline void dpf_gradient_query(dpf_query *out, int32_t dimension, int32_t first, int32_t support)
{
    out->form = DPF_FORM_GRADIENT;
    out->dimension = dimension;
    out->first = first;
    out->width = dimension;
    out->support = support;
    out->has_gram = 0;
    out->n_blocks = 1;
    out->blocks[0].kind = DPF_BLOCK_GRADIENT;
    out->blocks[0].layout = 0;
    out->blocks[0].offset = out->blocks[0].ld = 0;
    out->blocks[0].length = dimension;
    out->ridge_per_count = out->ridge_constant = NULL;
}

/* Numbers of a packed symmetric matrix of order d. */
static inline int32_t dpf_packed_length(int32_t d)
{
    return d * (d + 1) / 2;
}

/*
 * Adds x, rounded to a multiple of grid, to sum: exact and associative as long as all stay below
 * 2^52 grid. grid 0 adds x as it is. Needs strict IEEE arithmetic (no -ffast-math).
 */
static inline double dpf_on_grid(double x, double grid)
{
    const double magic = 6755399441055744.0 * grid; /* 1.5 * 2^52 */
    return grid > 0 ? (x + magic) - magic : x;
}

#ifdef __cplusplus
}
#endif
#endif
