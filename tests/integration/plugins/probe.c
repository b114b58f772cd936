/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mechanism whose "noise" tells where it was read: it adds draw + 1, party + 1 (of the aggregate: 1000)
 * and row + 1 to the first three numbers of each row. It claims a scale, as if it were noise.
 */
#include "stateless.h"

#ifndef PROBE
#define PROBE "test-probe"
#define PROBE_FLAGS DPF_MECHANISM_SHARES
#define PROBE_LEAST(honest) (honest)
#endif

static const dpf_enum_value lifetimes[] = {
    {"round", "one draw a round"}, {"run", "one draw"}, {"solve", "one draw for each solve"}};
static const dpf_enum_value places[] = {
    {"party", "in each message"}, {"sum", "in the sum"}, {"shares", "in each message, as if in part"}};
static const dpf_param params[] = {DPF_PARAM_ENUM_F("lifetime", 0, lifetimes, 0, "How long a draw lasts."),
                                   DPF_PARAM_ENUM_F("where", 0, places, 0, "Where it is added.")};

#define GRID 0x1p-20

static int32_t lifetime(void *self)
{
    const struct stateless *probe = self;
    return probe->first == 1 ? DPF_LIFETIME_RUN : probe->first == 2 ? DPF_LIFETIME_SOLVE : DPF_LIFETIME_ROUND;
}

static double budget(void *self)
{
    (void)self;
    return NAN;
}

static int32_t place(const struct stateless *probe)
{
    return probe->second == 0   ? DPF_NOISE_AT_PARTY
           : probe->second == 1 ? DPF_NOISE_AT_SUM
                                : DPF_NOISE_IN_SHARES;
}

static dpf_status plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    uint32_t size = out->size;
    memset(out, 0, sizeof(*out));
    out->size = size;
    out->where = place(self);
    out->least_survivors = out->where == DPF_NOISE_IN_SHARES ? PROBE_LEAST(release->min_honest) : 0;
    out->n_blocks = release->query->n_blocks;
    for (int32_t b = 0; b < out->n_blocks; b++) {
        out->grid[b] = out->gram_grid[b] = GRID;
        out->scale[b] = out->gram_scale[b] = 1;
    }
    return DPF_OK;
}

static dpf_status events(void *self, const dpf_release *release, const dpf_noise_plan *noise, dpf_event *out,
                         int32_t capacity, int32_t *n)
{
    if (capacity < 1)
        return DPF_E_INTERNAL;
    memset(out, 0, sizeof(*out));
    out->kind = DPF_EVENT_GAUSSIAN;
    out->lifetime = lifetime(self);
    out->blocks = 1;
    out->count = 1;
    out->scale = noise->scale[0];
    out->sensitivity = release->blocks[0];
    *n = 1;
    return DPF_OK;
}

static int64_t steps(double x)
{
    return (int64_t)(x / GRID);
}

static void mark(int64_t *to, int32_t width, const dpf_call *call, int64_t row)
{
    const double party = call->party == DPF_PARTY_AGGREGATE ? 1000 : (double)call->party + 1;
    to[0] += steps((double)call->draw + 1);
    if (width > 1)
        to[1] += steps(party);
    if (width > 2)
        to[2] += steps((double)row + 1);
}

static dpf_status encode(void *self, const dpf_call *call, const dpf_noise_plan *noise,
                         const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out)
{
    (void)self;
    (void)query;
    for (int64_t r = 0; r < out->n_rows; r++) {
        int64_t *to = out->values + r * out->stride;
        for (int32_t c = 0; c < out->width; c++)
            to[c] = steps(values[r * stride + c]);
        if (noise->where != DPF_NOISE_AT_SUM)
            mark(to, out->width, call, out->rows ? out->rows[r] : out->first_row + r);
    }
    return DPF_OK;
}

static dpf_status decode(void *self, const dpf_call *call, const dpf_noise_plan *noise,
                         const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    (void)self;
    (void)query;
    for (int64_t r = 0; r < sums->n_rows; r++) {
        int64_t marks[3] = {0};
        if (noise->where == DPF_NOISE_AT_SUM)
            mark(marks, sums->width < 3 ? sums->width : 3, call,
                 sums->rows ? sums->rows[r] : sums->first_row + r);
        for (int32_t c = 0; c < sums->width; c++)
            out[r * stride + c] =
                (double)(sums->values[r * sums->stride + c] + (c < 3 ? marks[c] : 0)) * GRID;
    }
    return DPF_OK;
}

static const dpf_mechanism functions = {.lifetime = lifetime,
                                        .budget = budget,
                                        .plan = plan,
                                        .events = events,
                                        .encode = encode,
                                        .decode = decode,
                                        .flags = PROBE_FLAGS};

STATELESS_PLUGIN(DPF_ROLE_MECHANISM, PROBE, params, 2, functions)
