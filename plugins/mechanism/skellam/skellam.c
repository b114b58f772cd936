/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skellam.c - distributed Skellam noise (Agarwal, Kairouz, Liu, arXiv 2110.04995).
 *
 * Each party adds to every number of its message the difference of two Poisson numbers of mean m, m an
 * integer, in grid steps. Poisson numbers add up to Poisson numbers: the shares of t honest parties together
 * are the difference of two of mean t m, exactly, of variance 2 t m. Further shares are independent of it and
 * do no harm. Only the sum may be seen (C5), and every party sends every row (C8).
 *
 * Privacy, with all lengths in grid steps and V = 2 t m: a shift of norms L1 and L2 has a Renyi divergence of
 *   a L2^2 / (2 V) + min(((2a - 1) L2^2 + 6 L1) / (4 V^2), 3 L1 / (2 V))
 * at most for integer orders a (ibid., Theorem 3.5). The event carries both norms, rounding to the grid
 * included, and the variance; accountants make of it what they can prove. The first term is that of Gaussian
 * noise of the same variance, and the rest of it vanishes with the grid: as shares have at least 2^8 steps of
 * deviation, V is above 2^16 t. Blocks are one mechanism whichever way they share, as with gaussian.c, up to
 * that rest. Side by side, in units of each block's deviation, their first terms add up to that of the joint
 * L2 norm; what is left of a block falls with its V, so the least V of the blocks bounds it for all.
 */
#include "noise_shares.h"

enum { P_MULTIPLIER, P_HONEST, P_CURIOUS, P_GRID_BITS, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_MULTIPLIER] = DPF_PARAM_REAL_F(
        "noise-multiplier", 1.0, 0.0, 1e9, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
        "Standard deviation of the shares of t parties together over the L2 sensitivity of all blocks."),
    [P_HONEST] = DPF_PARAM_INT_F("min-honest", 0, 0, 2147483647, DPF_PARAM_PRIVACY, "parties",
                                 NOISE_SHARES_HONEST_HELP),
    [P_CURIOUS] = DPF_PARAM_INT_F("max-curious", 0, 0, 2147483647, DPF_PARAM_PRIVACY, "parties",
                                  NOISE_SHARES_CURIOUS_HELP),
    [P_GRID_BITS] = DPF_PARAM_INT_F("grid-bits", 16, 8, 23, 0, "bits",
                                    "log2 of the deviation of one party's share in grid steps; fewer where "
                                    "many messages are added, but at least 8."),
};

static double skellam_budget(void *self)
{
    (void)self;
    return NAN; /* a multiplier is no epsilon */
}

static dpf_status skellam_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const struct noise_shares *shares = self;
    double steps[DPF_MAX_BLOCKS];
    dpf_status status = noise_shares_begin(shares, release, P_HONEST, P_CURIOUS, out);
    if (status == DPF_OK)
        status =
            noise_shares_choose(shares, release, shares->values[P_MULTIPLIER].real, P_GRID_BITS, out, steps);
    for (int32_t b = 0; status == DPF_OK && b < out->n_blocks; b++) {
        const double mean = ceil(steps[b] * steps[b] / 2); /* at most 2^47 */
        const double variance = 2 * mean * out->grid[b] * out->grid[b];
        out->opaque[2 + b] = (uint64_t)mean;
        out->scale[b] = sqrt(variance * (double)noise_shares_needed(out));
        out->variance[b] = variance * (double)release->n_parties;
    }
    return status;
}

/* The variance is 2 t m in squared grid steps, a product of integers and a power of four; the square root
   that the plan has is rounded. Of several blocks: that of the first in its own units, and a grid in which it
   is the least of all. */
static void state_variance(const dpf_noise_plan *plan, dpf_event *event)
{
    int32_t first = -1, least = -1;
    for (int32_t b = 0; b < plan->n_blocks; b++) {
        if (!(event->blocks >> b & 1))
            continue;
        first = first < 0 ? b : first;
        least = least < 0 || plan->opaque[2 + b] < plan->opaque[2 + least] ? b : least;
    }
    if (first < 0)
        return;
    const double shares = 2 * (double)noise_shares_needed(plan);
    const double mean = (double)plan->opaque[2 + first], fewest = (double)plan->opaque[2 + least];
    event->p[0] = shares * mean * plan->grid[first] * plan->grid[first];
    event->grid =
        fewest == mean ? plan->grid[first] : plan->grid[first] * sqrt(mean / fewest) * (1 + 0x1p-50);
}

static dpf_status skellam_events(void *self, const dpf_release *release, const dpf_noise_plan *plan,
                                 dpf_event *out, int32_t capacity, int32_t *n)
{
    const dpf_status status = noise_shares_events(self, release, plan, DPF_EVENT_SKELLAM, out, capacity, n);
    for (int32_t i = 0; status == DPF_OK && i < *n; i++)
        if (out[i].kind == DPF_EVENT_SKELLAM)
            state_variance(plan, &out[i]);
    return status;
}

static dpf_status skellam_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                 const dpf_query *query, const double *values, int64_t stride,
                                 dpf_encoded *out)
{
    const struct noise_shares *shares = self;
    return noise_shares_encode(shares, shares->random->skellam, call, plan, query, values, stride, out);
}

static dpf_status skellam_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                 const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    (void)self;
    const dpf_status status = noise_shares_enough(call, plan, sums, P_HONEST);
    return status == DPF_OK ? dpf_additive_decode(NULL, call, plan, query, sums, out, stride) : status;
}

static const dpf_mechanism functions = {
    .lifetime = noise_shares_lifetime,
    .budget = skellam_budget,
    .plan = skellam_plan,
    .events = skellam_events,
    .encode = skellam_encode,
    .decode = skellam_decode,
    .flags = DPF_MECHANISM_DENSE,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_MECHANISM,
    .id = "skellam",
    .version = "1.0.0",
    .summary = "Skellam noise in shares that add up to Skellam noise exactly",
    .citation = "Agarwal, Kairouz, Liu, arXiv 2110.04995, Theorem 3.5",
    .params = params,
    .n_params = P_COUNT,
    .param_stride = sizeof(dpf_param),
    .create = noise_shares_create,
    .destroy = noise_shares_destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.skellam", "1.0.0", "Apache-2.0", component)
