/* SPDX-License-Identifier: Apache-2.0 */
/* One training of an attack, and what is seen of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/attack.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/model_scorer.h"
#include "score/lists.h"

/* What a training needs beside the attack. */
struct viewing {
    struct attack *attack;
    struct model *model;
    int64_t training;
    double *scores; /* of all items */
    double *best;   /* of a list */
    int32_t *list;
    int32_t *exposure; /* by item */
    struct scorer scorer;
    struct score_desk desk;
};

/* Anew, once what scores are made of has changed. */
static int open_scorer(struct viewing *v, struct dpf_error *error)
{
    scorer_close(&v->scorer);
    score_desk_free(&v->desk);
    return model_scorer(v->model, &v->scorer, error);
}

static float *cell(const struct viewing *v, enum attack_view view, int64_t target)
{
    const struct attack *attack = v->attack;
    return attack->numbers[view] + (v->training * attack->n_targets + target) * attack->width[view];
}

/* A model that has diverged tells something too, but not through infinite numbers. */
static float number(double value)
{
    return isfinite(value) ? (float)fmax(-1e30, fmin(1e30, value)) : 0;
}

/* ---- lists --------------------------------------------------------------------------------------------- */

/* The first items by score among those that the user has no training record of; equal scores in the order of
   items. Returns how many there are. */
static int64_t make_list(struct viewing *v, const struct dataset *dataset, int32_t user,
                         struct dpf_error *error)
{
    const int64_t items = dataset->items.n;
    const struct csr *own = &dataset->train.by_user;
    if (scorer_scores(&v->scorer, &v->desk, user, NULL, items, v->scores, error) != 0)
        return -1;
    for (int64_t i = own->ptr[user]; i < own->ptr[user + 1]; i++)
        v->scores[own->others[i]] = -INFINITY;
    const int64_t n = list_choose(v->scores, items, v->attack->list_length, v->list, v->best);
    return n < 0 ? error_memory(error) : n;
}

static int view_lists(struct viewing *v, const struct dataset *dataset, struct dpf_error *error)
{
    const struct attack *attack = v->attack;
    memset(v->exposure, 0, (size_t)dataset->items.n * sizeof *v->exposure);
    for (int64_t w = 0; w < attack->n_witnesses; w++) {
        const int64_t n = make_list(v, dataset, attack->witnesses[w], error);
        if (n < 0)
            return -1;
        for (int64_t i = 0; i < n; i++)
            v->exposure[v->list[i]]++;
    }
    for (int64_t t = 0; t < attack->n_targets; t++)
        for (int64_t i = 0; i < attack->probes[t].n; i++)
            cell(v, ATTACK_LISTS, t)[i] = (float)v->exposure[attack->probes[t].items[i]];
    return 0;
}

static int view_own_lists(struct viewing *v, const struct dataset *dataset, struct dpf_error *error)
{
    const struct attack *attack = v->attack;
    for (int64_t t = 0; t < attack->n_targets; t++) {
        float *out = cell(v, ATTACK_OWN_LIST, t);
        const int64_t n = make_list(v, dataset, attack->targets[t].user, error);
        if (n < 0)
            return -1;
        for (int64_t i = 0; i < attack->list_length; i++)
            out[i] = i < n ? (float)v->list[i] : -1;
    }
    return 0;
}

/* ---- factors ------------------------------------------------------------------------------------------- */

static int rows_at_home(const struct plan *plan)
{
    const struct side_plan *users = &plan->sides[DPF_SIDE_USERS];
    return users->updated && !users->public_rows;
}

/* Nothing of what the target's own device has computed is known to the attacker. */
static int forget_row(const struct attack *attack, struct model *model, int64_t user, struct dpf_error *error)
{
    struct side_factors *side = &model->sides[DPF_SIDE_USERS];
    const int32_t width = attack->plan->sides[DPF_SIDE_USERS].state_width;
    if (side->solver_state)
        memset(side->solver_state + user * width, 0, (size_t)width * sizeof *side->solver_state);
    return model_initial_row(model, &attack->known, DPF_SIDE_USERS, user, side->data + user * model->stride,
                             error);
}

/* The targets' rows for the items' rows as they are released, from the records that the attacker knows. */
static int solve_at_home(struct viewing *v, struct pool *pool, struct dpf_error *error)
{
    struct attack *attack = v->attack;
    struct plan *plan = attack->plan;
    const int64_t rounds = plan->run.params.values[RUN_ROUNDS].integer;
    if (model_read(v->model, &attack->known, error) != 0)
        return -1;
    if (!rows_at_home(plan))
        return 0;
    for (int64_t t = 0; t < attack->n_targets; t++)
        if (forget_row(attack, v->model, attack->targets[t].user, error) != 0)
            return -1;
    return engine_fit_side(plan, &attack->known, pool, v->model, DPF_SIDE_USERS, rounds > 0 ? rounds : 1,
                           error);
}

/* Scores of the probes; of all of them, against all items, in standard deviations; and how far they are from
   the target's values. */
