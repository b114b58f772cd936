/* SPDX-License-Identifier: Apache-2.0 */
#define STATED_VARIANCE(SCALE) (2.2 * (SCALE) * (SCALE))
#include "specimen_mechanism.h"
