/* SPDX-License-Identifier: Apache-2.0 */
/* queries.h - the query of each term, and that of all terms of a side together. Part of plan_complete. */
#ifndef DPF_PLAN_QUERIES_H
#define DPF_PLAN_QUERIES_H

#include "plan/plan.h"

int queries_complete(struct plan *plan, struct dpf_error *error);
/* Noise and ledger again, for another plan->noise_factor. */
int queries_replan(struct plan *plan, struct dpf_error *error);

#endif
