/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of mechanisms: noise is what the plan declares, estimates are unbiased, and nothing is
 * encoded that integers cannot hold. Statistical rules run with a fixed key (--seed) and allow six
 * standard errors, measured over independent draws, so that correlation within a draw does no harm.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/check_scenario.h"

enum { ROWS = 130, WIDTH = 5, MAX_PARTIES = 16, DRAWS = 300, STAT_ROWS = 40, MAX_EVENTS = 64 };

/* A release with everything that it points to. */
struct release {
    struct instance *instance;
    dpf_query query;
    dpf_sensitivity block;
    dpf_release release;
    dpf_noise_plan plan;
    int parties;
    double *values; /* ROWS x WIDTH */
    int64_t *sums;
    int32_t contributors[ROWS]; /* every party sends every row */
};

static const dpf_mechanism *table(const struct instance *instance)
{
    return instance->functions;
}

static void fill(dpf_sensitivity *sensitivity, double scale)
{
    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++)
            sensitivity->at[u][a] = (dpf_norms){scale * 2, scale, scale};
}

static void describe(struct release *r, int unit, int adjacency, int parties, double sensitivity)
{
    r->query = (dpf_query){.size = sizeof r->query,
                           .form = DPF_FORM_GRADIENT,
                           .dimension = WIDTH,
                           .width = WIDTH,
                           .support = DPF_SUPPORT_OBSERVED,
                           .n_blocks = 1};
    r->query.blocks[0] = (dpf_block){.kind = DPF_BLOCK_GRADIENT, .length = WIDTH};
    fill(&r->block, sensitivity);
    r->parties = parties;
    for (int i = 0; i < ROWS; i++)
        r->contributors[i] = parties;
    r->release = (dpf_release){.size = sizeof r->release,
                               .side = DPF_SIDE_ITEMS,
                               .query = &r->query,
                               .rows = ROWS,
                               .unit = unit,
                               .adjacency = adjacency,
                               .blocks = &r->block,
                               .n_parties = parties,
                               .min_survivors = parties,
                               .noise_factor = 1};
    memset(&r->plan, 0, sizeof r->plan);
    r->plan.size = sizeof r->plan;
}

static dpf_status make_plan(struct release *r, struct dpf_error *error)
{
    dpf_status status = table(r->instance)->plan(r->instance->self, &r->release, &r->plan);
    instance_result(r->instance, status, "plan", error);
    return status;
}

/* A planned release; first for users, then for records. NULL with the rule skipped. */
static struct release *planned(struct check *check)
{
    static const int tries[][2] = {{DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE},
                                   {DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE}};
    struct dpf_error error = {0};
    struct release *r = check_keep(check, sizeof *r);
    if (!r || !(r->instance = check_instance(check)))
        return NULL;
    r->values = check_keep(check, ROWS * WIDTH * sizeof *r->values);
    r->sums = check_keep(check, ROWS * WIDTH * sizeof *r->sums);
    if (!r->values || !r->sums)
        return NULL;
    struct check_source source = {check->seed};
    for (int i = 0; i < ROWS * WIDTH; i++)
        r->values[i] = check_uniform(&source, -0.05, 0.05);
    for (int t = 0; t < 2; t++) {
        /* Noise of each party in full: one party. Shares: as many as there are. */
        describe(r, tries[t][0], tries[t][1], MAX_PARTIES, 1.0);
        error.fault = DPF_FAULT_NONE;
        if (make_plan(r, &error) != DPF_OK)
            continue;
        if (r->plan.where == DPF_NOISE_IN_SHARES)
            return r;
        describe(r, tries[t][0], tries[t][1], 1, 1.0);
        if (make_plan(r, &error) == DPF_OK)
            return r;
    }
    check_skip(check, "makes no plan for the kit's release: %.400s", error.text);
    return NULL;
}

static dpf_integers integers_of(int64_t *values, int64_t first, int64_t count, int survivors)
{
    return (dpf_integers){.size = sizeof(dpf_integers),
                          .width = WIDTH,
                          .n_rows = count,
                          .first_row = first,
                          .total_rows = ROWS,
                          .values = values,
                          .stride = WIDTH,
                          .survivors = survivors};
}

