/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/recommender_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/components.h"
#include "plan/model_type.h"
#include "plan/recommender_sums.h"
#include "plan/sensitivity.h"
#include "reading/data_params.h"

_Static_assert((int)DPF_PARTIES_CURATOR == PARTIES_CURATOR &&
                   (int)DPF_PARTIES_SILOS_BY_USERS == PARTIES_SILOS_BY_USERS &&
                   (int)DPF_PARTIES_SILOS_BY_ITEMS == PARTIES_SILOS_BY_ITEMS &&
                   (int)DPF_PARTIES_USERS == PARTIES_USERS,
               "kinds of parties are the ABI's");
_Static_assert((int)DPF_READS_CONSTANTS == FROM_CONSTANT && (int)DPF_READS_RELEASES == FROM_RELEASES &&
                   (int)DPF_READS_OWN_RECORDS == FROM_OWN_RECORD && (int)DPF_READS_RAW == FROM_RAW_DATA,
               "provenances are the ABI's");

/* ---- beside the factorization ---------------------------------------------------------------------- */

static void refuse_key(const struct plan *plan, const char *section, const char *key)
{
    config_error(plan->config, section, key, plan->error,
                 "[%s] %s belongs to a factorization, but [model] recommender = %s takes its place: remove "
                 "the key, or write \"recommender =\"",
                 section, key, plan->model.params.values[MODEL_RECOMMENDER].text);
}

static void refuse_values(const struct plan *plan, const struct config_values *values, const int *indices,
                          size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (values->params.values[indices[i]].is_set)
            refuse_key(plan, values->section, values->table[indices[i]].name);
}

static int is_side_section(const char *section)
{
    return strncmp(section, "users", 5) == 0 || strncmp(section, "items", 5) == 0
               ? section[5] == '\0' || section[5] == '.'
               : 0;
}

static void refuse_factorization(const struct plan *plan)
{
    static const int run[] = {RUN_ROUNDS, RUN_UNTIL, RUN_TOLERANCE, RUN_ORDER, RUN_UPDATE};
    static const int model[] = {MODEL_RANK,         MODEL_USER_BIAS, MODEL_ITEM_BIAS,  MODEL_OFFSET,
                                MODEL_OFFSET_VALUE, MODEL_INIT,      MODEL_INIT_SCALE, MODEL_INIT_NORM};
    for (int64_t i = 0; i < config_size(plan->config); i++) {
        const struct config_entry *entry = config_at(plan->config, i);
        if (is_side_section(entry->section))
            refuse_key(plan, entry->section, entry->key);
    }
    refuse_values(plan, &plan->run, run, sizeof run / sizeof run[0]);
    refuse_values(plan, &plan->model, model, sizeof model / sizeof model[0]);
}

/* Whether the model has a part for each user that it was trained on. */
static int has_rows_of_users(const struct recommender_plan *component)
{
    uint64_t few = 0, many = 0;
    void *self = component->instance->self;
    return component->functions->state_bytes(self, 2, 100, &few) == DPF_OK &&
           component->functions->state_bytes(self, 2000, 100, &many) == DPF_OK && few != many;
}

static void say_facts(struct plan *plan)
{
    const struct recommender_plan *component = &plan->recommender;
    const uint32_t flags = component->functions->flags(component->instance->self);
    struct model_facts *facts = &plan->model_facts;
    *facts = (struct model_facts){
        .has = MODEL_TRAINS | MODEL_TELLS | (flags & DPF_RECOMMENDER_PREDICTS_VALUES ? 0 : MODEL_RANKS_ONLY) |
               (flags & DPF_RECOMMENDER_SCORES_AT_HOME ? MODEL_AT_HOME : 0) |
               (flags & DPF_RECOMMENDER_SUMS_USERS ? MODEL_DIVIDES : 0) |
               (flags & DPF_RECOMMENDER_READS_VOIDS ? MODEL_READS_VOIDS : 0) |
               (component->functions->form ? MODEL_HAS_FORM : 0),
        .id = component->instance->entry->component->id,
        .version = component->instance->entry->component->version,
        .rounds = 1,
        /* Its state covers items; a list of users is not part of it. */
        .released = {[DPF_SIDE_ITEMS] = (flags & DPF_RECOMMENDER_STATE_RELEASED) != 0}};
    if (!facts->released[DPF_SIDE_ITEMS])
        facts->cannot[USE_NOISY_METRICS] =
            "scores are made from a state that is not released, and reads the records of others";
    snprintf(facts->clause, sizeof facts->clause,
             "the model of recommender %s has a part for each user that it was trained on, and none for "
             "held-out users",
             facts->id);
    if (has_rows_of_users(component))
        facts->cannot[USE_HELD_OUT_USERS] = facts->clause;
}

static void recommender_plan_make(struct plan *plan)
{
    const dpf_value *v = plan->model.params.values;
    const char *id = v[MODEL_RECOMMENDER].text;
    if (v[MODEL_KIND].integer != MODEL_FACTORIZATION)
        config_error(plan->config, "model", "kind", plan->error,
                     "kind names a baseline and recommender = %s another model: remove one of them", id);
    if (!plan->stand_in)
        refuse_factorization(plan);
    plan->recommender.instance =
        components_make_named(plan, DPF_ROLE_RECOMMENDER, "model", "recommender", id);
    if (plan_failed(plan))
        return;
    plan->recommender.functions = plan->recommender.instance->functions;
    say_facts(plan);
    recommender_sums_make(plan);
}

