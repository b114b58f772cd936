/* SPDX-License-Identifier: Apache-2.0 */
#include "seen/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void observation_free(struct observation *o)
{
    free(o->rows);
    free(o->seen);
    free(o->exact);
    free(o->released);
    free(o->deviation);
    free(o->log_law);
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
    free(trace->state);
    *trace = (struct trace){0};
}

/* ---- writing down --------------------------------------------------------------------------------------- */

static double *copy_of(const double *from, int64_t stride, const struct seen *seen, int *failed)
{
    const size_t n = (size_t)(seen->n_rows * seen->width), row = (size_t)seen->width * sizeof *from;
    double *out = from ? memory_raw(n + 1, sizeof *out) : NULL;
    for (int64_t r = 0; out && r < seen->n_rows; r++)
        memcpy(out + r * seen->width, from + r * stride, row);
    *failed |= from && !out;
    return out;
}

static dpf_query one_block(int32_t width)
{
    return (dpf_query){.size = sizeof(dpf_query),
                       .dimension = width,
                       .width = width,
                       .n_blocks = 1,
                       .blocks = {{.length = width}}};
}

struct observation *observation_add(struct observations *list, const struct seen *seen, int numbers)
{
    struct observation *grown = memory_grow(list->items, &list->capacity, list->n + 1, sizeof *grown);
    int failed = 0;
    if (!grown)
        return NULL;
    list->items = grown;
    struct observation *o = &list->items[list->n];
    *o = (struct observation){.side = seen->side,
                              .term = seen->term,
                              .round = seen->round,
                              .party = seen->party,
                              .n_rows = seen->n_rows,
                              .first_row = seen->first_row,
                              .gram_row = seen->gram_row,
                              .width = seen->width,
                              .survivors = seen->survivors,
                              .is_one = seen->is_one,
                              .seen = numbers ? copy_of(seen->numbers, seen->stride, seen, &failed) : NULL,
                              .exact = copy_of(seen->exact, seen->width, seen, &failed),
                              .deviation = copy_of(seen->deviation, seen->width, seen, &failed),
                              .query = seen->query ? *seen->query : one_block(seen->width),
                              .event = seen->event};
    if (seen->noise)
        o->noise = *seen->noise;
    if (seen->rows) {
        o->rows = memory_raw((size_t)seen->n_rows + 1, sizeof *o->rows);
        failed |= !o->rows;
    }
    if (failed) {
        observation_free(o);
        return NULL;
    }
    if (seen->rows)
        memcpy(o->rows, seen->rows, (size_t)seen->n_rows * sizeof *o->rows);
    list->n++;
    return o;
}

/* ---- reading -------------------------------------------------------------------------------------------- */

int64_t observation_row(const struct observation *o, int64_t r)
{
    return o->rows ? o->rows[r] : o->first_row + r;
}

int observation_is_gram(const struct observation *o, int64_t r)
{
    return o->gram_row >= 0 && observation_row(o, r) == o->gram_row;
}

int observation_matches(const struct observation *a, const struct observation *b)
{
    return a->side == b->side && a->term == b->term && a->round == b->round && a->party == b->party &&
           a->n_rows == b->n_rows && a->width == b->width && !a->rows == !b->rows &&
           (a->rows ? memcmp(a->rows, b->rows, (size_t)a->n_rows * sizeof *a->rows) == 0
                    : a->first_row == b->first_row);
}

double observation_scale(const struct observation *o, int64_t r, int32_t block)
{
    return observation_is_gram(o, r) ? o->noise.gram_scale[block] : o->noise.scale[block];
}

int64_t observation_earlier(const struct observations *list, size_t at)
{
    const struct observation *o = &list->items[at];
    for (size_t i = at; i-- > 0;) {
        const struct observation *e = &list->items[i];
        if (e->side == o->side && e->term == o->term && e->party == o->party && e->round != o->round &&
            e->first_row == o->first_row && e->n_rows == o->n_rows && e->width == o->width)
            return (int64_t)i;
    }
    return -1;
}
