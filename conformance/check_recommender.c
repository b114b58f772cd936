/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of recommenders: what is declared, how training is spread, what a state may be, and what scores read.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "conformance/check_replay.h"
#include "conformance/check_scenario.h"
#include "score/scorer.h"

#define N_USERS 130 /* neither they nor the items fill whole words of bits */
#define N_ITEMS 70

static const dpf_recommender *table(const struct instance *instance)
{
    return instance->functions;
}

/* ---- inputs -------------------------------------------------------------------------------------------- */

struct record_inputs {
    unsigned char has[N_USERS][N_ITEMS]; /* 0: no record, else its value */
    int64_t user_offsets[N_USERS + 2], item_offsets[N_ITEMS + 1];
    int32_t items[N_USERS * N_ITEMS], users[N_USERS * N_ITEMS];
    float user_values[N_USERS * N_ITEMS], item_values[N_USERS * N_ITEMS];
    dpf_interactions records;
    dpf_recommender_setup setup;
    dpf_recommender_release releases[DPF_MAX_RELEASES];
    int32_t n_releases;
    uint64_t state_bytes;
};

static void index_records(struct record_inputs *in, int explicit_values)
{
    int64_t n = 0, m = 0;
    for (int u = 0; u < N_USERS; u++) {
        for (int i = 0; i < N_ITEMS; i++)
            if (in->has[u][i]) {
                in->user_values[n] = in->has[u][i];
                in->items[n++] = i;
            }
        in->user_offsets[u + 1] = n;
    }
    for (int i = 0; i < N_ITEMS; i++) {
        for (int u = 0; u < N_USERS; u++)
            if (in->has[u][i]) {
                in->item_values[m] = in->has[u][i];
                in->users[m++] = u;
            }
        in->item_offsets[i + 1] = m;
    }
    in->records = (dpf_interactions){
        .size = sizeof in->records,
        .n_users = N_USERS,
        .n_items = N_ITEMS,
        .n = n,
        .by_user = {N_USERS, in->user_offsets, in->items, explicit_values ? in->user_values : NULL},
        .by_item = {N_ITEMS, in->item_offsets, in->users, explicit_values ? in->item_values : NULL}};
}

static void start_releases(struct record_inputs *in)
{
    memset(in->releases, 0, sizeof in->releases);
    for (int r = 0; r < DPF_MAX_RELEASES; r++) {
        dpf_event *event = &in->releases[r].event;
        event->count = 1;
        event->lifetime = DPF_LIFETIME_ROUND;
        event->sampling =
            (dpf_sampling){.unit = DPF_UNIT_USER, .hidden_from = -1, .rate = 1, .weight_max = 1};
        for (int unit = 0; unit < DPF_N_UNITS; unit++)
            for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
                event->sensitivity.at[unit][adjacency] = (dpf_norms){(double)NAN, (double)NAN, (double)NAN};
    }
}

static int ask_releases(struct record_inputs *in, struct instance *instance, struct dpf_error *error)
{
    start_releases(in);
    in->n_releases = 0;
    dpf_status status = table(instance)->releases(instance->self, &in->setup, in->releases, DPF_MAX_RELEASES,
                                                  &in->n_releases);
    return instance_result(instance, status, "releases", error);
}

/* Records of two tastes; as interactions, or, if the component does not read such, as ratings 1 to 5. */
static struct record_inputs *make_inputs(struct check *check, struct instance *instance)
{
    struct check_source source = {check->seed};
    struct record_inputs *in = check_keep(check, sizeof *in);
    struct dpf_error error = {0};
    if (!in)
        return NULL;
    for (int u = 0; u < N_USERS; u++)
        for (int i = 0; i < N_ITEMS; i++)
            if (check_uniform(&source, 0, 1) < (u % 2 == i % 2 ? 0.4 : 0.1))
                in->has[u][i] = (unsigned char)(1 + check_next(&source) % 5);
    for (int explicit_values = 0; explicit_values < 2; explicit_values++) {
        in->setup =
            (dpf_recommender_setup){.size = sizeof in->setup,
                                    .parties = DPF_PARTIES_USERS,
                                    .n_users = N_USERS,
                                    .n_items = N_ITEMS,
                                    .value_lo = 1,
                                    .value_hi = explicit_values ? 5 : 1,
                                    .noise_factor = 1,
                                    .adjacency = explicit_values ? DPF_ADJ_REPLACE_VALUE : DPF_ADJ_FLIP};
        index_records(in, explicit_values);
        if (ask_releases(in, instance, &error) == 0 &&
            table(instance)->state_bytes(instance->self, N_USERS, N_ITEMS, &in->state_bytes) == DPF_OK)
            return in;
    }
    check_skip(check, "releases fails on the kit's inputs: %.400s", error.text);
    return NULL;
}

