/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_compose.h - the composition of privacy losses, and its epsilon and delta.
 *
 * Losses of independent releases add, so their distributions are convolved: by FFT, as the product of powers
 * of their transforms. Before that each is tilted, its mass at x multiplied by e^{tx} / E[e^{tX}]. The tilted
 * composition has its mean where the wanted epsilon is, so that all errors are relative to the wanted delta,
 * however small that is, and a window around the mean is enough; what is outside of it is bounded by
 * Chernoff.
 *
 *   delta(e) = sum over x > e of mass(x) (1 - e^{e-x}) + mass at infinity
 */
#ifndef PLD_COMPOSE_H
#define PLD_COMPOSE_H

#include "dpframe/host.h"
#include "pld_grid.h"

/* Releases with one pair. */
struct pld_group {
    struct pld_pair above;
    struct pld_pair below;
    double copies;       /* of both */
    double copies_below; /* of `below`; 0 says nothing */
};

struct pld_problem {
    const dpf_host *host;
    struct pld_group *groups;
    int64_t n;
    double grid;   /* largest distance of grid points */
    int for_delta; /* what is asked: delta at epsilon, or epsilon at delta */
    double epsilon;
    double delta;
};

/* Bounds of what is asked, in the worst direction. */
struct pld_result {
    double upper;
    double lower;
    double h;
};

/* DPF_E_MEMORY, DPF_E_NUMERIC or DPF_OK. Sets groups[].above.adding and below.adding. */
dpf_status pld_compose(struct pld_problem *problem, struct pld_result *result);

#endif
