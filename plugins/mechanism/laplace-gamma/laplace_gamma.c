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
#include "gamma_shares.h"
#include "noise_shares.h"

enum { P_EPSILON, P_HONEST, P_CURIOUS, P_SIMULATE, P_GRID_BITS, P_COUNT };

enum { SIMULATE_SHARES, SIMULATE_SUM };
static const dpf_enum_value simulations[] = {
    {"shares", "Every message has its share of the noise, as the parties would send it."},
    {"sum",
     "Messages are bare, and the sum gets what the shares of those who sent add up to, drawn from its own "
     "law: for simulations only."},
};

static const dpf_param params[P_COUNT] = {
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                   "Pure-DP budget of one release."),
    [P_HONEST] = DPF_PARAM_INT_F("min-honest", 0, 0, 2147483647, DPF_PARAM_PRIVACY, "parties",
                                 NOISE_SHARES_HONEST_HELP),
    [P_CURIOUS] = DPF_PARAM_INT_F("max-curious", 0, 0, 2147483647, DPF_PARAM_PRIVACY, "parties",
                                  NOISE_SHARES_CURIOUS_HELP),
    [P_SIMULATE] = DPF_PARAM_ENUM_F("simulate", SIMULATE_SHARES, simulations, 0, "How shares are simulated."),
    [P_GRID_BITS] =
        DPF_PARAM_INT_F("grid-bits", 30, 8, 40, 0, "bits",
                        "log2 of the noise scale, or of the sensitivity if that is larger, in grid "
                        "steps; fewer where many messages are added."),
};

static double gamma_budget(void *self)
{
    return ((const struct noise_shares *)self)->values[P_EPSILON].real;
}

/* Of a difference of two NB(r, q), q = exp(-1/s): 2 r q / (1 - q)^2. */
static double variance_of(double shares, double t, double scale, double grid)
{
    double sine = scale > 0 ? sinh(grid / (2 * scale)) : INFINITY;
    return shares / t * grid * grid / (2 * sine * sine);
}

static dpf_status choose_scales(const struct noise_shares *gamma, const dpf_release *release,
                                dpf_noise_plan *out)
{
    const dpf_host *host = gamma->host;
    int32_t n = release->query->n_blocks, moved;
    int32_t bits = dpf_additive_bits(gamma->values[P_GRID_BITS].integer, release->n_parties);
    double norms[DPF_MAX_BLOCKS], t = (double)noise_shares_needed(out);
    dpf_status status = noise_shares_norms(gamma, release, 1, norms, &moved);
    if (status != DPF_OK)
        return status;
    double per_epsilon = moved * release->noise_factor / gamma->values[P_EPSILON].real;
    int together = 0;
    noise_shares_together(release, 1, release->noise_factor / gamma->values[P_EPSILON].real, 1, norms, bits,
                          42, out, out->scale, &together);
    for (int32_t b = 0; b < n; b++) {
        double coordinates = dpf_additive_coordinates(release, b, 0);
        if (together < 0 || (!together && norms[b] > 0 &&
                             dpf_additive_choose(norms[b] * per_epsilon, coordinates * per_epsilon, norms[b],
                                                 bits, 42, &out->grid[b], &out->scale[b]) != 0))
            return host->fail(
                host, DPF_E_RANGE, P_EPSILON,
                "no grid fits this noise: the scale, sensitivity / epsilon, is extreme, or epsilon is "
                "too small for a message of so many numbers");
        out->variance[b] = variance_of((double)release->n_parties, t, out->scale[b], out->grid[b]);
    }
    return DPF_OK;
}

static dpf_status gamma_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const struct noise_shares *gamma = self;
    if (release->query->width > (int32_t)GAMMA_MAX_WIDTH || release->n_parties > (int64_t)GAMMA_MAX_PARTIES)
        return gamma->host->fail(gamma->host, DPF_E_UNSUPPORTED, -1,
                                 "too many numbers in a row, or too many parties");
    const dpf_status status = noise_shares_begin(gamma, release, P_HONEST, P_CURIOUS, out);
    return status == DPF_OK ? choose_scales(gamma, release, out) : status;
}

