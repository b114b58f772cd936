/* SPDX-License-Identifier: Apache-2.0 */
/* States that it costs nothing at all. */
#define STATED_EVENT(SCALE, L1)                                                                              \
    {                                                                                                        \
        .kind = DPF_EVENT_APPROX, .count = 1                                                                 \
    }
#define EVENT_SENSITIVITY(SENSITIVITY) 1
#include "specimen_mechanism.h"
