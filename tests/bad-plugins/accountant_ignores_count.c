/* SPDX-License-Identifier: Apache-2.0 */
#define COST(COUNT, SENSITIVITY, SCALE) ((SENSITIVITY) / (SCALE) / (double)(COUNT))
#include "specimen_accountant.h"
