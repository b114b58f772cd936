/* SPDX-License-Identifier: Apache-2.0 */
#include "privacy/reach.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpframe/accounting.h"
#include "dpframe/integer_noise.h"
#include "privacy/guarantee.h"

#define CURVE_POINTS 8

/* One accountant, and the events that it is asked about. */
struct asked {
    const struct guarantee *guarantee;
    const struct instance *accountant;
    const dpf_accountant *functions;
    dpf_event *events;
    int64_t n;
    int64_t rounds;
};

static dpf_question question_of(const struct asked *a)
{
    return (dpf_question){.size = sizeof(dpf_question),
                          .unit = a->guarantee->unit,
                          .adjacency = a->guarantee->adjacency,
                          .observer = a->guarantee->observer,
                          .rounds = a->rounds};
}

/* Infinity if it refuses. */
static double epsilon_at(const struct asked *a, double delta)
{
    dpf_question question = question_of(a);
    dpf_answer answer = {.size = sizeof answer, .epsilon = INFINITY};
    question.delta = delta;
    return a->functions->epsilon(a->accountant->self, a->events, a->n, &question, &answer) == DPF_OK
               ? answer.epsilon
               : INFINITY;
}

static double delta_at(const struct asked *a, double epsilon)
{
    dpf_question question = question_of(a);
    dpf_answer answer = {.size = sizeof answer, .delta = 1.0};
    question.epsilon = epsilon;
    return a->functions->delta &&
                   a->functions->delta(a->accountant->self, a->events, a->n, &question, &answer) == DPF_OK
               ? answer.delta
               : 1.0;
}

/* ---- groups -------------------------------------------------------------------------------------- */

static int is_free(const dpf_event *event)
{
    return event->kind == DPF_EVENT_NO_OP || event->count == 0 || (event->flags & DPF_EVENT_DATA_BLIND);
}

/* Whether an event grows with the distance of the data, step by step. */
static int is_additive(const dpf_event *event, const dpf_question *question)
{
    const int32_t kind = event->kind;
    const int additive = (kind >= DPF_EVENT_LAPLACE && kind <= DPF_EVENT_DISCRETE_GAUSSIAN) ||
                         kind == DPF_EVENT_SKELLAM || kind == DPF_EVENT_PURE ||
                         kind == DPF_EVENT_NON_PRIVATE; /* not moved at all, or infinite either way */
    if (kind == DPF_EVENT_CORRELATED_GAUSSIAN)          /* what a group moves C x by is a sum of moves */
        return 1;
    return is_free(event) || (additive && event->sampling.kind == DPF_SAMPLING_NONE) ||
           (additive && event->sampling.kind == DPF_SAMPLING_POISSON &&
            !dpf_amplifies(&event->sampling, question));
}

static int all_additive(const struct asked *a)
{
    const dpf_question question = question_of(a);
    for (int64_t i = 0; i < a->n; i++)
        if (!is_additive(&a->events[i], &question))
            return 0;
    return 1;
}

static void scale(dpf_event *event, double by)
{
    for (int unit = 0; unit < DPF_N_UNITS; unit++)
        for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++) {
            dpf_norms *norms = &event->sensitivity.at[unit][adjacency];
            *norms = (dpf_norms){norms->l1 * by, norms->l2 * by, norms->linf * by};
        }
}

static double scaled_epsilon(struct asked *a, int group, double delta)
{
    dpf_event *const kept = a->events;
    double epsilon = INFINITY;
    a->events = memory_new((size_t)a->n, sizeof *a->events);
    if (a->events) {
        for (int64_t i = 0; i < a->n; i++) {
            a->events[i] = kept[i];
            scale(&a->events[i], group);
        }
        epsilon = epsilon_at(a, delta);
    }
    free(a->events);
    a->events = kept;
    return epsilon;
}

/* (e^{k epsilon} - 1)/(e^epsilon - 1), and no less. */
static double spread(int group, double epsilon)
{
    return epsilon > 0.0 ? expm1(group * epsilon) / expm1(epsilon) * (1.0 + 1e-12) : group;
}

/* Epsilons of one unit at falling deltas, for all groups. */
#define DELTAS 7

