/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mechanism.privacy: do stated events hold? Messages that differ by as much as the release's sensitivity
 * allows are encoded and decoded many times, and what the events state together, for one row, is compared
 * with what is seen:
 *
 *  - as (epsilon, delta), by how often a statistic of the estimate passes a threshold: a violation is
 *    P[S | x] > e^epsilon P[S | y] + delta, with both probabilities bounded by Chernoff's inequality;
 *  - as a Renyi divergence of order 2, by means and variances (Hammersley, Chapman, Robbins): for every
 * statistic T, (E_x T - E_y T)^2 <= (e^(D_2) - 1) Var_y T.
 *
 * Kinds compose as always: epsilons of pure and approximate events add up, deltas too, and rho and xi of
 * zCDP, to which Gaussian noise of sensitivity D and deviation s adds D^2 / (2 s^2). Rows have noise of their
 * own, so each row of a draw is a sample.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dpframe/accounting.h"
#include "conformance/check_release.h"

/* Few: of releases that take long to draw. */
enum { SAMPLES = 40000, FEW_SAMPLES = CHECK_CASES(4000, 1000), THRESHOLDS = 24, DELTAS = 4 };

#define LOG_ERROR 23.0 /* of each bound: e^-23; some thousand are used */

/* What the events of a release state together for the kit's neighbours. */
struct claim {
    double epsilon, delta; /* of pure and approximate events */
    double xi, rho;        /* of zCDP */
    int32_t unmeasured;    /* a kind that is not measured here, or -1 */
    int states_nothing;    /* an event without a guarantee */
};

/* ---- what is stated
 * ---------------------------------------------------------------------------------------- */

static void add_noise_event(const dpf_event *event, double l1, double l2, struct claim *claim)
{
    const double n = (double)event->count;
    if (event->kind == DPF_EVENT_LAPLACE || event->kind == DPF_EVENT_DISCRETE_LAPLACE)
        claim->epsilon += n * l1 / event->scale;
    else
        claim->rho += n * l2 * l2 / (2 * event->scale * event->scale);
}

/* Its Renyi curve lies below a line, as that of zCDP does. */
static void add_skellam(const dpf_event *event, double l1, double l2, struct claim *claim)
{
    const double grid = event->grid, variance = event->p.skellam.variance / (grid * grid);
    double xi, rho;
    dpf_skellam_line(variance, l1 / grid, l2 / grid, &xi, &rho);
    claim->xi += (double)event->count * xi;
    claim->rho += (double)event->count * rho;
}

static void add_event(const dpf_event *event, int unit, int adjacency, struct claim *claim)
{
    const dpf_norms *norms = &event->sensitivity.at[unit][adjacency];
    const double n = (double)event->count;
    if (event->flags & DPF_EVENT_DATA_BLIND)
        return; /* nobody charges it */
    switch (event->kind) {
    case DPF_EVENT_NO_OP:
        break;
    case DPF_EVENT_LAPLACE:
    case DPF_EVENT_GAUSSIAN:
    case DPF_EVENT_DISCRETE_LAPLACE:
    case DPF_EVENT_DISCRETE_GAUSSIAN:
    case DPF_EVENT_CORRELATED_GAUSSIAN:
        add_noise_event(event, norms->l1, norms->l2, claim);
        break;
    case DPF_EVENT_SKELLAM:
        add_skellam(event, norms->l1, norms->l2, claim);
        break;
    case DPF_EVENT_PURE:
        claim->epsilon += n * event->p.pure.epsilon * norms->l1;
        break;
    case DPF_EVENT_APPROX: /* stated for a sensitivity of 1; of 0 it costs nothing */
        claim->epsilon += norms->l1 > 0 ? n * event->p.approx.epsilon : 0;
        claim->delta += norms->l1 > 0 ? n * event->p.approx.delta : 0;
        break;
    case DPF_EVENT_ZCDP:
        claim->xi += norms->l2 > 0 ? n * event->p.zcdp.xi : 0;
        claim->rho += norms->l2 > 0 ? n * event->p.zcdp.rho : 0;
        break;
    case DPF_EVENT_NON_PRIVATE:
    case DPF_EVENT_UNSUPPORTED:
        claim->states_nothing = 1;
        break;
    default:
        claim->unmeasured = event->kind;
    }
}

/* Of the events that cover a block. */
static int read_claim(struct check *check, const struct release *r, int bit, struct claim *claim)
{
    int32_t n = 0;
    const dpf_event *events = check_release_events(check, r, &n);
    *claim = (struct claim){.unmeasured = -1};
    if (!events)
        return -1; /* mechanism.events says so */
    for (int32_t i = 0; i < n; i++)
        if (events[i].blocks == 0 || (events[i].blocks >> bit & 1))
            add_event(&events[i], r->release.unit, r->release.adjacency, claim);
    return 0;
}

