/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recommender_sums.h - the aggregator of a recommender ([model] aggregator): who sums what users send, how many
 * shares of the noise a sum has, and the modulus that it is taken by.
 *
 * Part of recommender_plan.
 */
#ifndef DPF_PLAN_RECOMMENDER_SUMS_H
#define DPF_PLAN_RECOMMENDER_SUMS_H

#include "plan/plan.h"

/* Its keys do nothing without a recommender. */
void recommender_sums_refuse(const struct plan *plan);
/* Makes the aggregator, if one is named. */
void recommender_sums_make(struct plan *plan);
/* How many users' shares make up the noise; 0 without an aggregator. */
int64_t recommender_sums_shares(const struct plan *plan);
/* Whether sums of the plan's users can have that noise, and stay closed otherwise. */
int recommender_sums_check(struct plan *plan, struct dpf_error *error);
/* Chooses the modulus of a release. */
int recommender_sums_complete(struct plan *plan, int32_t release, struct dpf_error *error);
void recommender_sums_judge(const struct plan *plan, int32_t release, struct term_facts *facts);

#endif
