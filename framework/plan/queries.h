/* SPDX-License-Identifier: Apache-2.0 */
/* queries.h - blocks, bounds, sensitivities and noise of every term. Part of plan_complete. */
#ifndef DPF_PLAN_QUERIES_H
#define DPF_PLAN_QUERIES_H

#include "plan/plan.h"

int queries_complete(struct plan *plan, struct dpf_error *error);
/* Noise and ledger again, for another plan->noise_factor. */
int queries_replan(struct plan *plan, struct dpf_error *error);

/* Changes bounds to those that the mechanism's budget is stated for. */
void plan_budgeted_bounds(const struct term_plan *term, dpf_bounds *bounds);

#endif