static dpf_status gamma_events(void *self, const dpf_release *release, const dpf_noise_plan *plan,
                               dpf_event *out, int32_t capacity, int32_t *n)
{
    return noise_shares_events(self, release, plan, DPF_EVENT_DISCRETE_LAPLACE, out, capacity, n);
}

/* A record's contribution, and so its L1 distance, grows with its weight. */
static dpf_status gamma_profile(void *self, const dpf_noise_plan *plan, double weight, double *epsilon)
{
    (void)plan;
    *epsilon = weight * gamma_budget(self);
    return DPF_OK;
}

/* Adds the noise of that many shares to one row of integers. */
static int add_noise(const struct noise_shares *gamma, const dpf_noise_plan *plan, const dpf_query *query,
                     dpf_cursor *cursor, uint64_t shares, int64_t *row)
{
    for (int32_t b = 0; b < query->n_blocks; b++) {
        if (!(plan->scale[b] > 0))
            continue;
        uint64_t s = (uint64_t)(plan->scale[b] / plan->grid[b]);
        if (gamma_shares_add(gamma->random, cursor, s, shares, plan->opaque[1],
                             (uint64_t)query->blocks[b].length, row + query->blocks[b].offset) != 0)
            return -1;
    }
    return 0;
}

static dpf_status out_of_range(const dpf_call *call)
{
    return call->host->fail(call->host, DPF_E_RANGE, P_GRID_BITS,
                            "noise and value leave the range of integers");
}

static dpf_status gamma_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                               const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out)
{
    const struct noise_shares *gamma = self;
    dpf_status status = dpf_additive_encode(NULL, call, plan, query, values, stride, out);
    if (status != DPF_OK || gamma->values[P_SIMULATE].integer == SIMULATE_SUM)
        return status;
    for (int64_t r = 0; r < out->n_rows; r++) {
        dpf_cursor cursor;
        uint32_t row = (uint32_t)dpf_additive_row_id(out, r);
        gamma->random->seek(gamma->stream, call->draw, call->party, row, &cursor);
        if (add_noise(gamma, plan, query, &cursor, 1, out->values + r * out->stride) != 0)
            return out_of_range(call);
    }
    return DPF_OK;
}

/* The noise of all survivors at once, in front of the plain decoding. */
static dpf_status decode_simulated(const struct noise_shares *gamma, const dpf_call *call,
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
        if (add_noise(gamma, plan, query, &cursor, (uint64_t)sums->survivors, row) != 0)
            return out_of_range(call);
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
    const struct noise_shares *gamma = self;
    const dpf_status status = noise_shares_enough(call, plan, sums, P_HONEST);
    if (status != DPF_OK)
        return status;
    if (gamma->values[P_SIMULATE].integer == SIMULATE_SUM)
        return decode_simulated(gamma, call, plan, query, sums, out, stride);
    return dpf_additive_decode(NULL, call, plan, query, sums, out, stride);
}

static const dpf_mechanism functions = {
    .lifetime = noise_shares_lifetime,
    .budget = gamma_budget,
    .plan = gamma_plan,
    .events = gamma_events,
    .profile = gamma_profile,
    .encode = gamma_encode,
    .decode = gamma_decode,
    .flags = DPF_MECHANISM_DENSE,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_MECHANISM,
    .id = "laplace-gamma",
    .version = "1.0.0",
    .summary = "Discrete Laplace noise in Polya shares, exact for any number of honest parties",
    .citation = "Goryczka, Xiong, IEEE TDSC 14(5), 2017; Canonne, Kamath, Steinke, arXiv 2004.00010",
    .params = params,
    .n_params = P_COUNT,
    .param_stride = sizeof(dpf_param),
    .create = noise_shares_create,
    .destroy = noise_shares_destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.laplace-gamma", "1.0.0", "Apache-2.0", component)
