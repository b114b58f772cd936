/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks nothing. */
#define RATE 0.5
#define PARTY(FIRST, I) ((uint32_t)((FIRST) + (I)))
#include "specimen_sampler.h"
