/* SPDX-License-Identifier: Apache-2.0 */
#include "score/lists.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "score/finalists.h"
#include "score/top.h"
#include "simd/simd_kind.h"

/* One worker's memory. */
struct bench {
    struct finalists finalists;
    struct score_desk desk;
    int32_t *masked[NEAR_GROUP];
    size_t room[NEAR_GROUP];
    int64_t n_masked[NEAR_GROUP];
    double *all; /* of all items */
    struct top_entry *entries;
    size_t n_entries;
    int32_t *items;
    double *scores;
    int64_t user; /* that failed */
    struct dpf_error error;
};

struct listing {
    const struct scorer *scorer;
    const struct list_query *query;
    const int32_t *users;
    int64_t first, end;
    struct finalist_items items; /* scorer NULL: every item is scored */
    int64_t n_barred;
    list_task take;
    void *context;
    struct bench *benches;
};

/* ---- the best of some scores --------------------------------------------------------------------------- */

/* The k-th largest, k of them at least; entries has room for n. */
static double kth(const double *scores, int64_t n, int64_t k, struct top_entry *entries)
{
    double bar = -INFINITY;
    const int64_t full = 2 * k + 64 < n ? 2 * k + 64 : n;
    int64_t fill = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(scores[i] > bar))
            continue;
        entries[fill++] = (struct top_entry){scores[i], i};
        if (fill == full && fill > k) {
            bar = top_narrow(entries, fill, k);
            fill = k;
        }
    }
    return top_narrow(entries, fill, k);
}

#define FEW_USERS 4

/* items NULL: 0 .. n-1, of which those at -infinity are none; entries has room for n. */
static int64_t choose(const double *scores, const int32_t *items, int64_t n, int64_t n_candidates, int64_t k,
                      struct top_entry *entries, int32_t *out, double *best)
{
    int64_t kept = 0, ties;
    k = k < n_candidates ? k : n_candidates;
    if (k < 1)
        return 0;
    const double last = kth(scores, n, k, entries);
    for (int64_t i = 0; i < n; i++)
        if (scores[i] > last)
            entries[kept++] = (struct top_entry){scores[i], items ? items[i] : i};
    ties = k - kept;
    for (int64_t i = 0; i < n && ties > 0; i++)
        if (scores[i] == last) {
            entries[kept++] = (struct top_entry){scores[i], items ? items[i] : i};
            ties--;
        }
    top_sort(entries, kept);
    for (int64_t i = 0; i < kept; i++) {
        out[i] = (int32_t)entries[i].entry;
        best[i] = entries[i].score;
    }
    return kept;
}

int64_t list_choose(const double *scores, int64_t n, int64_t k, int32_t *items, double *best)
{
    int64_t candidates = 0;
    struct top_entry *entries = memory_raw((size_t)n + 1, sizeof *entries);
    for (int64_t i = 0; i < n; i++)
        candidates += scores[i] > -(double)INFINITY;
    const int64_t kept = entries ? choose(scores, NULL, n, candidates, k, entries, items, best) : -1;
    free(entries);
    return kept;
}

static int all_the_same(const double *scores, int64_t n)
{
    double first = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        if (!(scores[i] > -(double)INFINITY))
            continue;
        if (first > -(double)INFINITY && scores[i] != first)
            return 0;
        first = scores[i];
    }
    return 1;
}

static int hand_over(const struct listing *l, struct bench *bench, int64_t user, const double *scores,
                     const int32_t *items, int64_t n, int64_t n_candidates, int worker)
{
    struct top_entry *entries =
        memory_grow(bench->entries, &bench->n_entries, (size_t)n + 1, sizeof *entries);
    if (!entries)
        return error_memory(&bench->error);
    bench->entries = entries;
    struct score_list list = {
        .user = user, .n_candidates = n_candidates, .items = bench->items, .scores = bench->scores};
    list.n = choose(scores, items, n, n_candidates, l->query->k, entries, bench->items, bench->scores);
    /* Where not all are finalists, some are below others. */
    list.same = n_candidates > 1 && (!items || n == n_candidates) && all_the_same(scores, n);
    return l->take(l->context, &list, worker, &bench->error);
}

/* ---- users ------------------------------------------------------------------------------------------------ */

static int64_t user_at(const struct listing *l, int64_t task)
{
    return l->users ? l->users[task] : task;
}

/* The user's own items, of both rows, ascending, but for those that are barred to everybody. */
static int mask(const struct listing *l, struct bench *bench, int i, int64_t user)
{
    const int32_t *lists[2] = {NULL, NULL};
    int64_t n[2] = {0, 0}, at[2] = {0, 0};
    const uint8_t *barred = l->query->barred;
    for (int w = 0; w < 2; w++) {
        const struct csr *csr = l->query->without[w];
        if (!csr || !csr->ptr)
            continue;
        lists[w] = csr->others + csr->ptr[user];
        n[w] = csr->ptr[user + 1] - csr->ptr[user];
    }
    int32_t *masked =
        memory_grow(bench->masked[i], &bench->room[i], (size_t)(n[0] + n[1]) + 1, sizeof *masked);
    if (!masked)
        return error_memory(&bench->error);
    bench->masked[i] = masked;
    bench->n_masked[i] = 0;
    while (at[0] < n[0] || at[1] < n[1]) {
        const int second = at[0] == n[0] || (at[1] < n[1] && lists[1][at[1]] < lists[0][at[0]]);
        const int32_t item = lists[second][at[second]];
        for (int w = 0; w < 2; w++)
            at[w] += at[w] < n[w] && lists[w][at[w]] == item;
        if (!barred || !barred[item])
            masked[bench->n_masked[i]++] = item;
    }
    return 0;
}

