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

static dpf_status symmetric_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const dpf_host *host = laplace_host(self);
    for (int32_t b = 0; b < release->query->n_blocks; b++)
        if (release->query->blocks[b].layout == DPF_LAYOUT_FULL)
            return host->fail(
                host, DPF_E_UNSUPPORTED, -1,
                "noise on all d x d numbers of a matrix is not symmetric; set block-layout = packed, "
                "or take mechanism laplace");
    return laplace_plan(self, release, out);
}

static const dpf_mechanism functions = {
    .lifetime = laplace_lifetime,
    .budget = laplace_budget,
    .plan = symmetric_plan,
    .events = laplace_events,
    .profile = laplace_profile,
    .encode = laplace_encode,
    .decode = laplace_decode,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_MECHANISM,
    .id = "laplace-symmetric",
    .version = "1.0.0",
    .summary = "Laplace noise whose matrices are symmetric: one triangle is drawn and mirrored",
    .citation = "DPIMF (Ran, Ye, Huang, Hu), Eq. 18-19",
    .params = laplace_params,
    .n_params = LAPLACE_N_PARAMS,
    .param_stride = sizeof(dpf_param),
    .create = laplace_create,
    .destroy = laplace_destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.laplace-symmetric", "1.0.0", "Apache-2.0", component)
