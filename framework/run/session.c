/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "data/data_options_read.h"
#include "data/load.h"
#include "evaluate/evaluate.h"
#include "plan/components.h"
#include "plan/plan_make.h"
#include "reading/data_options.h"
#include "run/session.h"

/* Scores that only rank have no error against values. */
static int check_predicts(const struct session *session, struct dpf_error *error)
{
    if (!plan_has(&session->plan, MODEL_RANKS_ONLY) || !evaluate_rates(&session->evaluate))
        return 0;
    return config_error(session->plan.config, "evaluate", "metrics", error,
                        "recommender %s ranks items and predicts no values: ask for ranking metrics, such as "
                        "hr and ndcg",
                        session->plan.model_facts.id);
}

/* What [evaluate] releases, for the plan to choose noise for and to charge. */
static int ask_for_release(struct session *session, struct dpf_error *error)
{
    struct plan *plan = &session->plan;
    struct metric_moves moves;
    if (evaluate_release_moves(&session->evaluate, data_feedback(&plan->data) != FEEDBACK_EXPLICIT,
                               plan->value_lo, plan->value_hi, &moves, error) != 0)
        return -1;
    plan->metrics = (struct metric_release){.numbers = moves.numbers,
                                            .laplace = moves.laplace,
                                            .comes = moves.comes,
                                            .changes = moves.changes,
                                            .epsilon = moves.epsilon,
                                            .share = moves.share};
    return 0;
}

int session_open(struct session *session, const struct arguments *arguments, int without_mechanisms,
                 struct dpf_error *error)
{
    *session = (struct session){0};
    if (!arguments->config)
        return error_set(error, DPF_FAULT_CONFIG,
                         "no configuration: name one, as in dpframe run FILE (dpframe start writes one)");
    struct plan_options options = {.config_path = arguments->config,
                                   .overrides = arguments->overrides,
                                   .n_overrides = arguments->n_overrides,
                                   .plugin_directories = arguments->plugin_dirs,
                                   .n_plugin_directories = arguments->n_plugin_dirs,
                                   .layers = arguments->layers,
                                   .n_layers = arguments->n_layers,
                                   .settings = arguments->settings,
                                   .n_settings = arguments->n_settings,
                                   .settings_directory = arguments->settings_directory,
                                   .without_mechanisms = without_mechanisms,
                                   .without_data = arguments->without_data,
                                   .stand_in = arguments->stand_in,
                                   .metric = component_metrics_add,
                                   .metric_context = &session->metrics};
    component_metrics_open(&session->metrics);
    session->is_open = 1;
    if (plan_open(&options, &session->plan, error) != 0)
        return -1;
    for (int i = 0; i < arguments->n_sections; i++)
        if (arguments->sections[i].check && arguments->sections[i].check(session->plan.config, error) != 0)
            return -1;
    int64_t n;
    const dpf_param *table = evaluate_params(&n);
    if (components_bind(&session->plan, "evaluate", table, n, 1, &session->evaluate, error) != 0)
        return -1;
    if (evaluate_check(&session->evaluate, data_feedback(&session->plan.data) != FEEDBACK_EXPLICIT,
                       session->plan.value_lo, session->plan.value_hi, error) != 0)
        return -1;
    if (!without_mechanisms && ask_for_release(session, error) != 0)
        return -1;
    return arguments->stand_in ? 0 : check_predicts(session, error);
}

void session_close(struct session *session)
{
    plan_free(&session->plan);
    config_values_free(&session->evaluate);
    if (session->is_open)
        component_metrics_close(&session->metrics);
    session->is_open = 0;
}

/* How many there are in the data: what a run would find. */
static int count_in_data(const struct plan *plan, int64_t n[2], struct dpf_error *error)
{
    struct dpf_error unread = {0};
    if (data_sizes(&plan->data, &plan->split, plan->seeded, &n[DPF_SIDE_USERS], &n[DPF_SIDE_ITEMS],
                   &unread) == 0)
        return 0;
    if (interrupt_check("users and items were counted", error) != 0)
        return -1;
    log_message(LOG_LEVEL_WARNING,
                "the data cannot be read (%s). The numbers of users and items are taken as unknown, so "
                "bounds hold but can be loose: declare them by [model] users and items",
                unread.text);
    return 0;
}

/* Public lists are counted, as a run does: declared numbers bound them, and users are as many as are listed. */
int session_complete_without_training(struct session *session, struct dpf_error *error)
{
    struct plan *plan = &session->plan;
    const dpf_value *model = plan->model.params.values;
    int64_t n[2];
    int status = data_listed(&plan->data, &plan->split, n, error);
    if (status == 0 && ((n[DPF_SIDE_USERS] < 0 && !model[MODEL_USERS].integer) ||
                        (n[DPF_SIDE_ITEMS] < 0 && !model[MODEL_ITEMS].integer)))
        status = count_in_data(plan, n, error);
    return status == 0 ? plan_complete(plan, n[DPF_SIDE_USERS], n[DPF_SIDE_ITEMS], error) : -1;
}
