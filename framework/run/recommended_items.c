/* SPDX-License-Identifier: Apache-2.0 */
#include "run/recommended_items.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/ticker.h"
#include "engine/model_scorer.h"
#include "score/little_known.h"
#include "score/lists.h"

/* ---- lists --------------------------------------------------------------------------------------------- */

struct worker {
    int64_t *counts; /* of each item */
    int64_t lists;
};

struct counting {
    struct worker *workers;
};

static int count_list(void *context, const struct score_list *list, int number, struct dpf_error *error)
{
    const struct counting *counting = context;
    struct worker *worker = &counting->workers[number];
    ticker_add(1);
    if (interrupt_check("lists were made", error) != 0)
        return -1;
    for (int64_t i = 0; i < list->n && !list->same; i++)
        worker->counts[list->items[i]]++;
    worker->lists += list->n > 0 && !list->same;
    return 0;
}

static void close_workers(struct counting *counting, int n)
{
    for (int w = 0; counting->workers && w < n; w++)
        free(counting->workers[w].counts);
    free(counting->workers);
}

static void open_workers(struct counting *counting, int n, int64_t items)
{
    counting->workers = memory_need((size_t)n, sizeof *counting->workers);
    for (int w = 0; w < n; w++)
        counting->workers[w].counts = memory_need((size_t)items + 1, sizeof(int64_t));
}

/* Of more users than are looked at, some at equal distances. */
static int count_lists(const struct dataset *dataset, struct model *model, struct pool *pool,
                       struct counting *counting, struct recommended_items *out, struct dpf_error *error)
{
    struct scorer scorer;
    uint8_t *unknown = memory_need((size_t)out->n + 1, 1);
    const struct list_query query = {.k = out->k,
                                     .n_items = out->n,
                                     .without = {&dataset->train.by_user, &dataset->test.by_user},
                                     .barred = unknown};
    int32_t *users = memory_need((size_t)out->users + 1, sizeof *users);
    int status = model_scorer(model, &scorer, error);
    if (status == 0)
        out->little_known = little_known_items(&scorer.form, unknown);
    for (int64_t i = 0; i < out->users; i++)
        users[i] = (int32_t)(i * dataset->users.n / out->users);
    ticker_begin("making lists", out->users);
    if (status == 0)
        status = scorer_lists(&scorer, pool, users, 0, out->users, &query, count_list, counting, error);
    ticker_end();
    scorer_close(&scorer);
    free(users);
    free(unknown);
    return status;
}

int recommended_items_count(const struct dataset *dataset, struct model *model, struct pool *pool, int64_t k,
                            int64_t most_users, struct recommended_items *out, struct dpf_error *error)
{
    struct counting counting = {.workers = NULL};
    *out = (struct recommended_items){.k = k,
                                      .users = dataset->users.n < most_users ? dataset->users.n : most_users,
                                      .n = dataset->items.n};
    out->in_lists = memory_need((size_t)out->n + 1, sizeof *out->in_lists);
    out->records = memory_need((size_t)out->n + 1, sizeof *out->records);
    open_workers(&counting, pool_workers(pool), out->n);
    const int status = count_lists(dataset, model, pool, &counting, out, error);
    for (int w = 0; status == 0 && w < pool_workers(pool); w++) {
        for (int64_t i = 0; i < out->n; i++)
            out->in_lists[i] += counting.workers[w].counts[i];
        out->lists += counting.workers[w].lists;
    }
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
    struct counted *sorted = memory_need((size_t)n + 1, sizeof *sorted);
    int64_t *order = memory_need((size_t)n + 1, sizeof *order);
    for (int64_t i = 0; i < n; i++)
        sorted[i] = (struct counted){counts[i], i};
    qsort(sorted, (size_t)n, sizeof *sorted, by_count);
    for (int64_t i = 0; i < n; i++)
        order[i] = sorted[i].item;
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
    for (int64_t i = 0; i < n; i++) {
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
    for (int64_t i = 0; i < n; i++) {
        all += (double)counts[order[i]];
        weighted += (double)(n - i) * (double)counts[order[i]];
    }
    free(order);
    return all > 0 ? 2 * weighted / ((double)n * all) - (double)(n + 1) / (double)n : (double)NAN;
}
