/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/queries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/load.h"

/* A number of rows that stands for "not known yet": large, so that bounds which grow with it stay valid. */
#define UNKNOWN_ROWS INT64_C(0x7fffffff)

static int64_t side_rows(const struct plan *plan, int side)
{
    int64_t rows = side == DPF_SIDE_USERS ? plan->n_users : plan->n_items;
    return rows > 0 ? rows : UNKNOWN_ROWS;
}

/* ---- queries ----------------------------------------------------------------------------------- */

static uint32_t quadratic_layout(const struct side_plan *side, const struct term_plan *term,
                                 const dpf_loss *loss)
{
    if (side->released)
        return term->layout;
    if ((side->solver_functions->flags & DPF_SOLVER_OPERATOR) && (loss->layouts & DPF_LAYOUT_OPERATOR) &&
        side->n_terms == 1)
        return DPF_LAYOUT_OPERATOR;
    return loss->layouts & DPF_LAYOUT_LOWER ? DPF_LAYOUT_LOWER : term->layout;
}

static int ask_query(struct plan *plan, struct term_plan *term, uint32_t layout, int released, dpf_query *out,
                     struct dpf_error *error)
{
    const dpf_loss *loss = term->loss->functions;
    int side = term->side;
    int other = term->source == SOURCE_RELATION ? side : 1 - side;
    dpf_side_info info = {
        .size = sizeof info,
        .side = side,
        .n_self = side_rows(plan, side),
        .n_other = side_rows(plan, other),
        .columns = plan->columns,
        .first = plan->first[side],
        .dimension = plan->dimension[side],
        .bias = plan->bias[side],
        .layout = layout,
        .is_released = released,
    };
    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    return instance_result(term->loss, loss->query(term->loss->self, &info, out), "query", error);
}

static int check_query(const struct term_plan *term, const dpf_query *query, struct dpf_error *error)
{
    int next = 0;
    if (query->n_blocks < 1 || query->n_blocks > DPF_MAX_BLOCKS || query->dimension < 1)
        return error_set(error, DPF_FAULT_PLUGIN, "[%s] loss %s: its query has %d blocks of dimension %d",
                         term->name, term->loss->entry->component->id, query->n_blocks, query->dimension);
    for (int i = 0; i < query->n_blocks; i++) {
        if (query->blocks[i].offset < next || query->blocks[i].length < 0)
            return error_set(error, DPF_FAULT_PLUGIN, "[%s] loss %s: block %d of its query overlaps another",
                             term->name, term->loss->entry->component->id, i);
        next = query->blocks[i].offset + query->blocks[i].length;
    }
    if (next > query->width)
        return error_set(error, DPF_FAULT_PLUGIN, "[%s] loss %s: the blocks of its query exceed its width",
                         term->name, term->loss->entry->component->id);
    return 0;
}

static int complete_query(struct plan *plan, struct side_plan *side, struct term_plan *term,
                          struct dpf_error *error)
{
    const dpf_loss *loss = term->loss->functions;
    uint32_t layout = loss->layouts ? quadratic_layout(side, term, loss) : 0;
    if (layout && !(loss->layouts & layout))
        return config_error(plan->config, term->name, "block-layout", error,
                            "loss %s cannot write this block layout", term->loss->entry->component->id);
    if (ask_query(plan, term, layout, side->released, &term->query, error) != 0 ||
        check_query(term, &term->query, error) != 0)
        return -1;
    term->shared_query = term->query;
    if (layout == DPF_LAYOUT_OPERATOR && term->query.has_shared)
        if (ask_query(plan, term, DPF_LAYOUT_FULL, side->released, &term->shared_query, error) != 0 ||
            check_query(term, &term->shared_query, error) != 0)
            return -1;
    uint32_t needed = term->query.form == DPF_FORM_GRADIENT ? DPF_SOLVER_GRADIENT : DPF_SOLVER_QUADRATIC;
    if (!(side->solver_functions->flags & needed))
        return config_error(
            plan->config, plan_side_name(side->side), "solver", error,
            "solver %s does not take the %s queries of loss %s", side->solver->entry->component->id,
            needed == DPF_SOLVER_GRADIENT ? "gradient" : "quadratic", term->loss->entry->component->id);
    return 0;
}

static void add_ridge(float *sum, const float *ridge, int d)
{
    for (int i = 0; ridge && i < d; i++)
        sum[i] += ridge[i];
}

