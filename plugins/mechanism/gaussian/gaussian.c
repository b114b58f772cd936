/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaussian.c - i.i.d. Gaussian noise on every number of a query.
 *
 * Why it is private. Let D_b be the L2 sensitivity of block b after rounding to its grid, z the noise
 * multiplier, beta_b shares that add up to 1. Block b has discrete Gaussian noise of sigma_b >= z D_b /
 * sqrt(beta_b). Divide each block by its sigma: the concatenation has sensitivity
 * sqrt(sum (D_b/sigma_b)^2) <= sqrt(sum beta_b / z^2) = 1/z and noise of sigma 1. So all blocks together
 * are one Gaussian mechanism of multiplier z, whichever way they share. Where blocks share a bound, such as
 * one clip for the whole message, D is the largest norm of the concatenation under that bound, which is
 * charged once: sigma_b = z C w_b for one ball of radius C with weights w_b, for the Gram row's blocks too.
 * The discrete Gaussian has the concentrated DP of the continuous one, rho = 1/(2 z^2) (Canonne, Kamath,
 * Steinke, arXiv 2004.00010, Theorem 14). Calibration only chooses z; what is proved about the release is
 * what an accountant derives from its events, one for each block.
 *
 * Calibration, for sensitivity 1:
 *   classic   z = sqrt(2 ln(1.25/delta)) / epsilon, for epsilon < 1 (Dwork, Roth 2014, Theorem A.1)
 *   analytic  the least z with Phi(1/(2z) - epsilon z) - e^epsilon Phi(-1/(2z) - epsilon z) <= delta
 *             (Balle, Wang, ICML 2018, Theorem 8), from the private side of a bracket
 */
#include "dpframe/additive.h"
#include "dpframe/plugin.h"
#include "dpframe/role/mechanism.h"

#define MAX_SCALE_BITS 24 /* of dpf_random_service.discrete_gaussian */

enum {
    P_CALIBRATION,
    P_EPSILON,
    P_DELTA,
    P_MULTIPLIER,
    P_SIGMA,
    P_SHARES,
    P_GRAM_SHARE,
    P_WHERE,
    P_LIFETIME,
    P_PRECISION,
    P_GRID_BITS,
    P_COUNT
};

enum { CALIBRATION_CLASSIC, CALIBRATION_ANALYTIC, CALIBRATION_MULTIPLIER, CALIBRATION_SIGMA };
static const dpf_enum_value calibrations[] = {
    {"classic", "sigma = sensitivity * sqrt(2 ln(1.25/delta)) / epsilon; holds for epsilon < 1 only."},
    {"analytic", "The least sigma that is (epsilon, delta)-DP for one release, any epsilon."},
    {"noise-multiplier", "sigma = noise-multiplier * sensitivity."},
    {"sigma", "sigma as it stands, whatever the sensitivity is."},
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

static const dpf_param params[P_COUNT] = {
    [P_CALIBRATION] = DPF_PARAM_ENUM_F("calibration", CALIBRATION_ANALYTIC, calibrations, DPF_PARAM_PRIVACY,
                                       "What sigma is computed from."),
    [P_EPSILON] = DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                   "Budget of one release, for classic and analytic."),
    [P_DELTA] = DPF_PARAM_REAL_F("delta", 0.0, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI, "",
                                 "Delta of one release; classic and analytic need one above 0."),
    [P_MULTIPLIER] =
        DPF_PARAM_REAL_F("noise-multiplier", 1.0, 0.0, 1e9, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "sigma over L2 sensitivity of all blocks together."),
    [P_SIGMA] = DPF_PARAM_REAL_F("sigma", 1.0, 0.0, 1e30, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                 "Standard deviation of the noise on every number, for calibration = sigma."),
    [P_SHARES] =
        DPF_PARAM_LIST_F("shares", DPF_TYPE_REAL_LIST, "", 0.0, 1.0, DPF_PARAM_PRIVACY, "",
                         "Shares of the budget for the blocks in their order; they add up to 1. "
                         "Default: equal shares for the blocks that a unit can move; under one bound over "
                         "several blocks, noise in the ratio of the bound's weights."),
    [P_GRAM_SHARE] =
        DPF_PARAM_REAL_F("gram-share", 0.0, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI, "",
                         "Fraction of the budget (of 1/z^2) for the Gram row of the query; the other "
                         "rows have the rest. Where one bound covers the Gram row and the rows, nothing is "
                         "divided, and any number above 0 will do. At 0 the Gram row gets no noise."),
    [P_WHERE] = DPF_PARAM_ENUM_F("where", 0, places, DPF_PARAM_PRIVACY, "Who adds the noise."),
    [P_LIFETIME] =
        DPF_PARAM_ENUM_F("lifetime", 1, lifetimes, DPF_PARAM_PRIVACY, "How long one draw stays in use."),
    [P_PRECISION] =
        DPF_PARAM_ENUM_F("precision", PRECISION_EXACT, precisions, DPF_PARAM_PRIVACY, "How noise is drawn."),
    [P_GRID_BITS] = DPF_PARAM_INT_F("grid-bits", 21, 4, 23, 0, "bits",
                                    "log2 of sigma in grid steps. Lower it if values do not fit."),
};

