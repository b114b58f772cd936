/* SPDX-License-Identifier: Apache-2.0 */
#include "cholesky_kernels.h"

#include <math.h>

#define SIMD_TEMPLATE "cholesky_templates.h"
#include "each_kind.h"

const struct cholesky_kernels *cholesky_kernels_find(int wanted)
{
    const int kind = simd_choose(wanted);
    return SIMD_PICK(kind, &cholesky_kernels);
}