static int view_scores(struct viewing *v, int64_t target, float *out, struct dpf_error *error)
{
    const struct attack *attack = v->attack;
    const struct attack_probe *probe = &attack->probes[target];
    const struct csr *own = &attack->base->train.by_user;
    const int32_t user = attack->targets[target].user;
    const int64_t items = attack->base->items.n;
    double sum = 0, squares = 0, mine = 0, away = 0;
    if (scorer_scores(&v->scorer, &v->desk, user, NULL, items, v->scores, error) != 0)
        return -1;
    for (int64_t i = 0; i < items; i++) {
        sum += v->scores[i];
        squares += v->scores[i] * v->scores[i];
    }
    for (int64_t i = own->ptr[user]; i < own->ptr[user + 1]; i++) {
        const double score = v->scores[own->others[i]];
        const double value = own->values ? (double)own->values[i] : 1;
        mine += score;
        away += (score - value) * (score - value);
    }
    const double n = (double)(own->ptr[user + 1] - own->ptr[user]), mean = sum / (double)items;
    const double deviation = sqrt(fmax(0, squares / (double)items - mean * mean));
    out[0] = number((mine / n - mean) / (deviation > 0 ? deviation : 1));
    out[1] = number(sqrt(away / n));
    for (int32_t i = 0; i < ATTACK_PROBES; i++)
        out[2 + i] = i < probe->n ? number(v->scores[probe->items[i]]) : 0;
    return 0;
}

static void copy_row(const struct viewing *v, int side, int64_t row, float *out)
{
    const struct side_factors *factors = &v->model->sides[side];
    for (int32_t c = 0; c < v->model->columns; c++)
        out[c] = number((double)factors->data[row * v->model->stride + c]);
}

/* Rows that are released: the target's own, where users are; then those of the probes. */
static void view_rows(const struct viewing *v, int64_t target, float *out, int64_t room)
{
    const struct attack *attack = v->attack;
    const struct side_plan *sides = attack->plan->sides;
    const struct attack_probe *probe = &attack->probes[target];
    const int64_t columns = v->model->columns;
    int64_t n = 0;
    memset(out, 0, (size_t)room * sizeof *out);
    if (sides[DPF_SIDE_USERS].updated && sides[DPF_SIDE_USERS].public_rows && columns <= room)
        copy_row(v, DPF_SIDE_USERS, attack->targets[target].user, out + columns * n++);
    /* Items' rows that stay private while users' are released are not seen. */
    const int seen = n == 0 || sides[DPF_SIDE_ITEMS].public_rows;
    for (int32_t i = 0; i < probe->n && seen && (n + 1) * columns <= room; i++)
        copy_row(v, DPF_SIDE_ITEMS, probe->items[i], out + columns * n++);
}

static int view_factors(struct viewing *v, struct pool *pool, struct dpf_error *error)
{
    const struct attack *attack = v->attack;
    const int64_t scores = ATTACK_PROBES + 2;
    if (solve_at_home(v, pool, error) != 0 || open_scorer(v, error) != 0)
        return -1;
    for (int64_t t = 0; t < attack->n_targets; t++) {
        float *out = cell(v, ATTACK_FACTORS, t);
        if (view_scores(v, t, out, error) != 0)
            return -1;
        if (attack->width[ATTACK_FACTORS] > scores)
            view_rows(v, t, out + scores, attack->width[ATTACK_FACTORS] - scores);
    }
    return 0;
}

/* ---- a training ---------------------------------------------------------------------------------------- */

static int make_dataset(const struct attack *attack, int64_t training, struct dataset *out,
                        struct dpf_error *error)
{
    const struct neighbours form = {.unit = DPF_UNIT_USER, .adjacency = DPF_ADJ_ZERO_OUT, .as_they_are = 1};
    unsigned char *bits = memory_need((size_t)attack->n_targets, 1);
    for (int64_t t = 0; t < attack->n_targets; t++)
        bits[t] = !attack->in[training * attack->n_targets + t];
    const int status =
        neighbours_make(attack->base, &form, attack->targets, bits, attack->n_targets, out, error);
    free(bits);
    return status;
}

static int train(struct attack *attack, const struct dataset *dataset, struct pool *pool, struct model *model,
                 struct dpf_error *error)
{
    struct engine_stats *stats = memory_new(1, sizeof *stats);
    if (!stats)
        return error_memory(error);
    int status = model_init(model, attack->plan, dataset, error);
    if (status == 0)
        status = engine_run(attack->plan, dataset, pool, model, NULL, stats, error);
    free(stats);
    return status;
}

/* Lists first: what is solved at home for the attacker takes the place of the targets' own rows. */
static int look(struct viewing *v, const struct dataset *dataset, struct pool *pool, struct dpf_error *error)
{
    const struct attack *attack = v->attack;
    const size_t items = (size_t)dataset->items.n + 1;
    v->scores = memory_need(items, sizeof *v->scores);
    v->exposure = memory_need(items, sizeof *v->exposure);
    v->list = memory_need((size_t)attack->list_length, sizeof *v->list);
    v->best = memory_need((size_t)attack->list_length, sizeof *v->best);
    if (open_scorer(v, error) != 0)
        return -1;
    if (attack->numbers[ATTACK_LISTS] && view_lists(v, dataset, error) != 0)
        return -1;
    if (attack->numbers[ATTACK_OWN_LIST] && view_own_lists(v, dataset, error) != 0)
        return -1;
    return view_factors(v, pool, error);
}

int attack_train(struct attack *attack, struct pool *pool, int64_t training, struct dpf_error *error)
{
    struct dataset dataset = {0};
    struct model model = {0};
    struct viewing v = {.attack = attack, .model = &model, .training = training};
    int status = trials_rekey(attack->plan, attack_game_name(attack->game), training, error);
    if (status == 0)
        status = make_dataset(attack, training, &dataset, error);
    if (status == 0)
        status = train(attack, &dataset, pool, &model, error);
    if (status == 0)
        status = look(&v, &dataset, pool, error);
    free(v.scores);
    free(v.exposure);
    free(v.list);
    free(v.best);
    scorer_close(&v.scorer);
    score_desk_free(&v.desk);
    model_free(&model);
    dataset_free(&dataset);
    return status;
}
