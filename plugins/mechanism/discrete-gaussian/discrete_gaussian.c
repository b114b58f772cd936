/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discrete_gaussian.c - distributed discrete Gaussian noise (Kairouz, Liu, Steinke, arXiv 2102.06387).
 *
 * Each party adds discrete Gaussian noise of an integer scale s on the grid, s^2 = sigma^2 / t. The shares of
 * t honest parties add up to noise of scale s sqrt(t) = sigma; further ones are independent of it and do no
 * harm. The sum of discrete Gaussians of scales a and b is not one of scale sqrt(a^2 + b^2), but its
 * probabilities are, but for factors within 1 +- 5 exp(-2 pi^2 c^2), 1/c^2 = 1/a^2 + 1/b^2 (Poisson
 * summation). Here c^2 is at least s^2 / 2 and s at least 2^8: exp(-6e5) is nothing over any number of
 * parties, coordinates and rounds. So the event is that of one discrete Gaussian of scale sigma.
 *
 * Sensitivities are in L2, rounding included, so that all blocks are one Gaussian mechanism whichever way
 * they share (see gaussian.c). Only the sum may be seen (C5), and every party sends every row (C8).
 */
#include "dpframe/additive.h"
#include "dpframe/plugin.h"
#include "dpframe/role/mechanism.h"

#define MAX_SCALE_BITS 24 /* of dpf_random_service.discrete_gaussian */

enum { P_MULTIPLIER, P_HONEST, P_GRID_BITS, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_MULTIPLIER] =
        DPF_PARAM_REAL_F("noise-multiplier", 1.0, 0.0, 1e9, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "sigma of the shares of t parties together over the L2 sensitivity of all blocks."),
    [P_HONEST] =
        DPF_PARAM_INT_F("honest", 0, 0, 2147483647, DPF_PARAM_PRIVACY, "parties",
                        "t: how many honest parties' messages are in every sum at the least. 0: as many as "
                        "the plan knows to take part, all of them honest."),
    [P_GRID_BITS] = DPF_PARAM_INT_F("grid-bits", 16, 8, 23, 0, "bits",
                                    "log2 of one party's share of the noise in grid steps; fewer where many "
                                    "messages are added, but at least 8."),
};

struct shares {
    const dpf_host *host;
    const dpf_value *values;
    const dpf_random_service *random;
    dpf_stream *stream;
};

static dpf_status shares_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *stream;
    dpf_status status = random->open(host, "noise", &stream);
    if (status != DPF_OK)
        return status;
    struct shares *shares = dpf_memory(host)->allocate(host, sizeof(*shares));
    if (!shares)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    *shares = (struct shares){host, given->values, random, stream};
    *self = shares;
    return DPF_OK;
}

static void shares_destroy(void *self)
{
    struct shares *shares = self;
    dpf_memory(shares->host)->release(shares->host, shares);
}

static int32_t shares_lifetime(void *self)
{
    (void)self;
    return DPF_LIFETIME_ROUND;
}

static double shares_budget(void *self)
{
    (void)self;
    return NAN; /* a multiplier is no epsilon */
}

static dpf_status choose_scales(const struct shares *shares, const dpf_release *release, double t,
                                dpf_noise_plan *out)
{
    const dpf_host *host = shares->host;
    int32_t n = release->query->n_blocks, moved = 0;
    int32_t bits = dpf_additive_bits(shares->values[P_GRID_BITS].integer, release->n_parties);
    double norms[DPF_MAX_BLOCKS];
    for (int32_t b = 0; b < n; b++) {
        norms[b] = release->blocks[b].at[release->unit][release->adjacency].l2;
        dpf_status status = dpf_additive_check(host, release, b, norms[b]);
        if (status != DPF_OK)
            return status;
        moved += norms[b] > 0;
    }
    double per_norm = release->noise_factor * shares->values[P_MULTIPLIER].real * sqrt(moved / t);
    for (int32_t b = 0; b < n; b++) {
        double share = 0, coordinates = dpf_additive_coordinates(release, b, 0);
        if (!(norms[b] > 0))
            continue;
        if (bits < 8 || dpf_additive_choose(per_norm * norms[b], per_norm * sqrt(coordinates), 0, bits,
                                            MAX_SCALE_BITS, &out->grid[b], &share) != 0)
            return host->fail(host, DPF_E_RANGE, P_GRID_BITS,
                              "no grid fits this noise: a party's share of it is extreme, too small for a "
                              "message of so many numbers at this grid-bits, or for so many messages");
        out->scale[b] = share * sqrt(t);
        out->variance[b] = (double)release->n_parties * share * share;
    }
    return DPF_OK;
}

