/* SPDX-License-Identifier: Apache-2.0 */
/* combinations.h - refuses components that do not work together, and names a remedy. Part of plan_complete.
 * */
#ifndef DPF_PLAN_COMBINATIONS_H
#define DPF_PLAN_COMBINATIONS_H

#include "plan/plan.h"

/* One term, its query and sampling known; settles who makes its messages (by_user, whole_message). */
int combinations_check_term(const struct plan *plan, const struct side_plan *side, struct term_plan *term,
                            struct dpf_error *error);
/* Sides that parties solve. */
int combinations_check_sites(const struct plan *plan, struct dpf_error *error);
/* Held-out users ([split] kind = users) need rows that follow from a user's own records and the model. */
int combinations_check_held_out(const struct plan *plan, struct dpf_error *error);
/* Home terms are of recommenders that say how their scores are made, and read public facts about items. */
int combinations_check_home_terms(const struct plan *plan, struct dpf_error *error);
/* Whether a run can go on from its state between two rounds: an error names what would be lost with the
   process, or be another draw afterwards. The plan is complete. */
int combinations_check_checkpoint(const struct plan *plan, struct dpf_error *error);
/* [run] finish is for a side that releases nothing. */
int combinations_check_finish(const struct plan *plan, struct dpf_error *error);

#endif
