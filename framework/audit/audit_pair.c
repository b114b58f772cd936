/* SPDX-License-Identifier: Apache-2.0 */
/* The two data sets of an audit: [data] and a file, or two that differ in a canary. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/prf.h"
#include "base/ticker.h"
#include "audit/audit_session.h"
#include "data/load.h"
#include "plan/plan_make.h"
#include "plan/release.h"
#include "data/data_options_read.h"

/* Faults of single records are listed: what they mean is known once the plan is. */
static int load_into(struct plan *plan, struct dataset *out, struct dpf_error *error)
{
    struct pool *pool = pool_new((int)sysconf(_SC_NPROCESSORS_ONLN));
    const int status = data_read(&plan->data, &plan->split, plan->seeded, pool, out, error);
    pool_free(pool); /* ends its threads: a process with threads must not fork */
    return status;
}

/* ---- a file -------------------------------------------------------------------------------------------- */

static int load_neighbour(struct audit_session *audit, const char *path, struct dpf_error *error)
{
    struct session session = {0};
    struct arguments *arguments = memory_need(1, sizeof *arguments);
    char *override = memory_format("data.path=%s", path);
    int status = 0;
    *arguments = *audit->arguments;
    if (arguments->n_overrides == MAX_OVERRIDES)
        status = error_set(error, DPF_FAULT_CONFIG, "too many overrides");
    else
        arguments->overrides[arguments->n_overrides++] = override;
    if (status == 0)
        status = session_open(&session, arguments, 0, error);
    if (status == 0)
        status = load_into(&session.plan, &audit->trials.sets[1], error);
    session_close(&session);
    free(override);
    free(arguments);
    return status;
}

static int same_catalogue(const struct dataset *a, const struct dataset *b)
{
    int same = a->items.n == b->items.n;
    for (int64_t i = 0; i < a->items.n && same; i++)
        same = strcmp(id_map_text(&a->items, i), id_map_text(&b->items, i)) == 0;
    return same;
}

/* ---- ids --------------------------------------------------------------------------------------------- */

static int find_id(const struct audit_session *audit, const struct id_map *map, enum audit_param param,
                   const char *what, int32_t *out, struct dpf_error *error)
{
    const char *text = audit_value(audit, param)->text;
    *out = -1;
    if (!*text)
        return 0;
    *out = (int32_t)id_map_find(map, text);
    return *out >= 0 ? 0
                     : config_error(audit->session.plan.config, "audit", what, error,
                                    "there is no %s \"%s\" in the training part", what, text);
}

static struct neighbours kind_of(const struct audit_session *audit)
{
    const struct plan *plan = &audit->session.plan;
    const struct dataset *base = audit->base.users.n ? &audit->base : &audit->trials.sets[0];
    const struct dataset_summary *summary = &base->summary;
    return (struct neighbours){
        .unit = plan->guarantee.unit,
        .adjacency = plan->guarantee.adjacency,
        .value_lo = isfinite(plan->value_lo) ? plan->value_lo : summary->value_min,
        .value_hi = isfinite(plan->value_hi) ? plan->value_hi : summary->value_max,
        .thin = audit->thin || base->implicit,
        .records = audit->shaped ? &audit->extreme.records : NULL,
    };
}

/* ---- two files ----------------------------------------------------------------------------------------- */

/* The user that one set lacks becomes the last one of the other, which becomes the first set. */
static int order_pair(struct audit_session *audit, struct difference *difference, struct dpf_error *error)
{
    struct trials *trials = &audit->trials;
    struct neighbours kind = kind_of(audit);
    struct dataset ordered;
    const unsigned char stays = 0;
    if (difference->larger < 0)
        return 0;
    if (difference->larger == 1) {
        ordered = trials->sets[0];
        trials->sets[0] = trials->sets[1];
        trials->sets[1] = ordered;
    }
    kind.as_they_are = 1;
    if (neighbours_make(&trials->sets[0], &kind, &difference->canary, &stays, 1, &ordered, error) != 0)
        return -1;
    dataset_free(&trials->sets[0]);
    trials->sets[0] = ordered;
    difference->canary.user = (int32_t)ordered.users.n - 1;
    return 0;
}

