/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of mechanisms: noise is what the plan declares, estimates are unbiased, and nothing is
 * encoded that integers cannot hold. Statistical rules run with a fixed key (--seed) and allow six
 * standard errors, measured over independent draws, so that correlation within a draw does no harm.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/check_release.h"
#include "plugin/role_tables.h"

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

/* Shape 0 is a gradient; shape 1 a quadratic with three blocks, which add up to as many numbers; shape 2 has a Gram
   row as well. */
static void shape_query(dpf_query *query, int shape)
{
    *query = (dpf_query){.size = sizeof *query,
                         .form = DPF_FORM_GRADIENT,
                         .dimension = WIDTH,
                         .width = WIDTH,
                         .support = DPF_SUPPORT_OBSERVED,
                         .n_blocks = 1};
    query->blocks[0] = (dpf_block){.kind = DPF_BLOCK_GRADIENT, .length = WIDTH};
    if (shape == 0)
        return;
    query->form = DPF_FORM_QUADRATIC;
    query->dimension = 2;
    query->has_gram = shape == 2;
    query->n_blocks = BLOCKS;
    query->blocks[0] = (dpf_block){.kind = DPF_BLOCK_QUADRATIC, .layout = DPF_LAYOUT_PACKED, .length = 3};
    query->blocks[1] = (dpf_block){.kind = DPF_BLOCK_LINEAR, .offset = 3, .length = 2};
    query->blocks[2] = (dpf_block){.kind = DPF_BLOCK_COUNT, .offset = 5, .length = 1};
}

static void describe(struct release *r, int unit, int adjacency, int parties, double sensitivity)
{
    static const dpf_joint_norms none = {.size = sizeof none};
    shape_query(&r->query, r->shape);
    for (int b = 0; b < BLOCKS; b++) {
        fill(&r->blocks[b], sensitivity * (b == 1 ? 3 : 1));
        fill(&r->gram[b], sensitivity * (b == 1 ? 1 : 2));
    }
    r->parties = parties;
    for (int i = 0; i < ROWS; i++)
        r->contributors[i] = parties;
    r->release = (dpf_release){.size = sizeof r->release,
                               .side = DPF_SIDE_ITEMS,
                               .query = &r->query,
                               .rows = ROWS,
                               .unit = unit,
                               .adjacency = adjacency,
                               .blocks = r->blocks,
                               .gram = r->query.has_gram ? r->gram : NULL,
                               .joint = &none,
                               .n_parties = parties,
                               .min_honest = parties,
                               .noise_factor = 1,
                               .rounds = RUN_ROUNDS,
                               .separation = RUN_SEPARATION,
                               .participations = RUN_PARTICIPATIONS,
                               .gram_share = GRAM_SHARE};
    memset(&r->plan, 0, sizeof r->plan);
    r->plan.size = sizeof r->plan;
}

static dpf_status make_plan(struct release *r, struct dpf_error *error)
{
    dpf_status status = table(r->instance)->plan(r->instance->self, &r->release, &r->plan);
    instance_result(r->instance, status, "plan", error);
    return status;
}

dpf_status check_release_parties(struct release *r, int parties, struct dpf_error *error)
{
    describe(r, r->release.unit, r->release.adjacency, parties, 1.0);
    return make_plan(r, error);
}

/* A planned release; first for users, then for records. NULL with the rule skipped. */
static struct release *planned(struct check *check, int shape)
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
    r->key = check->privacy;
    struct check_source source = {check->seed};
    for (int i = 0; i < ROWS * WIDTH; i++)
        r->values[i] = check_uniform(&source, -0.05, 0.05);
    for (int t = 0; t < (shape ? 4 : 2); t++) {
        r->shape = shape == 0 ? 0 : t < 2 ? 2 : 1;
        /* Noise of each party in full: one party. Shares: as many as there are. */
        describe(r, tries[t % 2][0], tries[t % 2][1], MAX_PARTIES, 1.0);
        error.fault = DPF_FAULT_NONE;
        if (make_plan(r, &error) != DPF_OK)
            continue;
        if (r->plan.where == DPF_NOISE_IN_SHARES)
            return r;
        describe(r, tries[t % 2][0], tries[t % 2][1], 1, 1.0);
        if (make_plan(r, &error) == DPF_OK)
            return r;
    }
    if (shape == 0)
        check_skip(check, "makes no plan for the kit's release: %.400s", error.text);
    return NULL;
}

/* ---- blocks by their bits ---- */

