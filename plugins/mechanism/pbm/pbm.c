/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pbm.c - the Poisson binomial mechanism: each coordinate becomes a binomial count.
 *
 * A client clips x to [-c, c] and sends Z ~ Binomial(q, 1/2 + theta x / c); the sum of n clients is decoded
 * as c / (q theta) (Z - n q / 2), which is unbiased for the sum of the clipped x and has a variance of at
 * most n c^2 / (4 q theta^2) (Algorithm 1 of Chen, Ozgur, Kairouz, ICML 2022, arXiv 2207.09916).
 *
 * Exactness. A trial succeeds if a uniform 64-bit integer is below 2^64 p (pbm_trials.h). p = 1/2 + theta
 * x / c lies in [1/4, 3/4] and is computed as a float64, so 2^64 p is an integer: the probability is p
 * itself, not nearly p. Rounding p is monotone, so it stays between those of x = -c and x = c, and what is
 * accounted for is the larger of their distances from 1/2 as they are in float64 (plan: theta).
 *
 * Privacy. The server may see the sum alone (noise in shares). Whatever a user holds, the message is one
 * vector of `coordinates` numbers clipped to the public c, so replacing the user turns a client at one end
 * into a client at the other, in every coordinate; zero-out one end into the middle. Nothing is stated
 * about other adjacencies: without the client the cohort is smaller, which the count n shows. The
 * guarantee grows with the number of clients in a sum: min_honest of them are counted on, and a sum of fewer
 * is refused. With one nothing is counted on but the client's own draws: then each message is as private as
 * the sum of one, whoever sees it (noise at the party). Clients that observe take their own messages off the
 * sum; what is left is a sum of the others, whatever they sent. So of min_honest + max_curious messages, which
 * decoding asks for, min_honest hide each other from any max_curious of them. Every message has all rows
 * (DENSE): a row that only one client sends would have that client's trials alone, whatever min_honest says,
 * and decoding takes off n q / 2 trials of each row.
 *
 * Modulus. A message is in 0 .. q, a sum of at most n_parties messages in 0 .. n_parties q, below the
 * modulus n_parties q + 1: a sum never wraps.
 */
#include <math.h>
#include <string.h>

#include "dpframe/plugin.h"
#include "dpframe/role/mechanism.h"
#include "pbm_trials.h"

enum { P_THETA, P_TRIALS, P_BOUND, P_MODULUS, P_COUNT };
enum { MODULUS_TIGHT, MODULUS_POWER_OF_TWO };

static const dpf_enum_value moduli[] = {
    {"tight", "n q + 1, the fewest bits on the wire"},
    {"power-of-two", "the next power of two, by which protocols reduce without cost"},
};

static const dpf_param params[P_COUNT] = {
    [P_THETA] =
        DPF_PARAM_REAL_F("theta", 0.25, 1e-9, 0.25, DPF_PARAM_PRIVACY, "",
                         "How far x = c moves the probability of a trial from 1/2; less is more private."),
    [P_TRIALS] = DPF_PARAM_INT_F("trials", 1, 1, 65536, DPF_PARAM_PRIVACY, "",
                                 "q, the trials of a coordinate: the quantization count."),
    [P_BOUND] = DPF_PARAM_REAL_F("bound", 1, 1e-100, 1e100, DPF_PARAM_PRIVACY, "",
                                 "c: coordinates are clipped to [-c, c] before they are encoded."),
    [P_MODULUS] = DPF_PARAM_ENUM_F("modulus", MODULUS_TIGHT, moduli, 0, "What sums are taken modulo."),
};

struct pbm {
    const dpf_host *host;
    const dpf_random_service *random;
    const dpf_log_service *log;
    dpf_stream *lanes, *ties;
    const struct pbm_kernels *kernels;
    double theta;
    double bound;
    int64_t trials;
    int64_t modulus;
};

