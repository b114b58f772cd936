/* SPDX-License-Identifier: Apache-2.0 */
/*
 * importance.c - a record is kept with probability 1/w and then weighs w, with w as large as a target loss
 * allows.
 *
 * A record whose privacy loss at weight w is phi(w) has loss ln(1 + (e^phi(w) - 1) / w) once it is drawn in
 * secret (DPIMF, Theorem 2 and Eq. 22-23). Few records at a given loss is what Problem 1 asks for: w is the
 * end of the interval of admissible weights that begins at 1, found by bisection (Algorithm 3; its bracket
 * from the strong convexity of phi is replaced by doubling). The end that is returned meets the target.
 *
 * Where phi comes from decides what that is worth:
 *   mechanism      what the mechanism states. For additive noise phi(w) = w phi(1), and (e^phi(w) - 1) / w
 * grows with w: nothing is amplified. A target above phi(1) buys a smaller sample, no smaller noise.
 *   fixed-maximum  the mechanism's budget, whatever the weight: phi_max of the publication's Theorem 2. w is
 * the least that reaches the target. Problem 1 has no solution then: the more a record weighs the less it is
 * said to lose, and no weight is the largest. What weighted records do lose is more than that, so the target
 * is a claim; what is proved is in the ledger, which has weights in its sensitivities.
 *
 * With losses = norm a record's loss is smaller in proportion to the L1 norm of its row of the other side, as
 * a first-order coefficient's is (phi of the publication's section VI-B2), and small rows are kept less
 * often. Otherwise all records have one weight, which is uniform sampling.
 */
#include "record_draws.h"

enum { P_TARGET, P_PROFILE, P_LOSSES, P_BOUND, P_MAX_WEIGHT, P_COUNT };
enum { PROFILE_MECHANISM, PROFILE_FIXED };
enum { LOSSES_EQUAL, LOSSES_NORM };

#define LEVELS 256 /* of a row's share of the bound; a share is rounded up to the next */

static const dpf_enum_value profiles[] = {
    {"mechanism", "The mechanism's own loss by weight."},
    {"fixed-maximum",
     "The mechanism's budget at every weight, as published; not what a weighted record loses."},
};
static const dpf_enum_value losses_of[] = {
    {"equal", "Every record's loss is the largest one."},
    {"norm", "A record's loss is in proportion to the L1 norm of its row of the other side."},
};

static const dpf_param params[P_COUNT] = {
    [P_TARGET] = DPF_PARAM_REAL_F("target", 1.0, 0.0, 700.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                                  "Loss of a release after sampling."),
    [P_PROFILE] = DPF_PARAM_ENUM_F("profile", PROFILE_MECHANISM, profiles, DPF_PARAM_PRIVACY,
                                   "Loss of a record before sampling, by its weight."),
    [P_LOSSES] = DPF_PARAM_ENUM_F("losses", LOSSES_EQUAL, losses_of, DPF_PARAM_PRIVACY,
                                  "Whether records differ in their losses."),
    [P_BOUND] = DPF_PARAM_REAL_F("bound", 0.0, 0.0, 1e9, DPF_PARAM_PRIVACY, "",
                                 "losses = norm: rows of the other side of this L1 norm or more have the "
                                 "largest loss. 0: the norm for which the noise is chosen, which is private "
                                 "where bounds are empirical."),
    [P_MAX_WEIGHT] =
        DPF_PARAM_REAL_F("max-weight", 100.0, 1.0, 1e6, DPF_PARAM_PRIVACY, "", "Largest weight of a record."),
};

struct importance {
    struct record_draws draws;
    const dpf_value *values;
    float weights[LEVELS + 1]; /* by a row's share of the bound */
};

/* ---- the weight of a record ----------------------------------------------------------------------- */

/* What decides about one weight: the profile, scaled to the record. */
struct problem {
    const struct importance *importance;
    const dpf_sampler_setup *setup;
    double share;
};

