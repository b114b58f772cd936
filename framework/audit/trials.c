/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/trials.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/reports.h"
#include "audit/score.h"
#include "plan/plan_make.h"
#include "plan/release.h"

#define MAX_NUMBERS 4096
#define MAX_ROWS 32

static int any_term(const struct plan *plan, int (*test)(const struct plan *, const struct term_plan *))
{
    int found = 0;
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < plan->sides[side].n_terms; t++)
            found |= test(plan, &plan->sides[side].terms[t]);
    return found;
}

static enum observe_view resolve_view(const struct plan *plan, enum observe_view wanted)
{
    if (wanted != OBSERVE_AUTO)
        return wanted;
    for (int side = 0; side < 2; side++)
        if (plan->sides[side].updated && plan->sides[side].solve_at == SOLVE_AT_PARTY)
            return OBSERVE_ROWS;
    return any_term(plan, plan_sees_messages) ? OBSERVE_MESSAGES : OBSERVE_SUMS;
}

static void watch_row(struct trials *trials, int32_t row)
{
    for (int64_t i = 0; i < trials->n_watched; i++)
        if (trials->watched[i] == row)
            return;
    if (trials->n_watched < MAX_ROWS)
        trials->watched[trials->n_watched++] = row;
}

/* Rows of the released side that the canary is in, its items' or its user's; and others, which may tell of it
   where releases read private factors. */
static void watch_rows(struct trials *trials)
{
    const struct plan *plan = trials->plan;
    const struct csr *csr = &trials->sets[0].train.by_user;
    const struct canary *canary = &trials->canary;
    const int by_user = !plan->sides[DPF_SIDE_ITEMS].released;
    const int64_t rows = by_user ? csr->rows : trials->sets[0].items.n;
    if (by_user)
        watch_row(trials, canary->user);
    for (int64_t i = csr->ptr[canary->user]; i < csr->ptr[canary->user + 1] && !by_user; i++)
        if (canary->item < 0 || csr->others[i] == canary->item)
            watch_row(trials, csr->others[i]);
    for (int64_t row = 0; row < rows; row++)
        watch_row(trials, (int32_t)row);
}

/* ---- recommenders ------------------------------------------------------------------------------------- */

static int watch(const struct trials *trials, struct pool *pool, int set, enum observe_force force,
                 const struct trace *given, struct trace *out, struct dpf_error *error)
{
    const struct observe request = {.plan = trials->plan,
                                    .dataset = &trials->sets[set],
                                    .pool = pool,
                                    .view = trials->view,
                                    .user = trials->canary.user,
                                    .item = trials->canary.item,
                                    .force = force,
                                    .watched = trials->watched,
                                    .n_watched = given ? 0 : trials->n_watched,
                                    .given = given};
    return observe_run(&request, out, error);
}

/*
 * Whether scores can be ratios of likelihoods. A draw that is hidden from the observer is part of the exact
 * values, which a score may then not use.
 */
static int find_laws(struct trials *trials, struct dpf_error *error)
{
    const struct recommender_plan *recommender = &trials->plan->recommender;
    struct trace trace;
    trials->has_laws = 0;
    for (int32_t r = 0; r < recommender->n_releases; r++) {
        const dpf_sampling *sampling = &recommender->releases[r].event.sampling;
        if (sampling->kind != DPF_SAMPLING_NONE && sampling->hidden_from >= trials->plan->guarantee.observer)
            return 0;
    }
    struct pool *pool = pool_new(1);
    int status = trials_rekey(trials->plan, "laws", 0, error);
    if (status == 0)
        status = watch(trials, pool, 0, FORCE_NOTHING, NULL, &trace, error);
    pool_free(pool);
    if (status != 0)
        return -1;
    trials->has_laws = score_has_laws(trials->plan, &trace);
    trace_free(&trace);
    return 0;
}

int trials_sees_reports(const struct plan *plan)
{
    int seen = 0;
    for (int32_t r = 0; r < plan->recommender.n_releases; r++)
        seen |= (plan->recommender.releases[r].flags & DPF_RELEASE_ROW_OF_USER) != 0;
    return seen;
}