static dpf_status pbm_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_value *values = given->values;
    const dpf_random_service *random = dpf_random(host);
    dpf_stream *lanes, *ties;
    dpf_status status = random->open(host, "noise", &lanes);
    if (status == DPF_OK)
        status = random->open(host, "noise ties", &ties);
    if (status != DPF_OK)
        return status;
    struct pbm *pbm = *self;
    pbm->host = host;
    pbm->random = random;
    pbm->log = dpf_log(host);
    pbm->lanes = lanes;
    pbm->ties = ties;
    pbm->kernels = pbm_kernels_find(SIMD_KIND_AUTO);
    pbm->theta = values[P_THETA].real;
    pbm->bound = values[P_BOUND].real;
    pbm->trials = values[P_TRIALS].integer;
    pbm->modulus = values[P_MODULUS].integer;
    return DPF_OK;
}

/* ---- planning ------------------------------------------------------------------------------------ */

/* What the plan keeps: theta as it is drawn with, and the clients counted on. */
enum { KEEP_THETA, KEEP_CLIENTS };

static double plan_theta(const dpf_noise_plan *plan)
{
    double theta;
    memcpy(&theta, &plan->opaque[KEEP_THETA], sizeof(theta));
    return theta;
}

static uint64_t choose_modulus(const struct pbm *pbm, int64_t n_parties)
{
    const uint64_t tight = (uint64_t)n_parties * (uint64_t)pbm->trials + 1;
    uint64_t power = 1;
    while (power < tight)
        power *= 2;
    return pbm->modulus == MODULUS_TIGHT ? tight : power;
}

static dpf_status check_release(const struct pbm *pbm, const dpf_release *release, double theta)
{
    const dpf_host *host = pbm->host;
    if (release->query->has_gram)
        return host->fail(
            host, DPF_E_UNSUPPORTED, -1,
            "the Poisson binomial mechanism encodes numbers of one size, not a query with a gram "
            "row; use a gradient loss");
    if (release->min_honest < 1 || release->max_curious < 0 ||
        release->max_curious > release->n_parties - release->min_honest)
        return host->fail(host, DPF_E_INTERNAL, -1, "the release has no number of honest parties");
    if (release->n_parties > INT64_C(1) << 40)
        return host->fail(host, DPF_E_RANGE, P_TRIALS, "the modulus of so many parties does not fit 63 bits");
    if (!(theta > 0 && theta <= 0.25))
        return host->fail(host, DPF_E_RANGE, P_THETA,
                          "theta, divided by the noise factor of a calibrated budget, is not in (0, 1/4]");
    return DPF_OK;
}

static dpf_status pbm_plan(void *self, const dpf_release *release, dpf_noise_plan *out)
{
    const struct pbm *pbm = self;
    const double theta = pbm->theta / release->noise_factor;
    const dpf_status status = check_release(pbm, release, theta);
    if (status != DPF_OK)
        return status;
    const int64_t clients = release->min_honest;
    const double step = pbm->bound / ((double)pbm->trials * theta);
    int exponent;
    dpf_clear(out);
    out->where = clients == 1 ? DPF_NOISE_AT_PARTY : DPF_NOISE_IN_SHARES;
    out->n_blocks = release->query->n_blocks;
    frexp(pbm->bound, &exponent);
    for (int32_t b = 0; b < out->n_blocks; b++) {
        out->grid[b] = ldexp(1.0, exponent - 44); /* of contributions to a message, far below the noise */
        out->gram_grid[b] = out->grid[b];
        out->scale[b] = sqrt((double)clients * (double)pbm->trials / 4) * step;
        out->variance[b] = (double)release->n_parties * (double)pbm->trials / 4 * step * step;
    }
    out->modulus = choose_modulus(pbm, release->n_parties);
    memcpy(&out->opaque[KEEP_THETA], &theta, sizeof(theta));
    out->opaque[KEEP_CLIENTS] = (uint64_t)clients;
    out->message_most = (int32_t)pbm->trials;
    out->spare_shares = (int32_t)release->max_curious;
    out->least_survivors = clients + release->max_curious;
    return DPF_OK;
}

