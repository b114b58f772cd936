/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bracket of the factor: its upper end has been judged private, its lower one not. What is returned is an
 * upper end, so that it does not matter whether grids make epsilon jump a little on the way.
 */
#include "plan/calibrate.h"

#include <math.h>
#include <string.h>

#include "plan/recommender_plan.h"
#include "plan/queries.h"

#define WIDEST 0x1p40 /* factors tried are within this of 1 */
#define CLOSE 1.0001  /* the bracket's ends are this near in the end */

struct calibration {
    struct plan *plan;
    struct instance *accountant;
    const char *id;
    double target;
};

static int config_fails(const struct calibration *c, const char *key, struct dpf_error *error,
                        const char *why)
{
    return config_error(c->plan->config, "privacy", key, error, "accountant %s: %s", c->id, why);
}

struct instance *calibrate_accountant(struct plan *plan, const char *purpose, struct dpf_error *error)
{
    const char *wanted = plan->privacy.params.values[PRIVACY_CALIBRATE_BY].text;
    for (int i = 0; i < plan->n_accountants; i++) {
        struct instance *accountant = plan->accountants[i];
        const char *id = accountant->entry->component->id;
        const int proves = ((const dpf_accountant *)accountant->functions)->kind == DPF_ACCOUNTANT_PROOF;
        if (*wanted ? strcmp(id, wanted) != 0 : !proves)
            continue;
        if (proves)
            return accountant;
        config_error(
            plan->config, "privacy", "calibrate-by", error,
            "accountant %s repeats a publication's claim; noise is chosen by one that proves its answer", id);
        return NULL;
    }
    if (*wanted)
        config_error(plan->config, "privacy", "calibrate-by", error, "[accountants] list has no \"%s\"",
                     wanted);
    else
        config_error(plan->config, "privacy", "budget", error, "%s needs an accountant in [accountants] list",
                     purpose);
    return NULL;
}

/* Epsilon of the whole run with that factor; infinity if there is none. */
static int epsilon_at(struct calibration *c, double factor, double *epsilon, struct dpf_error *error)
{
    struct guarantee judged = c->plan->guarantee;
    c->plan->noise_factor = factor;
    judged.accounts = NULL;
    judged.n_accounts = 0;
    if ((c->plan->recommender.instance ? recommender_plan_complete(c->plan, error)
                                       : queries_replan(c->plan, error)) != 0)
        return -1;
    int status = guarantee_account(&judged, &c->accountant, 1, &c->plan->ledger,
                                   c->plan->run.params.values[RUN_ROUNDS].integer, error);
    if (status == 0 && judged.accounts[0].refused)
        status = config_fails(c, "budget", error, judged.accounts[0].answer.note);
    if (status == 0)
        *epsilon = judged.accounts[0].answer.epsilon;
    guarantee_free(&judged);
    return status;
}

/* Leaves the plan at *high, which is private; *low is not, or as low as one goes. */
static int bracket(struct calibration *c, double *low, double *high, struct dpf_error *error)
{
    double epsilon;
    *high = 1.0;
    if (epsilon_at(c, *high, &epsilon, error) != 0)
        return -1;
    while (epsilon > c->target) {
        struct dpf_error why = {0};
        *high *= 2.0;
        if (*high > WIDEST || epsilon_at(c, *high, &epsilon, &why) != 0)
            return config_error(
                c->plan->config, "privacy", "total-epsilon", error,
                "total-epsilon = %g is not reached with %g times the noise of the mechanisms: "
                "a release may have none, or its noise may be drawn once for several "
                "releases%s%.200s",
                c->target, *high / 2.0, why.text[0] ? "; more of it fails: " : "", why.text);
    }
    *low = *high / 2.0;
    while (*high <= 1.0 && *low > 1.0 / WIDEST) {
        /* Less noise than a grid can hold is an error of the mechanism: that end is not private either. */
        struct dpf_error ignored = {0};
        if (epsilon_at(c, *low, &epsilon, &ignored) != 0 || epsilon > c->target)
            break;
        *high = *low;
        *low /= 2.0;
    }
    return 0;
}

int calibrate_total(struct plan *plan, struct dpf_error *error)
{
    const dpf_value *privacy = plan->privacy.params.values;
    struct calibration c = {plan, NULL, "", privacy[PRIVACY_TOTAL_EPSILON].real};
    double low, high, epsilon;
    if (privacy[PRIVACY_BUDGET].integer != BUDGET_TOTAL || plan->ledger.n == 0)
        return 0;
    c.accountant = calibrate_accountant(plan, "budget = total", error);
    if (!c.accountant)
        return -1;
    c.id = c.accountant->entry->component->id;
    if (bracket(&c, &low, &high, error) != 0)
        return -1;
    while (high > low * CLOSE) {
        const double middle = sqrt(low * high);
        struct dpf_error ignored = {0};
        if (epsilon_at(&c, middle, &epsilon, &ignored) == 0 && epsilon <= c.target)
            high = middle;
        else
            low = middle;
    }
    plan->guarantee.noise_factor = high;
    return epsilon_at(&c, high, &epsilon, error);
}
