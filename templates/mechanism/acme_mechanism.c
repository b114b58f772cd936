/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acme_mechanism.c - discrete Laplace noise on every number of a message.
 *
 * Why it is private. The chance of noise k is in proportion to exp(-|k| / steps) on a public grid, and values
 * are rounded to that grid. Two messages whose difference has L1 norm D make any output more likely by a
 * factor of at most exp(D / scale): epsilon is D / scale. So a scale of D / epsilon is enough. (Ghosh,
 * Roughgarden, Sundararajan, STOC 2009.) Change the comment with the noise: dpframe-check measures what is
 * stated, a reader has to believe it.
 */
#include <math.h>

#include "dpframe/dpframe.h"

enum { P_EPSILON, P_SHARED };

static const dpf_param params[] = {
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                   "Budget of one release."),
    /* where and lifetime */
    DPF_ADDITIVE_PARAMS,
};

/* Noise scale over sensitivity. */
static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
{
    (void)host;
    *out = 1 / values[P_EPSILON].real;
    return DPF_OK;
}

/* The epsilon that the configuration asks for. */
static double epsilon(const dpf_value *values)
{
    return values[P_EPSILON].real;
}

/* n numbers of noise whose scale is `steps` grid steps. */
static dpf_status draw(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n)
{
    return from->random->discrete_laplace(from->cursor, steps, out, n);
}

/* Of one of them, in squared grid steps: 2 q / (1 - q)^2 with q = exp(-1 / steps). */
static double variance(const dpf_noise_source *from, double steps, int64_t n)
{
    const double s = sinh(1 / (2 * steps));
    (void)from, (void)n;
    return 1 / (2 * s * s);
}

static const dpf_additive_mechanism noise = {
    .norm = DPF_NORM_L1,
    .event = DPF_EVENT_DISCRETE_LAPLACE,
    .bits = 30,
    .max_bits = 42,
    .shared = P_SHARED,
    .multiplier = multiplier,
    .epsilon = epsilon,
    .draw = draw,
    .variance = variance,
};

DPF_ADDITIVE_COMPONENT(component, noise, dpf_additive_pure_functions, .id = "acme-mechanism",
                       .version = "1.0.0", .summary = "Discrete Laplace noise",
                       .citation = "Ghosh et al., STOC 2009", DPF_PARAMS(params))
DPF_SINGLE_COMPONENT_PLUGIN("com.acme.mechanism", "1.0.0", "Apache-2.0", component)
