/* SPDX-License-Identifier: Apache-2.0 */
/*
 * als_loss.h - the parts of a loss that are the same in all ALS losses: memory, kernels, ridge, and the
 * callbacks that pass on to als_records.h. An instance begins with a struct als_loss.
 */
#ifndef DPF_ALS_LOSS_H
#define DPF_ALS_LOSS_H

#include "als_records.h"

struct als_loss {
    struct als_model model;
    struct als_ridge ridge[2];
    const char *needs_no_offset; /* why [model] offset must be 0; NULL: it may be anything */
};

/* Fills in a zeroed instance, with the kernels of this processor (DPFRAME_SIMD). */
void als_loss_start(struct als_loss *loss, const dpf_host *host);
void als_loss_destroy(void *instance);
/* als_query, and room for the side's ridge. */
dpf_status als_loss_query(struct als_loss *loss, const dpf_side_info *info, int with_count, dpf_query *out);
/* Refuses an offset where the loss has no place for one. */
dpf_status als_loss_check(const struct als_loss *loss, const dpf_groups *groups);

/* Callbacks of dpf_loss. */
dpf_status als_loss_accumulate(void *instance, const dpf_call *call, const dpf_query *query,
                               const dpf_groups *groups, const double *grid, double *out, int64_t stride);
dpf_status als_loss_accumulate_scaled(void *instance, const dpf_call *call, const dpf_query *query,
                                      const dpf_groups *groups, const double *factors, const double *grid,
                                      int64_t *out, int64_t stride);
dpf_status als_loss_accumulate_local(void *instance, const dpf_call *call, const dpf_query *query,
                                     const dpf_groups *groups, float *out, int64_t stride);
dpf_status als_loss_apply(void *instance, const dpf_call *call, const dpf_query *query,
                          const dpf_groups *groups, const float *x, int64_t x_stride, float *out,
                          int64_t out_stride);

#endif
