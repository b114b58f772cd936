/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/reports.h"

#include "audit/pairs.h"
#include "engine/model.h"
#include "engine/engine.h"
#include "seen/seen.h"

struct reading {
    struct reported *cells;
    int64_t n;
};

/* The first cell of a user that is not below it. */
static int64_t first_of(const struct reading *reading, int64_t user)
{
    int64_t lo = 0, hi = reading->n;
    while (lo < hi) {
        const int64_t middle = (lo + hi) / 2;
        if (reading->cells[middle].user < user)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static dpf_status read_row(void *context, const struct seen *seen)
{
    struct reading *reading = context;
    const int64_t user = seen->party;
    for (int64_t i = first_of(reading, user); i < reading->n && reading->cells[i].user == user; i++)
        if (reading->cells[i].item < seen->n_rows * seen->width)
            *reading->cells[i].number = seen->numbers[reading->cells[i].item];
    return DPF_OK;
}

int reports_run(struct plan *plan, const struct dataset *dataset, struct pool *pool, struct reported *cells,
                int64_t n, struct dpf_error *error)
{
    struct reading reading = {.cells = cells, .n = n};
    const struct observer observer = {.context = &reading, .wants = SEES_MESSAGES, .saw = read_row};
    const struct engine_hooks hooks = {.observer = &observer};
    struct engine_stats stats;
    struct model model = {0};
    for (int64_t i = 0; i < n; i++)
        *cells[i].number = -1;
    int status = model_init(&model, plan, dataset, error);
    if (status == 0)
        status = engine_run(plan, dataset, pool, &model, &hooks, &stats, error);
    model_free(&model);
    return status;
}

int64_t reports_differ(const struct dataset *const sets[2], int32_t user, int32_t *items, int64_t capacity)
{
    struct row_walk walk = row_walk_begin(&sets[0]->train.by_user, user, &sets[1]->train.by_user, user);
    int64_t at[2], n = 0;
    for (int32_t item; n < capacity && (item = row_walk_next(&walk, at)) >= 0;)
        if (at[0] < 0 || at[1] < 0)
            items[n++] = item;
    return n;
}
