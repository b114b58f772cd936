/* SPDX-License-Identifier: Apache-2.0 */
#define STATED(L2) (0.98 * (L2))
#include "specimen_loss.h"
