/* SPDX-License-Identifier: Apache-2.0 */
/* trainings.h - a run that trains its model several times, each time with other noise. Part of plan_complete. */
#ifndef DPF_PLAN_TRAININGS_H
#define DPF_PLAN_TRAININGS_H

#include "plan/plan.h"

/* Counts so many trainings in place of one in the ledger of a complete plan, and judges it again: all are drawn with noise
   of their own and read the same records. */
int trainings_count(struct plan *plan, int64_t trainings, struct dpf_error *error);

#endif
