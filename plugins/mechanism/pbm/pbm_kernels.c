/* SPDX-License-Identifier: Apache-2.0 */
#include "pbm_kernels.h"

#include <stddef.h>
#include <string.h>

#define SIGN_BIT (UINT64_C(1) << 63)
#define ONE_BITS (UINT64_C(0x3ff) << 52)
#define INFINITE_BITS (UINT64_C(0x7ff) << 52)

#define SIMD_TEMPLATE "pbm_loops.h"
#include "each_kind.h"

const struct pbm_kernels *pbm_kernels_find(int wanted)
{
    const int kind = simd_choose(wanted);
    return SIMD_PICK(kind, &pbm_kernels);
}
