/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/release.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dpframe/accounting.h"
#include "plan/event_check.h"
#include "plan/sensitivity.h"
#include "plan/noise_shares.h"
#include "plugin/role_tables.h"

int64_t plan_senders(const struct plan *plan, const struct term_plan *term)
{
    int64_t kind = plan->parties.params.values[PARTIES_KIND].integer;
    if (term->by_user && !term->pooled)
        return plan_rows(plan, DPF_SIDE_USERS);
    if (kind == PARTIES_SILOS_BY_USERS || kind == PARTIES_SILOS_BY_ITEMS)
        return plan->parties.params.values[PARTIES_COUNT].integer;
    return 1;
}

double plan_noise_part(const struct plan *plan, const struct term_plan *term, const dpf_noise_plan *noise,
                       int64_t messages, int64_t contributors)
{
    const dpf_mechanism *mechanism = term->mechanism->functions;
    /* Noise at the sum does not depend on the senders, so it does not show whether anybody sent. */
    if (noise->where != DPF_NOISE_AT_PARTY && noise->where != DPF_NOISE_IN_SHARES)
        return 1;
    if (mechanism->flags & DPF_MECHANISM_CONTRIBUTORS)
        return contributors > 0 ? (double)messages / (double)contributors : 1;
    return (double)messages / (double)plan_senders(plan, term);
}

int plan_hides_draw(const struct plan *plan, const struct term_plan *term)
{
    return term->sampler && term->sampling.kind != DPF_SAMPLING_NONE &&
           term->sampling.hidden_from >= plan->guarantee.observer;
}

int plan_sees_messages(const struct plan *plan, const struct term_plan *term)
{
    if (!term->mechanism || plan->guarantee.observer != DPF_OBSERVER_SERVER ||
        plan->sides[term->side].solve_at == SOLVE_AT_PARTY || plan_hides_draw(plan, term))
        return 0;
    return plan->parties.params.values[PARTIES_KIND].integer != PARTIES_CURATOR &&
           term->destination == DESTINATION_SERVER &&
           ((const dpf_aggregator *)term->aggregator->functions)->sees == DPF_SEES_MESSAGES;
}

/* How often a party releases in a round. */
int64_t release_passes(const struct plan *plan, int side)
{
    return plan->sides[side].solve_at == SOLVE_AT_PARTY
               ? plan->parties.params.values[PARTIES_LOCAL_ITERATIONS].integer
               : 1;
}

