/* SPDX-License-Identifier: Apache-2.0 */
/* noise_fit.h - the noise of a term that sends messages, on a grid on which its sums fit into 64 bits. */
#ifndef DPF_PLAN_NOISE_FIT_H
#define DPF_PLAN_NOISE_FIT_H

#include "plan/plan.h"

/*
 * Plans term->noise on the finest grids that the mechanism has for it and sums fit on. A bound that many users, or none,
 * share may need coarser ones than are usual; what still does not fit is said by condition C12.
 */
int noise_fit(const struct plan *plan, struct term_plan *term, struct dpf_error *error);

#endif
