/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bracket of the factor: its upper end has been judged private, its lower one not. What is returned is an
 * upper end, so that it does not matter whether grids make epsilon jump a little on the way. Making a plan
 * and composing its releases may take long, so the bracket is closed by lines through its ends (regula falsi
 * in logarithms, in which epsilon of most noise is close to a line), with bisection where these do not help.
 */
#include "plan/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/ticker.h"
#include "plan/model_type.h"
#include "plan/metric_release.h"

#define WIDEST 0x1p40        /* factors tried are within this of 1 */
#define WIDEST_STRIDE 1024.0 /* for an end of the bracket */
#define REACH 1.25           /* further than a line says */
#define CLOSE 1.0001         /* the bracket's ends are this near in the end */

struct calibration {
    struct plan *plan;
    struct instance *accountant;
    const char *id;
    double target;
    char infinite[256]; /* why the last plan had no finite epsilon, or "" */
    int64_t told;       /* of UNITS, shown to the user */
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
    if (interrupt_check("the noise was chosen", error) != 0)
        return -1;
    c->plan->noise_factor = factor;
    judged.accounts = NULL;
    judged.n_accounts = 0;
    if (c->plan->type->replan(c->plan, error) != 0)
        return -1;
    metric_release_charge(c->plan);
    int status = guarantee_account(&judged, &c->accountant, 1, &c->plan->ledger,
                                   c->plan->run.params.values[RUN_ROUNDS].integer, error);
    if (status == 0 && judged.accounts[0].refused)
        status = config_fails(c, "budget", error, judged.accounts[0].reason);
    if (status == 0) {
        *epsilon = judged.accounts[0].answer.epsilon;
        snprintf(c->infinite, sizeof c->infinite, "%s",
                 isinf(*epsilon) ? judged.accounts[0].answer.note : "");
    }
    guarantee_free(&judged);
    return status;
}

/* How far the search is, for the user who waits: a bracket is found soon, and then its width falls to that of
   CLOSE; the logarithms of widths fall about evenly. */
#define UNITS 1000
#define FINDING 0.02 /* of the way, for each plan that is judged before there is a bracket */
#define FOUND 0.1    /* of the way, once there is one */

static void tell(struct calibration *c, double part)
{
    const int64_t units = (int64_t)(UNITS * fmin(part, 1.0));
    ticker_add(units > c->told ? units - c->told : 0);
    c->told = units > c->told ? units : c->told;
}

static void tell_finding(struct calibration *c)
{
    tell(c, fmin(FOUND, (double)c->told / UNITS + FINDING));
}

static void tell_width(struct calibration *c, double first, double width)
{
    const double close = log(CLOSE), whole = log(first / close);
    tell(c, whole > 0 ? FOUND + (1 - FOUND) * log(first / fmax(width, close)) / whole : 1.0);
}

/* A factor, as its logarithm, and that of epsilon over its target there: above 0 where it is not private. */
struct trial {
    double x;
    double excess;
};

/* A plan that cannot be made, or has no epsilon, is not private: the excess is infinite, and `why` says so.
 */
static struct trial try_factor(struct calibration *c, double factor, struct dpf_error *why)
{
    struct trial trial = {log(factor), INFINITY};
    double epsilon;
    memset(why, 0, sizeof *why);
    if (epsilon_at(c, factor, &epsilon, why) == 0)
        trial.excess = log(epsilon / c->target);
    return trial;
}

static int is_private(const struct trial *trial)
{
    return trial->excess <= 0.0;
}

/* How far to go for an end of the bracket: epsilon is about as 1/factor, and rarely stays above or below. */
static double stride(const struct trial *trial)
{
    const double distance = fabs(trial->excess);
    return distance < log(2.0 / REACH)             ? 2.0
           : distance < log(WIDEST_STRIDE / REACH) ? REACH * exp(distance)
                                                   : WIDEST_STRIDE;
}

static int unreachable(const struct calibration *c, double factor, const char *why, struct dpf_error *error)
{
    return config_error(
        c->plan->config, "privacy", "total-epsilon", error,
        "total-epsilon = %g is not reached with %g times the noise of the mechanisms, by "
        "accountant %s%s%.255s%s%.255s. Ask for a larger total-epsilon or delta, fewer rounds, or "
        "another accountant (calibrate-by); give every release noise of its own (dpframe account "
        "with budget = per-release shows them)",
        c->target, factor, c->id, c->infinite[0] ? ": " : "", c->infinite,
        why[0] ? "; more noise fails: " : "", why);
}

/* From a factor that is not private to one that is; where a long stride is too far for a mechanism, by steps.
 */