/* ---- training as a host does it
 * ---------------------------------------------------------------------------- */

/* Who runs fit's tasks: the caller alone, a pool, or all workers' numbers in turn, the last task first. */
enum spread { SPREAD_NOT, SPREAD_POOL, SPREAD_TURNS };

static void take_turns_backwards(const dpf_call *call, int64_t n_tasks, dpf_task task, void *context)
{
    for (int64_t i = n_tasks; i-- > 0;)
        task(context, i, (int32_t)(i % call->n_workers));
}

struct heard_sums;

/* state is zero at first, as a host hands it over. heard: what is added up over processes; or NULL. */
static dpf_status fit_with(const struct record_inputs *in, struct instance *instance, struct worker *worker,
                           enum spread spread, struct pool *pool, struct heard_sums *heard,
                           dpf_status (*add_up)(void *processes, int64_t *values, int64_t n), void *state,
                           uint64_t *used)
{
    dpf_fit fit = {.size = sizeof fit,
                   .setup = &in->setup,
                   .records = &in->records,
                   .state = state,
                   .state_bytes = in->state_bytes,
                   .processes = heard,
                   .add_up = add_up};
    dpf_call *call = worker_call(worker, instance, 0, 0, DPF_PARTY_AGGREGATE);
    if (spread == SPREAD_POOL)
        worker_lend_pool(worker, pool);
    else if (spread == SPREAD_TURNS)
        call->run_tasks = take_turns_backwards;
    const dpf_status status = table(instance)->fit(instance->self, call, &fit);
    if (used)
        *used = fit.state_bytes;
    return status == DPF_OK && fit.state_bytes > in->state_bytes ? DPF_E_INTERNAL : status;
}

static dpf_status fit_into(const struct record_inputs *in, struct instance *instance, struct worker *worker,
                           enum spread spread, struct pool *pool, void *state, uint64_t *used)
{
    return fit_with(in, instance, worker, spread, pool, NULL, NULL, state, used);
}

static dpf_status fit_alone(const struct record_inputs *in, struct instance *instance, struct worker *worker,
                            void *state)
{
    return fit_into(in, instance, worker, SPREAD_NOT, NULL, state, NULL);
}

/* A kept state, or NULL with the rule failed; *used of its bytes are the state. */
static void *fitted_in(struct check *check, const struct record_inputs *in, struct instance *instance,
                       uint64_t *used)
{
    struct dpf_error error = {0};
    struct worker *own = worker_new(0, 1);
    void *state = check_keep(check, (size_t)in->state_bytes);
    dpf_status status =
        own && state ? fit_into(in, instance, own, SPREAD_NOT, NULL, state, used) : DPF_E_MEMORY;
    worker_free(own);
    if (instance_result(instance, status, "fit", &error) == 0)
        return state;
    check_fail(check, "%.400s", error.text);
    return NULL;
}

static void *fitted(struct check *check, const struct record_inputs *in, struct instance *instance)
{
    return fitted_in(check, in, instance, NULL);
}

/* ---- scenarios: what rules for all roles run
 * ------------------------------------------------------------------ */

struct score_inputs {
    struct record_inputs *in;
    void *state;
};

