/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laplace_mixture.c - Laplace noise in shares, as published for HDPMF and PrivSR.
 *
 * If h is exponential with mean 1 and c standard normal, then b sqrt(2 h) c is Laplace of scale b. So the
 * server draws h for each coordinate of a row and tells it to the n parties that send the row; each of them
 * adds b sqrt(2 h) c_i with c_i normal of variance 1/n, and the sum has Laplace noise (Hua, Xia, Zhong, IJCAI
 * 2015; Hu, Fang, Theorem 3).
 *
 * What that is worth. The server knows h, and given h the noise is only Gaussian, of variance 2 b^2 h, which
 * has no pure privacy bound and may be tiny: condition C4. A single message has 1/n of the variance: C5. And
 * n, the number of a row's raters, is private: C8. The events say so, and laplace-gamma does better.
 *
 * Draws are float64, as published, and the noised value is rounded to the grid (C9).
 */
#include "dpframe/additive.h"
#include "dpframe/plugin.h"
#include "dpframe/role/mechanism.h"

#define SCALE_BITS 34 /* of the scale in grid steps; fewer where sums would not fit */
#define MAX_SCALE_BITS 42

enum { P_EPSILON, P_LIFETIME, P_COMMON, P_COUNT };

static const dpf_enum_value lifetimes[] = {
    {"run",
     "Drawn once and reused in every round, as in the text's objective perturbation; what cancels between "
     "rounds is not protected."},
    {"round", "Fresh in every round, as in the authors' code."},
};

static const dpf_param params[P_COUNT] = {
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                   "Pure-DP budget of one release, as the publication states it."),
    [P_LIFETIME] =
        DPF_PARAM_ENUM_F("lifetime", 1, lifetimes, DPF_PARAM_PRIVACY, "How long one draw stays in use."),
    [P_COMMON] = DPF_PARAM_BOOL_F("common-factor", 0, DPF_PARAM_PRIVACY,
                                  "Read h from one stream together with all terms that set this, as PrivSR "
                                  "does for its two kinds of ratings of an item."),
};

struct mixture {
    const dpf_host *host;
    const dpf_value *values;
    const dpf_random_service *random;
    dpf_stream *known;  /* h: the server's */
    dpf_stream *shares; /* c: each party's own */
};

static dpf_status mixture_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *known, *shares;
    const char *purpose = given->values[P_COMMON].integer ? "@laplace-mixture h" : "h";
    dpf_status status = random->open(host, purpose, &known);
    if (status == DPF_OK)
        status = random->open(host, "c", &shares);
    if (status != DPF_OK)
        return status;
    struct mixture *mixture = *self;
    mixture->host = host;
    mixture->values = given->values;
    mixture->random = random;
    mixture->known = known;
    mixture->shares = shares;
    return DPF_OK;
}

static int32_t mixture_lifetime(void *self)
{
    return (int32_t)((const struct mixture *)self)->values[P_LIFETIME].integer + DPF_LIFETIME_RUN;
}

static double mixture_budget(void *self)
{
    return ((const struct mixture *)self)->values[P_EPSILON].real;
}

/* Scale L1 / (epsilon / blocks) for each block that a unit can move. */
static dpf_status choose_scales(const struct mixture *mixture, const dpf_release *release,
                                dpf_noise_plan *out)
{
    const dpf_host *host = mixture->host;
    int32_t n = release->query->n_blocks, moved = 0;
    int32_t bits = dpf_additive_bits(SCALE_BITS, release);
    double norms[DPF_MAX_BLOCKS];
    for (int32_t b = 0; b < n; b++) {
        norms[b] = release->blocks[b].at[release->unit][release->adjacency].l1;
        dpf_status status = dpf_additive_check(host, release, b, norms[b]);
        if (status != DPF_OK)
            return status;
        moved += norms[b] > 0;
    }
    for (int32_t b = 0; b < n; b++) {
        double scale = norms[b] * moved * release->noise_factor / mixture->values[P_EPSILON].real;
        if (norms[b] > 0 &&
            dpf_additive_choose(scale, 0, norms[b], bits, MAX_SCALE_BITS, &out->grid[b], &out->scale[b]) != 0)
            return host->fail(host, DPF_E_RANGE, P_EPSILON,
                              "no grid fits this noise: the scale, sensitivity / epsilon, is extreme");
        out->variance[b] = 2 * out->scale[b] * out->scale[b];
    }
    return DPF_OK;
}

static dpf_status mixture_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const struct mixture *mixture = self;
    if (release->query->has_gram)
        return mixture->host->fail(
            mixture->host, DPF_E_UNSUPPORTED, -1,
            "laplace-mixture divides a row's noise among those who send it, and has no way to "
            "noise the Gram row of this loss; use laplace");
    const double limit = dpf_additive_limit(release->n_parties);
    dpf_status status = dpf_additive_begin(mixture->host, release, DPF_NOISE_IN_SHARES, 0x1p-28, out);
    memcpy(&out->opaque[0], &limit, sizeof limit); /* encode reads it again */
    return status == DPF_OK ? choose_scales(mixture, release, out) : status;
}

static dpf_status mixture_events(void *self, const dpf_release *release, const dpf_noise_plan *plan,
                                 dpf_event *out, int32_t capacity, int32_t *n)
{
    const struct mixture *mixture = self;
    const dpf_additive_claim claim = {
        .norm = DPF_NORM_L1, .kind = DPF_EVENT_LAPLACE, .lifetime = mixture_lifetime(self)};
    const dpf_status status = dpf_additive_events(mixture->host, release, plan, &claim, out, capacity, n);
    for (int32_t i = 0; status == DPF_OK && i < *n; i++)
        if (out[i].scale > 0)
            out[i].flags |= DPF_EVENT_NOISE_KNOWN | DPF_EVENT_NOISE_SHARED;
    return status;
}