/* The query of the summed terms: they must agree in all but regularisation. */
static int join_queries(struct plan *plan, struct side_plan *side, struct dpf_error *error)
{
    side->query = side->terms[0].query;
    size_t d = (size_t)side->query.dimension;
    side->ridge_per_count = memory_new(d, sizeof(float));
    side->ridge_constant = memory_new(d, sizeof(float));
    if (!side->ridge_per_count || !side->ridge_constant)
        return error_memory(error);
    for (int i = 0; i < side->n_terms; i++) {
        const dpf_query *query = &side->terms[i].query;
        if (query->form != side->query.form || query->width != side->query.width ||
            query->n_blocks != side->query.n_blocks || query->has_shared != side->query.has_shared ||
            memcmp(query->blocks, side->query.blocks, sizeof query->blocks) != 0)
            return config_error(plan->config, side->terms[i].name, "loss", error,
                                "the terms of a side are summed, so their queries must have the same blocks; "
                                "loss %s differs from loss %s",
                                side->terms[i].loss->entry->component->id,
                                side->terms[0].loss->entry->component->id);
        add_ridge(side->ridge_per_count, query->ridge_per_count, (int)d);
        add_ridge(side->ridge_constant, query->ridge_constant, (int)d);
    }
    side->query.ridge_per_count = side->ridge_per_count;
    side->query.ridge_constant = side->ridge_constant;
    return 0;
}

/* ---- bounds ------------------------------------------------------------------------------------ */

/* Bound on the Euclidean norm of a side's unknown columns as they stand between steps. */
static double rows_radius(const struct plan *plan, int side)
{
    if (plan->sides[side].updated)
        return plan->sides[side].radius;
    double norm = plan->model.params.values[MODEL_INIT_NORM].real;
    return norm > 0 ? norm * (1 + 0x1p-22) : INFINITY; /* initial rows are rounded to float32 */
}

static void set_bounds(const struct plan *plan, struct term_plan *term)
{
    dpf_bounds *b = &term->bounds;
    int side = term->side;
    int other = term->source == SOURCE_RELATION ? side : 1 - side;
    int d = plan->dimension[side];
    double self = rows_radius(plan, side);
    double radius = term->bounds_from_data ? 1.0 : rows_radius(plan, other);
    *b = (dpf_bounds){
        .size = sizeof *b,
        .side = side,
        .dimension = d,
        .from_data = term->bounds_from_data,
        .value_lo = plan->value_lo,
        .value_hi = plan->value_hi,
        .offset = plan->model.params.values[MODEL_OFFSET].integer == OFFSET_MEAN
                      ? fmax(fabs(plan->value_lo), fabs(plan->value_hi))
                      : plan->offset,
        .weight_max = term->sampling.kind == DPF_SAMPLING_NONE ? 1.0 : term->sampling.weight_max,
        .other_l2 = radius,
        .other_l1 = sqrt((double)d) * radius,
        .other_linf = radius,
        .self_l2 = self,
        .self_l1 = sqrt((double)d) * self,
        .self_linf = self,
        .records_per_user = INT64_MAX,
        .n_self = side_rows(plan, side),
        .n_other = side_rows(plan, other),
    };
    b->residual_l2 = b->other_l2;
}

/*
 * The features of a row are the other side's columns that pair with its unknowns; the one of its bias
 * is the constant 1, which no transform touches. So it joins the norms after the transforms.
 */
static void add_constant_feature(dpf_bounds *bounds)
{
    bounds->other_l2 = sqrt(bounds->other_l2 * bounds->other_l2 + 1);
    bounds->other_l1 += 1;
    bounds->other_linf = fmax(bounds->other_linf, 1);
    bounds->residual_l2 = sqrt(bounds->residual_l2 * bounds->residual_l2 + 1);
}

/* Predictions also have the other side's bias, which no transform touches either; raw bounds it. A row that
   is solved has the constant 1 in that column. */
static void add_other_bias(dpf_bounds *bounds, int raw_residual, double raw)
{
    if (!raw_residual)
        bounds->residual_l2 = hypot(bounds->residual_l2, raw);
    bounds->self_l2 = sqrt(bounds->self_l2 * bounds->self_l2 + 1);
    bounds->self_l1 += 1;
    bounds->self_linf = fmax(bounds->self_linf, 1);
}

static int tighten_bounds(const struct plan *plan, struct term_plan *term, struct dpf_error *error)
{
    double raw = term->bounds.residual_l2;
    for (int i = 0; i < term->n_transforms; i++) {
        struct instance *instance = term->transforms[i];
        const dpf_transform *transform = instance->functions;
        if (transform->bounds &&
            instance_result(instance, transform->bounds(instance->self, &term->bounds), "bounds", error) != 0)
            return -1;
    }
    term->bounds.residual_l2 = term->raw_residual ? raw : term->bounds.other_l2;
    if (plan->bias[1 - term->side] >= 0)
        add_other_bias(&term->bounds, term->raw_residual, raw);
    if (plan->bias[term->side] >= 0)
        add_constant_feature(&term->bounds);
    return 0;
}

