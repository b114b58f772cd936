/* SPDX-License-Identifier: Apache-2.0 */
/* account_projection.h - the theory of DPMF-RP, for "dpframe account --utility". */
#ifndef DPF_CLI_ACCOUNT_PROJECTION_H
#define DPF_CLI_ACCOUNT_PROJECTION_H

#include <jansson.h>

#include "base/text.h"
#include "plan/plan.h"

/* Whether the side's release is a clipped gradient over all cells that the Poisson binomial mechanism
 * encodes. */
int account_has_projection(const struct plan *plan, const struct side_plan *side);

/* settings are NAME=VALUE that stand in for what the plan says; one of text and json is NULL. Faults:
 * DPF_FAULT_CONFIG. */
int account_projection(const struct plan *plan, const struct side_plan *side, const char *const *settings,
                       int n_settings, struct text *text, json_t *json, struct dpf_error *error);

#endif
