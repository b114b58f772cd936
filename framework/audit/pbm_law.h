/* SPDX-License-Identifier: Apache-2.0 */
/* pbm_law.h - what a sum of messages of the Poisson binomial mechanism is drawn from; see pbm.c. */
#ifndef DPF_AUDIT_PBM_LAW_H
#define DPF_AUDIT_PBM_LAW_H

#include "plan/plan.h"

/* The event of a term with that mechanism, or NULL. */
const dpf_event *pbm_event(const struct plan *plan, int side, int term);
/* The bound that numbers are clipped to. */
double pbm_bound(const dpf_event *event);
/* Of the sum of n binomials, each of q trials with probability 1/2 + theta x / c; squares: the sum of x^2. */
double pbm_deviation(const dpf_event *event, double n, double squares);
/* Of success in a trial of a message that holds the value. */
double pbm_chance(const dpf_event *event, double value);
/* ln of the probability of a number as it was seen, by the successes in it; chances of n messages. */
double pbm_log(const dpf_event *event, const double *chances, int64_t n, double seen, int64_t messages);

#endif