static int64_t releases_in_round(const struct plan *plan, const struct term_plan *term)
{
    int visits = 0;
    for (int i = 0; i < plan->n_order; i++)
        visits += plan->order[i] == term->side;
    return visits * release_passes(plan, term->side);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Whether there is exactly one release of the term in each round, by the party that sums all messages. */
static int is_one_a_round(const struct plan *plan, const struct term_plan *term)
{
    return releases_in_round(plan, term) == 1 && plan->sides[term->side].solve_at != SOLVE_AT_PARTY &&
           term->source == SOURCE_RECORDS;
}

/* How often a term releases, as one user sees it who is always drawn: a sampler may keep participations apart. */
static int64_t uncapped_count(const struct plan *plan, const struct term_plan *term)
{
    const int64_t rounds = plan->run.params.values[RUN_ROUNDS].integer, apart = term->sampling.separation;
    const int64_t drawn = apart > 1 ? (rounds + apart - 1) / apart : rounds;
    return term->mechanism ? drawn * releases_in_round(plan, term) : 0;
}

/* The same where max-participations ends them. */
int64_t release_count(const struct plan *plan, const struct term_plan *term)
{
    const int64_t count = uncapped_count(plan, term);
    return term->participations > 0 ? smaller(term->participations, count) : count;
}

/* What noise in shares counts on; a draw of users leaves nobody certain to send. */
static struct noise_shares plan_shares(const struct plan *plan, const struct term_plan *term)
{
    if (!(((const dpf_mechanism *)term->mechanism->functions)->flags & DPF_MECHANISM_SHARES))
        return (struct noise_shares){.honest = 1};
    return noise_shares_of(plan, term->sampling.kind == DPF_SAMPLING_NONE ? plan_senders(plan, term) : 1);
}

/* Whether the mechanism can divide its budget among blocks as the term says. */
static int check_division(const struct plan *plan, const struct term_plan *term, struct dpf_error *error)
{
    const dpf_value *list = term->block_shares;
    const char *id = term->mechanism->entry->component->id;
    double sum = 0;
    for (int64_t b = 0; b < list->count; b++)
        sum += list->reals[b];
    if (!(((const dpf_mechanism *)term->mechanism->functions)->flags & DPF_MECHANISM_DIVIDES))
        return list->count == 0 && term->gram_share == 0
                   ? 0
                   : config_error(plan->config, term->name, list->count > 0 ? "block-shares" : "gram-share",
                                  error, "mechanism %s does not divide its budget: remove the key", id);
    if (list->count > 0 && list->count != term->sent.n_blocks)
        return config_error(plan->config, term->name, "block-shares", error,
                            "a message of loss %s has %d blocks: give one number for each",
                            term->loss->entry->component->id, (int)term->sent.n_blocks);
    if (list->count > 0 && !(fabs(sum - 1) <= 1e-9))
        return config_error(plan->config, term->name, "block-shares", error, "the shares do not add up to 1");
    return 0;
}

int release_check_shares(const struct plan *plan, const struct term_plan *term, struct dpf_error *error)
{
    if (check_division(plan, term, error) != 0)
        return -1;
    const struct noise_shares shares = plan_shares(plan, term);
    return noise_shares_check(plan, term->name, &shares, plan_senders(plan, term), error);
}

void plan_release(const struct plan *plan, const struct term_plan *term, struct term_sensitivity *sensitivity,
                  int from_data, struct release_request *out)
{
    const int64_t parties = plan_senders(plan, term);
    const struct noise_shares shares = plan_shares(plan, term);
    out->joint = (dpf_joint_norms){.size = sizeof out->joint,
                                   .n = sensitivity->n_bounds,
                                   .capacity = sensitivity->n_bounds,
                                   .bounds = sensitivity->bounds};
    out->release = (dpf_release){
        .size = sizeof(dpf_release),
        .side = term->side,
        .query = &term->sent,
        .rows = term->rows,
        .unit = plan->guarantee.unit,
        .adjacency = plan->guarantee.adjacency,
        .blocks = sensitivity->blocks,
        .gram = term->sent.has_gram ? sensitivity->gram : NULL,
        .joint = &out->joint,
        .n_parties = parties,
        .min_honest = shares.honest,
        .noise_factor = plan->noise_factor > 0 ? plan->noise_factor : 1.0,
        .from_data = from_data,
        .fewer_bits = term->fewer_bits,
        .rounds = is_one_a_round(plan, term) ? plan->run.params.values[RUN_ROUNDS].integer : 0,
        .separation = term->sampling.separation > 1 ? term->sampling.separation : 1,
        .participations = release_count(plan, term),
        .max_curious = shares.curious,
        .block_shares = term->block_shares->count > 0 ? term->block_shares->reals : NULL,
        .gram_share = term->gram_share,
    };
}

/*
 * Accountants amplify each event by a draw of its own. The blocks of one release share the draw, and then the
 * product of amplified losses is not a bound: given that the unit was drawn, all blocks depend on it.
 */
static int is_charged(const struct plan *plan, const dpf_event *event)
{
    const dpf_norms *norms = &event->sensitivity.at[plan->guarantee.unit][plan->guarantee.adjacency];
    return event->kind != DPF_EVENT_NO_OP && !(event->flags & DPF_EVENT_DATA_BLIND) &&
           !(norms->l1 == 0); /* what no such unit moves costs nothing */
}

static int32_t count_charged(const struct plan *plan, const dpf_event *events, int32_t n)
{
    int32_t charged = 0;
    for (int32_t i = 0; i < n; i++)
        charged += is_charged(plan, &events[i]);
    return charged;
}

/* Steps of discrete noise from which accountants take it for a continuous one of little less variance. */
#define FINE_STEPS 16.0

/* Adds to `into`, in its units, the norms of independent noise of another scale. */
static void join_norms(const dpf_event *event, double rounding, dpf_event *into)
{
    const double unit = into->scale / event->scale;
    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++) {
            const dpf_norms *more = &event->sensitivity.at[u][a];
            dpf_norms *norms = &into->sensitivity.at[u][a];
            const double linf = unit * more->linf * rounding;
            norms->l1 = (norms->l1 + unit * more->l1) * rounding;
            norms->l2 = sqrt(norms->l2 * norms->l2 + unit * unit * more->l2 * more->l2) * rounding;
            norms->linf = isnan(linf) || linf > norms->linf ? linf : norms->linf;
        }
}

