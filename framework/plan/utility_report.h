/* SPDX-License-Identifier: Apache-2.0 */
/* utility_report.h - reports of a side's components about the error of its release (dpframe/utility.h). */
#ifndef DPF_PLAN_UTILITY_REPORT_H
#define DPF_PLAN_UTILITY_REPORT_H

#include "dpframe/utility.h"
#include "plan/plan.h"

#define UTILITY_MOST 32
#define UTILITY_NOTES 16

struct utility_report {
    dpf_utility utility;
    dpf_utility_number numbers[UTILITY_MOST];
    dpf_utility_bound bounds[UTILITY_MOST];
    const char *notes[UTILITY_NOTES];
    struct instance *by; /* who reports; NULL: nobody has a theorem about this side */
    dpf_status (*callback)(void *, const dpf_utility_setup *, dpf_utility *);
    dpf_utility_setup setup;
    dpf_event events[2 * DPF_MAX_BLOCKS];
};

/* The numbers that go into the report of a side, with the plan's values. target: epsilon of the whole run
   that settings are chosen for; NaN: none. The loss is asked first, then the solver. */
int utility_numbers(const struct plan *plan, int side, double target, struct utility_report *out,
                    struct dpf_error *error);
/* Replaces numbers by NAME=VALUE settings. DPF_FAULT_CONFIG: an unknown name, or no number. */
int utility_override(struct utility_report *report, const char *const *settings, int n,
                     struct dpf_error *error);
/* Checks the numbers and computes bounds and notes. DPF_FAULT_CONFIG: a number is unknown or out of range. */
int utility_bounds(struct utility_report *report, struct dpf_error *error);

#endif
