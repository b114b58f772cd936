/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/ranks.h"
#include "base/text.h"
#include "dataset/shares.h"
#include "engine/checkpoint.h"
#include "engine/model_work.h"
#include "engine/noise_histogram.h"
#include "engine/observed.h"
#include "engine/step.h"

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void make_workers(struct engine *engine)
{
    engine->n_workers = pool_workers(engine->pool);
    size_t n = (size_t)engine->n_workers;
    engine->workers = memory_need(n, sizeof(*engine->workers));
    engine->nested = memory_need(n, sizeof(*engine->nested));
    engine->buffers = memory_need(n, sizeof *engine->buffers);
    engine->errors = memory_need(n, sizeof *engine->errors);
    for (int w = 0; w < engine->n_workers; w++) {
        engine->workers[w] = worker_new(w, engine->n_workers);
        engine->nested[w] = worker_new(w, engine->n_workers);
    }
}

/* Runs the record transforms of a term over some records. */
static int transform_records(struct engine *engine, struct term_run *term, const dpf_records *records,
                             float *values)
{
    for (int i = 0; i < term->plan->n_transforms; i++) {
        struct instance *instance = term->plan->transforms[i];
        const dpf_transform *transform = instance->functions;
        if (transform->kind != DPF_TRANSFORM_RECORD)
            continue;
        dpf_call *call = step_call(engine, 0, instance, 0, 0);
        if (step_result(engine, 0, instance, transform->records(instance->self, call, records, values),
                        term->plan->side) != 0)
            return -1;
    }
    return 0;
}

static float value_of(const struct csr *csr, int64_t i)
{
    return csr->values ? csr->values[i] : 1.0f;
}

/* A record that cannot be transformed gets a value that no loss can use: it is at fault in every round. */
static int transform_one_by_one(struct engine *engine, struct term_run *term, const struct csr *csr,
                                const dpf_records *all, float *values)
{
    for (int64_t i = 0; i < all->n; i++) {
        dpf_records one = *all;
        one.n = 1;
        one.users += i;
        one.items += i;
        one.privacy_weights = all->privacy_weights ? all->privacy_weights + i : NULL;
        values[i] = value_of(csr, i);
        if (transform_records(engine, term, &one, values + i) == 0)
            continue;
        if (!step_note(engine, 0, all->users[i]))
            return -1;
        values[i] = NAN;
    }
    return 0;
}

/* The values of one holder's records, those of this rank's rows, after the term's record transforms. */
static int transform_values(struct engine *engine, struct term_run *term, const struct csr *csr,
                            int orientation, float **out, struct dpf_error *error)
{
    const int64_t first = shares_first(engine->dataset, orientation),
                  last = shares_last(engine->dataset, orientation);
    int64_t n = csr->ptr[last] - csr->ptr[first];
    float *values = memory_raw((size_t)n + 1, sizeof *values);
    int32_t *own = memory_raw((size_t)n + 1, sizeof *own);
    int status = values && own ? 0 : error_memory(error);
    for (int64_t r = first; r < last && status == 0; r++)
        for (int64_t i = csr->ptr[r]; i < csr->ptr[r + 1]; i++) {
            own[i] = (int32_t)r;
            values[i] = value_of(csr, i);
        }
    const dpf_records records = {.size = sizeof records,
                                 .n = n,
                                 .users = orientation == DPF_SIDE_USERS ? own : csr->others,
                                 .items = orientation == DPF_SIDE_USERS ? csr->others : own,
                                 .privacy_weights = csr->privacy_weights};
    if (status == 0 && transform_records(engine, term, &records, values) != 0 &&
        (!step_forgive(engine, 0) || transform_one_by_one(engine, term, csr, &records, values) != 0)) {
        status = step_failed(engine, error);
        error_while_running(error);
    }
    free(own);
    if (status != 0)
        free(values);
    else
        *out = values;
    return status;
}

