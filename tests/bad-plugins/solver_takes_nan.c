/* SPDX-License-Identifier: Apache-2.0 */
#define ACCEPTS(NORM) ((void)(NORM), 1)
#include "specimen_solver.h"
