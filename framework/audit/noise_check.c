/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/noise_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/heard.h"
#include "audit/score.h"
#include "base/memory.h"

#define ENOUGH 8000 /* coordinates: what has a tenth less variance than declared is found */
#define ENOUGH_TRAININGS 200
#define MOST_TRAININGS 800
#define MOST_TERMS 16  /* of a side; more are not looked at */
#define MOST_USERS 256 /* whose own rows are looked at */
_Static_assert(DPF_MAX_RELEASES <= MOST_TERMS, "each release of a recommender has a tally");

struct checking {
    const struct plan *plan;
    struct noise_tally tallies[2][MOST_TERMS]; /* of a recommender: by side and release */
};

/* The event that says which law a block's noise has, its own or that of its group; NULL: none whose variance
   is declared. */
static const dpf_event *law_of_block(const struct plan *plan, int side, int term, int32_t block)
{
    const dpf_event *found = NULL;
    for (int64_t i = 0; i < plan->ledger.n; i++) {
        const dpf_event *event = &plan->ledger.entries[i].event;
        const int exact = (event->kind >= DPF_EVENT_LAPLACE && event->kind <= DPF_EVENT_DISCRETE_GAUSSIAN) ||
                          event->kind == DPF_EVENT_CORRELATED_GAUSSIAN;
        if (event->side == side && event->term == term &&
            (exact || event->kind == DPF_EVENT_SKELLAM || event->kind == DPF_EVENT_PBM) &&
            !(event->flags & DPF_EVENT_NOISE_KNOWN) && (!found || (event->blocks >> block) & 1))
            found = event;
    }
    return found;
}

/* Of sums of messages that are seen one by one, and of shares of sparse ones, the law is another. Binomial
   noise is known of each message and of each sum. */
static int is_checked(const struct checking *c, const struct term_plan *term, const struct observation *o,
                      int is_message)
{
    const dpf_mechanism *mechanism = term->mechanism->functions;
    const dpf_event *law = law_of_block(c->plan, o->side, o->term, 0);
    if (law && law->kind == DPF_EVENT_PBM)
        return is_message || !o->told;
    if (is_message || o->told)
        return is_message && o->noise.where == DPF_NOISE_AT_PARTY;
    return o->noise.where == DPF_NOISE_AT_SUM || o->noise.where == DPF_NOISE_AT_PARTY ||
           (o->noise.where == DPF_NOISE_IN_SHARES && (mechanism->flags & DPF_MECHANISM_DENSE));
}

/* The noise of a coordinate over its declared standard deviation; NaN where none is declared. */
static double standardised(const struct checking *c, const struct observation *o, int64_t r, int32_t b,
                           int32_t column)
{
    const double deviation = score_deviation(c->plan, o, r, b, column);
    const int64_t at = r * o->width + column;
    if (!(observation_scale(c->plan, o, r, b) > 0))
        return NAN; /* released as it is */
    if (o->deviation && o->deviation[at] <= 0)
        return NAN; /* nobody has sent it */
    return deviation > 0 ? (o->seen[at] - o->exact[at]) / deviation : (double)NAN;
}

static void add_block(struct checking *c, const struct observation *o, const struct observation *before,
                      int32_t b, const dpf_event *law, struct noise_tally *tally)
{
    const dpf_block *block = &c->plan->sides[o->side].terms[o->term].query.blocks[b];
    const int laplace = law->kind == DPF_EVENT_LAPLACE || law->kind == DPF_EVENT_DISCRETE_LAPLACE;
    /* A symmetric matrix that is stored in full has each number twice. */
    const int columns = block->layout != DPF_LAYOUT_FULL;
    tally->fourth = laplace ? 6 : 3;
    for (int64_t r = 0; r < o->n_rows; r++)
        for (int32_t i = block->offset; i < block->offset + block->length; i++) {
            const double x = standardised(c, o, r, b, i);
            noise_tally_number(tally, x);
            if (before)
                noise_tally_pair(tally, NOISE_ROUNDS, x, standardised(c, before, r, b, i));
            if (r + 1 < o->n_rows)
                noise_tally_pair(tally, NOISE_ROWS, x, standardised(c, o, r + 1, b, i));
            if (columns && i + 1 < block->offset + block->length)
                noise_tally_pair(tally, NOISE_COLUMNS, x, standardised(c, o, r, b, i + 1));
        }
}

static void add_list(struct checking *c, const struct observations *list, int is_messages)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct observation *o = &list->items[i];
        const struct term_plan *term = &c->plan->sides[o->side].terms[o->term];
        const int64_t before = score_earlier(list, i);
        if (o->term >= MOST_TERMS || !is_checked(c, term, o, is_messages) ||
            (term->draw_lifetime == DPF_LIFETIME_RUN && before >= 0))
            continue;
        for (int32_t b = 0; b < term->query.n_blocks; b++) {
            const dpf_event *law = law_of_block(c->plan, o->side, o->term, b);
            if (law)
                add_block(c, o, before >= 0 ? &list->items[before] : NULL, b, law,
                          &c->tallies[o->side][o->term]);
        }
    }
}

