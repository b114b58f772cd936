/* SPDX-License-Identifier: Apache-2.0 */
/*
 * denoise.h - the noisy Gram of items as a positive semidefinite matrix of low rank, plus a diagonal.
 *
 * The noise is known, so what it alone would show is known too. With tau the noise's standard deviation off
 * the diagonal, Q an orthonormal basis of d directions in which the Gram is expected to be large, and m
 * columns:
 *  - Q'GQ keeps eigenvalues above 2 tau sqrt(d), the edge of symmetric noise of that size (Wigner);
 *  - the cross block (1 - QQ')GQ keeps singular values above its edge tau (sqrt(m) + sqrt(d)), shrunk as
 *    sqrt((y^2 - b - 1)^2 - 4b) / y, b = d/m, y in units of tau sqrt(m): optimal in the Frobenius norm
 *    (Gavish, Donoho, arXiv 1405.7511);
 *  - the rest keeps eigenvalues above 2 tau sqrt(m - d), shrunk to sqrt(l^2 - edge^2), the same for symmetric
 *    noise.
 * Of the sum, the positive part. The diagonal, whose noise is known as well, is pulled toward a multiple of
 * count weight^2.
 */
#ifndef PRIVATE_GRAM_DENOISE_H
#define PRIVATE_GRAM_DENOISE_H

#include "item_span.h"

struct gram_estimate {
    struct matrix factor; /* m x r: factor factor' is the Gram off its diagonal */
    struct matrix
        whole; /* m x m: the Gram as it is, where it is not denoised, and factor is what a tail needs; or NULL */
    struct matrix crossing; /* m x d: crossing times a row of span->all is an item's row of the Gram */
    double *diagonal;       /* m numbers, above 0 */
    int32_t directions;     /* of the residual block that stood out of the noise */
};

/* sums: the noisy integers of the second release, m x m (row <= column) or m x d. */
int denoise_gram(const dpf_call *call, const struct gram_plan *plan, const struct item_span *span,
                 const int64_t *sums, struct gram_estimate *out);
int denoise_projected(const dpf_call *call, const struct gram_plan *plan, const struct item_span *span,
                      const int64_t *sums, struct gram_estimate *out);
/* Without noise, for comparison, or where it is far below the ridge: the Gram as it is. */
int denoise_nothing(const dpf_call *call, const struct gram_plan *plan, const struct item_span *span,
                    const int64_t *sums, struct gram_estimate *out);

#endif