/* ---- neighbours
 * ---------------------------------------------------------------------------------------------- */

/* How a block of a row changes: within the norms of the kit's sensitivity, of which L1 is twice L2 and Linf. */
struct direction {
    double by[WIDTH];
    int n;
    int64_t first, rows; /* that change: those of items, or the Gram row */
};

static int make_direction(const struct release *r, int bit, int which, struct direction *out)
{
    const dpf_block *block = check_release_block(r, bit);
    const int gram = bit >= DPF_GRAM_BIT;
    *out = (struct direction){.n = which == 0          ? 1
                                   : block->length < 4 ? block->length
                                                       : 4,
                              .first = gram ? ROWS - 1 : 0,
                              .rows = gram ? 1 : check_release_rows(r)};
    for (int i = 0; i < out->n; i++) /* so its L1 norm is at most sqrt(4) times its L2 norm */
        out->by[block->offset + i] = check_release_norms(r, bit)->l2 / sqrt((double)out->n);
    return which == 0 || out->n > 1;
}

/* Two statistics: the log-likelihood ratio of Laplace noise, and of Gaussian noise, up to constants. */
static double statistic(const struct direction *d, const double *estimate, int which)
{
    double sum = 0;
    for (int i = 0; i < WIDTH; i++)
        sum += which ? estimate[i] * d->by[i] : fmin(fmax(estimate[i], 0), d->by[i]);
    return sum;
}

struct samples {
    double *values[2]; /* of the two statistics */
    int n;
};

/* Rows of one draw: one party sends `rows`, the others send zeros. */
static dpf_status draw_rows(const struct release *r, struct worker *worker, const struct direction *d,
                            uint32_t draw, const double *rows, double *estimates)
{
    static const double zeros[ROWS * WIDTH];
    int64_t message[ROWS * WIDTH], sums[ROWS * WIDTH] = {0};
    dpf_status status = DPF_OK;
    for (int p = 0; p < r->parties && status == DPF_OK; p++) {
        status = check_release_encode(r, worker, draw, (uint32_t)p, p == 0 ? rows : zeros, d->first, d->rows,
                                      message);
        for (int64_t i = 0; i < d->rows * WIDTH && status == DPF_OK; i++) {
            const uint64_t sum = (uint64_t)sums[i] + (uint64_t)message[i];
            sums[i] = (int64_t)(r->plan.modulus ? sum % r->plan.modulus : sum);
        }
    }
    return status == DPF_OK ? check_release_decode(r, worker, draw, sums, d->first, d->rows, estimates)
                            : status;
}

/*
 * Of noise that is correlated between rounds the whole run counts: who moves does so alike in all rounds that
 * a unit can be in. The statistic is the log-likelihood ratio of C times the estimates.
 */
static dpf_status run_rounds(const struct release *r, struct worker *worker, const struct direction *d,
                             int moved, uint32_t draw, double out[ROWS])
{
    double c[RUN_ROUNDS], rows[ROWS * WIDTH], estimates[RUN_ROUNDS][ROWS * WIDTH];
    struct check_rows run = {0};
    struct random_root *root = check_release_rekey(r, draw);
    dpf_status status = root && check_rows_open(r, d->first, d->rows, &run) == 0 ? DPF_OK : DPF_E_MEMORY;
    ((const dpf_mechanism *)r->instance->functions)->correlation(r->instance->self, &r->plan, c, RUN_ROUNDS);
    memset(out, 0, ROWS * sizeof *out);
    for (uint32_t t = 0; t < RUN_ROUNDS && status == DPF_OK; t++) {
        const int in = moved && t % RUN_SEPARATION == 0 && t / RUN_SEPARATION < RUN_PARTICIPATIONS;
        double weight = 0;
        for (int i = 0; i < ROWS * WIDTH; i++)
            rows[i] = in ? d->by[i % WIDTH] : 0;
        status = check_rows_round(r, worker, &run, t, rows, estimates[t]);
        for (uint32_t s = 0; s <= t; s += RUN_SEPARATION)
            weight += s / RUN_SEPARATION < RUN_PARTICIPATIONS ? c[t - s] : 0;
        for (int64_t row = 0; row < d->rows; row++)
            for (uint32_t k = 0; k <= t && status == DPF_OK; k++)
                out[row] += weight * c[k] * statistic(d, estimates[t - k] + row * WIDTH, 1);
    }
    check_rows_close(&run);
    check_release_unkey(r, root);
    return status;
}

