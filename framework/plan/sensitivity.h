/* SPDX-License-Identifier: Apache-2.0 */
/* sensitivity.h - bounds of a term's inputs, and how far a unit can move its messages. Part of plan_complete. */
#ifndef DPF_PLAN_SENSITIVITY_H
#define DPF_PLAN_SENSITIVITY_H

#include "plan/plan.h"

/* Rows of a side; a large number that keeps every bound valid where the data has not been read. */
int64_t plan_rows(const struct plan *plan, int side);
/* Sets term->bounds: public constants, tightened by the term's transforms. */
int plan_term_bounds(const struct plan *plan, struct term_plan *term, struct dpf_error *error);
/* Changes bounds to those that the mechanism's budget is stated for. */
void plan_budgeted_bounds(const struct term_plan *term, dpf_bounds *bounds);
/* Sensitivities of a term under bounds, message transforms applied; sets term->rows. */
int plan_term_sensitivity(struct term_plan *term, const dpf_bounds *bounds, struct term_sensitivity *out,
                          struct dpf_error *error);
/* The largest number that one contribution has: what its coming changes a sum by. NaN: nobody states it. */
double plan_largest_contribution(const dpf_sensitivity *block, int unit);
/* Rows of units and adjacencies that plugins' headers do not know, whatever stands in them: not stated. */
void plan_known_rows(dpf_sensitivity *sensitivity);

#endif