struct falling {
    double delta[DELTAS];
    double epsilon[DELTAS];
};

static struct falling epsilons_at(const struct asked *a, double delta)
{
    static const double parts[DELTAS] = {0.5, 1e-2, 1e-4, 1e-7, 1e-11, 1e-17, 1e-26};
    struct falling f;
    for (int i = 0; i < DELTAS; i++) {
        f.delta[i] = delta * parts[i];
        f.epsilon[i] = i == 0 || delta > 0.0 ? epsilon_at(a, f.delta[i]) : f.epsilon[0];
    }
    return f;
}

static int fits(int group, double epsilon, double one, double delta)
{
    return epsilon * group < 700.0 && one * spread(group, epsilon) <= delta;
}

/* The largest of those deltas that is small enough for the group, and one between it and the next. */
static double chained_epsilon(const struct asked *a, const struct falling *f, int group, double delta)
{
    int i = 0;
    while (i < DELTAS && !fits(group, f->epsilon[i], f->delta[i], delta))
        i++;
    if (i == DELTAS)
        return INFINITY;
    if (i == 0 || delta == 0.0)
        return group * f->epsilon[i];
    double low = log(f->delta[i]), high = log(f->delta[i - 1]);
    const double from = low, slope = (f->epsilon[i - 1] - f->epsilon[i]) / (high - low);
    for (int k = 0; k < 40; k++) {
        const double middle = (low + high) / 2.0;
        if (fits(group, f->epsilon[i] + slope * (middle - from), exp(middle), delta))
            low = middle;
        else
            high = middle;
    }
    const double one = exp(low) * 0.9, epsilon = epsilon_at(a, one);
    return group * (fits(group, epsilon, one, delta) ? fmin(epsilon, f->epsilon[i]) : f->epsilon[i]);
}

/* ---- tests --------------------------------------------------------------------------------------- */

double reach_missed(const double *epsilon, const double *delta, int n, double false_alarm)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        const double left = 1.0 - delta[i];
        most = fmax(most, left - exp(epsilon[i]) * false_alarm);
        most = fmax(most, exp(-epsilon[i]) * (left - false_alarm));
    }
    return most * (1.0 - 1e-12);
}

static void measure_tests(const struct asked *a, double quoted, struct reach *reach)
{
    static const double parts[CURVE_POINTS] = {0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0, 1.3};
    static const double rates[REACH_N_TESTS] = {0.01, 0.05, 0.1};
    double epsilon[CURVE_POINTS], delta[CURVE_POINTS];
    for (int i = 0; i < CURVE_POINTS; i++) {
        epsilon[i] = parts[i] * quoted;
        delta[i] = a->functions->delta ? delta_at(a, epsilon[i])
                   : parts[i] == 1.0   ? a->guarantee->delta
                                       : 1.0;
    }
    for (int i = 0; i < REACH_N_TESTS; i++) {
        reach->false_alarm[i] = rates[i];
        reach->missed[i] = reach_missed(epsilon, delta, CURVE_POINTS, rates[i]);
    }
}

/* ---- Gaussian differential privacy ---------------------------------------------------------------- */

static double gaussian_delta(double mu, double epsilon)
{
    const double root = sqrt(0.5);
    return 0.5 * erfc((epsilon / mu - mu / 2.0) * root) -
           exp(epsilon) * 0.5 * erfc((epsilon / mu + mu / 2.0) * root);
}

/* Of one copy; NaN if it is not a Gaussian mechanism. */
static double shift_of(const dpf_charge *charge)
{
    const double steps = charge->grid > 0.0 ? charge->sensitivity / charge->grid : NAN;
    if (charge->rate < 1.0)
        return NAN;
    if (charge->kind == DPF_EVENT_GAUSSIAN ||
        (charge->kind == DPF_EVENT_DISCRETE_GAUSSIAN && charge->grid == 0.0))
        return charge->sensitivity / charge->scale;
    if (charge->kind == DPF_EVENT_DISCRETE_GAUSSIAN || charge->kind == DPF_EVENT_CORRELATED_GAUSSIAN)
        return steps * dpf_discrete_gaussian_shift(charge->scale / charge->grid);
    return charge->kind == DPF_EVENT_SKELLAM
               ? steps * dpf_skellam_shift(charge->p.skellam.variance / (charge->grid * charge->grid))
               : (double)NAN;
}

