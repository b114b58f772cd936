/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/one_run.h"

#include <stdlib.h>
#include <string.h>

#include "audit/bounds.h"
#include "audit/reports.h"
#include "audit/score.h"
#include "audit/trials.h"
#include "base/memory.h"
#include "base/prf.h"

void one_run_free(struct one_run *run)
{
    free(run->canaries);
    free(run->items);
    free(run->bits);
    free(run->scores);
    *run = (struct one_run){0};
}

static int room(struct one_run *run, int64_t wanted)
{
    const size_t n = (size_t)wanted + 1;
    run->canaries = memory_new(n, sizeof *run->canaries);
    run->items = memory_new(n, sizeof *run->items);
    run->bits = memory_new(n, 1);
    run->scores = memory_new(n, sizeof *run->scores);
    return run->canaries && run->items && run->bits && run->scores ? 0 : -1;
}

struct drawn_user {
    uint64_t draw;
    int32_t user;
};

static int compare_drawn(const void *a, const void *b)
{
    const struct drawn_user *x = a, *y = b;
    return x->draw != y->draw ? (x->draw > y->draw) - (x->draw < y->draw)
                              : (x->user > y->user) - (x->user < y->user);
}

/* Users in the order of their draws; each takes the item of its own, of those that nobody has, that has the
   lowest draw with it. All draws belong to ids. */
static void match(const struct dataset *base, int unit, int64_t wanted, const struct prf *draw,
                  const struct drawn_user *users, unsigned char *taken, struct one_run *out)
{
    const struct csr *csr = &base->train.by_user;
    for (int64_t k = 0; k < csr->rows && out->n < wanted; k++) {
        const int32_t user = users[k].user;
        int32_t best = -1;
        uint64_t least = 0;
        struct prf own;
        prf_within(draw, id_map_text(&base->users, user), &own);
        for (int64_t i = csr->ptr[user]; i < csr->ptr[user + 1]; i++) {
            const int32_t item = csr->others[i];
            const uint64_t value = prf_value(&own, id_map_text(&base->items, item));
            if (taken[item] || (best >= 0 && value >= least))
                continue;
            best = item;
            least = value;
        }
        if (best < 0)
            continue;
        taken[best] = 1;
        out->canaries[out->n] = (struct canary){user, unit == DPF_UNIT_USER ? -1 : best};
        out->items[out->n++] = best;
    }
}

int one_run_draw(const struct dataset *base, int unit, int64_t wanted, uint64_t seed, struct one_run *out,
                 struct dpf_error *error)
{
    *out = (struct one_run){0};
    struct random_root *root = random_root_seeded(seed, "audit canaries", error);
    struct drawn_user *users = memory_new((size_t)base->users.n + 1, sizeof *users);
    unsigned char *taken = memory_new((size_t)base->items.n + 1, 1);
    int status = root ? 0 : -1;
    if (root && !(users && taken && room(out, wanted) == 0))
        status = error_memory(error);
    if (status == 0) {
        struct prf draw;
        prf_open(root, "audit", "canaries", &draw);
        for (int64_t u = 0; u < base->users.n; u++)
            users[u] = (struct drawn_user){prf_value(&draw, id_map_text(&base->users, u)), (int32_t)u};
        qsort(users, (size_t)base->users.n, sizeof *users, compare_drawn);
        match(base, unit, wanted, &draw, users, taken, out);
        if (out->n < 2)
            status = error_set(error, DPF_FAULT_DATA,
                               "there are no two records with users and items of their "
                               "own to make canaries of");
    }
    free(users);
    free(taken);
    random_root_free(root);
    if (status != 0)
        one_run_free(out);
    return status;
}

/* ---- training ------------------------------------------------------------------------------------------ */

struct training {
    struct plan *plan;
    struct pool *pool;
    const struct dataset *base;
    struct neighbours kind;
    struct one_run *run;
};