/* Both statistics of the rows of one draw, or run, into row 0 .. d->rows - 1 of two arrays. */
static dpf_status sample_once(const struct release *r, struct worker *worker, const struct direction *d,
                              int moved, uint32_t draw, double out[2][ROWS])
{
    double rows[ROWS * WIDTH], estimates[ROWS * WIDTH];
    if (check_is_correlated(r)) {
        const dpf_status status = run_rounds(r, worker, d, moved, draw, out[0]);
        memcpy(out[1], out[0], sizeof out[0]);
        return status;
    }
    for (int i = 0; i < ROWS * WIDTH; i++)
        rows[i] = moved ? d->by[i % WIDTH] : 0;
    const dpf_status status = draw_rows(r, worker, d, draw, rows, estimates);
    for (int64_t row = 0; row < d->rows && status == DPF_OK; row++)
        for (int s = 0; s < 2; s++)
            out[s][row] = statistic(d, estimates + row * WIDTH, s);
    return status;
}

static dpf_status sample(const struct release *r, struct worker *worker, const struct direction *d, int moved,
                         uint32_t first_draw, struct samples *out)
{
    dpf_status status = DPF_OK;
    for (int64_t k = 0; k < out->n && status == DPF_OK; k += d->rows) {
        double both[2][ROWS];
        status = sample_once(r, worker, d, moved, first_draw + (uint32_t)(k / d->rows), both);
        for (int s = 0; s < 2; s++)
            memcpy(out->values[s] + k, both[s], (size_t)d->rows * sizeof(double));
    }
    return status;
}

/* ---- bounds
 * --------------------------------------------------------------------------------------------------- */

static double divergence(double p, double q)
{
    const double a = p > 0 ? p * log(p / q) : 0, b = p < 1 ? (1 - p) * log((1 - p) / (1 - q)) : 0;
    return a + b;
}

/* Chernoff: the true probability is beyond with probability at most e^-LOG_ERROR. */
static double bound(double seen, int n, int upper)
{
    double in = seen, out = upper ? 1 : 0;
    for (int i = 0; i < 60; i++) {
        const double middle = (in + out) / 2;
        *((double)n * divergence(seen, middle) < LOG_ERROR ? &in : &out) = middle;
    }
    return out;
}

/* What is stated, as epsilons with their deltas. */
static int pairs_of(const struct claim *claim, double epsilon[DELTAS], double delta[DELTAS])
{
    static const double tried[DELTAS] = {0.3, 0.1, 0.01, 0.001};
    if (claim->rho == 0 && claim->xi == 0) {
        epsilon[0] = claim->epsilon;
        delta[0] = claim->delta;
        return 1;
    }
    for (int i = 0; i < DELTAS; i++) { /* Bun and Steinke 2016, Lemma 3.5 */
        epsilon[i] = claim->epsilon + claim->xi + claim->rho + 2 * sqrt(claim->rho * log(1 / tried[i]));
        delta[i] = claim->delta + tried[i];
    }
    return DELTAS;
}

/* The largest epsilon that is certain at some threshold, above what is stated with that delta; 0: none. */
static double excess_at(const double *x, const double *y, int n, double threshold, double epsilon,
                        double delta)
{
    for (int side = 0; side < 2; side++) {
        int in_x = 0, in_y = 0;
        for (int i = 0; i < n; i++) {
            in_x += side ? x[i] <= threshold : x[i] >= threshold;
            in_y += side ? y[i] <= threshold : y[i] >= threshold;
        }
        const double least = bound((double)in_x / n, n, 0) - delta, most = bound((double)in_y / n, n, 1);
        if (least > 0 && least > exp(epsilon) * most)
            return log(least / most);
    }
    return 0;
}

static void judge_thresholds(struct check *check, const double *x, const double *y, int n,
                             const struct claim *claim)
{
    double epsilon[DELTAS], delta[DELTAS];
    const int pairs = pairs_of(claim, epsilon, delta);
    for (int k = 1; k < THRESHOLDS && check->outcome != CHECK_FAIL; k++) {
        /* Where the samples are, not where the largest of them is. */
        const double threshold = (k % 2 ? x : y)[(n / THRESHOLDS) * k];
        for (int p = 0; p < pairs; p++) {
            const double seen = fmax(excess_at(x, y, n, threshold, epsilon[p], delta[p]),
                                     excess_at(y, x, n, threshold, epsilon[p], delta[p]));
            if (seen > 0) {
                check_fail(check,
                           "for neighbours within the sensitivity epsilon is at least %.4g at delta %.3g "
                           "(each bound "
                           "wrong with probability e^-23), the events state %.4g",
                           seen, delta[p], epsilon[p]);
                break;
            }
        }
    }
}

