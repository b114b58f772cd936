/* SPDX-License-Identifier: Apache-2.0 */
#define ESTIMATE(SUM) ((double)(SUM)*GRID + 0.2)
#include "specimen_mechanism.h"
