/* SPDX-License-Identifier: Apache-2.0 */
#define SCALE(N) (2.0 / (double)(N))
#include "specimen_aggregator.h"
