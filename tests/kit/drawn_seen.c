/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/drawn_seen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "data/load.h"
#include "engine/engine.h"
#include "plan/plan_make.h"
#include "seen/recorder.h"

struct watch {
    struct recorder recorder;
    const struct plan *plan;
    const struct drawn_seen *given;
    struct drawn_seen *out;
};

/* Where a's user is in b, of which one may lack the unit's. */
static int64_t same_user(const struct drawn_seen *a, const struct drawn_seen *b, int64_t user)
{
    if (a->user >= 0 && user > a->user)
        user--;
    return b->user >= 0 && user >= b->user ? user + 1 : user;
}

/* Draws that follow ids are compared by what they lead to, and not handed over. */
static int is_independent(const struct watch *watch, const struct seen *seen)
{
    const dpf_sampling *sampling = &watch->plan->sides[seen->side].terms[seen->term].sampling;
    return sampling->kind == DPF_SAMPLING_POISSON || sampling->kind == DPF_SAMPLING_WEIGHTED;
}

static struct drawn_draw draw_at(const struct seen *seen, int64_t i)
{
    const int of_record = seen->draw->level == DPF_LEVEL_RECORD;
    return (struct drawn_draw){.side = seen->side,
                               .term = seen->term,
                               .round = seen->round,
                               .item = of_record ? (int)seen->draw->items[i] : -1,
                               .user = of_record ? seen->draw->users[i] : seen->draw->first + i,
                               .weight = seen->weights[i]};
}

/* The draw of the same user or record in the run whose releases are given, or NULL. */
static const struct drawn_draw *given_draw(const struct watch *watch, const struct drawn_draw *draw)
{
    const struct drawn_seen *given = watch->given;
    const int64_t user =
        draw->user == watch->out->user ? given->user : same_user(watch->out, given, draw->user);
    for (size_t i = 0; i < given->n_draws; i++) {
        const struct drawn_draw *d = &given->draws[i];
        if (d->user == user && d->item == draw->item && d->round == draw->round && d->side == draw->side &&
            d->term == draw->term)
            return d;
    }
    return NULL;
}

static dpf_status note_draws(struct watch *watch, const struct seen *seen)
{
    struct drawn_seen *out = watch->out;
    struct drawn_draw *grown = memory_grow(out->draws, &out->draws_capacity,
                                           out->n_draws + (size_t)seen->draw->n + 1, sizeof *out->draws);
    if (!grown)
        return DPF_E_MEMORY;
    out->draws = grown;
    for (int64_t i = 0; i < seen->draw->n; i++) {
        const struct drawn_draw draw = draw_at(seen, i);
        const struct drawn_draw *given = watch->given ? given_draw(watch, &draw) : NULL;
        if (given)
            seen->weights[i] = given->weight;
        out->draws[out->n_draws++] = draw;
    }
    return DPF_OK;
}

static dpf_status saw(void *context, const struct seen *seen)
{
    struct watch *watch = context;
    if (seen->what == SEES_DRAWS)
        return is_independent(watch, seen) ? note_draws(watch, seen) : DPF_OK;
    if (seen->what != SEES_PARTS)
        return recorder_saw(&watch->recorder, seen);
    return observation_add(&watch->out->parts, seen, 0) ? DPF_OK : DPF_E_MEMORY;
}

/* Other users keep their places and cells, but all of their records are void. */
static int leave_alone(struct dataset *dataset, int64_t user, struct dpf_error *error)
{
    struct csr *csr = &dataset->train.by_user;
    if (!csr->voids)
        csr->voids = memory_new((size_t)csr->ptr[csr->rows] + 1, sizeof *csr->voids);
    if (!csr->voids)
        return error_memory(error);
    for (int64_t u = 0; u < csr->rows; u++)
        if (u != user)
            memset(csr->voids + csr->ptr[u], 1, (size_t)(csr->ptr[u + 1] - csr->ptr[u]));
    csr_free(&dataset->train.by_item);
    return csr_transpose(csr, dataset->items.n, &dataset->train.by_item, error);
}

/* What a component has learned, where that is released. */
static int note_state(const struct model *model, struct trace *out, struct dpf_error *error)
{
    if (!model->state || !model->plan->model_facts.released[DPF_SIDE_ITEMS])
        return 0;
    out->state = memory_raw((size_t)model->state_bytes + 1, 1);
    if (!out->state)
        return error_memory(error);
    memcpy(out->state, model->state, (size_t)model->state_bytes);
    out->state_bytes = model->state_bytes;
    return 0;
}