/* ---- sensitivities and noise --------------------------------------------------------------------- */

static void unstated(dpf_sensitivity *blocks, int n)
{
    for (int b = 0; b < n; b++)
        for (int unit = 0; unit < DPF_N_UNITS; unit++)
            for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
                blocks[b].at[unit][adjacency] = (dpf_norms){NAN, NAN, NAN};
}

/* Replaces the statements about blocks and shared row by those after a transform of messages. */
static int after_transform(struct term_plan *term, struct instance *instance, int64_t rows,
                           dpf_sensitivity *blocks, dpf_sensitivity *shared, struct dpf_error *error)
{
    const dpf_transform *transform = instance->functions;
    int n = term->query.n_blocks, joined = term->query.has_shared && term->by_user;
    /* A shared row of items that users rate does not pass the users' transforms: it stays as it is. */
    if (joined && term->side == DPF_SIDE_USERS)
        joined = 0;
    else if (term->query.has_shared && !term->by_user)
        unstated(shared, DPF_MAX_BLOCKS);
    if (joined && 2 * n > DPF_MAX_BLOCKS) {
        unstated(blocks, DPF_MAX_BLOCKS);
        unstated(shared, DPF_MAX_BLOCKS);
        return 0;
    }
    /* The shared row is the last of each message, so that a transform which mixes or scales all numbers
       carries a change from one to the other: it is told of both at once. */
    dpf_sensitivity all[DPF_MAX_BLOCKS];
    dpf_query query = term->query;
    memcpy(all, blocks, (size_t)n * sizeof *all);
    for (int i = 0; joined && i < n; i++) {
        query.blocks[n + i] = query.blocks[i];
        all[n + i] = shared[i];
    }
    query.n_blocks = joined ? 2 * n : n;
    if (instance_result(instance, transform->sensitivity(instance->self, &query, rows, all), "sensitivity",
                        error) != 0)
        return -1;
    memcpy(blocks, all, (size_t)n * sizeof *all);
    if (joined)
        memcpy(shared, all + n, (size_t)n * sizeof *all);
    return 0;
}

int plan_term_sensitivity(struct term_plan *term, const dpf_bounds *bounds, dpf_sensitivity *blocks,
                          dpf_sensitivity *shared, struct dpf_error *error)
{
    const dpf_loss *loss = term->loss->functions;
    unstated(blocks, DPF_MAX_BLOCKS);
    unstated(shared, DPF_MAX_BLOCKS);
    if (instance_result(term->loss, loss->sensitivity(term->loss->self, &term->query, bounds, blocks, shared),
                        "sensitivity", error) != 0)
        return -1;
    int64_t rows = bounds->n_self + term->query.has_shared;
    for (int i = 0; i < term->n_transforms; i++) {
        struct instance *instance = term->transforms[i];
        const dpf_transform *transform = instance->functions;
        /* A projection moves norms; what it does not state about that is not known. */
        if (transform->kind == DPF_TRANSFORM_STATE && !transform->sensitivity)
            unstated(blocks, DPF_MAX_BLOCKS);
        if (transform->sensitivity && after_transform(term, instance, rows, blocks, shared, error) != 0)
            return -1;
        if (transform->rows &&
            instance_result(instance, transform->rows(instance->self, rows, &rows), "rows", error) != 0)
            return -1;
    }
    term->rows = rows;
    return 0;
}

dpf_release plan_release(const struct plan *plan, const struct term_plan *term, const dpf_sensitivity *blocks,
                         const dpf_sensitivity *shared, int from_data)
{
    int64_t kind = plan->parties.params.values[PARTIES_KIND].integer, parties = 1;
    if (term->by_user)
        parties = side_rows(plan, DPF_SIDE_USERS);
    else if (kind == PARTIES_SILOS_BY_USERS || kind == PARTIES_SILOS_BY_ITEMS)
        parties = plan->parties.params.values[PARTIES_COUNT].integer;
    return (dpf_release){
        .size = sizeof(dpf_release),
        .side = term->side,
        .query = &term->query,
        .rows = term->rows,
        .unit = plan->guarantee.unit,
        .adjacency = plan->guarantee.adjacency,
        .blocks = blocks,
        .shared = term->query.has_shared ? shared : NULL,
        .n_parties = parties,
        .min_survivors = term->sampling.kind == DPF_SAMPLING_NONE ? parties : 1,
        .noise_factor = plan->noise_factor > 0 ? plan->noise_factor : 1.0,
        .from_data = from_data,
    };
}

