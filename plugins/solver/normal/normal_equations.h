/* SPDX-License-Identifier: Apache-2.0 */
/*
 * normal_equations.h - (A + gram + diag(ridge)) x = b / 2 of one row, out of a batch's blocks.
 *
 * Matrices here are of order `padded` (a multiple of 16): row i has its entries j <= i, then whatever
 * the layout brought along up to the end of that chunk of 16; rows and columns from d on are those of
 * the identity, so that algorithms need no special case at the edge.
 */
#ifndef DPF_NORMAL_EQUATIONS_H
#define DPF_NORMAL_EQUATIONS_H

#include "dpframe/query.h"
#include "dpframe/privacy.h"
#include "dpframe/role/solver.h"

struct normal {
    const dpf_solve *batch;
    const dpf_block *a, *b, *count; /* count may be NULL */
    int64_t d, padded;
    float *base;   /* gram + diag(ridge_constant + ridge_per_count * gram count) */
    float *base_b; /* of the Gram row, `padded` numbers */
};

/* The block of a kind, or NULL. */
const dpf_block *normal_block(const dpf_query *query, int32_t kind);

/* The blocks of a quadratic that has coefficients; where there are none, fails with text. */
struct normal_blocks {
    const dpf_block *a, *b, *count; /* count may be NULL */
};
dpf_status normal_blocks_find(const dpf_host *host, const dpf_query *query, const char *text,
                              struct normal_blocks *out);
/* The Gram row of the batch, or zeros, in float64: matrix of order d (both triangles), b, and the count. */
void normal_gram(const dpf_solve *batch, int64_t d, double *matrix, double *b, double *count);

/* What all rows of the batch have in common. base: padded^2 numbers, base_b: padded numbers. */
dpf_status normal_prepare(const dpf_host *host, const dpf_solve *batch, float *base, float *base_b,
                          struct normal *out);
/* Both triangles of matrix (order d, float64) += a quadratic block. FULL may be asymmetric after i.i.d.
 * noise. */
void normal_add_symmetric(const dpf_block *a, const float *row, int64_t d, double *matrix);
/* matrix (lower, order padded) = base + a row's A + ridge. Any layout but OPERATOR and LOWER. */
void normal_matrix_general(const struct normal *normal, int64_t row, float *matrix);
/* Adds the ridge that goes with a row's count to the diagonal of matrix. */
void normal_add_count(const struct normal *normal, int64_t row, float *matrix);
/* rhs = (b + gram b) / 2, padded with zeros. */
void normal_rhs(const struct normal *normal, int64_t row, float *rhs);
/*
 * An unknown that no record and no regularisation touches (row, column and right side all zero: a row without
 * records, or its factors where only a bias is regularised) is set to 0: its diagonal becomes 1.
 */
void normal_settle_void(const struct normal *normal, float *matrix, const float *rhs);

/* Reports "user row N: text". Returns DPF_E_NUMERIC. */
dpf_status normal_fail(const dpf_host *host, const dpf_solve *batch, int64_t row, const char *text);

#endif