/* The distance of the extreme probabilities from 1/2, as they are after rounding. Differences are exact. */
static double accounted_theta(double theta)
{
    return fmax((0.5 + theta) - 0.5, 0.5 - (0.5 - theta));
}

static void state_sensitivity(const struct pbm *pbm, double coordinates, dpf_sensitivity *out)
{
    const double c = pbm->bound;
    *out = dpf_unstated();
    out->at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT] = (dpf_norms){coordinates * c, sqrt(coordinates) * c, c};
    out->at[DPF_UNIT_USER][DPF_ADJ_REPLACE] =
        (dpf_norms){coordinates * 2 * c, sqrt(coordinates) * 2 * c, 2 * c};
}

static dpf_status pbm_events(void *self, const dpf_release *release, const dpf_noise_plan *plan,
                             dpf_event *out, int32_t capacity, int32_t *n)
{
    const struct pbm *pbm = self;
    const double coordinates = (double)release->rows * (double)release->query->width;
    *n = 0;
    if (capacity < 1)
        return pbm->host->fail(pbm->host, DPF_E_INTERNAL, -1, "too many events in a release");
    memset(out, 0, sizeof(*out));
    out->kind = DPF_EVENT_PBM;
    out->flags = plan->where == DPF_NOISE_IN_SHARES ? DPF_EVENT_NOISE_SHARED : 0;
    out->lifetime = DPF_LIFETIME_ROUND;
    out->count = 1;
    out->side = release->side;
    out->blocks = (UINT32_C(1) << release->query->n_blocks) - 1;
    out->scale = plan->scale[0];
    out->p.pbm.theta = accounted_theta(plan_theta(plan));
    out->p.pbm.trials = (double)pbm->trials;
    out->p.pbm.clients = (double)plan->opaque[KEEP_CLIENTS];
    out->p.pbm.coordinates = coordinates;
    state_sensitivity(pbm, coordinates, &out->sensitivity);
    *n = 1;
    return DPF_OK;
}

/* ---- settings ------------------------------------------------------------------------------------- */

#define LEAST_THETA 1e-9
#define MOST_THETA 0.25
#define MOST_TRIALS_BITS 16

/* Four decimal digits, not above theta. A whole number over a power of ten reads back as the same number. */
static double round_down(double theta)
{
    const double power = pow(10, 3 - floor(log10(theta)));
    const double rounded = floor(theta * power) / power;
    return rounded <= theta ? rounded : theta;
}

/*
 * The order of DPMF-RP, section 4.3.1: the fewest bits are those of q = 1, so theta grows first; where even
 * 1/4, the largest there is, is private enough, q grows. The first half of the scale is theta's.
 */
static dpf_status pbm_settings(void *self, double place, double *values, dpf_event *event)
{
    double theta = MOST_THETA, trials = 1;
    (void)self;
    if (place < 0.5)
        theta = round_down(LEAST_THETA * exp(2 * place * log(MOST_THETA / LEAST_THETA)));
    else
        trials = floor(exp2((2 * place - 1) * MOST_TRIALS_BITS) + 1e-9);
    values[P_THETA] = theta;
    values[P_TRIALS] = trials;
    if (event->kind == DPF_EVENT_PBM) {
        event->p.pbm.theta = accounted_theta(theta);
        event->p.pbm.trials = trials;
    }
    return DPF_OK;
}

/* ---- running ------------------------------------------------------------------------------------- */

#define AT_ONCE 128

static int encode_rows(const struct pbm *pbm, struct pbm_trials *trials, double theta, const double *values,
                       int64_t *out, int64_t count, int64_t *clipped)
{
    double shares[AT_ONCE];
    for (int64_t at = 0; at < count; at += AT_ONCE) {
        const int64_t n = count - at < AT_ONCE ? count - at : AT_ONCE;
        if (!pbm->kernels->shares(theta, pbm->bound, values + at, n, shares, clipped))
            return 0;
        if (pbm->trials == 1)
            pbm_trials_each(trials, shares, n, out + at);
        for (int64_t i = 0; i < n && pbm->trials > 1; i++)
            out[at + i] = pbm_trials_count(trials, shares[i], pbm->trials);
    }
    return 1;
}

