/* SPDX-License-Identifier: Apache-2.0 */
#include "account/account_utility.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/sheet.h"
#include "base/terminal.h"

static void add_numbers(const struct utility_report *report, int width, struct text *out)
{
    struct text line = {0};
    for (int32_t i = 0; i < report->utility.n_numbers; i++) {
        const dpf_utility_number *number = &report->numbers[i];
        if (!isnan(number->value))
            text_add(&line, "%s%s = %.6g%s", line.length ? ", " : "", number->name, number->value,
                     number->flags & DPF_UTILITY_ASSUMED ? " (assumed)" : "");
    }
    terminal_wrap(out, "  ", 2, line.data ? line.data : "", width);
    text_free(&line);
}

static void add_bounds(const struct utility_report *report, int width, struct text *out)
{
    struct sheet sheet = {0};
    sheet_column(&sheet, "  ", SHEET_LEFT);
    sheet_column(&sheet, "as published", SHEET_RIGHT);
    sheet_column(&sheet, "derived here", SHEET_RIGHT);
    for (int32_t i = 0; i < report->utility.n_bounds; i++) {
        const dpf_utility_bound *bound = &report->bounds[i];
        const double values[] = {bound->published, bound->derived};
        sheet_printf(&sheet, "  %s", bound->help);
        for (int k = 0; k < 2; k++) {
            if (isnan(values[k]))
                sheet_text(&sheet, NULL);
            else
                sheet_printf(&sheet, "%.6g", values[k]);
        }
    }
    sheet_write(&sheet, SHEET_TEXT, width, out);
    sheet_free(&sheet);
}

void utility_text(const struct utility_report *report, int width, struct text *out)
{
    struct text head = {0};
    text_add(&head, "Utility of %s (%s): %s", plan_side_name(report->setup.side), report->utility.source,
             report->utility.title);
    text_add(out, "\n");
    terminal_wrap(out, "", 2, head.data ? head.data : "", width);
    text_free(&head);
    text_add(out, "  Theory, not a guarantee, with\n");
    add_numbers(report, width, out);
    text_add(out, "\n");
    add_bounds(report, width, out);
    text_add(out, "\n");
    for (int32_t i = 0; i < report->utility.n_notes; i++)
        terminal_wrap(out, "  ", 2, report->notes[i], width);
}

static json_t *number_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *utility_json(const struct utility_report *report)
{
    json_t *numbers = json_object(), *published = json_object(), *derived = json_object(),
           *notes = json_array();
    for (int32_t i = 0; i < report->utility.n_numbers; i++)
        json_object_set_new(numbers, report->numbers[i].name, number_json(report->numbers[i].value));
    for (int32_t i = 0; i < report->utility.n_bounds; i++) {
        const dpf_utility_bound *bound = &report->bounds[i];
        if (!isnan(bound->published))
            json_object_set_new(published, bound->name, number_json(bound->published));
        if (!isnan(bound->derived))
            json_object_set_new(derived, bound->name, number_json(bound->derived));
    }
    for (int32_t i = 0; i < report->utility.n_notes; i++)
        json_array_append_new(notes, json_string(report->notes[i]));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "source", report->utility.source, "title",
                     report->utility.title, "numbers", numbers, "published", published, "derived", derived,
                     "notes", notes);
}

int account_utility(const struct plan *plan, const char *const *settings, int n_settings, struct text *text,
                    json_t *json, struct dpf_error *error)
{
    int found = 0;
    for (int side = 0; side < 2; side++) {
        struct utility_report report;
        if (utility_numbers(plan, side, NAN, &report, error) != 0)
            return -1;
        if (!report.by)
            continue;
        if (utility_override(&report, settings, n_settings, error) != 0 ||
            utility_bounds(&report, error) != 0)
            return -1;
        if (text)
            utility_text(&report, terminal_width(STDOUT_FILENO), text);
        if (json)
            json_object_set_new(json, plan_side_name(side), utility_json(&report));
        found = 1;
    }
    return found ? 0
                 : error_set(
                       error, DPF_FAULT_CONFIG,
                       "--utility: no utility bound is known for this configuration: none of its losses and "
                       "solvers reports one for its releases");
}