static dpf_status shares_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const struct shares *shares = self;
    const dpf_host *host = shares->host;
    int64_t t = shares->values[P_HONEST].integer ? shares->values[P_HONEST].integer : release->min_survivors;
    if (release->query->has_shared)
        return host->fail(host, DPF_E_UNSUPPORTED, -1,
                          "discrete-gaussian has no share of noise for the shared row of this loss; use "
                          "gaussian");
    if (t < 1 || t > release->n_parties)
        return host->fail(host, DPF_E_CONFIG, P_HONEST,
                          "honest is more than there are parties: the noise would never be enough");
    dpf_status status = dpf_additive_begin(host, release, DPF_NOISE_IN_SHARES, 0x1p-28, out);
    if (status != DPF_OK)
        return status;
    out->opaque[1] = (uint64_t)t;
    return choose_scales(shares, release, (double)t, out);
}

static dpf_status shares_events(void *self, const dpf_release *release, const dpf_noise_plan *plan,
                                dpf_event *out, int32_t capacity, int32_t *n)
{
    const struct shares *shares = self;
    dpf_status status =
        dpf_additive_events(shares->host, release, plan, 1, DPF_EVENT_DISCRETE_GAUSSIAN,
                            DPF_EVENT_DISCRETE_GAUSSIAN, DPF_LIFETIME_ROUND, out, capacity, n);
    for (int32_t i = 0; status == DPF_OK && i < *n; i++)
        if (out[i].scale > 0)
            out[i].flags |= DPF_EVENT_NOISE_SHARED;
    return status;
}

/* Grid steps of one party's share: an integer, which sqrt(t) and its quotient cannot move by a half. */
static uint64_t share_steps(const dpf_noise_plan *plan, int32_t block)
{
    return (uint64_t)floor(plan->scale[block] / (sqrt((double)plan->opaque[1]) * plan->grid[block]) + 0.5);
}

static dpf_status add_noise(const struct shares *shares, const dpf_noise_plan *plan, const dpf_query *query,
                            dpf_cursor *cursor, int64_t *row)
{
    int64_t drawn[DPF_ADDITIVE_CHUNK];
    for (int32_t b = 0; b < query->n_blocks; b++) {
        int64_t end = (int64_t)query->blocks[b].offset + query->blocks[b].length;
        for (int64_t at = query->blocks[b].offset; plan->scale[b] > 0 && at < end; at += DPF_ADDITIVE_CHUNK) {
            int64_t n = end - at < DPF_ADDITIVE_CHUNK ? end - at : DPF_ADDITIVE_CHUNK;
            dpf_status status = shares->random->discrete_gaussian(cursor, share_steps(plan, b), drawn, n);
            if (status != DPF_OK)
                return status;
            for (int64_t i = 0; i < n; i++) {
                row[at + i] += drawn[i]; /* below 2^52 + 2^40 */
                if (!(fabs((double)row[at + i]) < dpf_additive_plan_limit(plan)))
                    return DPF_E_RANGE;
            }
        }
    }
    return DPF_OK;
}

static dpf_status shares_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                const dpf_query *query, const double *values, int64_t stride,
                                dpf_integers *out)
{
    const struct shares *shares = self;
    dpf_status status = dpf_additive_encode(NULL, call, plan, query, values, stride, out);
    for (int64_t r = 0; status == DPF_OK && r < out->n_rows; r++) {
        dpf_cursor cursor;
        shares->random->seek(shares->stream, call->draw, call->party, (uint32_t)dpf_additive_row_id(out, r),
                             &cursor);
        status = add_noise(shares, plan, query, &cursor, out->values + r * out->stride);
        if (status != DPF_OK)
            return call->host->fail(call->host, status, P_GRID_BITS,
                                    "noise and value leave the range of integers, or could not be drawn");
    }
    return status;
}

static dpf_status shares_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                const dpf_query *query, const dpf_integers *sums, double *out, int64_t stride)
{
    (void)self;
    if (sums->survivors < (int64_t)plan->opaque[1])
        return call->host->fail(
            call->host, DPF_E_PRIVACY, P_HONEST,
            "fewer messages are in the sum than the shares were made for, so its noise is too "
            "little to release it; plan for fewer honest parties");
    return dpf_additive_decode(NULL, call, plan, query, sums, out, stride);
}

static const dpf_mechanism functions = {
    .lifetime = shares_lifetime,
    .budget = shares_budget,
    .plan = shares_plan,
    .events = shares_events,
    .encode = shares_encode,
    .decode = shares_decode,
    .flags = DPF_MECHANISM_DENSE,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_MECHANISM,
    .id = "discrete-gaussian",
    .version = "1.0.0",
    .summary = "Discrete Gaussian noise in shares: only the sum of all messages has enough",
    .citation = "Kairouz, Liu, Steinke, arXiv 2102.06387; Canonne, Kamath, Steinke, arXiv 2004.00010",
    .params = params,
    .n_params = P_COUNT,
    .param_stride = sizeof(dpf_param),
    .create = shares_create,
    .destroy = shares_destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.discrete-gaussian", "1.0.0", "Apache-2.0", component)
