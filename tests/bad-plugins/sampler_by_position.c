/* SPDX-License-Identifier: Apache-2.0 */
/* Draws by the position in the call, not by party. */
#define RATE 0.5
#define PARTY(FIRST, I) ((void)(FIRST), (uint32_t)(I))
#include "specimen_sampler.h"
