/* SPDX-License-Identifier: Apache-2.0 */
#include "gram_sum.h"

#include <cblas.h>
#include <string.h>

#define BLOCK 128                       /* dense rows that are multiplied together, at least */
#define EXACT INT64_C(0x20000000000000) /* integers below it are doubles */
#define MOST_BYTES 0x1p31               /* of all tasks' sums together */
#define BATCH_BYTES (INT64_C(12) << 20) /* of the rows of users that are summed together */
#define BATCH_USERS INT64_C(4096)

/* ---- levels ----------------------------------------------------------------------------------------------
 *
 * A row that is not 0 off its user's columns is that of its level, v, and what is left in the user's columns, e.
 * So sum y w' = sum e w' + sum over levels of v (sum of the level's w)', in integers; with w = y = v + e, the sum of
 * y y' is sum e e' + sum over levels of (n v v' + v (sum e)' + (sum e) v').
 */

struct level_sums {
    int64_t *users; /* of each level; NULL: there are none */
    int64_t *rows;  /* CENTRE_LEVELS x width: sums of w, or of e */
    int64_t width;
};

static int open_levels(const dpf_call *call, const struct gram_columns *columns, int64_t width,
                       struct level_sums *out)
{
    *out = (struct level_sums){NULL, NULL, width};
    if (!columns->centre || !columns->centre->level)
        return 0;
    const uint64_t bytes = (uint64_t)(CENTRE_LEVELS * width) * sizeof(int64_t);
    out->users = call->scratch(call, CENTRE_LEVELS * sizeof *out->users);
    out->rows = call->scratch(call, bytes);
    if (!out->users || !out->rows)
        return -1;
    memset(out->users, 0, CENTRE_LEVELS * sizeof *out->users);
    memset(out->rows, 0, (size_t)bytes);
    return 0;
}

