/* SPDX-License-Identifier: Apache-2.0 */
#include "privacy/dp_event.h"

#include <math.h>
#include <string.h>

#include "dpframe/accounting.h"
#include "dpframe/integer_noise.h"
#include "dpframe/selection.h"

static dpf_status quiet(const dpf_host *host, dpf_status code, int32_t param, const char *text)
{
    (void)host;
    (void)param;
    (void)text;
    return code;
}

static json_t *event_new(const char *class_name)
{
    return json_pack("{s:s, s:s}", "module_name", "dp_accounting.dp_event", "class_name", class_name);
}

static json_t *with_real(json_t *event, const char *field, double value)
{
    json_object_set_new(event, field, json_real(value));
    return event;
}

/*
 * Accountants there reject the classes for discrete noise inside of a draw, or run out of memory at a fine
 * grid. The continuous noise that is no more private (integer_noise.h) takes its place.
 */
static json_t *continuous(const char *class_name, double multiplier)
{
    return multiplier > 0.0 ? with_real(event_new(class_name), "noise_multiplier", multiplier * (1.0 - 1e-13))
                            : event_new("UnsupportedDpEvent");
}

static json_t *discrete(const dpf_charge *charge)
{
    const double steps = charge->sensitivity / charge->grid;
    if (charge->kind == DPF_EVENT_DISCRETE_GAUSSIAN || charge->kind == DPF_EVENT_CORRELATED_GAUSSIAN)
        return continuous("GaussianDpEvent",
                          1.0 / (steps * dpf_discrete_gaussian_shift(charge->scale / charge->grid)));
    return continuous("LaplaceDpEvent",
                      1.0 / dpf_discrete_laplace_epsilon(charge->grid / charge->scale,
                                                         fmax(floor(steps * (1.0 + 1e-12)), 1.0)));
}

/* JSON has no infinity and no NaN. */
static json_t *approximate(double epsilon, double delta)
{
    if (!(epsilon >= 0.0 && delta >= 0.0 && delta <= 1.0))
        return event_new("UnsupportedDpEvent");
    if (isinf(epsilon))
        return event_new("NonPrivateDpEvent");
    return with_real(with_real(event_new("EpsilonDeltaDpEvent"), "epsilon", epsilon), "delta", delta);
}

/* ln(1 + q (e^e - 1)), without overflow: an e-DP release under a Poisson draw with rate q. */
static double drawn_epsilon(double epsilon, double q)
{
    if (q >= 1.0 || isinf(epsilon))
        return epsilon;
    return epsilon < 1.0 ? log1p(q * expm1(epsilon)) : epsilon + log(q + (1.0 - q) * exp(-epsilon));
}

static json_t *concentrated(double xi, double rho)
{
    if (!(xi >= 0.0 && rho >= 0.0))
        return event_new("UnsupportedDpEvent");
    if (isinf(xi) || isinf(rho))
        return event_new("NonPrivateDpEvent");
    return with_real(with_real(event_new("ZCDpEvent"), "rho", rho), "xi", xi);
}

/* Skellam noise is not among the classes. Where it is too little for a Gaussian pair, what is proved of it
   here is a line above its Renyi curve, which accountants by privacy losses refuse. */
static json_t *skellam(const dpf_charge *charge)
{
    const double variance = charge->p.skellam.variance / (charge->grid * charge->grid),
                 shift = dpf_skellam_shift(variance);
    double xi, rho;
    if (isfinite(shift))
        return continuous("GaussianDpEvent", charge->grid / (charge->sensitivity * shift));
    dpf_skellam_line(variance, charge->l1 / charge->grid, charge->sensitivity / charge->grid, &xi, &rho);
    return concentrated(xi, rho);
}

/* Bits that one unit moves, each by itself: they share a draw, if there is one. */
static double bits_apart(const dpf_charge *charge)
{
    const int apart = charge->kind == DPF_EVENT_RANDOMIZED_RESPONSE && charge->rate >= 1.0 &&
                      charge->sensitivity >= 1.0 && charge->sensitivity == floor(charge->sensitivity);
    return apart ? charge->sensitivity : 1.0;
}

/*
 * A bit that is flipped with probability p is the worst pair of its epsilon, so nothing is lost by that
 * epsilon. RandomizedResponseDpEvent is for neighbours that replace a value only; there, the multipliers of
 * other noise, which hold their sensitivity, would be doubled. (Its copies in a SelfComposedDpEvent also
 * count once in PLDAccountant, as of 2025.)
 */
