/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discrete_gaussian.c - distributed discrete Gaussian noise (Kairouz, Liu, Steinke, arXiv 2102.06387).
 *
 * Each party adds discrete Gaussian noise of an integer scale s on the grid, s^2 = sigma^2 / t. The shares of
 * t honest parties add up to noise of scale s sqrt(t) = sigma; further ones are independent of it and do no
 * harm. The sum of discrete Gaussians of scales a and b is not one of scale sqrt(a^2 + b^2), but its
 * probabilities are, but for factors within 1 +- 5 exp(-2 pi^2 c^2), 1/c^2 = 1/a^2 + 1/b^2 (Poisson
 * summation). Here c^2 is at least s^2 / 2 and s at least 2^8: exp(-6e5) is nothing over any number of
 * parties, coordinates and rounds. So the event is that of one discrete Gaussian of scale sigma.
 *
 * Sensitivities are in L2, rounding included, so that all blocks are one Gaussian mechanism whichever way
 * they share (see gaussian.c). Only the sum may be seen (C5), and every party sends every row (C8).
 */
#include "dpframe/additive_mechanism.h"

enum { P_MULTIPLIER };

static const dpf_param params[] = {
    [P_MULTIPLIER] =
        DPF_PARAM_REAL_F("noise-multiplier", 1.0, 0.0, 1e9, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "sigma of the shares of t parties together over the L2 sensitivity of all blocks."),
};

static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
{
    (void)host;
    *out = values[P_MULTIPLIER].real;
    return DPF_OK;
}

static double variance(const dpf_noise_source *from, double steps, int64_t n)
{
    (void)from, (void)n;
    return steps * steps;
}

static const dpf_additive_mechanism shares = {
    .norm = DPF_NORM_L2,
    .event = DPF_EVENT_DISCRETE_GAUSSIAN,
    .in_shares = DPF_SHARES_VARIANCE,
    .min_bits = 8,
    .bits = 16,
    .max_bits = 24, /* of dpf_random_service.discrete_gaussian */
    .multiplier = multiplier,
    .draw = dpf_draw_discrete_gaussian,
    .variance = variance,
};

DPF_ADDITIVE_COMPONENT(
    component, shares, dpf_additive_shares_functions, .id = "discrete-gaussian", .version = "1.0.0",
    .summary = "Discrete Gaussian noise in shares: only the sum of all messages has enough",
    .citation = "Kairouz, Liu, Steinke, arXiv 2102.06387; Canonne, Kamath, Steinke, arXiv 2004.00010",
    DPF_PARAMS(params))
DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.discrete-gaussian", "1.0.0", "Apache-2.0", component)
