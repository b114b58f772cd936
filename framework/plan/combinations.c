/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/combinations.h"

#include "plugin/role_tables.h"
#include "reading/data_options.h"
#include "reading/data_params.h"
#include "reading/feature_file.h"

/* Message and state transforms of one term. */
static int check_transforms(const struct plan *plan, const struct side_plan *side, struct term_plan *term,
                            struct dpf_error *error)
{
    const char *mixes = NULL; /* a transform that has mixed rows already */
    for (int i = 0; i < term->n_transforms; i++) {
        const dpf_transform *transform = term->transforms[i]->functions;
        const char *id = term->transforms[i]->entry->component->id;
        int state = transform->kind == DPF_TRANSFORM_STATE,
            message = transform->kind == DPF_TRANSFORM_MESSAGE;
        if (!state && !message)
            continue;
        if (state && (side->n_terms > 1 || !term->mechanism || side->solve_at != SOLVE_AT_SERVER ||
                      term->source != SOURCE_RECORDS ||
                      plan->run.params.values[RUN_UPDATE].integer == UPDATE_SIMULTANEOUS))
            return config_error(
                plan->config, term->name, "transforms", error,
                "transform %s changes the space of the released rows: this needs a side with one term over "
                "records, a mechanism, solve-at = server, and [run] update = alternating",
                id);
        if (state && mixes)
            return config_error(
                plan->config, term->name, "transforms", error,
                "transform %s changes the space of the released rows, which %s has mixed before: "
                "name %s first",
                id, mixes, id);
        if (message && (transform->rows || (transform->flags & DPF_TRANSFORM_NEEDS_DENSE)))
            mixes = id;
        if (!term->mechanism)
            return config_error(plan->config, term->name, "transforms", error,
                                "transform %s changes messages, but [%s] sends none without a mechanism: set "
                                "mechanism, or remove the transform",
                                id, term->name);
        if (term->query.has_gram &&
            (state || transform->rows || (transform->flags & DPF_TRANSFORM_NEEDS_DENSE)))
            return config_error(plan->config, term->name, "transforms", error,
                                "transform %s mixes rows, but the last row of each message of loss %s is a "
                                "Gram row with noise of its own: they cannot be combined",
                                id, term->loss->entry->component->id);
        term->whole_message = 1;
        term->by_user |= message && (transform->flags & DPF_TRANSFORM_PER_USER);
    }
    return 0;
}

/*
 * Friends' messages. Each is read by itself, by the one who links or by all who do, so nothing may need many
 * of them, and a transform of a user's whole message needs that message to be one.
 */
static int check_friends(const struct plan *plan, struct term_plan *term, struct dpf_error *error)
{
    const dpf_aggregator *aggregator = term->aggregator->functions;
    const dpf_loss *loss = term->loss->functions;
    if (term->query.has_gram)
        return config_error(
            plan->config, term->name, "loss", error,
            "loss %s reads the rows of all users at once, but friends send theirs only to those "
            "who link to them",
            term->loss->entry->component->id);
    if (!(aggregator->flags & DPF_AGGREGATOR_BY_ROWS) || (aggregator->flags & DPF_AGGREGATOR_DENSE) ||
        aggregator->scale(term->aggregator->self, 2) != 1)
        return config_error(plan->config, term->name, "aggregator", error,
                            "friends send single rows, which aggregator %s does not take: use sum",
                            term->aggregator->entry->component->id);
    if (((const dpf_mechanism *)term->mechanism->functions)->flags & DPF_MECHANISM_DENSE)
        return config_error(
            plan->config, term->name, "mechanism", error,
            "mechanism %s divides the noise among all users, but friends' messages are read one "
            "by one: use laplace, for example",
            term->mechanism->entry->component->id);
    if (plan_sends_links(term) && !(loss->flags & DPF_LOSS_SEPARABLE))
        return config_error(plan->config, term->name, "send", error,
                            "loss %s does not say which part of a link is the friend's own "
                            "(DPF_LOSS_SEPARABLE): use send = rows",
                            term->loss->entry->component->id);
    for (int i = 0; i < term->n_transforms; i++) {
        const dpf_transform *transform = term->transforms[i]->functions;
        if (transform->kind == DPF_TRANSFORM_MESSAGE &&
            (plan_sends_links(term) || transform->rows || (transform->flags & DPF_TRANSFORM_NEEDS_DENSE)))
            return config_error(plan->config, term->name, "transforms", error,
                                "transform %s changes a user's whole message, but friends send %s",
                                term->transforms[i]->entry->component->id,
                                plan_sends_links(term) ? "one for each link: use send = rows"
                                                       : "single rows");
    }
    term->by_user = term->whole_message = 1;
    return 0;
}

