/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/metric_release.h"

#include <math.h>
#include <stdio.h>

#include "data/data_options_read.h"

#define FINEST 20             /* log2 of a contribution of 1 in grid steps, at most */
#define GAUSSIAN_STEPS 0x1p24 /* scales in grid steps, at most: what can be drawn (base/random.h) */
#define LAPLACE_STEPS 0x1p42
#define WIDEST 0x1p40
#define CLOSE 1.0001 /* the noise is at most so much more than needed */

/* Grids depend on the scale alone. One that is coarser than a contribution is never needed: the scale is then
   too large to be drawn. */
static void set_scale(struct metric_release *release, double scale)
{
    const double bits = fmin(fmax(FINEST - floor(log2(scale)), 0), FINEST);
    release->grid = ldexp(1, -(int)bits);
    release->scale = ceil(scale / release->grid * (1 + 4e-15)) * release->grid;
}

static void state(dpf_sensitivity *sensitivity, const struct metric_release *release)
{
    dpf_norms *user = sensitivity->at[DPF_UNIT_USER], *record = sensitivity->at[DPF_UNIT_RECORD];
    *sensitivity = dpf_unstated();
    user[DPF_ADJ_ADD_REMOVE] = user[DPF_ADJ_ZERO_OUT] = release->comes;
    user[DPF_ADJ_REPLACE] = release->changes;
    record[DPF_ADJ_REPLACE_VALUE] = record[DPF_ADJ_FLIP] = release->changes;
    record[DPF_ADJ_ADD_REMOVE] = record[DPF_ADJ_ZERO_OUT] = release->changes;
}

/* A number that no term of either side, and no release of a recommender, has. */
static int32_t own_term(const struct plan *plan)
{
    return plan->sides[DPF_SIDE_USERS].n_terms + plan->recommender.n_releases;
}

static dpf_event event_of(const struct plan *plan)
{
    const struct metric_release *release = &plan->metrics;
    const int64_t rounds = plan->model_facts.rounds;
    dpf_event event = {
        .kind = release->laplace ? DPF_EVENT_DISCRETE_LAPLACE : DPF_EVENT_DISCRETE_GAUSSIAN,
        .lifetime = DPF_LIFETIME_ROUND,
        .side = DPF_SIDE_USERS,
        .count = 1,
        .term = own_term(plan),
        .blocks = 1,
        .round = rounds > 0 ? (int32_t)(rounds - 1) : 0,
        .scale = release->scale,
        .grid = release->grid,
        .sampling = {.unit = DPF_UNIT_USER, .hidden_from = -1, .rate = 1, .weight_max = 1},
    };
    state(&event.sensitivity, release);
    return event;
}

void metric_release_charge(struct plan *plan)
{
    const struct metric_release *release = &plan->metrics;
    const dpf_event event = event_of(plan);
    char source[96];
    if (release->numbers == 0)
        return;
    snprintf(source, sizeof source, "evaluation, %s noise, %d sums over users",
             release->laplace ? "Laplace" : "Gaussian", release->numbers);
    ledger_add(&plan->ledger, &event, source);
}

/* ---- how much noise ------------------------------------------------------------------------------------ */

struct search {
    struct plan *plan;
    struct instance *accountant;
    double target;
};

/* Of this release alone. */
static int is_private(const struct search *search, double scale, int *answer, struct dpf_error *error)
{
    struct plan *plan = search->plan;
    struct guarantee judged = plan->guarantee;
    struct ledger ledger = {0};
    set_scale(&plan->metrics, scale);
    const dpf_event event = event_of(plan);
    judged.accounts = NULL;
    judged.n_accounts = 0;
    ledger_add(&ledger, &event, "evaluation");
    int status = guarantee_account(&judged, &search->accountant, 1, &ledger, 1, error);
    if (status == 0 && judged.accounts[0].refused)
        status =
            config_error(plan->config, "evaluate", "release", error,
                         "accountant %s refuses the noise of the released metrics: %s. See release-noise, "
                         "and [privacy] calibrate-by for another accountant",
                         search->accountant->entry->component->id, judged.accounts[0].reason);
    *answer = status == 0 && judged.accounts[0].answer.epsilon <= search->target;
    guarantee_free(&judged);
    ledger_free(&ledger);
    return status;
}

static int refuse_target(const struct search *search, struct dpf_error *error)
{
    return config_error(
        search->plan->config, "evaluate", "release", error,
        "no noise that can be drawn gives the released metrics an epsilon of %g by accountant "
        "%s: ask for more (release-epsilon, release-share), for fewer metrics, or for a larger "
        "[privacy] delta",
        search->target, search->accountant->entry->component->id);
}

/* The least scale that is private, from the private side of a bracket. */
static int find_scale(const struct search *search, double first, struct dpf_error *error)
{
    double low = first, high = first;
    int answer;
    if (is_private(search, first, &answer, error) != 0)
        return -1;
    while (!answer) {
        low = high;
        high *= 4;
        if (high > WIDEST)
            return refuse_target(search, error);
        if (is_private(search, high, &answer, error) != 0)
            return -1;
    }
    while (answer && low == high && low > 1 / WIDEST) {
        high = low;
        low /= 4;
        if (is_private(search, low, &answer, error) != 0)
            return -1;
        if (answer)
            high = low;
    }
    while (high > low * CLOSE) {
        const double middle = sqrt(low * high);
        if (is_private(search, middle, &answer, error) != 0)
            return -1;
        *(answer ? &high : &low) = middle;
    }
    set_scale(&search->plan->metrics, high);
    return 0;
}

int metric_release_choose(struct plan *plan, struct instance *accountant, struct dpf_error *error)
{
    struct metric_release *release = &plan->metrics;
    const dpf_value *privacy = plan->privacy.params.values;
    struct search search = {.plan = plan, .accountant = accountant};
    if (!data_is_split(&plan->split))
        return config_error(
            plan->config, "evaluate", "release", error,
            "there is nothing to evaluate on, and to release metrics of, without a test part: "
            "set [split] kind");
    search.target = privacy[PRIVACY_BUDGET].integer == BUDGET_TOTAL
                        ? release->share * privacy[PRIVACY_TOTAL_EPSILON].real
                        : release->epsilon;
    const double moves = release->laplace ? release->changes.l1 : release->changes.l2;
    if (find_scale(&search, moves / search.target, error) != 0)
        return -1;
    return release->scale / release->grid <= (release->laplace ? LAPLACE_STEPS : GAUSSIAN_STEPS)
               ? 0
               : refuse_target(&search, error);
}

/* ---- conditions ---------------------------------------------------------------------------------------- */

void metric_release_judge(const struct plan *plan, struct term_facts *facts)
{
    const char *raw = plan->model_facts.cannot[USE_NOISY_METRICS];
    *facts = (struct term_facts){
        .bounded = 1,
        .reads = raw ? FROM_RAW_DATA : FROM_RELEASES,
        .has_mechanism = 1,
        .noise_where = DPF_NOISE_AT_SUM,
        .sees = DPF_SEES_SUM,
        .single_curator = 1,
        .sampling = {.unit = DPF_UNIT_USER, .hidden_from = -1, .rate = 1, .weight_max = 1},
        .exact_grid = 1,
        .unit_stated = 1,
        .dense = 1,
    };
    snprintf(facts->name, sizeof facts->name, "evaluation");
    snprintf(facts->reads_why, sizeof facts->reads_why, "%s",
             raw ? raw : "each user's metrics read released rows and that user's own records");
}