/* As the host does it. DPF_E_RANGE: it does not take the form. */
static dpf_status score_by_form(struct instance *instance, const dpf_call *call, const dpf_scoring *scoring)
{
    const dpf_interactions *records = scoring->records;
    const struct csr by_user = {.rows = records->by_user.rows,
                                .ptr = (int64_t *)(uintptr_t)records->by_user.offsets,
                                .others = (int32_t *)(uintptr_t)records->by_user.others,
                                .values = (float *)(uintptr_t)records->by_user.values};
    struct scorer scorer = {.records = &by_user};
    struct score_desk desk = {.user = 0};
    struct dpf_error error = {0};
    double scores[N_ITEMS];
    dpf_form form = {.size = sizeof form};
    dpf_status status = table(instance)->form(instance->self, call, records->n_users, records->n_items,
                                              scoring->state, &form);
    if (status == DPF_OK &&
        (score_form_read(&form, records->n_items, records->n_users, "form", DPF_FAULT_PLUGIN, &scorer.form,
                         &error) != 0 ||
         scorer_open(&scorer, &error) != 0 ||
         scorer_scores(&scorer, &desk, scoring->user, NULL, N_ITEMS, scores, &error) != 0))
        status = DPF_E_RANGE;
    for (int i = 0; i < N_ITEMS && status == DPF_OK; i++)
        scoring->scores[i] = (float)scores[i];
    scorer_close(&scorer);
    score_desk_free(&desk);
    return status;
}

static dpf_status score_user(const struct score_inputs *inputs, struct instance *instance,
                             struct worker *worker, int32_t user, float *scores)
{
    const dpf_scoring scoring = {.size = sizeof scoring,
                                 .user = user,
                                 .records = &inputs->in->records,
                                 .state = inputs->state,
                                 .scores = scores};
    const dpf_call *call = worker_call(worker, instance, 0, 0, (uint32_t)user);
    return table(instance)->form ? score_by_form(instance, call, &scoring)
                                 : table(instance)->scores(instance->self, call, &scoring);
}

static dpf_status run_scores(const struct scenario *scenario, struct worker *worker, int64_t first,
                             int64_t count, void *out)
{
    for (int64_t k = 0; k < count; k++) {
        dpf_status status = score_user(scenario->data, scenario->instance, worker, (int32_t)(first + k),
                                       (float *)out + k * N_ITEMS);
        if (status != DPF_OK)
            return status;
    }
    return DPF_OK;
}

static dpf_status run_fit(const struct scenario *scenario, struct worker *worker, int64_t first,
                          int64_t count, void *out)
{
    (void)first, (void)count;
    return fit_alone(scenario->data, scenario->instance, worker, out);
}

static int finite_scores(const struct scenario *scenario, const void *out)
{
    return check_finite_f(out, scenario->n * N_ITEMS);
}

int check_recommender_scenario(struct check *check, int index, struct scenario *out)
{
    if (index > 1)
        return 0;
    struct instance *instance = check_instance(check);
    struct record_inputs *in = instance ? make_inputs(check, instance) : NULL;
    if (!in)
        return -1;
    if (index == 0) {
        *out = (struct scenario){.name = "fit",
                                 .n = 1,
                                 .unit_bytes = (size_t)in->state_bytes,
                                 .one_by_one = 1,
                                 .instance = instance,
                                 .data = in,
                                 .run = run_fit};
        return in->state_bytes ? 1 : -1;
    }
    struct score_inputs *inputs = check_keep(check, sizeof *inputs);
    if (!inputs)
        return -1;
    *inputs = (struct score_inputs){in, fitted(check, in, instance)};
    *out = (struct scenario){.name = "scores",
                             .n = N_USERS,
                             .unit_bytes = N_ITEMS * sizeof(float),
                             .strict = 1,
                             .instance = instance,
                             .data = inputs,
                             .run = run_scores,
                             .finite = finite_scores};
    return inputs->state ? 1 : -1;
}

/* ---- releases ---- */