int check_release_has(const struct release *r, int bit)
{
    return bit % DPF_GRAM_BIT < r->query.n_blocks && (bit < DPF_GRAM_BIT || r->query.has_gram);
}

double check_release_scale(const struct release *r, int bit)
{
    return (bit < DPF_GRAM_BIT ? r->plan.scale : r->plan.gram_scale)[bit % DPF_MAX_BLOCKS];
}

double check_release_variance(const struct release *r, int bit)
{
    return (bit < DPF_GRAM_BIT ? r->plan.variance : r->plan.gram_variance)[bit % DPF_MAX_BLOCKS];
}

double check_release_grid(const struct release *r, int bit)
{
    return (bit < DPF_GRAM_BIT ? r->plan.grid : r->plan.gram_grid)[bit % DPF_MAX_BLOCKS];
}

const dpf_norms *check_release_norms(const struct release *r, int bit)
{
    const dpf_sensitivity *sensitivity = &(bit < DPF_GRAM_BIT ? r->blocks : r->gram)[bit % DPF_GRAM_BIT];
    return &sensitivity->at[r->release.unit][r->release.adjacency];
}

const char *check_release_name(int bit, char out[48])
{
    snprintf(out, 48, bit < DPF_GRAM_BIT ? "block %d" : "block %d of the Gram row", bit % DPF_GRAM_BIT);
    return out;
}

dpf_event *check_release_events(struct check *check, const struct release *r, int32_t *n)
{
    dpf_event *events = check_keep(check, MAX_EVENTS * sizeof *events);
    struct dpf_error ignored = {0};
    *n = 0;
    if (!events)
        return NULL;
    const dpf_status status =
        table(r->instance)->events(r->instance->self, &r->release, &r->plan, events, MAX_EVENTS, n);
    return instance_result(r->instance, status, "events", &ignored) == 0 && *n >= 0 && *n <= MAX_EVENTS
               ? events
               : NULL;
}

/* Both shapes, as far as the mechanism plans them. */
void check_each_release(struct check *check, void (*look)(struct check *check, struct release *r))
{
    for (int shape = 0; shape < 2; shape++) {
        struct release *r = planned(check, shape);
        enum check_outcome before = check->outcome;
        if (r)
            look(check, r);
        if (shape > 0 && before == CHECK_PASS && check->outcome == CHECK_SKIP)
            check->outcome = CHECK_PASS; /* the other shape was judged */
    }
}

static dpf_encoded integers_of(int64_t *values, int64_t first, int64_t count, int survivors)
{
    return (dpf_encoded){.size = sizeof(dpf_encoded),
                         .width = WIDTH,
                         .n_rows = count,
                         .first_row = first,
                         .total_rows = ROWS,
                         .values = values,
                         .stride = WIDTH,
                         .survivors = survivors};
}

dpf_status check_release_encode(const struct release *r, struct worker *worker, uint32_t draw, uint32_t party,
                                const double *values, int64_t first, int64_t count, int64_t *out)
{
    dpf_encoded integers = integers_of(out, first, count, 1);
    if (table(r->instance)->flags & DPF_MECHANISM_CONTRIBUTORS)
        integers.contributors = r->contributors + first;
    dpf_call *call = worker_call(worker, r->instance, (int32_t)draw, draw, party);
    return table(r->instance)->encode(r->instance->self, call, &r->plan, &r->query, values, WIDTH, &integers);
}

dpf_status check_release_decode(const struct release *r, struct worker *worker, uint32_t draw, int64_t *sums,
                                int64_t first, int64_t count, double *out)
{
    dpf_encoded integers = integers_of(sums, first, count, r->parties);
    dpf_call *call = worker_call(worker, r->instance, (int32_t)draw, draw, DPF_PARTY_AGGREGATE);
    struct check_rows rows;
    if (check_rows_open(r, first, count, &rows) != 0)
        return DPF_E_MEMORY;
    integers.state = rows.state; /* of no earlier round */
    const dpf_status status =
        table(r->instance)->decode(r->instance->self, call, &r->plan, &r->query, &integers, out, WIDTH);
    check_rows_close(&rows);
    return status;
}

/* ---- runs ---- */

int check_is_correlated(const struct release *r)
{
    return table(r->instance)->correlation != NULL;
}

