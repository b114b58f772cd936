/* SPDX-License-Identifier: Apache-2.0 */
#include "run/stopping.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/plan.h"
#include "plan/schema.h"

void stopping_start(struct stopping *stopping, const struct plan *plan)
{
    const dpf_value *run = plan->run.params.values;
    *stopping = (struct stopping){.rule = (int)run[RUN_UNTIL].integer,
                                  .tolerance = run[RUN_TOLERANCE].real,
                                  .plan = plan,
                                  .last_error = NAN};
}

void stopping_free(struct stopping *stopping)
{
    free(stopping->rows[0]);
    free(stopping->rows[1]);
    stopping->rows[0] = stopping->rows[1] = NULL;
}

int stopping_reads_error(const struct stopping *stopping)
{
    return stopping->rule == UNTIL_TRAINING_ERROR;
}

/* Squares of the rows' change since the round before and of their size; keeps them for the next one. */
static int compare_rows(struct stopping *stopping, const struct model *model, int side, double *change,
                        double *size, struct dpf_error *error)
{
    const dpf_factors rows = model_factors(model, side);
    const size_t n = (size_t)(rows.rows * rows.stride);
    float *last = stopping->rows[side];
    if (!last)
        last = stopping->rows[side] = memory_new(n + 1, sizeof *last);
    if (!last)
        return error_memory(error);
    for (size_t i = 0; i < n; i++) {
        const double step = (double)rows.data[i] - last[i];
        *change += step * step;
        *size += (double)last[i] * last[i];
    }
    memcpy(last, rows.data, n * sizeof *last);
    return 0;
}

static int rows_rest(struct stopping *stopping, const struct model *model, int *stop, struct dpf_error *error)
{
    const int first = !stopping->rows[0] && !stopping->rows[1];
    double change = 0, size = 0;
    for (int side = 0; side < 2; side++)
        if (stopping->plan->sides[side].released &&
            compare_rows(stopping, model, side, &change, &size, error) != 0)
            return -1;
    *stop = !first && sqrt(change) <= stopping->tolerance * sqrt(size);
    return 0;
}

int stopping_resume(struct stopping *stopping, const struct model *model, double training_error,
                    struct dpf_error *error)
{
    int stop;
    return stopping_round(stopping, model, training_error, &stop, error);
}

int stopping_round(struct stopping *stopping, const struct model *model, double training_error, int *stop,
                   struct dpf_error *error)
{
    *stop = 0;
    if (stopping->rule == UNTIL_RELEASED_ROWS)
        return rows_rest(stopping, model, stop, error);
    if (stopping->rule == UNTIL_TRAINING_ERROR) {
        *stop = !isnan(stopping->last_error) &&
                !(training_error < stopping->last_error * (1 - stopping->tolerance));
        stopping->last_error = training_error;
    }
    return 0;
}
