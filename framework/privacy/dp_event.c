/* SPDX-License-Identifier: Apache-2.0 */
#include "privacy/dp_event.h"

#include <math.h>

#include "dpframe/accounting.h"

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

static json_t *discrete(const dpf_charge *charge)
{
    /* In grid steps, where that event is defined. */
    const double steps = floor(charge->sensitivity / charge->grid * (1.0 + 1e-12));
    if (charge->kind == DPF_EVENT_DISCRETE_GAUSSIAN) {
        json_t *event =
            with_real(event_new("DiscreteGaussianDpEvent"), "sigma", charge->scale / charge->grid);
        return with_real(event, "sensitivity", charge->sensitivity / charge->grid);
    }
    json_t *event =
        with_real(event_new("DiscreteLaplaceDpEvent"), "noise_parameter", charge->grid / charge->scale);
    json_object_set_new(event, "sensitivity", json_integer((json_int_t)steps));
    return event;
}

static json_t *approximate(double epsilon, double delta)
{
    return with_real(with_real(event_new("EpsilonDeltaDpEvent"), "epsilon", epsilon), "delta", delta);
}

/* One copy, without its draw. */
static json_t *one_event(const dpf_charge *charge)
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
        return charge->grid > 0.0 ? discrete(charge) : event_new("UnsupportedDpEvent");
    case DPF_EVENT_PURE:
        return approximate(charge->p[0] * charge->sensitivity, 0.0);
    case DPF_EVENT_APPROX:
        return approximate(charge->p[0], charge->p[1]);
    case DPF_EVENT_ZCDP:
        return with_real(with_real(event_new("ZCDpEvent"), "rho", charge->p[1]), "xi", charge->p[0]);
    default:
        return event_new("UnsupportedDpEvent");
    }
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
    json_t *one = one_event(&charge);
    if (charge.rate < 1.0) {
        json_t *sampled = with_real(event_new("PoissonSampledDpEvent"), "sampling_probability", charge.rate);
        json_object_set_new(sampled, "event", one);
        one = sampled;
    }
    json_t *repeated = event_new("SelfComposedDpEvent");
    json_object_set_new(repeated, "event", one);
    json_object_set_new(repeated, "count", json_integer((json_int_t)charge.copies));
    return repeated;
}

json_t *dp_event_json(const struct ledger *ledger, const struct guarantee *guarantee)
{
    const dpf_question question = {.size = sizeof question,
                                   .unit = guarantee->unit,
                                   .adjacency = guarantee->adjacency,
                                   .observer = guarantee->observer,
                                   .delta = guarantee->delta};
    json_t *events = json_array(), *composed = event_new("ComposedDpEvent");
    for (int64_t i = 0; i < ledger->n; i++)
        json_array_append_new(events, charged_event(&ledger->entries[i].event, i, &question));
    json_object_set_new(composed, "events", events);
    return composed;
}