/* What differs is the canary; if nothing does, [audit] user and item may name one. */
static int find_difference(struct audit_session *audit, const char *path, struct dpf_error *error)
{
    struct trials *trials = &audit->trials;
    const struct plan *plan = &audit->session.plan;
    const struct dataset *const sets[2] = {&trials->sets[0], &trials->sets[1]};
    const struct neighbours kind = kind_of(audit);
    struct difference difference;
    struct canary named;
    if (neighbours_compare(sets, &kind, plan->privacy.params.values[PRIVACY_INTERACTION_PATTERN].integer != 0,
                           path, &difference, error) != 0 ||
        order_pair(audit, &difference, error) != 0 ||
        find_id(audit, &trials->sets[0].users, AUDIT_USER, "user", &named.user, error) != 0 ||
        find_id(audit, &trials->sets[0].items, AUDIT_ITEM, "item", &named.item, error) != 0)
        return -1;
    trials->canary = difference.canary.user < 0 ? named : difference.canary;
    const int other_user = named.user >= 0 && named.user != trials->canary.user;
    const int other_item = named.item >= 0 && named.item != trials->canary.item && trials->canary.item >= 0;
    if (other_user || other_item)
        return config_error(
            plan->config, "audit", other_user ? "user" : "item", error,
            "the two data sets differ in user %s%s%s: leave the key out",
            id_map_text(&trials->sets[0].users, trials->canary.user),
            trials->canary.item >= 0 ? ", item " : "",
            trials->canary.item >= 0 ? id_map_text(&trials->sets[0].items, trials->canary.item) : "");
    snprintf(audit->pair, sizeof audit->pair, "%s against %s%s", difference.larger == 1 ? path : "[data]",
             difference.larger == 1 ? "[data]" : path,
             difference.canary.user < 0 ? ", which do not differ" : "");
    return 0;
}

static int pair_of_files(struct audit_session *audit, const char *path, struct dpf_error *error)
{
    struct trials *trials = &audit->trials;
    if (load_neighbour(audit, path, error) != 0)
        return -1;
    trials->sets[0] = audit->base;
    audit->base = (struct dataset){0};
    if (!same_catalogue(&trials->sets[0], &trials->sets[1]))
        return error_set(error, DPF_FAULT_DATA,
                         "%s: its items are not those of [data]. The list of items is public in every proof; "
                         "a pair must have the same, so let another user rate what the canary does",
                         path);
    return find_difference(audit, path, error);
}

/* ---- one canary ---------------------------------------------------------------------------------------- */

/* A record at random among those that the configured ids allow; item -1 where users are the unit. */
struct lottery {
    const struct random_root *root;
    int64_t number; /* of the draw */
    int32_t user, item;
};

/* The record of the lowest draw of its two ids: others' coming and going changes the canary only where they
   are it. */
static int draw_canary(const struct audit_session *audit, struct lottery *lottery, struct canary *out)
{
    const struct dataset *base = &audit->base;
    const struct csr *users = &base->train.by_user;
    const int by_user = audit->session.plan.guarantee.unit == DPF_UNIT_USER;
    *out = (struct canary){lottery->user, by_user ? -1 : lottery->item};
    if (out->user >= 0 && (by_user || out->item >= 0))
        return 0;
    char purpose[48];
    struct prf draw, within;
    uint64_t least = 0;
    int found = 0;
    snprintf(purpose, sizeof purpose, "canary %lld", (long long)lottery->number++);
    prf_open(lottery->root, "audit", purpose, &draw);
    for (int64_t user = 0; user < users->rows; user++) {
        if (lottery->user >= 0 && user != lottery->user)
            continue;
        prf_within(&draw, id_map_text(&base->users, user), &within);
        for (int64_t k = users->ptr[user]; k < users->ptr[user + 1]; k++) {
            const int32_t item = users->others[k];
            if (lottery->item >= 0 && item != lottery->item)
                continue;
            const uint64_t value = prf_value(&within, id_map_text(&base->items, item));
            if (found && value >= least)
                continue;
            *out = (struct canary){(int32_t)user, by_user ? -1 : item};
            least = value;
            found = 1;
        }
    }
    return found ? 0 : -1;
}

static int has_record(const struct csr *csr, const struct canary *canary)
{
    for (int64_t i = csr->ptr[canary->user]; i < csr->ptr[canary->user + 1]; i++)
        if (canary->item < 0 || csr->others[i] == canary->item)
            return 1;
    return 0;
}