int check_rows_open(const struct release *r, int64_t first, int64_t count, struct check_rows *out)
{
    *out = (struct check_rows){.first = first, .count = count};
    if (!table(r->instance)->row_state)
        return 0;
    out->bytes = table(r->instance)->row_state(r->instance->self, &r->plan, &r->query);
    out->state = check_guarded((size_t)(out->bytes * (uint64_t)count) + 1);
    if (!out->state)
        return -1;
    memset(out->state, 0, (size_t)(out->bytes * (uint64_t)count));
    return 0;
}

void check_rows_close(struct check_rows *rows)
{
    if (rows->state)
        check_guarded_free(rows->state);
    rows->state = NULL;
}

dpf_status check_rows_round(const struct release *r, struct worker *worker, struct check_rows *rows,
                            uint32_t round, const double *values, double *out)
{
    int64_t sums[ROWS * WIDTH];
    dpf_encoded integers = integers_of(sums, rows->first, rows->count, 1);
    integers.state = rows->state;
    if (table(r->instance)->flags & DPF_MECHANISM_CONTRIBUTORS)
        integers.contributors = r->contributors;
    dpf_call *call = worker_call(worker, r->instance, (int32_t)round, round, 0);
    dpf_status status =
        table(r->instance)->encode(r->instance->self, call, &r->plan, &r->query, values, WIDTH, &integers);
    call = worker_call(worker, r->instance, (int32_t)round, round, DPF_PARTY_AGGREGATE);
    return status != DPF_OK
               ? status
               : table(r->instance)
                     ->decode(r->instance->self, call, &r->plan, &r->query, &integers, out, WIDTH);
}

struct random_root *check_release_rekey(const struct release *r, uint32_t run)
{
    struct dpf_error ignored = {0};
    struct random_root *root = random_root_seeded(run, "kit", &ignored);
    if (root)
        instance_rekey(r->instance, root);
    return root;
}

void check_release_unkey(const struct release *r, struct random_root *root)
{
    instance_rekey(r->instance, r->key);
    random_root_free(root);
}

/* The first round of a run under a key of its own: there are only so many rounds. */
static dpf_status first_round(const struct release *r, struct worker *worker, uint32_t draw,
                              const double *values, int64_t first, int64_t count, double *out)
{
    struct check_rows rows;
    struct random_root *root = check_release_rekey(r, draw);
    dpf_status status = root && check_rows_open(r, first, count, &rows) == 0 ? DPF_OK : DPF_E_MEMORY;
    if (status == DPF_OK) {
        status = check_rows_round(r, worker, &rows, 0, values, out);
        check_rows_close(&rows);
    }
    check_release_unkey(r, root);
    return status;
}

dpf_status check_release_estimate(const struct release *r, struct worker *worker, uint32_t draw,
                                  const double *values, int64_t first, int64_t count, double *out)
{
    int64_t message[ROWS * WIDTH], sums[ROWS * WIDTH] = {0};
    if (check_is_correlated(r))
        return first_round(r, worker, draw, values, first, count, out);
    dpf_status status = DPF_OK;
    for (int p = 0; p < r->parties && status == DPF_OK; p++) {
        status = check_release_encode(r, worker, draw, (uint32_t)p, values, first, count, message);
        for (int64_t i = 0; i < count * WIDTH && status == DPF_OK; i++) {
            uint64_t sum = (uint64_t)sums[i] + (uint64_t)message[i];
            sums[i] = (int64_t)(r->plan.modulus ? sum % r->plan.modulus : sum);
        }
    }
    return status == DPF_OK ? check_release_decode(r, worker, draw, sums, first, count, out) : status;
}

/* ---- scenarios ---- */

static dpf_status run_encode(const struct scenario *scenario, struct worker *worker, int64_t first,
                             int64_t count, void *out)
{
    const struct release *r = scenario->data;
    return check_release_encode(r, worker, 3, 0, r->values + first * WIDTH, first, count, out);
}

static dpf_status run_decode(const struct scenario *scenario, struct worker *worker, int64_t first,
                             int64_t count, void *out)
{
    const struct release *r = scenario->data;
    return check_release_decode(r, worker, 3, r->sums + first * WIDTH, first, count, out);
}

static void poison_values(const struct scenario *scenario, double value)
{
    ((struct release *)scenario->data)->values[0] = value;
}