/* A training, or a replay of given, with canaries as bits say. */
static int train_with(const struct training *training, const unsigned char *bits, const struct trace *given,
                      struct trace *out, struct dpf_error *error)
{
    struct dataset set;
    const struct one_run *run = training->run;
    if (neighbours_make(training->base, &training->kind, run->canaries, bits, run->n, &set, error) != 0)
        return -1;
    const struct observe request = {.plan = training->plan,
                                    .dataset = &set,
                                    .pool = training->pool,
                                    .view = OBSERVE_SUMS,
                                    .user = -1,
                                    .item = -1,
                                    .given = given};
    const int status = observe_run(&request, out, error);
    dataset_free(&set);
    return status;
}

static void score_all(const struct training *training, const struct trace *seen,
                      const struct trace *const two[2])
{
    struct one_run *run = training->run;
    for (int64_t c = 0; c < run->n; c++)
        run->scores[c] = score_row(training->plan, seen, two, DPF_SIDE_ITEMS, run->items[c]) +
                         score_row(training->plan, seen, two, DPF_SIDE_USERS, run->canaries[c].user);
}

int one_run_mixes_rows(const struct plan *plan)
{
    int mixes = plan_has(plan, MODEL_TELLS) && !trials_sees_reports(plan);
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < plan->sides[side].n_terms; t++)
            for (int i = 0; i < plan->sides[side].terms[t].n_transforms; i++) {
                const dpf_transform *transform = plan->sides[side].terms[t].transforms[i]->functions;
                mixes |= transform->kind == DPF_TRANSFORM_STATE ||
                         (transform->flags & DPF_TRANSFORM_NEEDS_DENSE) != 0;
            }
    return mixes;
}

/* Where canaries share rows, each is scored by a replay of its own, in which it alone has its first form. The
   others are noise: their coins are not known. */
static int score_each(const struct training *training, const struct trace *seen, const struct trace *second,
                      struct dpf_error *error)
{
    struct one_run *run = training->run;
    unsigned char *bits = memory_need((size_t)run->n, 1);
    int status = 0;
    for (int64_t c = 0; c < run->n && status == 0; c++) {
        struct trace first;
        memset(bits, 1, (size_t)run->n);
        bits[c] = 0;
        status = train_with(training, bits, seen, &first, error);
        if (status != 0)
            break;
        const struct explanation two[2] = {{&first, NULL}, {second, NULL}};
        run->scores[c] = score_ratio(training->plan, seen, two);
        trace_free(&first);
    }
    free(bits);
    return status;
}

static int compare_ranks(const void *a, const void *b)
{
    const double *const *p = a, *const *q = b;
    return **p < **q || **p > **q ? (**p < **q) - (**p > **q) : (*p > *q) - (*p < *q);
}

/* By score, the largest first; ties stay in the order of canaries. */
static int sort_all(struct one_run *run, struct dpf_error *error)
{
    struct one_run sorted = {0};
    const double **order = memory_new((size_t)run->n, sizeof(*order));
    if (!order || room(&sorted, run->n) != 0) {
        free(order);
        one_run_free(&sorted);
        return error_memory(error);
    }
    for (int64_t c = 0; c < run->n; c++)
        order[c] = &run->scores[c];
    qsort(order, (size_t)run->n, sizeof *order, compare_ranks);
    for (int64_t i = 0; i < run->n; i++) {
        const int64_t c = order[i] - run->scores;
        sorted.canaries[i] = run->canaries[c];
        sorted.items[i] = run->items[c];
        sorted.bits[i] = run->bits[c];
        sorted.scores[i] = run->scores[c];
    }
    free(order);
    sorted.n = run->n;
    one_run_free(run);
    *run = sorted;
    return 0;
}

static int throw_coins(struct one_run *run, const struct plan *plan, struct dpf_error *error)
{
    dpf_stream *stream = random_stream_open(plan->privacy_root, "audit", "coins", error);
    if (!stream)
        return -1;
    dpf_cursor cursor;
    random_seek(stream, 0, 0, 0, &cursor);
    random_bernoulli(&cursor, 0.5, run->bits, run->n);
    random_stream_free(stream);
    return 0;
}