static int prepare_values(struct engine *engine, struct term_run *term, struct dpf_error *error)
{
    int any = 0;
    for (int i = 0; i < term->plan->n_transforms; i++)
        any |= ((const dpf_transform *)term->plan->transforms[i]->functions)->kind == DPF_TRANSFORM_RECORD;
    if (!any || term->plan->source != SOURCE_RECORDS)
        return 0;
    int64_t n = engine->parties.n + 2;
    term->values = memory_new((size_t)n, sizeof(*term->values));
    if (!term->values)
        return error_memory(error);
    for (int64_t holder = 0; holder <= engine->parties.n; holder++) {
        const struct csr *csr = step_records(engine, term, holder < engine->parties.n ? holder : HOLDER_ALL);
        if (transform_values(engine, term, csr, term->plan->side, &term->values[holder], error) != 0)
            return -1;
    }
    /* Messages of users read the records by user whatever side is solved. */
    return transform_values(engine, term, &engine->dataset->train.by_user, DPF_SIDE_USERS,
                            &term->values[engine->parties.n + 1], error);
}

/* Rows of a message. The plan's number may be larger: sizes can be declared as bounds. */
static int count_rows(struct engine *engine, struct term_run *term, struct dpf_error *error)
{
    term->rows = engine->model->sides[term->plan->side].rows + term->plan->query.has_gram;
    for (int i = 0; i < term->plan->n_transforms; i++) {
        struct instance *instance = term->plan->transforms[i];
        const dpf_transform *transform = instance->functions;
        if (transform->rows &&
            instance_result(instance, transform->rows(instance->self, term->rows, &term->rows), "rows",
                            error) != 0)
            return -1;
    }
    return 0;
}

static int make_terms(struct engine *engine, int which, struct dpf_error *error)
{
    struct side_plan *side = &engine->plan->sides[which];
    engine->terms[which] = memory_need((size_t)side->n_terms + 1, sizeof *engine->terms[which]);
    int relation = 0;
    for (int t = 0; t < side->n_terms; t++) {
        struct term_run *term = &engine->terms[which][t];
        struct term_plan *plan = &side->terms[t];
        term->plan = plan;
        term->loss = plan->loss->functions;
        term->mechanism = plan->mechanism ? plan->mechanism->functions : NULL;
        term->aggregator = plan->aggregator ? plan->aggregator->functions : NULL;
        term->sampler = plan->sampler ? plan->sampler->functions : NULL;
        relation |= plan->source == SOURCE_RELATION;
        if (prepare_values(engine, term, error) != 0 || count_rows(engine, term, error) != 0 ||
            step_open_participations(engine, term, error) != 0)
            return -1;
    }
    /* New rows go to a buffer of their own where old ones are still read: by the other side, by
       friends, or by other parties. */
    int simultaneous = engine->plan->run.params.values[RUN_UPDATE].integer == UPDATE_SIMULTANEOUS;
    if (side->updated && (simultaneous || relation)) {
        const struct side_factors *factors = &engine->model->sides[which];
        engine->next[which] = memory_sparse((size_t)(factors->rows * engine->model->stride), sizeof(float));
        if (!engine->next[which])
            return error_memory(error);
    }
    return 0;
}

static void sum_times(struct engine *engine)
{
    for (int w = 0; engine->buffers && w < engine->n_workers; w++) {
        engine->stats->cpu_sums += engine->buffers[w].cpu[PHASE_SUMS];
        engine->stats->cpu_noise += engine->buffers[w].cpu[PHASE_NOISE];
        engine->stats->cpu_solves += engine->buffers[w].cpu[PHASE_SOLVES];
    }
}

static void engine_close(struct engine *engine)
{
    observed_close(engine);
    for (int which = 0; which < 2; which++) {
        for (int t = 0; engine->terms[which] && t < engine->plan->sides[which].n_terms; t++) {
            struct term_run *term = &engine->terms[which][t];
            for (int64_t h = 0; term->values && h < engine->parties.n + 2; h++)
                free(term->values[h]);
            free(term->values);
            free(term->party_weight_buffer);
            free(term->participations);
            free(term->last_round);
            free(term->user_keys);
            free(term->noise_state);
            memory_sparse_free(term->other_copy);
            free(term->sum_bounds);
            free(term->received);
            free(term->zeros);
            free(term->gram);
        }
        free(engine->terms[which]);
        memory_sparse_free(engine->next[which]);
        free(engine->noise_variance[which]);
        free(engine->order_keys[which]);
    }
    for (int w = 0; w < engine->n_workers; w++) {
        if (engine->workers)
            worker_free(engine->workers[w]);
        if (engine->nested)
            worker_free(engine->nested[w]);
        for (int slot = 0; engine->buffers && slot < BUFFER_COUNT; slot++)
            free(engine->buffers[w].data[slot]);
    }
    free(engine->workers);
    free(engine->nested);
    free(engine->buffers);
    free(engine->errors);
    csr_free(&engine->here_by_item);
    parties_free(&engine->parties);
}

