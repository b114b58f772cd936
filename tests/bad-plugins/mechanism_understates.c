/* SPDX-License-Identifier: Apache-2.0 */
#define EVENT_SENSITIVITY(SENSITIVITY) (0.5 * (SENSITIVITY))
#include "specimen_mechanism.h"
