/* SPDX-License-Identifier: Apache-2.0 */
/* And as epsilon^2 / 2 zCDP. */
#define STATED_EVENT(SCALE, L1)                                                                              \
    {                                                                                                        \
        .kind = DPF_EVENT_ZCDP, .count = 1, .p.zcdp = { 0, 0.5 * (L1) * (L1) / ((SCALE) * (SCALE)) }         \
    }
#define EVENT_SENSITIVITY(SENSITIVITY) 1
#include "specimen_mechanism.h"
