/* SPDX-License-Identifier: Apache-2.0 */
/* Its noise is the same whatever the key is. */
#define NOISE(RANDOM, CURSOR, SCALE, OUT) (*(OUT) = (int64_t)(SCALE))
#include "specimen_recommender.h"
