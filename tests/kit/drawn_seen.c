/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/drawn_seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "data/load.h"
#include "dpframe/privacy.h"
#include "engine/engine.h"
#include "engine/recommender_fit.h"
#include "plan/plan_make.h"
#include "seen/recorder.h"

struct watch {
    struct recorder recorder;
    struct drawn_seen *out;
};

static uint64_t hash_of(const void *bytes, size_t n, uint64_t hash)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static dpf_status note_part(struct drawn_seen *out, const struct seen *seen)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = hash_of(&seen->n_rows, sizeof seen->n_rows, hash);
    if (seen->rows)
        hash = hash_of(seen->rows, (size_t)seen->n_rows * sizeof *seen->rows, hash);
    if (seen->exact)
        hash = hash_of(seen->exact, (size_t)(seen->n_rows * seen->width) * sizeof *seen->exact, hash);
    struct drawn_part *parts =
        memory_grow(out->parts, &out->parts_capacity, out->n_parts + 1, sizeof *out->parts);
    if (!parts)
        return DPF_E_MEMORY;
    out->parts = parts;
    out->parts[out->n_parts++] = (struct drawn_part){seen->side, seen->term, seen->round, seen->party, hash};
    return DPF_OK;
}

static dpf_status saw(void *context, const struct seen *seen)
{
    struct watch *watch = context;
    return seen->what == SEES_PARTS ? note_part(watch->out, seen) : recorder_saw(&watch->recorder, seen);
}

static int train(struct session *session, struct pool *pool, struct dataset *dataset,
                 const struct observer *observer, struct dpf_error *error)
{
    struct plan *plan = &session->plan;
    struct model model = {0};
    struct engine_stats stats = {0};
    const struct engine_hooks hooks = {.observer = observer};
    int status = plan_complete(plan, dataset->users.n, dataset->items.n, error);
    if (status == 0)
        status = model_init(&model, plan, dataset, error);
    if (status == 0)
        status = plan->recommender.instance ? recommender_fit_observed(&model, pool, observer, &stats, error)
                                            : engine_run(plan, dataset, pool, &model, &hooks, &stats, error);
    model_free(&model);
    return status;
}

void drawn_seen_train(const struct drawn *drawn, const struct draw_pair *pair, const struct drawn_seen *given,
                      struct drawn_seen *out)
{
    struct session session = {0};
    struct dpf_error error = {0};
    struct dataset dataset = {0};
    struct pool *pool = pool_new(1);
    *out = (struct drawn_seen){.status = -1, .user = -1};
    struct watch watch = {.recorder = {.out = &out->trace, .given = given ? &given->trace : NULL},
                          .out = out};
    const struct observer observer = {.context = &watch,
                                      .wants = SEES_SUMS | SEES_MESSAGES | SEES_PARTS,
                                      .replays = given != NULL,
                                      .saw = saw};
    struct plan *plan = &session.plan;
    if (drawn_session(drawn, &session, &error) == 0 &&
        data_read(plan->config, &plan->data, &plan->split, plan->seeded, pool, &dataset, &error) == 0) {
        out->n_users = dataset.users.n;
        out->n_items = dataset.items.n;
        out->user = id_map_find(&dataset.users, draw_id(0, pair->user));
        out->status = train(&session, pool, &dataset, &observer, &error);
    }
    snprintf(out->error, sizeof out->error, "%.250s", error.text);
    dataset_free(&dataset);
    pool_free(pool);
    session_close(&session);
}

void drawn_seen_free(struct drawn_seen *seen)
{
    trace_free(&seen->trace);
    free(seen->parts);
    *seen = (struct drawn_seen){0};
}

/* ---- comparison --------------------------------------------------------------------------------------- */

static const struct term_plan *term_of(const struct plan *plan, int side, int term)
{
    return plan_is_factorization(plan) && term < plan->sides[side].n_terms ? &plan->sides[side].terms[term]
                                                                           : NULL;
}

/* Whether an exact row of the term's sum is that of its own records alone, in their own order. */
static int has_own_rows(const struct plan *plan, const struct term_plan *term)
{
    if (!term || term->source != SOURCE_RECORDS || term->query.support != DPF_SUPPORT_OBSERVED ||
        term->sampler || plan->sides[term->side].solve_at != SOLVE_AT_SERVER)
        return 0;
    for (int i = 0; i < term->n_transforms; i++)
        if (((const dpf_transform *)term->transforms[i]->functions)->kind != DPF_TRANSFORM_FACTOR)
            return 0;
    return 1;
}