static void start_next(struct engine *engine, int which)
{
    const struct side_factors *factors = &engine->model->sides[which];
    const int64_t stride = engine->model->stride;
    int64_t first, last;
    if (!engine->next[which])
        return;
    model_rows_here(engine->model, engine->dataset, which, &first, &last);
    memcpy(engine->next[which] + first * stride, factors->data + first * stride,
           (size_t)((last - first) * stride) * sizeof(float));
}

static void take_next(struct engine *engine, int which)
{
    struct side_factors *factors = &engine->model->sides[which];
    if (!engine->next[which])
        return;
    float *old = factors->data;
    factors->data = engine->next[which];
    engine->next[which] = old;
}

/* New rows of the ranks become those of all; where rows may have been reset, those of the other side as well.
 */
static int share_rows(struct engine *engine, int which, struct dpf_error *error)
{
    for (int side = 0; side < 2; side++) {
        float *rows = engine->next[side] ? engine->next[side] : engine->model->sides[side].data;
        if ((side == which || engine->tolerant) && engine->plan->sides[side].updated &&
            model_shares_rows(engine->plan, side) &&
            model_gather_rows(engine->model, engine->dataset, side, rows, error) != 0)
            return -1;
    }
    return 0;
}

static int side_step(struct engine *engine, int which, struct dpf_error *error)
{
    const struct side_plan *side = &engine->plan->sides[which];
    if (!side->updated || (step_is_server(engine) && !side->released)) /* such rows are where the users are */
        return 0;
    double start = seconds_now();
    start_next(engine, which);
    int messages = 0;
    for (int t = 0; t < side->n_terms; t++)
        messages |= side->terms[t].mechanism && (side->terms[t].by_user || side->terms[t].whole_message);
    const int by_record = (side->solver_functions->flags & DPF_SOLVER_BY_RECORD) != 0;
    int status = by_record         ? step_by_record(engine, which, error)
                 : !side->released ? step_local(engine, which, error)
                 : messages        ? step_by_messages(engine, which, error)
                                   : step_by_rows(engine, which, error);
    if (status == 0)
        status = step_reset_rows(engine, error);
    if (status == 0)
        status = share_rows(engine, which, error);
    engine->stats->seconds[which] += seconds_now() - start;
    return status;
}

static int federated_round(struct engine *engine, int released, struct dpf_error *error)
{
    double start = seconds_now();
    int status = step_federated(engine, released, error);
    if (status == 0)
        status = step_reset_rows(engine, error);
    engine->stats->seconds[released] += seconds_now() - start;
    return status;
}

static int one_round(struct engine *engine, struct dpf_error *error)
{
    const struct plan *plan = engine->plan;
    int simultaneous = plan->run.params.values[RUN_UPDATE].integer == UPDATE_SIMULTANEOUS;
    for (int side = 0; side < 2; side++)
        if (plan->sides[side].updated && plan->sides[side].solve_at == SOLVE_AT_PARTY)
            return federated_round(engine, side, error);
    for (int i = 0; i < plan->n_order; i++) {
        if (worker_cancelled())
            return step_interrupted(engine, error);
        if (side_step(engine, plan->order[i], error) != 0)
            return -1;
        if (!simultaneous)
            take_next(engine, plan->order[i]);
    }
    for (int i = 0; simultaneous && i < plan->n_order; i++)
        take_next(engine, plan->order[i]);
    return 0;
}

/*
 * Where parties solve, the other side's rows were made for the rows that each party had before they were
 * joined (DPIMF, Algorithm 1, phase 3). Nothing is sent.
 */
