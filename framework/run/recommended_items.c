/* SPDX-License-Identifier: Apache-2.0 */
#include "run/recommended_items.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/ticker.h"
#include "engine/model_scores.h"

/* ---- lists --------------------------------------------------------------------------------------------- */

struct worker {
    double *scores;  /* of all items */
    int32_t *list;   /* the k best, best first */
    int64_t *counts; /* of each item */
    int64_t lists;
    struct dpf_error error;
};

struct counting {
    const struct dataset *dataset;
    struct model *model;
    int64_t k, users;
    struct worker *workers;
};

static void mask(const struct csr *records, int64_t user, double *scores)
{
    if (!records->ptr)
        return;
    for (int64_t i = records->ptr[user]; i < records->ptr[user + 1]; i++)
        scores[records->others[i]] = (double)NAN;
}

/* The k items with the highest scores, of equal ones the first; returns how many there are, 0 if the scores
   are all the same. */
static int64_t best(const double *scores, int64_t n, int64_t k, int32_t *list)
{
    int64_t kept = 0;
    double lowest = INFINITY, highest = -INFINITY;
    for (int64_t item = 0; item < n; item++) {
        if (isnan(scores[item]))
            continue;
        lowest = fmin(lowest, scores[item]);
        highest = fmax(highest, scores[item]);
        int64_t at = kept;
        while (at > 0 && scores[list[at - 1]] < scores[item])
            at--;
        if (at == k)
            continue;
        const int64_t last = kept < k ? kept++ : k - 1;
        memmove(list + at + 1, list + at, (size_t)(last - at) * sizeof *list);
        list[at] = (int32_t)item;
    }
    return lowest < highest || kept == 1 ? kept : 0;
}

static int count_user(void *context, int64_t task, int number)
{
    const struct counting *counting = context;
    const struct dataset *dataset = counting->dataset;
    struct worker *worker = &counting->workers[number];
    const int64_t user = task * dataset->users.n / counting->users;
    ticker_add(1);
    if (model_scores(counting->model, (int32_t)user, NULL, dataset->items.n, worker->scores,
                     &worker->error) != 0)
        return -1;
    mask(&dataset->train.by_user, user, worker->scores);
    mask(&dataset->test.by_user, user, worker->scores);
    const int64_t n = best(worker->scores, dataset->items.n, counting->k, worker->list);
    for (int64_t i = 0; i < n; i++)
        worker->counts[worker->list[i]]++;
    worker->lists += n > 0;
    return 0;
}

static int open_workers(struct counting *counting, int n, struct dpf_error *error)
{
    const size_t items = (size_t)counting->dataset->items.n + 1;
    counting->workers = memory_new((size_t)n, sizeof *counting->workers);
    for (int w = 0; counting->workers && w < n; w++) {
        struct worker *worker = &counting->workers[w];
        worker->scores = memory_new(items, sizeof *worker->scores);
        worker->list = memory_new((size_t)counting->k + 1, sizeof *worker->list);
        worker->counts = memory_new(items, sizeof *worker->counts);
        if (!worker->scores || !worker->list || !worker->counts)
            return error_memory(error);
    }
    return counting->workers ? 0 : error_memory(error);
}

static void close_workers(struct counting *counting, int n)
{
    for (int w = 0; counting->workers && w < n; w++) {
        free(counting->workers[w].scores);
        free(counting->workers[w].list);
        free(counting->workers[w].counts);
    }
    free(counting->workers);
}

static int run(struct counting *counting, struct pool *pool, struct recommended_items *out,
               struct dpf_error *error)
{
    ticker_begin("making lists", counting->users);
    const int status = pool_run(pool, counting->users, count_user, counting);
    ticker_end();
    for (int w = 0; w < pool_workers(pool); w++) {
        const struct worker *worker = &counting->workers[w];
        if (worker->error.fault && !error->fault)
            *error = worker->error;
        for (int64_t i = 0; i < out->n; i++)
            out->in_lists[i] += worker->counts[i];
        out->lists += worker->lists;
    }
    return status;
}

int recommended_items_count(const struct dataset *dataset, struct model *model, struct pool *pool, int64_t k,
                            int64_t most_users, struct recommended_items *out, struct dpf_error *error)
{
    struct counting counting = {.dataset = dataset, .model = model, .k = k};
    counting.users = dataset->users.n < most_users ? dataset->users.n : most_users;
    *out = (struct recommended_items){.k = k, .users = counting.users, .n = dataset->items.n};
    out->in_lists = memory_new((size_t)out->n + 1, sizeof *out->in_lists);
    out->records = memory_new((size_t)out->n + 1, sizeof *out->records);
    int status = out->in_lists && out->records ? 0 : error_memory(error);
    if (status == 0)
        status = open_workers(&counting, pool_workers(pool), error);
    if (status == 0)
        status = run(&counting, pool, out, error);
    const struct csr *train = &dataset->train.by_user;
    for (int64_t i = 0; status == 0 && i < train->ptr[train->rows]; i++)
        out->records[train->others[i]]++;
    close_workers(&counting, pool_workers(pool));
    if (status != 0)
        recommended_items_free(out);
    return status;
}

void recommended_items_free(struct recommended_items *items)
{
    free(items->in_lists);
    free(items->records);
    *items = (struct recommended_items){0};
}

/* ---- how they are spread ------------------------------------------------------------------------------- */

struct counted {
    int64_t count, item;
};

static int by_count(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->item > y->item) - (x->item < y->item);
}

int64_t *recommended_items_order(const int64_t *counts, int64_t n)
{
    struct counted *sorted = memory_new((size_t)n + 1, sizeof *sorted);
    int64_t *order = memory_new((size_t)n + 1, sizeof *order);
    if (sorted && order) {
        for (int64_t i = 0; i < n; i++)
            sorted[i] = (struct counted){counts[i], i};
        qsort(sorted, (size_t)n, sizeof *sorted, by_count);
        for (int64_t i = 0; i < n; i++)
            order[i] = sorted[i].item;
    } else {
        free(order);
        order = NULL;
    }
    free(sorted);
    return order;
}

int64_t recommended_items_covered(const int64_t *counts, int64_t n)
{
    int64_t covered = 0;
    for (int64_t i = 0; i < n; i++)
        covered += counts[i] > 0;
    return covered;
}

double recommended_items_share(const int64_t *counts, int64_t n, int64_t m)
{
    int64_t *order = recommended_items_order(counts, n);
    double most = 0, all = 0;
    for (int64_t i = 0; i < n && order; i++) {
        all += (double)counts[order[i]];
        most += i < m ? (double)counts[order[i]] : 0;
    }
    free(order);
    return all > 0 ? most / all : (double)NAN;
}

/* Sum over items of rank times count, from the least: Gini = 2 S / (n all) - (n + 1) / n. */
double recommended_items_gini(const int64_t *counts, int64_t n)
{
    int64_t *order = recommended_items_order(counts, n);
    double all = 0, weighted = 0;
    for (int64_t i = 0; i < n && order; i++) {
        all += (double)counts[order[i]];
        weighted += (double)(n - i) * (double)counts[order[i]];
    }
    free(order);
    return all > 0 ? 2 * weighted / ((double)n * all) - (double)(n + 1) / (double)n : (double)NAN;
}
