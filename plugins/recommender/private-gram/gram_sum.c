/* SPDX-License-Identifier: Apache-2.0 */
#include "gram_sum.h"

#include <cblas.h>
#include <string.h>

#define BLOCK 128                       /* users of a dense block */
#define EXACT INT64_C(0x20000000000000) /* integers below it are doubles */
#define MOST_BYTES 0x1p31               /* of all tasks' sums together */

/* What the tasks share, and what each has of its own. Users are dealt to the tasks in turn. */
struct summing {
    const dpf_interactions *records;
    const struct gram_columns *columns;
    const struct gram_directions *directions; /* NULL: pairs */
    int32_t n_tasks;
    int64_t cells;           /* of a sum */
    int64_t **sums;          /* of each task; the first is the caller's */
    struct gram_desk *desks; /* of each task */
    double **block;          /* BLOCK x m, zero between blocks; NULL: no users are dense */
    double **partial;        /* m x m sums of blocks, exact while `pending` users are in it */
};

/* ---- tasks ----------------------------------------------------------------------------------------------
 */

static int claim(const dpf_call *call, void **out, int32_t n, uint64_t bytes)
{
    for (int32_t t = 0; t < n; t++) {
        out[t] = call->scratch(call, bytes);
        if (!out[t])
            return -1;
        memset(out[t], 0, (size_t)bytes);
    }
    return 0;
}

#define CLAIM(CALL, FIELD, N, BYTES)                                                                         \
    ((FIELD = (CALL)->scratch(CALL, (uint64_t)(N) * sizeof(void *))) == NULL                                 \
         ? -1                                                                                                \
         : claim(CALL, (void **)(FIELD), N, BYTES))

static int prepare(const dpf_call *call, struct summing *s, int64_t *out, int dense)
{
    const int64_t m = s->columns->m;
    const double bytes = (double)s->cells * 8.0 + (dense ? (double)m * (double)(m + BLOCK) * 8.0 : 0.0);
    s->n_tasks = dpf_task_workers(call);
    while (s->n_tasks > 1 && bytes * s->n_tasks > MOST_BYTES)
        s->n_tasks--;
    const int64_t numbers = gram_message_room(s->columns, s->directions);
    if (CLAIM(call, s->sums, s->n_tasks, (uint64_t)s->cells * 8) != 0 ||
        gram_desks_open(call, s->n_tasks, numbers, &s->desks) != 0)
        return -1;
    if (dense && (CLAIM(call, s->block, s->n_tasks, (uint64_t)(m * BLOCK) * 8) != 0 ||
                  CLAIM(call, s->partial, s->n_tasks, (uint64_t)(m * m) * 8) != 0))
        return -1;
    memset(out, 0, (size_t)s->cells * 8);
    return 0;
}

static void add_up(const struct summing *s, int64_t *out)
{
    for (int32_t t = 0; t < s->n_tasks; t++)
        for (int64_t i = 0; i < s->cells; i++)
            out[i] += s->sums[t][i];
}

static dpf_status run(const dpf_call *call, struct summing *s, int dense, dpf_task task, int64_t *out)
{
    if (prepare(call, s, out, dense) != 0)
        return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory for the sums over users");
    dpf_run_tasks(call, s->n_tasks, task, s);
    if (call->cancelled(call))
        return DPF_E_CANCELLED;
    add_up(s, out);
    return DPF_OK;
}

/* ---- counts ---------------------------------------------------------------------------------------------
 */

dpf_status gram_sum_counts(const dpf_call *call, const dpf_interactions *records, int32_t bits, int64_t *out)
{
    int64_t first, last;
    (void)call;
    dpf_users_here(records, &first, &last);
    memset(out, 0, (size_t)records->n_items * sizeof *out);
    for (int64_t user = first; user < last; user++)
        gram_message_counts(&records->by_user, user, bits, out);
    return DPF_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------------------
 */

/* Integers, so the sums of doubles are exact while no partial sum can reach 2^53. */
static void add_block(const struct summing *s, int64_t task, int64_t users)
{
    const int m = (int)s->columns->m;
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, m, (int)users, 1.0, s->block[task], m, 1.0,
                s->partial[task], m);
    memset(s->block[task], 0, (size_t)(users * m) * sizeof(double));
}

static void flush_partial(const struct summing *s, int64_t task)
{
    const int64_t m = s->columns->m;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = i; j < m; j++)
            s->sums[task][i * m + j] += (int64_t)s->partial[task][i * m + j];
    memset(s->partial[task], 0, (size_t)(m * m) * sizeof(double));
}

static void sum_pairs(void *context, int64_t task, int32_t worker)
{
    const struct summing *s = context;
    const int64_t m = s->columns->m, most = EXACT >> 2 * s->columns->bits;
    int64_t in_block = 0, pending = 0, first, last;
    (void)worker;
    dpf_users_here(s->records, &first, &last);
    for (int64_t user = first + task; user < last; user += s->n_tasks) {
        struct gram_desk *desk = &s->desks[task];
        const int64_t n = gram_message_row(s->columns, &s->records->by_user, user, desk);
        if (n * GRAM_DENSE_PART <= m) {
            gram_message_pairs(desk, n, m, 1, s->sums[task]);
            continue;
        }
        for (int64_t i = 0; i < n; i++)
            s->block[task][in_block * m + desk->at[i]] = (double)desk->row[i];
        if (++in_block < BLOCK)
            continue;
        if (pending + in_block > most) {
            flush_partial(s, task);
            pending = 0;
        }
        add_block(s, task, in_block);
        pending += in_block;
        in_block = 0;
    }
    if (pending + in_block > most)
        flush_partial(s, task);
    if (in_block > 0)
        add_block(s, task, in_block);
    flush_partial(s, task);
}

dpf_status gram_sum_pairs(const dpf_call *call, const dpf_interactions *records,
                          const struct gram_columns *columns, int64_t *out)
{
    struct summing s = {.records = records, .columns = columns, .cells = columns->m * columns->m};
    return run(call, &s, 1, sum_pairs, out);
}

/* ---- projected ------------------------------------------------------------------------------------------
 */

static void sum_projected(void *context, int64_t task, int32_t worker)
{
    const struct summing *s = context;
    int64_t first, last;
    (void)worker;
    dpf_users_here(s->records, &first, &last);
    for (int64_t user = first + task; user < last; user += s->n_tasks)
        gram_message_projected(s->directions, s->columns, &s->records->by_user, user, &s->desks[task],
                               s->sums[task]);
}

dpf_status gram_sum_projected(const dpf_call *call, const dpf_interactions *records,
                              const struct gram_columns *columns, const struct gram_directions *directions,
                              int64_t *out)
{
    struct summing s = {.records = records,
                        .columns = columns,
                        .directions = directions,
                        .cells = columns->m * directions->d};
    return run(call, &s, 0, sum_projected, out);
}
