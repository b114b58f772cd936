/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laplace_noise.h - i.i.d. discrete Laplace noise on the numbers of a query, for the mechanisms that add it.
 *
 * Why it is private. Let D_b be the L1 sensitivity of block b after rounding to its grid g_b. With
 * sensitivity = per-block, block b has discrete Laplace noise of scale s_b >= D_b / (epsilon beta_b) on
 * the grid. The masses of two neighbours at any output differ by a factor of at most exp(D_b / s_b) <=
 * exp(epsilon beta_b), since the noise is i.i.d. and all values lie on the grid (Canonne, Kamath,
 * Steinke, arXiv 2004.00010, section 5). The blocks compose to epsilon, as the shares beta add up to 1.
 * With sensitivity = joint the concatenation of the blocks has sensitivity D = sum D_b, and all blocks
 * have scale D / epsilon: again sum D_b / s_b <= epsilon.
 *
 * Where blocks share a bound, such as one clip in L1 for the whole message, D is the largest sum of |x_b| /
 * s_b under that bound, which is charged once: s_b = C w_b / epsilon for one ball of radius C with weights
 * w_b.
 *
 * Scales are rounded up to a multiple of the grid. Which coordinates get noise does not depend on
 * data: all of a row do. A block that no unit moves gets none.
 */
#ifndef DPF_PLUGINS_LAPLACE_NOISE_H
#define DPF_PLUGINS_LAPLACE_NOISE_H

#include "dpframe/additive_mechanism.h"

enum { P_EPSILON, P_SENSITIVITY, P_SHARED };

enum { SENSITIVITY_PER_BLOCK, SENSITIVITY_JOINT };
static const dpf_enum_value laplace_sensitivities[] = {
    {"per-block", "Each block has its own sensitivity and its share of epsilon."},
    {"joint", "One sensitivity, the sum of the blocks', gives one scale for all of them."},
};

static const dpf_param laplace_params[] = {
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                   "Pure-DP budget of one release."),
    [P_SENSITIVITY] = DPF_PARAM_ENUM_F("sensitivity", SENSITIVITY_PER_BLOCK, laplace_sensitivities,
                                       DPF_PARAM_PRIVACY, "How the sensitivities of the blocks are used."),
    DPF_ADDITIVE_PARAMS(34, 8, 40),
};

static inline dpf_status laplace_multiplier(const dpf_host *host, const dpf_value *values, double *out)
{
    if (values[P_SHARED + DPF_SHARED_SHARES].count > 0 && values[P_SENSITIVITY].integer == SENSITIVITY_JOINT)
        return host->fail(host, DPF_E_CONFIG, P_SHARED + DPF_SHARED_SHARES,
                          "shares mean nothing with sensitivity = joint; remove them or use per-block");
    *out = 1 / values[P_EPSILON].real;
    return DPF_OK;
}

static inline double laplace_epsilon(const dpf_value *values)
{
    return values[P_EPSILON].real;
}

static inline int32_t laplace_one_scale(const dpf_value *values)
{
    return values[P_SENSITIVITY].integer == SENSITIVITY_JOINT;
}

/* 2 q / (1 - q)^2, q = exp(-1/steps). */
static inline double laplace_variance(const dpf_noise_source *from, double steps, int64_t n)
{
    const double s = sinh(1 / (2 * steps));
    (void)from, (void)n;
    return 1 / (2 * s * s);
}

/* What both mechanisms say of their noise; steps up to those of dpf_random_service.discrete_laplace. */
#define LAPLACE_NOISE                                                                                        \
    .norm = DPF_NORM_L1, .event = DPF_EVENT_DISCRETE_LAPLACE, .max_bits = 42, .shared = P_SHARED,            \
    .multiplier = laplace_multiplier, .one_scale = laplace_one_scale, .epsilon = laplace_epsilon,            \
    .draw = dpf_draw_discrete_laplace, .variance = laplace_variance

#endif