/*
 * Cells without a record that are not summed in a Gram row belong to whoever holds the user: a silo's
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

/* Rows can be returned as a loss reads them where a transform makes others of them, and no projection stands
 * between. */
static int check_returned(const struct plan *plan, const struct term_plan *term, struct dpf_error *error)
{
    int factors = 0;
    if (!term->returns_transformed)
        return 0;
    for (int i = 0; i < term->n_transforms; i++)
        factors |= ((const dpf_transform *)term->transforms[i]->functions)->kind == DPF_TRANSFORM_FACTOR;
    if (!factors || term->source == SOURCE_RELATION)
        return config_error(plan->config, term->name, "returned", error,
                            "returned = transformed needs a transform of the other side's rows, for example "
                            "clip-rows");
    if (plan->sides[1 - term->side].state_transform)
        return config_error(
            plan->config, term->name, "returned", error,
            "the other side's rows are seen through a projection and are returned as they are: "
            "set returned = raw");
    return 0;
}

/* A cap is kept by the engine, which leaves out users that have taken part that often. */
static int check_participations(const struct plan *plan, struct term_plan *term, struct dpf_error *error)
{
    if (term->participations == 0)
        return 0;
    int drawn = term->sampler && ((const dpf_sampler *)term->sampler->functions)->level == DPF_LEVEL_PARTY;
    if (!drawn || term->sampling.kind == DPF_SAMPLING_WEIGHTED)
        return config_error(
            plan->config, term->name, "max-participations", error,
            "max-participations caps how often a user takes part, so it needs a sampler that draws users "
            "independently of their records: set sampler = poisson-users, or max-participations = 0");
    return 0;
}

/*
 * A silo adds its users' contributions, each transformed and rounded by itself, and sends one message. Where a loss reads
 * cells without records, users without records would contribute, of whom a site does not know whether they are its
 * own; a mechanism that counts on users' messages, and a draw of users, need them one by one.
 */
static int is_pooled(const struct plan *plan, const struct side_plan *side, const struct term_plan *term)
{
    const dpf_mechanism *mechanism = term->mechanism->functions;
    return term->by_user && plan->parties.params.values[PARTIES_KIND].integer == PARTIES_SILOS_BY_USERS &&
           side->side == DPF_SIDE_ITEMS && term->source == SOURCE_RECORDS &&
           term->query.support == DPF_SUPPORT_OBSERVED && !term->query.has_gram &&
           !(mechanism->flags & (DPF_MECHANISM_PER_USER | DPF_MECHANISM_CONTRIBUTORS)) && !term->sampler;
}

/* A solver that steps after each record: nothing may need more than one record's gradient. */
static int check_by_record(const struct plan *plan, const struct side_plan *side,
                           const struct term_plan *term, struct dpf_error *error)
{
    const char *id = side->solver->entry->component->id, *why = NULL;
    if (!(side->solver_functions->flags & DPF_SOLVER_BY_RECORD))
        return 0;
    for (int i = 0; i < term->n_transforms; i++) {
        const int32_t kind = ((const dpf_transform *)term->transforms[i]->functions)->kind;
        if (kind == DPF_TRANSFORM_MESSAGE || kind == DPF_TRANSFORM_STATE)
            why = "a transform needs whole messages";
    }
    if (side->n_terms > 1 || term->source != SOURCE_RECORDS)
        why = "the side must have one term, over records";
    else if (term->query.has_gram || term->query.form != DPF_FORM_GRADIENT ||
             term->query.support != DPF_SUPPORT_OBSERVED)
        why = "the loss must be a sum of the records' gradients alone";
    else if (term->bounds_from_data || side->solve_at != SOLVE_AT_SERVER)
        why = "bounds = empirical and solve-at = party need sums";
    else if (plan->run.params.values[RUN_UPDATE].integer == UPDATE_SIMULTANEOUS)
        why = "rows change within a step: set [run] update = alternating";
    else if (term->mechanism && plan->parties.params.values[PARTIES_KIND].integer != PARTIES_USERS)
        why = "each record is its user's message: set [parties] kind = users";
    else if (term->mechanism &&
             (((const dpf_mechanism *)term->mechanism->functions)->flags & DPF_MECHANISM_DENSE))
        why = "the mechanism needs whole messages";
    else if (term->mechanism &&
             ((const dpf_aggregator *)term->aggregator->functions)->sees != DPF_SEES_MESSAGES)
        why = "the aggregator shows sums alone: use aggregator = sum";
    return why ? config_error(plan->config, plan_side_name(side->side), "solver", error,
                              "solver %s steps after each record: %s; or use solver = gradient-descent", id,
                              why)
               : 0;
}

