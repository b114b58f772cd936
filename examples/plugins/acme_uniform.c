/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acme_uniform.c - noise that is uniform on a cube: every number gets an integer from -t to t, each as
 * likely.
 *
 * Why it is private. A shift of one number by k steps leaves 2 t + 1 - k of 2 t + 1 outcomes in common, with
 * the same probabilities, so its delta at epsilon 0 is k / (2 t + 1). Of many numbers the probabilities of
 * leaving add up at most: delta is D / (2 t + 1) for an L1 change of D steps. (Geng, Ding, Guo, Kumar,
 * AISTATS 2020, for one number.)
 */
#include "dpframe/dpframe.h"

enum { P_DELTA, P_SHARED };

static const dpf_param params[] = {
    [P_DELTA] =
        DPF_PARAM_REAL_F("delta", 1e-3, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO | DPF_PARAM_OPEN_HI,
                         "", "Delta of one release; its epsilon is 0."),
    DPF_ADDITIVE_PARAMS,
};

/* t >= D / (2 delta) is more than enough. */
static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
{
    (void)host;
    *out = 1 / (2 * values[P_DELTA].real);
    return DPF_OK;
}

static dpf_status draw(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t one;
        from->random->below(from->cursor, 2 * steps + 1, &one, 1);
        out[i] = (int64_t)one - (int64_t)steps;
    }
    return DPF_OK;
}

static double variance(const dpf_noise_source *from, double steps, int64_t n)
{
    (void)from, (void)n;
    return steps * (steps + 1) / 3;
}

/* For the D that was planned. */
static void state(const dpf_value *values, const dpf_release *release, const dpf_noise_plan *plan,
                  double moved, dpf_event *event)
{
    const double change = event->sensitivity.at[release->unit][release->adjacency].l1;
    (void)values, (void)plan, (void)moved;
    event->p.approx.delta = fmin(change / (2 * event->scale + event->grid) * (1 + 1e-12), 1);
    dpf_event_normalise(event, change);
}

static const dpf_additive_mechanism uniform = {
    .norm = DPF_NORM_L1,
    .event = DPF_EVENT_APPROX,
    .bits = 24,
    .max_bits = 42,
    .shared = P_SHARED,
    .multiplier = multiplier,
    .draw = draw,
    .variance = variance,
    .state = state,
};

DPF_ADDITIVE_COMPONENT(component, uniform, dpf_additive_functions, .id = "acme-uniform", .version = "1.0.0",
                       .summary = "Noise that is uniform on a cube", .citation = "Geng et al., AISTATS 2020",
                       DPF_PARAMS(params))
DPF_SINGLE_COMPONENT_PLUGIN("com.acme.uniform", "1.0.0", "Apache-2.0", component)
