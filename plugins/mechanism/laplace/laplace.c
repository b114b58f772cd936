/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laplace.c - i.i.d. discrete Laplace noise on every number of a query.
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
 *
 * A symmetric matrix in the layout packed is its triangle, d (d + 1) / 2 numbers, mirrored by whoever solves: the symmetric
 * noise of DPIMF (Eq. 18-19), with about half the sensitivity of all d^2 numbers.
 */
#include "dpframe/additive_mechanism.h"

enum { P_EPSILON, P_SENSITIVITY, P_SHARED };

enum { SENSITIVITY_PER_BLOCK, SENSITIVITY_JOINT };
static const dpf_enum_value sensitivities[] = {
    {"per-block", "Each block has its own sensitivity and its share of epsilon."},
    {"joint", "One sensitivity, the sum of the blocks', gives one scale for all of them."},
};

static const dpf_param params[] = {
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                   "Pure-DP budget of one release."),
    [P_SENSITIVITY] = DPF_PARAM_ENUM_F("sensitivity", SENSITIVITY_PER_BLOCK, sensitivities, DPF_PARAM_PRIVACY,
                                       "How the sensitivities of the blocks are used."),
    DPF_ADDITIVE_PARAMS,
};

static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
{
    (void)host;
    *out = 1 / values[P_EPSILON].real;
    return DPF_OK;
}

static dpf_status accept(const dpf_host *host, const dpf_value *values, const dpf_release *release)
{
    return release->block_shares && values[P_SENSITIVITY].integer == SENSITIVITY_JOINT
               ? host->fail(
                     host, DPF_E_CONFIG, P_SENSITIVITY,
                     "block-shares mean nothing with sensitivity = joint; remove them or use per-block")
               : DPF_OK;
}

static double epsilon_asked(const dpf_value *values)
{
    return values[P_EPSILON].real;
}

static int32_t one_scale(const dpf_value *values)
{
    return values[P_SENSITIVITY].integer == SENSITIVITY_JOINT;
}

/* 2 q / (1 - q)^2, q = exp(-1/steps). */
static double variance(const dpf_noise_source *from, double steps, int64_t n)
{
    const double s = sinh(1 / (2 * steps));
    (void)from, (void)n;
    return 1 / (2 * s * s);
}

static const dpf_additive_mechanism laplace = {
    .norm = DPF_NORM_L1,
    .event = DPF_EVENT_DISCRETE_LAPLACE,
    .bits = 34,
    .max_bits = 42, /* of dpf_random_service.discrete_laplace */
    .shared = P_SHARED,
    .multiplier = multiplier,
    .one_scale = one_scale,
    .accept = accept,
    .epsilon = epsilon_asked,
    .draw = dpf_draw_discrete_laplace,
    .variance = variance,
};

DPF_ADDITIVE_COMPONENT(
    component, laplace, dpf_additive_pure_functions, .id = "laplace", .version = "1.0.0",
    .summary = "Discrete Laplace noise on the grid, pure DP, with a budget share for each block",
    .citation =
        "Dwork, McSherry, Nissim, Smith, TCC 2006; Canonne, Kamath, Steinke, arXiv 2004.00010; symmetric "
        "noise: DPIMF, Eq. 18-19",
    DPF_PARAMS(params))
DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.laplace", "1.0.0", "Apache-2.0", component)
