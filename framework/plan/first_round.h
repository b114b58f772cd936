/* SPDX-License-Identifier: Apache-2.0 */
/* first_round.h - what could only fail in the rounds, decided from keys and what components declare. Part of
 * plan_complete. */
#ifndef DPF_PLAN_FIRST_ROUND_H
#define DPF_PLAN_FIRST_ROUND_H

#include "plan/plan.h"

/* Refuses a term whose first round would fail whatever the records are, or by bad luck. The term and its side are
   complete. */
int first_round_check(const struct plan *plan, const struct side_plan *side, const struct term_plan *term,
                      struct dpf_error *error);

#endif