/* (e^phi(w) - 1) / w - (e^target - 1): admissible if not positive. */
static dpf_status excess(const struct problem *problem, double weight, double *out)
{
    const dpf_value *values = problem->importance->values;
    double loss = problem->setup->budget;
    if (values[P_PROFILE].integer == PROFILE_MECHANISM) {
        const dpf_status status = problem->setup->epsilon_at_weight(problem->setup->context, weight, &loss);
        if (status != DPF_OK)
            return status;
    }
    const double left = expm1(loss * problem->share) / weight;
    *out = left - expm1(values[P_TARGET].real);
    if (!(loss >= 0))
        return problem->importance->draws.host->fail(problem->importance->draws.host, DPF_E_NUMERIC,
                                                     P_PROFILE,
                                                     "the mechanism's loss by weight is not a number");
    return DPF_OK;
}

/* Between a weight that is admissible and one that is not: the last admissible one. */
static dpf_status bisect(const struct problem *problem, double good, double bad, double *weight)
{
    dpf_status status = DPF_OK;
    for (int step = 0; step < 100 && status == DPF_OK; step++) {
        const double middle = 0.5 * (good + bad);
        double over;
        status = excess(problem, middle, &over);
        if (!(over > 0))
            good = middle;
        else
            bad = middle;
    }
    *weight = good;
    return status;
}

/* Weight 1 is admissible: how far does that go? */
static dpf_status largest_weight(const struct problem *problem, double *weight)
{
    const double most = problem->importance->values[P_MAX_WEIGHT].real;
    double good = 1;
    if (problem->importance->values[P_PROFILE].integer == PROFILE_FIXED) {
        *weight = 1; /* no need to sample */
        return DPF_OK;
    }
    while (good < most) {
        const double next = fmin(2 * good, most);
        double over;
        const dpf_status status = excess(problem, next, &over);
        if (status != DPF_OK)
            return status;
        if (over > 0)
            return bisect(problem, good, next, weight);
        good = next;
    }
    *weight = most;
    return DPF_OK;
}

/* Weight 1 is not admissible: where does it begin? */
static dpf_status least_weight(const struct problem *problem, double *weight)
{
    const dpf_host *host = problem->importance->draws.host;
    const double most = problem->importance->values[P_MAX_WEIGHT].real;
    for (double bad = 1; bad < most;) {
        const double next = fmin(2 * bad, most);
        double over;
        const dpf_status status = excess(problem, next, &over);
        if (status != DPF_OK)
            return status;
        if (!(over > 0))
            return bisect(problem, next, bad, weight);
        bad = next;
    }
    return host->fail(
        host, DPF_E_CONFIG, P_TARGET,
        "no weight up to max-weight meets the target: raise one of them, or lower the mechanism's "
        "budget; a loss that grows with the weight needs a target of at least the budget");
}

static dpf_status solve_weight(const struct problem *problem, float *out)
{
    double over, weight = 1;
    dpf_status status = excess(problem, 1, &over);
    if (status == DPF_OK)
        status = over > 0 ? least_weight(problem, &weight) : largest_weight(problem, &weight);
    if (status != DPF_OK)
        return status;
    /* float32 must stay on the admissible side. */
    *out = record_weight_below(weight);
    status = excess(problem, *out, &over);
    if (status == DPF_OK && over > 0)
        *out = nextafterf(*out, INFINITY);
    return status;
}

/* ---- the role ---------------------------------------------------------------------------------------- */

static dpf_status importance_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_value *values = given->values;
    struct importance *importance = *self;
    const dpf_status status = record_draws_open(&importance->draws, host);
    if (status != DPF_OK)
        return status;
    importance->values = values;
    for (int level = 0; level <= LEVELS; level++)
        importance->weights[level] = 1;
    return DPF_OK;
}

