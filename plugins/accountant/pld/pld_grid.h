/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_grid.h - a privacy loss on a grid, from above or from below.
 *
 * From above: the hockey-stick divergence is convex in e^epsilon, so the piecewise linear function through
 * its values at any points is an upper bound (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, arXiv
 * 2207.04380). In masses: what lies in a cell, between two neighbouring points, moves to its ends such that
 * its masses of P and of Q both stay.
 *
 * From below: what lies in a cell first becomes one point, and then parts of neighbouring cells are joined in
 * the proportion that puts their common loss on the point between them. Both lose information only, so the
 * result is a lower bound; where no neighbour fits, losses are rounded down. A spike, most of the mass within
 * a width of h, becomes one point of its own loss, and the grid is moved to have it.
 *
 * Either way the error is of second order in the width of a cell: E[e^{tX}] grows by t(t+1)/12 of the mean of
 * width^2 under the tilted law. So cells are narrow where the tilted loss mostly is, and wide elsewhere: a
 * few thousand will do, whatever the range.
 */
#ifndef PLD_GRID_H
#define PLD_GRID_H

#include "dpframe/host.h"
#include "pld_pair.h"

struct pld_losses {
    double *at;   /* ascending; the losses are offset + at[i] * h */
    double *mass; /* of P */
    double *logs; /* their logarithms */
    int64_t n;
    double offset;
    double h;
    double copies;
    double infinite; /* mass at infinity */
};

/* How a loss is cut into cells. Their ends are offset and whole multiples of h. */
struct pld_cells {
    double offset; /* a loss of large mass, or that of an end; from below that of a spike replaces it */
    double h;
    double tail; /* mass that may be left out, of each end */
    double tilt; /* of the law whose error counts, and the logarithm of E[e^{tilt X}] */
    double log_sum;
    double centre; /* of that law: where cells are narrowest */
    /* One release of large loss x alone may make up delta: its mass counts e^{log_jumps}, and less by
       e^{slope (x - epsilon)} below epsilon. */
    double epsilon, slope, log_jumps;
    double allowed; /* width^2 times mass, counted in the one way or the other, of a cell wider than h */
};

/* The part of the line that holds all but `tail` of the mass on either side. */
void pld_grid_range(const struct pld_pair *pair, double tail, double *low, double *high);
/* A few thousand points, close where the bulk is, with h = 1: to choose a tilt and a grid by. From above.
   DPF_E_MEMORY or DPF_OK. */
dpf_status pld_grid_scout(const dpf_host *host, const struct pld_pair *pair, double tail,
                          struct pld_losses *losses);
/* DPF_E_MEMORY, DPF_E_NUMERIC (too many cells) or DPF_OK. */
dpf_status pld_grid_fill(const dpf_host *host, const struct pld_pair *pair, int from_below,
                         const struct pld_cells *cells, struct pld_losses *losses);
void pld_grid_free(const dpf_host *host, struct pld_losses *losses);

#endif