/* Without laws: what the canary's user reports of the items that differ. */
static int prepare_reports(struct trials *trials, enum observe_view wanted, struct dpf_error *error)
{
    const struct dataset *const sets[2] = {&trials->sets[0], &trials->sets[1]};
    trials->view = trials_sees_reports(trials->plan) ? OBSERVE_MESSAGES : OBSERVE_SUMS;
    if (wanted != OBSERVE_AUTO && wanted != trials->view)
        return error_set(error, DPF_FAULT_CONFIG, "[audit] view: of this recommender %s looked at: use %s",
                         trials->view == OBSERVE_SUMS ? "sums are" : "what its users send is",
                         trials->view == OBSERVE_SUMS ? "sums" : "messages");
    trials->hidden = 0;
    trials->n_watched = trials->n_numbers = 0;
    if (!trials->laws_known && find_laws(trials, error) != 0)
        return -1;
    trials->laws_known = 1;
    trials->by_reports = !trials->has_laws;
    if (trials->has_laws)
        return 0;
    if (trials->view == OBSERVE_SUMS)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "recommender %s does not tell its sums without noise (dpf_witnessed.exact), or states "
            "noise of a law that audits do not know, or draws users in secret: its sums cannot "
            "be audited",
            trials->plan->model_facts.id);
    trials->n_watched = trials->canary.user < 0
                            ? 0
                            : reports_differ(sets, trials->canary.user, trials->watched, TRIALS_MAX_WATCHED);
    trials->n_numbers = trials->n_watched;
    return trials->n_numbers > 0
               ? 0
               : error_set(error, DPF_FAULT_CONFIG,
                           "[audit]: recommenders read which items a user has, and the two "
                           "data sets do not differ in that; use [privacy] adjacency = flip");
}

int trials_prepare(struct trials *trials, enum observe_view wanted, struct dpf_error *error)
{
    const struct plan *plan = trials->plan;
    trials->by_reports = 0;
    if (plan_has(plan, MODEL_TELLS))
        return prepare_reports(trials, wanted, error);
    trials->view = resolve_view(plan, wanted);
    trials->hidden = any_term(plan, plan_hides_draw);
    trials->n_watched = trials->n_numbers = 0;
    if (trials->hidden && trials->canary.user < 0)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "a sampler's draw is hidden from the observer, so the audit must know whose: name the "
            "unit that differs with [audit] user (and item)");
    if (trials->view != OBSERVE_ROWS)
        return 0;
    if (trials->canary.user < 0)
        return error_set(error, DPF_FAULT_CONFIG,
                         "view = rows watches the rows of the canary: name it with [audit] user and item");
    watch_rows(trials);
    if (plan->sides[0].released && plan->sides[1].released)
        return error_set(error, DPF_FAULT_CONFIG, "view = rows needs one released side; both are: use sums");
    const int64_t a_round = trials->n_watched * plan->columns;
    const int64_t rounds = plan->run.params.values[RUN_ROUNDS].integer;
    const int64_t kept = rounds * a_round > MAX_NUMBERS ? MAX_NUMBERS / a_round : rounds;
    trials->n_numbers = kept * a_round;
    return trials->n_numbers > 0 ? 0
                                 : error_set(error, DPF_FAULT_CONFIG,
                                             "view = rows has nothing to look at: no side is released");
}

void trials_free(struct trials *trials)
{
    dataset_free(&trials->sets[0]);
    dataset_free(&trials->sets[1]);
}

int trials_rekey(struct plan *plan, const char *name, int64_t number, struct dpf_error *error)
{
    char domain[96];
    snprintf(domain, sizeof domain, "audit %s %lld", name, (long long)number);
    return plan_rekey(plan, domain, error);
}

/* The score where the canary's draw is hidden: what was seen, replayed with the canary drawn in each round,
   with both data sets, and with it left out. */
