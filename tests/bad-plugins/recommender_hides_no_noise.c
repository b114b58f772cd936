/* SPDX-License-Identifier: Apache-2.0 */
/* The twin without noise is declared as private. */
#define WITHOUT_NOISE(SETUP) ((SETUP)->without_noise && 0)
#include "specimen_recommender.h"