static int refit(struct engine *engine, struct dpf_error *error)
{
    for (int which = 0; which < 2; which++) {
        const struct side_plan *joined = &engine->plan->sides[1 - which];
        if (joined->updated && joined->solve_at == SOLVE_AT_PARTY && side_step(engine, which, error) != 0)
            return -1;
    }
    return 0;
}

/* [run] finish: a local side's rows for the other side's last ones. The plan has refused sides that release.
 */
static int finish(struct engine *engine, struct dpf_error *error)
{
    int64_t which = engine->plan->run.params.values[RUN_FINAL_STEP].integer;
    if (which == FINAL_STEP_NONE)
        return 0;
    int side = which == FINAL_STEP_USERS ? DPF_SIDE_USERS : DPF_SIDE_ITEMS;
    if (side_step(engine, side, error) != 0)
        return -1;
    take_next(engine, side);
    return 0;
}

/* [SIDE] returned: rows that end as the other side's loss reads them. */
static int return_rows(struct engine *engine, int of, struct dpf_error *error)
{
    const struct side_plan *reader = &engine->plan->sides[1 - of];
    for (int t = 0; reader->updated && t < reader->n_terms; t++)
        if (reader->terms[t].returns_transformed &&
            step_return_transformed(engine, &engine->terms[1 - of][t], error) != 0)
            return -1;
    return 0;
}

/* ---- a party's rounds: those that the server asks it for -------------------------------------------- */

/* When a party solves its own row, seen from its message of the round. */
enum own_step { STEP_BEFORE, STEP_AFTER, STEP_WITH_NEXT_ROWS };

static enum own_step own_step(const struct plan *plan)
{
    if (plan->run.params.values[RUN_UPDATE].integer == UPDATE_SIMULTANEOUS)
        return STEP_AFTER;
    return plan->order[0] == remote_side(plan) ? STEP_WITH_NEXT_ROWS : STEP_BEFORE;
}

static int solve_own(struct engine *engine, int64_t round, struct dpf_error *error)
{
    const int local = 1 - remote_side(engine->plan);
    engine->round = round;
    if (side_step(engine, local, error) != 0)
        return -1;
    take_next(engine, local);
    return 0;
}

/* A round that the server makes again finds this party as the first attempt has found it: what its own row was before a
   solver moved it, and how often it has taken part. */
struct party_at {
    int64_t round; /* the last one; -1: none yet */
    int again;
    float *rows; /* where the party solves the released side: its own, before the round */
};

static int party_round(struct engine *engine, const struct party_at *at, struct dpf_error *error)
{
    const int released = remote_side(engine->plan);
    engine->round = at->round;
    if (at->again)
        step_count_answered(engine, &engine->terms[released][0]);
    if (remote_solves(engine->plan)) {
        struct side_factors *own = &engine->model->sides[1 - released];
        const size_t bytes = (size_t)(own->rows * engine->model->stride) * sizeof(float);
        memcpy(at->again ? own->data : at->rows, at->again ? at->rows : own->data, bytes);
        return federated_round(engine, released, error);
    }
    if (own_step(engine->plan) == STEP_BEFORE && !at->again && solve_own(engine, at->round, error) != 0)
        return -1;
    return step_send_message(engine, released, error);
}

/* The server goes on, so the round before is over. Rows that come with the next one are taken first or afterwards. */
static int party_after(struct engine *engine, const struct party_at *at, enum own_step when,
                       struct dpf_error *error)
{
    return at->round >= 0 && !at->again && own_step(engine->plan) == when && !remote_solves(engine->plan)
               ? solve_own(engine, at->round, error)
               : 0;
}

/* The next round, or the end: 1. */
static int party_next(struct engine *engine, struct party_at *at, struct dpf_error *error)
{
    const struct engine_remote *remote = engine->remote;
    struct side_factors *factors = &engine->model->sides[remote_side(engine->plan)];
    const struct remote_rows rows =
        remote_floats(factors->data, factors->rows, engine->model->stride, engine->model->columns);
    int64_t round = 0;
    const int over = remote->await(remote->context, &round, error);
    if (over < 0)
        return -1;
    at->again = !over && round == at->round;
    if (party_after(engine, at, STEP_AFTER, error) != 0)
        return error_while_running(error);
    if (remote->take(remote->context, &rows, error) != 0)
        return -1;
    if (party_after(engine, at, STEP_WITH_NEXT_ROWS, error) != 0)
        return error_while_running(error);
    if (!over)
        at->round = round;
    return over;
}

