/* SPDX-License-Identifier: Apache-2.0 */
#define COST(COUNT, SENSITIVITY, SCALE) ((double)(COUNT) * (SENSITIVITY) * (SCALE))
#include "specimen_accountant.h"