/*
 * What a mechanism's budget is stated for. Where records are drawn and weighted it is a record of weight 1,
 * the one that privacy losses by weight start from; the ledger's sensitivities have the weights in them.
 */
void plan_budgeted_bounds(const struct term_plan *term, dpf_bounds *bounds)
{
    if (term->sampler && ((const dpf_sampler *)term->sampler->functions)->level == DPF_LEVEL_RECORD)
        bounds->weight_max = 1.0;
}

/* Message and state transforms of one term. */
static int check_transforms(const struct plan *plan, const struct side_plan *side, struct term_plan *term,
                            struct dpf_error *error)
{
    for (int i = 0; i < term->n_transforms; i++) {
        const dpf_transform *transform = term->transforms[i]->functions;
        const char *id = term->transforms[i]->entry->component->id;
        int state = transform->kind == DPF_TRANSFORM_STATE,
            message = transform->kind == DPF_TRANSFORM_MESSAGE;
        if (!state && !message)
            continue;
        if (state && (side->n_terms > 1 || !term->mechanism || side->site != SITE_SERVER ||
                      term->source != SOURCE_RECORDS ||
                      plan->run.params.values[RUN_UPDATE].integer == UPDATE_SIMULTANEOUS))
            return config_error(
                plan->config, term->name, "transforms", error,
                "transform %s changes the space of the released rows: the side needs a single "
                "term over records with a mechanism, solved at the server, and [run] update = "
                "alternating",
                id);
        if (!term->mechanism)
            return config_error(plan->config, term->name, "transforms", error,
                                "transform %s changes messages, but without a mechanism [%s] sends none: set "
                                "mechanism, or leave the transform out",
                                id, term->name);
        if (term->query.has_shared &&
            (state || transform->rows || (transform->flags & DPF_TRANSFORM_NEEDS_DENSE)))
            return config_error(
                plan->config, term->name, "transforms", error,
                "transform %s mixes rows, but the last row of a message of loss %s is shared and "
                "has noise of its own: they cannot be combined",
                id, term->loss->entry->component->id);
        term->whole_message = 1;
        term->by_user |= message && (transform->flags & DPF_TRANSFORM_PER_USER);
    }
    return 0;
}

/*
 * Cells without a record that are not summed in a shared row belong to whoever holds the user: a silo's
 * records do not say which empty cells are its own.
 */
static int check_cells(const struct plan *plan, const struct term_plan *term, struct dpf_error *error)
{
    int64_t kind = plan->parties.params.values[PARTIES_KIND].integer;
    int silos = kind == PARTIES_SILOS_BY_USERS || kind == PARTIES_SILOS_BY_ITEMS;
    int drawn = term->sampler && ((const dpf_sampler *)term->sampler->functions)->level == DPF_LEVEL_PARTY;
    if (term->query.support != DPF_SUPPORT_DENSE || term->query.form != DPF_FORM_GRADIENT)
        return 0;
    if (drawn && term->sampling.weight_max != 1.0)
        return config_error(
            plan->config, term->name, "sampler", error,
            "sampler %s gives users weights, but loss %s sums over empty cells as well, which have "
            "none: draw users with weight 1",
            term->sampler->entry->component->id, term->loss->entry->component->id);
    if (term->by_user || !silos)
        return 0;
    return config_error(
        plan->config, "parties", "kind", error,
        "loss %s sums over empty cells as well, which no silo can tell from those of others; use "
        "users or curator",
        term->loss->entry->component->id);
}

/* A cap is kept by the engine, which leaves out users that have taken part that often. */
static int check_participations(const struct plan *plan, struct term_plan *term, struct dpf_error *error)
{
    if (term->participations == 0)
        return 0;
    int drawn = term->sampler && ((const dpf_sampler *)term->sampler->functions)->level == DPF_LEVEL_PARTY;
    if (!drawn || term->sampling.kind == DPF_SAMPLING_WEIGHTED)
        return config_error(
            plan->config, term->name, "participations", error,
            "participations caps how often a user takes part, so it needs a sampler that draws users "
            "whatever their records are: set sampler = poisson-users, or participations = 0");
    /* Composition over the cap holds for whoever sees the cohorts; a secret draw is not counted as well. */
    term->sampling.secret_from = -1;
    return 0;
}

