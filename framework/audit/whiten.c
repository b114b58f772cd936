/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/whiten.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The observation of the same rows in a given round among those before place i, or NULL. */
static const struct observation *same_rows_in(const struct observations *list, size_t i, int32_t round)
{
    const struct observation *o = &list->items[i];
    while (i-- > 0) {
        const struct observation *e = &list->items[i];
        if (e->side == o->side && e->term == o->term && e->round == round && e->first_row == o->first_row &&
            e->n_rows == o->n_rows)
            return e;
    }
    return NULL;
}

/* From the last round on, so that those before are still what was released. */
static int whiten_one(struct observations *list, size_t i, const double *c, struct dpf_error *error)
{
    struct observation *o = &list->items[i];
    const int64_t n = o->n_rows * o->width;
    if (o->seen) {
        o->released = memory_raw((size_t)n + 1, sizeof *o->released);
        if (!o->released)
            return error_memory(error);
        memcpy(o->released, o->seen, (size_t)n * sizeof *o->released);
    }
    for (int32_t back = 1; back <= o->round; back++) {
        const struct observation *e =
            c[back] < 0 || c[back] > 0 ? same_rows_in(list, i, o->round - back) : NULL;
        for (int64_t k = 0; e && k < n; k++) {
            o->exact[k] += c[back] * e->exact[k];
            if (o->seen)
                o->seen[k] += c[back] * e->seen[k];
        }
    }
    return 0;
}

int trace_whiten(const struct plan *plan, struct trace *out, struct dpf_error *error)
{
    const int64_t rounds = plan->run.params.values[RUN_ROUNDS].integer;
    double *c = memory_need((size_t)rounds + 1, sizeof *c);
    int status = 0;
    for (size_t i = out->sums.n; i-- > 0 && status == 0;) {
        const struct observation *o = &out->sums.items[i];
        if (o->event)
            continue;
        struct instance *instance = plan->sides[o->side].terms[o->term].mechanism;
        const dpf_mechanism *mechanism = instance->functions;
        if (!mechanism->correlation)
            continue;
        mechanism->correlation(instance->self, &o->noise, c, rounds);
        status = whiten_one(&out->sums, i, c, error);
    }
    free(c);
    return status;
}
