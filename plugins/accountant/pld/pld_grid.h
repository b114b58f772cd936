/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_grid.h - a privacy loss on a grid, from above or from below.
 *
 * From above: the hockey-stick divergence is convex in e^epsilon, so the piecewise linear function through
 * its values at the grid is an upper bound (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, arXiv 2207.04380).
 * In masses: what lies between two grid points moves to them such that its masses of P and of Q both stay.
 *
 * From below: what lies between two grid points first becomes one point, and then parts of neighbouring
 * points are joined in the proportion that puts their common loss on the grid point between them. Both lose
 * information only, so the result is a lower bound; where no neighbour fits, losses are rounded down.
 *
 * Either way the error of the variance is of second order in the distance of the grid.
 */
#ifndef PLD_GRID_H
#define PLD_GRID_H

#include "pld_pair.h"

struct pld_losses {
    double *mass; /* of P at the loss (first + i) * h */
    double *logs; /* their logarithms */
    int64_t first;
    int64_t n;
    double h;
    double copies;
    double infinite; /* mass at infinity */
};

/* The part of the grid that holds all but `tail` of the mass on either side. */
void pld_grid_range(const struct pld_pair *pair, double tail, double *low, double *high);
/* Fills mass and logs for losses->first, n, h. */
void pld_grid_fill(const struct pld_pair *pair, int from_below, struct pld_losses *losses);

#endif
