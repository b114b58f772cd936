/* SPDX-License-Identifier: Apache-2.0 */
/* cg_kernels.h - the vector operations of conjugate gradients; lengths are multiples of 16. */
#ifndef DPF_CG_KERNELS_H
#define DPF_CG_KERNELS_H

#include <stdint.h>

#define CG_GROUP 8 /* rows that step together, so that the gram matrix is read once for all */

struct cg_kernels {
    /* out = X S for CG_GROUP rows of X, given as columns: xt[r * CG_GROUP + g]; S is symmetric. */
    void (*multiply)(const float *s, int64_t padded, const float *xt, float *out);
    /* The same for one row x, with the same bits. */
    void (*multiply_one)(const float *s, int64_t padded, const float *x, float *out);
    float (*dot)(const float *a, const float *b, int64_t padded);
    void (*add)(float factor, const float *x, int64_t padded, float *y);   /* y += factor x */
    void (*renew)(float factor, const float *x, int64_t padded, float *y); /* y = x + factor y */
};

/* For a kind of simd.h; NULL if the processor lacks it. */
const struct cg_kernels *cg_kernels_find(int wanted);

#endif
