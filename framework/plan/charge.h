/* SPDX-License-Identifier: Apache-2.0 */
/* charge.h - what a complete plan costs, entered into the file that adds up all runs on one data set. */
#ifndef DPF_PLAN_CHARGE_H
#define DPF_PLAN_CHARGE_H

#include "plan/plan.h"

/* Reads the file of [privacy] ledger, if there is one, and fails if this run would not fit. With `charge` it
   adds the run: to be done once, before anything is released. */
int plan_charge(struct plan *plan, int charge, struct dpf_error *error);
/* The same of other releases than all of the plan's, with the guarantee that they have by themselves: of a run that goes
   on from a checkpoint, or of several runs. */
int plan_charge_part(struct plan *plan, const struct guarantee *guarantee, const struct ledger *ledger,
                     const struct data_ledger_resumption *resumption, int charge, struct dpf_error *error);

#endif
