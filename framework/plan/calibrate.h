/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate.h - [privacy] budget = total: finds the noise for a total epsilon.
 *
 * Each mechanism states its noise for one release. One factor multiplies all of it, such that the composed epsilon
 * is at most total-epsilon. Part of plan_complete.
 */
#ifndef DPF_PLAN_CALIBRATE_H
#define DPF_PLAN_CALIBRATE_H

#include "plan/plan.h"

/* After queries_complete, before the conditions. Does nothing for budget = per-release. */
int calibrate_total(struct plan *plan, struct dpf_error *error);

/*
 * The accountant that noise is chosen by: that of calibrate-by, else the first that proves something. NULL
 * and an error if there is none; purpose is what asks.
 */
struct instance *calibrate_accountant(struct plan *plan, const char *purpose, struct dpf_error *error);

#endif
