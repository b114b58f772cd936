/* SPDX-License-Identifier: Apache-2.0 */
/* squared_error.h - what the three files of the squared-error loss share. */
#ifndef SQUARED_ERROR_H
#define SQUARED_ERROR_H

#include "dpframe/dpframe.h"

/*
 * The largest residual of an unclipped loss; a larger one is an error. Float32 has 24 bits, so beyond
 * it a residual has lost its unit digit: the training has diverged. It also bounds the rounding error
 * of a residual, which the sensitivity has to cover (squared_error_sensitivity.c).
 */
#define RESIDUAL_LIMIT 16777216.0

/* What query() learns about a side. */
struct squared_error_side {
    int32_t columns;
    int32_t dimension; /* numbers of ridge */
    float *ridge;
};

struct squared_error {
    const dpf_host *host;
    double factor;      /* of the gradient: 1 for e^2 / 2, 2 for e^2 */
    double lambda;      /* of the regulariser */
    int32_t per_record; /* 1: each record adds the regulariser's derivative */
    double clip;        /* bound on |residual|, or infinity */
    struct squared_error_side sides[2];
};

/* Sums of records' gradients, for groups first .. first+count-1. The kernels return 0, or 1 if a
   residual left the range of an unclipped loss. reg is scratch for `dimension` numbers. */
struct squared_error_task {
    const struct squared_error *loss;
    const dpf_query *query;
    const dpf_groups *groups;
    double grid;
    int64_t stride;
};
typedef int squared_error_exact_kernel(const struct squared_error_task *task, int64_t first, int64_t count,
                                       double *reg, double *out);
typedef int squared_error_local_kernel(const struct squared_error_task *task, int64_t first, int64_t count,
                                       float *reg, float *out);

/* For a kind of simd_kind.h; NULL if the processor lacks it. All give the same bytes. */
squared_error_exact_kernel *squared_error_find_exact(int wanted);
squared_error_local_kernel *squared_error_find_local(int wanted);

dpf_status squared_error_sensitivity(void *self, const dpf_query *query, const dpf_bounds *bounds,
                                     dpf_sensitivity *blocks, dpf_sensitivity *gram, dpf_joint_norms *joint);

#endif
