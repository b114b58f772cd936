/* SPDX-License-Identifier: Apache-2.0 */
/* An epsilon-DP release is epsilon^2 / 2 zCDP (Bun, Steinke 2016, Proposition 1.4); a tenth of that is
 * stated. */
#define STATED_EVENT(SCALE, L1)                                                                              \
    {                                                                                                        \
        .kind = DPF_EVENT_ZCDP, .count = 1, .p.zcdp = { 0, 0.05 * (L1) * (L1) / ((SCALE) * (SCALE)) }        \
    }
#define EVENT_SENSITIVITY(SENSITIVITY) 1
#include "specimen_mechanism.h"