static dpf_status encode(const struct release *r, struct worker *worker, uint32_t draw, uint32_t party,
                         const double *values, int64_t first, int64_t count, int64_t *out)
{
    dpf_integers integers = integers_of(out, first, count, 1);
    if (table(r->instance)->flags & DPF_MECHANISM_CONTRIBUTORS)
        integers.contributors = r->contributors + first;
    dpf_call *call = worker_call(worker, r->instance, (int32_t)draw, draw, party);
    return table(r->instance)->encode(r->instance->self, call, &r->plan, &r->query, values, WIDTH, &integers);
}

static dpf_status decode(const struct release *r, struct worker *worker, uint32_t draw, int64_t *sums,
                         int64_t first, int64_t count, double *out)
{
    dpf_integers integers = integers_of(sums, first, count, r->parties);
    dpf_call *call = worker_call(worker, r->instance, (int32_t)draw, draw, DPF_PARTY_AGGREGATE);
    return table(r->instance)->decode(r->instance->self, call, &r->plan, &r->query, &integers, out, WIDTH);
}

/* The whole way for one draw: every party sends values, the sum is decoded. */
static dpf_status estimate(const struct release *r, struct worker *worker, uint32_t draw,
                           const double *values, int64_t count, double *out)
{
    int64_t message[STAT_ROWS * WIDTH], sums[STAT_ROWS * WIDTH] = {0};
    dpf_status status = DPF_OK;
    for (int p = 0; p < r->parties && status == DPF_OK; p++) {
        status = encode(r, worker, draw, (uint32_t)p, values, 0, count, message);
        for (int64_t i = 0; i < count * WIDTH && status == DPF_OK; i++) {
            uint64_t sum = (uint64_t)sums[i] + (uint64_t)message[i];
            sums[i] = (int64_t)(r->plan.modulus ? sum % r->plan.modulus : sum);
        }
    }
    return status == DPF_OK ? decode(r, worker, draw, sums, 0, count, out) : status;
}

/* ---- scenarios ---- */

static dpf_status run_encode(const struct scenario *scenario, struct worker *worker, int64_t first,
                             int64_t count, void *out)
{
    const struct release *r = scenario->data;
    return encode(r, worker, 3, 0, r->values + first * WIDTH, first, count, out);
}

static dpf_status run_decode(const struct scenario *scenario, struct worker *worker, int64_t first,
                             int64_t count, void *out)
{
    const struct release *r = scenario->data;
    return decode(r, worker, 3, r->sums + first * WIDTH, first, count, out);
}

static void poison_values(const struct scenario *scenario, double value)
{
    ((struct release *)scenario->data)->values[0] = value;
}

int check_mechanism_scenario(struct check *check, int index, struct scenario *out)
{
    if (index > 1)
        return 0;
    struct release *r = planned(check);
    struct dpf_error error = {0};
    struct worker *worker = r ? worker_new(0, 1, &error) : NULL;
    if (!worker)
        return -1;
    *out = (struct scenario){
        .n = ROWS, .unit_bytes = WIDTH * sizeof(double), .strict = 1, .instance = r->instance, .data = r};
    memcpy(out->name, index ? "decode" : "encode", 6);
    out->run = index ? run_decode : run_encode;
    out->poison = index ? NULL : poison_values;
    dpf_status status = index ? encode(r, worker, 3, 0, r->values, 0, ROWS, r->sums) : DPF_OK;
    worker_free(worker);
    return status == DPF_OK ? 1 : -1;
}

/* ---- the plan ---- */

static int is_power_of_two(double x)
{
    int exponent;
    return x > 0 && isfinite(x) && frexp(x, &exponent) == 0.5;
}

