/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - matrices that the host owns.
 *
 * A view is row-major: element (r, c) lies at data[r * stride + c]. Strides count elements, are at
 * least cols, and may be larger (factor rows are padded to 64 bytes; the padding reads as zero).
 * A view is valid for the duration of the call it is passed to, never longer.
 */
#ifndef DPFRAME_VIEW_H
#define DPFRAME_VIEW_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A read-only float32 matrix: factors. */
typedef struct dpf_factors {
    const float *data;
    int64_t rows;
    int64_t stride; /* elements from one row to the next */
    int32_t cols;
    int32_t reserved; /* 0 */
} dpf_factors;

static inline const float *dpf_row(const dpf_factors *f, int64_t row)
{
    return f->data + row * f->stride;
}

#ifdef __cplusplus
}
#endif
#endif