struct gaussian {
    const dpf_host *host;
    const dpf_value *values;
    dpf_additive noise;
    int32_t lifetime;
    int32_t calibration;
    double multiplier; /* z; or sigma, for CALIBRATION_SIGMA */
};

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* Whether multiplier z gives (epsilon, delta) for certain: rounding errors count against it. */
static int is_private(double z, double epsilon, double delta)
{
    double below = normal_cdf(0.5 / z - epsilon * z);
    double above = normal_cdf(-0.5 / z - epsilon * z);
    double scaled = above > 0 ? exp(epsilon + log(above)) : 0;
    double error = 1e-15 * (epsilon + 100) * (below + scaled);
    return below - scaled + error <= delta;
}

static double analytic_multiplier(double epsilon, double delta)
{
    double lo = 1, hi = 1;
    while (!is_private(hi, epsilon, delta) && hi < 1e12)
        hi *= 2;
    while (is_private(lo, epsilon, delta) && lo > 1e-12)
        lo /= 2;
    for (int i = 0; i < 200 && hi - lo > 1e-13 * hi; i++) {
        double middle = lo + (hi - lo) / 2;
        if (is_private(middle, epsilon, delta))
            hi = middle;
        else
            lo = middle;
    }
    return is_private(hi, epsilon, delta) ? hi : INFINITY;
}

static dpf_status calibrate(const dpf_host *host, const dpf_value *values, double *multiplier)
{
    double epsilon = values[P_EPSILON].real;
    double delta = values[P_DELTA].real;
    int64_t calibration = values[P_CALIBRATION].integer;
    *multiplier = values[calibration == CALIBRATION_SIGMA ? P_SIGMA : P_MULTIPLIER].real;
    if (calibration == CALIBRATION_MULTIPLIER || calibration == CALIBRATION_SIGMA)
        return DPF_OK;
    if (!(delta > 0))
        return host->fail(host, DPF_E_CONFIG, P_DELTA,
                          "this calibration needs delta > 0, well below one over the number of users");
    if (calibration == CALIBRATION_CLASSIC && !(epsilon < 1))
        return host->fail(
            host, DPF_E_CONFIG, P_EPSILON,
            "the classic calibration is proved for epsilon < 1 only; use calibration = analytic");
    *multiplier = calibration == CALIBRATION_CLASSIC ? sqrt(2 * log(1.25 / delta)) / epsilon
                                                     : analytic_multiplier(epsilon, delta);
    if (!isfinite(*multiplier))
        return host->fail(host, DPF_E_NUMERIC, P_DELTA,
                          "no noise multiplier was found for this epsilon and delta");
    return DPF_OK;
}

