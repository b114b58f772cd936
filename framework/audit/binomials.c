/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/binomials.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/binomial_sum.h"
#include "audit/pbm_law.h"
#include "base/memory.h"

/* For an exact law: what is kept of messages, and operations for one observation. Past that there are so many
   messages in a sum that their law is nearly normal. */
#define MOST_KEPT (INT64_C(1) << 20)
#define MOST_OPERATIONS 4e6

int binomials_open(struct binomials *b, const struct plan *plan, int side, int term)
{
    *b = (struct binomials){.event = pbm_event(plan, side, term), .kept_all = 1};
    return b->event != NULL;
}

void binomials_free(struct binomials *b)
{
    for (size_t at = 0; at < b->capacity && b->chances; at++)
        free(b->chances[at].p);
    free(b->exact);
    free(b->squares);
    free(b->chances);
    free(b->senders);
}

static int64_t row_of(const struct seen *seen, int64_t r)
{
    return seen->rows ? seen->rows[r] : seen->first_row + r;
}

static double clipped(const struct binomials *b, double value)
{
    const double bound = pbm_bound(b->event);
    return fmin(fmax(value, -bound), bound);
}

/* ---- what parties add ----------------------------------------------------------------------------------- */

static dpf_status grow_sums(struct binomials *b, size_t needed)
{
    const size_t capacity = needed + needed / 2;
    double *exact = memory_new(capacity, sizeof *exact), *squares = memory_new(capacity, sizeof *squares);
    struct chances *chances = memory_new(capacity, sizeof *chances);
    if (!exact || !squares || !chances) {
        free(exact);
        free(squares);
        free(chances);
        return DPF_E_MEMORY;
    }
    if (b->exact) {
        memcpy(exact, b->exact, b->capacity * sizeof *exact);
        memcpy(squares, b->squares, b->capacity * sizeof *squares);
        memcpy(chances, b->chances, b->capacity * sizeof *chances);
    }
    free(b->exact);
    free(b->squares);
    free(b->chances);
    b->chances = chances;
    b->exact = exact;
    b->squares = squares;
    b->capacity = capacity;
    return DPF_OK;
}

static dpf_status count_sender(struct binomials *b, int64_t row)
{
    const size_t before = b->senders_capacity;
    int64_t *grown = memory_grow(b->senders, &b->senders_capacity, (size_t)row + 1, sizeof *grown);
    if (!grown)
        return DPF_E_MEMORY;
    memset(grown + before, 0, (b->senders_capacity - before) * sizeof *grown);
    b->senders = grown;
    b->senders[row]++;
    return DPF_OK;
}

static dpf_status keep_chance(struct binomials *b, size_t at, double value)
{
    struct chances *chances = &b->chances[at];
    b->kept_all &= b->kept < MOST_KEPT;
    if (!b->kept_all)
        return DPF_OK;
    double *grown = memory_grow(chances->p, &chances->capacity, chances->n + 1, sizeof *grown);
    if (!grown)
        return DPF_E_MEMORY;
    chances->p = grown;
    grown[chances->n++] = pbm_chance(b->event, value);
    b->kept++;
    return DPF_OK;
}

dpf_status binomials_add(struct binomials *b, const struct seen *part, int replays)
{
    if (!b->event)
        return DPF_OK;
    for (int64_t r = 0; r < part->n_rows; r++) {
        const size_t at = (size_t)(row_of(part, r) * part->width), end = at + (size_t)part->width;
        if (count_sender(b, row_of(part, r)) != DPF_OK || (end > b->capacity && grow_sums(b, end) != DPF_OK))
            return DPF_E_MEMORY;
        for (int32_t i = 0; i < part->width; i++) {
            const double value = clipped(b, part->exact[r * part->width + i]);
            b->exact[at + (size_t)i] += value;
            b->squares[at + (size_t)i] += value * value;
            if (replays && keep_chance(b, at + (size_t)i, value) != DPF_OK)
                return DPF_E_MEMORY;
        }
    }
    return DPF_OK;
}

/* ---- what is seen of it --------------------------------------------------------------------------------- */

static void fill_message(const struct binomials *b, struct observation *o)
{
    for (int64_t at = 0; at < o->n_rows * o->width; at++) {
        o->exact[at] = clipped(b, o->exact[at]);
        o->deviation[at] = pbm_deviation(b->event, 1, o->exact[at] * o->exact[at]);
    }
}

static void fill_sum(const struct binomials *b, struct observation *o)
{
    for (int64_t at = 0; at < o->n_rows * o->width; at++) {
        const int64_t row = observation_row(o, at / o->width);
        const size_t sum = (size_t)(row * o->width + at % o->width);
        const double n = (size_t)row < b->senders_capacity ? (double)b->senders[row] : 0;
        o->exact[at] = sum < b->capacity ? b->exact[sum] : 0;
        o->deviation[at] = pbm_deviation(b->event, n, sum < b->capacity ? b->squares[sum] : 0);
    }
}

/* ln of the probability of the numbers that were seen. DPF_OK without it if it would take too long. */
static dpf_status add_log_law(const struct binomials *b, const struct observation *given, int is_message,
                              struct observation *o)
{
    const int64_t n = o->n_rows * o->width;
    if (!given || (!is_message && !b->kept_all))
        return DPF_OK;
    const int64_t messages = is_message ? 1 : given->survivors;
    if ((double)n * binomial_sum_cost(messages, (int64_t)b->event->p.pbm.trials) > MOST_OPERATIONS)
        return DPF_OK;
    o->log_law = memory_raw((size_t)n + 1, sizeof *o->log_law);
    if (!o->log_law)
        return DPF_E_MEMORY;
    for (int64_t at = 0; at < n; at++) {
        const size_t sum = (size_t)(observation_row(o, at / o->width) * o->width + at % o->width);
        double own = is_message ? pbm_chance(b->event, o->exact[at]) : 0;
        const struct chances message = {.p = &own, .n = 1}, none = {0};
        const struct chances *all = is_message                        ? &message
                                    : sum < b->capacity && b->chances ? &b->chances[sum]
                                                                      : &none;
        o->log_law[at] = pbm_log(b->event, all->p, (int64_t)all->n, given->seen[at], messages);
    }
    return DPF_OK;
}

/* Rows that were decoded begin anew. */
static void forget_rows(struct binomials *b, const struct observation *o)
{
    for (int64_t r = 0; r < o->n_rows; r++) {
        const size_t row = (size_t)observation_row(o, r), at = row * (size_t)o->width;
        if (row < b->senders_capacity)
            b->senders[row] = 0;
        for (int32_t i = 0; i < o->width && at + (size_t)i < b->capacity; i++) {
            b->exact[at + (size_t)i] = b->squares[at + (size_t)i] = 0;
            b->kept -= (int64_t)b->chances[at + (size_t)i].n;
            b->chances[at + (size_t)i].n = 0;
        }
    }
}

dpf_status binomials_explain(struct binomials *b, const struct seen *seen, const struct observation *given,
                             struct observation *o)
{
    const int is_message = seen->what == SEES_MESSAGES;
    if (!b->event)
        return DPF_OK;
    o->is_one = 0;
    if (is_message)
        fill_message(b, o);
    else
        fill_sum(b, o);
    const dpf_status status = add_log_law(b, given, is_message, o);
    if (!is_message)
        forget_rows(b, o);
    return status;
}
