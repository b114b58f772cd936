/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laplace_noise.c - see laplace_noise.h.
 *
 * Why it is private. Let D_b be the L1 sensitivity of block b after rounding to its grid g_b. With
 * sensitivity = per-block, block b has discrete Laplace noise of scale s_b >= D_b / (epsilon beta_b) on
 * the grid. The masses of two neighbours at any output differ by a factor of at most exp(D_b / s_b) <=
 * exp(epsilon beta_b), since the noise is i.i.d. and all values lie on the grid (Canonne, Kamath,
 * Steinke, arXiv 2004.00010, section 5). The blocks compose to epsilon, as the shares beta add up to 1.
 * With sensitivity = joint the concatenation of the blocks has sensitivity D = sum D_b, and all blocks
 * have scale D / epsilon: again sum D_b / s_b <= epsilon.
 *
 * Where blocks share a bound, such as one clip in L1 for the whole message, D is the largest sum of |x_b| /
 * s_b under that bound, which is charged once: s_b = C w_b / epsilon for one ball of radius C with weights
 * w_b.
 *
 * Scales are rounded up to a multiple of the grid. Which coordinates get noise does not depend on
 * data: all of a row do. A block that no unit moves gets none.
 */
#include "laplace_noise.h"

#define MAX_SCALE_BITS 42 /* of dpf_random_service.discrete_laplace */

enum {
    P_EPSILON,
    P_SHARES,
    P_SENSITIVITY,
    P_GRAM_SHARE,
    P_WHERE,
    P_LIFETIME,
    P_PRECISION,
    P_GRID_BITS,
    P_COUNT
};

enum { SENSITIVITY_PER_BLOCK, SENSITIVITY_JOINT };
static const dpf_enum_value sensitivities[] = {
    {"per-block", "Each block has its own sensitivity and its share of epsilon."},
    {"joint", "One sensitivity, the sum of the blocks', gives one scale for all of them."},
};
static const dpf_enum_value places[] = {
    {"party", "Each party adds noise to its own message; the server need not be trusted."},
    {"sum", "Noise is added once to the sum, by a curator who is trusted with it."},
};
static const dpf_enum_value lifetimes[] = {
    {"run", "Drawn once and reused in every round; what cancels between rounds is not protected."},
    {"round", "Fresh in every round."},
    {"solve", "Fresh for every inner solve of a round."},
};
enum { PRECISION_EXACT, PRECISION_FLOAT };
static const dpf_enum_value precisions[] = {
    {"exact", "Exact integer noise on the grid."},
    {"float", "Fast float64 noise; its low bits can reveal values, so the run cannot be certified (C9)."},
};

DPF_STATIC_ASSERT(P_COUNT == LAPLACE_N_PARAMS, "the header counts the parameters");

const dpf_param laplace_params[LAPLACE_N_PARAMS] = {
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                   "Pure-DP budget of one release."),
    [P_SHARES] = DPF_PARAM_LIST_F("shares", DPF_TYPE_REAL_LIST, "", 0.0, 1.0, DPF_PARAM_PRIVACY, "",
                                  "Shares of epsilon for the blocks in their order; they add up to 1. "
                                  "Default: equal shares for the blocks that a unit can move."),
    [P_SENSITIVITY] = DPF_PARAM_ENUM_F("sensitivity", SENSITIVITY_PER_BLOCK, sensitivities, DPF_PARAM_PRIVACY,
                                       "How the sensitivities of the blocks are used."),
    [P_GRAM_SHARE] =
        DPF_PARAM_REAL_F("gram-share", 0.0, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI, "",
                         "Fraction of epsilon for the Gram row of the query; the other rows have the "
                         "rest. At 0 the Gram row gets no noise."),
    [P_WHERE] = DPF_PARAM_ENUM_F("where", 0, places, DPF_PARAM_PRIVACY, "Who adds the noise."),
    [P_LIFETIME] =
        DPF_PARAM_ENUM_F("lifetime", 1, lifetimes, DPF_PARAM_PRIVACY, "How long one draw stays in use."),
    [P_PRECISION] =
        DPF_PARAM_ENUM_F("precision", PRECISION_EXACT, precisions, DPF_PARAM_PRIVACY, "How noise is drawn."),
    [P_GRID_BITS] =
        DPF_PARAM_INT_F("grid-bits", 34, 8, 40, 0, "bits",
                        "log2 of the noise scale, or of the sensitivity if that is larger, in grid steps; "
                        "fewer where many parties' messages are added. Lower it if values do not fit."),
};

