/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acme_cube.c - the K-norm mechanism of the cube (Hardt, Talwar, STOC 2010) on integers: noise z of a row's
 * block has a probability in proportion to exp(-|z| / t), |z| the largest of its d numbers.
 *
 * Sampling. Draw R with Pr[R] in proportion to (2 R + 1)^d exp(-R / t), then every number uniformly from -R
 * to R: z comes out with the sum of exp(-R / t) over R >= |z|. R is drawn as the sum of d + 1 geometric
 * numbers, which has (R + 1) ... (R + d) in place of (2 R + 1)^d / 2^d, and is kept with the probability of
 * the quotient. A discrete Laplace number that is not negative is geometric.
 *
 * Why it is private. A change of a row by at most c in each number costs c / t; rows have noise of their own,
 * and any of them may move: norm LINF with whole blocks.
 */
#include "dpframe/dpframe.h"

enum { P_EPSILON, P_SHARED };

static const dpf_param params[] = {
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                   "Pure-DP budget of one release."),
    DPF_ADDITIVE_PARAMS,
};

static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
{
    (void)host;
    *out = 1 / values[P_EPSILON].real;
    return DPF_OK;
}

static dpf_status geometric(const dpf_noise_source *from, uint64_t steps, int64_t *out)
{
    dpf_status status;
    do
        status = from->random->discrete_laplace(from->cursor, steps, out, 1);
    while (status == DPF_OK && *out < 0);
    return status;
}

static dpf_status radius(const dpf_noise_source *from, uint64_t steps, int64_t d, uint64_t *out)
{
    for (;;) {
        int kept = 1;
        *out = 0;
        for (int64_t i = 0; i <= d; i++) {
            int64_t part;
            const dpf_status status = geometric(from, steps, &part);
            if (status != DPF_OK)
                return status;
            *out += (uint64_t)part;
        }
        for (uint64_t i = 1; i <= (uint64_t)d && kept; i++) {
            uint64_t at;
            from->random->below(from->cursor, 2 * *out + 2 * i, &at, 1);
            kept = at < 2 * *out + 1;
        }
        if (kept)
            return DPF_OK;
    }
}

/* All n numbers of a block. */
static dpf_status draw(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n)
{
    uint64_t r;
    const dpf_status status = radius(from, steps, n, &r);
    for (int64_t i = 0; status == DPF_OK && i < n; i++) {
        uint64_t at;
        from->random->below(from->cursor, 2 * r + 1, &at, 1);
        out[i] = (int64_t)at - (int64_t)r;
    }
    return status;
}

/* Of a block of n numbers: R is about Gamma(n + 1, steps), and a number uniform up to R has R^2 / 3. */
static double variance(const dpf_noise_source *from, double steps, int64_t n)
{
    const double d = (double)n;
    (void)from;
    return (d + 1) * (d + 2) * steps * steps / 3;
}

static const dpf_additive_mechanism cube = {
    .norm = DPF_NORM_LINF,
    .event = DPF_EVENT_PURE,
    .bits = 20,
    .max_bits = 32,
    .whole_blocks = 1,
    .shared = P_SHARED,
    .multiplier = multiplier,
    .draw = draw,
    .variance = variance,
};

DPF_ADDITIVE_COMPONENT(component, cube, dpf_additive_functions, .id = "acme-cube", .version = "1.0.0",
                       .summary = "The K-norm mechanism of the cube", .citation = "Hardt, Talwar, STOC 2010",
                       DPF_PARAMS(params))
DPF_SINGLE_COMPONENT_PLUGIN("com.acme.cube", "1.0.0", "Apache-2.0", component)
