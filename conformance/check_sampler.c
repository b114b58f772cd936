/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of samplers: what is drawn agrees with what is declared. */
#include <math.h>
#include <string.h>

#include "conformance/check_scenario.h"
#include "plugin/role_tables.h"

#define N_USERS 400
#define N_ITEMS 50

/* Inputs of a draw; records are spread over users and items, privacy weights over [0.5, 1]. */
struct draw_inputs {
    int32_t *users;
    int32_t *items;
    float *values;
    float *privacy_weights;
    uint64_t *keys; /* of parties */
    float *factors[2];
    dpf_factors user_factors;
    dpf_factors item_factors;
    int64_t n;
    uint32_t draw;
};

static const dpf_sampler *table(const struct instance *instance)
{
    return instance->functions;
}

static dpf_status epsilon_at_weight(void *context, double weight, double *epsilon)
{
    (void)context;
    *epsilon = fabs(weight);
    return DPF_OK;
}

static void fill_factors(struct check_source *source, float *data, dpf_factors *view, int64_t rows)
{
    *view = (dpf_factors){.data = data, .rows = rows, .stride = 16, .cols = 4};
    for (int64_t r = 0; r < rows; r++)
        for (int c = 0; c < 4; c++)
            data[r * 16 + c] = (float)check_uniform(source, -1, 1);
}

static struct draw_inputs *make_inputs(struct check *check, int64_t n)
{
    struct check_source source = {check->seed};
    struct draw_inputs *in = check_keep(check, sizeof *in);
    if (!in)
        return NULL;
    in->n = n;
    in->users = check_keep(check, (size_t)n * sizeof *in->users);
    in->items = check_keep(check, (size_t)n * sizeof *in->items);
    in->values = check_keep(check, (size_t)n * sizeof *in->values);
    in->privacy_weights = check_keep(check, (size_t)n * sizeof *in->privacy_weights);
    in->keys = check_keep(check, (size_t)n * sizeof *in->keys);
    in->factors[0] = check_keep(check, N_USERS * 16 * sizeof(float));
    in->factors[1] = check_keep(check, N_ITEMS * 16 * sizeof(float));
    if (!in->users || !in->items || !in->values || !in->privacy_weights || !in->keys || !in->factors[0] ||
        !in->factors[1])
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        in->users[i] = (int32_t)(i / N_ITEMS % N_USERS);
        in->items[i] = (int32_t)(i % N_ITEMS);
        in->values[i] = (float)(1 + check_next(&source) % 5);
        in->privacy_weights[i] = (float)check_uniform(&source, 0.5, 1.0);
    }
    for (int64_t i = 0; i < n; i++)
        in->keys[i] = check_next(&source);
    fill_factors(&source, in->factors[0], &in->user_factors, N_USERS);
    fill_factors(&source, in->factors[1], &in->item_factors, N_ITEMS);
    return in;
}

/* An instance that is prepared, or NULL with the rule skipped. */
static struct instance *prepared(struct check *check, int64_t n_parties, int64_t n_records)
{
    struct instance *instance = check_instance(check);
    if (!instance)
        return NULL;
    dpf_sampler_setup setup = {.size = sizeof setup,
                               .side = DPF_SIDE_ITEMS,
                               .n_parties = n_parties,
                               .n_records = n_records,
                               .budget = 1.0,
                               .epsilon_at_weight = epsilon_at_weight,
                               .privacy_weight_lo = 0.5,
                               .privacy_weight_hi = 1.0,
                               .privacy_weight_mean = 0.75};
    dpf_status status = table(instance)->prepare ? table(instance)->prepare(instance->self, &setup) : DPF_OK;
    struct dpf_error error = {0};
    if (instance_result(instance, status, "prepare", &error) == 0)
        return instance;
    check_skip(check, "prepare fails: %.400s", error.text);
    return NULL;
}

