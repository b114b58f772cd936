/* SPDX-License-Identifier: Apache-2.0 */
#include "run/comparison.h"
#include "run/at_home.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ticker.h"
#include "engine/engine.h"
#include "engine/model_scorer.h"
#include "evaluate/user_sample.h"
#include "plan/components.h"
#include "plan/plan_make.h"
#include "privacy/statement.h"
#include "reading/data_options.h"
#include "reading/data_params.h"
#include "run/joined.h"

static const struct {
    const char *name;
    int is_private;
} table[] = {{"non-private", 0}, {"popularity", 0},         {"mean", 0},
             {"biases", 0},      {"private-popularity", 1}, {"private-biases", 1}};
static const char comparison_names[] =
    "non-private, popularity, mean, biases, private-popularity or private-biases";

static int place_of(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].name, name) == 0)
            return (int)i;
    return -1;
}

int comparison_check(const struct plan *plan, int is_alone, struct dpf_error *error)
{
    if (plan->run.params.values[RUN_COMPARE_REPETITIONS].integer && !is_alone)
        return config_error(plan->config, "run", "compare-repetitions", error,
                            "only a single run in one process can draw its noise again: remove the key, and "
                            "repeat with run.seed in a sweep");
    int n = 0;
    char **names = components_names(plan->run.params.values[RUN_COMPARE].text, &n);
    int status = components_check_once(plan, "run", "compare", names, n, error);
    if (status == 0 && n > COMPARISON_CONFIGURED)
        status =
            config_error(plan->config, "run", "compare", error, "at most %d models", COMPARISON_CONFIGURED);
    for (int i = 0; i < n && status == 0; i++)
        if (place_of(names[i]) < 0)
            status = config_error(plan->config, "run", "compare", error, "\"%s\" must be %s", names[i],
                                  comparison_names);
    for (int i = 0; i < n && status == 0; i++)
        if (strcmp(names[i], "biases") == 0 && plan->split.params.values[S_KIND].integer == SPLIT_USERS)
            status =
                config_error(plan->config, "run", "compare", error,
                             "biases has a bias for each user that it was trained on, and none for users "
                             "that [split] kind = users holds out: remove it from the list, or hold out "
                             "records instead, as with kind = per-user");
    free(names);
    return status;
}

int comparison_is_private(const char *name)
{
    return place_of(name) >= 0 && table[place_of(name)].is_private;
}

/* ---- the configuration of the other model ----------------------------------------------------------- */

#define CHANGES 8

/* The run's own arguments with a few more changes. */
struct changed {
    struct arguments arguments;
    const char *settings[MAX_OVERRIDES]; /* of a sweep's point, which win over overrides */
    char text[CHANGES][64];
    int n;
};

static int change(struct changed *changed, const char *key, const char *value, struct dpf_error *error)
{
    struct arguments *a = &changed->arguments;
    const int last = a->n_settings ? a->n_settings : a->n_overrides;
    if (last == MAX_OVERRIDES || changed->n == CHANGES)
        return error_set(error, DPF_FAULT_CONFIG, "too many overrides");
    snprintf(changed->text[changed->n], sizeof changed->text[0], "%s=%s", key, value);
    (a->n_settings ? changed->settings : a->overrides)[last] = changed->text[changed->n++];
    *(a->n_settings ? &a->n_settings : &a->n_overrides) = last + 1;
    return 0;
}

/* The least epsilon that is proved, NaN if none is. */
static double proved_epsilon(const struct guarantee *guarantee)
{
    return guarantee->trainings > 1 /* of the model that is compared, not of all that the verdict trains */
               ? guarantee->alone
               : statement_least_epsilon(guarantee);
}

/* The budget of the run goes to the other model. */
static int change_to_private(const struct compared_run *run, const char *name, struct changed *changed,
                             struct dpf_error *error)
{
    const dpf_value *privacy = run->session->plan.privacy.params.values;
    const double proved = proved_epsilon(&run->session->plan.guarantee);
    char epsilon[32];
    if (!(proved > 0))
        return error_set(error, DPF_FAULT_CONFIG,
                         "%s is trained with the epsilon that is proved of the run, and none is", name);
    if (change(changed, "model.kind", "factorization", error) != 0 ||
        change(changed, "model.recommender", name, error) != 0)
        return -1;
    if (privacy[PRIVACY_BUDGET].integer == BUDGET_TOTAL)
        return 0;
    snprintf(epsilon, sizeof epsilon, "%.17g", proved);
    return change(changed, "privacy.budget", "total", error) == 0
               ? change(changed, "privacy.total-epsilon", epsilon, error)
               : -1;
}