static int touches_item(const struct draw_pair *pair, int64_t item)
{
    const char *wanted = draw_id(1, (int)item);
    for (int i = 0; i < pair->data.n; i++)
        if (pair->data.lines[i].user == pair->user &&
            strcmp(draw_id(1, pair->data.lines[i].item), wanted) == 0)
            return 1;
    return 0;
}

static int differs(char what[DRAWN_WHAT], const char *kind, const struct observation *o, int64_t row)
{
    snprintf(what, DRAWN_WHAT, "%s: %s, round %d, row %lld", kind,
             o->side == DPF_SIDE_USERS ? "users" : "items", o->round + 1, (long long)row);
    return 1;
}

static int same_sum(const struct plan *plan, const struct drawn_seen *a, const struct observation *x,
                    const struct observation *y, const int *touched, char what[DRAWN_WHAT])
{
    const size_t row = (size_t)x->width * sizeof(double);
    const struct term_plan *term = x->event ? NULL : term_of(plan, x->side, x->term);
    if (!observation_matches(x, y) || x->width != y->width)
        return differs(what, "what is seen", x, x->first_row);
    for (int64_t r = 0; r < x->n_rows; r++) {
        const int64_t at = observation_row(x, r);
        if (!x->deviation != !y->deviation ||
            (x->deviation && memcmp(x->deviation + r * x->width, y->deviation + r * x->width, row) != 0))
            return differs(what, "size of noise", x, at);
        if (!x->exact || !y->exact || !has_own_rows(plan, term) || observation_is_gram(x, r))
            continue;
        const int is_own = x->side == DPF_SIDE_ITEMS ? touched[at] : at == a->user;
        if (!is_own && memcmp(x->exact + r * x->width, y->exact + r * x->width, row) != 0)
            return differs(what, "sums of others", x, at);
    }
    return 0;
}

static int same_parts(const struct plan *plan, const struct drawn_seen *a, const struct drawn_seen *b,
                      char what[DRAWN_WHAT])
{
    size_t j = 0;
    for (size_t i = 0; i < a->n_parts; i++) {
        const struct drawn_part *p = &a->parts[i];
        const struct term_plan *term = term_of(plan, p->side, p->term);
        if ((term && !term->by_user) || (int64_t)p->party == a->user)
            continue;
        while (j < b->n_parts && (int64_t)b->parts[j].party == b->user)
            j++;
        const struct drawn_part *q = j < b->n_parts ? &b->parts[j++] : NULL;
        if (!q || q->side != p->side || q->term != p->term || q->round != p->round || q->party != p->party ||
            q->hash != p->hash) {
            snprintf(what, DRAWN_WHAT, "messages of others: %s, round %d, party %u",
                     p->side == DPF_SIDE_USERS ? "users" : "items", p->round + 1, p->party);
            return 1;
        }
    }
    return 0;
}

/* Rows of the item side by the places of the list, which has all items or those of a catalogue. */
static void touched_rows(const struct drawn *drawn, const struct draw_pair *pair, int64_t n, int *touched)
{
    (void)drawn;
    for (int64_t i = 0; i < n; i++)
        touched[i] = 1;
    for (int64_t i = 0; i < n && n == DRAW_ITEMS; i++) /* a catalogue, in its order */
        touched[i] = touches_item(pair, i);
}

int drawn_seen_differs(const struct plan *plan, const struct draw_promise *promise,
                       const struct draw_pair *pair, const struct drawn_seen *a, const struct drawn_seen *b,
                       char what[DRAWN_WHAT])
{
    int touched[DRAW_ITEMS + 1] = {0}, differ = 0;
    (void)promise;
    if (a->status != b->status) {
        snprintf(what, DRAWN_WHAT,
                 "completion: with equal releases one neighbour ends, the other says %.200s",
                 a->status ? a->error : b->error);
        return 1;
    }
    if (a->status != 0 || a->n_users != b->n_users || a->n_items != b->n_items)
        return 0; /* rows have other places */
    touched_rows(NULL, pair, a->n_items < DRAW_ITEMS ? a->n_items : DRAW_ITEMS, touched);
    if (a->trace.sums.n != b->trace.sums.n || a->trace.messages.n != b->trace.messages.n) {
        snprintf(what, DRAWN_WHAT, "what is seen: %zu sums and %zu messages beside %zu and %zu",
                 a->trace.sums.n, a->trace.messages.n, b->trace.sums.n, b->trace.messages.n);
        return 1;
    }
    for (size_t i = 0; i < a->trace.sums.n && !differ; i++)
        differ = same_sum(plan, a, &a->trace.sums.items[i], &b->trace.sums.items[i], touched, what);
    return differ || same_parts(plan, a, b, what);
}
