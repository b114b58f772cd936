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
#include "dpframe/additive_mechanism.h"

enum { P_MULTIPLIER };

static const dpf_param params[] = {
    [P_MULTIPLIER] = DPF_PARAM_REAL_F(
        "noise-multiplier", 1.0, 0.0, 1e9, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
        "Standard deviation of the shares of t parties together over the L2 sensitivity of all blocks."),
};

static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
{
    (void)host;
    *out = values[P_MULTIPLIER].real;
    return DPF_OK;
}

/* The least m whose variance 2 m is at least steps^2; at most 2^47. */
static uint64_t mean_of(uint64_t steps)
{
    return (steps * steps + 1) / 2;
}

static double variance(const dpf_noise_source *from, double steps, int64_t n)
{
    (void)from, (void)n;
    return 2 * (double)mean_of((uint64_t)steps);
}

static dpf_status draw(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n)
{
    return from->random->skellam(from->cursor, mean_of(steps), out, n);
}

/* The variance is 2 t m in squared grid steps, a product of integers and a power of four; the square root
   that the plan has is rounded. Of several blocks: that of the first in its own units, and a grid in which it
   is the least of all. */
static void state_variance(const dpf_value *values, const dpf_release *release, const dpf_noise_plan *plan,
                           double moved, dpf_event *event)
{
    uint64_t of_first = 0, least = 0;
    double grid = 0;
    (void)values, (void)release, (void)moved;
    for (int32_t gram = 0; gram < 2; gram++)
        for (int32_t b = 0; b < plan->n_blocks; b++) {
            if (!(event->blocks >> (b + (gram ? DPF_GRAM_BIT : 0)) & 1))
                continue;
            const uint64_t steps = dpf_additive_plan_steps(plan, b, gram);
            if (!(grid > 0)) {
                of_first = least = steps;
                grid = gram ? plan->gram_grid[b] : plan->grid[b];
            }
            least = steps < least ? steps : least;
        }
    if (!(grid > 0))
        return;
    const double shares = 2 * (double)dpf_additive_plan_parts(plan);
    const double mean = (double)mean_of(of_first), fewest = (double)mean_of(least);
    event->p.skellam.variance = shares * mean * grid * grid;
    event->grid = fewest == mean ? grid : grid * sqrt(mean / fewest) * (1 + 0x1p-50);
}

static const dpf_additive_mechanism skellam = {
    .norm = DPF_NORM_L2,
    .event = DPF_EVENT_SKELLAM,
    .in_shares = DPF_SHARES_VARIANCE,
    .min_bits = 8,
    .bits = 16,
    .max_bits = 24,
    .multiplier = multiplier,
    .draw = draw,
    .variance = variance,
    .state = state_variance,
};

DPF_ADDITIVE_COMPONENT(component, skellam, dpf_additive_shares_functions, .id = "skellam", .version = "1.0.0",
                       .summary = "Skellam noise in shares that add up to Skellam noise exactly",
                       .citation = "Agarwal, Kairouz, Liu, arXiv 2110.04995, Theorem 3.5", DPF_PARAMS(params))
DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.skellam", "1.0.0", "Apache-2.0", component)