static int make_pair(struct audit_session *audit, const struct canary *canary, struct dpf_error *error)
{
    struct trials *trials = &audit->trials;
    const struct neighbours kind = kind_of(audit);
    trials->canary = *canary;
    trials_free(trials);
    if (!has_record(&audit->base.train.by_user, canary))
        return error_set(error, DPF_FAULT_CONFIG,
                         "[audit] user and item: the training part has no such record to be the canary");
    for (unsigned char set = 0; set < 2; set++)
        if (neighbours_make(&audit->base, &kind, canary, &set, 1, &trials->sets[set], error) != 0)
            return -1;
    if (neighbours_depart(&kind))
        trials->canary.user = (int32_t)trials->sets[0].users.n - 1;
    return trials_prepare(trials, (enum observe_view)audit_value(audit, AUDIT_VIEW)->integer, error);
}

/* How promising the pair is. Rows by themselves tell most where few records are mixed. */
static int rate_pair(struct audit_session *audit, struct pool *pool, int64_t number, double *out,
                     struct dpf_error *error)
{
    struct trials *trials = &audit->trials;
    if (trials->view != OBSERVE_ROWS)
        return trials_distance(trials, pool, number, out, error);
    const int by_item = audit->session.plan.sides[DPF_SIDE_ITEMS].released;
    const struct csr *csr = by_item ? &audit->base.train.by_item : &audit->base.train.by_user;
    const int32_t row = trials->watched[0];
    *out = -(double)(csr->ptr[row + 1] - csr->ptr[row]);
    return 0;
}

/* Whether a user's records may be replaced by fewer ones too: then both forms are candidates. */
static int replaces_by_any(const struct audit_session *audit)
{
    const struct plan *plan = &audit->session.plan;
    return plan->guarantee.unit == DPF_UNIT_USER && plan->guarantee.adjacency == DPF_ADJ_REPLACE &&
           plan->privacy.params.values[PRIVACY_INTERACTION_PATTERN].integer == 0 && !audit->base.implicit;
}

/* Keeps the largest move of all candidates. */
static int watch_move(struct audit_session *audit, struct pool *pool, int64_t number, struct dpf_error *error)
{
    struct move move;
    if (moves_find(&audit->trials, pool, number, &move, error) != 0)
        return -1;
    if (move.share > audit->move.share) {
        const struct trials *trials = &audit->trials;
        audit->move = move;
        audit->mover_shape = audit->shaped ? extremes_name(audit->shape) : NULL;
        snprintf(audit->mover, sizeof audit->mover, "%s",
                 id_map_text(&trials->sets[0].users, trials->canary.user));
    }
    return 0;
}

/* A canary, in one of the forms that it may have. */
struct attempt {
    struct canary canary;
    int thin;
    int shape; /* enum extreme; -1: the user's own records */
};

#define CANDIDATES 8

struct attempts {
    struct audit_session *audit;
    struct pool *pool;
    int64_t number;
    struct attempt best;
    double most; /* its rating */
};

/* The records that the canary's user is to have. 1: there are none of this kind. */
static int use_shape(struct audit_session *audit, int shape, struct dpf_error *error)
{
    extremes_free(&audit->extreme);
    audit->shaped = 0;
    if (shape < 0)
        return 0;
    const struct neighbours kind = kind_of(audit);
    audit->shape = (enum extreme)shape;
    const int status = extremes_make(&audit->base, &kind, audit->shape, &audit->extreme);
    if (status < 0)
        return error_memory(error);
    audit->shaped = status == 0;
    return status;
}

static int take_attempt(struct audit_session *audit, const struct attempt *attempt, struct dpf_error *error)
{
    audit->thin = attempt->thin;
    const int status = use_shape(audit, attempt->shape, error);
    return status == 0 ? make_pair(audit, &attempt->canary, error) : status;
}

static int try_attempt(struct attempts *all, struct attempt attempt, int alone, struct dpf_error *error)
{
    double rating = 0;
    const int status = take_attempt(all->audit, &attempt, error);
    if (status != 0)
        return status < 0 ? -1 : 0;
    const int64_t number = all->number++;
    ticker_add(1);
    if (interrupt_check("the pair of data sets was chosen", error) != 0)
        return -1;
    if ((!alone && rate_pair(all->audit, all->pool, number, &rating, error) != 0) ||
        watch_move(all->audit, all->pool, number, error) != 0)
        return -1;
    if (all->best.canary.user < 0 || rating > all->most) {
        all->best = attempt;
        all->most = rating;
    }
    return 0;
}