/* How many rows from r on have their numbers and their trials in one piece. */
static int64_t rows_together(const struct pbm_trials *trials, const dpf_encoded *out, int64_t r,
                             int64_t stride)
{
    if (out->rows || stride != out->width || out->stride != out->width)
        return 1;
    const int64_t left = out->n_rows - r, group = trials->together - (out->first_row + r) % trials->together;
    return left < group ? left : group;
}

static dpf_status pbm_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                             const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out)
{
    const struct pbm *pbm = self;
    const double theta = plan_theta(plan);
    struct pbm_trials trials = {.random = pbm->random,
                                .lanes = pbm->lanes,
                                .ties = pbm->ties,
                                .kernels = pbm->kernels,
                                .draw = call->draw,
                                .party = call->party};
    int64_t clipped = 0;
    (void)query;
    pbm_trials_start(&trials, out->width * pbm->trials);
    for (int64_t r = 0, n = 0; r < out->n_rows; r += n) {
        n = rows_together(&trials, out, r, stride);
        pbm_trials_seek(&trials, out->rows ? out->rows[r] : out->first_row + r);
        if (!encode_rows(pbm, &trials, theta, values + r * stride, out->values + r * out->stride,
                         n * out->width, &clipped))
            return call->host->fail(
                call->host, DPF_E_NUMERIC, -1,
                "a message is not a number: the training has diverged; lower the rate of the "
                "solvers");
    }
    const double n = (double)out->n_rows * (double)out->width;
    if (n > 0)
        pbm->log->metric(pbm->host, "clipped", (double)clipped / n);
    return DPF_OK;
}

static dpf_status check_sum(const dpf_call *call, const dpf_noise_plan *plan, const dpf_encoded *sums)
{
    if (sums->survivors < plan->least_survivors)
        return call->host->fail(
            call->host, DPF_E_PRIVACY, -1,
            "fewer clients are in a sum than the guarantee counts on, so it is not decoded; "
            "lower [privacy] min-honest, or raise the rate of the sampler");
    return DPF_OK;
}

static dpf_status pbm_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                             const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    const struct pbm *pbm = self;
    const int64_t most = sums->survivors * pbm->trials;
    const double step = pbm->bound / ((double)pbm->trials * plan_theta(plan));
    const dpf_status status = check_sum(call, plan, sums);
    (void)query;
    if (status != DPF_OK)
        return status;
    for (int64_t r = 0; r < sums->n_rows; r++)
        for (int32_t i = 0; i < sums->width; i++) {
            const int64_t z = sums->values[r * sums->stride + i];
            if (z < 0 || z > most)
                return call->host->fail(
                    call->host, DPF_E_RANGE, -1,
                    "a sum is not between 0 and the clients' trials: a message was not made by "
                    "this mechanism, or the sum was taken modulo too small a number");
            out[r * stride + i] = step * ((double)z - (double)most / 2);
        }
    return DPF_OK;
}

static const dpf_mechanism functions = {
    .plan = pbm_plan,
    .events = pbm_events,
    .encode = pbm_encode,
    .decode = pbm_decode,
    .settings = pbm_settings,
    .flags = DPF_MECHANISM_PER_USER | DPF_MECHANISM_DENSE | DPF_MECHANISM_SHARES,
};

DPF_COMPONENT(
    component, DPF_ROLE_MECHANISM, functions, .id = "pbm", .version = "1.0.0",
    .summary = "Poisson binomial mechanism: clipped coordinates become binomial counts, exactly drawn",
    .citation =
        "Chen, Ozgur, Kairouz, The Poisson binomial mechanism for unbiased federated learning with secure "
        "aggregation (ICML 2022), arXiv 2207.09916, Algorithm 1; DPMF-RP, Algorithm 1",
    DPF_PARAMS(params), .create = pbm_create, .instance_bytes = sizeof(struct pbm))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.pbm", "1.0.0", "Apache-2.0", component)