static int more_noise(struct calibration *c, struct trial *low, struct trial *high, struct dpf_error *error)
{
    double longest = WIDEST_STRIDE;
    *high = *low;
    while (!is_private(high)) {
        struct dpf_error why;
        const double step = fmin(stride(high), longest), from = exp(high->x);
        if (from * step > WIDEST)
            return unreachable(c, from, "", error);
        const struct trial next = try_factor(c, from * step, &why);
        tell_finding(c);
        if (why.text[0] && step <= 2.0)
            return interrupt_check("the noise was chosen", error) != 0
                       ? -1
                       : unreachable(c, from, why.text, error);
        if (why.text[0]) {
            longest = 2.0;
            continue;
        }
        *low = *high;
        *high = next;
    }
    return 0;
}

/* From a private factor to one that is not, or to next to no noise. Less noise than a grid can hold is an
   error of the mechanism: that end is not private either. */
static void less_noise(struct calibration *c, struct trial *low, struct trial *high)
{
    *low = *high;
    while (is_private(low)) {
        struct dpf_error ignored = {0};
        const double factor = exp(low->x) / stride(low);
        *high = *low;
        if (factor < 1.0 / WIDEST) {
            *low = (struct trial){log(1.0 / WIDEST), INFINITY};
            return;
        }
        *low = try_factor(c, factor, &ignored);
        tell_finding(c);
    }
}

/*
 * The next factor inside the bracket. Where a line through both ends crosses the target, but to the side of
 * it where the end is that has stayed longer, so that both ends come close; the middle if that did not help.
 */
static double next_inside(const struct trial *low, const struct trial *high, int low_stays, int middle)
{
    const double width = high->x - low->x, margin = fmin(0.25 * width, 0.4 * log(CLOSE));
    if (middle || isinf(low->excess) || isinf(high->excess) || low->excess == high->excess)
        return low->x + 0.5 * width;
    const double cross = low->x + width * low->excess / (low->excess - high->excess);
    const double x = cross + (low_stays ? -margin : margin);
    return fmin(fmax(x, low->x + 0.5 * margin), high->x - 0.5 * margin);
}

static void close_bracket(struct calibration *c, struct trial *low, struct trial *high)
{
    const double first = high->x - low->x;
    int low_stays = 0, slow = 0;
    while (high->x - low->x > log(CLOSE)) {
        struct dpf_error ignored = {0};
        const double width = high->x - low->x;
        tell_width(c, first, width);
        const struct trial trial = try_factor(c, exp(next_inside(low, high, low_stays, slow >= 2)), &ignored);
        low_stays = is_private(&trial);
        *(low_stays ? high : low) = trial;
        slow = high->x - low->x > 0.5 * width ? slow + 1 : 0;
    }
}

static int calibrate(struct plan *plan, struct dpf_error *error)
{
    const dpf_value *privacy = plan->privacy.params.values;
    struct calibration c = {.plan = plan, .id = "", .target = privacy[PRIVACY_TOTAL_EPSILON].real};
    struct trial low, high;
    double epsilon;
    c.accountant = calibrate_accountant(plan, "budget = total", error);
    if (!c.accountant)
        return -1;
    c.id = c.accountant->entry->component->id;
    if (epsilon_at(&c, 1.0, &epsilon, error) != 0)
        return -1;
    high = low = (struct trial){0.0, log(epsilon / c.target)};
    /* Warnings concern the plan that is kept. */
    const enum log_level level = log_set_level(LOG_LEVEL_NONE);
    int status = 0;
    if (is_private(&high))
        less_noise(&c, &low, &high);
    else
        status = more_noise(&c, &low, &high, error);
    if (status == 0)
        close_bracket(&c, &low, &high);
    log_set_level(level);
    if (status != 0)
        return -1;
    plan->guarantee.noise_factor = exp(high.x);
    if (epsilon_at(&c, exp(high.x), &epsilon, error) != 0)
        return -1;
    return epsilon <= c.target
               ? 0
               : error_set(
                     error, DPF_FAULT_PLUGIN,
                     "accountant %s answered epsilon = %.17g for noise to which it had granted at most %g",
                     c.id, epsilon, c.target);
}

int calibrate_total(struct plan *plan, struct dpf_error *error)
{
    /* A recommender's releases stay in the ledger when they are made without noise; there is nothing to
     * choose. Nor is there where metrics alone are released: their noise is chosen already. */
    const int64_t of_metrics = plan->metrics.numbers > 0;
    if (plan->privacy.params.values[PRIVACY_BUDGET].integer != BUDGET_TOTAL || plan->ledger.n == of_metrics ||
        plan->without_mechanisms)
        return 0;
    ticker_begin("choosing the noise", UNITS);
    const int status = calibrate(plan, error);
    ticker_end();
    return status;
}