struct laplace {
    const dpf_host *host;
    const dpf_value *values;
    dpf_additive noise;
    int32_t lifetime;
};

static dpf_status check_params(const dpf_host *host, const dpf_value *values)
{
    const dpf_value *shares = &values[P_SHARES];
    if (!dpf_additive_shares_sum(shares))
        return host->fail(host, DPF_E_CONFIG, P_SHARES, "the shares do not add up to 1");
    if (shares->count > 0 && values[P_SENSITIVITY].integer == SENSITIVITY_JOINT)
        return host->fail(host, DPF_E_CONFIG, P_SHARES,
                          "shares mean nothing with sensitivity = joint; remove them or use per-block");
    return DPF_OK;
}

dpf_status laplace_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_value *values = given->values;
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *stream;
    dpf_status status = check_params(host, values);
    if (status != DPF_OK)
        return status;
    status = random->open(host, "noise", &stream);
    if (status != DPF_OK)
        return status;
    struct laplace *laplace = dpf_memory(host)->allocate(host, sizeof(*laplace));
    if (!laplace)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    laplace->host = host;
    laplace->values = values;
    laplace->lifetime = (int32_t)values[P_LIFETIME].integer + DPF_LIFETIME_RUN;
    laplace->noise.random = random;
    laplace->noise.stream = stream;
    laplace->noise.where = (int32_t)values[P_WHERE].integer + DPF_NOISE_AT_PARTY;
    laplace->noise.exact = values[P_PRECISION].integer == PRECISION_EXACT;
    laplace->noise.integers = random->discrete_laplace;
    laplace->noise.reals = random->laplace;
    *self = laplace;
    return DPF_OK;
}

void laplace_destroy(void *self)
{
    struct laplace *laplace = self;
    dpf_memory(laplace->host)->release(laplace->host, laplace);
}

const dpf_host *laplace_host(void *self)
{
    return ((const struct laplace *)self)->host;
}

int32_t laplace_lifetime(void *self)
{
    return ((const struct laplace *)self)->lifetime;
}

double laplace_budget(void *self)
{
    return ((const struct laplace *)self)->values[P_EPSILON].real;
}

static dpf_status no_grid(const struct laplace *laplace)
{
    return laplace->host->fail(laplace->host, DPF_E_RANGE, P_EPSILON,
                               "no grid fits this noise: the scale, sensitivity / epsilon, is extreme, or "
                               "epsilon is too small for a message of so many numbers");
}

/* The L1 norms asked for, all finite. */
static dpf_status read_norms(const struct laplace *laplace, const dpf_release *release,
                             const dpf_sensitivity *blocks, double *norms)
{
    for (int32_t b = 0; b < release->query->n_blocks; b++) {
        norms[b] = blocks[b].at[release->unit][release->adjacency].l1;
        dpf_status status = dpf_additive_check(laplace->host, release, b, norms[b]);
        if (status != DPF_OK)
            return status;
    }
    return DPF_OK;
}

/* Grid and scale of all blocks of a row (or of the Gram row) for one budget. */
static dpf_status choose_scales(const struct laplace *laplace, const dpf_release *release,
                                const double *norms, double epsilon, int32_t gram, double *grid,
                                double *scale)
{
    int32_t n = release->query->n_blocks;
    int32_t bits = dpf_additive_bits(laplace->values[P_GRID_BITS].integer, release->n_parties);
    double per_epsilon = release->noise_factor / epsilon;
    double shares[DPF_MAX_BLOCKS];
    double norm = 0, coordinates = 0;
    dpf_status status =
        dpf_additive_shares(laplace->host, &laplace->values[P_SHARES], P_SHARES, n, norms, shares);
    if (status != DPF_OK)
        return status;
    for (int32_t b = 0; b < n; b++) {
        norm += norms[b];
        coordinates += norms[b] > 0 ? dpf_additive_coordinates(release, b, gram) : 0;
    }
    for (int32_t b = 0; b < n; b++) {
        if (!(norms[b] > 0))
            continue;
        double share = 1;
        if (laplace->values[P_SENSITIVITY].integer == SENSITIVITY_PER_BLOCK) {
            norm = norms[b];
            coordinates = dpf_additive_coordinates(release, b, gram);
            share = shares[b];
        }
        if (dpf_additive_choose(norm * per_epsilon / share, coordinates * per_epsilon / share, norm, bits,
                                MAX_SCALE_BITS, &grid[b], &scale[b]) != 0)
            return no_grid(laplace);
    }
    return DPF_OK;
}

