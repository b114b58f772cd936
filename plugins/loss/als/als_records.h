/* SPDX-License-Identifier: Apache-2.0 */
/*
 * als_records.h - what the ALS losses share: the blocks of a quadratic query and their sums.
 *
 * Each record contributes a w y y' to A, t y to b and w to the count, where y is its row of the other
 * side (columns first .. first + dimension - 1) and w its weight. A loss says what a and t are.
 */
#ifndef DPF_ALS_RECORDS_H
#define DPF_ALS_RECORDS_H

#include "als_kernels.h"
#include "dpframe/plugin.h"
#include "dpframe/role/loss.h"

#define ALS_LAYOUTS (DPF_LAYOUT_PACKED | DPF_LAYOUT_FULL | DPF_LAYOUT_LOWER | DPF_LAYOUT_OPERATOR)

struct als_model {
    const dpf_host *host;
    const struct als_kernels *kernels;
    const void *loss; /* first argument of the functions */
    /*
     * The products a w and t of records begin .. begin + n - 1. Returns 1 if all a w are 1, in which
     * case they need not be written.
     */
    int (*coefficients)(const void *loss, const dpf_query *query, const dpf_groups *groups, int64_t begin,
                        int64_t n, double *aw, double *t);
    /* A multiple of the identity that is added to A, from the row's count; NULL: none. */
    double (*diagonal)(const void *loss, int32_t side, double count);
};

/* Per-coordinate regularisation of one side, owned by the loss. */
struct als_ridge {
    int32_t dimension; /* 0: not set up */
    float *per_count;
    float *constant;
};

/* Fills all of the query but support, Gram row and ridge. */
dpf_status als_query(const dpf_host *host, const dpf_side_info *info, int with_count, dpf_query *out);

/* Makes room for a side's ridge, once; zeroed. */
dpf_status als_ridge_new(const dpf_host *host, struct als_ridge *ridge, int32_t dimension);
void als_ridge_free(const dpf_host *host, struct als_ridge *ridge);

/* The block of a kind, or NULL. */
const dpf_block *als_block(const dpf_query *query, int32_t kind);

/* See role/loss.h. */
dpf_status als_accumulate(const struct als_model *model, const dpf_call *call, const dpf_query *query,
                          const dpf_groups *groups, const double *grid, double *out, int64_t stride);
dpf_status als_accumulate_scaled(const struct als_model *model, const dpf_call *call, const dpf_query *query,
                                 const dpf_groups *groups, const double *factors, const double *grid,
                                 int64_t *out, int64_t stride);
dpf_status als_accumulate_local(const struct als_model *model, const dpf_call *call, const dpf_query *query,
                                const dpf_groups *groups, float *out, int64_t stride);
dpf_status als_apply(const struct als_model *model, const dpf_call *call, const dpf_query *query,
                     const dpf_groups *groups, const float *x, int64_t x_stride, float *out,
                     int64_t out_stride);
/* Adds factor * sum of y y' over rows first .. first + count - 1 of other to the quadratic block. */
dpf_status als_gram(const struct als_model *model, const dpf_call *call, const dpf_query *query,
                    const dpf_factors *other, int64_t first, int64_t count, double factor, double *out);

#endif
