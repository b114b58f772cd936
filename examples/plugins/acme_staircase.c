/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acme_staircase.c - the staircase mechanism on integers (Geng, Viswanath, arXiv 1212.1186, Section V).
 *
 * Noise k >= 0 has a probability in proportion to b^(k div D) if k mod D < r, else b times that; -k the same
 * as k. Here b = exp(-epsilon), D is the scale in grid steps, and r is a part `inner` of it.
 *
 * Why it is private. A shift of one number by at most D steps passes one riser at most: its probabilities
 * differ by a factor of at most 1 / b. So a change of each number by at most D costs epsilon for each number
 * that moves, and any of the numbers of a message may: epsilon times their count. The guarantee does not grow
 * in proportion to the change (half of D costs as much), so it is stated for one D: APPROX, with delta 0. For
 * one number it is the best there is; for a message of many, noise that counts in L1 is better, and the
 * statement shows it.
 */
#include "dpframe/dpframe.h"

enum { P_EPSILON, P_INNER, P_SHARED };

static const dpf_param params[] = {
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 0.1, 0.01, 30.0, DPF_PARAM_PRIVACY, "",
                                   "Epsilon of each number of a message."),
    [P_INNER] =
        DPF_PARAM_REAL_F("inner", 0.5, 0.0, 1.0, DPF_PARAM_OPEN_LO, "", "Part of a stair that is high."),
    DPF_ADDITIVE_PARAMS(20, 8, 40),
};

/* A stair is as wide as the change of one number. */
static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
{
    (void)host, (void)values;
    *out = 1;
    return DPF_OK;
}

static double ratio(const dpf_value *values)
{
    return exp(-values[P_EPSILON].real); /* as rounded: it is this number's logarithm that is stated */
}

static uint64_t inner_of(const dpf_value *values, uint64_t steps)
{
    const double inner = ceil(values[P_INNER].real * (double)steps);
    return inner < 1 ? 1 : inner > (double)steps ? steps : (uint64_t)inner;
}

static int coin(const dpf_noise_source *from, double p)
{
    uint8_t heads;
    from->random->bernoulli(from->cursor, p, &heads, 1);
    return heads;
}

/* More stairs than integers have room for come up with a probability below e^-2600, whatever the data are. */
#define MOST_STAIRS (UINT64_C(1) << 18)

/* One number, by rejection: which stair, where on it, and a sign; of the two zeros one is drawn again. */
static dpf_status draw_one(const dpf_noise_source *from, uint64_t steps, uint64_t inner, double b,
                           int64_t *out)
{
    for (;;) {
        uint64_t stair = 0, at;
        while (coin(from, b))
            if (++stair == MOST_STAIRS)
                return DPF_E_RANGE;
        from->random->below(from->cursor, steps, &at, 1);
        const int high = at < inner || coin(from, b), negative = coin(from, 0.5);
        *out = (int64_t)(stair * steps + at);
        if (high && !(negative && *out == 0)) {
            *out = negative ? -*out : *out;
            return DPF_OK;
        }
    }
}

static dpf_status draw(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n)
{
    const double b = ratio(from->values);
    dpf_status status = DPF_OK;
    for (int64_t i = 0; i < n && status == DPF_OK; i++)
        status = draw_one(from, steps, inner_of(from->values, steps), b, &out[i]);
    return status;
}

/* The continuous one's: see the sum over stairs j of b^j times the integral of (j + u)^2 with weights 1 and
 * b. */
static double variance(const dpf_value *values, double steps, int64_t n)
{
    const double b = ratio(values), g = (double)inner_of(values, (uint64_t)steps) / steps;
    const double s0 = 1 / (1 - b), s1 = b * s0 * s0, s2 = b * (1 + b) * s0 * s0 * s0;
    const double m0 = g + b * (1 - g), m1 = (g * g + b * (1 - g * g)) / 2,
                 m2 = (g * g * g + b * (1 - g * g * g)) / 3;
    (void)n;
    return steps * steps * (s2 * m0 + 2 * s1 * m1 + s0 * m2) / (s0 * m0);
}

static void state(const dpf_value *values, const dpf_release *release, const dpf_noise_plan *plan,
                  double moved, dpf_event *event)
{
    (void)release, (void)plan;
    event->p.approx.epsilon = moved * -log(ratio(values)) * (1 + 1e-12);
    dpf_event_normalise(event, moved * event->scale); /* l1 is `moved` times the change of one number */
}

static const dpf_additive_mechanism staircase = {
    .norm = DPF_NORM_LINF,
    .event = DPF_EVENT_APPROX,
    .max_bits = 40,
    .shared = P_SHARED,
    .multiplier = multiplier,
    .draw = draw,
    .variance = variance,
    .state = state,
};

DPF_ADDITIVE_COMPONENT(component, staircase, dpf_additive_functions, .id = "acme-staircase",
                       .version = "1.0.0", .summary = "The staircase mechanism",
                       .citation = "Geng, Viswanath, arXiv 1212.1186", .params = params,
                       .n_params = sizeof params / sizeof params[0])
DPF_SINGLE_COMPONENT_PLUGIN("com.acme.staircase", "1.0.0", "Apache-2.0", component)
