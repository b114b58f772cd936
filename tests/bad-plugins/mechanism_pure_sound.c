/* SPDX-License-Identifier: Apache-2.0 */
/* The same noise, rightly stated as an epsilon-DP release. */
#define STATED_EVENT(SCALE, L1)                                                                              \
    {                                                                                                        \
        .kind = DPF_EVENT_PURE, .count = 1, .p.pure = { 1 / (SCALE) }                                        \
    }
#include "specimen_mechanism.h"
