/* SPDX-License-Identifier: Apache-2.0 */
#define BALL 1.1
#include "specimen_solver.h"
