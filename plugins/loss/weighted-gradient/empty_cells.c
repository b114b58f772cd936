/* SPDX-License-Identifier: Apache-2.0 */
#include "empty_cells.h"

#include <stddef.h>

#include "dpframe/query.h"

#define SIMD_TEMPLATE "empty_cells_loops.h"
#include "each_kind.h"

empty_cells empty_cells_find(int wanted)
{
    const int kind = simd_choose(wanted);
    return SIMD_PICK(kind, empty_cells);
}
