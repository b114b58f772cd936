/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joined.h - one run by several processes: joining them, and what such a run cannot do.
 *
 * Rank 0 alone prints and writes what there is one of; the others help it and are silent. All end with the
 * same exit code (base/ranks.h).
 */
#ifndef DPF_RUN_JOINED_H
#define DPF_RUN_JOINED_H

#include "plan/plan.h"
#include "run/arguments.h"

/* How many processes the launcher (mpirun, srun) has started, by what it tells each of them; 1 without one.
 */
int joined_launched(void);
/* This one's number among them, before anything is joined. */
int joined_launched_as(void);

/* Joins the other processes as [run] comm says. What is wrong with the configuration is left to whoever opens
 * it. */
int joined_open(const struct arguments *arguments, struct dpf_error *error);
/* Joins the others, if that is possible, for them to hear of what is wrong here. -1. */
int joined_fail(struct dpf_error *error);
void joined_close(void);
/* Of the comm that joined them, or NULL: alone. */
const struct registry *joined_registry(void);

/* With more than one rank: a reason for what such a run does not do yet. The plan is complete. */
int joined_check(const struct plan *plan, struct dpf_error *error);

/* What the run has taken of each rank. */
struct rank_cost {
    double cpu;  /* processor seconds of the process */
    double sent; /* bytes to other ranks, as base/ranks.h counts them */
    double peak; /* bytes of memory at most */
};
/* Of all ranks, on all of them: costs has room for as many. */
int joined_costs(struct rank_cost *costs, struct dpf_error *error);

#endif