static dpf_status run_draw(const struct scenario *scenario, struct worker *worker, int64_t first,
                           int64_t count, void *out)
{
    const struct draw_inputs *in = scenario->data;
    const dpf_sampler *sampler = table(scenario->instance);
    dpf_draw draw = {.size = sizeof draw, .level = sampler->level, .n = count};
    if (sampler->level == DPF_LEVEL_PARTY) {
        draw.first = first;
        draw.keys = in->keys + first;
    } else {
        draw.users = in->users + first;
        draw.items = in->items + first;
        draw.values = in->values + first;
        draw.privacy_weights = in->privacy_weights + first;
        draw.user_factors = &in->user_factors;
        draw.item_factors = &in->item_factors;
        draw.other_l1 = 1;
    }
    dpf_call *call =
        worker_call(worker, scenario->instance, (int32_t)in->draw, in->draw, DPF_PARTY_AGGREGATE);
    return sampler->draw(scenario->instance->self, call, &draw, out);
}

static void poison_values(const struct scenario *scenario, double value)
{
    struct draw_inputs *in = scenario->data;
    in->values[0] = (float)value;
    in->privacy_weights[0] = (float)value;
}

static int finite_weights(const struct scenario *scenario, const void *out)
{
    return check_finite_f(out, scenario->n);
}

static int make_scenario(struct check *check, int64_t n, struct scenario *out)
{
    struct instance *instance = prepared(check, n, n);
    if (!instance)
        return -1;
    *out = (struct scenario){
        .name = "draw", .n = n, .unit_bytes = sizeof(float), .instance = instance, .run = run_draw};
    out->data = make_inputs(check, n);
    if (table(instance)->level == DPF_LEVEL_RECORD) {
        out->poison = poison_values;
        out->finite = finite_weights;
        out->strict = 1;
    }
    return out->data ? 1 : -1;
}

int check_sampler_scenario(struct check *check, int index, struct scenario *out)
{
    return index == 0 ? make_scenario(check, 200, out) : 0;
}

/* ---- what is declared ---- */

static int described(struct check *check, struct instance *instance, dpf_sampling *sampling)
{
    *sampling = (dpf_sampling){0};
    struct dpf_error error = {0};
    if (instance_result(instance, table(instance)->describe(instance->self, sampling), "describe", &error) !=
        0)
        return check_fail(check, "%s", error.text);
    if (sampling->kind < DPF_SAMPLING_NONE || sampling->kind > DPF_SAMPLING_CYCLIC)
        return check_fail(check, "kind %d is not one of DPF_SAMPLING_*", (int)sampling->kind);
    if (sampling->unit < 0 || sampling->unit >= DPF_N_UNITS)
        return check_fail(check, "unit %d is not one of DPF_UNIT_*", (int)sampling->unit);
    if (sampling->hidden_from < -1 || sampling->hidden_from > DPF_OBSERVER_PARTIES)
        return check_fail(check, "hidden_from %d is not an observer", (int)sampling->hidden_from);
    if (!(sampling->rate >= 0 && sampling->rate <= 1))
        return check_fail(check, "rate %g is not a probability", sampling->rate);
    if (sampling->separation < 0 || (sampling->kind == DPF_SAMPLING_CYCLIC && sampling->separation < 1))
        return check_fail(check, "separation %lld is not a number of rounds",
                          (long long)sampling->separation);
    if (isnan(sampling->weight_max) || sampling->weight_max < 0)
        return check_fail(check, "weight_max %g is not a bound", sampling->weight_max);
    return 0;
}

static void rule_describe(struct check *check)
{
    dpf_sampling sampling;
    struct instance *instance = prepared(check, 20000, 20000);
    if (!instance || described(check, instance, &sampling) != 0)
        return;
    int32_t lifetime = sampler_lifetime(table(instance), instance->self);
    if (lifetime < DPF_LIFETIME_RUN || lifetime > DPF_LIFETIME_SOLVE)
        check_fail(check, "lifetime %d is not one of DPF_LIFETIME_*", (int)lifetime);
}