/* The party's own rows for the last released ones. */
static int party_end(struct engine *engine, int64_t last, struct dpf_error *error)
{
    if (remote_solves(engine->plan))
        return refit(engine, error);
    return own_step(engine->plan) == STEP_BEFORE ? solve_own(engine, last, error) : finish(engine, error);
}

/* Rounds that a party has not heard of are rounds in which it has not solved its row. */
static int party_rounds(struct engine *engine, struct dpf_error *error)
{
    const struct side_factors *own = &engine->model->sides[1 - remote_side(engine->plan)];
    struct party_at at = {.round = -1};
    int over = 0;
    if (remote_solves(engine->plan) &&
        !(at.rows = memory_raw((size_t)(own->rows * engine->model->stride), sizeof *at.rows)))
        return error_memory(error);
    while (!over && (over = party_next(engine, &at, error)) == 0) {
        if (party_round(engine, &at, error) != 0)
            over = error_while_running(error);
        engine->stats->rounds_done += !at.again;
    }
    free(at.rows);
    if (over < 0)
        return -1;
    if (party_end(engine, at.round < 0 ? 0 : at.round, error) != 0 ||
        return_rows(engine, DPF_SIDE_USERS, error) != 0 || return_rows(engine, DPF_SIDE_ITEMS, error) != 0)
        return error_while_running(error);
    return 0;
}

/* ---- the run ------------------------------------------------------------------------------------------ */

static int all_rounds(struct engine *engine, const struct engine_hooks *hooks, struct dpf_error *error)
{
    const struct plan *plan = engine->plan;
    const int64_t rounds = plan->run.params.values[RUN_ROUNDS].integer;
    const struct checkpoint *checkpoint = engine->checkpoint;
    const int over = checkpoint && checkpoint->over;
    engine->round = checkpoint ? checkpoint->round : 0;
    engine->stats->rounds_done = checkpoint ? checkpoint->done : 0;
    for (; engine->round < rounds && !over; engine->round++) {
        /* The round has been charged, and is on the disk as begun, before anything of it is seen. */
        if (checkpoint && checkpoint_write(checkpoint, engine, 0, error) != 0)
            return -1;
        if (one_round(engine, error) != 0)
            return error_while_running(error);
        engine->stats->rounds_done++;
        const int wish = hooks && hooks->round_done
                             ? hooks->round_done(hooks->context, engine->round, engine->model, error)
                             : 0;
        if (wish < 0)
            return -1;
        if (wish > 0)
            break;
    }
    if (rounds == 0)
        return 0;
    if (checkpoint && checkpoint->keeps_end && !over && checkpoint_write(checkpoint, engine, 1, error) != 0)
        return -1;
    if (refit(engine, error) != 0 || finish(engine, error) != 0 ||
        return_rows(engine, DPF_SIDE_USERS, error) != 0 || return_rows(engine, DPF_SIDE_ITEMS, error) != 0)
        return error_while_running(error);
    return 0;
}

/* Solvers know rows by number, readers of the message by id: "user row 7" becomes user "alice". Rows of a
   projected space have none. */
static void name_row(const struct engine *engine, struct dpf_error *error)
{
    for (int side = 0; side < 2; side++) {
        const char *head = side == DPF_SIDE_USERS ? "user row " : "item row ";
        const struct id_map *ids = side == DPF_SIDE_USERS ? &engine->dataset->users : &engine->dataset->items;
        const char *at = strstr(error->text, head);
        const size_t digits = at ? strspn(at + strlen(head), "0123456789") : 0;
        if (digits == 0 || digits > 10 || engine->plan->sides[side].state_transform)
            continue;
        const long long row = strtoll(at + strlen(head), NULL, 10);
        if (row >= ids->n)
            continue;
        char shown[TEXT_SHOWN];
        struct dpf_error named = {.fault = error->fault};
        snprintf(named.text, sizeof named.text, "%.*s%.4s \"%s\"%s", (int)(at - error->text), error->text,
                 head, text_show(id_map_text(ids, row), shown), at + strlen(head) + digits);
        *error = named;
    }
}

