/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acme_truncated_laplace.c - discrete Laplace noise that is never beyond a bound: in proportion to q^|k| for
 * |k| <= A, with q = exp(-1 / t) and A a multiple of t, both in grid steps.
 *
 * Why it is private. Where both neighbours reach an outcome, its probabilities differ by a factor of at most
 * exp(D / t) for an L1 change of D steps, as with Laplace noise. One alone reaches it with the probability
 * that some number's noise is within its own change m_i of the bound: at most the sum of h(m_i), h(m) = Pr[k
 * > A - m]. h grows by ever larger steps from h(0) = 0, so the sum is at most h(D). That is (D / t, h(D))-DP.
 * (Geng, Ding, Guo, Kumar, AISTATS 2020, for one number.) With t = D / epsilon and A = t ln(1 + (e^epsilon -
 * 1) / (2 delta)), h(D) is about delta; `state` computes it from the numbers as they were rounded.
 */
#include "dpframe/dpframe.h"

enum { P_EPSILON, P_DELTA, P_SHARED };

static const dpf_param params[] = {
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 100.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                   "Epsilon of one release."),
    [P_DELTA] =
        DPF_PARAM_REAL_F("delta", 1e-5, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI,
                         "", "Delta of one release, about."),
    DPF_ADDITIVE_PARAMS,
};

static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
{
    (void)host;
    *out = 1 / values[P_EPSILON].real;
    return DPF_OK;
}

static double epsilon(const dpf_value *values)
{
    return values[P_EPSILON].real;
}

/* A, in grid steps. */
static double bound_of(const dpf_value *values, double steps)
{
    return ceil(steps * log1p(expm1(values[P_EPSILON].real) / (2 * values[P_DELTA].real)));
}

/* What is beyond the bound is drawn again. */
static dpf_status draw(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n)
{
    const int64_t bound = (int64_t)bound_of(from->values, (double)steps);
    for (int64_t i = 0; i < n; i++)
        do {
            const dpf_status status = from->random->discrete_laplace(from->cursor, steps, &out[i], 1);
            if (status != DPF_OK)
                return status;
        } while (out[i] > bound || out[i] < -bound);
    return DPF_OK;
}

/* That of Laplace noise up to A: t^2 (2 - e^-b (b^2 + 2 b + 2)) / (1 - e^-b), b = A / t. */
static double variance(const dpf_noise_source *from, double steps, int64_t n)
{
    const double b = bound_of(from->values, steps) / steps;
    (void)n;
    return steps * steps * (2 - exp(-b) * (b * b + 2 * b + 2)) / -expm1(-b);
}

static void state(const dpf_value *values, const dpf_release *release, const dpf_noise_plan *plan,
                  double moved, dpf_event *event)
{
    const double change = event->sensitivity.at[release->unit][release->adjacency].l1;
    const double t = event->scale / event->grid, bound = bound_of(values, t), m = ceil(change / event->grid);
    /* (q^(A-m+1) - q^(A+1)) / (1 - q), over 1 + 2 (q - q^(A+1)) / (1 - q). */
    const double some = exp(-(bound - m + 1) / t) * -expm1(-m / t) / -expm1(-1 / t);
    const double all = 1 + 2 * exp(-1 / t) * -expm1(-bound / t) / -expm1(-1 / t);
    (void)plan, (void)moved;
    event->p.approx.epsilon = change / event->scale * (1 + 1e-12);
    event->p.approx.delta = m <= bound ? fmin(some / all * (1 + 1e-9), 1) : 1;
    dpf_event_normalise(event, change);
}

static const dpf_additive_mechanism truncated = {
    .norm = DPF_NORM_L1,
    .event = DPF_EVENT_APPROX,
    .bits = 24,
    .max_bits = 42,
    .shared = P_SHARED,
    .multiplier = multiplier,
    .epsilon = epsilon,
    .draw = draw,
    .variance = variance,
    .state = state,
};

DPF_ADDITIVE_COMPONENT(component, truncated, dpf_additive_functions, .id = "acme-truncated-laplace",
                       .version = "1.0.0", .summary = "Laplace noise that is never beyond a bound",
                       .citation = "Geng et al., AISTATS 2020", DPF_PARAMS(params))
DPF_SINGLE_COMPONENT_PLUGIN("com.acme.truncated-laplace", "1.0.0", "Apache-2.0", component)
