/* SPDX-License-Identifier: Apache-2.0 */
/* gradient_descent.h - what the files of the gradient-descent plugin share. */
#ifndef GRADIENT_DESCENT_H
#define GRADIENT_DESCENT_H

#include "dpframe/dpframe.h"

struct gradient_descent {
    const dpf_host *host;
    double rate;
    const double *drop_at;
    int64_t n_drops;
    double drop_factor;
    double radius;
    double curvature; /* of the damped step; 0: plain */
};

/* The rate of a round, 0-based. */
double gradient_descent_rate(const struct gradient_descent *descent, int32_t round, int32_t n_rounds);

/* The derivative at x of the objective that a row's blocks (and the gram ones, or NULL) describe.
   x and out have query->dimension numbers. */
void gradient_descent_derivative(const dpf_query *query, const float *blocks, const float *gram,
                                 const double *x, double *out);

#endif