int plan_releases_read_items(const struct plan *plan)
{
    return *plan->data.params.values[D_ITEM_FEATURES].text &&
           plan->model.params.values[MODEL_HOME_TERMS].integer != HOME_TERMS_ONLY;
}

/* ---- releases --------------------------------------------------------------------------------------- */

static dpf_recommender_setup setup_of(const struct plan *plan)
{
    return (dpf_recommender_setup){
        .size = sizeof(dpf_recommender_setup),
        .parties = (int32_t)plan->parties.params.values[PARTIES_KIND].integer,
        .n_users = plan->n_users > 0 ? plan->n_users : INT32_MAX,
        .n_items = plan->n_items > 0 ? plan->n_items : INT32_MAX,
        .value_lo = plan->value_lo,
        .value_hi = plan->value_hi,
        .noise_factor = plan->noise_factor > 0 ? plan->noise_factor : 1.0,
        .without_noise = plan->without_mechanisms,
        .unit = plan->guarantee.unit,
        .adjacency = plan->guarantee.adjacency,
        .item_features = plan_releases_read_items(plan),
        .shares = recommender_sums_shares(plan),
    };
}

static void start_releases(dpf_recommender_release *releases)
{
    memset(releases, 0, DPF_MAX_RELEASES * sizeof *releases);
    for (int i = 0; i < DPF_MAX_RELEASES; i++) {
        dpf_event *event = &releases[i].event;
        event->count = 1;
        event->lifetime = DPF_LIFETIME_ROUND;
        event->sampling =
            (dpf_sampling){.unit = DPF_UNIT_USER, .hidden_from = -1, .rate = 1.0, .weight_max = 1.0};
        event->sensitivity = dpf_unstated();
    }
}

/* Numbers that conditions and accountants index tables with. */
static int check_release(const struct plan *plan, const dpf_recommender_release *release,
                         struct dpf_error *error)
{
    const char *id = plan->recommender.instance->entry->component->id;
    const dpf_event *event = &release->event;
    uint64_t reserved = (uint32_t)release->reserved;
    for (size_t i = 0; i < sizeof release->reserved_words / sizeof *release->reserved_words; i++)
        reserved |= release->reserved_words[i];
    if (reserved != 0)
        return error_set(
            error, DPF_FAULT_PLUGIN,
            "[model.recommender] recommender %s: its release %d states something that this version "
            "of dpframe does not know; use a newer one",
            id, (int)(release - plan->recommender.releases));
    if (release->reads < DPF_READS_CONSTANTS || release->reads > DPF_READS_RAW ||
        release->noise_where < DPF_NOISE_NOWHERE || release->noise_where > DPF_NOISE_IN_SHARES ||
        (release->sees != DPF_SEES_MESSAGES && release->sees != DPF_SEES_SUM) ||
        (release->flags & ~DPF_RELEASE_FACTS) || event->count < 0 ||
        (event->side != DPF_SIDE_USERS && event->side != DPF_SIDE_ITEMS) ||
        !memchr(release->name, '\0', sizeof release->name) ||
        !memchr(release->why, '\0', sizeof release->why))
        return error_set(error, DPF_FAULT_PLUGIN,
                         "[model.recommender] recommender %s: a fact about its release %d is out of range",
                         id, (int)(release - plan->recommender.releases));
    /* Accountants charge nothing for these. */
    if ((event->kind == DPF_EVENT_NO_OP || (event->flags & DPF_EVENT_DATA_BLIND)) && event->count > 0 &&
        release->reads > DPF_READS_RELEASES)
        return error_set(
            error, DPF_FAULT_PLUGIN,
            "[model.recommender] recommender %s: the event of its release %d (%.47s, %s) costs nothing, "
            "but the release reads records; nothing is proved with such a component: use another, or "
            "mend its function releases",
            id, (int)(release - plan->recommender.releases), release->name, dpf_event_kind_name(event->kind));
    if ((release->flags & DPF_RELEASE_SENT_BY_USERS) &&
        plan->parties.params.values[PARTIES_KIND].integer == PARTIES_SILOS_BY_ITEMS)
        return config_error(
            plan->config, "parties", "kind", error,
            "kind = silos-by-items: recommender %s sends each user's whole contribution, but no silo has "
            "all records of a user; use users, silos-by-users or curator",
            id);
    return 0;
}

/*
 * Accountants amplify each event by a draw of its own that the observer does not see. That is wrong where two
 * releases can share a draw, also copies of one, and where what is released shows who, or how many, were
 * drawn.
 */
static int may_amplify(const dpf_recommender_release *release, int32_t n_releases)
{
    return n_releases == 1 && release->event.count <= 1 &&
           !(release->flags &
             (DPF_RELEASE_COUNTS_USERS | DPF_RELEASE_NOISE_BY_USERS | DPF_RELEASE_ROW_OF_USER));
}