static int check_kinds(const struct plan *plan, const struct side_plan *side, struct term_plan *term,
                       struct dpf_error *error)
{
    if (check_transforms(plan, side, term, error) != 0)
        return -1;
    if (!term->mechanism && side->released && term->query.has_shared)
        return config_error(
            plan->config, term->name, "mechanism", error,
            "loss %s reads all rows of the other side at once (a shared row): beside terms with a "
            "mechanism it needs one, too",
            term->loss->entry->component->id);
    if (!term->mechanism)
        return 0;
    int64_t kind = plan->parties.params.values[PARTIES_KIND].integer;
    const dpf_aggregator *aggregator = term->aggregator->functions;
    const dpf_mechanism *mechanism = term->mechanism->functions;
    if (!(aggregator->flags & DPF_AGGREGATOR_BY_ROWS))
        term->whole_message = 1;
    if (kind == PARTIES_USERS || (mechanism->flags & DPF_MECHANISM_PER_USER))
        term->by_user = 1;
    /* A draw of users needs their messages one by one, whoever holds the records. */
    if (term->sampler && ((const dpf_sampler *)term->sampler->functions)->level == DPF_LEVEL_PARTY)
        term->by_user = 1;
    if (check_cells(plan, term, error) != 0 || check_participations(plan, term, error) != 0)
        return -1;
    if (term->by_user && kind == PARTIES_SILOS_BY_ITEMS)
        return config_error(
            plan->config, "parties", "kind", error,
            "kind = silos-by-items: [%s] needs each user's whole contribution, but no silo has all "
            "records of a user; use silos-by-users, users or curator",
            term->name);
    if (side->site == SITE_PARTY && (term->by_user || term->whole_message || side->n_terms > 1))
        return config_error(
            plan->config, plan_side_name(side->side), "site", error,
            "site = party works row by row with a single term: it cannot be combined with user "
            "parties, message transforms or aggregators that need whole messages");
    return 0;
}

/* How often a party releases in a round. */
static int64_t passes(const struct plan *plan, int side)
{
    return plan->sides[side].site == SITE_PARTY
               ? plan->parties.params.values[PARTIES_LOCAL_ITERATIONS].integer
               : 1;
}

/* The mechanism's privacy loss of a record by its weight, for samplers. */
struct profile {
    struct plan *plan;
    struct term_plan *term;
    struct dpf_error *error;
    int ready;
    dpf_noise_plan noise;
};

static int plan_for_profile(struct profile *profile)
{
    struct term_plan *term = profile->term;
    struct instance *instance = term->mechanism;
    dpf_sensitivity blocks[DPF_MAX_BLOCKS], shared[DPF_MAX_BLOCKS];
    set_bounds(profile->plan, term);
    if (tighten_bounds(profile->plan, term, profile->error) != 0 ||
        plan_term_sensitivity(term, &term->bounds, blocks, shared, profile->error) != 0)
        return -1;
    dpf_release release = plan_release(profile->plan, term, blocks, shared, term->bounds_from_data);
    profile->noise.size = sizeof profile->noise;
    return instance_result(
        instance,
        ((const dpf_mechanism *)instance->functions)->plan(instance->self, &release, &profile->noise), "plan",
        profile->error);
}

static dpf_status record_profile(void *context, double weight, double *epsilon)
{
    struct profile *profile = context;
    struct instance *instance = profile->term->mechanism;
    if (!profile->ready && plan_for_profile(profile) != 0)
        return DPF_E_CONFIG;
    profile->ready = 1;
    return ((const dpf_mechanism *)instance->functions)
        ->profile(instance->self, &profile->noise, weight, epsilon);
}

static int complete_sampling(struct plan *plan, struct term_plan *term, struct dpf_error *error)
{
    term->sampling = (dpf_sampling){.size = sizeof term->sampling,
                                    .kind = DPF_SAMPLING_NONE,
                                    .unit = DPF_UNIT_USER,
                                    .secret_from = -1,
                                    .rate = 1.0,
                                    .weight_max = 1.0};
    if (!term->sampler)
        return 0;
    struct instance *instance = term->sampler;
    const dpf_sampler *sampler = instance->functions;
    double budget = NAN;
    if (term->mechanism)
        budget = ((const dpf_mechanism *)term->mechanism->functions)->budget(term->mechanism->self);
    struct data_weight_range weights;
    data_weight_range(&plan->data, &weights);
    dpf_sampler_setup setup = {.size = sizeof setup,
                               .side = term->side,
                               .n_parties = side_rows(plan, DPF_SIDE_USERS),
                               .budget = budget,
                               .privacy_weight_lo = weights.lo,
                               .privacy_weight_hi = weights.hi,
                               .privacy_weight_mean = weights.mean};
    struct profile profile = {.plan = plan, .term = term, .error = error};
    if (term->mechanism && ((const dpf_mechanism *)term->mechanism->functions)->profile) {
        setup.profile = record_profile;
        setup.context = &profile;
    }
    if (sampler->prepare &&
        instance_result(instance, sampler->prepare(instance->self, &setup), "prepare", error) != 0)
        return -1;
    if (instance_result(instance, sampler->describe(instance->self, &term->sampling), "describe", error) != 0)
        return -1;
    if (sampler->level == DPF_LEVEL_PARTY && term->sampling.unit != DPF_UNIT_USER)
        return config_error(plan->config, term->name, "sampler", error,
                            "sampler %s draws parties, but does not say that the parties it draws are users",
                            instance->entry->component->id);
    /* Amplification composes only over releases that have a draw each. */
    int32_t lifetime = sampler->lifetime(instance->self);
    if ((passes(plan, term->side) > 1 && lifetime != DPF_LIFETIME_SOLVE) ||
        (lifetime == DPF_LIFETIME_RUN && plan->run.params.values[RUN_ROUNDS].integer > 1))
        term->sampling.secret_from = -1;
    return 0;
}

