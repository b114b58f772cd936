/* SPDX-License-Identifier: Apache-2.0 */
#include "gram_sum.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "unit_rows.h"

#define BLOCK 128                       /* users of a dense block */
#define EXACT INT64_C(0x20000000000000) /* integers below it are doubles */
#define MOST_BYTES 0x1p31               /* of all tasks' sums together */

/* What the tasks share, and what each has of its own. Users are dealt to the tasks in turn. */
struct summing {
    const dpf_interactions *records;
    const struct gram_columns *columns;
    const struct gram_directions *along; /* NULL: pairs */
    int64_t width;                       /* columns of a row at most */
    int32_t n_tasks;
    int64_t cells;    /* of a sum */
    int64_t **sums;   /* of each task; the first is the caller's */
    int32_t **at;     /* a user's columns */
    int32_t **row;    /* its integers, `width` of them, then those along directions */
    double **values;  /* `width` numbers, then likewise */
    double **block;   /* BLOCK x m, zero between blocks; NULL: no users are dense */
    double **partial; /* m x m sums of blocks, exact while `pending` users are in it */
};

/* A user's columns and integers; how many. */
static int64_t read_row(const struct summing *s, const struct gram_columns *columns, int64_t user,
                        int64_t task)
{
    const dpf_csr *csr = &s->records->by_user;
    int64_t n = 0;
    for (int64_t i = csr->offsets[user]; i < csr->offsets[user + 1]; i++) {
        const int32_t column = columns->column[csr->others[i]];
        if (column >= 0) {
            s->at[task][n] = column;
            s->values[task][n++] =
                columns->weight[column] *
                (columns->values ? (double)value_weight(columns->values, csr->values, i) : 1.0);
        }
    }
    unit_rows_round(s->values[task], n, columns->bits, s->row[task]);
    return n;
}

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
    const uint64_t numbers = (uint64_t)(s->width + (s->along ? s->along->d : 0) + 1);
    if (CLAIM(call, s->sums, s->n_tasks, (uint64_t)s->cells * 8) != 0 ||
        CLAIM(call, s->at, s->n_tasks, numbers * 4) != 0 ||
        CLAIM(call, s->row, s->n_tasks, numbers * 4) != 0 ||
        CLAIM(call, s->values, s->n_tasks, numbers * 8) != 0)
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
    const dpf_csr *csr = &records->by_user;
    (void)call;
    memset(out, 0, (size_t)records->n_items * sizeof *out);
    for (int64_t user = 0; user < csr->rows; user++) {
        const int64_t first = csr->offsets[user], end = csr->offsets[user + 1];
        const int64_t share = unit_rows_share(end - first, bits);
        for (int64_t i = first; i < end; i++)
            out[csr->others[i]] += share;
    }
    return DPF_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------------------
 */

static void add_pairs(const struct summing *s, int64_t task, int64_t n)
{
    const int32_t *at = s->at[task], *row = s->row[task];
    for (int64_t a = 0; a < n; a++) {
        int64_t *sums = s->sums[task] + at[a] * s->columns->m;
        const int64_t z = row[a];
        for (int64_t b = a; b < n; b++)
            sums[at[b]] += z * row[b];
    }
}

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
    int64_t in_block = 0, pending = 0;
    (void)worker;
    for (int64_t user = task; user < s->records->by_user.rows; user += s->n_tasks) {
        const int64_t n = read_row(s, s->columns, user, task);
        if (n * GRAM_DENSE_PART <= m) {
            add_pairs(s, task, n);
            continue;
        }
        for (int64_t i = 0; i < n; i++)
            s->block[task][in_block * m + s->at[task][i]] = (double)s->row[task][i];
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
    struct summing s = {
        .records = records, .columns = columns, .width = columns->m, .cells = columns->m * columns->m};
    return run(call, &s, 1, sum_pairs, out);
}

/* ---- projected ------------------------------------------------------------------------------------------
 */

/* The user's row along the directions: d integers of norm 2^bits at most. */
static const int32_t *read_along(const struct summing *s, int64_t user, int64_t task)
{
    const struct gram_directions *along = s->along;
    const int64_t n = read_row(s, along->columns, user, task);
    const double unit = ldexp(1.0, -along->columns->bits);
    int32_t *out = s->row[task] + s->width;
    double *y = s->values[task] + s->width;
    for (int32_t k = 0; k < along->d; k++)
        y[k] = 0.0;
    for (int64_t a = 0; a < n; a++) {
        const double *direction = along->basis + (int64_t)s->at[task][a] * along->d;
        for (int32_t k = 0; k < along->d; k++)
            y[k] += unit * (double)s->row[task][a] * direction[k];
    }
    unit_rows_round_by(y, along->d, fmax(unit_rows_norm(y, along->d), along->least), along->columns->bits,
                       out);
    return out;
}

static void sum_projected(void *context, int64_t task, int32_t worker)
{
    const struct summing *s = context;
    const int32_t d = s->along->d, *at = s->at[task], *z = s->row[task];
    (void)worker;
    for (int64_t user = task; user < s->records->by_user.rows; user += s->n_tasks) {
        const int32_t *w = read_along(s, user, task);
        const int64_t n = read_row(s, s->columns, user, task);
        for (int64_t a = 0; a < n; a++)
            for (int32_t k = 0; k < d; k++)
                s->sums[task][(int64_t)at[a] * d + k] += (int64_t)z[a] * w[k];
    }
}

dpf_status gram_sum_projected(const dpf_call *call, const dpf_interactions *records,
                              const struct gram_columns *columns, const struct gram_directions *directions,
                              int64_t *out)
{
    const int64_t seen = directions->columns->m;
    struct summing s = {.records = records,
                        .columns = columns,
                        .along = directions,
                        .width = columns->m > seen ? columns->m : seen,
                        .cells = columns->m * directions->d};
    return run(call, &s, 0, sum_projected, out);
}