/* A record's contribution, and so its L1 distance, grows with its weight. */
static dpf_status mixture_epsilon_at_weight(void *self, const dpf_noise_plan *plan, double weight,
                                            double *epsilon)
{
    (void)plan;
    *epsilon = weight * mixture_budget(self);
    return DPF_OK;
}

static dpf_rows rows_of(const dpf_call *call, uint32_t party, const dpf_encoded *rows, int64_t stride)
{
    return (dpf_rows){.draw = call->draw,
                      .party = party,
                      .n = rows->n_rows,
                      .ids = rows->rows,
                      .first = rows->first_row,
                      .width = rows->width,
                      .stride = stride};
}

/* One party's shares of its rows' noise: sqrt(2 h / n) times a normal number, for each coordinate. */
static dpf_status draw_shares(const struct mixture *mixture, const dpf_call *call, const dpf_encoded *out,
                              double *h, double *c)
{
    const dpf_rows known = rows_of(call, DPF_PARTY_AGGREGATE, out, out->width);
    const dpf_rows own = rows_of(call, call->party, out, out->width);
    /* The absolute value of a Laplace number is exponential. */
    dpf_status status = mixture->random->row_laplace(mixture->known, &known, h);
    if (status == DPF_OK)
        status = mixture->random->row_normal(mixture->shares, &own, c);
    if (status != DPF_OK)
        return call->host->fail(call->host, status, -1, "these rows have no place in the random streams");
    for (int64_t r = 0; r < out->n_rows; r++) {
        const double factor = 2.0 / out->contributors[r];
        for (int64_t i = r * out->width; i < (r + 1) * out->width; i++)
            c[i] *= sqrt(factor * fabs(h[i]));
    }
    return DPF_OK;
}

static dpf_status mixture_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                 const dpf_query *query, const double *values, int64_t stride,
                                 dpf_encoded *out)
{
    const struct mixture *mixture = self;
    const int64_t width = out->width;
    double limit;
    double *noisy = call->scratch(call, (uint64_t)(out->n_rows * width) * sizeof(double));
    double *h = call->scratch(call, (uint64_t)(out->n_rows * width) * sizeof(double));
    if (!noisy || !h)
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory");
    if (!out->contributors)
        return call->host->fail(call->host, DPF_E_UNSUPPORTED, -1,
                                "the numbers of parties that send each row are not known here");
    for (int64_t r = 0; r < out->n_rows; r++)
        if (out->contributors[r] < 1)
            return call->host->fail(call->host, DPF_E_INTERNAL, -1, "a row is sent by nobody");
    const dpf_status status = draw_shares(mixture, call, out, h, noisy);
    if (status != DPF_OK)
        return status;
    for (int64_t r = 0; r < out->n_rows; r++) {
        double *to = noisy + r * width;
        for (int32_t b = 0; b < query->n_blocks; b++) {
            int64_t end = (int64_t)query->blocks[b].offset + query->blocks[b].length;
            for (int64_t i = query->blocks[b].offset; i < end; i++)
                to[i] = values[r * stride + i] + plan->scale[b] * to[i];
        }
    }
    memcpy(&limit, &plan->opaque[0], sizeof limit);
    return dpf_additive_encode(NULL, call, plan, query, limit, noisy, width, out);
}

static dpf_status mixture_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                 const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    (void)self;
    return dpf_additive_decode(NULL, call, plan, query, sums, out, stride);
}

/* Given h the noise of the sum is normal with variance 2 b^2 h, whatever the number of shares. */
static dpf_status mixture_known(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    const struct mixture *mixture = self;
    const dpf_rows rows = rows_of(call, DPF_PARTY_AGGREGATE, sums, stride);
    const dpf_status status = mixture->random->row_laplace(mixture->known, &rows, out);
    if (status != DPF_OK)
        return call->host->fail(call->host, status, -1, "these rows have no place in the random streams");
    for (int64_t r = 0; r < sums->n_rows; r++) {
        double *deviation = out + r * stride;
        for (int32_t b = 0; b < query->n_blocks; b++)
            for (int32_t i = 0; i < query->blocks[b].length; i++) {
                double *at = &deviation[query->blocks[b].offset + i];
                *at = plan->scale[b] * sqrt(2 * fabs(*at));
            }
    }
    return DPF_OK;
}

static const dpf_mechanism functions = {
    .lifetime = mixture_lifetime,
    .budget = mixture_budget,
    .plan = mixture_plan,
    .events = mixture_events,
    .epsilon_at_weight = mixture_epsilon_at_weight,
    .encode = mixture_encode,
    .decode = mixture_decode,
    .flags = DPF_MECHANISM_CONTRIBUTORS,
    .conditional_stddev = mixture_known,
};

DPF_COMPONENT(
    component, DPF_ROLE_MECHANISM, functions, .id = "laplace-mixture", .version = "1.0.0",
    .summary =
        "Laplace noise as a normal mixture in shares, with a factor known to the server (as published)",
    .citation = "Hua, Xia, Zhong, IJCAI 2015; Hu, Fang, arXiv 2212.00306, Theorems 2 and 3",
    DPF_PARAMS(params), .create = mixture_create, .instance_bytes = sizeof(struct mixture))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.laplace-mixture", "1.0.0", "Apache-2.0", component)