static dpf_status importance_prepare(void *self, const dpf_sampler_setup *setup)
{
    struct importance *importance = self;
    const dpf_host *host = importance->draws.host;
    importance->draws.side = setup->side;
    if (importance->values[P_PROFILE].integer == PROFILE_MECHANISM && !setup->epsilon_at_weight)
        return host->fail(
            host, DPF_E_CONFIG, P_PROFILE,
            "there is no mechanism that states losses by weight; use one that does, or profile = "
            "fixed-maximum");
    if (importance->values[P_PROFILE].integer == PROFILE_FIXED && !(setup->budget >= 0))
        return host->fail(host, DPF_E_CONFIG, P_PROFILE,
                          "profile = fixed-maximum needs a mechanism that has a budget");
    struct problem problem = {importance, setup, 1};
    dpf_status status = solve_weight(&problem, &importance->weights[LEVELS]);
    for (int level = LEVELS - 1; status == DPF_OK && level >= 0; level--) {
        importance->weights[level] = importance->weights[LEVELS];
        problem.share = fmax(level, 1) / LEVELS;
        if (importance->values[P_LOSSES].integer == LOSSES_NORM)
            status = solve_weight(&problem, &importance->weights[level]);
    }
    return status;
}

static dpf_status importance_describe(void *self, dpf_sampling *out)
{
    const struct importance *importance = self;
    double least = importance->weights[0], most = least;
    for (int level = 1; level <= LEVELS; level++) {
        /* No fmin and fmax: gcc 12 for arm64 ends with an internal error on both at once. */
        const double weight = importance->weights[level];
        least = weight < least ? weight : least;
        most = weight > most ? weight : most;
    }
    out->kind = least < most ? DPF_SAMPLING_WEIGHTED : DPF_SAMPLING_POISSON;
    out->unit = DPF_UNIT_RECORD;
    out->hidden_from = DPF_OBSERVER_PARTIES;
    out->rate = 1 / least;
    out->weight_max = most;
    return DPF_OK;
}

static float weight_of(const struct importance *importance, double bound, const dpf_draw *draw, int64_t i)
{
    if (importance->values[P_LOSSES].integer == LOSSES_EQUAL)
        return importance->weights[LEVELS];
    int32_t columns;
    double sum = 0;
    const float *row = record_other_row(&importance->draws, draw, i, &columns);
    for (int32_t c = 0; c < columns; c++)
        sum += fabs((double)row[c]);
    const double level = ceil(LEVELS * (sum / bound));
    return importance->weights[level < LEVELS ? (int)level : LEVELS];
}

static dpf_status importance_draw(void *self, const dpf_call *call, const dpf_draw *draw, float *weights)
{
    const struct importance *importance = self;
    const dpf_status status = record_draws_check(call, draw);
    const double given = importance->values[P_BOUND].real, bound = given > 0 ? given : draw->other_l1;
    struct record_sample sample = {0};
    if (status == DPF_OK && importance->values[P_LOSSES].integer == LOSSES_NORM && !isfinite(bound))
        return call->host->fail(call->host, DPF_E_CONFIG, P_BOUND,
                                "losses = norm needs a bound on rows, and the release has none: set bound");
    for (int64_t i = 0; status == DPF_OK && i < draw->n; i++) {
        /* Rows that are all 0 have no loss at any weight, and nothing to keep. */
        const float weight = weight_of(importance, fmax(bound, 1e-300), draw, i);
        weights[i] = record_draw(&importance->draws, call, draw, i, 1 / (double)weight, weight, &sample);
    }
    if (status == DPF_OK)
        record_draws_report(&importance->draws, &sample);
    return status;
}

static const dpf_sampler functions = {
    .level = DPF_LEVEL_RECORD,
    .lifetime = record_lifetime,
    .prepare = importance_prepare,
    .describe = importance_describe,
    .draw = importance_draw,
};

DPF_COMPONENT(
    component, DPF_ROLE_SAMPLER, functions, .id = "importance", .version = "1.0.0",
    .summary = "Records are kept with probability 1/w and weigh w, as large as a target loss allows",
    .citation = "DPIMF (Ran, Ye, Huang, Hu), Theorem 2, Eq. 22-23 and Algorithm 3", DPF_PARAMS(params),
    .create = importance_create, .instance_bytes = sizeof(struct importance))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.sampler.importance", "1.0.0", "Apache-2.0", component)