/*
 * Gaussian blocks that share a draw are one Gaussian release. Divided by its noise's scale, each block is a
 * query with noise of scale 1; side by side they are one, and if the blocks move by D_b in L2 at most, it
 * moves by the root of the sum of (D_b / s_b)^2. That is sampled once. A discrete Gaussian's Renyi divergence
 * is that bound too, whatever the grids are; where a grid matters, the coarsest in units of its noise stands
 * for all. Returns how many events are left, or n if they are not all of that kind.
 */
static int32_t join_gaussians(const struct plan *plan, dpf_event *events, int32_t n)
{
    const double rounding = 1.0 + 1e-15;
    double fewest = INFINITY;
    int32_t first = -1, kept = 0;
    for (int32_t i = 0; i < n; i++) {
        const int discrete = events[i].kind == DPF_EVENT_DISCRETE_GAUSSIAN;
        if (!is_charged(plan, &events[i]))
            continue;
        if ((!discrete && events[i].kind != DPF_EVENT_GAUSSIAN) || !(events[i].scale > 0))
            return n;
        fewest = discrete ? fmin(fewest, events[i].scale / events[i].grid) : fewest;
    }
    if (fewest < FINE_STEPS)
        return n;
    for (int32_t i = 0; i < n; i++) {
        if (!is_charged(plan, &events[i])) {
            events[kept++] = events[i];
        } else if (first < 0) {
            first = kept;
            events[kept++] = events[i];
        } else {
            join_norms(&events[i], rounding, &events[first]);
            events[first].flags |= events[i].flags;
            events[first].blocks |= events[i].blocks;
        }
    }
    events[first].kind = isinf(fewest) ? DPF_EVENT_GAUSSIAN : DPF_EVENT_DISCRETE_GAUSSIAN;
    events[first].grid = isinf(fewest) ? 0.0 : events[first].scale / fewest;
    return kept;
}

/* The estimate shows how many users sent where it is divided by that number, and so how many were drawn. */
int plan_counts_users(const struct term_plan *term)
{
    const dpf_aggregator *aggregator = term->aggregator->functions;
    void *self = term->aggregator->self;
    return term->by_user && !term->pooled && aggregator->scale(self, 1) != aggregator->scale(self, 2);
}

/*
 * A user who is drawn then brings noise along with the contribution. So what one sees without the user is not
 * what one sees of a user who sends nothing, which amplification supposes.
 */
int plan_noise_by_users(const struct term_plan *term)
{
    return term->by_user && !term->pooled &&
           (term->noise.where == DPF_NOISE_AT_PARTY || term->noise.where == DPF_NOISE_IN_SHARES);
}

/*
 * Where users are solved, all records of a user are rounded to the grid and then summed in one row, so
 * their roundings add up; mechanisms charge one grid step for each coordinate, which covers units with one
 * record in a row.
 */
static void charge_roundings(const struct plan *plan, const struct term_plan *term, dpf_event *event)
{
    if (term->side != DPF_SIDE_USERS || plan_sends_rows(term))
        return;
    const double items = (double)plan_rows(plan, DPF_SIDE_ITEMS);
    double l1 = 0, squares = 0, linf = 0;
    for (int bit = 0; bit < DPF_BLOCK_BITS; bit++) {
        const int gram = bit >= DPF_GRAM_BIT, b = bit % DPF_GRAM_BIT;
        if (!(event->blocks >> bit & 1) || b >= term->sent.n_blocks)
            continue;
        /* One block: its event's grid. Several: their steps in units of the event's scale. */
        const double scale = gram ? term->noise.gram_scale[b] : term->noise.scale[b];
        const double grid = gram ? term->noise.gram_grid[b] : term->noise.grid[b];
        const double step = ledger_block(event->blocks) >= 0 ? event->grid
                            : event->grid > 0                ? grid * (event->scale / scale)
                                                             : 0;
        const double length = term->sent.blocks[b].length;
        l1 += items * step * length;
        squares += items * step * items * step * length;
        linf = fmax(linf, items * step);
    }
    for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++) {
        dpf_norms *norms = &event->sensitivity.at[DPF_UNIT_USER][adjacency];
        if (norms->l1 == 0 && norms->l2 == 0 && norms->linf == 0)
            continue;
        norms->l1 += l1;
        norms->l2 += sqrt(squares);
        norms->linf += linf;
    }
}