/* All kinds of records for the first user, then the one that moves most for the others. */
static int try_shapes(struct attempts *all, const struct canary *canaries, int64_t n, struct dpf_error *error)
{
    struct attempts shaped = {
        .audit = all->audit, .pool = all->pool, .number = all->number, .best = {{-1, -1}, 0, -1}};
    for (int shape = 0; shape < N_EXTREMES; shape++)
        if (try_attempt(&shaped, (struct attempt){canaries[0], 0, shape}, 0, error) != 0)
            return -1;
    for (int64_t c = 1; c < n; c++)
        if (try_attempt(&shaped, (struct attempt){canaries[c], 0, shaped.best.shape}, 0, error) != 0)
            return -1;
    all->number = shaped.number;
    if (shaped.most > all->most) {
        all->best = shaped.best;
        all->most = shaped.most;
    }
    return 0;
}

/* A guarantee for users is about whatever records they may have; not where who has what is public, or where
   rows by themselves are looked at, which tell most where few records are mixed. */
static int may_shape(const struct audit_session *audit)
{
    const struct plan *plan = &audit->session.plan;
    return plan->guarantee.unit == DPF_UNIT_USER && audit->trials.view != OBSERVE_ROWS &&
           plan->privacy.params.values[PRIVACY_INTERACTION_PATTERN].integer == 0;
}

static int try_all(struct attempts *all, struct lottery *lottery, struct canary *canaries, int64_t n,
                   int fixed, struct dpf_error *error)
{
    const int forms = replaces_by_any(all->audit) ? 2 : 1;
    for (int64_t c = 0; c < n; c++) {
        if (draw_canary(all->audit, lottery, &canaries[c]) != 0)
            return error_set(error, DPF_FAULT_CONFIG, "[audit] user or item has no records");
        for (int thin = 0; thin < forms; thin++)
            if (try_attempt(all, (struct attempt){canaries[c], thin, -1}, n * forms == 1 && fixed, error) !=
                0)
                return -1;
    }
    return !fixed && may_shape(all->audit) ? try_shapes(all, canaries, n, error) : 0;
}

static int choose_canary(struct audit_session *audit, struct lottery *lottery, struct pool *pool,
                         struct dpf_error *error)
{
    const int fixed = lottery->user >= 0 && (lottery->item >= 0 || kind_of(audit).unit == DPF_UNIT_USER);
    const int64_t n = fixed ? 1 : CANDIDATES;
    struct canary *canaries = memory_need((size_t)n, sizeof *canaries);
    struct attempts all = {.audit = audit, .pool = pool, .best = {{-1, -1}, 0, -1}};
    ticker_begin("choosing what the two data sets differ in", 0);
    const int status = try_all(&all, lottery, canaries, n, fixed, error);
    ticker_end();
    free(canaries);
    return status == 0 ? take_attempt(audit, &all.best, error) : status;
}

static void name_pair(struct audit_session *audit)
{
    const struct neighbours kind = kind_of(audit);
    const struct canary *canary = &audit->trials.canary;
    const char *user = id_map_text(&audit->trials.sets[0].users, canary->user);
    const char *item = canary->item >= 0 ? id_map_text(&audit->base.items, canary->item) : NULL;
    char whose[300], how[120];
    if (item)
        snprintf(whose, sizeof whose, "the record of user %s and item %s", user, item);
    else
        snprintf(whose, sizeof whose, "%s of user %s",
                 audit->shaped ? extremes_name(audit->shape) : "all records", user);
    const int replaced = kind.adjacency == DPF_ADJ_REPLACE_VALUE || kind.adjacency == DPF_ADJ_REPLACE;
    if (replaced && audit->shaped && !kind.thin)
        snprintf(how, sizeof how, "against the same items of value %g", kind.value_lo);
    else if (replaced && (item ? !audit->base.implicit : !kind.thin))
        snprintf(how, sizeof how, "of value %g against %g", kind.value_hi, kind.value_lo);
    else
        snprintf(how, sizeof how, "there, against %s", replaced ? "one of them alone" : "not there");
    snprintf(audit->pair, sizeof audit->pair, "%s, %s", whose, how);
}

static int pair_of_canary(struct audit_session *audit, struct dpf_error *error)
{
    struct lottery lottery;
    const uint64_t seed = (uint64_t)audit_value(audit, AUDIT_SEED)->integer;
    if (find_id(audit, &audit->base.users, AUDIT_USER, "user", &lottery.user, error) != 0 ||
        find_id(audit, &audit->base.items, AUDIT_ITEM, "item", &lottery.item, error) != 0)
        return -1;
    struct random_root *root = random_root_seeded(seed, "audit canary", error);
    struct pool *pool = pool_new(1);
    int status = root ? 0 : -1;
    lottery.root = root;
    lottery.number = 0;
    if (status == 0)
        status = choose_canary(audit, &lottery, pool, error);
    if (status == 0)
        name_pair(audit);
    pool_free(pool);
    random_root_free(root);
    return status;
}

