/* SPDX-License-Identifier: Apache-2.0 */
/* account_utility.h - prints the utility reports of "dpframe account --utility". */
#ifndef DPF_ACCOUNT_ACCOUNT_UTILITY_H
#define DPF_ACCOUNT_ACCOUNT_UTILITY_H

#include <jansson.h>

#include "base/text.h"
#include "plan/utility_report.h"

/*
 * The reports of all sides that have one. settings are NAME=VALUE that replace the plan's numbers. Adds lines
 * to text, or members to json, whichever is not NULL. Faults: DPF_FAULT_CONFIG.
 */
int account_utility(const struct plan *plan, const char *const *settings, int n_settings, struct text *text,
                    json_t *json, struct dpf_error *error);

/* One report, whose bounds are computed, as text for lines of that width, and as JSON. */
void utility_text(const struct utility_report *report, int width, struct text *out);
json_t *utility_json(const struct utility_report *report);

#endif
