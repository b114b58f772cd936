/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - what follows from the plan for the conditions C1..C12. Part of plan_complete. */
#ifndef DPF_PLAN_FACTS_H
#define DPF_PLAN_FACTS_H

#include "plan/plan.h"

int facts_complete(struct plan *plan, struct dpf_error *error);

#endif