static dpf_status quiet(const dpf_host *host, dpf_status code, int32_t param, const char *text)
{
    (void)host;
    (void)param;
    (void)text;
    return code;
}

/* NaN if there is another release among them. */
static double exact_mu(const struct asked *a)
{
    const dpf_host host = {.size = sizeof host, .fail = quiet};
    const dpf_question question = question_of(a);
    double squares = 0.0;
    for (int64_t i = 0; i < a->n; i++) {
        dpf_charge charge;
        if (dpf_charge_event(&host, &a->events[i], i, &question, &charge) != DPF_OK || charge.unbounded)
            return NAN;
        if (charge.copies == 0.0)
            continue;
        const double shift = shift_of(&charge);
        squares += charge.copies * shift * shift;
    }
    return sqrt(squares) * (1.0 + 1e-12);
}

/* The mu of that epsilon and delta, from above. */
static double mu_like(double epsilon, double delta)
{
    double low = 1e-9, high = 1.0;
    if (!(delta > 0.0 && epsilon > 0.0 && epsilon < 600.0))
        return NAN;
    while (gaussian_delta(high, epsilon) < delta && high < 1e3)
        high *= 2.0;
    for (int i = 0; i < 80; i++) {
        const double middle = (low + high) / 2.0;
        if (gaussian_delta(middle, epsilon) < delta)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- all ----------------------------------------------------------------------------------------- */

/* The account of the least epsilon that is no claim, or -1. */
static int least_account(const struct guarantee *guarantee)
{
    int best = -1;
    for (int i = 0; i < guarantee->n_accounts; i++) {
        const struct account *account = &guarantee->accounts[i];
        if (!account->is_claim && !account->refused && isfinite(account->answer.epsilon) &&
            (best < 0 || account->answer.epsilon < guarantee->accounts[best].answer.epsilon))
            best = i;
    }
    return best;
}

static void measure(struct asked *a, double quoted, double delta, struct reach *reach)
{
    static const int groups[REACH_N_GROUPS] = {2, 5, 10};
    const int additive = all_additive(a);
    const struct falling falling = additive ? (struct falling){{0.0}, {0.0}} : epsilons_at(a, delta);
    for (int i = 0; i < REACH_N_GROUPS; i++) {
        reach->group[i] = groups[i];
        reach->group_epsilon[i] =
            additive ? scaled_epsilon(a, groups[i], delta) : chained_epsilon(a, &falling, groups[i], delta);
    }
    measure_tests(a, quoted, reach);
    reach->mu = exact_mu(a);
    reach->mu_holds = !isnan(reach->mu);
    if (!reach->mu_holds)
        reach->mu = mu_like(quoted, delta);
}

void reach_measure(struct guarantee *guarantee, struct instance *const *accountants, int n,
                   const struct ledger *ledger, int64_t rounds)
{
    const int best = least_account(guarantee);
    struct reach *reach = &guarantee->reach;
    memset(reach, 0, sizeof *reach);
    if (best < 0 || guarantee->n_releases == 0 || guarantee->accounts[best].answer.epsilon == 0.0)
        return;
    struct asked asked = {.guarantee = guarantee, .n = ledger->n, .rounds = rounds};
    for (int i = 0; i < n; i++)
        if (strcmp(accountants[i]->entry->component->id, guarantee->accounts[best].accountant) == 0)
            asked.accountant = accountants[i];
    if (!asked.accountant)
        return;
    asked.events = memory_need((size_t)ledger->n, sizeof *asked.events);
    for (int64_t i = 0; i < ledger->n; i++)
        asked.events[i] = ledger->entries[i].event;
    asked.functions = asked.accountant->functions;
    snprintf(reach->accountant, sizeof reach->accountant, "%s", guarantee->accounts[best].accountant);
    measure(&asked, guarantee->accounts[best].answer.epsilon, guarantee->accounts[best].answer.delta, reach);
    reach->known = 1;
    free(asked.events);
}
