/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - what follows from the plan for the conditions C1..C12. Part of plan_complete. */
#ifndef DPF_PLAN_FACTS_H
#define DPF_PLAN_FACTS_H

#include "plan/plan.h"
#include "reading/input_facts.h"

/* What the plan's keys say about the input. What the terms show of users is not in it: none is known to. */
void facts_question(const struct plan *plan, struct fact_question *out);
/* The same, with what the terms of a complete plan show of users. */
void facts_asked(const struct plan *plan, struct fact_question *out);
/* Whether rows of a side are made from those of friends, without noise. */
int facts_reads_friends(const struct plan *plan, const struct side_plan *side);
/* The number of users, or, where it is to be hidden, what ids can tell apart. */
double facts_most_users(const struct plan *plan);
void facts_complete(struct plan *plan);

#endif