/* ---- recommenders ------------------------------------------------------------------------------------- */

/* The last of the same release before, of the same row or of another user's. */
static const struct heard *heard_before(const struct hearing *hearing, size_t at)
{
    for (size_t i = at; i-- > 0;)
        if (hearing->items[i].release == hearing->items[at].release &&
            hearing->items[i].n == hearing->items[at].n)
            return &hearing->items[i];
    return NULL;
}

static void add_heard(struct checking *c, const struct hearing *hearing, size_t at)
{
    const struct heard *heard = &hearing->items[at], *before = heard_before(hearing, at);
    struct noise_tally *tally = &c->tallies[hearing_event(c->plan, heard)->side][heard->release];
    const enum noise_aspect beside = before && before->row != heard->row ? NOISE_ROWS : NOISE_ROUNDS;
    tally->fourth = hearing_fourth_moment(c->plan, heard);
    for (int64_t i = 0; i < heard->n; i++) {
        const double x = hearing_noise(c->plan, heard, i);
        noise_tally_number(tally, x);
        if (before)
            noise_tally_pair(tally, beside, x, hearing_noise(c->plan, before, i));
        if (i + heard->width < heard->n)
            noise_tally_pair(tally, NOISE_ROWS, x, hearing_noise(c->plan, heard, i + heard->width));
        if ((i + 1) % heard->width)
            noise_tally_pair(tally, NOISE_COLUMNS, x, hearing_noise(c->plan, heard, i + 1));
    }
}

static int listen(struct checking *c, const struct hearing_request *request, struct dpf_error *error)
{
    struct hearing hearing;
    if (hearing_run(request, &hearing, error) != 0)
        return -1;
    for (size_t i = 0; i < hearing.n; i++)
        add_heard(c, &hearing, i);
    hearing_free(&hearing);
    return 0;
}

/* ---- enough, and what it says ---------------------------------------------------------------------------
 */

/* The fewest and the most numbers of all terms that have any. */
static void count_seen(const struct checking *c, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < MOST_TERMS; t++)
            if (c->tallies[side][t].n > 0) {
                *least = fmin(*least, c->tallies[side][t].n);
                *most = fmax(*most, c->tallies[side][t].n);
            }
}

/* Also if nothing can be looked at; and for good, where a release has few numbers beside others of many. */
static int seen_enough(const struct checking *c, int trainings)
{
    double least, most;
    count_seen(c, &least, &most);
    return least >= ENOUGH || (most >= ENOUGH && trainings >= ENOUGH_TRAININGS);
}

static void add_finding(struct noise_check *out, int side, int term, enum noise_aspect aspect,
                        const struct noise_tally *tally)
{
    struct noise_finding f = noise_tally_find(tally, aspect);
    if (f.n == 0 || out->n == NOISE_MAX_FINDINGS)
        return;
    f.side = side;
    f.term = term;
    out->findings[out->n++] = f;
    out->failed += f.failed;
}

static int watch(struct checking *c, struct plan *plan, const struct dataset *dataset, struct pool *pool,
                 int number, struct dpf_error *error)
{
    struct trace trace;
    const struct hearing_request listened = {
        .plan = plan, .dataset = dataset, .pool = pool, .n_rows = MOST_USERS};
    const int messages = plan->guarantee.observer == DPF_OBSERVER_SERVER;
    const struct observe request = {.plan = plan,
                                    .dataset = dataset,
                                    .pool = pool,
                                    .view = messages ? OBSERVE_MESSAGES : OBSERVE_SUMS,
                                    .user = 0,
                                    .item = -1};
    if (trials_rekey(plan, "noise", number, error) != 0)
        return -1;
    if (plan->recommender.instance)
        return listen(c, &listened, error);
    if (observe_run(&request, &trace, error) != 0)
        return -1;
    add_list(c, &trace.sums, 0);
    add_list(c, &trace.messages, 1);
    trace_free(&trace);
    return 0;
}

int noise_check_run(struct plan *plan, const struct dataset *dataset, struct pool *pool,
                    struct noise_check *out, struct dpf_error *error)
{
    struct checking *c = memory_new(1, sizeof *c);
    *out = (struct noise_check){.n = 0};
    if (!c)
        return error_memory(error);
    c->plan = plan;
    int status = 0, done = 0;
    for (int i = 0; i < MOST_TRAININGS && status == 0 && !done; i++) {
        status = watch(c, plan, dataset, pool, i, error);
        done = seen_enough(c, i + 1);
    }
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < MOST_TERMS && status == 0; t++)
            for (int a = 0; a < NOISE_ASPECTS; a++)
                add_finding(out, side, t, (enum noise_aspect)a, &c->tallies[side][t]);
    free(c);
    return status;
}
