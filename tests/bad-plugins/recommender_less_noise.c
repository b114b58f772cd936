/* SPDX-License-Identifier: Apache-2.0 */
/* Adds three quarters of the noise that it states. */
#define NOISE(RANDOM, CURSOR, SCALE, OUT) (RANDOM)->discrete_laplace(CURSOR, (SCALE)*3 / 4, OUT, 1)
#include "specimen_recommender.h"
