/* SPDX-License-Identifier: Apache-2.0 */
/* Says of every block that it is public, and encodes what is sent. */
#define STATED_EVENT(SCALE, L1)                                                                              \
    {                                                                                                        \
        .kind = DPF_EVENT_NON_PRIVATE, .count = (SCALE) > 0 && (L1) > 0, .flags = DPF_EVENT_DATA_BLIND       \
    }
#include "specimen_mechanism.h"