static void judge_release(struct check *check, const dpf_recommender_release *release)
{
    const dpf_event *event = &release->event;
    if (release->flags & ~DPF_RELEASE_FACTS)
        check_fail(check, "flags has an unknown bit");
    if (release->reads < DPF_READS_CONSTANTS || release->reads > DPF_READS_RAW)
        check_fail(check, "reads %d is not one of DPF_READS_*", (int)release->reads);
    if (release->noise_where < DPF_NOISE_NOWHERE || release->noise_where > DPF_NOISE_IN_SHARES)
        check_fail(check, "noise_where %d is not one of DPF_NOISE_*", (int)release->noise_where);
    if (release->sees != DPF_SEES_MESSAGES && release->sees != DPF_SEES_SUM)
        check_fail(check, "sees %d is not one of DPF_SEES_*", (int)release->sees);
    if (!memchr(release->name, '\0', sizeof release->name) || !*release->name ||
        !memchr(release->why, '\0', sizeof release->why))
        check_fail(check, "its name is empty, or a text has no end");
    if (event->kind < DPF_EVENT_NO_OP || event->kind > DPF_EVENT_CORRELATED_GAUSSIAN || event->count < 0)
        check_fail(check, "event kind %d, count %lld: not among those that exist", (int)event->kind,
                   (long long)event->count);
    if ((event->kind == DPF_EVENT_NON_PRIVATE) != (release->noise_where == DPF_NOISE_NOWHERE) &&
        event->kind != DPF_EVENT_NO_OP)
        check_fail(check, "noise_where and the kind of the event disagree on whether there is noise");
    for (int unit = 0; unit < DPF_N_UNITS; unit++)
        for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++) {
            const dpf_norms *norms = &event->sensitivity.at[unit][adjacency];
            if (norms->l1 < 0 || norms->l2 < 0 || norms->linf < 0)
                check_fail(check, "a sensitivity is negative");
        }
}

/* What an event costs, up to a function that grows; infinity without noise. NaN: not comparable. */
static double cost_of(const dpf_event *event)
{
    switch (event->kind) {
    case DPF_EVENT_NON_PRIVATE:
        return (double)INFINITY;
    case DPF_EVENT_LAPLACE:
    case DPF_EVENT_GAUSSIAN:
    case DPF_EVENT_DISCRETE_LAPLACE:
    case DPF_EVENT_DISCRETE_GAUSSIAN:
        return 1 / event->scale;
    case DPF_EVENT_PURE:
    case DPF_EVENT_APPROX:
        return event->p.pure.epsilon;
    case DPF_EVENT_RANDOMIZED_RESPONSE:
        return fabs(0.5 - event->p.response.flip);
    default:
        return (double)NAN;
    }
}

/* With another setup. 1 with its releases in `changed`. */
static int releases_for(struct check *check, struct instance *instance, const struct record_inputs *in,
                        double noise_factor, int without_noise, struct record_inputs *changed)
{
    struct dpf_error error = {0};
    *changed = *in;
    changed->setup.noise_factor = noise_factor;
    changed->setup.without_noise = without_noise;
    if (ask_releases(changed, instance, &error) == 0)
        return 1;
    check_fail(check, "the releases for noise_factor %g and without_noise %d: %.300s", noise_factor,
               without_noise, error.text);
    return 0;
}

/* Together: squares add up for noise of one kind. NaN: not comparable. */
static double cost_of_all(const struct record_inputs *in)
{
    double cost = 0;
    for (int r = 0; r < in->n_releases; r++)
        cost += pow(cost_of(&in->releases[r].event), 2);
    return cost;
}

/* More noise may lead to other releases, as where a budget is too small for one of them: then all of them count. */
static void compare_costs(struct check *check, const struct record_inputs *in,
                          const struct record_inputs *noisier)
{
    if (noisier->n_releases != in->n_releases) {
        if (cost_of_all(noisier) > cost_of_all(in))
            check_fail(check, "%d releases cost more with twice the noise than %d without",
                       (int)noisier->n_releases, (int)in->n_releases);
        return;
    }
    for (int r = 0; r < in->n_releases; r++)
        if (cost_of(&noisier->releases[r].event) > cost_of(&in->releases[r].event))
            check_fail(check, "release %d costs more with twice the noise", r);
}

static void rule_releases(struct check *check)
{
    struct instance *instance = check_instance(check);
    struct record_inputs *in = instance ? make_inputs(check, instance) : NULL;
    struct record_inputs *changed = in ? check_keep(check, sizeof *changed) : NULL;
    if (!changed)
        return;
    if (in->n_releases < 0 || in->n_releases > DPF_MAX_RELEASES) {
        check_fail(check, "%d releases where at most %d were asked for", (int)in->n_releases,
                   DPF_MAX_RELEASES);
        return;
    }
    for (int r = 0; r < in->n_releases; r++)
        judge_release(check, &in->releases[r]);
    if (releases_for(check, instance, in, 2, 0, changed))
        compare_costs(check, in, changed);
    if (releases_for(check, instance, in, 1, 1, changed))
        for (int r = 0; r < changed->n_releases; r++)
            if (changed->releases[r].event.kind != DPF_EVENT_NON_PRIVATE &&
                changed->releases[r].event.kind != DPF_EVENT_NO_OP)
                check_fail(check, "release %d is not declared as non-private in the twin without noise", r);
}