/* The events of one release with these sensitivities, the term's noise planned. */
static int events_of(const struct plan *plan, struct term_plan *term, struct term_sensitivity *sensitivity,
                     dpf_event events[2 * DPF_MAX_BLOCKS], int32_t *n, struct dpf_error *error)
{
    struct instance *instance = term->mechanism;
    struct release_request request;
    plan_release(plan, term, sensitivity, term->bounds_from_data, &request);
    *n = 0;
    memset(events, 0, 2 * DPF_MAX_BLOCKS * sizeof *events);
    if (instance_result(
            instance,
            ((const dpf_mechanism *)instance->functions)
                ->events(instance->self, &request.release, &term->noise, events, 2 * DPF_MAX_BLOCKS, n),
            "events", error) != 0)
        return -1;
    for (int32_t i = 0; i < *n; i++) {
        events[i].side = term->side;
        events[i].term = (int32_t)(term - plan->sides[term->side].terms);
        plan_known_rows(&events[i].sensitivity);
        charge_roundings(plan, term, &events[i]);
    }
    return 0;
}

/* ---- privacy weights ----------------------------------------------------------------------------- */

static const dpf_norms *of_value(const dpf_event *event)
{
    return &event->sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE];
}

/* The events as they would be if a value changed by `part` of the largest change. */
static int partial_change(const struct plan *plan, struct term_plan *term, double part,
                          dpf_event out[2 * DPF_MAX_BLOCKS], int32_t *n, struct dpf_error *error)
{
    struct term_sensitivity partial;
    dpf_bounds bounds = term->bounds;
    bounds.value_change = part * fmin(bounds.value_change, bounds.value_hi - bounds.value_lo);
    return plan_term_sensitivity(term, &bounds, &partial, error) != 0
               ? -1
               : events_of(plan, term, &partial, out, n, error);
}

static int on_line(double stated, double fixed, double all, double part)
{
    return stated <= (fixed + part * (all - fixed)) * (1 + 1e-9);
}

/*
 * Whether a change of W times the largest moves every event by fixed + W (all - fixed) at most. It does not
 * where an error or a message is clipped: there a small change can move as much as a large one. Looked at for
 * W = 1/2, 1/4, ... 2^-16; `fixed` is what a change of next to nothing moves by rounding.
 */
static int moves_in_proportion(const struct plan *plan, struct term_plan *term, const dpf_event *events,
                               int32_t n_events, dpf_event fixed[2 * DPF_MAX_BLOCKS], int *answer,
                               struct dpf_error *error)
{
    dpf_event part[2 * DPF_MAX_BLOCKS];
    int32_t n;
    if (partial_change(plan, term, 0x1p-40, fixed, &n, error) != 0)
        return -1;
    *answer = n == n_events;
    for (int k = 1; k <= 16 && *answer; k++) {
        const double w = ldexp(1, -k);
        if (partial_change(plan, term, w, part, &n, error) != 0)
            return -1;
        *answer &= n == n_events;
        for (int32_t i = 0; i < n && *answer; i++) {
            const dpf_norms *now = of_value(&part[i]), *least = of_value(&fixed[i]),
                            *all = of_value(&events[i]);
            *answer &= part[i].blocks == events[i].blocks && fixed[i].blocks == events[i].blocks &&
                       on_line(now->l1, least->l1, all->l1, w) && on_line(now->l2, least->l2, all->l2, w) &&
                       on_line(now->linf, least->linf, all->linf, w);
        }
    }
    return 0;
}

/* Whether values of this term's records are multiplied by weights, and sensitivities follow. */
static int weights_count(const struct plan *plan, struct term_plan *term, const dpf_event *events, int32_t n,
                         dpf_event fixed[2 * DPF_MAX_BLOCKS], int *answer, struct dpf_error *error)
{
    int by_weight = 0;
    for (int i = 0; i < term->n_transforms; i++)
        by_weight |=
            (((const dpf_transform *)term->transforms[i]->functions)->flags & DPF_TRANSFORM_BY_WEIGHT) != 0;
    *answer = 0;
    if (!by_weight || term->source != SOURCE_RECORDS || !(term->bounds.value_change > 0) ||
        !isfinite(term->bounds.value_change))
        return 0;
    return moves_in_proportion(plan, term, events, n, fixed, answer, error);
}

