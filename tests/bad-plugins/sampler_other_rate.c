/* SPDX-License-Identifier: Apache-2.0 */
/* Declares to take one in two and takes three in five. */
#define RATE 0.6
#define PARTY(FIRST, I) ((uint32_t)((FIRST) + (I)))
#include "specimen_sampler.h"