static int train(struct session *session, struct pool *pool, struct dataset *dataset,
                 const struct observer *observer, struct trace *out, struct dpf_error *error)
{
    struct plan *plan = &session->plan;
    struct model model = {0};
    struct engine_stats stats = {0};
    const struct engine_hooks hooks = {.observer = observer};
    int status = plan_complete(plan, dataset->users.n, dataset->items.n, error);
    if (status == 0)
        status = model_init(&model, plan, dataset, error);
    if (status == 0)
        status = engine_run(plan, dataset, pool, &model, &hooks, &stats, error);
    if (status == 0)
        status = note_state(&model, out, error);
    model_free(&model);
    return status;
}

void drawn_seen_train(const struct drawn *drawn, const struct draw_pair *pair, const struct drawn_seen *given,
                      int alone, struct drawn_seen *out)
{
    struct session session = {0};
    struct dpf_error error = {0};
    struct dataset dataset = {0};
    struct pool *pool = pool_new(1);
    *out = (struct drawn_seen){.status = -1, .user = -1};
    struct watch watch = {.recorder = {.out = &out->trace, .given = given ? &given->trace : NULL},
                          .plan = &session.plan,
                          .given = given,
                          .out = out};
    struct plan *plan = &session.plan;
    if (drawn_session(drawn, &session, &error) == 0 &&
        data_read(&plan->data, &plan->split, plan->seeded, pool, &dataset, &error) == 0) {
        out->n_users = dataset.users.n;
        out->n_items = dataset.items.n;
        out->user = id_map_find(&dataset.users, draw_id(0, pair->user));
        /* Parts are what messages have in them; a single message may be nothing that can be decoded. */
        const uint32_t messages = plan->recommender.instance ? SEES_MESSAGES : 0;
        const struct observer observer = {.context = &watch,
                                          .wants = SEES_SUMS | SEES_PARTS | SEES_DRAWS | messages,
                                          .replays = given != NULL,
                                          .saw = saw};
        if (!alone || leave_alone(&dataset, out->user, &error) == 0)
            out->status = train(&session, pool, &dataset, &observer, &out->trace, &error);
    }
    snprintf(out->error, sizeof out->error, "%.250s", error.text);
    dataset_free(&dataset);
    pool_free(pool);
    session_close(&session);
}

void drawn_seen_free(struct drawn_seen *seen)
{
    trace_free(&seen->trace);
    for (size_t i = 0; i < seen->parts.n; i++)
        observation_free(&seen->parts.items[i]);
    free(seen->parts.items);
    free(seen->draws);
    *seen = (struct drawn_seen){0};
}

/* ---- others ------------------------------------------------------------------------------------------- */

static int differs(char what[DRAWN_WHAT], const char *kind, const struct observation *o, int64_t row)
{
    snprintf(what, DRAWN_WHAT, "%s: %s, round %d, party %d, row %lld", kind,
             o->side == DPF_SIDE_USERS ? "users" : "items", o->round + 1, (int)o->party, (long long)row);
    return 1;
}

/* Whether the parties of a part are users: the plan's source that it is of. */
static int is_of_users(const struct plan *plan, const struct observation *o)
{
    const struct side_plan *side = &plan->sides[o->side];
    const struct term_plan *term = o->term < side->n_terms ? &side->terms[o->term] : NULL;
    return term && term->by_user && !term->pooled &&
           plan->parties.params.values[PARTIES_KIND].integer != PARTIES_CURATOR;
}

static int same_numbers(const struct observation *x, const double *p, const double *q)
{
    return !p == !q && (!p || memcmp(p, q, (size_t)(x->n_rows * x->width) * sizeof *p) == 0);
}

static int is_of_others(const struct plan *plan, const struct drawn_seen *of, const struct observation *o)
{
    return (o->event || is_of_users(plan, o)) && (int64_t)o->party != of->user;
}

/* What all users but the unit's send, in the order in which they do. */
static int same_messages(const struct plan *plan, const struct drawn_seen *a, const struct drawn_seen *b,
                         const struct observations *of_a, const struct observations *of_b,
                         char what[DRAWN_WHAT])
{
    size_t j = 0;
    for (size_t i = 0; i < of_a->n; i++) {
        const struct observation *x = &of_a->items[i], *y = NULL;
        if (!is_of_others(plan, a, x))
            continue;
        while (j < of_b->n && !is_of_others(plan, b, &of_b->items[j]))
            j++;
        if (j < of_b->n)
            y = &of_b->items[j++];
        if (!y || x->side != y->side || x->term != y->term || x->round != y->round ||
            x->n_rows != y->n_rows || x->width != y->width ||
            same_user(a, b, x->party) != (int64_t)y->party || !same_numbers(x, x->exact, y->exact))
            return differs(what, "messages of others", x, x->first_row);
    }
    return 0;
}