/* ---- what depends on what ---- */

static int differ(const void *a, const void *b, uint64_t bytes)
{
    return memcmp(a, b, (size_t)bytes) != 0;
}

/* A state that is published and depends on records is a release. */
static void rule_declared(struct check *check)
{
    struct instance *instance = check_instance(check);
    struct record_inputs *in = instance ? make_inputs(check, instance) : NULL;
    struct record_inputs *changed = in ? check_keep(check, sizeof *changed) : NULL;
    if (!changed)
        return;
    *changed = *in;
    for (int i = 0; i < N_ITEMS; i++)
        changed->has[0][i] = in->has[0][i] ? 0 : 1;
    index_records(changed, in->records.by_user.values != NULL);
    const void *before = fitted(check, in, instance), *after = fitted(check, changed, instance);
    if (!before || !after)
        return;
    if (in->n_releases == 0 && (table(instance)->flags(instance->self) & DPF_RECOMMENDER_STATE_RELEASED) &&
        differ(before, after, in->state_bytes))
        check_fail(check, "the state depends on records and is published, but no release is declared");
}

/* Noise that is declared is drawn from the host's streams: under another key the state is another one. */
static void rule_fresh(struct check *check)
{
    struct dpf_error error = {0};
    struct instance *instance = check_instance(check);
    struct record_inputs *in = instance ? make_inputs(check, instance) : NULL;
    if (!in)
        return;
    int noisy = 0;
    for (int r = 0; r < in->n_releases; r++)
        noisy |= in->releases[r].noise_where != DPF_NOISE_NOWHERE;
    if (!noisy) {
        check_skip(check, "no noise is declared");
        return;
    }
    struct random_root *key = check->privacy;
    check->privacy = random_root_seeded(check->seed + 1, "noise", &error);
    struct instance *other = check->privacy ? check_instance(check) : NULL;
    const void *before = fitted(check, in, instance), *after = other ? fitted(check, in, other) : NULL;
    if (before && after && !differ(before, after, in->state_bytes))
        check_fail(check, "noise is declared, but the state is the same under another key");
    struct random_root *second = check->privacy;
    check->privacy = key;
    check_finish(check); /* the other instance before its key */
    random_root_free(second);
}

/* ---- workers ---- */

static void compare_fit(struct check *check, const struct record_inputs *in, struct instance *instance,
                        const void *base, int n, enum spread spread)
{
    struct worker *worker = worker_new(0, n);
    struct pool *pool = pool_new(n);
    void *state = check_keep(check, (size_t)in->state_bytes);
    const char *how = spread == SPREAD_POOL ? "at once" : "in turn, the last task first";
    dpf_status status = DPF_E_MEMORY;
    if (worker && pool && state)
        status = fit_into(in, instance, worker, spread, pool, state, NULL);
    if (status != DPF_OK)
        check_fail(check, "fit fails with %d workers %s (status %d)", n, how, (int)status);
    else if (differ(base, state, in->state_bytes))
        check_fail(check, "the state differs with %d workers %s", n, how);
    worker_free(worker);
    pool_free(pool);
}

static void rule_workers(struct check *check)
{
    static const int counts[] = {1, 2, 7};
    struct instance *instance = check_instance(check);
    struct record_inputs *in = instance ? make_inputs(check, instance) : NULL;
    const void *base = in ? fitted(check, in, instance) : NULL;
    for (size_t i = 0; base && i < sizeof counts / sizeof counts[0]; i++) {
        compare_fit(check, in, instance, base, counts[i], SPREAD_TURNS);
        compare_fit(check, in, instance, base, counts[i], SPREAD_POOL);
    }
}

/* ---- processes ---- */

/* What is added up over processes, one call after the other: by all users together, then the part of some. */
struct heard_sums {
    int64_t *total, *part;
    size_t n, capacity, at; /* numbers; of the part, those that were heard */
    int failed;
};

