/* SPDX-License-Identifier: Apache-2.0 */
#include "gram_sum.h"

#include <cblas.h>
#include <string.h>

#define BLOCK 256                        /* dense rows that are multiplied together */
#define EXACT INT64_C(0x20000000000000)  /* integers below it are doubles */
#define MOST_BYTES 0x1p31                /* of all tasks' sums together */
#define BATCH_USERS INT64_C(16384)       /* whose rows are made together, */
#define BATCH_RECORDS (INT64_C(1) << 20) /* with at most so many numbers, or one user's */
#define LEAST_BAND 64                    /* rows of a sum that a task adds to */
#define MOST_BANDS 32

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
 * then read by all. So memory does not grow with the number of tasks. Users with few columns are read column by column, so
 * that one row of the sum is at hand at a time; the others, and the levels, are multiplied as matrices of integers.
 */

struct place {
    int32_t from, past; /* its own, and behind the last of that user */
};

struct pairs {
    const dpf_interactions *records;
    const struct gram_columns *columns;
    int64_t first, count;   /* users of the batch */
    struct gram_desk *rows; /* of each user of the batch, */
    int64_t *n;             /* and how many columns it has */
    int32_t *at, *row;      /* where the desks' numbers are, side by side */
    double *values;
    int64_t *ptr;         /* m + 2: for each column, where in at and row those who have it have it: */
    struct place *places; /* of the batch */
    double *block;        /* dense rows, of those who have many columns; zero behind them */
    int64_t dense;
    double *partial;       /* m x m sums of blocks: of integers, exact within `most` */
    int64_t pending, most; /* users in it, and how many it may have */
    int64_t *out;          /* m x m */
    struct level_sums levels;
    double *left, *right; /* 2 CENTRE_LEVELS rows of m: what is multiplied for the levels */
    int64_t factors;      /* how many of them */
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

/* Users of the batch by column, those with few columns. */
static void index_sparse_rows(struct pairs *p)
{
    const int64_t m = p->columns->m;
    memset(p->ptr, 0, (size_t)(m + 2) * sizeof *p->ptr);
    for (int64_t k = 0; k < p->count; k++)
        for (int64_t i = 0; i < p->n[k] && !is_dense(p, k); i++)
            p->ptr[p->rows[k].at[i] + 2]++;
    for (int64_t j = 0; j < m; j++)
        p->ptr[j + 2] += p->ptr[j + 1];
    for (int64_t k = 0; k < p->count; k++) {
        const int32_t first = (int32_t)(p->rows[k].at - p->at), past = first + (int32_t)p->n[k];
        for (int32_t at = first; at < past && !is_dense(p, k); at++)
            p->places[p->ptr[p->at[at] + 1]++] = (struct place){at, past};
    }
    p->places[p->ptr[m]] = (struct place){0, 0}; /* what is fetched after the last */
}

static void add_sparse_rows(void *context, int64_t band, int32_t worker)
{
    const struct pairs *p = context;
    const int32_t *at = p->at, *row = p->row;
    (void)worker;
    for (int64_t i = p->bands[band]; i < p->bands[band + 1]; i++) {
        int64_t *sums = p->out + i * p->columns->m;
        for (int64_t u = p->ptr[i]; u < p->ptr[i + 1]; u++) {
            const int32_t from = p->places[u].from, past = p->places[u].past;
            const int64_t z = row[from];
            __builtin_prefetch(at + p->places[u + 1].from);
            __builtin_prefetch(row + p->places[u + 1].from);
            for (int32_t b = from; b < past; b++)
                sums[at[b]] += z * row[b];
        }
    }
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

/* left' right, rows of a band, from its own column on. */
static void add_products_of(const struct pairs *p, int64_t band, const double *left, const double *right,
                            int64_t factors)
{
    const int64_t first = p->bands[band], last = p->bands[band + 1];
    const int m = (int)p->columns->m, own = (int)(last - first);
    if (own > 0 && factors > 0)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, own, m - (int)first, (int)factors, 1.0,
                    left + first, m, right + first, m, 1.0, p->partial + first * m + first, m);
}

/* n v v' + v (sum e)' + (sum e) v' of each level, as (n v + sum e) v' + v (sum e)'. */
static void turn_levels(struct pairs *p)
{
    const int64_t m = p->columns->m;
    p->factors = 0;
    for (int32_t k = 0; k < CENTRE_LEVELS && p->levels.users; k++) {
        const int64_t n = p->levels.users[k];
        if (n == 0)
            continue;
        const int32_t *v = row_centre_level(p->columns->centre, k);
        int64_t *e = p->levels.rows + k * m;
        double *left = p->left + p->factors * m, *right = p->right + p->factors * m;
        for (int64_t i = 0; i < m; i++) {
            left[i] = (double)(n * v[i] + e[i]);
            left[m + i] = right[i] = (double)v[i];
            right[m + i] = (double)e[i];
            e[i] = 0;
        }
        p->levels.users[k] = 0;
        p->factors += 2;
    }
}

static void add_levels(void *context, int64_t band, int32_t worker)
{
    const struct pairs *p = context;
    (void)worker;
    add_products_of(p, band, p->left, p->right, p->factors);
}

static void add_block(void *context, int64_t band, int32_t worker)
{
    const struct pairs *p = context;
    (void)worker;
    add_products_of(p, band, p->block, p->block, p->dense);
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
    dpf_run_tasks(call, p->n_bands, add_block, p);
    memset(p->block, 0, (size_t)(p->dense * p->columns->m) * sizeof *p->block);
    p->dense = 0;
}

static void take_dense_rows(const dpf_call *call, struct pairs *p)
{
    const int64_t m = p->columns->m;
    for (int64_t k = 0; k < p->count; k++) {
        if (!is_dense(p, k))
            continue;
        double *to = p->block + p->dense++ * m;
        for (int64_t i = 0; i < p->n[k]; i++)
            to[p->rows[k].at[i]] = (double)p->rows[k].row[i];
        if (p->dense == BLOCK)
            close_block(call, p);
    }
}

static void flush(const dpf_call *call, struct pairs *p)
{
    close_block(call, p);
    turn_levels(p);
    dpf_run_tasks(call, p->n_bands, add_levels, p);
    dpf_run_tasks(call, p->n_bands, flush_band, p);
    p->pending = 0;
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

/* Bands are small enough that little of their square is computed for nothing, and the same for any number of workers. */
static int open_pairs(const dpf_call *call, struct pairs *p, int64_t users, int64_t records)
{
    const int64_t m = p->columns->m, room = (records < BATCH_RECORDS ? records : BATCH_RECORDS) + m,
                  most = users < BATCH_USERS ? users : BATCH_USERS;
    const uint64_t levels = (uint64_t)(2 * CENTRE_LEVELS * m + 1) * sizeof(double);
    p->n_bands = (int32_t)(m / LEAST_BAND < MOST_BANDS ? m / LEAST_BAND + 1 : MOST_BANDS);
    p->bands = call->scratch(call, (uint64_t)(p->n_bands + 1) * sizeof *p->bands);
    p->n = call->scratch(call, (uint64_t)(most + 1) * sizeof *p->n);
    p->rows = call->scratch(call, (uint64_t)(most + 1) * sizeof *p->rows);
    p->at = call->scratch(call, (uint64_t)room * sizeof *p->at);
    p->row = call->scratch(call, (uint64_t)room * sizeof *p->row);
    p->values = call->scratch(call, (uint64_t)room * sizeof *p->values);
    p->ptr = call->scratch(call, (uint64_t)(m + 2) * sizeof *p->ptr);
    p->places = call->scratch(call, (uint64_t)(room + 1) * sizeof *p->places);
    p->block = call->scratch(call, (uint64_t)(BLOCK * m) * sizeof *p->block);
    p->partial = call->scratch(call, (uint64_t)(m * m) * sizeof *p->partial);
    if (!p->bands || !p->n || !p->rows || !p->at || !p->row || !p->values || !p->ptr || !p->places ||
        !p->block || !p->partial || open_levels(call, p->columns, m, &p->levels) != 0)
        return -1;
    if (p->levels.users &&
        (!(p->left = call->scratch(call, levels)) || !(p->right = call->scratch(call, levels))))
        return -1;
    memset(p->block, 0, (size_t)(BLOCK * m) * sizeof *p->block);
    memset(p->partial, 0, (size_t)(m * m) * sizeof *p->partial);
    make_bands(p);
    return 0;
}

/* As many users as there is room for, of whom each may have all of their records in columns. */
static void open_batch(struct pairs *p, int64_t last)
{
    const int64_t *offsets = p->records->by_user.offsets;
    int64_t used = 0;
    for (p->count = 0; p->first + p->count < last && p->count < p->most && p->count < BATCH_USERS;
         p->count++) {
        const int64_t user = p->first + p->count, n = offsets[user + 1] - offsets[user],
                      room = n < p->columns->m ? n : p->columns->m;
        if (p->count > 0 && used + room > BATCH_RECORDS)
            break;
        p->rows[p->count] = (struct gram_desk){p->at + used, p->row + used, p->values + used, -1};
        used += room;
    }
}

dpf_status gram_sum_pairs(const dpf_call *call, const dpf_interactions *records,
                          const struct gram_columns *columns, int64_t *out)
{
    struct pairs p = {.records = records, .columns = columns, .out = out};
    int64_t first, last;
    dpf_users_here(records, &first, &last);
    memset(out, 0, (size_t)(columns->m * columns->m) * sizeof *out);
    const int64_t *offsets = records->by_user.offsets;
    if (open_pairs(call, &p, last - first, offsets[last] - offsets[first]) != 0)
        return no_memory(call);
    /* Numbers of a row are below 2^(bits + 1), and below 2^(bits + 2) where a level has been taken off: below 2^(2 bits + 4)
       in a product of a dense row, and 2^(2 bits + 5) in those of a user with a level. */
    p.most = (EXACT >> (2 * columns->bits + 6)) + 1;
    for (p.first = first; p.first < last && !call->cancelled(call); p.first += p.count) {
        open_batch(&p, last);
        if (p.pending + p.count > p.most)
            flush(call, &p);
        p.pending += p.count;
        dpf_run_tasks(call, p.n_bands, make_row, &p);
        index_sparse_rows(&p);
        dpf_run_tasks(call, p.n_bands, add_sparse_rows, &p);
        take_dense_rows(call, &p);
        count_levels(&p);
    }
    flush(call, &p);
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