static json_t *response(const dpf_charge *charge)
{
    const double p = fmin(charge->p.response.flip, 1.0 - charge->p.response.flip);
    const double epsilon = p > 0.0 ? log1p(-p) - log(p) : p == 0.0 ? INFINITY : NAN;
    return approximate(drawn_epsilon(charge->sensitivity / bits_apart(charge) * epsilon, charge->rate), 0.0);
}

/* One copy, with the draw where the class is for a bound that a draw makes smaller. */
static json_t *bound_event(const dpf_charge *charge)
{
    switch (charge->kind) {
    case DPF_EVENT_PURE:
        return approximate(drawn_epsilon(charge->p.pure.epsilon * charge->sensitivity, charge->rate), 0.0);
    case DPF_EVENT_APPROX:
        return approximate(drawn_epsilon(charge->p.approx.epsilon, charge->rate),
                           charge->rate * charge->p.approx.delta);
    case DPF_EVENT_ZCDP: /* of which no gain by a draw is proved */
        return concentrated(charge->p.zcdp.xi, charge->p.zcdp.rho);
    case DPF_EVENT_RANDOMIZED_RESPONSE:
        return response(charge);
    default: /* the Poisson binomial mechanism: a maximum over curves, of which no class can be made */
        return event_new("UnsupportedDpEvent");
    }
}

/* Noise by its own class, without a draw. NULL: there is none. */
static json_t *noise_event(const dpf_charge *charge)
{
    switch (charge->kind) {
    case DPF_EVENT_GAUSSIAN:
        return with_real(event_new("GaussianDpEvent"), "noise_multiplier",
                         charge->scale / charge->sensitivity);
    case DPF_EVENT_LAPLACE:
        return with_real(event_new("LaplaceDpEvent"), "noise_multiplier",
                         charge->scale / charge->sensitivity);
    case DPF_EVENT_DISCRETE_LAPLACE:
    case DPF_EVENT_DISCRETE_GAUSSIAN:
    case DPF_EVENT_CORRELATED_GAUSSIAN: /* of the whole run */
        return charge->grid > 0.0 ? discrete(charge) : event_new("UnsupportedDpEvent");
    case DPF_EVENT_SKELLAM:
        return skellam(charge);
    default:
        return NULL;
    }
}

/* One copy. */
static json_t *one_event(const dpf_charge *charge)
{
    json_t *noise = noise_event(charge);
    const char *name = json_string_value(json_object_get(noise, "class_name"));
    if (!noise || charge->rate >= 1.0)
        return noise ? noise : bound_event(charge);
    if (strcmp(name, "GaussianDpEvent") != 0 && strcmp(name, "LaplaceDpEvent") != 0)
        return noise; /* of which no gain by a draw is proved */
    json_t *sampled = with_real(event_new("PoissonSampledDpEvent"), "sampling_probability", charge->rate);
    json_object_set_new(sampled, "event", noise);
    return sampled;
}

static json_t *charged_event(const dpf_event *event, int64_t index, const dpf_question *question)
{
    const dpf_host host = {.size = sizeof host, .fail = quiet};
    dpf_charge charge;
    if (dpf_charge_event(&host, event, index, question, &charge) != DPF_OK)
        return event_new("UnsupportedDpEvent");
    if (charge.unbounded)
        return event_new("NonPrivateDpEvent");
    if (charge.copies == 0.0)
        return event_new("NoOpDpEvent");
    json_t *repeated = event_new("SelfComposedDpEvent");
    json_object_set_new(repeated, "event", one_event(&charge));
    json_object_set_new(repeated, "count", json_integer((json_int_t)(charge.copies * bits_apart(&charge))));
    return repeated;
}

/* The releases of one run, as a list of events. A new reference; *next is the entry behind them. */
static json_t *run_events(const struct ledger *ledger, int64_t candidate, const dpf_question *question,
                          int64_t *next)
{
    const dpf_event *event = candidate < ledger->n ? &ledger->entries[candidate].event : NULL;
    const int64_t n = event && event->kind == DPF_EVENT_CANDIDATE ? (int64_t)event->p.candidate.releases : 0;
    json_t *list = json_array();
    *next = candidate + 1;
    for (int64_t i = 0; i < n && *next < ledger->n; i++, (*next)++)
        json_array_append_new(list, charged_event(&ledger->entries[*next].event, *next, question));
    return list;
}