static void rule_plan(struct check *check)
{
    struct release *r = planned(check);
    if (!r)
        return;
    const dpf_noise_plan *plan = &r->plan;
    if (plan->where < DPF_NOISE_NOWHERE || plan->where > DPF_NOISE_IN_SHARES)
        check_fail(check, "where is %d, not one of DPF_NOISE_*", (int)plan->where);
    if (plan->n_blocks != r->query.n_blocks)
        check_fail(check, "n_blocks is %d, the query has %d", (int)plan->n_blocks, (int)r->query.n_blocks);
    if (!(plan->grid[0] > 0) || isinf(plan->grid[0]))
        check_fail(check, "grid is %g", plan->grid[0]);
    else if (!plan->modulus && !is_power_of_two(plan->grid[0]))
        check_fail(check, "grid %g of additive noise is no power of two", plan->grid[0]);
    if (!(plan->scale[0] >= 0) || isinf(plan->scale[0]))
        check_fail(check, "scale is %g", plan->scale[0]);
    if (!(plan->variance[0] >= 0) || isinf(plan->variance[0]))
        check_fail(check, "variance is %g", plan->variance[0]);
    if (!(plan->wrap_bound >= 0 && plan->wrap_bound < 1))
        check_fail(check, "wrap_bound is %g", plan->wrap_bound);
    int32_t lifetime = table(r->instance)->lifetime(r->instance->self);
    if (lifetime < DPF_LIFETIME_RUN || lifetime > DPF_LIFETIME_SOLVE)
        check_fail(check, "lifetime %d is not one of DPF_LIFETIME_*", (int)lifetime);
    double budget = table(r->instance)->budget(r->instance->self);
    if (!isnan(budget) && !(budget > 0))
        check_fail(check, "budget is %g, neither positive nor NaN", budget);
}

/* Sensitivities that nobody knows or bounds must not lead to noise that looks like privacy. */
static void rule_unknown(struct check *check)
{
    struct release *r = planned(check);
    if (!r)
        return;
    if (r->plan.where == DPF_NOISE_NOWHERE) {
        check_skip(check, "adds no noise");
        return;
    }
    const double values[] = {(double)NAN, (double)INFINITY};
    for (int i = 0; i < 2; i++) {
        struct dpf_error error = {0};
        describe(r, r->release.unit, r->release.adjacency, r->parties, values[i]);
        if (make_plan(r, &error) != DPF_OK)
            continue;
        dpf_event events[MAX_EVENTS];
        int32_t n = 0;
        memset(events, 0, sizeof events);
        dpf_status status =
            table(r->instance)->events(r->instance->self, &r->release, &r->plan, events, MAX_EVENTS, &n);
        int claims = status == DPF_OK;
        for (int32_t e = 0; claims && e < n && e < MAX_EVENTS; e++)
            claims = events[e].kind != DPF_EVENT_NON_PRIVATE && events[e].kind != DPF_EVENT_UNSUPPORTED &&
                     isfinite(events[e].sensitivity.at[r->release.unit][r->release.adjacency].l1);
        if (claims)
            check_fail(check, "plans noise, and states an event with a guarantee, for a sensitivity of %g",
                       values[i]);
    }
}

static void rule_monotone(struct check *check)
{
    struct release *r = planned(check);
    if (!r)
        return;
    double before = r->plan.variance[0];
    int unit = r->release.unit, adjacency = r->release.adjacency, parties = r->parties, where = r->plan.where;
    for (double s = 2; s <= 16; s *= 2) {
        struct dpf_error error = {0};
        describe(r, unit, adjacency, parties, s);
        if (make_plan(r, &error) != DPF_OK)
            return;
        if (where != DPF_NOISE_NOWHERE && r->plan.variance[0] < before)
            check_fail(check, "the variance goes from %g to %g when the sensitivity doubles", before,
                       r->plan.variance[0]);
        before = r->plan.variance[0];
    }
}