static dpf_status hear_total(void *context, int64_t *values, int64_t n)
{
    struct heard_sums *heard = context;
    int64_t *grown = memory_grow(heard->total, &heard->capacity, heard->n + (size_t)n + 1, sizeof *grown);
    if (!grown)
        return DPF_E_MEMORY;
    heard->total = grown;
    memcpy(heard->total + heard->n, values, (size_t)n * sizeof *values);
    heard->n += (size_t)n;
    return DPF_OK;
}

/* Adds to the parts of others, and answers as if all had met. */
static dpf_status hear_part(void *context, int64_t *values, int64_t n)
{
    struct heard_sums *heard = context;
    if (heard->at + (size_t)n > heard->n) {
        heard->failed = 1;
        return DPF_E_INTERNAL;
    }
    for (int64_t i = 0; i < n; i++)
        heard->part[heard->at + (size_t)i] += values[i];
    memcpy(values, heard->total + heard->at, (size_t)n * sizeof *values);
    heard->at += (size_t)n;
    return DPF_OK;
}

/* Records of users first .. end-1; those of all others are other ones than they are, as are all by item. */
static void divide_records(const struct record_inputs *in, int64_t first, int64_t end,
                           struct record_inputs *out)
{
    *out = *in;
    for (int64_t u = 0; u < N_USERS; u++)
        for (int64_t i = in->user_offsets[u]; i < in->user_offsets[u + 1] && (u < first || u >= end); i++) {
            out->items[i] = (int32_t)(i - in->user_offsets[u]);
            out->user_values[i] = 1;
        }
    memset(out->users, 0, sizeof out->users);
    memset(out->item_offsets, 0, sizeof out->item_offsets);
    out->records.by_user.offsets = out->user_offsets;
    out->records.by_user.others = out->items;
    out->records.by_user.values = in->records.by_user.values ? out->user_values : NULL;
    out->records.by_item.offsets = out->item_offsets;
    out->records.by_item.others = out->users;
    out->records.divided = 1;
    out->records.first_user = first;
    out->records.end_user = end;
}

static void compare_part(struct check *check, const struct record_inputs *in, struct instance *instance,
                         struct heard_sums *heard, int64_t first, int64_t end, const void *whole)
{
    struct record_inputs *some = check_keep(check, sizeof *some);
    struct worker *worker = worker_new(0, 1);
    void *state = check_keep(check, (size_t)in->state_bytes);
    if (!some || !worker || !state) {
        worker_free(worker);
        return;
    }
    divide_records(in, first, end, some);
    heard->at = 0;
    const dpf_status status =
        fit_with(some, instance, worker, SPREAD_NOT, NULL, heard, hear_part, state, NULL);
    if (heard->failed || heard->at != heard->n)
        check_fail(check, "with some of the users it adds up other numbers than with all");
    else if (status != DPF_OK || differ(whole, state, in->state_bytes))
        check_fail(check, "with some of the users, and the sums of all, the state is another one");
    worker_free(worker);
}

/* Two processes, one after the other, each of which gets the sums that all users have together. */
static void rule_processes(struct check *check)
{
    struct instance *instance = check_instance(check);
    struct record_inputs *in = instance ? make_inputs(check, instance) : NULL;
    struct heard_sums heard = {0};
    if (!in)
        return;
    if (!(table(instance)->flags(instance->self) & DPF_RECOMMENDER_SUMS_USERS)) {
        check_skip(check, "it trains in one process (DPF_RECOMMENDER_SUMS_USERS is not set)");
        return;
    }
    struct worker *worker = worker_new(0, 1);
    void *whole = check_keep(check, (size_t)in->state_bytes);
    if (worker && whole &&
        fit_with(in, instance, worker, SPREAD_NOT, NULL, &heard, hear_total, whole, NULL) == DPF_OK &&
        (heard.part = memory_new(heard.n + 1, sizeof *heard.part))) {
        compare_part(check, in, instance, &heard, 0, N_USERS / 3, whole);
        compare_part(check, in, instance, &heard, N_USERS / 3, N_USERS, whole);
        if (heard.n > 0 && memcmp(heard.total, heard.part, heard.n * sizeof *heard.part) != 0)
            check_fail(check, "the sums of some users and of all others do not add up to those of all");
    }
    worker_free(worker);
    free(heard.total);
    free(heard.part);
}

