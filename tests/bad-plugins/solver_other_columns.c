/* SPDX-License-Identifier: Apache-2.0 */
#define COLUMNS_FROM(QUERY) ((QUERY)->first - 1)
#include "specimen_solver.h"
