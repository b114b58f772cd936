/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks nothing. */
#define SCALE(N) ((void)(N), 1.0)
#include "specimen_aggregator.h"
