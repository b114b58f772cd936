/* SPDX-License-Identifier: Apache-2.0 */
/* Takes an unknown sensitivity for 1. */
#define REFUSES(SENSITIVITY, SCALE) (0)
#define COST(COUNT, SENSITIVITY, SCALE)                                                                      \
    ((double)(COUNT) * (isfinite(SENSITIVITY) ? (SENSITIVITY) : 1.0) / ((SCALE) > 0 ? (SCALE) : 1.0))
#include "specimen_accountant.h"
