/* SPDX-License-Identifier: Apache-2.0 */
#define STATED(L2) (1e4 / (L2))
#include "specimen_loss.h"
