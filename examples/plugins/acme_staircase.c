/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acme_staircase.c - the staircase mechanism on integers (Geng, Viswanath, arXiv 1212.1186, Section V).
 *
 * Law. With D the change of one number and s the scale, both in grid steps, noise k >= 0 has a probability in
 * proportion to b^(k div D) if k mod D < r, else b times that, where b = exp(-D / s); -k the same as k. r
 * does not matter for privacy; D / (1 + exp(D / (2 s))) makes the mean of |k| the least.
 *
 * Why it is private. A shift of a number by at most D steps passes one riser at most, which changes its
 * probability by a factor of at most 1 / b: D / s. Any number of a message may move (norm LINF), so that N
 * numbers cost N D / s, and additive_mechanism.h takes s = N D / epsilon. Half of the change costs as much as
 * the whole, so the guarantee is stated for one D: APPROX, with delta 0.
 *
 * This noise is the best for a release of one number. For a message of many numbers of which a unit moves few,
 * noise that counts in L1 is better, and the statement shows it.
 *
 * How it is drawn, with integers alone. A discrete Laplace number of scale s that is not negative is at least
 * m with probability exp(-m / s): divided by D it is a stair, and compared with D it is a coin of probability
 * b.
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

static double epsilon(const dpf_value *values)
{
    return values[P_EPSILON].real;
}

/* r; a 32nd of D at least, so that few draws are thrown away. */
static uint64_t inner_of(uint64_t change, double steps)
{
    return (uint64_t)ceil((double)change * fmax(1 / (1 + exp((double)change / (2 * steps))), 0.03125));
}

static dpf_status geometric(const dpf_noise_source *from, uint64_t steps, uint64_t *out)
{
    int64_t one = 0;
    dpf_status status;
    do
        status = from->random->discrete_laplace(from->cursor, steps, &one, 1);
    while (status == DPF_OK && one < 0);
    *out = (uint64_t)one;
    return status;
}

/* One number, by rejection: which stair, where on it, and a sign; of the two zeros one is drawn again. */
static dpf_status draw_one(const dpf_noise_source *from, uint64_t steps, uint64_t inner, int64_t *out)
{
    for (;;) {
        uint64_t far, coin = 0, at, negative;
        dpf_status status = geometric(from, steps, &far);
        from->random->below(from->cursor, from->change, &at, 1);
        if (status == DPF_OK && at >= inner)
            status = geometric(from, steps, &coin);
        if (status != DPF_OK)
            return status;
        from->random->below(from->cursor, 2, &negative, 1);
        *out = (int64_t)(far - far % from->change + at);
        if ((at < inner || coin >= from->change) && !(negative && *out == 0)) {
            *out = negative ? -*out : *out;
            return DPF_OK;
        }
    }
}

static dpf_status draw(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n)
{
    const uint64_t inner = inner_of(from->change, (double)steps);
    dpf_status status = DPF_OK;
    for (int64_t i = 0; i < n && status == DPF_OK; i++)
        status = draw_one(from, steps, inner, &out[i]);
    return status;
}

/*
 * Of continuous noise, which is as close as the grid is fine: stair j has the weight b^j, and on it (j + u)^2
 * is integrated with the weights 1 for u < g and b for the rest.
 */
static double variance(const dpf_noise_source *from, double steps, int64_t n)
{
    const double d = (double)from->change, c = -expm1(-d / steps), b = 1 - c;
    const double g = (double)inner_of(from->change, steps) / d;
    const double mean = b / c, square = b * (1 + b) / (c * c); /* of j, and of j^2 */
    const double m0 = g + b * (1 - g), m1 = (g * g + b * (1 - g * g)) / 2,
                 m2 = (g * g * g + b * (1 - g * g * g)) / 3;
    (void)n;
    return d * d * (square + (2 * mean * m1 + m2) / m0);
}

/* `moved` numbers may pass a riser each. l1 is `moved` times the change of one number. */
static void state(const dpf_value *values, const dpf_release *release, const dpf_noise_plan *plan,
                  double moved, dpf_event *event)
{
    const double change = (double)dpf_event_change(plan, event);
    (void)values, (void)release;
    event->p.approx.epsilon = moved * (change * event->grid / event->scale) * (1 + 1e-12);
    dpf_event_normalise(event, moved * change * event->grid);
}

static const dpf_additive_mechanism staircase = {
    .norm = DPF_NORM_LINF,
    .event = DPF_EVENT_APPROX,
    .bits = 20,
    .max_bits = 40,
    .shared = P_SHARED,
    .multiplier = multiplier,
    .epsilon = epsilon,
    .draw = draw,
    .variance = variance,
    .state = state,
};

DPF_ADDITIVE_COMPONENT(component, staircase, dpf_additive_functions, .id = "acme-staircase",
                       .version = "1.0.0", .summary = "The staircase mechanism",
                       .citation = "Geng, Viswanath, arXiv 1212.1186", DPF_PARAMS(params))
DPF_SINGLE_COMPONENT_PLUGIN("com.acme.staircase", "1.0.0", "Apache-2.0", component)
