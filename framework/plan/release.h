/* SPDX-License-Identifier: Apache-2.0 */
/* release.h - what each term that sends messages releases, and its privacy events. Part of plan_complete. */
#ifndef DPF_PLAN_RELEASE_H
#define DPF_PLAN_RELEASE_H

#include "plan/plan.h"

/* How often a party releases in a round. */
int64_t release_passes(const struct plan *plan, int side);
/* How often a term releases in the run, as one user sees it; 0 without a mechanism. */
int64_t release_count(const struct plan *plan, const struct term_plan *term);
/* Events of one term that releases count times; noise_fit has planned its noise. */
int release_complete(struct plan *plan, struct term_plan *term, int64_t count, struct dpf_error *error);
/* Whether as many parties send as noise in shares counts on, and the budget can be divided as the term says. */
int release_check_shares(const struct plan *plan, const struct term_plan *term, struct dpf_error *error);
/* Refuses noise that does not fit the parties that solve and send. */
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
/*
 * The variance of the noise in a sum of that many messages over the noise plan's, which is that of a sum of all
 * senders' messages; of a lone message, in full or with its share: messages 1. contributors: how many share the
 * noise of such a row where a mechanism divides it by them (DPF_MECHANISM_CONTRIBUTORS); else it is not read.
 * Whoever compares noise with a plan, or tells a solver of it, asks this function.
 */
double plan_noise_part(const struct plan *plan, const struct term_plan *term, const dpf_noise_plan *noise,
                       int64_t messages, int64_t contributors);
/* Whether a term's releases show the number of users that sent. Its aggregator exists already. */
int plan_counts_users(const struct term_plan *term);
/* The term's aggregator's limits for the largest number of parties. */
dpf_aggregator_limits plan_aggregator_limits(const struct plan *plan, const struct term_plan *term);
/* Whether the plan's observer sees the messages of a term that is solved. */
int plan_sees_messages(const struct plan *plan, const struct term_plan *term);
/* Whether the draw of a term's sampler is hidden from the plan's observer. */
int plan_hides_draw(const struct plan *plan, const struct term_plan *term);
/* Whether each user that sends adds noise, once the noise is planned. */
int plan_noise_by_users(const struct term_plan *term);

#endif
