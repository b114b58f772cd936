/* SPDX-License-Identifier: Apache-2.0 */
#define SCALE_OF(SENSITIVITY) (4 / (SENSITIVITY))
#include "specimen_mechanism.h"