static int score_hidden(const struct trials *trials, struct pool *pool, const struct trace *seen, double *out,
                        struct dpf_error *error)
{
    const struct trace nothing = {.n_rows = 0};
    struct trace in[2] = {nothing, nothing}, without = nothing;
    int status = watch(trials, pool, 0, FORCE_IN, seen, &in[0], error);
    if (status == 0)
        status = watch(trials, pool, 1, FORCE_IN, seen, &in[1], error);
    if (status == 0)
        status = watch(trials, pool, 0, FORCE_OUT, seen, &without, error);
    const struct explanation two[2] = {{&in[0], &without}, {&in[1], &without}};
    if (status == 0)
        *out = score_ratio(trials->plan, seen, two);
    trace_free(&in[0]);
    trace_free(&in[1]);
    trace_free(&without);
    return status;
}

static int score_known(const struct trials *trials, struct pool *pool, const struct trace *seen, int own,
                       double *out, struct dpf_error *error)
{
    struct trace other = {0};
    if (watch(trials, pool, 1 - own, FORCE_NOTHING, seen, &other, error) != 0)
        return -1;
    const struct explanation two[2] = {{own == 0 ? seen : &other, NULL}, {own == 0 ? &other : seen, NULL}};
    *out = score_ratio(trials->plan, seen, two);
    trace_free(&other);
    return 0;
}

/* Of the numbers of all rounds the last ones. */
static int take_numbers(const struct trials *trials, const struct trace *seen, double *out,
                        struct dpf_error *error)
{
    if ((int64_t)seen->n_rows < trials->n_numbers)
        return error_set(error, DPF_FAULT_RUN, "a training released fewer rows than were planned");
    const float *from = seen->rows + (seen->n_rows - (size_t)trials->n_numbers);
    for (int64_t i = 0; i < trials->n_numbers; i++)
        out[i] = (double)from[i];
    return 0;
}

static int run_reports(const struct trials *trials, struct pool *pool, int set, double *out,
                       struct dpf_error *error)
{
    struct reported cells[TRIALS_MAX_WATCHED];
    for (int64_t i = 0; i < trials->n_watched; i++)
        cells[i] = (struct reported){trials->canary.user, trials->watched[i], &out[i]};
    return reports_run(trials->plan, &trials->sets[set], pool, cells, trials->n_watched, error);
}

int trials_run(struct trials *trials, struct pool *pool, int set, int64_t number, double *out,
               struct dpf_error *error)
{
    struct trace seen;
    if (trials_rekey(trials->plan, set ? "second" : "first", number, error) != 0)
        return -1;
    if (trials->by_reports)
        return run_reports(trials, pool, set, out, error);
    if (watch(trials, pool, set, FORCE_NOTHING, NULL, &seen, error) != 0)
        return -1;
    const int status = trials->view == OBSERVE_ROWS ? take_numbers(trials, &seen, out, error)
                       : trials->hidden             ? score_hidden(trials, pool, &seen, out, error)
                                                    : score_known(trials, pool, &seen, set, out, error);
    trace_free(&seen);
    return status;
}

int trials_pair(struct trials *trials, struct pool *pool, int64_t number, struct trace *first,
                struct trace *second, struct dpf_error *error)
{
    if (trials_rekey(trials->plan, "candidate", number, error) != 0 ||
        watch(trials, pool, 0, FORCE_IN, NULL, first, error) != 0)
        return -1;
    if (watch(trials, pool, 1, FORCE_IN, first, second, error) == 0)
        return 0;
    trace_free(first);
    return -1;
}

int trials_distance(struct trials *trials, struct pool *pool, int64_t number, double *out,
                    struct dpf_error *error)
{
    struct trace first, second;
    *out = (double)trials->n_watched;
    if (trials->by_reports)
        return 0;
    if (trials_pair(trials, pool, number, &first, &second, error) != 0)
        return -1;
    *out = score_distance(trials->plan, &first, &second);
    trace_free(&first);
    trace_free(&second);
    return 0;
}