/* ---- users without records ---- */

/* Whether every release states what a user who comes or goes moves, and none is declared to show their
 * number. */
static int states_users(const struct record_inputs *in)
{
    int all = in->n_releases > 0;
    for (int32_t r = 0; r < in->n_releases; r++) {
        const dpf_norms *norms = &in->releases[r].event.sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE];
        all &= !isnan(norms->l1) || !isnan(norms->l2);
        all &= !(in->releases[r].flags & (DPF_RELEASE_ROW_OF_USER | DPF_RELEASE_COUNTS_USERS));
    }
    return all;
}

/* A user who has no records sends nothing: only a number of users that is released as it is tells the two
   states apart. */
static void rule_users(struct check *check)
{
    struct instance *instance = check_instance(check);
    struct record_inputs *in = instance ? make_inputs(check, instance) : NULL;
    if (!in)
        return;
    if (!(table(instance)->flags(instance->self) & DPF_RECOMMENDER_STATE_RELEASED) || !states_users(in)) {
        check_skip(check, "no state is released for which a user may come or go");
        return;
    }
    in->setup.n_users = N_USERS + 1; /* a public bound that holds for both */
    const void *without = fitted(check, in, instance);
    in->user_offsets[N_USERS + 1] = in->user_offsets[N_USERS];
    in->records.n_users = in->records.by_user.rows = N_USERS + 1;
    const void *with = without ? fitted(check, in, instance) : NULL;
    if (with && differ(without, with, in->state_bytes))
        check_fail(check, "the released state differs with one user more who has no records: it holds the "
                          "exact number of users, or follows from it");
}

/* ---- states ---- */

static int accepts(struct instance *instance, int64_t n_users, int64_t n_items, const void *state,
                   uint64_t bytes)
{
    struct dpf_error ignored = {0};
    dpf_status status = table(instance)->check(instance->self, n_users, n_items, state, bytes);
    return instance_result(instance, status, "check", &ignored) == 0;
}

/* What check accepts, scores must survive: a crash here is the rule's. */
static void score_damaged(struct check *check, struct instance *instance, const struct score_inputs *inputs,
                          struct worker *worker)
{
    float *scores = check_keep(check, N_ITEMS * sizeof *scores);
    struct dpf_error ignored = {0};
    for (int32_t user = 0; scores && user < N_USERS; user += 43) {
        dpf_status status = score_user(inputs, instance, worker, user, scores);
        if (instance_result(instance, status, "scores", &ignored) == 0 && !check_finite_f(scores, N_ITEMS))
            check_fail(check, "check accepts a damaged state, and scores of it are not finite");
    }
}

static void rule_state(struct check *check)
{
    enum { DAMAGES = 200 };
    struct check_source source = {check->seed + 1};
    struct instance *instance = check_instance(check);
    struct record_inputs *in = instance ? make_inputs(check, instance) : NULL;
    uint64_t used = 0;
    unsigned char *state = in ? fitted_in(check, in, instance, &used) : NULL;
    if (!state)
        return;
    if (table(instance)->form) {
        check_skip(check, "the host saves and checks the arrays of its form");
        return;
    }
    if (!accepts(instance, N_USERS, N_ITEMS, state, used))
        check_fail(check, "check refuses a state of fit");
    if (used && accepts(instance, N_USERS, N_ITEMS, state, used - 1))
        check_fail(check, "check accepts a state that is a byte too short");
    uint64_t larger = 0;
    if (table(instance)->state_bytes(instance->self, N_USERS, N_ITEMS + 1, &larger) == DPF_OK &&
        larger != in->state_bytes && accepts(instance, N_USERS, N_ITEMS + 1, state, used))
        check_fail(check, "check accepts a state of fewer items");
    struct worker *worker = worker_new(0, 1);
    const struct score_inputs inputs = {in, state};
    for (int d = 0; d < DAMAGES && worker && used; d++) {
        const uint64_t at = check_next(&source) % used;
        const unsigned char was = state[at];
        state[at] = (unsigned char)check_next(&source);
        if (accepts(instance, N_USERS, N_ITEMS, state, used))
            score_damaged(check, instance, &inputs, worker);
        state[at] = was;
    }
    worker_free(worker);
}