/*
 * RepeatAndSelectDpEvent has one event for a run: candidates that cost different things have no class, nor
 * has a negative shape, or that of a Poisson law, which is infinity there. *next is the entry behind the last
 * candidate.
 */
static json_t *selection_event(const struct ledger *ledger, int64_t index, const dpf_question *question,
                               int64_t *next)
{
    const dpf_event *event = &ledger->entries[index].event;
    json_t *run = NULL;
    int alike = event->p.selection.repetitions == DPF_REPETITIONS_NEGATIVE_BINOMIAL &&
                event->p.selection.eta >= 0.0 && event->p.selection.gamma > 0.0 &&
                event->p.selection.gamma <= 1.0 && question->observer == DPF_OBSERVER_OUTSIDER &&
                event->count == 1;
    *next = index + 1;
    for (int64_t i = 0; i < (int64_t)event->p.selection.candidates && *next < ledger->n; i++) {
        json_t *list = run_events(ledger, *next, question, next);
        alike &= !run || json_equal(run, list);
        if (run)
            json_decref(list);
        else
            run = list;
    }
    if (!alike || !run) {
        json_decref(run);
        return event_new("UnsupportedDpEvent");
    }
    json_t *composed = event_new("ComposedDpEvent"), *selected = event_new("RepeatAndSelectDpEvent");
    json_object_set_new(composed, "events", run);
    json_object_set_new(selected, "event", composed);
    with_real(selected, "mean", dpf_negative_binomial_mean(event->p.selection.eta, event->p.selection.gamma));
    return with_real(selected, "shape", event->p.selection.eta);
}

/* Those of the kinds and questions that this program's accountants serve, but that no class is for. */
int64_t dp_event_unsupported(const json_t *whole)
{
    const json_t *events = json_object_get(whole, "events");
    int64_t n = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i), *inner = json_object_get(event, "event");
        if (json_object_get(inner, "events")) {
            n += dp_event_unsupported(inner);
            continue;
        }
        const char *name = json_string_value(json_object_get(inner ? inner : event, "class_name"));
        n += strcmp(name, "UnsupportedDpEvent") == 0;
    }
    return n;
}

json_t *dp_event_json(const struct ledger *ledger, const struct guarantee *guarantee)
{
    const dpf_question question = {.size = sizeof question,
                                   .unit = guarantee->unit,
                                   .adjacency = guarantee->adjacency,
                                   .observer = guarantee->observer,
                                   .delta = guarantee->delta};
    json_t *events = json_array(), *composed = event_new("ComposedDpEvent");
    for (int64_t i = 0; i < ledger->n;) {
        const int selects = ledger->entries[i].event.kind == DPF_EVENT_SELECTION;
        int64_t next = i + 1;
        json_array_append_new(events, selects ? selection_event(ledger, i, &question, &next)
                                              : charged_event(&ledger->entries[i].event, i, &question));
        i = next;
    }
    json_object_set_new(composed, "events", events);
    return composed;
}

/* The least epsilon that is proved, or would be if every condition held; NaN if there is none. */
static double least_epsilon(const struct guarantee *guarantee)
{
    double least = NAN;
    for (int i = 0; i < guarantee->n_accounts; i++) {
        const struct account *account = &guarantee->accounts[i];
        if (!account->is_claim && !account->refused && isfinite(account->answer.epsilon))
            least = fmin(account->answer.epsilon, least);
    }
    return least;
}

json_t *dp_event_file(const struct ledger *ledger, const struct guarantee *guarantee)
{
    static const char about[] = "An upper bound for PLDAccountant and RdpAccountant of dp_accounting, with "
                                "ADD_OR_REMOVE_ONE: integer noise "
                                "is given as continuous noise that is no more private "
                                "(dpframe/integer_noise.h), other releases by their "
                                "epsilon. It is valid for the unit and adjacency named here, whose "
                                "sensitivities are part of the noise "
                                "multipliers. docs/privacy-operations.md has a loader.";
    const double epsilon = least_epsilon(guarantee);
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:f, s:o}", "about", about, "unit",
                     dpf_unit_name(guarantee->unit), "adjacency", dpf_adjacency_name(guarantee->adjacency),
                     "neighboring_relation", "ADD_OR_REMOVE_ONE", "epsilon",
                     isnan(epsilon) ? json_null() : json_real(epsilon), "delta", guarantee->delta, "event",
                     dp_event_json(ledger, guarantee));
}
