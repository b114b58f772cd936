/* SPDX-License-Identifier: Apache-2.0 */
/* release.h - the noise of each term that sends messages, and its privacy events. Part of plan_complete. */
#ifndef DPF_PLAN_RELEASE_H
#define DPF_PLAN_RELEASE_H

#include "plan/plan.h"

/* How often a party releases in a round. */
int64_t release_passes(const struct plan *plan, int side);
/* How often a term releases in the run, as one user sees it; 0 without a mechanism. */
int64_t release_count(const struct plan *plan, const struct term_plan *term);
/* Noise and events of one term that releases count times. */
int release_complete(struct plan *plan, struct term_plan *term, int64_t count, struct dpf_error *error);
/* Refuses noise that does not fit who solves and who sends what. */
int release_check_noise(const struct plan *plan, const struct side_plan *side, const struct term_plan *term,
                        struct dpf_error *error);

/* The release that a mechanism is asked to plan. Pointers refer to the arguments and into out. */
struct release_request {
    dpf_release release;
    dpf_joint_norms joint;
};
void plan_release(const struct plan *plan, const struct term_plan *term, struct term_sensitivity *sensitivity,
                  int from_data, struct release_request *out);
/* Parties that can send a message of a term. */
int64_t plan_senders(const struct plan *plan, const struct term_plan *term);
/* Whether what a term releases tells the number of users that sent. Its aggregator is made. */
int plan_counts_users(const struct term_plan *term);
/* What the term's aggregator assumes of as many parties as may take part. */
dpf_aggregator_limits plan_aggregator_limits(const struct plan *plan, const struct term_plan *term);
/* Whether each user that sends adds noise, once the noise is planned. */
int plan_noise_by_users(const struct term_plan *term);

#endif
