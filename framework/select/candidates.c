/* SPDX-License-Identifier: Apache-2.0 */
#include "select/candidates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/files.h"
#include "base/text.h"
#include "data/data_options_read.h"
#include "data/load.h"
#include "evaluate/evaluate.h"
#include "plan/plan_make.h"
#include "privacy/statement.h"
#include "run/session_warnings.h"
#include "sweep/sweep_point.h"

/* ---- one candidate ------------------------------------------------------------------------------------ */

void candidates_arguments(const struct candidates *candidates, int64_t i, struct arguments *out)
{
    const struct point *point = candidates->list[i].point;
    *out = candidates->arguments;
    if (point->variant) {
        out->layers = (const char *const *)point->variant->layers.texts;
        out->n_layers = (int)point->variant->layers.n;
    }
    out->settings = (const char *const *)point->settings;
    out->n_settings = point->n_settings;
    out->settings_directory = candidates->design.directory;
}

/* Sections in which candidates are alike: what protects whom, which records, and what they are judged by. */
static const char *const alike[] = {"privacy", "accountants", "data", "split", "parties", "evaluate"};

static int check_alike(const struct plan *first, const struct plan *plan, const char *name,
                       struct dpf_error *error)
{
    json_t *a = plan_resolved(first), *b = plan_resolved(plan);
    const char *differs = NULL;
    for (size_t i = 0; i < sizeof alike / sizeof *alike && !differs; i++)
        if (!json_equal(json_object_get(a, alike[i]), json_object_get(b, alike[i])))
            differs = alike[i];
    json_decref(a);
    json_decref(b);
    if (!differs && first->run.params.values[RUN_SEED].integer != plan->run.params.values[RUN_SEED].integer)
        differs = "run";
    return differs
               ? error_set(
                     error, DPF_FAULT_CONFIG,
                     "candidate %s changes [%s]%s. Candidates of [select] have the same records, the same "
                     "privacy and the same score: their axes and variants may set [model], [users], "
                     "[items], [run] rounds and components",
                     name, differs, strcmp(differs, "run") == 0 ? " seed" : "")
               : 0;
}

static int complete(struct session *session, const struct candidates *c, struct dpf_error *error)
{
    return plan_complete(&session->plan, c->users, c->items, error);
}

/* Sizes from the data, read once, where the configuration does not declare them. */
static int read_sizes(struct candidates *c, struct dpf_error *error)
{
    const struct plan *plan = &c->carrier.plan;
    const dpf_value *model = plan->model.params.values;
    c->users = c->items = -1;
    if (model[MODEL_USERS].integer && model[MODEL_ITEMS].integer)
        return 0;
    struct dataset dataset = {0};
    struct dpf_error unread = {0};
    int status = 0;
    struct pool *pool = pool_new(1);
    if (data_read_by_user(&plan->data, &plan->split, plan->seeded, pool, &dataset, &unread) == 0) {
        c->users = dataset.users.n;
        c->items = dataset.items.n;
    } else if ((status = interrupt_check("users and items were counted", error)) == 0) {
        log_message(
            LOG_LEVEL_WARNING,
            "the data cannot be read (%s); sizes are taken as unknown. [model] users and items declare them",
            unread.text);
    }
    dataset_free(&dataset);
    pool_free(pool); /* ends its threads: a process with threads must not fork */
    return status;
}