static void look_at_event(struct check *check, const struct release *r, const dpf_event *event)
{
    const dpf_norms *has = &event->sensitivity.at[r->release.unit][r->release.adjacency];
    const dpf_norms *needs = &r->block.at[r->release.unit][r->release.adjacency];
    if (event->kind < DPF_EVENT_NO_OP || event->kind > DPF_EVENT_RANDOMIZED_RESPONSE) {
        check_fail(check, "an event has kind %d, not one of DPF_EVENT_*", (int)event->kind);
        return;
    }
    if (event->count < 1)
        check_fail(check, "an event has count %lld", (long long)event->count);
    if (event->kind < DPF_EVENT_LAPLACE || event->kind > DPF_EVENT_DISCRETE_GAUSSIAN)
        return;
    if (!(event->scale > 0) || isinf(event->scale))
        check_fail(check, "an event with noise has scale %g", event->scale);
    int laplace = event->kind == DPF_EVENT_LAPLACE || event->kind == DPF_EVENT_DISCRETE_LAPLACE;
    double stated = laplace ? has->l1 : has->l2, least = laplace ? needs->l1 : needs->l2;
    if (!(stated >= least))
        check_fail(check, "an event states a sensitivity of %g, the release has %g", stated, least);
    int discrete = event->kind == DPF_EVENT_DISCRETE_LAPLACE || event->kind == DPF_EVENT_DISCRETE_GAUSSIAN;
    if (discrete && !(event->grid > 0))
        check_fail(check, "an event on the grid has grid %g", event->grid);
}

static void rule_events(struct check *check)
{
    struct release *r = planned(check);
    if (!r)
        return;
    dpf_event *events = check_keep(check, MAX_EVENTS * sizeof *events);
    int32_t n = -1;
    if (!events)
        return;
    struct dpf_error error = {0};
    dpf_status status =
        table(r->instance)->events(r->instance->self, &r->release, &r->plan, events, MAX_EVENTS, &n);
    if (instance_result(r->instance, status, "events", &error) != 0) {
        check_fail(check, "%s", error.text);
        return;
    }
    if (n < 1 || n > MAX_EVENTS)
        check_fail(check, "%d events for a release that is not public", (int)n);
    for (int32_t i = 0; i < n && i < MAX_EVENTS; i++)
        look_at_event(check, r, &events[i]);
    if (!check_guards_hold(events))
        check_fail(check, "events writes outside its output");
    if (r->plan.where == DPF_NOISE_NOWHERE && n == 1 && events[0].kind != DPF_EVENT_NON_PRIVATE)
        check_fail(check, "adds no noise but states an event of kind %d", (int)events[0].kind);
}

/* ---- the noise ---- */

struct moments {
    double mean, mean_error;         /* of the error of one coordinate */
    double variance, variance_error; /* standard errors: from the spread over draws */
};

static dpf_status measure(const struct release *r, struct worker *worker, struct moments *out)
{
    double sum = 0, sum2 = 0, square = 0, square2 = 0, estimates[STAT_ROWS * WIDTH];
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        dpf_status status = estimate(r, worker, draw, r->values, STAT_ROWS, estimates);
        if (status != DPF_OK)
            return status;
        double m = 0, s = 0;
        for (int i = 0; i < STAT_ROWS * WIDTH; i++) {
            double error = estimates[i] - r->parties * r->values[i];
            m += error / (STAT_ROWS * WIDTH);
            s += error * error / (STAT_ROWS * WIDTH);
        }
        sum += m;
        sum2 += m * m;
        square += s;
        square2 += s * s;
    }
    out->mean = sum / DRAWS;
    out->mean_error = sqrt(fmax(sum2 / DRAWS - out->mean * out->mean, 0) / DRAWS);
    out->variance = square / DRAWS;
    out->variance_error = sqrt(fmax(square2 / DRAWS - out->variance * out->variance, 0) / DRAWS);
    return DPF_OK;
}