static int engine_open(struct engine *engine, struct dpf_error *error)
{
    engine->item_features = feature_table_view(&engine->dataset->features, &engine->feature_view);
    memset(engine->stats, 0, sizeof *engine->stats);
    make_workers(engine);
    if (parties_make(&engine->parties, engine->plan, engine->dataset, step_own_party(engine), error) != 0 ||
        step_open_violations(engine, error) != 0)
        return -1;
    for (int which = 0; which < 2; which++)
        if (make_terms(engine, which, error) != 0)
            return -1;
    return 0;
}

static int restore(struct engine *engine, const struct engine_hooks *hooks, struct dpf_error *error)
{
    return checkpoint_restore(engine->checkpoint, engine, error) == 0
               ? hooks->restored(hooks->context, engine->model, error)
               : -1;
}

/* What the ranks count, each its own. */
static int add_up_stats(struct engine_stats *stats, struct dpf_error *error)
{
    int64_t counts[] = {(int64_t)stats->bytes_up, (int64_t)stats->bytes_down, stats->messages};
    if (ranks_sum(counts, 3, error) != 0)
        return -1;
    stats->bytes_up = (uint64_t)counts[0];
    stats->bytes_down = (uint64_t)counts[1];
    stats->messages = counts[2];
    return 0;
}

static int train(struct plan *plan, const struct dataset *dataset, struct pool *pool, struct model *model,
                 const struct engine_hooks *hooks, struct engine_stats *stats, struct dpf_error *error)
{
    struct engine engine = {.plan = plan, .dataset = dataset, .pool = pool, .model = model, .stats = stats};
    const struct observer *observer = hooks ? hooks->observer : NULL;
    struct noise_counter counter = {0};
    struct pool *alone = NULL;
    int status = 0;
    engine.remote = hooks ? hooks->remote : NULL;
    engine.checkpoint = hooks ? hooks->checkpoint : NULL;
    if (!observer && noise_counter_wanted(&engine)) {
        observer = &counter.observer;
        status = noise_counter_open(&counter, &engine, error);
        engine.pool = alone = pool_new(1);
    }
    if (status == 0)
        status = engine_open(&engine, error);
    if (status == 0)
        status = observed_open(&engine, observer, error);
    if (engine.checkpoint && engine.checkpoint->resumes)
        status = ranks_agree(status, error) == 0 ? restore(&engine, hooks, error) : -1;
    if (status == 0)
        status =
            step_own_party(&engine) >= 0 ? party_rounds(&engine, error) : all_rounds(&engine, hooks, error);
    if (status == 0)
        status = add_up_stats(stats, error);
    if (status != 0)
        name_row(&engine, error);
    sum_times(&engine);
    noise_counter_close(&counter, stats);
    status = step_close_violations(&engine, hooks ? hooks->violations : NULL, status, error);
    engine_close(&engine);
    pool_free(alone);
    return status;
}

int engine_fit_side(struct plan *plan, const struct dataset *dataset, struct pool *pool, struct model *model,
                    int side, int64_t passes, struct dpf_error *error)
{
    struct engine_stats *stats = memory_need(1, sizeof *stats);
    struct engine engine = {.plan = plan, .dataset = dataset, .pool = pool, .model = model, .stats = stats};
    int status = engine_open(&engine, error);
    for (engine.round = 0; engine.round < passes && status == 0; engine.round++) {
        status = side_step(&engine, side, error);
        if (status == 0)
            take_next(&engine, side);
    }
    if (status == 0)
        status = return_rows(&engine, side, error);
    if (status != 0)
        name_row(&engine, error);
    status = step_close_violations(&engine, NULL, status, error);
    engine_close(&engine);
    free(stats);
    return status;
}

const struct model_work factorization_work = {factorization_open, train, factorization_form};