static int name_problem(const char *name, struct dpf_error *error)
{
    char text[sizeof error->text];
    snprintf(text, sizeof text, "candidate %.100s: %.600s", name, error->text);
    snprintf(error->text, sizeof error->text, "%s", text);
    return -1;
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

/* A condition fails if it fails for one candidate; the first of them says why. */
static void join_conditions(struct guarantee *all, const struct guarantee *one, const char *name)
{
    for (int i = 0; i < N_CONDITIONS; i++) {
        struct condition *into = &all->conditions[i];
        if (!into->holds || one->conditions[i].holds)
            continue;
        into->holds = 0;
        snprintf(into->why, sizeof into->why, "Candidate %.80s: %.500s", name, one->conditions[i].why);
    }
    all->joint |= one->joint;
    all->released_raw |= one->released_raw;
    all->n_releases = one->n_releases < all->n_releases ? one->n_releases : all->n_releases;
    all->zero_violations &= one->zero_violations;
    all->plan_holds &= one->plan_holds;
    all->run_holds &= one->run_holds;
}

/* The costliest candidate counts. */
static void note_alone(struct selection_summary *summary, struct candidate *candidate,
                       const struct guarantee *one)
{
    const struct account *least = statement_least(one);
    candidate->epsilon = statement_least_epsilon(one);
    if (isnan(candidate->epsilon) || (!isnan(summary->alone) && candidate->epsilon <= summary->alone))
        return;
    summary->alone = candidate->epsilon;
    snprintf(summary->alone_accountant, sizeof summary->alone_accountant, "%s", least->accountant);
}

static void add_events(struct ledger *all, const struct ledger *one, struct candidate *candidate)
{
    dpf_event event = {.kind = DPF_EVENT_CANDIDATE, .count = 1, .sensitivity = dpf_unstated()};
    char source[96];
    event.p.candidate.releases = (double)one->n;
    snprintf(source, sizeof source, "candidate %.84s", candidate->point->name);
    ledger_add(all, &event, source);
    candidate->first = all->n;
    candidate->n = one->n;
    for (int64_t i = 0; i < one->n; i++)
        ledger_add(all, &one->entries[i].event, one->entries[i].source);
}

/* What a run is made from, but where its results lie and how many threads it has. */
static int digest(const struct plan *plan, char hex[65], struct dpf_error *error)
{
    struct text text = {0};
    json_t *resolved = plan_resolved(plan), *run = json_object_get(resolved, "run");
    json_object_del(run, "output");
    json_object_del(run, "threads");
    json_object_del(run, "plugin-dir");
    char *configuration = resolved ? json_dumps(resolved, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    text_add(&text, "%s\n", configuration ? configuration : "");
    registry_add_used(plan->registry, &text);
    const int status = configuration ? 0 : error_memory(error);
    if (status == 0)
        files_hash_bytes(text.data, text.length, hex);
    text_free(&text);
    free(configuration);
    json_decref(resolved);
    return status;
}

/* Appends a candidate to what the certificate says. */
static int state_candidate(const struct candidates *c, const struct candidate *candidate,
                           const struct plan *plan, struct dpf_error *error)
{
    json_t *list = json_object_get(c->parts, "candidates");
    json_t *one = json_pack("{s:s, s:f, s:o}", "name", candidate->point->name, "noise_factor",
                            plan->guarantee.noise_factor > 0 ? plan->guarantee.noise_factor : 1.0,
                            "configuration", plan_stated(plan));
    return one && json_array_append_new(list, one) == 0 ? 0 : error_memory(error);
}

static int add_candidate(struct candidates *c, int64_t i, struct ledger *ledger, struct guarantee *guarantee,
                         struct dpf_error *error)
{
    struct candidate *candidate = &c->list[i];
    const char *name = candidate->point->name;
    struct session own = {0}, *session = i == 0 ? &c->carrier : &own;
    struct arguments *arguments = memory_need(1, sizeof *arguments);
    candidates_arguments(c, i, arguments);
    int status = session_open(session, arguments, 0, error);
    if (status == 0 && i == 0 && c->users == 0)
        status = read_sizes(c, error);
    if (status == 0 && i > 0)
        status = check_alike(&c->carrier.plan, &session->plan, name, error);
    if (status == 0 && complete(session, c, error) != 0)
        status = name_problem(name, error);
    if (status == 0)
        status = digest(&session->plan, candidate->digest, error);
    if (status == 0)
        add_events(ledger, &session->plan.ledger, candidate);
    if (status == 0)
        status = state_candidate(c, candidate, &session->plan, error);
    if (status == 0 && i == 0) {
        *guarantee = session->plan.guarantee;
        guarantee->accounts = NULL;
        guarantee->n_accounts = 0;
        guarantee->selection.alone = NAN;
    } else if (status == 0) {
        join_conditions(guarantee, &session->plan.guarantee, name);
    }
    if (status == 0)
        note_alone(&guarantee->selection, candidate, &session->plan.guarantee);
    session_close(&own);
    free(arguments);
    return status;
}

/* What the selection adds to the conditions. */
static void state_selection(const struct candidates *c, struct guarantee *guarantee)
{
    struct selection_summary *summary = &guarantee->selection;
    const struct repetitions *law = &c->options.law;
    summary->known = 1;
    summary->candidates = c->n;
    summary->share = c->share;
    summary->parts = c->parts;
    snprintf(summary->metric, sizeof summary->metric, "%s", c->options.metric);
    if (law->law == DPF_REPETITIONS_POISSON)
        snprintf(summary->law, sizeof summary->law, "%s, mean %.6g", c->options.law_name, law->mean);
    else
        snprintf(summary->law, sizeof summary->law, "%s, mean %.6g (eta %.6g, gamma %.6g)",
                 c->options.law_name, law->mean, law->eta, law->gamma);
    guarantee->noise_factor = 0.0; /* each candidate has its own */
    guarantee->tuning_stated = 1;
    for (int i = 0; i < N_CONDITIONS; i++) {
        struct condition *condition = &guarantee->conditions[i];
        if (strcmp(condition->id, "C10") == 0)
            snprintf(
                condition->why, sizeof condition->why,
                "Charged: which of %lld candidates is released follows from their released %.40s. Epsilon "
                "covers all runs and their scores, of a number drawn in secret (%.90s): Papernot, Steinke "
                "2022. "
                "This takes the list of candidates as made without the data.",
                (long long)c->n, summary->metric, summary->law);
        else if (strcmp(condition->id, "C12") == 0 && condition->holds)
            snprintf(condition->why + strlen(condition->why), sizeof condition->why - strlen(condition->why),
                     " Of a selection the time tells how many runs there were, which must stay secret.");
    }
    const size_t used = strlen(guarantee->taken_as_public);
    snprintf(guarantee->taken_as_public + used, sizeof guarantee->taken_as_public - used,
             "%sThe candidates, the law of the number of runs, and which metric decides.",
             used > 0 && guarantee->taken_as_public[used - 1] != '\n' ? "\n" : "");
}

static int add_all(struct candidates *c, struct ledger *ledger, struct guarantee *guarantee,
                   struct dpf_error *error)
{
    const dpf_event event = repetitions_event(&c->options.law, c->n);
    char source[96];
    snprintf(source, sizeof source, "private selection, %s, mean %.6g", c->options.law_name,
             c->options.law.mean);
    json_decref(c->parts);
    c->parts = json_pack("{s:s, s:s, s:f, s:f, s:f, s:[]}", "metric", c->options.metric, "repetitions",
                         c->options.law_name, "mean", c->options.law.mean, "eta", c->options.law.eta, "gamma",
                         c->options.law.gamma, "candidates");
    int status = 0;
    ledger_add(ledger, &event, source);
    for (int64_t i = 0; i < c->n && status == 0; i++)
        status = add_candidate(c, i, ledger, guarantee, error);
    return status;
}

/* Plans all candidates anew and accounts for the selection: the carrier is that of the first one. */
static int plan_all(struct candidates *c, double *epsilon, struct dpf_error *error)
{
    struct ledger ledger = {0};
    struct guarantee guarantee = {0};
    session_close(&c->carrier);
    int status = add_all(c, &ledger, &guarantee, error);
    struct plan *plan = &c->carrier.plan;
    if (status != 0) {
        ledger_free(&ledger);
        return -1;
    }
    ledger_free(&plan->ledger);
    guarantee_free(&plan->guarantee);
    plan->ledger = ledger;
    plan->guarantee = guarantee;
    state_selection(c, &plan->guarantee);
    if (guarantee_account(&plan->guarantee, plan->accountants, plan->n_accountants, &plan->ledger,
                          plan->run_facts.rounds, error) != 0)
        return -1;
    *epsilon = statement_least_epsilon(&plan->guarantee);
    return 0;
}

/* ---- a total for the whole ---------------------------------------------------------------------------- */

#define CLOSE 1.001 /* of the largest total of a candidate that is private */
#define MOST_TRIALS 40

static int try_share(struct candidates *c, double share, double *epsilon, struct dpf_error *error)
{
    c->share = share;
    snprintf(c->share_override, sizeof c->share_override, "privacy.total-epsilon=%.17g", share);
    return plan_all(c, epsilon, error);
}

/* Between a total that is private, 0 if none is known, and one that is not. */
static double next_share(double target, double share, double epsilon, double low, double high)
{
    const double guess = share * target / epsilon * (1.0 - 0.3 * (CLOSE - 1.0));
    if (guess > low * (1.0 + 0.1 * (CLOSE - 1.0)) && guess < high)
        return guess;
    return low > 0.0 ? sqrt(low * high) : 0.5 * high;
}

static int choose_share(struct candidates *c, double target, struct dpf_error *error)
{
    double low = 0.0, high = target, share = 0.5 * target, epsilon = NAN;
    for (int i = 0; i < MOST_TRIALS && !(low > 0.0 && high <= low * CLOSE); i++) {
        if (try_share(c, share, &epsilon, error) != 0)
            return -1;
        if (isnan(epsilon)) /* nothing is proved: the statement says why */
            return 0;
        if (epsilon <= target)
            low = share > low ? share : low;
        else
            high = share < high ? share : high;
        share = next_share(target, share, epsilon, low, high);
    }
    if (low == 0.0)
        return error_set(
            error, DPF_FAULT_CONFIG,
            "[privacy] total-epsilon = %g is not reached by the selection, however small the total of a "
            "candidate is: take fewer runs ([select] mean), or another law ([select] repetitions)",
            target);
    if (try_share(c, low, &epsilon, error) != 0)
        return -1;
    return epsilon <= target
               ? 0
               : error_set(error, DPF_FAULT_PLUGIN,
                           "the selection has epsilon = %.17g with totals for which it had %g at most",
                           epsilon, target);
}

/* ---- opening ------------------------------------------------------------------------------------------- */

static int read_sections(const struct arguments *arguments, struct candidates *c, struct dpf_error *error)
{
    struct config *config = sweep_points_read(arguments, &c->design, &c->points, error);
    if (!config)
        return -1;
    int status = select_options_read(config, &c->options, error);
    if (status == 0 && design_repeats(&c->design))
        status = config_error(config, "sweep", c->design.axes[c->design.n_axes - 1].key, error,
                              "a repetition is not a candidate: each run of a selection draws new noise");
    if (status == 0 && *c->design.references)
        status = config_error(config, "sweep", "references", error, "a selection has candidates only");
    config_free(config);
    c->n = (int64_t)c->points.n;
    c->list = status == 0 ? memory_need((size_t)c->n, sizeof *c->list) : NULL;
    for (int64_t i = 0; status == 0 && i < c->n; i++)
        c->list[i].point = &c->points.items[i];
    return status;
}

/* What decides is released with noise, as a part of each run. */
static int check_metric(const struct candidates *c, const struct session *session, struct dpf_error *error)
{
    const struct plan *plan = &session->plan;
    struct metrics names;
    struct text list = {0};
    const char *near = NULL; /* the same without its cut-off */
    const size_t length = strlen(c->options.metric);
    int found = 0;
    if (evaluate_release_names(&session->evaluate, data_feedback(&plan->data) != FEEDBACK_EXPLICIT,
                               plan->value_lo, plan->value_hi, &names, error) != 0)
        return -1;
    for (int64_t i = 0; i < names.n; i++) {
        found |= strcmp(names.items[i].name, c->options.metric) == 0;
        if (!near && strncmp(names.items[i].name, c->options.metric, length) == 0 &&
            names.items[i].name[length] == '@')
            near = names.items[i].name;
        text_add(&list, "%s%s", i > 0 ? ", " : "", names.items[i].name);
    }
    const int status =
        found ? 0
        : names.n == 0
            ? config_error(
                  plan->config, "select", "metric", error,
                  "no metric is released, so none can decide: set [evaluate] release = noisy, which charges "
                  "the score of each run")
            : config_error(plan->config, "select", "metric", error,
                           "is not among the metrics that are released: %s%s%s%s", list.data ? list.data : "",
                           near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    text_free(&list);
    metrics_free(&names);
    return status;
}

/* The target, before the candidates have totals of their own. NaN: there is none. */
static int read_target(struct candidates *c, double *target, struct dpf_error *error)
{
    struct session session = {0};
    struct arguments *arguments = memory_need(1, sizeof *arguments);
    candidates_arguments(c, 0, arguments);
    int status = session_open(&session, arguments, 0, error);
    if (status == 0)
        status = check_metric(c, &session, error);
    const dpf_value *privacy = session.plan.privacy.params.values;
    *target = status == 0 && privacy[PRIVACY_BUDGET].integer == BUDGET_TOTAL
                  ? privacy[PRIVACY_TOTAL_EPSILON].real
                  : (double)NAN;
    session_close(&session);
    free(arguments);
    return status;
}

static int take_arguments(const struct arguments *arguments, struct candidates *c, struct dpf_error *error)
{
    c->arguments = *arguments;
    if (arguments->n_overrides == MAX_OVERRIDES)
        return error_set(error, DPF_FAULT_CONFIG, "too many overrides");
    return 0;
}

int candidates_open(const struct arguments *arguments, struct candidates *out, struct dpf_error *error)
{
    double target, epsilon;
    *out = (struct candidates){.share = NAN};
    if (take_arguments(arguments, out, error) != 0 || read_sections(arguments, out, error) != 0 ||
        read_target(out, &target, error) != 0)
        return -1;
    if (isnan(target))
        return plan_all(out, &epsilon, error);
    out->arguments.overrides[out->arguments.n_overrides++] = out->share_override;
    const enum log_level level = log_set_level(LOG_LEVEL_WARNING);
    const int status = choose_share(out, target, error);
    log_set_level(level);
    return status;
}

int candidates_measure(struct candidates *candidates, struct dpf_error *error)
{
    if (session_check(&candidates->carrier, error) != 0)
        return -1;
    /* Large groups are asked for at deltas where the best order is the least that is searched. */
    const enum log_level level = log_set_level(LOG_LEVEL_NONE);
    plan_measure(&candidates->carrier.plan);
    log_set_level(level);
    return 0;
}

void candidates_close(struct candidates *candidates)
{
    session_close(&candidates->carrier);
    points_free(&candidates->points);
    design_free(&candidates->design);
    free(candidates->list);
    candidates->list = NULL;
    json_decref(candidates->parts);
    candidates->parts = NULL;
}