static int same_shape(const struct observation *x, const struct observation *y)
{
    return observation_matches(x, y) && x->event == y->event;
}

int drawn_seen_differs(const struct plan *plan, const struct drawn_seen *a, const struct drawn_seen *b,
                       char what[DRAWN_WHAT])
{
    if (a->status != b->status) {
        snprintf(what, DRAWN_WHAT,
                 "completion: with equal releases one neighbour ends, the other says %.200s",
                 a->status ? a->error : b->error);
        return 1;
    }
    if (a->status != 0)
        return 0;
    if (a->trace.sums.n != b->trace.sums.n) {
        snprintf(what, DRAWN_WHAT, "what is seen: %zu sums beside %zu", a->trace.sums.n, b->trace.sums.n);
        return 1;
    }
    for (size_t i = 0; i < a->trace.sums.n; i++) {
        const struct observation *x = &a->trace.sums.items[i], *y = &b->trace.sums.items[i];
        if (x->side == DPF_SIDE_USERS && a->n_users != b->n_users) /* rows have other places */
            continue;
        if (!same_shape(x, y))
            return differs(what, "what is seen", x, x->first_row);
        if (!same_numbers(x, x->deviation, y->deviation))
            return differs(what, "size of noise", x, x->first_row);
    }
    if (a->trace.state_bytes != b->trace.state_bytes ||
        (a->trace.state && memcmp(a->trace.state, b->trace.state, a->trace.state_bytes) != 0)) {
        snprintf(what, DRAWN_WHAT, "state: with equal releases another one, of %llu bytes beside %llu",
                 (unsigned long long)a->trace.state_bytes, (unsigned long long)b->trace.state_bytes);
        return 1;
    }
    return same_messages(plan, a, b, &a->parts, &b->parts, what) ||
           same_messages(plan, a, b, &a->trace.messages, &b->trace.messages, what);
}

/* ---- the unit ----------------------------------------------------------------------------------------- */

/* Doubles that were added up in another order. */
static int is_equal(double x, double y, double largest)
{
    return x == y || fabs(x - y) <= 0x1p-44 * largest;
}

static double largest_of(const struct observation *const o[4], int64_t n)
{
    double largest = 0;
    for (int k = 0; k < 4; k++)
        for (int64_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(o[k]->exact[i]));
    return largest;
}

int drawn_seen_adds_more(const struct drawn_seen *a, const struct drawn_seen *b,
                         const struct drawn_seen alone[2], int64_t *n, char what[DRAWN_WHAT])
{
    const struct observations *of[4] = {&a->trace.sums, &b->trace.sums, &alone[0].trace.sums,
                                        &alone[1].trace.sums};
    if (alone[0].status != 0 || alone[1].status != 0 || of[2]->n != of[0]->n || of[3]->n != of[0]->n)
        return 0; /* nothing can be made of one user's records alone */
    for (size_t i = 0; i < of[0]->n; i++) {
        const struct observation *o[4];
        int comparable = 1;
        for (int k = 0; k < 4; k++) {
            o[k] = &of[k]->items[i];
            comparable &= o[k]->exact != NULL && same_shape(o[0], o[k]);
        }
        const int64_t numbers = comparable ? o[0]->n_rows * o[0]->width : 0;
        const double largest = largest_of(o, numbers);
        for (int64_t k = 0; k < numbers; k++)
            if (!is_equal(o[0]->exact[k] - o[1]->exact[k], o[2]->exact[k] - o[3]->exact[k], largest)) {
                const int length = snprintf(what, DRAWN_WHAT, "more than the unit's part: by %g, of it %g; ",
                                            o[0]->exact[k] - o[1]->exact[k], o[2]->exact[k] - o[3]->exact[k]);
                char where[DRAWN_WHAT];
                differs(where, o[0]->event ? "release" : "sum", o[0], observation_row(o[0], k / o[0]->width));
                snprintf(what + length, DRAWN_WHAT - (size_t)length, "%.100s", where);
                return 1;
            }
        *n += numbers;
    }
    return 0;
}
