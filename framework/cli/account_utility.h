/* SPDX-License-Identifier: Apache-2.0 */
/* account_utility.h - the utility that publications state, for "dpframe account --utility". */
#ifndef DPF_CLI_ACCOUNT_UTILITY_H
#define DPF_CLI_ACCOUNT_UTILITY_H

#include <jansson.h>

#include "base/text.h"
#include "plan/plan.h"

/*
 * Bounds for every side whose rows minimise a perturbed objective in a ball. settings are NAME=VALUE that
 * stand in for what the plan says: d, N, c, epsilon, alpha0, beta1, beta2, beta3, records. Adds lines to
 * text, or members to json, whichever is not NULL. Faults: DPF_FAULT_CONFIG.
 */
int account_utility(const struct plan *plan, const char *const *settings, int n_settings, struct text *text,
                    json_t *json, struct dpf_error *error);

#endif
