/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recommender_plan.h - the plan of a recommender: [model] recommender.
 *
 * A recommender replaces both sides. Keys of the factorization beside it would have no effect and are errors.
 */
#ifndef DPF_PLAN_RECOMMENDER_PLAN_H
#define DPF_PLAN_RECOMMENDER_PLAN_H

#include "plan/plan.h"

/* Makes the component, if one is named. Part of components_make. */
int recommender_plan_make(struct plan *plan, struct dpf_error *error);
/* Its releases, into the ledger, for the plan's sizes and noise factor. Part of plan_complete and of
   calibration, which calls it again. */
int recommender_plan_complete(struct plan *plan, struct dpf_error *error);
/* What it says about a release, for the conditions. Part of facts_complete. */
void recommender_plan_judge(const struct plan *plan, int32_t release, struct term_facts *facts);

#endif