/*
 * Accountants amplify each event by a draw of its own. The blocks of one release share the draw, and then the
 * product of amplified losses is no bound: given that the unit was drawn, all blocks depend on it.
 */
static int one_event(const struct plan *plan, const dpf_event *events, int32_t n)
{
    int32_t charged = 0;
    for (int32_t i = 0; i < n; i++) {
        const dpf_norms *norms = &events[i].sensitivity.at[plan->guarantee.unit][plan->guarantee.adjacency];
        charged += events[i].kind != DPF_EVENT_NO_OP && !(events[i].flags & DPF_EVENT_DATA_BLIND) &&
                   !(norms->l1 == 0); /* what no such unit moves costs nothing */
    }
    return charged <= 1;
}

/* The estimate shows how many users sent where it is divided by that number, and so how many were drawn. */
int plan_counts_users(const struct term_plan *term)
{
    const dpf_aggregator *aggregator = term->aggregator->functions;
    void *self = term->aggregator->self;
    return term->by_user && aggregator->scale(self, 1) != aggregator->scale(self, 2);
}

/*
 * A user who is drawn then brings noise along with the contribution. So what one sees without the user is not
 * what one sees of a user who sends nothing, which amplification supposes.
 */
int plan_noise_by_users(const struct term_plan *term)
{
    return term->by_user &&
           (term->noise.where == DPF_NOISE_AT_PARTY || term->noise.where == DPF_NOISE_IN_SHARES);
}

/*
 * Where users are solved, all records of a user are rounded to the grid and then summed in one row, so
 * their roundings add up; mechanisms charge one grid step for each coordinate, which covers units with one
 * record in a row.
 */
static void charge_roundings(const struct plan *plan, const struct term_plan *term, dpf_event *event)
{
    if (term->side != DPF_SIDE_USERS || event->block < 0 || event->block >= term->query.n_blocks)
        return;
    double steps = (double)side_rows(plan, DPF_SIDE_ITEMS) * event->grid;
    double length = term->query.blocks[event->block].length;
    for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++) {
        dpf_norms *norms = &event->sensitivity.at[DPF_UNIT_USER][adjacency];
        if (norms->l1 == 0 && norms->l2 == 0 && norms->linf == 0)
            continue;
        norms->l1 += steps * length;
        norms->l2 += steps * sqrt(length);
        norms->linf += steps;
    }
}

