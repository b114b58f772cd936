/* SPDX-License-Identifier: Apache-2.0 */
/* Forgets the factor 2 of the derivative. */
#define STATED(L2) (0.5 * (L2))
#include "specimen_loss.h"