/* Of what is charged: what a change of nothing moves, rounding to the grid included, and rounding of the
 * value. */
static double rest(double charged, double fixed, double rounded)
{
    return fmin(charged, fixed + rounded * charged);
}

/*
 * What does not shrink with a weight. A multiplied value is rounded to float32, by 2^-24 of the largest at
 * both ends of a change; contributions are rounded to the grid.
 */
static void weigh(const struct term_plan *term, const dpf_event *fixed, dpf_event *event)
{
    const dpf_bounds *bounds = &term->bounds;
    const dpf_norms charged = *of_value(event), least = *of_value(fixed);
    const double largest = fmax(fabs(bounds->value_lo), fabs(bounds->value_hi));
    const double rounded = fmin(0x1p-22 * largest / bounds->value_change, 1);
    event->weighted = 1;
    event->unweighted = charged;
    if (!term->query.has_gram)
        event->unweighted =
            (dpf_norms){rest(charged.l1, least.l1, rounded), rest(charged.l2, least.l2, rounded),
                        rest(charged.linf, least.linf, rounded)};
}

/* ---- a limit on participations ------------------------------------------------------------------------- */

/* The smallest epsilon that an accountant proves of count such releases under that draw; infinity if none does. */
static int epsilon_of(const struct plan *plan, const dpf_event *event, int64_t count,
                      const dpf_sampling *sampling, double *epsilon, struct dpf_error *error)
{
    struct guarantee judged = plan->guarantee;
    struct ledger ledger = {0};
    dpf_event charged = *event;
    charged.count = count;
    charged.sampling = *sampling;
    judged.accounts = NULL;
    judged.n_accounts = 0;
    *epsilon = INFINITY;
    ledger_add(&ledger, &charged, "");
    const int status = guarantee_account(&judged, plan->accountants, plan->n_accountants, &ledger,
                                         plan->run.params.values[RUN_ROUNDS].integer, error);
    for (int i = 0; status == 0 && i < judged.n_accounts; i++)
        if (!judged.accounts[i].is_claim && !judged.accounts[i].refused)
            *epsilon = fmin(*epsilon, judged.accounts[i].answer.epsilon);
    guarantee_free(&judged);
    ledger_free(&ledger);
    return status;
}

/*
 * A user who is drawn in secret with probability q in each of T rounds, and takes part K times at most, can be charged in two
 * ways, and the term takes the cheaper one.
 *
 * K releases without amplification: given all draws, the user is in K of them at most.
 *
 * T releases with rate q, as if there were no limit. Whether the user is left out in a round follows from the user's own
 * draws alone. Fix the draws of all others: they are the same in both neighbours, and independent of the user's, and
 * divergences are jointly convex. Given what was released before, the user is drawn in round t (probability q, independent
 * of it), and then takes part with the probability that the limit is not reached, given the releases. So the release has the
 * law (1 - q') Q + q' P with some q' <= q that the releases before it determine, against Q. That is no easier to
 * tell from Q than (1 - q) Q + q P is: keep that one's outcome with probability q'/q and draw from Q otherwise, which turns
 * one pair into the other, in either direction. Dominating pairs of each round, given the rounds before, compose (Zhu, Dong,
 * Wang, arXiv 2106.08567, Theorem 10); Renyi divergences do as well.
 */
static int choose_charge(const struct plan *plan, const struct term_plan *term, const dpf_event *events,
                         int32_t n, int64_t *count, dpf_sampling *sampling, struct dpf_error *error)
{
    const int64_t all = uncapped_count(plan, term);
    const dpf_question question = {.unit = plan->guarantee.unit,
                                   .adjacency = plan->guarantee.adjacency,
                                   .observer = plan->guarantee.observer};
    dpf_sampling seen = term->sampling;
    double limited = INFINITY, amplified = 0;
    *sampling = term->sampling;
    if (term->participations == 0 || *count == all)
        return 0;
    seen.hidden_from = -1;
    for (int32_t i = 0; i < n && dpf_amplifies(sampling, &question); i++)
        if (is_charged(plan, &events[i]) &&
            (epsilon_of(plan, &events[i], *count, &seen, &limited, error) != 0 ||
             epsilon_of(plan, &events[i], all, sampling, &amplified, error) != 0))
            return -1;
    if (amplified < limited && dpf_amplifies(sampling, &question))
        *count = all;
    else
        *sampling = seen;
    return 0;
}