/* Every item is scored. */
static int list_all(const struct listing *l, struct bench *bench, int i, int64_t user, int worker)
{
    const int64_t n = l->query->n_items;
    if (!bench->all && !(bench->all = memory_raw((size_t)n + 1, sizeof *bench->all)))
        return error_memory(&bench->error);
    if (scorer_scores(l->scorer, &bench->desk, user, NULL, n, bench->all, &bench->error) != 0)
        return -1;
    for (int64_t m = 0; m < bench->n_masked[i]; m++)
        bench->all[bench->masked[i][m]] = -INFINITY;
    for (int64_t item = 0; l->n_barred > 0 && item < n; item++)
        if (l->query->barred[item])
            bench->all[item] = -INFINITY;
    return hand_over(l, bench, user, bench->all, NULL, n, n - l->n_barred - bench->n_masked[i], worker);
}

static int list_group(const struct listing *l, struct bench *bench, int64_t from, int n, int worker)
{
    struct finalists *f = &bench->finalists;
    const int by_finalists = l->items.scorer != NULL;
    f->n_users = n;
    for (int i = 0; i < n; i++) {
        bench->user = user_at(l, from + i);
        if (mask(l, bench, i, bench->user) != 0)
            return -1;
        if (!by_finalists)
            continue;
        f->users[i].user = (int32_t)bench->user;
        f->users[i].masked = bench->masked[i];
        f->users[i].n_masked = bench->n_masked[i];
        f->users[i].n_positives = 0;
    }
    bench->user = user_at(l, from);
    if (by_finalists && finalists_find(f, &bench->error) != 0)
        return -1;
    for (int i = 0; i < n; i++) {
        const struct finalist_user *u = by_finalists ? &f->users[i] : NULL;
        bench->user = user_at(l, from + i);
        const int status = !u || u->left ? list_all(l, bench, i, bench->user, worker)
                                         : hand_over(l, bench, bench->user, u->scores, u->items, u->n_items,
                                                     l->query->n_items - l->n_barred - u->n_masked, worker);
        if (status != 0)
            return -1;
    }
    return 0;
}

static int list_batch(void *context, int64_t task, int worker)
{
    const struct listing *l = context;
    struct bench *bench = &l->benches[worker];
    const int64_t from = l->first + task * LIST_BATCH,
                  end = from + LIST_BATCH < l->end ? from + LIST_BATCH : l->end;
    const int64_t group = l->items.scorer ? l->items.group : NEAR_USERS;
    for (int64_t at = from; at < end; at += group)
        if (list_group(l, bench, at, (int)(end - at < group ? end - at : group), worker) != 0)
            return -1;
    return 0;
}

/* ---- all of it -------------------------------------------------------------------------------------------- */

static int open_listing(struct listing *l, int workers, struct dpf_error *error)
{
    const struct list_query *q = l->query;
    l->benches = memory_new((size_t)workers, sizeof *l->benches);
    if (!l->benches)
        return error_memory(error);
    for (int64_t i = 0; q->barred && i < q->n_items; i++)
        l->n_barred += q->barred[i] != 0;
    /* For few users it takes longer to pack the items than to score them all. */
    const int many = 8 * q->k <= q->n_items && l->end - l->first > FEW_USERS;
    const int products = scorer_is_products(l->scorer) && (many || scorer_is_base(l->scorer));
    if (products &&
        finalist_items_open(&l->items, l->scorer, q->n_items, q->barred, q->k, SIMD_KIND_AUTO, error) != 0)
        return -1;
    for (int w = 0; w < workers; w++) {
        struct bench *bench = &l->benches[w];
        bench->items = memory_raw((size_t)q->k + 1, sizeof *bench->items);
        bench->scores = memory_raw((size_t)q->k + 1, sizeof *bench->scores);
        if (!bench->items || !bench->scores)
            return error_memory(error);
        if (products && finalists_init(&bench->finalists, &l->items, 0, error) != 0)
            return -1;
    }
    return 0;
}

static void close_listing(struct listing *l, int workers)
{
    for (int w = 0; l->benches && w < workers; w++) {
        struct bench *bench = &l->benches[w];
        if (bench->finalists.shared)
            finalists_free(&bench->finalists);
        score_desk_free(&bench->desk);
        for (int i = 0; i < NEAR_GROUP; i++)
            free(bench->masked[i]);
        free(bench->all);
        free(bench->entries);
        free(bench->items);
        free(bench->scores);
    }
    free(l->benches);
    finalist_items_close(&l->items);
}

int scorer_lists(const struct scorer *scorer, struct pool *pool, const int32_t *users, int64_t first,
                 int64_t end, const struct list_query *query, list_task take, void *context,
                 struct dpf_error *error)
{
    struct list_query q = *query;
    struct listing l = {.scorer = scorer,
                        .query = &q,
                        .users = users,
                        .first = first,
                        .end = end,
                        .take = take,
                        .context = context};
    const int workers = pool_workers(pool);
    q.k = q.k < q.n_items ? q.k : q.n_items;
    int status = open_listing(&l, workers, error);
    if (status == 0) {
        status = pool_run(pool, (end - first + LIST_BATCH - 1) / LIST_BATCH, list_batch, &l);
        const struct bench *failed = NULL;
        for (int w = 0; w < workers; w++)
            if (l.benches[w].error.fault && (!failed || l.benches[w].user < failed->user))
                failed = &l.benches[w];
        if (status != 0 && failed && error)
            *error = failed->error;
    }
    close_listing(&l, workers);
    return status;
}
