/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_release.h - the plan of metrics that are released with noise ([evaluate] release = noisy).
 *
 * The evaluation bounds a user's contribution and states how far it moves the released numbers
 * (evaluate/noisy_metrics.h has the argument). The plan chooses the noise, puts the release into the ledger,
 * and checks its inputs.
 */
#ifndef DPF_PLAN_METRIC_RELEASE_H
#define DPF_PLAN_METRIC_RELEASE_H

#include "plan/plan.h"

/* Chooses the noise where metrics are released: the least with which that release by itself has its epsilon
   by the accountant, at the run's delta. */
int metric_release_choose(struct plan *plan, struct instance *accountant, struct dpf_error *error);
/* Adds the release to a ledger that was made anew. */
void metric_release_charge(struct plan *plan);
/* What bears on the conditions. */
void metric_release_judge(const struct plan *plan, struct term_facts *facts);

#endif