static dpf_status gaussian_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_value *values = given->values;
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *stream;
    double multiplier;
    if (!dpf_additive_shares_sum(&values[P_SHARES]))
        return host->fail(host, DPF_E_CONFIG, P_SHARES, "the shares do not add up to 1");
    dpf_status status = calibrate(host, values, &multiplier);
    if (status != DPF_OK)
        return status;
    status = random->open(host, "noise", &stream);
    if (status != DPF_OK)
        return status;
    struct gaussian *gaussian = dpf_memory(host)->allocate(host, sizeof(*gaussian));
    if (!gaussian)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    gaussian->host = host;
    gaussian->values = values;
    gaussian->multiplier = multiplier;
    gaussian->calibration = (int32_t)values[P_CALIBRATION].integer;
    gaussian->lifetime = (int32_t)values[P_LIFETIME].integer + DPF_LIFETIME_RUN;
    gaussian->noise.random = random;
    gaussian->noise.stream = stream;
    gaussian->noise.where = (int32_t)values[P_WHERE].integer + DPF_NOISE_AT_PARTY;
    gaussian->noise.exact = values[P_PRECISION].integer == PRECISION_EXACT;
    gaussian->noise.integers = random->discrete_gaussian;
    gaussian->noise.reals = random->normal;
    *self = gaussian;
    return DPF_OK;
}

static void gaussian_destroy(void *self)
{
    struct gaussian *gaussian = self;
    dpf_memory(gaussian->host)->release(gaussian->host, gaussian);
}

static int32_t gaussian_lifetime(void *self)
{
    return ((const struct gaussian *)self)->lifetime;
}

static double gaussian_budget(void *self)
{
    const struct gaussian *gaussian = self;
    return gaussian->calibration == CALIBRATION_CLASSIC || gaussian->calibration == CALIBRATION_ANALYTIC
               ? gaussian->values[P_EPSILON].real
               : NAN;
}

/* The L2 norms asked for. A sigma that is given needs none: its event then says what is not bounded. */
static dpf_status read_norms(const struct gaussian *gaussian, const dpf_release *release,
                             const dpf_sensitivity *blocks, double *norms)
{
    for (int32_t b = 0; b < release->query->n_blocks; b++) {
        norms[b] = blocks ? blocks[b].at[release->unit][release->adjacency].l2 : NAN;
        if (gaussian->calibration == CALIBRATION_SIGMA) {
            norms[b] = norms[b] == 0 ? 0 : 1;
            continue;
        }
        dpf_status status = dpf_additive_check(gaussian->host, release, b, norms[b]);
        if (status != DPF_OK)
            return status;
    }
    return DPF_OK;
}

static dpf_status no_grid(const struct gaussian *gaussian)
{
    return gaussian->host->fail(
        gaussian->host, DPF_E_RANGE, P_GRID_BITS,
        "no grid fits this noise: sigma is extreme, or too small for a message of so many "
        "numbers at this grid-bits");
}

/* Grid and sigma of all blocks of a row (or of the Gram row), which have this part of the budget. */
static dpf_status choose_scales(const struct gaussian *gaussian, const dpf_release *release,
                                const double *norms, double part, int32_t gram, double *grid, double *scale)
{
    int32_t n = release->query->n_blocks;
    int32_t bits = dpf_additive_bits(gaussian->values[P_GRID_BITS].integer, release->n_parties);
    double shares[DPF_MAX_BLOCKS];
    dpf_status status =
        dpf_additive_shares(gaussian->host, &gaussian->values[P_SHARES], P_SHARES, n, norms, shares);
    if (status != DPF_OK)
        return status;
    for (int32_t b = 0; b < n; b++) {
        if (!(norms[b] > 0))
            continue;
        double per_norm = release->noise_factor * gaussian->multiplier;
        double coordinates = 0; /* a given sigma is not raised for what rounding adds */
        if (gaussian->calibration != CALIBRATION_SIGMA) {
            per_norm /= sqrt(shares[b] * part);
            coordinates = dpf_additive_coordinates(release, b, gram);
        }
        if (dpf_additive_choose(per_norm * norms[b], per_norm * sqrt(coordinates), 0, bits, MAX_SCALE_BITS,
                                &grid[b], &scale[b]) != 0)
            return no_grid(gaussian);
    }
    return DPF_OK;
}