static void judge_rate(struct check *check, const dpf_sampling *sampling, double drawn, double n)
{
    double rate = sampling->rate, seen = drawn / n;
    double slack = 6 * sqrt(fmax(rate * (1 - rate), 1e-4) / n) + 1 / n;
    switch (sampling->kind) {
    case DPF_SAMPLING_POISSON:
    case DPF_SAMPLING_FIXED:
    case DPF_SAMPLING_CYCLIC:
        if (fabs(seen - rate) > slack)
            check_fail(check, "%.5f of the units were drawn, declared are %.5f (six sigmas are %.5f)", seen,
                       rate, slack);
        break;
    case DPF_SAMPLING_NONE:
        if (drawn < n)
            check_fail(check, "units were left out although everybody is declared to take part");
        break;
    default: /* the rate is the largest of several */
        if (seen > rate + slack)
            check_fail(check, "%.5f of the units were drawn, declared are at most %.5f", seen, rate);
    }
}

static void rule_rate(struct check *check)
{
    enum { N = 20000 };
    dpf_sampling sampling;
    struct scenario scenario;
    if (make_scenario(check, N, &scenario) != 1 || described(check, scenario.instance, &sampling) != 0)
        return;
    float *weights = check_keep(check, N * sizeof *weights);
    struct worker *worker = worker_new(0, 1);
    if (!weights || !worker)
        return;
    dpf_status status = scenario.run(&scenario, worker, 0, N, weights);
    worker_free(worker);
    if (status != DPF_OK) {
        check_fail(check, "draw fails (status %d)", (int)status);
        return;
    }
    double drawn = 0;
    for (int i = 0; i < N; i++) {
        if (!(weights[i] >= 0) || isinf(weights[i])) {
            check_fail(check, "weight %g is negative or not finite", (double)weights[i]);
            return;
        }
        if ((double)weights[i] > sampling.weight_max * (1 + 1e-6)) {
            check_fail(check, "weight %g exceeds the declared weight_max %g", (double)weights[i],
                       sampling.weight_max);
            return;
        }
        drawn += weights[i] > 0;
    }
    judge_rate(check, &sampling, drawn, N);
}

/* Nobody is drawn more often than stated, over many rounds; nor as often as nobody else is. */
static void judge_units(struct check *check, const struct scenario *scenario, const dpf_sampling *sampling,
                        struct worker *worker)
{
    enum { UNITS = 260, MANY = 400 };
    struct draw_inputs *in = scenario->data;
    double drawn[UNITS] = {0}, pairs = 0;
    float weights[UNITS];
    const int evenly = sampling->kind == DPF_SAMPLING_POISSON || sampling->kind == DPF_SAMPLING_FIXED;
    const double rate = sampling->rate, slack = 6 * sqrt(fmax(rate * (1 - rate), 1e-3) / MANY) + 1e-9;
    for (uint32_t draw = 0; draw < MANY; draw++) {
        in->draw = draw;
        if (scenario->run(scenario, worker, 0, UNITS, weights) != DPF_OK) {
            check_fail(check, "draw fails");
            return;
        }
        for (int i = 0; i < UNITS; i++) {
            drawn[i] += weights[i] > 0;
            pairs += i > 0 && weights[i] > 0 && weights[i - 1] > 0;
            if (!(weights[i] >= 0) || (double)weights[i] > sampling->weight_max * (1 + 1e-6))
                check_fail(check, "draw %u, unit %d: weight %g, declared are 0 to %g", draw, i,
                           (double)weights[i], sampling->weight_max);
        }
    }
    in->draw = 0;
    for (int i = 0; i < UNITS && rate < 1; i++)
        if (drawn[i] / MANY > rate + slack || (evenly && drawn[i] / MANY < rate - slack))
            check_fail(check,
                       "unit %d is drawn in %.4f of %d rounds, declared are %.4f (six sigmas are %.4f)", i,
                       drawn[i] / MANY, (int)MANY, rate, slack);
    const double both = pairs / (MANY * (UNITS - 1.0)), squared = rate * rate;
    if (sampling->kind == DPF_SAMPLING_POISSON &&
        both > squared + 8 * sqrt(squared / (MANY * (UNITS - 1.0))) + 1e-4)
        check_fail(check,
                   "a unit and the next are drawn together in %.4f of the rounds, independent draws are "
                   "%.4f: one coin "
                   "serves two",
                   both, squared);
}