int check_mechanism_scenario(struct check *check, int index, struct scenario *out)
{
    if (index > 3)
        return 0;
    int shape = index / 2;
    struct release *r = planned(check, shape);
    index %= 2;
    struct worker *worker = r ? worker_new(0, 1) : NULL;
    if (!worker)
        return -1;
    *out = (struct scenario){
        .n = ROWS, .unit_bytes = WIDTH * sizeof(double), .strict = 1, .instance = r->instance, .data = r};
    snprintf(out->name, sizeof out->name, "%s (%s)", index ? "decode" : "encode",
             shape ? "quadratic" : "gradient");
    out->run = index ? run_decode : run_encode;
    out->poison = index ? NULL : poison_values;
    dpf_status status = index ? check_release_encode(r, worker, 3, 0, r->values, 0, ROWS, r->sums) : DPF_OK;
    worker_free(worker);
    return status == DPF_OK ? 1 : -1;
}

/* ---- the plan ---- */

static int is_power_of_two(double x)
{
    int exponent;
    return x > 0 && isfinite(x) && frexp(x, &exponent) == 0.5;
}

static void look_at_block(struct check *check, const dpf_noise_plan *plan, int b)
{
    if (!(plan->grid[b] > 0) || isinf(plan->grid[b]))
        check_fail(check, "grid of block %d is %g", b, plan->grid[b]);
    else if (!plan->modulus && !is_power_of_two(plan->grid[b]))
        check_fail(check, "grid %g of additive noise is not a power of two", plan->grid[b]);
    if (!(plan->scale[b] >= 0) || isinf(plan->scale[b]))
        check_fail(check, "scale of block %d is %g", b, plan->scale[b]);
    if (!(plan->variance[b] >= 0) || isinf(plan->variance[b]))
        check_fail(check, "variance of block %d is %g", b, plan->variance[b]);
}

static void look_plan(struct check *check, struct release *r)
{
    const dpf_noise_plan *plan = &r->plan;
    if (plan->where < DPF_NOISE_NOWHERE || plan->where > DPF_NOISE_IN_SHARES)
        check_fail(check, "where is %d, not one of DPF_NOISE_*", (int)plan->where);
    if (plan->n_blocks != r->query.n_blocks)
        check_fail(check, "n_blocks is %d, the query has %d", (int)plan->n_blocks, (int)r->query.n_blocks);
    for (int b = 0; b < r->query.n_blocks; b++)
        look_at_block(check, plan, b);
    for (int b = r->query.n_blocks; b < DPF_MAX_BLOCKS; b++)
        if (plan->grid[b] != 0 || plan->scale[b] != 0 || plan->variance[b] != 0)
            check_fail(check, "the plan has numbers for block %d, the query has %d: count blocks from 0", b,
                       (int)r->query.n_blocks);
    if (!(plan->wrap_bound >= 0 && plan->wrap_bound < 1))
        check_fail(check, "wrap_bound is %g", plan->wrap_bound);
    int32_t lifetime = mechanism_lifetime(table(r->instance), r->instance->self);
    if (lifetime < DPF_LIFETIME_RUN || lifetime > DPF_LIFETIME_SOLVE)
        check_fail(check, "lifetime %d is not one of DPF_LIFETIME_*", (int)lifetime);
    double budget = mechanism_budget(table(r->instance), r->instance->self);
    if (!isnan(budget) && !(budget > 0))
        check_fail(check, "budget is %g, neither positive nor NaN", budget);
}

/* Sensitivities that nobody knows or bounds must not lead to noise that looks like privacy. */
static void look_unknown(struct check *check, struct release *r)
{
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
        int32_t n = 0;
        const dpf_event *events = check_release_events(check, r, &n);
        int claims = 0;
        for (int32_t e = 0; events && e < n; e++)
            claims |= events[e].kind != DPF_EVENT_NON_PRIVATE && events[e].kind != DPF_EVENT_UNSUPPORTED &&
                      isfinite(events[e].sensitivity.at[r->release.unit][r->release.adjacency].l1);
        if (claims)
            check_fail(check, "plans noise, and states an event with a guarantee, for a sensitivity of %g",
                       values[i]);
    }
}

static void look_monotone(struct check *check, struct release *r)
{
    double before[DPF_BLOCK_BITS] = {0};
    const int unit = r->release.unit, adjacency = r->release.adjacency, parties = r->parties,
              where = r->plan.where;
    char name[48];
    for (double s = 1; s <= 16; s *= 2) {
        struct dpf_error error = {0};
        describe(r, unit, adjacency, parties, s);
        if (make_plan(r, &error) != DPF_OK)
            return;
        for (int bit = 0; bit < DPF_BLOCK_BITS && where != DPF_NOISE_NOWHERE; bit++) {
            if (!check_release_has(r, bit))
                continue;
            const double variance = check_release_variance(r, bit);
            if (variance < before[bit])
                check_fail(check, "%s: the variance goes from %g to %g when the sensitivity doubles",
                           check_release_name(bit, name), before[bit], variance);
            before[bit] = variance;
        }
    }
}