/* ---- one run ------------------------------------------------------------------------------------------- */

static int train_once(struct audit_session *audit, struct dpf_error *error)
{
    struct plan *plan = &audit->session.plan;
    const int64_t asked = audit_value(audit, AUDIT_CANARIES)->integer;
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < plan->sides[side].n_terms; t++)
            if (plan_hides_draw(plan, &plan->sides[side].terms[t]))
                return error_set(error, DPF_FAULT_CONFIG,
                                 "[%s] sampler: an audit in one run cannot leave out a draw that is hidden "
                                 "from the observer; audit in many runs",
                                 plan->sides[side].terms[t].name);
    const int mixed = one_run_mixes_rows(plan);
    audit->thin = mixed && replaces_by_any(audit);
    if (one_run_draw(&audit->base, plan->guarantee.unit,
                     asked > 0 ? asked
                     : mixed   ? 50
                               : 1000,
                     (uint64_t)audit_value(audit, AUDIT_SEED)->integer, &audit->one_run, error) != 0)
        return -1;
    if (audit->one_run.n < asked)
        log_message(LOG_LEVEL_WARNING, "only %lld canaries have a user and an item of their own",
                    (long long)audit->one_run.n);
    struct pool *pool = pool_new(1);
    ticker_begin("training with canaries", 0);
    const int status = one_run_train(&audit->one_run, plan, &audit->base, kind_of(audit), pool, error);
    ticker_end();
    pool_free(pool);
    snprintf(audit->pair, sizeof audit->pair, "%lld canaries, each in one form or the other by a fair coin",
             (long long)audit->one_run.n);
    return status;
}

/* As a run does: faults of protected records stop nothing where the plan says so. */
static int judge_faults(struct audit_session *audit, int status, struct dpf_error *error)
{
    struct dataset *const sets[] = {&audit->base, &audit->trials.sets[0], &audit->trials.sets[1]};
    struct violations found = {.n = 0}, left_out = {.n = 0};
    for (int s = 0; s < 3; s++)
        violations_join(&found, &sets[s]->violations);
    status = plan_judge_faults(&audit->session.plan, status, &found, &left_out, error);
    if (status == 0 && left_out.n > 0)
        log_message(
            LOG_LEVEL_WARNING,
            "%lld records are at fault and left out, as a run does ([privacy] on-violation); the first: "
            "%.400s",
            (long long)left_out.n, left_out.kept ? left_out.list[0].text : "");
    violations_free(&found);
    violations_free(&left_out);
    return status;
}

int audit_pair_make(struct audit_session *audit, struct dpf_error *error)
{
    struct plan *plan = &audit->session.plan;
    const char *path = audit_value(audit, AUDIT_NEIGHBOUR)->text;
    const int one_run = audit_in_one_run(audit);
    struct trials *trials = &audit->trials;
    trials->plan = plan;
    trials->canary = (struct canary){-1, -1};
    if (plan->model_facts.cannot[USE_AUDIT])
        return config_error(plan->config, "model", "kind", error, "%s", plan->model_facts.cannot[USE_AUDIT]);
    /* Else the file would not be looked at, and a set would be compared with itself. */
    if (*path && data_is_generated(&plan->data))
        return config_error(
            plan->config, "audit", "neighbour", error,
            "[data] format = synthetic reads no file, so it has no neighbour: name a file in [data] path");
    if (*path && one_run)
        return config_error(plan->config, "audit", "neighbour", error,
                            "one-run makes its own canaries: leave one of the two out");
    if (load_into(plan, &audit->base, error) != 0 || (*path && pair_of_files(audit, path, error) != 0))
        return -1;
    const struct dataset *first = *path ? &trials->sets[0] : &audit->base;
    const int64_t users =
        *path && trials->sets[1].users.n > first->users.n ? trials->sets[1].users.n : first->users.n;
    if (judge_faults(audit, plan_complete(plan, users, first->items.n, error), error) != 0)
        return -1;
    if (one_run)
        return train_once(audit, error);
    if (!*path)
        return pair_of_canary(audit, error);
    return trials_prepare(trials, (enum observe_view)audit_value(audit, AUDIT_VIEW)->integer, error);
}
