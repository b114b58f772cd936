/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laplace_gamma.c - discrete Laplace noise in shares that nobody else knows.
 *
 * Each party adds to every coordinate of its message a difference of two Polya(1/t) variables on the grid
 * (gamma_shares.h). Any t of these add up to discrete Laplace noise, exactly; further ones are independent of
 * it and do no harm. So if at least t parties are honest and their messages are in the sum, the sum is as
 * private as with the noise of plugin laplace: epsilon is the L1 distance over the scale.
 *
 * What it needs: that only the sum is seen (C5), hence an aggregator that hides messages where the server is
 * not trusted; and that every party sends every row, since a row needs t shares and who rated it is
 * private (C8), hence DPF_MECHANISM_DENSE. Dropouts leave at least the needed noise as long as t messages
 * remain; fewer are refused. Parties that are curious themselves know their own shares: of t + curious
 * messages t are still honest.
 *
 * Sending densely costs rows x width numbers a party. A simulation may draw the law of the survivors' sum at
 * once (simulate = sum): n shares of 1/t are one of n/t.
 */
#include "dpframe/additive_mechanism.h"
#include "gamma_shares.h"

enum { P_EPSILON, P_SIMULATE };

enum { SIMULATE_SHARES, SIMULATE_SUM };
static const dpf_enum_value simulations[] = {
    {"shares", "Every message has its share of the noise, as the parties would send it."},
    {"sum", "Messages carry no noise; the sum gets the total of the senders' shares, drawn from its own law: "
            "for simulations only."},
};

static const dpf_param params[] = {
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                   "Pure-DP budget of one release."),
    [P_SIMULATE] = DPF_PARAM_ENUM_F("simulate", SIMULATE_SHARES, simulations, DPF_PARAM_SIMULATES,
                                    "How shares are simulated."),
};

static dpf_status accept(const dpf_host *host, const dpf_value *values, const dpf_release *release)
{
    (void)values;
    if (release->query->width > (int32_t)GAMMA_MAX_WIDTH || release->n_parties > (int64_t)GAMMA_MAX_PARTIES)
        return host->fail(host, DPF_E_UNSUPPORTED, -1, "too many numbers in a row, or too many parties");
    return DPF_OK;
}

static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
{
    (void)host;
    *out = 1 / values[P_EPSILON].real;
    return DPF_OK;
}

static double epsilon_asked(const dpf_value *values)
{
    return values[P_EPSILON].real;
}

/* Of a difference of two NB(1, q), q = exp(-1/steps): 2 q / (1 - q)^2. */
static double variance(const dpf_noise_source *from, double steps, int64_t n)
{
    const double sine = sinh(1 / (2 * steps));
    (void)from, (void)n;
    return 1 / (2 * sine * sine);
}

static dpf_status draw_share(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n)
{
    memset(out, 0, (size_t)n * sizeof(*out));
    return gamma_shares_add(from->random, from->cursor, steps, 1, (uint64_t)from->parts, (uint64_t)n, out) ==
                   0
               ? DPF_OK
               : DPF_E_RANGE;
}

static const dpf_additive_mechanism gamma_noise = {
    .norm = DPF_NORM_L1,
    .event = DPF_EVENT_DISCRETE_LAPLACE,
    .in_shares = DPF_SHARES_LAW,
    .bits = 30,
    .max_bits = 42,
    .whole_blocks = 1,
    .accept = accept,
    .multiplier = multiplier,
    .epsilon = epsilon_asked,
    .draw = draw_share,
    .variance = variance,
};

/* ---- simulate = sum ---- */

static int is_simulated(const dpf_additive_instance *gamma)
{
    return gamma->values[P_SIMULATE].integer == SIMULATE_SUM;
}

static dpf_status gamma_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const dpf_status status = dpf_additive_mechanism_plan(self, release, out);
    out->bare = is_simulated(self);
    return status;
}

/* Adds the noise of that many shares to one row of integers. */
static int add_noise(const dpf_additive_instance *gamma, const dpf_noise_plan *plan, const dpf_query *query,
                     int gram, dpf_cursor *cursor, uint64_t shares, int64_t *row)
{
    for (int32_t b = 0; b < query->n_blocks; b++) {
        const double scale = gram ? plan->gram_scale[b] : plan->scale[b],
                     grid = gram ? plan->gram_grid[b] : plan->grid[b];
        if (scale > 0 &&
            gamma_shares_add(gamma->random, cursor, (uint64_t)(scale / grid), shares,
                             (uint64_t)dpf_additive_plan_parts(plan), (uint64_t)query->blocks[b].length,
                             row + query->blocks[b].offset) != 0)
            return -1;
    }
    return 0;
}

/* The noise of all survivors at once, in front of the plain decoding. */
static dpf_status decode_simulated(const dpf_additive_instance *gamma, const dpf_call *call,
                                   const dpf_noise_plan *plan, const dpf_query *query,
                                   const dpf_encoded *sums, double *out, int64_t stride)
{
    int64_t *row = call->scratch(call, (uint64_t)sums->width * sizeof(*row));
    if (!row)
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    for (int64_t r = 0; r < sums->n_rows; r++) {
        dpf_cursor cursor;
        uint32_t id = (uint32_t)dpf_additive_row_id(sums, r);
        dpf_encoded one;
        dpf_copy(&one, sizeof one, sums);
        memcpy(row, sums->values + r * sums->stride, (size_t)sums->width * sizeof(*row));
        gamma->random->seek(gamma->stream, call->draw, DPF_PARTY_AGGREGATE, id, &cursor);
        if (add_noise(gamma, plan, query, dpf_additive_is_gram(query, sums, id), &cursor,
                      (uint64_t)sums->survivors, row) != 0)
            return call->host->fail(call->host, DPF_E_RANGE, -1,
                                    "noise and value leave the range of integers");
        one.values = row;
        one.n_rows = 1;
        one.rows = NULL;
        one.first_row = id;
        dpf_status status = dpf_additive_decode(NULL, call, plan, query, &one, out + r * stride, stride);
        if (status != DPF_OK)
            return status;
    }
    return DPF_OK;
}

static dpf_status gamma_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                               const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    if (!is_simulated(self))
        return dpf_additive_mechanism_decode(self, call, plan, query, sums, out, stride);
    const dpf_status status = dpf_additive_enough(self, call, plan, sums);
    return status == DPF_OK ? decode_simulated(self, call, plan, query, sums, out, stride) : status;
}

static const dpf_mechanism functions = {
    .lifetime = dpf_additive_mechanism_lifetime,
    .budget = dpf_additive_mechanism_budget,
    .plan = gamma_plan,
    .events = dpf_additive_mechanism_events,
    .epsilon_at_weight = dpf_additive_mechanism_epsilon_at_weight,
    .encode = dpf_additive_mechanism_encode,
    .decode = gamma_decode,
    .flags = DPF_MECHANISM_DENSE | DPF_MECHANISM_ROUNDS | DPF_MECHANISM_SHARES | DPF_MECHANISM_DIVIDES,
};

DPF_ADDITIVE_COMPONENT(
    component, gamma_noise, functions, .id = "laplace-gamma", .version = "1.0.0",
    .summary = "Discrete Laplace noise in Polya shares, exact for any number of honest parties",
    .citation = "Goryczka, Xiong, IEEE TDSC 14(5), 2017; Canonne, Kamath, Steinke, arXiv 2004.00010",
    DPF_PARAMS(params))
DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.laplace-gamma", "1.0.0", "Apache-2.0", component)