/* ---- scores ---- */

/* Scores of user 0 with the records of `user` turned round, from one state. */
static void scores_without(struct check *check, struct instance *instance, const struct record_inputs *in,
                           void *state, int user, float *scores)
{
    struct dpf_error error = {0};
    struct record_inputs *changed = check_keep(check, sizeof *changed);
    struct worker *worker = worker_new(0, 1);
    if (!changed || !worker) {
        check_fail(check, "out of memory");
    } else {
        *changed = *in;
        for (int i = 0; i < N_ITEMS && user >= 0; i++)
            changed->has[user][i] = in->has[user][i] ? 0 : 1;
        index_records(changed, in->records.by_user.values != NULL);
        const struct score_inputs inputs = {changed, state};
        dpf_status status = score_user(&inputs, instance, worker, 0, scores);
        if (instance_result(instance, status, "scores", &error) != 0)
            check_fail(check, "%.400s", error.text);
    }
    worker_free(worker);
}

static void rule_reads(struct check *check)
{
    struct instance *instance = check_instance(check);
    struct record_inputs *in = instance ? make_inputs(check, instance) : NULL;
    void *state = in ? fitted(check, in, instance) : NULL;
    float *scores = state ? check_keep(check, 3 * N_ITEMS * sizeof *scores) : NULL;
    if (!scores)
        return;
    scores_without(check, instance, in, state, -1, scores);
    scores_without(check, instance, in, state, 1, scores + N_ITEMS);
    scores_without(check, instance, in, state, 0, scores + 2 * N_ITEMS);
    if (differ(scores, scores + N_ITEMS, N_ITEMS * sizeof *scores))
        check_fail(check, "a user's scores depend on another user's records, beside the state");
    if (differ(scores, scores + 2 * N_ITEMS, N_ITEMS * sizeof *scores) &&
        !(table(instance)->flags(instance->self) & DPF_RECOMMENDER_SCORES_AT_HOME))
        check_fail(check,
                   "scores read the user's own records, but DPF_RECOMMENDER_SCORES_AT_HOME is not set");
}

static const struct check_rule rules[] = {
    {"recommender.releases", DPF_ROLE_RECOMMENDER, rule_releases,
     "releases are possible ones, and say so where there is more noise or none"},
    {"recommender.declared", DPF_ROLE_RECOMMENDER, rule_declared,
     "a published state that depends on records is declared as a release"},
    {"recommender.fresh", DPF_ROLE_RECOMMENDER, rule_fresh, "declared noise comes from the host's streams"},
    {"recommender.witness", DPF_ROLE_RECOMMENDER, check_rule_witness,
     "a witness is told each release, with its noise and without, and changes nothing"},
    {"recommender.noise", DPF_ROLE_RECOMMENDER, check_rule_noise,
     "the noise of each number has the stated law and is its own"},
    {"recommender.moves", DPF_ROLE_RECOMMENDER, check_rule_moves,
     "no user or record moves a release further than stated, its noise, or anything beside the releases"},
    {"recommender.voids", DPF_ROLE_RECOMMENDER, check_rule_voids,
     "a void record's value shows nowhere, and a record that becomes void moves no more than stated"},
    {"recommender.messages", DPF_ROLE_RECOMMENDER, check_rule_messages,
     "each user's message moves by no more than stated and has its share of the noise"},
    {"recommender.workers", DPF_ROLE_RECOMMENDER, rule_workers,
     "1, 2 and 7 workers, and tasks in any order, give the same state"},
    {"recommender.processes", DPF_ROLE_RECOMMENDER, rule_processes,
     "sums of some users and of all others, added up, give the state of all"},
    {"recommender.users", DPF_ROLE_RECOMMENDER, rule_users,
     "a released state does not show the exact number of users"},
    {"recommender.state", DPF_ROLE_RECOMMENDER, rule_state,
     "check takes states of fit, refuses others, and scores survives what it takes"},
    {"recommender.reads", DPF_ROLE_RECOMMENDER, rule_reads,
     "scores read the state and, where that is declared, the user's own records"},
};
const struct check_rules check_recommender_rules = CHECK_RULES(rules);
