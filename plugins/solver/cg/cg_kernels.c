/* SPDX-License-Identifier: Apache-2.0 */
#include "cg_kernels.h"

#define SIMD_TEMPLATE "cg_templates.h"
#include "each_kind.h"

const struct cg_kernels *cg_kernels_find(int wanted)
{
    const int kind = simd_choose(wanted);
    return SIMD_PICK(kind, &cg_kernels);
}