static int compare_cells(const void *a, const void *b)
{
    const struct reported *x = a, *y = b;
    return (x->user > y->user) - (x->user < y->user);
}

/* Of a recommender: each canary's score is its user's report about its item. */
static int score_reports(const struct training *training, struct dpf_error *error)
{
    struct one_run *run = training->run;
    struct dataset set;
    struct reported *cells = memory_need((size_t)run->n, sizeof *cells);
    for (int64_t c = 0; c < run->n; c++)
        cells[c] = (struct reported){run->canaries[c].user, run->items[c], &run->scores[c]};
    qsort(cells, (size_t)run->n, sizeof *cells, compare_cells);
    int status =
        neighbours_make(training->base, &training->kind, run->canaries, run->bits, run->n, &set, error);
    if (status == 0) {
        status = reports_run(training->plan, &set, training->pool, cells, run->n, error);
        dataset_free(&set);
    }
    free(cells);
    return status;
}

/* What was seen, replayed with all canaries in each of their forms, gives the scores. */
static int score_releases(const struct training *training, struct dpf_error *error)
{
    struct one_run *run = training->run;
    struct trace seen = {0}, first = {0}, second = {0};
    unsigned char *all = memory_need((size_t)run->n, 1);
    const int mixed = one_run_mixes_rows(training->plan);
    int status = train_with(training, run->bits, NULL, &seen, error);
    if (status == 0 && !score_has_laws(training->plan, &seen))
        status =
            error_set(error, DPF_FAULT_CONFIG,
                      "recommender %s does not tell its sums without noise, or their noise has no law that "
                      "audits know: they cannot be audited",
                      training->plan->model_facts.id);
    if (status == 0 && !mixed)
        status = train_with(training, all, &seen, &first, error);
    if (status == 0) {
        memset(all, 1, (size_t)run->n);
        status = train_with(training, all, &seen, &second, error);
    }
    if (status == 0 && mixed) {
        status = score_each(training, &seen, &second, error);
    } else if (status == 0) {
        const struct trace *const two[2] = {&first, &second};
        score_all(training, &seen, two);
    }
    free(all);
    trace_free(&seen);
    trace_free(&first);
    trace_free(&second);
    return status;
}

int one_run_train(struct one_run *run, struct plan *plan, const struct dataset *base, struct neighbours kind,
                  struct pool *pool, struct dpf_error *error)
{
    struct training training = {.plan = plan, .pool = pool, .base = base, .kind = kind, .run = run};
    const int apart = kind.unit == DPF_UNIT_USER && !one_run_mixes_rows(plan);
    training.kind.alone = apart ? run->items : NULL;
    int status = trials_rekey(plan, "one run", 0, error);
    if (status == 0)
        status = throw_coins(run, plan, error);
    if (status == 0)
        status =
            trials_sees_reports(plan) ? score_reports(&training, error) : score_releases(&training, error);
    return status == 0 ? sort_all(run, error) : -1;
}

/* ---- guesses ------------------------------------------------------------------------------------------- */

struct one_run_verdict one_run_judge(const struct one_run *run, double delta, double alpha)
{
    enum { CHOICES = 5 };
    struct one_run_verdict best = {0};
    for (int choice = 0; choice < CHOICES; choice++) {
        const int64_t half = run->n >> (choice + 1);
        int64_t correct = 0;
        for (int64_t i = 0; i < half; i++)
            correct += (run->bits[i] == 0) + (run->bits[run->n - 1 - i] == 1);
        const double epsilon = half ? bounds_one_run(run->n, 2 * half, correct, delta, alpha / CHOICES) : 0;
        if (epsilon > best.epsilon || !best.guesses)
            best = (struct one_run_verdict){2 * half, correct, epsilon};
    }
    return best;
}
