/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/trace.h"

#include <stdlib.h>

void observation_free(struct observation *o)
{
    free(o->rows);
    free(o->seen);
    free(o->exact);
    free(o->released);
    free(o->deviation);
    free(o->log_law);
}

double observation_scale(const struct plan *plan, const struct observation *o, int64_t r, int32_t block)
{
    const struct term_plan *term = &plan->sides[o->side].terms[o->term];
    const int64_t row = o->rows ? o->rows[r] : o->first_row + r;
    return term->query.has_gram && row == term->rows - 1 ? o->noise.gram_scale[block] : o->noise.scale[block];
}

static void observations_free(struct observations *list)
{
    for (size_t i = 0; i < list->n; i++)
        observation_free(&list->items[i]);
    free(list->items);
}

void trace_free(struct trace *trace)
{
    observations_free(&trace->sums);
    observations_free(&trace->messages);
    free(trace->rows);
    *trace = (struct trace){0};
}