static int recommender_plan_complete(struct plan *plan, struct dpf_error *error)
{
    struct recommender_plan *component = &plan->recommender;
    struct instance *instance = component->instance;
    if (recommender_sums_check(plan, error) != 0)
        return -1;
    component->setup = setup_of(plan);
    component->n_releases = 0;
    plan->ledger.n = 0;
    start_releases(component->releases);
    int32_t n = 0;
    if (instance_result(instance,
                        component->functions->releases(instance->self, &component->setup, component->releases,
                                                       DPF_MAX_RELEASES, &n),
                        "releases", error) != 0)
        return -1;
    if (n < 0 || n > DPF_MAX_RELEASES)
        return error_set(error, DPF_FAULT_PLUGIN,
                         "[model.recommender] recommender %s: %d releases, at most %d were asked for",
                         instance->entry->component->id, (int)n, DPF_MAX_RELEASES);
    for (int32_t i = 0; i < n; i++) {
        dpf_recommender_release *release = &component->releases[i];
        char source[96];
        if (check_release(plan, release, error) != 0 || recommender_sums_complete(plan, i, error) != 0)
            return -1;
        release->event.term = i;
        release->event.blocks = 1;
        plan_known_rows(&release->event.sensitivity);
        release->event.round = 0;
        if (!may_amplify(release, n))
            release->event.sampling.hidden_from = -1;
        snprintf(source, sizeof source, "recommender %.30s, %.48s", instance->entry->component->id,
                 release->name);
        ledger_add(&plan->ledger, &release->event, source);
        component->n_releases++;
    }
    return 0;
}

const struct model_type component_type = {TYPE_COMPONENT, recommender_plan_make, recommender_plan_complete,
                                          recommender_plan_complete};

/* ---- conditions -------------------------------------------------------------------------------------- */

static void judge_event(const struct plan *plan, const dpf_event *event, struct term_facts *facts)
{
    const dpf_norms *norms = &event->sensitivity.at[plan->guarantee.unit][plan->guarantee.adjacency];
    int stated = !isnan(norms->l1) || !isnan(norms->l2);
    facts->bounded = !(event->flags & DPF_EVENT_BOUNDS_FROM_DATA);
    facts->unit_stated = isfinite(norms->l1) || isfinite(norms->l2);
    if (!facts->bounded)
        snprintf(facts->unbounded_why, sizeof facts->unbounded_why, "a bound is taken from private data");
    if (!facts->unit_stated)
        snprintf(facts->unit_why, sizeof facts->unit_why,
                 stated ? "it has no finite sensitivity for this unit"
                        : "the recommender states no sensitivity for this unit and adjacency");
    if (stated && !facts->unit_stated && facts->bounded) {
        facts->bounded = 0;
        snprintf(facts->unbounded_why, sizeof facts->unbounded_why,
                 "nothing public bounds how far one unit moves it");
    }
    facts->noise_known = (event->flags & DPF_EVENT_NOISE_KNOWN) != 0;
    facts->exact_grid = !(event->flags & DPF_EVENT_FLOATING_POINT);
    facts->sampling = event->sampling;
}

void recommender_plan_judge(const struct plan *plan, int32_t index, struct term_facts *facts)
{
    const dpf_recommender_release *release = &plan->recommender.releases[index];
    snprintf(facts->name, sizeof facts->name, "%s",
             *release->name ? release->name : plan->recommender.instance->entry->component->id);
    judge_event(plan, &release->event, facts);
    facts->has_mechanism = release->noise_where != DPF_NOISE_NOWHERE;
    facts->noise_where = release->noise_where;
    facts->reads = (enum provenance)release->reads;
    snprintf(facts->reads_why, sizeof facts->reads_why, "%s",
             *release->why ? release->why
                           : "it reads numbers that are computed from private data without noise");
    facts->single_curator = plan->parties.params.values[PARTIES_KIND].integer == PARTIES_CURATOR;
    facts->sees = facts->single_curator ? DPF_SEES_SUM : release->sees;
    facts->support_observed = (release->flags & DPF_RELEASE_OBSERVED_ONLY) != 0;
    facts->dense = !facts->support_observed;
    facts->reads_degrees = (release->flags & DPF_RELEASE_READS_DEGREES) != 0;
    facts->loses_cells =
        (facts->support_observed || facts->reads_degrees) && !plan_has(plan, MODEL_READS_VOIDS);
    facts->row_each = (release->flags & DPF_RELEASE_ROW_OF_USER) != 0;
    facts->sent_by_users = (release->flags & DPF_RELEASE_SENT_BY_USERS) && !facts->single_curator;
    facts->counts_users = (release->flags & DPF_RELEASE_COUNTS_USERS) != 0;
    facts->noise_by_users = (release->flags & DPF_RELEASE_NOISE_BY_USERS) != 0;
    facts->component_may_stop =
        !(plan->recommender.functions->flags(plan->recommender.instance->self) & DPF_RECOMMENDER_ALWAYS_ENDS);
    recommender_sums_judge(plan, index, facts);
}
