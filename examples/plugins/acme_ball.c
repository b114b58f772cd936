/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acme_ball.c - the K-norm mechanism of the Euclidean ball on integers (Hardt, Talwar, STOC 2010): noise x of
 * a row's n numbers has a probability that falls as exp(-|x|_2 / s), s the scale in grid steps.
 *
 * Law. The paper takes a uniform point of the ball and a radius with a Gamma law: real numbers, which float64
 * does not hold exactly, and |x|_2 is not rational. Here x is a vector of integers, and the norm is rounded
 * up to a 4096th of a grid step:
 *
 *     Pr[x] in proportion to exp(-m(x) / (F s)),  m(x) = ceil(F |x|_2),  F = 4096.
 *
 * Why it is private. If a row moves by the integer vector t, m moves by at most ceil(F |t|_2). As |t|_2 is 0
 * or at least 1, a ratio of probabilities is at most exp((1 + 1 / F) |t|_2 / s). Rows have noise of their
 * own, so a message costs (1 + 1 / F) / s times the sum over its rows of |t|_2 (norm ROWS). This holds in
 * proportion for any change: PURE.
 *
 * How it is drawn. Independent discrete Laplace numbers of an integer scale t >= s sqrt(n) are kept with
 * probability exp(-g), g = m(x) / (F s) - |x|_1 / t, which gives the law above; g >= 0, as |x|_1 <= sqrt(n)
 * |x|_2. g is a fraction, so Bernoulli(exp(-g)) needs integers only (Canonne, Kamath, Steinke, arXiv
 * 2004.00010, Algorithm 1). A row of 4 / 8 / 16 / 32 numbers takes some 2 / 6 / 57 / 4600 tries.
 *
 * Of two noises with pure DP and a clip in L2, this one has (n + 1) / (2 n) of the variance of Laplace noise.
 */
#include "dpframe/dpframe.h"

#define FINE 4096 /* F */
#define MOST_NUMBERS 32

enum { P_EPSILON, P_SHARED };

static const dpf_param params[] = {
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                   "Pure-DP budget of one release."),
    DPF_ADDITIVE_PARAMS,
};

static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
{
    (void)host;
    *out = (1 + 1.0 / FINE) / values[P_EPSILON].real;
    return DPF_OK;
}

static double epsilon(const dpf_value *values)
{
    return values[P_EPSILON].real;
}

static dpf_status accept(const dpf_host *host, const dpf_value *values, const dpf_release *release)
{
    (void)values;
    for (int32_t b = 0; b < release->query->n_blocks; b++)
        if (release->query->blocks[b].length > MOST_NUMBERS)
            return host->fail(host, DPF_E_UNSUPPORTED, -1,
                              "a draw of more than 32 numbers together takes too long; lower [model] rank");
    return DPF_OK;
}

/* The least r with r^2 >= square, for square < 2^100. */
static uint64_t root_up(unsigned __int128 square)
{
    uint64_t r = (uint64_t)sqrt((double)square);
    while ((unsigned __int128)r * r < square)
        r++;
    while (r > 0 && (unsigned __int128)(r - 1) * (r - 1) >= square)
        r--;
    return r;
}

/* 1 with probability exp(-a / b), for 0 <= a <= b < 2^55. More than 511 rounds have a probability below
 * e^-2600. */
static int keeps_at_most_1(const dpf_noise_source *from, uint64_t a, uint64_t b)
{
    uint64_t k = 0, at;
    do
        from->random->below(from->cursor, b * ++k, &at, 1);
    while (at < a && k < 511);
    return k & 1;
}

static int keeps(const dpf_noise_source *from, unsigned __int128 a, uint64_t b)
{
    for (; a > b; a -= b)
        if (!keeps_at_most_1(from, 1, 1))
            return 0;
    return keeps_at_most_1(from, (uint64_t)a, b);
}

static dpf_status draw(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n)
{
    const uint64_t t = root_up((unsigned __int128)steps * steps * (uint64_t)n), unit = FINE * steps;
    for (;;) {
        unsigned __int128 square = 0;
        uint64_t sum = 0;
        const dpf_status status = from->random->discrete_laplace(from->cursor, t, out, n);
        if (status != DPF_OK)
            return status;
        for (int64_t i = 0; i < n; i++) {
            const uint64_t size = (uint64_t)(out[i] < 0 ? -out[i] : out[i]);
            square += (unsigned __int128)size * size;
            sum += size;
        }
        const uint64_t m = root_up((unsigned __int128)FINE * FINE * square);
        if (keeps(from, (unsigned __int128)m * t - (unsigned __int128)sum * unit, unit * t))
            return DPF_OK;
    }
}

/* |x|_2 / s has a Gamma law of shape n, and its square the mean n (n + 1), as close as the grid is fine. */
static double variance(const dpf_noise_source *from, double steps, int64_t n)
{
    (void)from;
    return (double)(n + 1) * steps * steps;
}

static void state(const dpf_value *values, const dpf_release *release, const dpf_noise_plan *plan,
                  double moved, dpf_event *event)
{
    (void)values, (void)release, (void)plan, (void)moved;
    event->p.pure.epsilon *= 1 + 1.0 / FINE;
}

static const dpf_additive_mechanism ball = {
    .norm = DPF_NORM_ROWS,
    .event = DPF_EVENT_PURE,
    .bits = 14,
    .max_bits = 20,
    .whole_blocks = 1,
    .shared = P_SHARED,
    .multiplier = multiplier,
    .epsilon = epsilon,
    .accept = accept,
    .draw = draw,
    .variance = variance,
    .state = state,
};

DPF_ADDITIVE_COMPONENT(component, ball, dpf_additive_pure_functions, .id = "acme-ball", .version = "1.0.0",
                       .summary = "The K-norm mechanism of the Euclidean ball, on each row",
                       .citation = "Hardt, Talwar, STOC 2010", DPF_PARAMS(params))
DPF_SINGLE_COMPONENT_PLUGIN("com.acme.ball", "1.0.0", "Apache-2.0", component)
