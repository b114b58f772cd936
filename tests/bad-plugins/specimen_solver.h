/* SPDX-License-Identifier: Apache-2.0 */
/* specimen_solver.h - one step against the gradient, kept in the unit ball. */
#ifndef DPF_TESTS_SPECIMEN_SOLVER_H
#define DPF_TESTS_SPECIMEN_SOLVER_H

#include "specimen_role.h"

#ifndef BALL
#define BALL 1.0
#endif
#ifndef COLUMNS_FROM
#define COLUMNS_FROM(QUERY) ((QUERY)->first)
#endif
#ifndef ACCEPTS
#define ACCEPTS(NORM) isfinite(NORM)
#endif

static double radius(void *self)
{
    (void)self;
    return 1;
}

static dpf_status solve(void *self, const dpf_call *call, const dpf_solve *batch)
{
    const dpf_query *query = batch->query;
    (void)self, (void)call;
    for (int64_t r = 0; r < batch->n_rows; r++) {
        const float *gradient = batch->blocks + r * batch->blocks_stride;
        const float *from = batch->current + r * batch->current_stride + query->first;
        float *to = batch->next + r * batch->next_stride + COLUMNS_FROM(query);
        double norm = 0;
        for (int32_t c = 0; c < query->dimension; c++) {
            double x = (double)from[c] - (double)gradient[c];
            norm += x * x;
            to[c] = (float)x;
        }
        if (!ACCEPTS(norm))
            return DPF_E_NUMERIC;
        for (int32_t c = 0; c < query->dimension && sqrt(norm) > BALL; c++)
            to[c] = (float)((double)to[c] * BALL / sqrt(norm));
    }
    return DPF_OK;
}

static const dpf_solver functions = {.flags = DPF_SOLVER_GRADIENT, .radius = radius, .solve = solve};
SPECIMEN_OF(DPF_ROLE_SOLVER, functions)

#endif
