/* SPDX-License-Identifier: Apache-2.0 */
#define ON_GRID(X, GRID) ((void)(GRID), (X))
#include "specimen_loss.h"
