/* SPDX-License-Identifier: Apache-2.0 */
/*
 * none.c - no noise: values as fixed-point numbers.
 *
 * Sums are exact and the same for any number of workers, as with noise. Nothing is protected: every
 * block is a NON_PRIVATE event, unless no unit can move it.
 */
#include "dpframe/additive.h"
#include "dpframe/plugin.h"
#include "dpframe/role/mechanism.h"

enum { P_GRID_BITS, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_GRID_BITS] =
        DPF_PARAM_INT_F("grid-bits", 28, 0, 52, 0, "bits",
                        "Values are rounded to multiples of 2^-grid-bits. A message may reach "
                        "2^(52 - grid-bits), or 2^(62 - grid-bits) divided by the number of parties."),
};

struct none {
    const dpf_host *host;
    double grid;
};

static dpf_status none_create(const dpf_host *host, const dpf_params *values, void **self)
{
    struct none *none = *self;
    none->host = host;
    none->grid = ldexp(1.0, -(int)values->values[P_GRID_BITS].integer);
    return DPF_OK;
}

static dpf_status none_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const struct none *none = self;
    const double limit = dpf_additive_limit(release->n_parties);
    const dpf_status status = dpf_additive_begin(none->host, release, DPF_NOISE_NOWHERE, none->grid, out);
    memcpy(&out->opaque[0], &limit, sizeof limit); /* encode reads it again */
    return status;
}

static dpf_status none_events(void *self, const dpf_release *release, const dpf_noise_plan *plan,
                              dpf_event *out, int32_t capacity, int32_t *n)
{
    const struct none *none = self;
    const dpf_additive_claim claim = {
        .norm = DPF_NORM_L2, .kind = DPF_EVENT_NON_PRIVATE, .exact = 1, .lifetime = DPF_LIFETIME_ROUND};
    return dpf_additive_events(none->host, release, plan, &claim, out, capacity, n);
}

static dpf_status none_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                              const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out)
{
    double limit;
    (void)self;
    memcpy(&limit, &plan->opaque[0], sizeof limit);
    return dpf_additive_encode(NULL, call, plan, query, limit, values, stride, out);
}

static dpf_status none_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                              const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    (void)self;
    return dpf_additive_decode(NULL, call, plan, query, sums, out, stride);
}

/* It has no budget, so any division of one holds: an ablation without noise keeps the term's keys. */
static const dpf_mechanism functions = {
    .flags = DPF_MECHANISM_ROUNDS | DPF_MECHANISM_DIVIDES,
    .plan = none_plan,
    .events = none_events,
    .encode = none_encode,
    .decode = none_decode,
};

DPF_COMPONENT(component, DPF_ROLE_MECHANISM, functions, .id = "none", .version = "1.0.0",
              .summary = "No noise: exact fixed-point sums, not private", .citation = "", DPF_PARAMS(params),
              .create = none_create, .instance_bytes = sizeof(struct none))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.none", "1.0.0", "Apache-2.0", component)