static void moments(const double *values, int n, double *mean, double *variance, double *fourth)
{
    *mean = *variance = *fourth = 0;
    for (int i = 0; i < n; i++)
        *mean += values[i] / n;
    for (int i = 0; i < n; i++) {
        const double square = (values[i] - *mean) * (values[i] - *mean);
        *variance += square / n;
        *fourth += square * square / n;
    }
}

/* Six standard errors of the mean and of the variance are allowed for. */
static void judge_moments_of(struct check *check, const double *x, const double *y, int n,
                             const struct claim *claim)
{
    double mean[2], variance[2], fourth[2];
    if (claim->epsilon != 0 || claim->delta != 0 || check->outcome == CHECK_FAIL)
        return; /* no statement about a Renyi divergence */
    moments(x, n, &mean[0], &variance[0], &fourth[0]);
    moments(y, n, &mean[1], &variance[1], &fourth[1]);
    const double shift = fabs(mean[0] - mean[1]) - 6 * sqrt((variance[0] + variance[1]) / n);
    const double most = variance[1] + 6 * sqrt(fmax(fourth[1] - variance[1] * variance[1], 0) / n);
    const double stated = exp(claim->xi + 2 * claim->rho) - 1;
    if (shift > 0 && shift * shift > stated * most)
        check_fail(check,
                   "for neighbours within the sensitivity the Renyi divergence of order 2 is at least %.4g, "
                   "the events "
                   "state %.4g (xi + 2 rho)",
                   log1p(shift * shift / most), claim->xi + 2 * claim->rho);
}

/* ---- the rule
 * -------------------------------------------------------------------------------------------------- */

static void judge_direction(struct check *check, const struct release *r, struct worker *worker,
                            const struct direction *d, const struct claim *claim)
{
    struct dpf_error error = {0};
    struct samples x, y;
    const int few = r->plan.where == DPF_NOISE_IN_SHARES || d->rows == 1;
    x.n = y.n = (int)((few ? FEW_SAMPLES : SAMPLES) / d->rows * d->rows);
    for (int s = 0; s < 2; s++) {
        x.values[s] = check_keep(check, (size_t)x.n * sizeof(double));
        y.values[s] = check_keep(check, (size_t)y.n * sizeof(double));
        if (!x.values[s] || !y.values[s])
            return;
    }
    dpf_status status = sample(r, worker, d, 0, 0, &x);
    if (status == DPF_OK)
        status = sample(r, worker, d, 1, 1000000, &y);
    if (instance_result(r->instance, status, "encode and decode", &error) != 0) {
        check_fail(check, "%s", error.text);
        return;
    }
    for (int s = 0; s < 2 && check->outcome != CHECK_FAIL; s++) {
        judge_thresholds(check, x.values[s], y.values[s], x.n, claim);
        judge_moments_of(check, x.values[s], y.values[s], x.n, claim);
    }
}

/* Neighbours that differ in one block. 1: measured, 0: not, with the reason in claim. */
static int judge_block(struct check *check, const struct release *r, struct worker *worker, int bit,
                       struct claim *claim)
{
    struct direction direction;
    if (read_claim(check, r, bit, claim) != 0 || claim->states_nothing || claim->unmeasured >= 0)
        return 0;
    for (int which = 0; which < 2 && check->outcome != CHECK_FAIL; which++)
        if (make_direction(r, bit, which, &direction))
            judge_direction(check, r, worker, &direction, claim);
    return 1;
}

static void look_privacy(struct check *check, struct release *r)
{
    struct claim claim = {.unmeasured = -1};
    struct worker *worker = worker_new(0, 1);
    int measured = 0;
    for (int bit = 0; worker && bit < DPF_BLOCK_BITS && check->outcome != CHECK_FAIL; bit++)
        if (r->plan.where != DPF_NOISE_NOWHERE && check_release_has(r, bit))
            measured += judge_block(check, r, worker, bit, &claim);
    worker_free(worker);
    if (!measured && r->plan.where != DPF_NOISE_NOWHERE)
        check_skip(check,
                   claim.unmeasured < 0
                       ? "its events state no guarantee"
                       : "not measured: events of kind %s have no statement that this rule knows",
                   claim.unmeasured < 0 ? "" : dpf_event_kind_name(claim.unmeasured));
}

void check_rule_privacy(struct check *check)
{
    check_each_release(check, look_privacy);
}