/* Of i.i.d. discrete Laplace noise with scale t grid steps: 2 q / (1 - q)^2, q = exp(-1/t). */
static double variance_of(double scale, double grid, int exact)
{
    if (!exact || !(scale > 0))
        return 2 * scale * scale;
    double s = sinh(grid / (2 * scale));
    return grid * grid / (2 * s * s);
}

static dpf_status plan_gram(const struct laplace *laplace, const dpf_release *release, double epsilon,
                            dpf_noise_plan *out)
{
    double norms[DPF_MAX_BLOCKS];
    if (!release->gram)
        return laplace->host->fail(laplace->host, DPF_E_PRIVACY, P_GRAM_SHARE,
                                   "the sensitivity of the query's Gram row is not stated, so it cannot be "
                                   "noised; use a loss that states it, or gram-share = 0");
    dpf_status status = read_norms(laplace, release, release->gram, norms);
    if (status != DPF_OK)
        return status;
    return choose_scales(laplace, release, norms, epsilon, 1, out->gram_grid, out->gram_scale);
}

/* Grids and scales of blocks that share a bound; *done is 0 if nothing is shared. */
static dpf_status choose_together(const struct laplace *laplace, const dpf_release *release,
                                  dpf_noise_plan *out, int *done)
{
    const dpf_additive_request ask = {
        .p = 1,
        .factor = release->noise_factor / laplace->values[P_EPSILON].real,
        .shares = &laplace->values[P_SHARES],
        .shares_param = P_SHARES,
        .gram_share = laplace->values[P_GRAM_SHARE].real,
        .one_scale = laplace->values[P_SENSITIVITY].integer == SENSITIVITY_JOINT,
        .bits = dpf_additive_bits(laplace->values[P_GRID_BITS].integer, release->n_parties),
        .max_bits = MAX_SCALE_BITS,
    };
    const dpf_status status = dpf_additive_together(laplace->host, release, &ask, out, done);
    return status == DPF_OK && *done < 0 ? no_grid(laplace) : status;
}

dpf_status laplace_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const struct laplace *laplace = self;
    double norms[DPF_MAX_BLOCKS];
    int together = 0;
    double epsilon = laplace->values[P_EPSILON].real;
    double gram_share = release->query->has_gram ? laplace->values[P_GRAM_SHARE].real : 0;
    dpf_status status = dpf_additive_begin(laplace->host, release, laplace->noise.where, 0x1p-28, out);
    if (status == DPF_OK)
        status = read_norms(laplace, release, release->blocks, norms);
    if (status == DPF_OK)
        status = choose_together(laplace, release, out, &together);
    if (status == DPF_OK && !together)
        status = choose_scales(laplace, release, norms, epsilon * (1 - gram_share), 0, out->grid, out->scale);
    if (status == DPF_OK && !together && gram_share > 0)
        status = plan_gram(laplace, release, epsilon * gram_share, out);
    if (status != DPF_OK)
        return status;
    double copies = out->where == DPF_NOISE_AT_PARTY ? (double)release->n_parties : 1;
    for (int32_t b = 0; b < out->n_blocks; b++) {
        out->variance[b] = copies * variance_of(out->scale[b], out->grid[b], laplace->noise.exact);
        out->gram_variance[b] =
            copies * variance_of(out->gram_scale[b], out->gram_grid[b], laplace->noise.exact);
    }
    double spent = epsilon / release->noise_factor;
    memcpy(&out->opaque[1], &spent, sizeof(spent));
    return DPF_OK;
}

dpf_status laplace_events(void *self, const dpf_release *release, const dpf_noise_plan *plan, dpf_event *out,
                          int32_t capacity, int32_t *n)
{
    const struct laplace *laplace = self;
    return dpf_additive_events(laplace->host, release, plan, laplace->noise.exact, DPF_EVENT_DISCRETE_LAPLACE,
                               DPF_EVENT_LAPLACE, laplace->lifetime, out, capacity, n);
}

/* A record's contribution, and so its L1 distance, grows with its weight. Sensitivities are those of
   weight 1 where this is asked for. */
dpf_status laplace_profile(void *self, const dpf_noise_plan *plan, double weight, double *epsilon)
{
    double spent;
    (void)self;
    memcpy(&spent, &plan->opaque[1], sizeof(spent));
    *epsilon = weight * spent;
    return DPF_OK;
}

dpf_status laplace_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                          const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out)
{
    return dpf_additive_encode(&((const struct laplace *)self)->noise, call, plan, query, values, stride,
                               out);
}

dpf_status laplace_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                          const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    return dpf_additive_decode(&((const struct laplace *)self)->noise, call, plan, query, sums, out, stride);
}