int combinations_check_term(const struct plan *plan, const struct side_plan *side, struct term_plan *term,
                            struct dpf_error *error)
{
    if (check_transforms(plan, side, term, error) != 0 || check_returned(plan, term, error) != 0 ||
        check_by_record(plan, side, term, error) != 0)
        return -1;
    if (!term->mechanism && side->released && term->query.has_gram)
        return config_error(
            plan->config, term->name, "mechanism", error,
            "loss %s reads all rows of the other side at once (a Gram row): beside terms with a "
            "mechanism it needs one, too",
            term->loss->entry->component->id);
    /* Without a mechanism, too: a draw would take the links for records, and read rows that are not there. */
    if (term->source == SOURCE_RELATION && term->sampler)
        return config_error(
            plan->config, term->name, "sampler", error,
            "samplers draw records or the senders of a sum; a relation has neither: remove the sampler");
    if (!term->mechanism)
        return 0;
    int64_t kind = plan->parties.params.values[PARTIES_KIND].integer;
    const dpf_aggregator *aggregator = term->aggregator->functions;
    const dpf_mechanism *mechanism = term->mechanism->functions;
    if (!(aggregator->flags & DPF_AGGREGATOR_BY_ROWS))
        term->whole_message = 1;
    if (kind == PARTIES_USERS || (mechanism->flags & DPF_MECHANISM_PER_USER))
        term->by_user = 1;
    /* A draw of users needs their messages one by one, whichever party holds the records. */
    if (term->sampler && ((const dpf_sampler *)term->sampler->functions)->level == DPF_LEVEL_PARTY)
        term->by_user = 1;
    if (term->source == SOURCE_RELATION && check_friends(plan, term, error) != 0)
        return -1;
    if (check_cells(plan, term, error) != 0 || check_participations(plan, term, error) != 0)
        return -1;
    if (term->by_user && kind == PARTIES_SILOS_BY_ITEMS)
        return config_error(
            plan->config, "parties", "kind", error,
            "kind = silos-by-items: [%s] needs each user's whole contribution, but no silo has all "
            "records of a user; use silos-by-users, users or curator",
            term->name);
    term->pooled = is_pooled(plan, side, term);
    if (side->solve_at == SOLVE_AT_PARTY && (term->by_user || term->whole_message || side->n_terms > 1))
        return config_error(
            plan->config, plan_side_name(side->side), "solve-at", error,
            "solve-at = party works row by row with a single term: it cannot be combined with user "
            "parties, message transforms or aggregators that need whole messages");
    return 0;
}

/* Parties that solve keep copies of all rows, but no state of solvers between rounds. */
int combinations_check_sites(const struct plan *plan, struct dpf_error *error)
{
    for (int which = 0; which < 2; which++) {
        const struct side_plan *side = &plan->sides[which], *other = &plan->sides[1 - which];
        const char *name = plan_side_name(which);
        if (!side->updated || side->solve_at != SOLVE_AT_PARTY)
            continue;
        if (!side->released)
            return config_error(
                plan->config, name, "solve-at", error,
                "solve-at = party: solved rows are sent by a mechanism and an aggregator; without them "
                "the side is local anyway");
        if (other->updated && (other->released || other->n_terms > 1))
            return config_error(plan->config, name, "solve-at", error,
                                "solve-at = party: the other side must be local, with one term");
        if (side->state_width || (other->updated && other->state_width))
            return config_error(
                plan->config, name, "solver", error,
                "solve-at = party: a solver with memory, such as adam, has no place to keep it");
        if (plan->run.params.values[RUN_UPDATE].integer == UPDATE_SIMULTANEOUS)
            return config_error(plan->config, "run", "update", error,
                                "solve-at = party works on alternating updates");
    }
    return 0;
}

static int check_until(const struct plan *plan, struct dpf_error *error)
{
    const int64_t until = plan->run.params.values[RUN_UNTIL].integer;
    if (until == UNTIL_TRAINING_ERROR && plan->data.params.values[D_FEEDBACK].integer != 0)
        return config_error(plan->config, "run", "until", error,
                            "implicit feedback has no training RMSE: use until = rounds or released-rows");
    /* The non-private twin makes all rounds. */
    if (until == UNTIL_RELEASED_ROWS && !plan->without_mechanisms && !plan->sides[0].released &&
        !plan->sides[1].released)
        return config_error(plan->config, "run", "until", error,
                            "this rule needs a side with a mechanism, but nothing is released here");
    return 0;
}