/* What claims of publications read of an event. */
static void describe_for_claims(const struct plan *plan, const struct term_plan *term, dpf_event *event)
{
    const dpf_aggregator *aggregator = term->aggregator ? term->aggregator->functions : NULL;
    const dpf_sampling *sampling = &term->sampling;
    const double share =
        sampling->kind != DPF_SAMPLING_NONE && sampling->unit == DPF_UNIT_USER && sampling->rate > 0
            ? sampling->rate
            : 1;
    event->messages =
        aggregator && aggregator->sees == DPF_SEES_SUM ? share * (double)plan_senders(plan, term) : 1;
    event->numbers = (double)plan->sides[term->side].state_rows * (double)term->query.width;
}

/* Events of one term, whose noise is planned; count is how often it releases. */
int release_complete(struct plan *plan, struct term_plan *term, int64_t count, struct dpf_error *error)
{
    struct instance *instance = term->mechanism;
    const dpf_mechanism *mechanism = instance->functions;
    term->draw_lifetime = mechanism_lifetime(mechanism, instance->self);
    dpf_event events[2 * DPF_MAX_BLOCKS], fixed[2 * DPF_MAX_BLOCKS];
    int32_t n = 0;
    int weighted = 0;
    if (events_of(plan, term, &term->sensitivity, events, &n, error) != 0 ||
        event_check(term, &term->sensitivity, events, n, error) != 0 ||
        weights_count(plan, term, events, n, fixed, &weighted, error) != 0)
        return -1;
    if (plan_counts_users(term) || plan_noise_by_users(term) || mechanism->correlation)
        term->sampling.hidden_from = -1;
    const int32_t apart = n;
    if (term->sampling.hidden_from >= 0 && count_charged(plan, events, n) > 1)
        n = join_gaussians(plan, events, n);
    if (count_charged(plan, events, n) > 1)
        term->sampling.hidden_from = -1;
    dpf_sampling charged;
    if (choose_charge(plan, term, events, n, &count, &charged, error) != 0)
        return -1;
    for (int32_t i = 0; i < n; i++) {
        if (weighted && n == apart)
            weigh(term, &fixed[i], &events[i]);
        events[i].count = events[i].kind == DPF_EVENT_CORRELATED_GAUSSIAN ? 1 : count;
        events[i].round = 0;
        events[i].lifetime = term->draw_lifetime;
        /* Passes that share the round's draw: the later ones read rows that depend on its noise. */
        if (release_passes(plan, term->side) > 1 && term->draw_lifetime == DPF_LIFETIME_ROUND)
            events[i].lifetime = DPF_LIFETIME_RUN;
        events[i].sampling = charged;
        describe_for_claims(plan, term, &events[i]);
        if (term->bounds_from_data)
            events[i].flags |= DPF_EVENT_BOUNDS_FROM_DATA;
        char source[224], which[80] = "";
        dpf_text_add_blocks(which, sizeof which, events[i].blocks);
        snprintf(source, sizeof source, "%.40s, mechanism %.30s, %s%s", term->name,
                 instance->entry->component->id, which,
                 n < apart && is_charged(plan, &events[i]) ? " and all that shares its draw" : "");
        struct ledger_entry *entry = ledger_add(&plan->ledger, &events[i], source);
        entry->per_round = releases_in_round(plan, term);
        entry->participations = count;
    }
    return 0;
}

dpf_aggregator_limits plan_aggregator_limits(const struct plan *plan, const struct term_plan *term)
{
    const dpf_aggregator *aggregator = term->aggregator->functions;
    const int64_t parties = plan_senders(plan, term);
    dpf_aggregator_limits limits = {.size = sizeof limits, .parties = 1};
    if (aggregator->limits)
        aggregator->limits(term->aggregator->self, parties, &limits);
    return limits;
}

/*
 * The party that opens a sum must not open one that lacks noise: of fewer messages than the mechanism counts
 * on, or of which more parties can take off their shares than it bears.
 */
