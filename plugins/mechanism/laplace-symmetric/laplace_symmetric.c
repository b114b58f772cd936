/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laplace_symmetric.c - Laplace noise with symmetric noise matrices.
 *
 * A symmetric coefficient matrix is released as its triangle: d (d + 1) / 2 numbers, i.i.d. noise on each,
 * mirrored by whoever solves (Eq. 19). The sensitivity is that of the triangle (Eq. 18), about half of what
 * the d^2 numbers of a full matrix have. The layout packed is this triangle, so the noise itself is
 * laplace's; what is added here is that a full layout, where the noise would not be symmetric, is refused.
 */
#include "laplace_noise.h"

static dpf_status accept_packed(const dpf_host *host, const dpf_value *values, const dpf_release *release)
{
    (void)values;
    for (int32_t b = 0; b < release->query->n_blocks; b++)
        if (release->query->blocks[b].layout == DPF_LAYOUT_FULL)
            return host->fail(
                host, DPF_E_UNSUPPORTED, -1,
                "noise on all d x d numbers of a matrix is not symmetric; set block-layout = packed, "
                "or take mechanism laplace");
    return DPF_OK;
}

static const dpf_additive_mechanism symmetric = {LAPLACE_NOISE, .accept = accept_packed};

DPF_ADDITIVE_COMPONENT(
    component, symmetric, dpf_additive_pure_functions, .id = "laplace-symmetric", .version = "1.0.0",
    .summary = "Laplace noise whose matrices are symmetric: one triangle is drawn and mirrored",
    .citation = "DPIMF (Ran, Ye, Huang, Hu), Eq. 18-19", DPF_PARAMS(laplace_params))
DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.laplace-symmetric", "1.0.0", "Apache-2.0", component)
