/* SPDX-License-Identifier: Apache-2.0 */
/*
 * third_party.c - a plugin as somebody wrote it against the headers of 0.1 (headers-0.1), and never touched
 * since: a mechanism with discrete Laplace noise, an accountant that adds epsilons, and a solver that takes
 * gradient steps. It is built from those headers for good and must load in every later host, state the same
 * and release the same.
 */
#include "dpframe/accounting.h"
#include "dpframe/additive.h"
#include "dpframe/dpframe.h"

struct acme {
    const dpf_host *host;
    double number; /* the only parameter: epsilon, or the rate */
    dpf_stream *stream;
};

static dpf_status create(const dpf_host *host, const dpf_params *params, void **self)
{
    struct acme *acme = dpf_memory(host)->allocate(host, sizeof(*acme));
    dpf_status status;

    if (!acme)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    acme->host = host;
    acme->number = params->n_values > 0 ? params->values[0].real : 0;
    status = dpf_random(host)->open(host, "noise", &acme->stream);
    if (status != DPF_OK) {
        dpf_memory(host)->release(host, acme);
        return status;
    }
    *self = acme;
    return DPF_OK;
}

static void destroy(void *self)
{
    struct acme *acme = self;

    dpf_memory(acme->host)->release(acme->host, acme);
}

/* ---- mechanism ------------------------------------------------------------------------------- */

static int32_t lifetime(void *self)
{
    (void)self;
    return DPF_LIFETIME_ROUND;
}

static double budget(void *self)
{
    return ((const struct acme *)self)->number;
}

/* Scale L1 / (epsilon / blocks) for each block. */
static dpf_status plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const struct acme *acme = self;
    const int32_t n = release->query->n_blocks;
    const int32_t bits = dpf_additive_bits(24, release->n_parties);
    const double limit = dpf_additive_limit(release->n_parties);
    dpf_status status = dpf_additive_begin(acme->host, release, DPF_NOISE_AT_SUM, 0x1p-28, out);

    memcpy(&out->opaque[0], &limit, sizeof limit);
    if (status != DPF_OK)
        return status;
    for (int32_t b = 0; b < n; b++) {
        const double norm = release->blocks[b].at[release->unit][release->adjacency].l1;
        const double per_norm = n * release->noise_factor / acme->number;
        status = dpf_additive_check(acme->host, release, b, norm);
        if (status != DPF_OK)
            return status;
        if (norm > 0 &&
            dpf_additive_choose(norm * per_norm, dpf_additive_coordinates(release, b, 0) * per_norm, norm,
                                bits, 42, &out->grid[b], &out->scale[b]) != 0)
            return acme->host->fail(acme->host, DPF_E_RANGE, 0, "no grid fits this noise");
        out->variance[b] = 2 * out->scale[b] * out->scale[b];
    }
    return DPF_OK;
}

static dpf_status events(void *self, const dpf_release *release, const dpf_noise_plan *noise, dpf_event *out,
                         int32_t capacity, int32_t *n)
{
    const dpf_additive_claim claim = {
        .norm = DPF_NORM_L1, .kind = DPF_EVENT_DISCRETE_LAPLACE, .exact = 1, .lifetime = DPF_LIFETIME_ROUND};

    return dpf_additive_events(((const struct acme *)self)->host, release, noise, &claim, out, capacity, n);
}

static dpf_additive noise_of(const struct acme *acme)
{
    const dpf_random_service *random = dpf_random(acme->host);
    const dpf_additive noise = {
        .random = random, .stream = acme->stream, .exact = 1, .integers = dpf_draw_discrete_laplace};

    return noise;
}

static dpf_status encode(void *self, const dpf_call *call, const dpf_noise_plan *noise,
                         const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out)
{
    double limit;

    (void)self;
    memcpy(&limit, &noise->opaque[0], sizeof limit);
    return dpf_additive_encode(NULL, call, noise, query, limit, values, stride, out);
}

static dpf_status decode(void *self, const dpf_call *call, const dpf_noise_plan *noise,
                         const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    const dpf_additive additive = noise_of(self);

    return dpf_additive_decode(&additive, call, noise, query, sums, out, stride);
}

