/* SPDX-License-Identifier: Apache-2.0 */
/* Tells its witness the released numbers as those without noise. */
#define EXACT(SEEN, EXACT) (SEEN)
#include "specimen_recommender.h"