static int check_trust(const struct plan *plan, const struct term_plan *term, struct dpf_error *error)
{
    const dpf_aggregator *aggregator = term->aggregator->functions;
    const dpf_noise_plan *noise = &term->noise;
    const dpf_aggregator_limits limits = plan_aggregator_limits(plan, term);
    if (aggregator->sees != DPF_SEES_SUM || noise->where == DPF_NOISE_AT_SUM)
        return 0;
    if (limits.survivors > 0 && limits.survivors < noise->least_survivors)
        return config_error(
            plan->config, term->name, "aggregator", error,
            "%s opens sums of %lld messages, but mechanism %s needs sums of at least %lld messages, of which "
            "%lld may come from curious parties, for enough noise; raise survivors, or remove it",
            term->aggregator->entry->component->id, (long long)limits.survivors,
            term->mechanism->entry->component->id, (long long)noise->least_survivors,
            (long long)noise->spare_shares);
    if (plan->guarantee.observer == DPF_OBSERVER_PARTIES && noise->where == DPF_NOISE_IN_SHARES &&
        limits.corrupt > noise->spare_shares)
        return config_error(
            plan->config, term->name, "aggregator", error,
            "%s assumes that up to %lld parties collude with the server (corrupt, times their number), but "
            "the noise of mechanism %s holds against %lld; lower corrupt, or raise [privacy] max-curious",
            term->aggregator->entry->component->id, (long long)limits.corrupt,
            term->mechanism->entry->component->id, (long long)noise->spare_shares);
    return 0;
}

/* Where noise is added must fit who solves and who sends what. */
int release_check_noise(const struct plan *plan, const struct side_plan *side, const struct term_plan *term,
                        struct dpf_error *error)
{
    int64_t kind = plan->parties.params.values[PARTIES_KIND].integer;
    const char *id = term->mechanism->entry->component->id;
    const dpf_mechanism *mechanism = term->mechanism->functions;
    if (check_trust(plan, term, error) != 0)
        return -1;
    if (side->solve_at == SOLVE_AT_PARTY && (mechanism->flags & DPF_MECHANISM_CONTRIBUTORS))
        return config_error(
            plan->config, plan_side_name(side->side), "solve-at", error,
            "solve-at = party: mechanism %s divides the noise among the parties that send a row, but each "
            "party solves alone",
            id);
    if ((mechanism->flags & DPF_MECHANISM_CONTRIBUTORS) && term->sampler &&
        ((const dpf_sampler *)term->sampler->functions)->level == DPF_LEVEL_PARTY)
        return config_error(
            plan->config, term->name, "sampler", error,
            "mechanism %s divides the noise among all parties that have records of a row, but sampler "
            "%s leaves some out, and their share of the noise with them",
            id, term->sampler->entry->component->id);
    if ((side->solver_functions->flags & DPF_SOLVER_BY_RECORD) &&
        (term->noise.where == DPF_NOISE_AT_SUM || mechanism->row_state || mechanism->correlation))
        return config_error(
            plan->config, term->name, "mechanism", error,
            "solver %s steps after each record, so each message must carry its own noise, but mechanism %s "
            "adds noise to sums, or correlates it between rounds; set where = party, or another solver",
            side->solver->entry->component->id, id);
    if (kind == PARTIES_CURATOR && !term->by_user)
        return 0;
    if (side->solve_at == SOLVE_AT_PARTY &&
        (term->noise.where == DPF_NOISE_AT_SUM || term->noise.where == DPF_NOISE_IN_SHARES))
        return config_error(
            plan->config, plan_side_name(side->side), "solve-at", error,
            "solve-at = party: each party solves its own noisy query, so mechanism %s must add all of "
            "the noise at the party, not at the sum or in shares",
            id);
    int all_send = term->by_user ? side->side == DPF_SIDE_ITEMS
                                 : kind == (side->side == DPF_SIDE_ITEMS ? PARTIES_SILOS_BY_USERS
                                                                         : PARTIES_SILOS_BY_ITEMS);
    if (term->query.has_gram && term->noise.where == DPF_NOISE_IN_SHARES && !all_send)
        return config_error(
            plan->config, term->name, "mechanism", error,
            "mechanism %s divides the noise among the parties, but a single one sends the Gram row "
            "of loss %s",
            id, term->loss->entry->component->id);
    return 0;
}
