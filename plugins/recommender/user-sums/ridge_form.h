/* SPDX-License-Identifier: Apache-2.0 */
/* ridge_form.h - states of biases and loadings as the formula ridge/1 (dpframe/score_form.h). */
#ifndef DPF_USER_SUMS_RIDGE_FORM_H
#define DPF_USER_SUMS_RIDGE_FORM_H

#include <string.h>

#include "dpframe/role/recommender.h"

/* loadings: n_items x d; variance NULL: 0; scalars: centre, unit, residual variance. */
static inline dpf_status ridge_form(const dpf_call *call, int64_t n_items, int64_t d, const double *bias,
                                    const double *loadings, const double *variance, const double scalars[3],
                                    dpf_form *out)
{
    static const char *const names[] = {"centre", "unit", "residual_variance"};
    const dpf_array all[] = {
        {.name = "bias", .type = DPF_ARRAY_F8, .rows = n_items, .columns = 1, .data = bias},
        {.name = "loadings", .type = DPF_ARRAY_F8, .rows = n_items, .columns = d, .data = loadings},
        {.name = "variance", .type = DPF_ARRAY_F8, .rows = n_items, .columns = 1, .data = variance}};
    dpf_array *arrays = call->scratch(call, sizeof all);
    double *numbers = call->scratch(call, 3 * sizeof *numbers);
    if (!arrays || !numbers)
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    memcpy(arrays, all, sizeof all);
    memcpy(numbers, scalars, 3 * sizeof *numbers);
    out->formula = "ridge/1";
    out->n_arrays = variance ? 3 : 2;
    out->arrays = arrays;
    out->n_scalars = 3;
    out->scalar_names = names;
    out->scalars = numbers;
    return DPF_OK;
}

#endif
