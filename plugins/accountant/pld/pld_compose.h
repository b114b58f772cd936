/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_compose.h - the composition of privacy losses, and its epsilon and delta.
 *
 * Losses of independent releases add, so their distributions are convolved, by FFT. Before that each is
 * tilted, its mass at x multiplied by e^{tx} / E[e^{tX}] (Esscher transform). The tilted composition has its
 * mean where the wanted epsilon is, so that all errors are relative to the wanted delta, however small that
 * is, and a window around the mean is enough.
 *
 *   scout      a few thousand points of each loss, to choose the tilt and the grid by (pld_law.h)
 *   grid       K(t) grows by T t(t+1) h^2/12 on a grid of distance h, and epsilon by 1/t of that: so h
 * follows from the number of releases, the tilt and the wanted tolerance (pld_grid.h) transform  with a bound
 * on what rounding does (pld_transform.h) read       from above and from below (pld_read.h); then closer,
 * until both agree
 */
#ifndef PLD_COMPOSE_H
#define PLD_COMPOSE_H

#include "pld_problem.h"

/* Bounds of what is asked, in the worst direction. */
struct pld_result {
    double upper;
    double lower;
    int capped; /* they could not be brought as close as was asked */
};

/* DPF_E_MEMORY, DPF_E_NUMERIC or DPF_OK. Sets groups[].above.adding and below.adding. */
dpf_status pld_compose(struct pld_problem *problem, struct pld_result *result);

#endif
