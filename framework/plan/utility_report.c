/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/utility_report.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "plugin/role_tables.h"

static void set_up(const struct plan *plan, const struct side_plan *side, double target,
                   struct utility_report *out)
{
    const struct term_plan *term = &side->terms[0];
    const dpf_mechanism *mechanism = term->mechanism->functions;
    out->utility = (dpf_utility){.size = sizeof out->utility,
                                 .numbers_capacity = UTILITY_MOST,
                                 .numbers = out->numbers,
                                 .bounds = out->bounds,
                                 .bounds_capacity = UTILITY_MOST,
                                 .notes_capacity = UTILITY_NOTES,
                                 .notes = out->notes,
                                 .source = "",
                                 .title = "",
                                 .error = NAN};
    out->setup = (dpf_utility_setup){.size = sizeof out->setup,
                                     .side = side->side,
                                     .query = &term->query,
                                     .bounds = &term->bounds,
                                     .blocks = term->sensitivity.blocks,
                                     .scale = term->noise.scale,
                                     .sampling = &term->sampling,
                                     .events = out->events,
                                     .rows = side->state_rows,
                                     .rounds = plan->run.params.values[RUN_ROUNDS].integer,
                                     .budget = mechanism_budget(mechanism, term->mechanism->self),
                                     .target = target};
    const int32_t most = (int32_t)(sizeof out->events / sizeof out->events[0]);
    for (int64_t i = 0; i < plan->ledger.n && out->setup.n_events < most; i++)
        if (plan->ledger.entries[i].event.side == side->side && plan->ledger.entries[i].event.term == 0)
            out->events[out->setup.n_events++] = plan->ledger.entries[i].event;
}

int utility_numbers(const struct plan *plan, int side_number, double target, struct utility_report *out,
                    struct dpf_error *error)
{
    const struct side_plan *side = &plan->sides[side_number];
    memset(out, 0, sizeof *out);
    if (!side->updated || side->n_terms != 1 || !side->terms[0].mechanism)
        return 0;
    set_up(plan, side, target, out);
    const struct {
        struct instance *by;
        dpf_status (*callback)(void *, const dpf_utility_setup *, dpf_utility *);
    } asked[] = {{side->terms[0].loss, ((const dpf_loss *)side->terms[0].loss->functions)->utility},
                 {side->solver, side->solver_functions->utility}};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        if (!asked[i].callback)
            continue;
        if (instance_result(asked[i].by, asked[i].callback(asked[i].by->self, &out->setup, &out->utility),
                            "utility", error) != 0)
            return -1;
        if (out->utility.n_numbers == 0)
            continue;
        out->by = asked[i].by;
        out->callback = asked[i].callback;
        return 0;
    }
    return 0;
}

static dpf_utility_number *number_named(struct utility_report *report, const char *name, size_t length)
{
    for (int32_t i = 0; i < report->utility.n_numbers; i++)
        if (strlen(report->numbers[i].name) == length && strncmp(report->numbers[i].name, name, length) == 0)
            return &report->numbers[i];
    return NULL;
}

int utility_override(struct utility_report *report, const char *const *settings, int n,
                     struct dpf_error *error)
{
    for (int i = 0; i < n; i++) {
        const char *equals = strchr(settings[i], '=');
        dpf_utility_number *number =
            equals ? number_named(report, settings[i], (size_t)(equals - settings[i])) : NULL;
        if (number && text_to_real(equals + 1, &number->value) == 0) {
            number->flags &= ~DPF_UTILITY_ASSUMED;
            continue;
        }
        struct text names = {0};
        for (int32_t k = 0; k < report->utility.n_numbers; k++)
            text_add(&names, "%s%s", k ? ", " : "", report->numbers[k].name);
        error_set(error, DPF_FAULT_CONFIG, "--utility %.100s: write NAME=NUMBER, with one of %s", settings[i],
                  names.data ? names.data : "");
        text_free(&names);
        return -1;
    }
    return 0;
}

static int check_number(const dpf_utility_number *number, struct dpf_error *error)
{
    const double value = number->value;
    if (isnan(value))
        return number->flags & DPF_UTILITY_OPTIONAL
                   ? 0
                   : error_set(error, DPF_FAULT_CONFIG,
                               "--utility: the configuration does not tell %s (%s); give it as %s=NUMBER",
                               number->name, number->help, number->name);
    if ((number->flags & DPF_UTILITY_WHOLE) && floor(value) != value)
        return error_set(error, DPF_FAULT_CONFIG, "--utility: %s = %g (%s) must be a whole number",
                         number->name, value, number->help);
    if (value >= number->least && value <= number->most &&
        !((number->flags & DPF_UTILITY_ABOVE) && value == number->least))
        return 0;
    const char *words = number->flags & DPF_UTILITY_ABOVE ? "above" : "at least";
    if (isinf(number->most))
        return error_set(error, DPF_FAULT_CONFIG, "--utility: %s = %g (%s) must be %s %g", number->name,
                         value, number->help, words, number->least);
    return error_set(error, DPF_FAULT_CONFIG, "--utility: %s = %g (%s) must be %s %g and at most %g",
                     number->name, value, number->help, words, number->least, number->most);
}

int utility_bounds(struct utility_report *report, struct dpf_error *error)
{
    for (int32_t i = 0; i < report->utility.n_numbers; i++)
        if (check_number(&report->numbers[i], error) != 0)
            return -1;
    return instance_result(report->by, report->callback(report->by->self, &report->setup, &report->utility),
                           "utility", error);
}
