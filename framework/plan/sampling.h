/* SPDX-License-Identifier: Apache-2.0 */
/* sampling.h - what a term's sampler draws, and which part of it is secret. Part of plan_complete. */
#ifndef DPF_PLAN_SAMPLING_H
#define DPF_PLAN_SAMPLING_H

#include "plan/plan.h"

/* Sets term->sampling. The mechanism's budget and epsilon at each weight are known to the sampler, which may
 * ask for them. */
int sampling_complete(struct plan *plan, struct term_plan *term, struct dpf_error *error);

#endif