/* What the tasks share, and what each has of its own. Users are dealt to the tasks in turn. */
struct summing {
    const dpf_interactions *records;
    const struct gram_columns *columns;
    const struct gram_directions *directions; /* NULL: pairs */
    int32_t n_tasks;
    int64_t cells;           /* of a sum */
    int64_t **sums;          /* of each task; the first is the caller's */
    struct gram_desk *desks; /* of each task */
    struct level_sums *levels;
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

static int prepare(const dpf_call *call, struct summing *s, int64_t *out)
{
    const double bytes = (double)s->cells * 8.0;
    s->n_tasks = dpf_task_workers(call);
    while (s->n_tasks > 1 && bytes * s->n_tasks > MOST_BYTES)
        s->n_tasks--;
    const int64_t numbers = gram_message_room(s->columns, s->directions);
    s->levels = call->scratch(call, (uint64_t)s->n_tasks * sizeof *s->levels);
    if (CLAIM(call, s->sums, s->n_tasks, (uint64_t)s->cells * 8) != 0 ||
        gram_desks_open(call, s->n_tasks, numbers, &s->desks) != 0 || !s->levels)
        return -1;
    for (int32_t t = 0; t < s->n_tasks; t++)
        if (open_levels(call, s->columns, s->directions->d, &s->levels[t]) != 0)
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

static dpf_status no_memory(const dpf_call *call)
{
    return call->host->fail(call->host, DPF_E_MEMORY, -1, "out of memory for the sums over users");
}

static dpf_status run(const dpf_call *call, struct summing *s, dpf_task task, int64_t *out)
{
    if (prepare(call, s, out) != 0)
        return no_memory(call);
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
 *
 * One sum for all tasks, of which each adds to its own rows: the rows of a batch of users are made first, by all tasks, and
 * then read by all. So memory does not grow with the number of tasks.
 */

struct pairs {
    const dpf_interactions *records;
    const struct gram_columns *columns;
    int64_t first, count, most; /* users of the batch */
    struct gram_desk *rows;     /* of each user of the batch, */
    int64_t *n;                 /* and how many columns it has */
    double *block;              /* dense rows, of those who have many columns; zero behind them */
    int64_t dense;
    double *partial; /* m x m sums of blocks: of integers, exact while `pending` rows are in it */
    int64_t pending;
    int64_t *out; /* m x m */
    struct level_sums levels;
    int32_t n_bands;
    int64_t *bands; /* of rows, about equally many cells of the upper triangle each */
};

static void make_row(void *context, int64_t task, int32_t worker)
{
    struct pairs *p = context;
    (void)worker;
    for (int64_t k = task; k < p->count; k += p->n_bands) {
        p->n[k] = gram_message_row(p->columns, &p->records->by_user, p->first + k, &p->rows[k]);
        gram_message_split(p->columns, p->n[k], &p->rows[k]);
    }
}

static int is_dense(const struct pairs *p, int64_t k)
{
    return p->n[k] * GRAM_DENSE_PART > p->columns->m;
}

static void take_dense_rows(struct pairs *p)
{
    const int64_t m = p->columns->m;
    for (int64_t k = 0; k < p->count; k++) {
        if (!is_dense(p, k))
            continue;
        double *to = p->block + p->dense++ * m;
        for (int64_t i = 0; i < p->n[k]; i++)
            to[p->rows[k].at[i]] = (double)p->rows[k].row[i];
    }
}

/* Columns of a row ascend: the first that is not before `column`. */
static int64_t find_column(const struct gram_desk *row, int64_t n, int64_t column)
{
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (row->at[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_sparse(const struct pairs *p, int64_t k, int64_t first, int64_t last)
{
    const struct gram_desk *row = &p->rows[k];
    const int64_t n = p->n[k], end = find_column(row, n, last);
    for (int64_t a = find_column(row, n, first); a < end; a++) {
        int64_t *sums = p->out + row->at[a] * p->columns->m;
        const int64_t z = row->row[a];
        for (int64_t b = a; b < n; b++)
            sums[row->at[b]] += z * row->row[b];
    }
}

static void add_sparse_rows(void *context, int64_t band, int32_t worker)
{
    const struct pairs *p = context;
    (void)worker;
    for (int64_t k = 0; k < p->count; k++)
        if (!is_dense(p, k))
            add_sparse(p, k, p->bands[band], p->bands[band + 1]);
}

static void count_levels(struct pairs *p)
{
    for (int64_t k = 0; k < p->count && p->levels.users; k++) {
        const struct gram_desk *desk = &p->rows[k];
        if (desk->level < 0)
            continue;
        p->levels.users[desk->level]++;
        for (int64_t i = 0; i < p->n[k]; i++)
            p->levels.rows[desk->level * p->levels.width + desk->at[i]] += desk->row[i];
    }
}

/* n v v' + v (sum e)' + (sum e) v' of each level. */
static void add_levels(void *context, int64_t band, int32_t worker)
{
    const struct pairs *p = context;
    const int64_t m = p->columns->m;
    (void)worker;
    for (int32_t k = 0; k < CENTRE_LEVELS; k++) {
        const int32_t *v = row_centre_level(p->columns->centre, k);
        const int64_t *e = p->levels.rows + k * m, n = p->levels.users[k];
        for (int64_t i = n ? p->bands[band] : m; i < p->bands[band + 1]; i++) {
            int64_t *sums = p->out + i * m;
            const int64_t left = n * v[i] + e[i], right = v[i];
            for (int64_t j = i; j < m; j++)
                sums[j] += left * v[j] + right * e[j];
        }
    }
}

static void add_block(void *context, int64_t band, int32_t worker)
{
    const struct pairs *p = context;
    const int64_t first = p->bands[band], last = p->bands[band + 1];
    const int m = (int)p->columns->m, own = (int)(last - first), beyond = m - (int)last;
    (void)worker;
    if (own == 0)
        return;
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, own, (int)p->dense, 1.0, p->block + first, m, 1.0,
                p->partial + first * m + first, m);
    if (beyond > 0)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, own, beyond, (int)p->dense, 1.0,
                    p->block + first, m, p->block + last, m, 1.0, p->partial + first * m + last, m);
}

static void flush_band(void *context, int64_t band, int32_t worker)
{
    const struct pairs *p = context;
    const int64_t m = p->columns->m;
    (void)worker;
    for (int64_t i = p->bands[band]; i < p->bands[band + 1]; i++) {
        for (int64_t j = i; j < m; j++)
            p->out[i * m + j] += (int64_t)p->partial[i * m + j];
        memset(p->partial + i * m, 0, (size_t)m * sizeof(double));
    }
}

static void close_block(const dpf_call *call, struct pairs *p)
{
    /* Numbers of a row are below 2^(bits + 1), and below 2^(bits + 2) where a level has been taken off. */
    if (p->pending + p->dense > EXACT >> (2 * p->columns->bits + 4)) {
        dpf_run_tasks(call, p->n_bands, flush_band, p);
        p->pending = 0;
    }
    dpf_run_tasks(call, p->n_bands, add_block, p);
    memset(p->block, 0, (size_t)(p->dense * p->columns->m) * sizeof *p->block);
    p->pending += p->dense;
    p->dense = 0;
}

/* Of rows 0 .. i-1 of the triangle there are i (2m - i + 1) / 2 cells. */
static void make_bands(struct pairs *p)
{
    const int64_t m = p->columns->m, all = m * (m + 1) / 2;
    int64_t i = 0;
    for (int32_t b = 0; b < p->n_bands; b++) {
        while (i < m && i * (2 * m - i + 1) / 2 < all / p->n_bands * b)
            i++;
        p->bands[b] = i;
    }
    p->bands[p->n_bands] = m;
}

/* Desks side by side, in one block for each kind of number. */
static int open_rows(const dpf_call *call, struct pairs *p)
{
    const int64_t numbers = gram_message_room(p->columns, NULL) + 1;
    p->rows = call->scratch(call, (uint64_t)p->most * sizeof *p->rows);
    int32_t *at = call->scratch(call, (uint64_t)(p->most * numbers) * sizeof *at);
    int32_t *row = call->scratch(call, (uint64_t)(p->most * numbers) * sizeof *row);
    double *values = call->scratch(call, (uint64_t)(p->most * numbers) * sizeof *values);
    if (!p->rows || !at || !row || !values)
        return -1;
    for (int64_t k = 0; k < p->most; k++)
        p->rows[k] = (struct gram_desk){at + k * numbers, row + k * numbers, values + k * numbers, -1};
    return 0;
}

static int open_pairs(const dpf_call *call, struct pairs *p, int64_t users)
{
    const int64_t m = p->columns->m, most = BATCH_BYTES / (24 * m + 1);
    const int32_t workers = dpf_task_workers(call);
    p->most = most < 1 ? 1 : most < BATCH_USERS ? most : BATCH_USERS;
    if (p->most > users)
        p->most = users > 0 ? users : 1;
    p->n_bands = workers > 1 ? 4 * workers : 1;
    p->bands = call->scratch(call, (uint64_t)(p->n_bands + 1) * sizeof *p->bands);
    p->n = call->scratch(call, (uint64_t)p->most * sizeof *p->n);
    p->block = call->scratch(call, (uint64_t)((p->most + BLOCK) * m) * sizeof *p->block);
    p->partial = call->scratch(call, (uint64_t)(m * m) * sizeof *p->partial);
    if (!p->bands || !p->n || !p->block || !p->partial || open_rows(call, p) != 0 ||
        open_levels(call, p->columns, m, &p->levels) != 0)
        return -1;
    memset(p->block, 0, (size_t)((p->most + BLOCK) * m) * sizeof *p->block);
    memset(p->partial, 0, (size_t)(m * m) * sizeof *p->partial);
    make_bands(p);
    return 0;
}

dpf_status gram_sum_pairs(const dpf_call *call, const dpf_interactions *records,
                          const struct gram_columns *columns, int64_t *out)
{
    struct pairs p = {.records = records, .columns = columns, .out = out};
    int64_t first, last;
    dpf_users_here(records, &first, &last);
    memset(out, 0, (size_t)(columns->m * columns->m) * sizeof *out);
    if (open_pairs(call, &p, last - first) != 0)
        return no_memory(call);
    for (p.first = first; p.first < last && !call->cancelled(call); p.first += p.most) {
        p.count = last - p.first < p.most ? last - p.first : p.most;
        dpf_run_tasks(call, p.n_bands, make_row, &p);
        dpf_run_tasks(call, p.n_bands, add_sparse_rows, &p);
        take_dense_rows(&p);
        count_levels(&p);
        if (p.dense >= BLOCK)
            close_block(call, &p);
    }
    close_block(call, &p);
    dpf_run_tasks(call, p.n_bands, flush_band, &p);
    if (p.levels.users)
        dpf_run_tasks(call, p.n_bands, add_levels, &p);
    return call->cancelled(call) ? DPF_E_CANCELLED : DPF_OK;
}

/* ---- projected ------------------------------------------------------------------------------------------
 */

static void add_products(int64_t *out, const int32_t *w, int64_t by, int64_t d)
{
    for (int64_t k = 0; k < d; k++)
        out[k] += by * w[k];
}

static void sum_projected(void *context, int64_t task, int32_t worker)
{
    const struct summing *s = context;
    const struct level_sums *levels = &s->levels[task];
    const int64_t d = s->directions->d;
    int64_t first, last;
    (void)worker;
    dpf_users_here(s->records, &first, &last);
    for (int64_t user = first + task; user < last; user += s->n_tasks) {
        struct gram_desk *desk = &s->desks[task];
        const int32_t *w;
        const int64_t n = gram_message_along(s->directions, s->columns, &s->records->by_user, user, desk, &w);
        for (int64_t a = 0; a < n; a++)
            add_products(s->sums[task] + desk->at[a] * d, w, desk->row[a], d);
        if (desk->level >= 0 && levels->users)
            add_products(levels->rows + desk->level * d, w, 1, d);
    }
    for (int32_t k = 0; k < CENTRE_LEVELS && levels->users; k++)
        for (int64_t i = 0; i < s->columns->m; i++) {
            const int64_t v = row_centre_level(s->columns->centre, k)[i];
            for (int64_t c = 0; c < d; c++)
                s->sums[task][i * d + c] += v * levels->rows[k * d + c];
        }
}

dpf_status gram_sum_projected(const dpf_call *call, const dpf_interactions *records,
                              const struct gram_columns *columns, const struct gram_directions *directions,
                              int64_t *out)
{
    struct summing s = {.records = records,
                        .columns = columns,
                        .directions = directions,
                        .cells = columns->m * directions->d};
    return run(call, &s, sum_projected, out);
}