/* One vector of noise for each index; every pair of them must differ. The Gram row may have none. */
static void look_distinct(struct check *check, struct release *r)
{
    enum { N = 3 * 2 * ROWS };
    struct worker *worker = worker_new(0, 1);
    double *noise = check_keep(check, N * WIDTH * sizeof *noise);
    const int64_t rows = r->plan.gram_variance[0] > 0 ? ROWS : check_release_rows(r);
    if (!worker || !noise)
        return;
    if (r->plan.variance[0] < 1e4 * r->plan.grid[0] * r->plan.grid[0]) {
        check_skip(check, "the noise has too few values to be told apart");
        worker_free(worker);
        return;
    }
    memset(r->values, 0, ROWS * WIDTH * sizeof *r->values);
    int64_t n = 0;
    for (uint32_t draw = 0; draw < 3; draw++)
        for (uint32_t party = 0; party < (r->plan.where == DPF_NOISE_AT_SUM ? 1 : 2); party++, n += rows) {
            dpf_status status = check_release_encode(r, worker, draw, party, r->values, 0, rows, r->sums);
            if (status == DPF_OK)
                status = check_release_decode(r, worker, draw, r->sums, 0, rows, noise + n * WIDTH);
            if (status != DPF_OK)
                check_fail(check, "fails (status %d)", (int)status);
        }
    worker_free(worker);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (memcmp(noise + i * WIDTH, noise + j * WIDTH, WIDTH * sizeof *noise) == 0) {
                check_fail(check, "rows %d and %d get the same noise: not every part of the index is read",
                           (int)j, (int)i);
                return;
            }
}

static void look_range(struct check *check, struct release *r)
{
    struct worker *worker = worker_new(0, 1);
    if (!worker)
        return;
    const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e300, -1e300};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        int64_t out[WIDTH];
        double row[WIDTH] = {0};
        row[WIDTH - 1] = values[i];
        dpf_status status = check_release_encode(r, worker, 0, 0, row, 0, 1, out);
        struct dpf_error ignored = {0};
        instance_result(r->instance, status, NULL, &ignored);
        /* A mechanism that clips to public bounds may take a finite value of any size. */
        if (status == DPF_OK && !(isfinite(values[i]) && r->plan.modulus))
            check_fail(check, "encode accepts %g", values[i]);
    }
    worker_free(worker);
}

static void rule_plan(struct check *check)
{
    check_each_release(check, look_plan);
}

static void rule_unknown(struct check *check)
{
    check_each_release(check, look_unknown);
}

static void rule_monotone(struct check *check)
{
    check_each_release(check, look_monotone);
}

static void rule_distinct(struct check *check)
{
    check_each_release(check, look_distinct);
}

static void rule_range(struct check *check)
{
    check_each_release(check, look_range);
}

static const struct check_rule rules[] = {
    {"mechanism.plan", DPF_ROLE_MECHANISM, rule_plan, "the plan's numbers are possible ones"},
    {"mechanism.unknown", DPF_ROLE_MECHANISM, rule_unknown,
     "unknown and unbounded sensitivities get no guarantee"},
    {"mechanism.monotone", DPF_ROLE_MECHANISM, rule_monotone, "a larger sensitivity never gets less noise"},
    {"mechanism.events", DPF_ROLE_MECHANISM, check_rule_events,
     "events cover every block of the release, its sensitivity and its noise"},
    {"mechanism.noise", DPF_ROLE_MECHANISM, check_rule_mechanism_noise,
     "the noise of each block, row and number is what plan and events state, and its own"},
    {"mechanism.privacy", DPF_ROLE_MECHANISM, check_rule_privacy,
     "what events state holds for neighbours, as far as it can be measured"},
    {"mechanism.correlation", DPF_ROLE_MECHANISM, check_rule_correlation,
     "noise between rounds is correlated as stated, and not otherwise"},
    {"mechanism.distinct", DPF_ROLE_MECHANISM, rule_distinct,
     "noise differs between rows, draws and parties"},
    {"mechanism.range", DPF_ROLE_MECHANISM, rule_range, "NaN, infinity and huge values are refused"},
};
const struct check_rules check_mechanism_rules = CHECK_RULES(rules);