static int change_arguments(const struct compared_run *run, const char *name, struct changed *changed,
                            struct dpf_error *error)
{
    struct arguments *a = &changed->arguments;
    *a = *run->arguments;
    for (int i = 0; i < a->n_settings && i < MAX_OVERRIDES; i++)
        changed->settings[i] = a->settings[i];
    if (a->n_settings)
        a->settings = changed->settings;
    if (change(changed, "run.compare-repetitions", "0", error) != 0)
        return -1;
    a->stand_in = strcmp(name, "non-private") != 0;
    if (comparison_is_private(name))
        return change_to_private(run, name, changed, error);
    if (strcmp(name, "non-private") == 0) {
        char columns[32];
        snprintf(columns, sizeof columns, "%lld", (long long)run->columns);
        return run->columns > 0 ? change(changed, "model.recommender.items", columns, error) : 0;
    }
    /* Models of exact records are no recommenders: they have no home terms. */
    if (change(changed, "model.home-terms", "no", error) != 0)
        return -1;
    return change(changed, "model.kind", name, error) == 0 ? change(changed, "model.recommender", "", error)
                                                           : -1;
}

/* ---- training and evaluation ------------------------------------------------------------------------ */

static int evaluate(const struct compared_run *run, struct plan *plan, struct dataset *view,
                    struct model *model, struct metrics *out, struct dpf_error *error)
{
    struct scorer scorer;
    struct csr sample = {0};
    const struct csr all = view->test.by_user;
    int64_t left_out;
    int status =
        run->users > 0 ? user_sample(view, &all, run->users, plan->seeded, &sample, &left_out, error) : 0;
    if (status == 0 && run->users > 0)
        view->test.by_user = sample;
    if (status == 0)
        status = model_scorer(model, &scorer, error);
    if (status == 0) {
        status =
            evaluate_model(&run->session->evaluate, view, &scorer, plan->seeded, run->pool, 0, out, error);
        scorer_close(&scorer);
    }
    view->test.by_user = all;
    csr_free(&sample);
    return status;
}

int comparison_train(const struct compared_run *run, struct plan *plan, struct metrics *out,
                     struct dpf_error *error)
{
    struct model model;
    struct engine_stats stats;
    struct at_home home = {.has_rows = 0};
    ticker_begin("training a model to compare with", 0);
    int status = model_init(&model, plan, run->dataset, error);
    if (status == 0)
        status = engine_run(plan, run->dataset, run->pool, &model, NULL, &stats, error);
    ticker_end();
    if (status == 0)
        status = at_home_open(&home, run->dataset, run->pool, plan, &model, error);
    if (status == 0)
        status = evaluate(run, plan, &home.view, &model, out, error);
    at_home_close(&home);
    model_free(&model);
    return status;
}

static int check_proof(const struct compared_run *run, const struct session *session, struct comparison *out,
                       struct dpf_error *error)
{
    const double allowed = proved_epsilon(&run->session->plan.guarantee);
    if (!comparison_is_private(out->name))
        return 0;
    out->epsilon = proved_epsilon(&session->plan.guarantee);
    return out->epsilon > 0 && out->epsilon <= allowed * (1 + 1e-3)
               ? 0
               : error_set(error, DPF_FAULT_CONFIG,
                           "%s in place of the model is not proved to have its epsilon under [parties] and "
                           "[privacy] of this run",
                           out->name);
}

static int train_and_evaluate(const struct compared_run *run, struct session *session, struct comparison *out,
                              struct dpf_error *error)
{
    if (plan_complete(&session->plan, run->dataset->users.n, run->dataset->items.n, error) != 0 ||
        check_proof(run, session, out, error) != 0 || joined_check(&session->plan, error) != 0)
        return -1;
    return comparison_train(run, &session->plan, &out->metrics, error);
}

int comparison_make(const struct compared_run *run, const char *name, struct comparison *out,
                    struct dpf_error *error)
{
    struct changed changed = {.n = 0};
    struct session session = {0};
    *out = (struct comparison){.epsilon = 0};
    snprintf(out->name, sizeof out->name, "%s", name);
    if (change_arguments(run, name, &changed, error) != 0)
        return -1;
    int status = session_open(&session, &changed.arguments, strcmp(name, "non-private") == 0, error);
    session.plan.metrics.numbers = 0; /* what is compared is for the curator */
    if (status == 0)
        status = train_and_evaluate(run, &session, out, error);
    session_close(&session);
    return status;
}
