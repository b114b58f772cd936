/* SPDX-License-Identifier: Apache-2.0 */
#include "row_power.h"

#include <stddef.h>

#define SIMD_TEMPLATE "row_power_loops.h"
#include "each_kind.h"

row_power row_power_find(int wanted)
{
    const int kind = simd_choose(wanted);
    return SIMD_PICK(kind, row_power);
}
