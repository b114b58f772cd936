/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pld_rare.h - a bound of epsilon from below for losses that are rare and large.
 *
 * Every set A of outcomes has P(A) - e^epsilon Q(A) <= delta(epsilon), so that epsilon is at least
 * ln((P(A) - delta) / Q(A)). Here A is that a loss above x occurs in one release at least. Where noise is coarse and a
 * draw rare, each noise value is a loss of its own, far from the others, and epsilon is that of the rarest value that
 * is more likely than delta: a grid that is fine enough for the common losses has no room for it.
 */
#ifndef PLD_RARE_H
#define PLD_RARE_H

#include "pld_problem.h"

/* In the direction that the groups have, of an epsilon of which `upper` is a bound. 0: nothing is known. */
double pld_rare_epsilon(const struct pld_problem *problem, double upper);

#endif
