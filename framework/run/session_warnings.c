/* SPDX-License-Identifier: Apache-2.0 */
#include "run/session_warnings.h"

#include "base/log.h"
#include "data/data_options_read.h"
#include "data/load.h"
#include "evaluate/evaluate.h"
#include "reading/data_options.h"
#include "run/comparison.h"

static void warn_nothing_to_evaluate(const struct session *session)
{
    const struct plan *plan = &session->plan;
    if (data_is_split(&plan->split))
        return;
    if (*plan->run.params.values[RUN_COMPARE].text)
        log_message(LOG_LEVEL_WARNING,
                    "[run] compare = %s: there is nothing to compare on without a test part: set "
                    "[split] kind, or remove compare",
                    plan->run.params.values[RUN_COMPARE].text);
    if (evaluate_is_asked_for(&session->evaluate) && !evaluate_on_train(&session->evaluate))
        log_message(LOG_LEVEL_WARNING,
                    "[evaluate] metrics: there is nothing to evaluate on without a test part: set "
                    "[split] kind, or [evaluate] train = yes, or remove metrics");
}

/* A loss that sums over all pairs takes those without a record for a 0: interactions, not ratings. */
static int fits_interactions(const struct term_plan *term)
{
    return term->query.support == DPF_SUPPORT_DENSE;
}

/* Lists are asked for in so many words. */
static int is_about_lists(const struct session *session)
{
    return evaluate_is_asked_for(&session->evaluate) && evaluate_ranks(&session->evaluate);
}

#define FITS_INTERACTIONS                                                                                    \
    "loss = %s fits interactions: it takes every pair without a record for a 0, so ratings are not what it " \
    "predicts. Set [data] feedback = implicit (or counts, for numbers of plays), or a loss of ratings such " \
    "as explicit-als"

/* Where lists are measured, values may be meant as weights: a publication has it so. */
static int check_loss(const struct session *session, const struct term_plan *term, struct dpf_error *error)
{
    const struct plan *plan = &session->plan;
    const enum data_feedback feedback = data_feedback(&plan->data);
    const char *loss = term->loss->entry->component->id;
    if (feedback == FEEDBACK_IMPLICIT && !fits_interactions(term))
        return config_error(plan->config, term->name, "loss", error,
                            "loss = %s fits ratings, but with implicit feedback every record has the value "
                            "1: a constant fits all of them, and nothing is learnt. Set a loss of "
                            "interactions such as implicit-als, or [data] feedback = explicit",
                            loss);
    if (feedback != FEEDBACK_EXPLICIT || !fits_interactions(term))
        return 0;
    if (!is_about_lists(session))
        return config_error(plan->config, term->name, "loss", error,
                            FITS_INTERACTIONS ", and name the metrics of lists, such as ndcg", loss);
    log_message(LOG_LEVEL_WARNING, "[%s] " FITS_INTERACTIONS, term->name, loss);
    return 0;
}

/* Whether the noise of something is in shares of parties, which [privacy] min-honest and max-curious are about. */
static int has_shares(const struct plan *plan)
{
    int has = plan->recommender.aggregator != NULL;
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < plan->sides[side].n_terms; t++) {
            const struct instance *mechanism = plan->sides[side].terms[t].mechanism;
            has |= plan->sides[side].updated && mechanism &&
                   (((const dpf_mechanism *)mechanism->functions)->flags & DPF_MECHANISM_SHARES);
        }
    return has;
}

static void warn_of_idle_shares(const struct plan *plan)
{
    static const int keys[] = {PRIVACY_MIN_HONEST, PRIVACY_MAX_CURIOUS};
    static const char *const names[] = {"min-honest", "max-curious"};
    for (int i = 0; i < 2 && !has_shares(plan); i++)
        if (plan->privacy.params.values[keys[i]].integer > 0)
            log_message(LOG_LEVEL_WARNING,
                        "privacy.%s = %lld has no effect: no party adds a share of the noise", names[i],
                        (long long)plan->privacy.params.values[keys[i]].integer);
}

/* As data_options_warn does for [data]. */
static void warn_of_idle_privacy(const struct plan *plan)
{
    const dpf_value *v = plan->privacy.params.values;
    if (v[PRIVACY_NOISE_SEED].is_set && v[PRIVACY_RANDOMNESS].integer == 0)
        log_message(LOG_LEVEL_WARNING, "privacy.noise-seed has no effect with privacy.randomness = secure");
    if (v[PRIVACY_TOTAL_EPSILON].is_set && v[PRIVACY_BUDGET].integer != BUDGET_TOTAL)
        log_message(LOG_LEVEL_WARNING,
                    "privacy.total-epsilon has no effect with privacy.budget = per-release");
    warn_of_idle_shares(plan);
}

int session_check(const struct session *session, struct dpf_error *error)
{
    const struct plan *plan = &session->plan;
    if (comparison_check(plan, 1, error) != 0)
        return -1;
    warn_nothing_to_evaluate(session);
    warn_of_idle_privacy(plan);
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < plan->sides[side].n_terms; t++) {
            const struct term_plan *term = &plan->sides[side].terms[t];
            if (plan->sides[side].updated && term->source == SOURCE_RECORDS &&
                check_loss(session, term, error) != 0)
                return -1;
        }
    return 0;
}
