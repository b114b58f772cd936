/* SPDX-License-Identifier: Apache-2.0 */
/* States an epsilon-DP release of half its sensitivity in L1. */
#define STATED_EVENT(SCALE, L1)                                                                              \
    {                                                                                                        \
        .kind = DPF_EVENT_PURE, .count = 1, .p.pure = { 1 / (SCALE) }                                        \
    }
#define EVENT_SENSITIVITY(SENSITIVITY) (0.5 * (SENSITIVITY))
#include "specimen_mechanism.h"