static void rule_noise(struct check *check)
{
    struct release *r = planned(check);
    struct dpf_error error = {0};
    struct worker *worker = r ? worker_new(0, 1, &error) : NULL;
    if (!worker)
        return;
    struct moments seen;
    dpf_status status = measure(r, worker, &seen);
    worker_free(worker);
    if (instance_result(r->instance, status, "encode and decode", &error) != 0) {
        check_fail(check, "%s", error.text);
        return;
    }
    double grid = r->plan.grid[0], declared = r->plan.variance[0];
    /* Rounding of each party's value may shift the mean by half a step. */
    if (fabs(seen.mean) > 6 * seen.mean_error + 0.5 * grid * r->parties)
        check_fail(check, "estimates are off by %g on average (standard error %g)", seen.mean,
                   seen.mean_error);
    double slack = 6 * seen.variance_error + 0.02 * declared + grid * grid * r->parties;
    if (fabs(seen.variance - declared) > slack)
        check_fail(check, "the noise has variance %g, the plan declares %g (allowed: +-%g)", seen.variance,
                   declared, slack);
}

/* One vector of noise for each index; every pair of them must differ. */
static void rule_distinct(struct check *check)
{
    enum { N = 3 * 2 * ROWS };
    struct release *r = planned(check);
    struct dpf_error error = {0};
    struct worker *worker = r ? worker_new(0, 1, &error) : NULL;
    double *noise = check_keep(check, N * WIDTH * sizeof *noise);
    if (!worker || !noise)
        return;
    if (r->plan.variance[0] < 1e4 * r->plan.grid[0] * r->plan.grid[0]) {
        check_skip(check, "the noise has too few values to be told apart");
        worker_free(worker);
        return;
    }
    memset(r->values, 0, ROWS * WIDTH * sizeof *r->values);
    int n = 0;
    for (uint32_t draw = 0; draw < 3; draw++)
        for (uint32_t party = 0; party < (r->plan.where == DPF_NOISE_AT_SUM ? 1 : 2); party++, n += ROWS) {
            dpf_status status = encode(r, worker, draw, party, r->values, 0, ROWS, r->sums);
            if (status == DPF_OK)
                status = decode(r, worker, draw, r->sums, 0, ROWS, noise + n * WIDTH);
            if (status != DPF_OK)
                check_fail(check, "fails (status %d)", (int)status);
        }
    worker_free(worker);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (memcmp(noise + i * WIDTH, noise + j * WIDTH, WIDTH * sizeof *noise) == 0) {
                check_fail(check, "rows %d and %d get the same noise: not every part of the index is read", j,
                           i);
                return;
            }
}

static void rule_range(struct check *check)
{
    struct release *r = planned(check);
    struct dpf_error error = {0};
    struct worker *worker = r ? worker_new(0, 1, &error) : NULL;
    if (!worker)
        return;
    const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e300, -1e300};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        int64_t out[WIDTH];
        double row[WIDTH] = {0};
        row[WIDTH - 1] = values[i];
        dpf_status status = encode(r, worker, 0, 0, row, 0, 1, out);
        struct dpf_error ignored = {0};
        instance_result(r->instance, status, NULL, &ignored);
        /* A mechanism that clips to public bounds may take a finite value of any size. */
        if (status == DPF_OK && !(isfinite(values[i]) && r->plan.modulus))
            check_fail(check, "encode accepts %g", values[i]);
    }
    worker_free(worker);
}

static const struct check_rule rules[] = {
    {"mechanism.plan", DPF_ROLE_MECHANISM, rule_plan, "the plan's numbers are possible ones"},
    {"mechanism.unknown", DPF_ROLE_MECHANISM, rule_unknown,
     "unknown and unbounded sensitivities get no guarantee"},
    {"mechanism.monotone", DPF_ROLE_MECHANISM, rule_monotone, "a larger sensitivity never gets less noise"},
    {"mechanism.events", DPF_ROLE_MECHANISM, rule_events,
     "events are complete and cover the release's sensitivity"},
    {"mechanism.noise", DPF_ROLE_MECHANISM, rule_noise,
     "estimates are unbiased, their variance is the declared one"},
    {"mechanism.distinct", DPF_ROLE_MECHANISM, rule_distinct,
     "noise differs between rows, draws and parties"},
    {"mechanism.range", DPF_ROLE_MECHANISM, rule_range, "NaN, infinity and huge values are refused"},
};
const struct check_rules check_mechanism_rules = CHECK_RULES(rules);
