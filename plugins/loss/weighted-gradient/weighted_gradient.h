/* SPDX-License-Identifier: Apache-2.0 */
/* weighted_gradient.h - what the files of the weighted-gradient loss share. */
#ifndef WEIGHTED_GRADIENT_H
#define WEIGHTED_GRADIENT_H

#include "dpframe/dpframe.h"
#include "empty_cells.h"

/* A residual beyond this has no unit digit left in float32: the training has diverged. */
#define RESIDUAL_MOST 16777216.0

struct weighted_gradient {
    const dpf_host *host;
    double factor;     /* of the gradient: 1 for c e^2 / 2, 2 for c e^2 */
    double confidence; /* kappa: records weigh 1 + kappa */
    double clip;       /* bound on |residual|, or infinity */
    double mu;         /* of the regulariser */
    empty_cells empty_cells;
    struct {
        int32_t columns;   /* of a factor row; 0 until query() was asked */
        int32_t dimension; /* numbers of ridge */
        float *ridge;
    } sides[2];
};

dpf_status weighted_gradient_sensitivity(void *self, const dpf_query *query, const dpf_bounds *bounds,
                                         dpf_sensitivity *blocks, dpf_sensitivity *gram,
                                         dpf_joint_norms *joint);

/* dpf_loss.utility: the theory of DPMF-RP (projection_utility.h). */
dpf_status weighted_gradient_utility(void *self, const dpf_utility_setup *setup, dpf_utility *report);

#endif
