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
#include "noise_shares.h"

enum { P_MULTIPLIER, P_HONEST, P_CURIOUS, P_GRID_BITS, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_MULTIPLIER] =
        DPF_PARAM_REAL_F("noise-multiplier", 1.0, 0.0, 1e9, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "sigma of the shares of t parties together over the L2 sensitivity of all blocks."),
    [P_HONEST] = DPF_PARAM_INT_F("min-honest", 0, 0, 2147483647, DPF_PARAM_PRIVACY, "parties",
                                 NOISE_SHARES_HONEST_HELP),
    [P_CURIOUS] = DPF_PARAM_INT_F("max-curious", 0, 0, 2147483647, DPF_PARAM_PRIVACY, "parties",
                                  NOISE_SHARES_CURIOUS_HELP),
    [P_GRID_BITS] = DPF_PARAM_INT_F("grid-bits", 16, 8, 23, 0, "bits",
                                    "log2 of one party's share of the noise in grid steps; fewer where many "
                                    "messages are added, but at least 8."),
};

static double shares_budget(void *self)
{
    (void)self;
    return NAN; /* a multiplier is no epsilon */
}

static dpf_status shares_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const struct noise_shares *shares = self;
    double steps[DPF_MAX_BLOCKS];
    dpf_status status = noise_shares_begin(shares, release, P_HONEST, P_CURIOUS, out);
    if (status == DPF_OK)
        status =
            noise_shares_choose(shares, release, shares->values[P_MULTIPLIER].real, P_GRID_BITS, out, steps);
    for (int32_t b = 0; status == DPF_OK && b < out->n_blocks; b++) {
        const double share = steps[b] * out->grid[b];
        out->opaque[2 + b] = (uint64_t)steps[b];
        out->scale[b] = share * sqrt((double)noise_shares_needed(out));
        out->variance[b] = (double)release->n_parties * share * share;
    }
    return status;
}

static dpf_status shares_events(void *self, const dpf_release *release, const dpf_noise_plan *plan,
                                dpf_event *out, int32_t capacity, int32_t *n)
{
    return noise_shares_events(self, release, plan, DPF_EVENT_DISCRETE_GAUSSIAN, out, capacity, n);
}

static dpf_status shares_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                const dpf_query *query, const double *values, int64_t stride,
                                dpf_encoded *out)
{
    const struct noise_shares *shares = self;
    return noise_shares_encode(shares, shares->random->discrete_gaussian, call, plan, query, values, stride,
                               out);
}

static dpf_status shares_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    (void)self;
    const dpf_status status = noise_shares_enough(call, plan, sums, P_HONEST);
    return status == DPF_OK ? dpf_additive_decode(NULL, call, plan, query, sums, out, stride) : status;
}

static const dpf_mechanism functions = {
    .lifetime = noise_shares_lifetime,
    .budget = shares_budget,
    .plan = shares_plan,
    .events = shares_events,
    .encode = shares_encode,
    .decode = shares_decode,
    .flags = DPF_MECHANISM_DENSE,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_MECHANISM,
    .id = "discrete-gaussian",
    .version = "1.0.0",
    .summary = "Discrete Gaussian noise in shares: only the sum of all messages has enough",
    .citation = "Kairouz, Liu, Steinke, arXiv 2102.06387; Canonne, Kamath, Steinke, arXiv 2004.00010",
    .params = params,
    .n_params = P_COUNT,
    .param_stride = sizeof(dpf_param),
    .create = noise_shares_create,
    .destroy = noise_shares_destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.discrete-gaussian", "1.0.0", "Apache-2.0", component)
