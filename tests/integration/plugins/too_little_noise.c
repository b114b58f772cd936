/* SPDX-License-Identifier: Apache-2.0 */
/* too_little_noise.c - states Laplace noise of scale L1 / epsilon and draws a third of it: for audits. */
#include "dpframe/additive.h"
#include "stateless.h"

#define EPSILON 1.0

static int32_t little_lifetime(void *self)
{
    (void)self;
    return DPF_LIFETIME_ROUND;
}

static double little_budget(void *self)
{
    (void)self;
    return EPSILON;
}

static dpf_status little_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const struct stateless *little = self;
    dpf_status status = dpf_additive_begin(little->host, release, DPF_NOISE_AT_SUM, 0x1p-20, out);
    for (int32_t b = 0; b < release->query->n_blocks && status == DPF_OK; b++) {
        const double norm = release->blocks[b].at[release->unit][release->adjacency].l1;
        status = dpf_additive_check(little->host, release, b, norm);
        if (status == DPF_OK && norm > 0 &&
            dpf_additive_choose(norm / EPSILON, 0, norm, 20, 42, &out->grid[b], &out->scale[b]) != 0)
            status = DPF_E_RANGE;
        out->variance[b] = 2 * out->scale[b] * out->scale[b];
    }
    return status;
}

static dpf_status little_events(void *self, const dpf_release *release, const dpf_noise_plan *plan,
                                dpf_event *out, int32_t capacity, int32_t *n)
{
    const struct stateless *little = self;
    const dpf_additive_claim claim = {
        .norm = DPF_NORM_L1, .kind = DPF_EVENT_DISCRETE_LAPLACE, .exact = 1, .lifetime = DPF_LIFETIME_ROUND};
    return dpf_additive_events(little->host, release, plan, &claim, out, capacity, n);
}

static dpf_status little_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                const dpf_query *query, const double *values, int64_t stride,
                                dpf_encoded *out)
{
    (void)self;
    return dpf_additive_encode(NULL, call, plan, query, 0x1p52, values, stride, out);
}

static dpf_status little_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    const struct stateless *little = self;
    const dpf_random_service *random = dpf_random(little->host);
    dpf_noise_plan drawn;
    dpf_copy(&drawn, sizeof drawn, plan);
    dpf_stream *stream;
    dpf_status status = random->open(little->host, "noise", &stream);
    if (status != DPF_OK)
        return status;
    for (int32_t b = 0; b < plan->n_blocks; b++)
        drawn.scale[b] = floor(plan->scale[b] / plan->grid[b] / 3) * plan->grid[b];
    const dpf_additive noise = {.random = random, .stream = stream, .integers = dpf_draw_discrete_laplace};
    return dpf_additive_decode(&noise, call, &drawn, query, sums, out, stride);
}

static const dpf_mechanism functions = {
    .lifetime = little_lifetime,
    .budget = little_budget,
    .plan = little_plan,
    .events = little_events,
    .encode = little_encode,
    .decode = little_decode,
};

STATELESS_PLUGIN(DPF_ROLE_MECHANISM, "test-too-little-noise", NULL, 0, functions)