static void rule_units(struct check *check)
{
    dpf_sampling sampling;
    struct scenario scenario;
    if (make_scenario(check, 20000, &scenario) != 1 || described(check, scenario.instance, &sampling) != 0)
        return;
    if (sampler_lifetime(table(scenario.instance), scenario.instance->self) == DPF_LIFETIME_RUN ||
        sampling.kind == DPF_SAMPLING_CYCLIC) {
        check_skip(check, "who is drawn stays so, or takes turns");
        return;
    }
    struct worker *worker = worker_new(0, 1);
    if (worker)
        judge_units(check, &scenario, &sampling, worker);
    worker_free(worker);
}

/* Draws of different rounds must differ, or a lifetime of RUN is to be declared. */
static void rule_fresh(struct check *check)
{
    enum { N = 2000 };
    dpf_sampling sampling;
    struct scenario scenario;
    if (make_scenario(check, N, &scenario) != 1 || described(check, scenario.instance, &sampling) != 0)
        return;
    if (sampling.kind == DPF_SAMPLING_NONE || sampling.rate < 0.01 || sampling.rate > 0.99) {
        check_skip(check, "a rate of %g leaves nothing to chance", sampling.rate);
        return;
    }
    float *weights = check_keep(check, 2 * N * sizeof *weights);
    struct worker *worker = worker_new(0, 1);
    if (!weights || !worker)
        return;
    struct draw_inputs *in = scenario.data;
    for (uint32_t draw = 0; draw < 2; draw++) {
        in->draw = draw;
        if (scenario.run(&scenario, worker, 0, N, weights + draw * N) != DPF_OK)
            check_fail(check, "draw fails");
    }
    worker_free(worker);
    if (memcmp(weights, weights + N, N * sizeof *weights) == 0)
        check_fail(check, "two draws choose the same units: call.draw is not read");
}

/* Where it is stated that a unit's rounds are so far apart, none comes back sooner. */
static void rule_apart(struct check *check)
{
    enum { N = 2000, MOST_ROUNDS = 400 };
    dpf_sampling sampling;
    struct scenario scenario;
    if (make_scenario(check, N, &scenario) != 1 || described(check, scenario.instance, &sampling) != 0)
        return;
    if (sampling.separation <= 1) {
        check_skip(check, "no distance between two participations is stated");
        return;
    }
    float *weights = check_keep(check, N * sizeof *weights);
    int64_t *last = check_keep(check, N * sizeof *last);
    struct worker *worker = worker_new(0, 1);
    struct draw_inputs *in = scenario.data;
    const int64_t rounds = 3 * sampling.separation < MOST_ROUNDS ? 3 * sampling.separation : MOST_ROUNDS;
    for (int64_t t = 0; weights && last && worker && t < rounds && check->outcome != CHECK_FAIL; t++) {
        in->draw = (uint32_t)t;
        if (scenario.run(&scenario, worker, 0, N, weights) != DPF_OK)
            check_fail(check, "draw fails");
        for (int i = 0; i < N && check->outcome != CHECK_FAIL; i++) {
            if (weights[i] == 0)
                continue;
            if (last[i] && t + 1 - last[i] < sampling.separation)
                check_fail(check,
                           "a unit is drawn twice in %lld rounds in a row, stated are %lld between two draws",
                           (long long)(t + 2 - last[i]), (long long)sampling.separation);
            last[i] = t + 1;
        }
    }
    worker_free(worker);
}

static const struct check_rule rules[] = {
    {"sampler.describe", DPF_ROLE_SAMPLER, rule_describe, "declarations are among those that exist"},
    {"sampler.rate", DPF_ROLE_SAMPLER, rule_rate,
     "the share drawn and the weights agree with what is declared"},
    {"sampler.units", DPF_ROLE_SAMPLER, rule_units,
     "no unit is drawn more often than is stated, over many rounds"},
    {"sampler.fresh", DPF_ROLE_SAMPLER, rule_fresh, "another draw chooses other units"},
    {"sampler.apart", DPF_ROLE_SAMPLER, rule_apart, "no unit is drawn again sooner than is stated"},
};
const struct check_rules check_sampler_rules = CHECK_RULES(rules);
