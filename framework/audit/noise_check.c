/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/noise_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/observe.h"
#include "audit/score.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/ticker.h"

#define ENOUGH 8000 /* numbers of a block: what has a tenth less variance than declared is found */
/* For blocks of few numbers beside others of many: enough to find out whether there is noise at all. */
#define ENOUGH_OF_FEW (2 * NOISE_FEWEST_PAIRS)
#define ENOUGH_TRAININGS 200
#define MOST_TRAININGS 800
#define MOST_USERS 256      /* whose own rows of a component are looked at */
#define MOST_MESSAGES_OF 16 /* users whose messages are looked at */

struct checking {
    const struct plan *plan;
    int terms[2];
    struct noise_tally *tallies[2]; /* by term, or release of a recommender, and block */
};

void noise_check_free(struct noise_check *check)
{
    free(check->findings);
    *check = (struct noise_check){.findings = NULL};
}

/* ---- what has a law ------------------------------------------------------------------------------------- */

/* The event that says which law a block's noise has; NULL: none whose variance is declared. */
static const dpf_event *law_of_block(const struct plan *plan, const struct observation *o, int32_t block,
                                     int gram)
{
    const dpf_event *event = score_event(plan, o, block, gram);
    return event && (law_kind_of(event) != LAW_NONE || event->kind == DPF_EVENT_PBM) &&
                   !(event->flags & DPF_EVENT_NOISE_KNOWN)
               ? event
               : NULL;
}

/* Of sums of messages that are seen one by one, and of shares of sparse ones, the law is another. Binomial
   noise is known of each message and of each sum. */
static int is_checked(const struct checking *c, const struct observation *o, int is_message)
{
    if (o->event)
        return o->exact != NULL;
    const dpf_mechanism *mechanism = c->plan->sides[o->side].terms[o->term].mechanism->functions;
    const dpf_event *law = law_of_block(c->plan, o, 0, 0);
    if (law && law->kind == DPF_EVENT_PBM)
        return is_message || !o->told;
    if (is_message || o->told)
        return is_message && o->noise.where == DPF_NOISE_AT_PARTY;
    return o->noise.where == DPF_NOISE_AT_SUM || o->noise.where == DPF_NOISE_AT_PARTY ||
           (o->noise.where == DPF_NOISE_IN_SHARES && (mechanism->flags & DPF_MECHANISM_DENSE));
}

/* ---- adding up ------------------------------------------------------------------------------------------ */

/* A number of an observation over its declared standard deviation; NaN where none is declared. */
static double standardised(const struct checking *c, const struct observation *o, int64_t r, int32_t block,
                           int32_t column)
{
    const int64_t at = r * o->width + column;
    const dpf_event *event = law_of_block(c->plan, o, block, observation_is_gram(o, r));
    if (!event || !o->deviation || !(o->deviation[at] > 0)) /* released as it is, or nobody has sent it */
        return NAN;
    const struct law law = score_law(c->plan, o, r, block, column);
    return law_standardised(&law, o->seen[at], o->exact[at]);
}

/* A symmetric matrix that is stored in full has each number twice: the upper triangle is left out. */
static int is_counted(const dpf_block *block, int32_t i)
{
    return block->layout != DPF_LAYOUT_FULL || block->ld < 1 || i / block->ld >= i % block->ld;
}

/* Standardised numbers of one observation: n_rows x width. NULL: memory ran out. */
static double *standardise(const struct checking *c, const struct observation *o)
{
    double *out = memory_raw((size_t)(o->n_rows * o->width) + 1, sizeof *out);
    for (int64_t i = 0; out && i < o->n_rows * o->width; i++)
        out[i] = NAN;
    for (int64_t r = 0; out && r < o->n_rows; r++)
        for (int32_t b = 0; b < o->query.n_blocks; b++)
            for (int32_t i = 0; i < o->query.blocks[b].length; i++)
                if (is_counted(&o->query.blocks[b], i)) {
                    const int32_t column = o->query.blocks[b].offset + i;
                    out[r * o->width + column] = standardised(c, o, r, b, column);
                }
    return out;
}

/* Another observation whose numbers should tell nothing about these, and how it is beside them. */
struct beside {
    const double *numbers; /* NULL: there is none */
    enum noise_aspect aspect;
};

