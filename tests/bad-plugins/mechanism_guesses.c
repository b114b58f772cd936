/* SPDX-License-Identifier: Apache-2.0 */
/* Plans noise for a sensitivity that nobody knows. */
#define KNOWN(SENSITIVITY) 1
#define SCALE_OF(SENSITIVITY) (isfinite(SENSITIVITY) ? (SENSITIVITY) : 1.0)
#define EVENT_SENSITIVITY(SENSITIVITY) (isfinite(SENSITIVITY) ? (SENSITIVITY) + 64 * GRID : 1.0)
#include "specimen_mechanism.h"