/* Noise and events of one term; count is how often it releases. */
static int complete_release(struct plan *plan, struct term_plan *term, int64_t count, struct dpf_error *error)
{
    struct instance *instance = term->mechanism;
    const dpf_mechanism *mechanism = instance->functions;
    dpf_bounds budgeted = term->bounds;
    dpf_sensitivity blocks[DPF_MAX_BLOCKS], shared[DPF_MAX_BLOCKS];
    plan_budgeted_bounds(term, &budgeted);
    if (plan_term_sensitivity(term, &budgeted, blocks, shared, error) != 0)
        return -1;
    dpf_release release = plan_release(plan, term, blocks, shared, term->bounds_from_data);
    term->noise.size = sizeof term->noise;
    if (instance_result(instance, mechanism->plan(instance->self, &release, &term->noise), "plan", error) !=
        0)
        return -1;
    release = plan_release(plan, term, term->blocks, term->shared, term->bounds_from_data);
    term->draw_lifetime = mechanism->lifetime(instance->self);
    dpf_event events[2 * DPF_MAX_BLOCKS];
    int32_t n = 0;
    memset(events, 0, sizeof events);
    if (instance_result(
            instance,
            mechanism->events(instance->self, &release, &term->noise, events, 2 * DPF_MAX_BLOCKS, &n),
            "events", error) != 0)
        return -1;
    if (!one_event(plan, events, n) || plan_counts_users(term) || plan_noise_by_users(term))
        term->sampling.secret_from = -1;
    for (int32_t i = 0; i < n; i++) {
        charge_roundings(plan, term, &events[i]);
        events[i].count = count;
        events[i].side = term->side;
        events[i].term = (int32_t)(term - plan->sides[term->side].terms);
        events[i].round = 0;
        events[i].lifetime = term->draw_lifetime;
        /* Passes that share the round's draw: the later ones read rows that depend on its noise. */
        if (passes(plan, term->side) > 1 && term->draw_lifetime == DPF_LIFETIME_ROUND)
            events[i].lifetime = DPF_LIFETIME_RUN;
        events[i].sampling = term->sampling;
        if (term->bounds_from_data)
            events[i].flags |= DPF_EVENT_BOUNDS_FROM_DATA;
        char source[96];
        snprintf(source, sizeof source, "%.40s, mechanism %.30s, block %d", term->name,
                 instance->entry->component->id, events[i].block);
        if (ledger_add(&plan->ledger, &events[i], source, error) != 0)
            return -1;
    }
    return 0;
}

/* Where noise is added must fit who solves and who sends what. */
static int check_noise(const struct plan *plan, const struct side_plan *side, const struct term_plan *term,
                       struct dpf_error *error)
{
    int64_t kind = plan->parties.params.values[PARTIES_KIND].integer;
    const char *id = term->mechanism->entry->component->id;
    const dpf_mechanism *mechanism = term->mechanism->functions;
    if (side->site == SITE_PARTY && (mechanism->flags & DPF_MECHANISM_CONTRIBUTORS))
        return config_error(
            plan->config, plan_side_name(side->side), "site", error,
            "site = party: mechanism %s divides the noise among the parties that send a row, but each "
            "party solves alone",
            id);
    if ((mechanism->flags & DPF_MECHANISM_CONTRIBUTORS) && term->sampler &&
        ((const dpf_sampler *)term->sampler->functions)->level == DPF_LEVEL_PARTY)
        return config_error(
            plan->config, term->name, "sampler", error,
            "mechanism %s divides the noise among all parties that have records of a row, but sampler "
            "%s leaves some out, and their share of the noise with them",
            id, term->sampler->entry->component->id);
    if (kind == PARTIES_CURATOR && !term->by_user)
        return 0;
    if (side->site == SITE_PARTY &&
        (term->noise.where == DPF_NOISE_AT_SUM || term->noise.where == DPF_NOISE_IN_SHARES))
        return config_error(
            plan->config, plan_side_name(side->side), "site", error,
            "site = party: each party solves its own noisy query, so mechanism %s must add all of "
            "the noise at the party, not at the sum or in shares",
            id);
    int all_send = term->by_user ? side->side == DPF_SIDE_ITEMS
                                 : kind == (side->side == DPF_SIDE_ITEMS ? PARTIES_SILOS_BY_USERS
                                                                         : PARTIES_SILOS_BY_ITEMS);
    if (term->query.has_shared && term->noise.where == DPF_NOISE_IN_SHARES && !all_send)
        return config_error(
            plan->config, term->name, "mechanism", error,
            "mechanism %s divides the noise among the parties, but a single one sends the shared row "
            "of loss %s",
            id, term->loss->entry->component->id);
    return 0;
}

static int complete_side(struct plan *plan, struct side_plan *side, struct dpf_error *error)
{
    for (int i = 0; i < side->n_terms; i++)
        if (complete_query(plan, side, &side->terms[i], error) != 0 ||
            complete_sampling(plan, &side->terms[i], error) != 0 ||
            check_kinds(plan, side, &side->terms[i], error) != 0)
            return -1;
    if (join_queries(plan, side, error) != 0)
        return -1;
    const dpf_solver *solver = side->solver_functions;
    side->state_width =
        solver->state_width ? solver->state_width(side->solver->self, side->query.dimension) : 0;
    return 0;
}

/* How often a term releases, as one user sees it. */
static int64_t releases(const struct plan *plan, const struct term_plan *term)
{
    int visits = 0;
    for (int i = 0; i < plan->n_order; i++)
        visits += plan->order[i] == term->side;
    int64_t count = plan->run.params.values[RUN_ROUNDS].integer * visits * passes(plan, term->side);
    if (!term->mechanism)
        return 0;
    return term->participations > 0 && term->participations < count ? term->participations : count;
}