static void add_block(const struct observation *o, const double *x, int64_t r, int32_t b,
                      const struct beside beside[2], struct noise_tally *tally)
{
    const dpf_block *block = &o->query.blocks[b], *before = b > 0 ? block - 1 : NULL;
    for (int32_t i = 0; i < block->length; i++) {
        const int64_t at = r * o->width + block->offset + i;
        noise_tally_number(tally, x[at]);
        for (int k = 0; k < 2; k++)
            if (beside[k].numbers)
                noise_tally_pair(tally, beside[k].aspect, x[at], beside[k].numbers[at]);
        if (r > 0)
            noise_tally_pair(tally, NOISE_ROWS, x[at], x[at - o->width]);
        if (i + 1 < block->length)
            noise_tally_pair(tally, NOISE_COLUMNS, x[at], x[at + 1]);
        if (before && i < before->length)
            noise_tally_pair(tally, NOISE_COLUMNS, x[at], x[r * o->width + before->offset + i]);
    }
}

/* The fourth moment sets the spread of squares: of the law with the heaviest tails that a number here has. */
static void set_fourth(const struct checking *c, const struct observation *o, int64_t r, int32_t b,
                       struct noise_tally *tally)
{
    const struct law law = score_law(c->plan, o, r, b, o->query.blocks[b].offset);
    tally->fourth = fmax(tally->fourth, law_fourth_moment(&law));
}

static void add_observation(struct checking *c, const struct observation *o, const double *x,
                            const struct beside beside[2])
{
    for (int64_t r = 0; r < o->n_rows; r++)
        for (int32_t b = 0; b < o->query.n_blocks; b++) {
            const int gram = observation_is_gram(o, r);
            if (!law_of_block(c->plan, o, b, gram))
                continue;
            struct noise_tally *tally =
                &c->tallies[o->side][o->term * DPF_BLOCK_BITS + b + (gram ? DPF_GRAM_BIT : 0)];
            set_fourth(c, o, r, b, tally);
            add_block(o, x, r, b, beside, tally);
        }
}

/* The last observation before of the same source and round, by another party; -1: none. */
static int64_t of_another(const struct observations *list, size_t at)
{
    const struct observation *o = &list->items[at];
    for (size_t i = at; i-- > 0 && list->items[i].round == o->round;) {
        const struct observation *e = &list->items[i];
        if (e->side == o->side && e->term == o->term && e->party != o->party && e->width == o->width)
            return (int64_t)i;
    }
    return -1;
}

/* Numbers of e in the places of o's: those of the same rows, since users send rows of their own. Rows ascend. */
static double *in_rows_of(const struct observation *o, const struct observation *e, const double *x)
{
    double *out = memory_new((size_t)(o->n_rows * o->width) + 1, sizeof *out);
    for (int64_t r = 0, k = 0; out && r < o->n_rows; r++) {
        const int64_t row = observation_row(o, r);
        while (k < e->n_rows && observation_row(e, k) < row)
            k++;
        const int is_there = k < e->n_rows && observation_row(e, k) == row;
        for (int32_t i = 0; i < o->width; i++)
            out[r * o->width + i] = is_there ? x[k * e->width + i] : (double)NAN;
    }
    return out;
}

static int is_reused(const struct checking *c, const struct observation *o)
{
    return o->event ? o->event->lifetime == DPF_LIFETIME_RUN
                    : c->plan->sides[o->side].terms[o->term].draw_lifetime == DPF_LIFETIME_RUN;
}

static int add_list(struct checking *c, const struct observations *list, int is_messages,
                    struct dpf_error *error)
{
    double **x = memory_new(list->n + 1, sizeof(*x));
    int status = x ? 0 : error_memory(error);
    for (size_t i = 0; i < list->n && status == 0; i++) {
        const struct observation *o = &list->items[i];
        const int64_t before = observation_earlier(list, i), other = of_another(list, i);
        if (!is_checked(c, o, is_messages) || (is_reused(c, o) && before >= 0))
            continue;
        x[i] = standardise(c, o);
        if (!x[i])
            status = error_memory(error);
        double *others = other >= 0 && x[other] ? in_rows_of(o, &list->items[other], x[other]) : NULL;
        if (other >= 0 && x[other] && !others)
            status = error_memory(error);
        const struct beside beside[2] = {{before >= 0 ? x[before] : NULL, NOISE_ROUNDS},
                                         {others, NOISE_USERS}};
        if (status == 0)
            add_observation(c, o, x[i], beside);
        free(others);
    }
    for (size_t i = 0; x && i < list->n; i++)
        free(x[i]);
    free(x);
    return status;
}

