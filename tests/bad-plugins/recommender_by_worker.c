/* SPDX-License-Identifier: Apache-2.0 */
/* Where noise is read depends on which worker runs the task. */
#define NOISE_ROW(WORKER, ITEM) ((uint32_t)(ITEM) + 1000 * (uint32_t)(WORKER))
#include "specimen_recommender.h"
