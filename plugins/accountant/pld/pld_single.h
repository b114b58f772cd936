/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_single.h - epsilon and delta of one release, or of releases that are like one: from the masses of its
 * losses above epsilon, P - e^epsilon Q, without a grid.
 */
#ifndef PLD_SINGLE_H
#define PLD_SINGLE_H

#include "pld_pair.h"

/* From above, or from below; the pair's direction counts. */
double pld_single_delta(const struct pld_pair *pair, int from_below, double epsilon);
/* INFINITY if there is none. */
double pld_single_epsilon(const struct pld_pair *pair, int from_below, double delta);

#endif