/* ---- enough, and what it says --------------------------------------------------------------------------- */

/* The fewest and the most numbers of all blocks that have any. */
static void count_seen(const struct checking *c, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < c->terms[side] * DPF_BLOCK_BITS; t++)
            if (c->tallies[side][t].n > 0) {
                *least = fmin(*least, c->tallies[side][t].n);
                *most = fmax(*most, c->tallies[side][t].n);
            }
}

/* How far the numbers that were seen are from enough, which is 1 or more; also if nothing can be looked at, and for good, where
   a block has few numbers beside others of many. */
static double seen_share(const struct checking *c, int trainings)
{
    double least, most;
    count_seen(c, &least, &most);
    const double few = fmax(least / ENOUGH_OF_FEW, (double)trainings / ENOUGH_TRAININGS);
    return fmax(least / ENOUGH, fmin(most / ENOUGH, few));
}

#define UNITS 1000 /* of progress */

static void add_finding(struct noise_check *out, int side, int place, enum noise_aspect aspect,
                        const struct noise_tally *tally)
{
    struct noise_finding f = noise_tally_find(tally, aspect);
    if (f.n == 0)
        return;
    f.side = side;
    f.term = place / DPF_BLOCK_BITS;
    f.block = place % DPF_BLOCK_BITS;
    out->findings = memory_need_grow(out->findings, &out->capacity, out->n + 1, sizeof *out->findings);
    out->findings[out->n++] = f;
}

static void judge(const struct checking *c, struct noise_check *out)
{
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < c->terms[side] * DPF_BLOCK_BITS; t++)
            for (int a = 0; a < NOISE_ASPECTS; a++)
                add_finding(out, side, t, (enum noise_aspect)a, &c->tallies[side][t]);
    out->alarm = noise_alarm((int64_t)out->n);
    for (size_t i = 0; i < out->n; i++) {
        out->findings[i].failed = noise_fails(&out->findings[i], out->alarm);
        out->failed += out->findings[i].failed;
    }
}

static int watch(struct checking *c, struct plan *plan, const struct dataset *dataset, struct pool *pool,
                 int number, struct dpf_error *error)
{
    struct trace trace;
    const int messages = plan->guarantee.observer == DPF_OBSERVER_SERVER;
    const struct observe request = {.plan = plan,
                                    .dataset = dataset,
                                    .pool = pool,
                                    .view = messages ? OBSERVE_MESSAGES : OBSERVE_SUMS,
                                    .user = -1,
                                    .item = -1,
                                    .n_users = plan_has(plan, MODEL_TELLS) ? MOST_USERS : MOST_MESSAGES_OF};
    if (trials_rekey(plan, "noise", number, error) != 0 || observe_run(&request, &trace, error) != 0)
        return -1;
    int status = add_list(c, &trace.sums, 0, error);
    if (status == 0)
        status = add_list(c, &trace.messages, 1, error);
    trace_free(&trace);
    return status;
}

int noise_check_run(struct plan *plan, const struct dataset *dataset, struct pool *pool,
                    struct noise_check *out, struct dpf_error *error)
{
    struct checking c = {.plan = plan};
    *out = (struct noise_check){.n = 0};
    int status = 0, done = 0;
    for (int side = 0; side < 2; side++) {
        c.terms[side] = plan->sides[side].n_terms + plan->recommender.n_releases;
        c.tallies[side] = memory_need((size_t)c.terms[side] * DPF_BLOCK_BITS + 1, sizeof *c.tallies[side]);
    }
    int64_t told = 0;
    ticker_begin("training to look at the noise", UNITS);
    for (int i = 0; i < MOST_TRAININGS && status == 0 && !done; i++) {
        status = interrupt_check("the noise was looked at", error);
        if (status == 0)
            status = watch(&c, plan, dataset, pool, i, error);
        const double seen = seen_share(&c, i + 1);
        done = seen >= 1;
        const int64_t units = (int64_t)(UNITS * fmin(1, fmax(seen, (double)(i + 1) / MOST_TRAININGS)));
        ticker_add(units > told ? units - told : 0);
        told = units > told ? units : told;
    }
    ticker_end();
    if (status == 0)
        judge(&c, out);
    free(c.tallies[0]);
    free(c.tallies[1]);
    return status;
}