static const dpf_mechanism mechanism = {
    .lifetime = lifetime,
    .budget = budget,
    .plan = plan,
    .events = events,
    .encode = encode,
    .decode = decode,
};

/* ---- accountant ------------------------------------------------------------------------------ */

static dpf_status epsilon(void *self, const dpf_event *ledger, int64_t n, const dpf_question *question,
                          dpf_answer *answer)
{
    const struct acme *acme = self;
    double sum = 0;

    for (int64_t i = 0; i < n; i++) {
        dpf_charge charge;
        const dpf_status status = dpf_charge_event(acme->host, &ledger[i], i, question, &charge);
        if (status != DPF_OK)
            return status;
        if (charge.copies == 0)
            continue;
        if (!charge.unbounded && charge.kind != DPF_EVENT_DISCRETE_LAPLACE)
            return dpf_refuse_event(acme->host, DPF_E_UNSUPPORTED, &ledger[i], i,
                                    "only discrete Laplace is known");
        sum += charge.unbounded ? INFINITY : charge.copies * charge.sensitivity / charge.scale;
    }
    answer->epsilon = sum * (1 + 1e-12);
    answer->epsilon_lower = answer->order = (double)NAN;
    answer->delta = 0;
    dpf_text_add(answer->source, sizeof answer->source, "basic composition");
    return DPF_OK;
}

static const dpf_accountant accountant = {.kind = DPF_ACCOUNTANT_PROOF, .epsilon = epsilon};

/* ---- solver ---------------------------------------------------------------------------------- */

static dpf_status solve(void *self, const dpf_call *call, const dpf_solve *batch)
{
    const struct acme *acme = self;
    const dpf_query *query = batch->query;

    for (int64_t r = 0; r < batch->n_rows; r++)
        for (int32_t i = 0; i < query->dimension; i++) {
            const int64_t column = query->first + i;
            const float next = batch->current[r * batch->current_stride + column] -
                               (float)acme->number * batch->blocks[r * batch->blocks_stride + i];
            if (!isfinite(next))
                return call->host->fail(call->host, DPF_E_NUMERIC, -1, "a row is not finite; lower the rate");
            batch->next[r * batch->next_stride + column] = next;
        }
    return DPF_OK;
}

static const dpf_solver solver = {.flags = DPF_SOLVER_GRADIENT, .solve = solve};

/* ---- the plugin ------------------------------------------------------------------------------ */

static const dpf_param mechanism_params[] = {DPF_PARAM_REAL_F(
    "epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "", "Budget of one release.")};
static const dpf_param solver_params[] = {
    DPF_PARAM_REAL_F("rate", 0.1, 0.0, 10.0, DPF_PARAM_OPEN_LO, "", "The learning rate.")};

#define COMPONENT(NAME, ROLE, ID, PARAMS, N_PARAMS, FUNCTIONS)                                               \
    static const dpf_component NAME = {.size = sizeof(dpf_component),                                        \
                                       .role = ROLE,                                                         \
                                       .id = ID,                                                             \
                                       .version = "0.1.0",                                                   \
                                       .summary = "Somebody's component of the time of 0.1",                 \
                                       .citation = "",                                                       \
                                       .params = PARAMS,                                                     \
                                       .n_params = N_PARAMS,                                                 \
                                       .param_stride = sizeof(dpf_param),                                    \
                                       .create = create,                                                     \
                                       .destroy = destroy,                                                   \
                                       .functions = &(FUNCTIONS)}

COMPONENT(mechanism_component, DPF_ROLE_MECHANISM, "acme-laplace", mechanism_params, 1, mechanism);
COMPONENT(accountant_component, DPF_ROLE_ACCOUNTANT, "acme-sum", NULL, 0, accountant);
COMPONENT(solver_component, DPF_ROLE_SOLVER, "acme-step", solver_params, 1, solver);

static const dpf_component *const components[] = {&mechanism_component, &accountant_component,
                                                  &solver_component};
static const dpf_plugin third_party = {DPF_PLUGIN_MAGIC, sizeof(dpf_plugin), 0,         3, "com.example.acme",
                                       "0.1.0",          "Apache-2.0",       components};
DPF_PLUGIN_ENTRY(third_party)