static int complete_term(struct plan *plan, struct side_plan *side, struct term_plan *term,
                         struct dpf_error *error)
{
    set_bounds(plan, term);
    if (tighten_bounds(plan, term, error) != 0 ||
        plan_term_sensitivity(term, &term->bounds, term->blocks, term->shared, error) != 0)
        return -1;
    int64_t rows = side_rows(plan, side->side);
    side->state_rows = rows;
    for (int i = 0; i < term->n_transforms; i++) {
        const dpf_transform *transform = term->transforms[i]->functions;
        if (transform->kind != DPF_TRANSFORM_STATE)
            continue;
        if (side->state_transform)
            return config_error(plan->config, term->name, "transforms", error, "at most one state transform");
        side->state_transform = term->transforms[i];
        if (transform->rows &&
            instance_result(term->transforms[i],
                            transform->rows(term->transforms[i]->self, rows, &side->state_rows), "rows",
                            error) != 0)
            return -1;
    }
    int64_t count = releases(plan, term);
    if (!count)
        return 0;
    return complete_release(plan, term, count, error) != 0 ? -1 : check_noise(plan, side, term, error);
}

int queries_replan(struct plan *plan, struct dpf_error *error)
{
    plan->ledger.n = 0;
    for (int which = 0; which < 2; which++) {
        struct side_plan *side = &plan->sides[which];
        for (int i = 0; side->updated && i < side->n_terms; i++) {
            int64_t count = releases(plan, &side->terms[i]);
            if (count && complete_release(plan, &side->terms[i], count, error) != 0)
                return -1;
        }
    }
    return 0;
}

/* Parties that solve keep copies of all rows, but no state of solvers between rounds. */
static int check_sites(const struct plan *plan, struct dpf_error *error)
{
    for (int which = 0; which < 2; which++) {
        const struct side_plan *side = &plan->sides[which], *other = &plan->sides[1 - which];
        const char *name = plan_side_name(which);
        if (!side->updated || side->site != SITE_PARTY)
            continue;
        if (!side->released)
            return config_error(
                plan->config, name, "site", error,
                "site = party: solved rows are sent by a mechanism and an aggregator; without them "
                "the side is local anyway");
        if (other->updated && (other->released || other->n_terms > 1))
            return config_error(plan->config, name, "site", error,
                                "site = party: the other side must be local, with one term");
        if (side->state_width || (other->updated && other->state_width))
            return config_error(
                plan->config, name, "solver", error,
                "site = party: a solver with memory (momentum, Adam) has no place to keep it");
        if (plan->run.params.values[RUN_UPDATE].integer == UPDATE_SIMULTANEOUS)
            return config_error(plan->config, "run", "update", error,
                                "site = party works on alternating updates");
    }
    return 0;
}

/* How much longer than each of them the joined rows of parties can be; rounded, and rounded again. */
static double joined_scale(const struct plan *plan, const struct side_plan *side)
{
    const struct term_plan *term = side->n_terms ? &side->terms[0] : NULL;
    if (!side->updated || side->site != SITE_PARTY || !term->aggregator)
        return 1;
    const dpf_aggregator *aggregator = term->aggregator->functions;
    int64_t n = plan->parties.params.values[PARTIES_COUNT].integer;
    double most = 0;
    for (int64_t survivors = 1; survivors <= n; survivors++)
        most = fmax(most, (double)survivors * aggregator->scale(term->aggregator->self, survivors));
    return most * (1 + 0x1p-20);
}

int queries_complete(struct plan *plan, struct dpf_error *error)
{
    for (int which = 0; which < 2; which++) {
        struct side_plan *side = &plan->sides[which];
        const dpf_solver *solver = side->solver_functions;
        side->radius = side->updated && solver->radius ? solver->radius(side->solver->self) : INFINITY;
        side->radius *= joined_scale(plan, side);
        /* The radius bounds the projected rows; those that others read are sums of them. */
        for (int i = 0; side->n_terms == 1 && i < side->terms[0].n_transforms; i++)
            if (((const dpf_transform *)side->terms[0].transforms[i]->functions)->kind == DPF_TRANSFORM_STATE)
                side->radius = INFINITY;
    }
    for (int which = 0; which < 2; which++) {
        struct side_plan *side = &plan->sides[which];
        if (!side->updated)
            continue;
        if (complete_side(plan, side, error) != 0)
            return -1;
        for (int i = 0; i < side->n_terms; i++)
            if (complete_term(plan, side, &side->terms[i], error) != 0)
                return -1;
    }
    return check_sites(plan, error);
}
