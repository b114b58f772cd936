/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recommender_plan.h - the plan of a recommender: [model] recommender, the row component_type of model_type.h.
 *
 * A recommender replaces both sides. Keys of the factorization beside it would have no effect and are errors.
 */
#ifndef DPF_PLAN_RECOMMENDER_PLAN_H
#define DPF_PLAN_RECOMMENDER_PLAN_H

#include "plan/plan.h"

/* Its statements about a release, for the conditions. Part of facts_complete. */
void recommender_plan_judge(const struct plan *plan, int32_t release, struct term_facts *facts);

#endif
