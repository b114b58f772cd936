/* SPDX-License-Identifier: Apache-2.0 */
#include "als_kernels.h"

#define SIMD_TEMPLATE "als_templates.h"
#include "each_kind.h"

const struct als_kernels *als_kernels_find(int wanted)
{
    const int kind = simd_choose(wanted);
    return SIMD_PICK(kind, &als_kernels);
}