/* Grids and scales of blocks that share a bound; *done is 0 if nothing is shared. */
static dpf_status choose_together(const struct gaussian *gaussian, const dpf_release *release,
                                  dpf_noise_plan *out, int *done)
{
    const dpf_additive_request ask = {
        .p = 2,
        .factor = release->noise_factor * gaussian->multiplier,
        .shares = &gaussian->values[P_SHARES],
        .shares_param = P_SHARES,
        .gram_share = gaussian->values[P_GRAM_SHARE].real,
        .bits = dpf_additive_bits(gaussian->values[P_GRID_BITS].integer, release->n_parties),
        .max_bits = MAX_SCALE_BITS,
    };
    *done = 0;
    if (gaussian->calibration == CALIBRATION_SIGMA)
        return DPF_OK;
    const dpf_status status = dpf_additive_together(gaussian->host, release, &ask, out, done);
    return status == DPF_OK && *done < 0 ? no_grid(gaussian) : status;
}

static dpf_status gaussian_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const struct gaussian *gaussian = self;
    double norms[DPF_MAX_BLOCKS];
    int together = 0;
    double gram_share = release->query->has_gram ? gaussian->values[P_GRAM_SHARE].real : 0;
    dpf_status status = dpf_additive_begin(gaussian->host, release, gaussian->noise.where, 0x1p-28, out);
    if (status == DPF_OK)
        status = read_norms(gaussian, release, release->blocks, norms);
    if (status == DPF_OK && gram_share > 0)
        status = read_norms(gaussian, release, release->gram, norms);
    if (status == DPF_OK)
        status = choose_together(gaussian, release, out, &together);
    if (status == DPF_OK && !together)
        status = read_norms(gaussian, release, release->blocks, norms);
    if (status == DPF_OK && !together)
        status = choose_scales(gaussian, release, norms, 1 - gram_share, 0, out->grid, out->scale);
    if (status == DPF_OK && !together && gram_share > 0) {
        status = read_norms(gaussian, release, release->gram, norms);
        if (status == DPF_OK)
            status = choose_scales(gaussian, release, norms, gram_share, 1, out->gram_grid, out->gram_scale);
    }
    if (status != DPF_OK)
        return status;
    /* The discrete Gaussian's variance differs from sigma^2 by a factor 1 - exp(-2 pi^2 4^bits) or so. */
    double copies = out->where == DPF_NOISE_AT_PARTY ? (double)release->n_parties : 1;
    for (int32_t b = 0; b < out->n_blocks; b++) {
        out->variance[b] = copies * out->scale[b] * out->scale[b];
        out->gram_variance[b] = copies * out->gram_scale[b] * out->gram_scale[b];
    }
    return DPF_OK;
}

static dpf_status gaussian_events(void *self, const dpf_release *release, const dpf_noise_plan *plan,
                                  dpf_event *out, int32_t capacity, int32_t *n)
{
    const struct gaussian *gaussian = self;
    return dpf_additive_events(gaussian->host, release, plan, gaussian->noise.exact,
                               DPF_EVENT_DISCRETE_GAUSSIAN, DPF_EVENT_GAUSSIAN, gaussian->lifetime, out,
                               capacity, n);
}

static dpf_status gaussian_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                  const dpf_query *query, const double *values, int64_t stride,
                                  dpf_encoded *out)
{
    return dpf_additive_encode(&((const struct gaussian *)self)->noise, call, plan, query, values, stride,
                               out);
}

static dpf_status gaussian_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                                  const dpf_query *query, const dpf_encoded *sums, double *out,
                                  int64_t stride)
{
    return dpf_additive_decode(&((const struct gaussian *)self)->noise, call, plan, query, sums, out, stride);
}

static const dpf_mechanism functions = {
    .lifetime = gaussian_lifetime,
    .budget = gaussian_budget,
    .plan = gaussian_plan,
    .events = gaussian_events,
    .encode = gaussian_encode,
    .decode = gaussian_decode,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_MECHANISM,
    .id = "gaussian",
    .version = "1.0.0",
    .summary = "Discrete Gaussian noise on the grid, four ways of calibration",
    .citation = "Balle, Wang, ICML 2018, Theorem 8; Canonne, Kamath, Steinke, arXiv 2004.00010",
    .params = params,
    .n_params = P_COUNT,
    .param_stride = sizeof(dpf_param),
    .create = gaussian_create,
    .destroy = gaussian_destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.gaussian", "1.0.0", "Apache-2.0", component)