int combinations_check_finish(const struct plan *plan, struct dpf_error *error)
{
    if (check_until(plan, error) != 0)
        return -1;
    int64_t finish = plan->run.params.values[RUN_FINAL_STEP].integer;
    if (finish == FINAL_STEP_NONE)
        return 0;
    const struct side_plan *side = &plan->sides[finish == FINAL_STEP_USERS ? DPF_SIDE_USERS : DPF_SIDE_ITEMS];
    const char *name = finish == FINAL_STEP_USERS ? "users" : "items";
    if (!side->updated)
        return config_error(plan->config, "run", "final-step", error,
                            "the %s' rows are never solved: set final-step to a side of [run] order, or none",
                            name);
    if (side->released)
        return config_error(plan->config, "run", "final-step", error,
                            "[%s] has a mechanism, so one more step would be a release that is not in the "
                            "ledger: only a local side can be solved once more",
                            name);
    if (side->solve_at == SOLVE_AT_PARTY || plan->sides[1 - side->side].solve_at == SOLVE_AT_PARTY)
        return config_error(plan->config, "run", "final-step", error,
                            "solve-at = party solves the other side once more already: remove final-step");
    return 0;
}

int combinations_check_held_out(const struct plan *plan, struct dpf_error *error)
{
    const char *why = plan->model_facts.cannot[USE_HELD_OUT_USERS];
    return plan->split.params.values[S_KIND].integer == SPLIT_USERS && why
               ? config_error(plan->config, "split", "kind", error,
                              "users: %s; hold out records instead, as with kind = per-user", why)
               : 0;
}

static int check_facts(const struct plan *plan, struct dpf_error *error)
{
    struct feature_options options;
    int status = feature_options_read(&plan->data, &options, error);
    if (status == 0)
        status = feature_file_check_sets(&options, error);
    feature_options_free(&options);
    return status;
}

int combinations_check_home_terms(const struct plan *plan, struct dpf_error *error)
{
    if (!plan->model.params.values[MODEL_HOME_TERMS].integer)
        return 0;
    if (!plan_has(plan, MODEL_HAS_FORM))
        return config_error(plan->config, "model", "home-terms", error,
                            "this model has no home terms; recommenders private-gram, private-ratings, "
                            "private-popularity and private-biases have: name one, or set home-terms = no");
    if (!*plan->data.params.values[D_ITEM_FEATURES].text)
        return config_error(
            plan->config, "model", "home-terms", error,
            "they are made of public facts about items: name their file, data.item-features, or "
            "set home-terms = no");
    return check_facts(plan, error);
}

/* ---- runs that continue after an interruption ----------------------------------------------------------- */

static int refuse_checkpoint(const struct plan *plan, const char *what, const struct instance *instance,
                             struct dpf_error *error)
{
    return config_error(plan->config, "run", "checkpoint", error,
                        "%s%s%s. A run that continues after an interruption has another key, and cannot draw "
                        "the same again; set checkpoint = false",
                        what, instance ? " " : "", instance ? instance->entry->component->id : "");
}

static int check_continues(const struct plan *plan, const struct term_plan *term, struct dpf_error *error)
{
    const dpf_mechanism *mechanism = term->mechanism ? term->mechanism->functions : NULL;
    const dpf_sampler *sampler = term->sampler ? term->sampler->functions : NULL;
    if (mechanism && term->draw_lifetime == DPF_LIFETIME_RUN)
        return refuse_checkpoint(plan, "the same noise serves the whole run in mechanism", term->mechanism,
                                 error);
    if (mechanism && (mechanism->row_state || mechanism->correlation))
        return refuse_checkpoint(plan, "noise is correlated with that of earlier rounds in mechanism",
                                 term->mechanism, error);
    if (sampler && term->sampling.kind != DPF_SAMPLING_NONE &&
        sampler_lifetime(sampler, term->sampler->self) == DPF_LIFETIME_RUN)
        return refuse_checkpoint(plan, "one draw serves the whole run in sampler", term->sampler, error);
    return 0;
}

int combinations_check_checkpoint(const struct plan *plan, struct dpf_error *error)
{
    if (!plan_has(plan, MODEL_HAS_ROUNDS))
        return config_error(plan->config, "run", "checkpoint", error,
                            "only a factorization has rounds between which its state can be kept; set "
                            "checkpoint = false");
    for (int side = 0; side < 2; side++)
        for (int t = 0; plan->sides[side].updated && t < plan->sides[side].n_terms; t++)
            if (check_continues(plan, &plan->sides[side].terms[t], error) != 0)
                return -1;
    return 0;
}
