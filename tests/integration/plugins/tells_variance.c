/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A solver whose rows are what it is told about the noise: the variances of the first and the last number of
 * a row and of the Gram row's first; -1 where it is told nothing, -2 where it is told that this is not known.
 */
#include "stateless.h"

static dpf_status solve(void *self, const dpf_call *call, const dpf_solve *batch)
{
    const dpf_query *query = batch->query;
    const double *rows = batch->noise_variance, *gram = batch->gram_noise_variance;
    const double told[3] = {rows ? rows[0] : -1, rows ? rows[query->width - 1] : -1, gram ? gram[0] : -1};
    (void)self;
    if (query->dimension < 3)
        return call->host->fail(call->host, DPF_E_CONFIG, -1, "three unknowns are needed");
    for (int64_t r = 0; r < batch->n_rows; r++)
        for (int32_t i = 0; i < query->dimension; i++)
            batch->next[r * batch->next_stride + query->first + i] = (float)(i >= 3           ? 0
                                                                             : isnan(told[i]) ? -2
                                                                                              : told[i]);
    return DPF_OK;
}

/* It solves nothing, and so any matrix will do. */
static const dpf_solver functions = {
    .flags = DPF_SOLVER_GRADIENT | DPF_SOLVER_QUADRATIC | DPF_SOLVER_INDEFINITE, .solve = solve};

STATELESS_PLUGIN(DPF_ROLE_SOLVER, "test-tells-variance", NULL, 0, functions)
