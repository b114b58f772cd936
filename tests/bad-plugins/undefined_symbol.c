/* SPDX-License-Identifier: Apache-2.0 */
#define SPECIMEN_FACTORS function_that_nobody_defines
#include "dpframe/dpframe.h"

dpf_status function_that_nobody_defines(void *self, const dpf_call *call, float *rows, int64_t count,
                                        int64_t stride, int32_t first, int32_t cols);

#include "specimen.h"
