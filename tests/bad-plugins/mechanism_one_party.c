/* SPDX-License-Identifier: Apache-2.0 */
/* Declares the variance of one party's noise for a sum that has that of all. */
#define STATED_VARIANCE(SCALE) (2 * (SCALE) * (SCALE) / (double)release->n_parties)
#include "specimen_mechanism.h"
