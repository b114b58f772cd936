/* SPDX-License-Identifier: Apache-2.0 */
#include "data/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/prf.h"

/* What each kind of split works on. */
struct splitter {
    const struct data_options *options;
    const struct ratings *all;
    const struct id_map *users, *items;
    const struct random_root *seeded;
    struct prf draw;          /* of a user, then of an item */
    struct prf draw_of_users; /* of a user alone */
    uint8_t *flags;
    struct user_candidates *candidates;
    struct dataset_summary *summary;
    struct pool *pool; /* or NULL */
    double fraction;   /* of flag_by_draw */
};

#define ROWS_PER_TASK 1024

static int64_t degree(const struct csr *csr, int64_t row)
{
    return csr->ptr[row + 1] - csr->ptr[row];
}

/* The draw of a user's pairs with items. */
static void open_user(const struct splitter *s, int64_t user, struct prf *out)
{
    prf_within(&s->draw, id_map_text(s->users, user), out);
}

static uint64_t draw_of(const struct splitter *s, const struct prf *user, int32_t item)
{
    return prf_value(user, id_map_text(s->items, item));
}

static int64_t last_row(const struct splitter *s, int64_t task)
{
    const int64_t rows = s->all->csr.rows;
    return (task + 1) * ROWS_PER_TASK < rows ? (task + 1) * ROWS_PER_TASK : rows;
}

/* Tasks of ROWS_PER_TASK users each: what they flag follows from a user's own records. */
static int run_rows(struct splitter *s, pool_task task)
{
    const int64_t tasks = (s->all->csr.rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    int status = 0;
    if (s->pool)
        return pool_run(s->pool, tasks, task, s);
    for (int64_t t = 0; t < tasks && status == 0; t++)
        status = task(s, t, 0);
    return status;
}

/* random and k-fold: each record by its own draw. */
static int flag_by_record(void *context, int64_t task, int worker)
{
    struct splitter *s = context;
    const struct data_options *o = s->options;
    const struct csr *csr = &s->all->csr;
    (void)worker;
    for (int64_t r = task * ROWS_PER_TASK; r < last_row(s, task); r++) {
        struct prf user;
        open_user(s, r, &user);
        for (int64_t i = csr->ptr[r]; i < csr->ptr[r + 1]; i++) {
            uint64_t draw = draw_of(s, &user, csr->others[i]);
            s->flags[i] = o->kind == SPLIT_FOLDS ? prf_part(draw, o->folds) == o->fold - 1
                                                 : prf_unit(draw) < o->fraction;
        }
    }
    return 0;
}

/* random-exact: the head of one random order of all records, whose length is exact. */
static int flag_exactly(struct splitter *s, struct dpf_error *error)
{
    int64_t n = s->all->csr.ptr[s->all->csr.rows];
    int64_t held_out = (int64_t)floor(s->options->fraction * (double)n + 0.5);
    dpf_stream *stream = random_stream_open(s->seeded, "split", "random-exact", error);
    if (n > UINT32_MAX) {
        random_stream_free(stream);
        return error_set(error, DPF_FAULT_DATA, "random-exact splits at most %u records; use kind = random",
                         UINT32_MAX);
    }
    uint32_t *order = memory_raw((size_t)n, sizeof *order);
    if (stream && order) {
        dpf_cursor cursor;
        random_seek(stream, 0, 0, 0, &cursor);
        random_permutation32(&cursor, order, n);
        for (int64_t i = 0; i < held_out; i++)
            s->flags[order[i]] = 1;
    }
    int status = !stream ? -1 : order ? 0 : error_memory(error);
    free(order);
    random_stream_free(stream);
    return status;
}

static int64_t latest(struct splitter *s, int64_t row)
{
    const struct ratings *all = s->all;
    int64_t first = all->csr.ptr[row], last = all->csr.ptr[row + 1], best = first;
    int ties = 0;
    for (int64_t i = first + 1; i < last; i++) {
        if (all->times[i] > all->times[best]) {
            best = i;
            ties = 0;
        } else if (all->times[i] == all->times[best]) {
            ties = 1;
            if (all->order[i] > all->order[best])
                best = i;
        }
    }
    s->summary->time_ties_decided += ties;
    return best;
}

static void flag_latest(struct splitter *s)
{
    const struct csr *csr = &s->all->csr;
    for (int64_t r = 0; r < csr->rows; r++)
        if (degree(csr, r) > 1)
            s->flags[latest(s, r)] = 1;
}

struct ranked {
    uint64_t draw;
    int64_t at;
};

static int is_lower(const struct ranked *x, const struct ranked *y)
{
    return x->draw != y->draw ? x->draw < y->draw : x->at < y->at;
}

/* The count lowest of n come first, in any order. Quickselect: draws are random, so any pivot will do. */
static void put_lowest_first(struct ranked *x, int64_t n, int64_t count)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const struct ranked pivot = x[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (is_lower(&x[i], &pivot))
                i++;
            while (is_lower(&pivot, &x[j]))
                j--;
            if (i <= j) {
                const struct ranked other = x[i];
                x[i++] = x[j];
                x[j--] = other;
            }
        }
        if (count - 1 > j && count - 1 < i)
            return;
        if (count - 1 <= j)
            high = j;
        else
            low = i;
    }
}

/* How many records of a user with n > 0 records are held out. One always stays in training. */
static int64_t held_out_of(const struct data_options *o, int64_t n)
{
    int64_t wanted = o->kind == SPLIT_LEAVE_ONE_OUT ? 1
                     : o->held_out                  ? o->held_out
                                                    : (int64_t)floor(o->fraction * (double)n + 0.5);
    return wanted < n ? wanted : n - 1;
}

/* Of each user's records those of the lowest draws. */
static void flag_lowest_of(struct splitter *s, int64_t row, struct ranked *ranked)
{
    const struct csr *csr = &s->all->csr;
    const int64_t n = degree(csr, row), first = csr->ptr[row];
    const int64_t count = n ? held_out_of(s->options, n) : 0;
    struct prf user;
    open_user(s, row, &user);
    for (int64_t i = 0; i < n; i++)
        ranked[i] = (struct ranked){draw_of(s, &user, csr->others[first + i]), first + i};
    if (count)
        put_lowest_first(ranked, n, count);
    for (int64_t i = 0; i < count; i++)
        s->flags[ranked[i].at] = 1;
}

static int flag_lowest(void *context, int64_t task, int worker)
{
    struct splitter *s = context;
    const struct csr *csr = &s->all->csr;
    int64_t longest = 0;
    (void)worker;
    for (int64_t r = task * ROWS_PER_TASK; r < last_row(s, task); r++)
        longest = degree(csr, r) > longest ? degree(csr, r) : longest;
    struct ranked *ranked = memory_raw((size_t)longest, sizeof *ranked);
    if (!ranked)
        return -1;
    for (int64_t r = task * ROWS_PER_TASK; r < last_row(s, task); r++)
        flag_lowest_of(s, r, ranked);
    free(ranked);
    return 0;
}

/* What a user has too few records for, as far as it is worth a message. */
static void report_short_users(const struct splitter *s)
{
    const struct data_options *o = s->options;
    const struct csr *csr = &s->all->csr;
    int64_t wanted = o->kind == SPLIT_LEAVE_ONE_OUT ? 1 : o->held_out, users = 0;
    for (int64_t r = 0; r < csr->rows; r++)
        users += degree(csr, r) > 0 && degree(csr, r) <= wanted;
    if (users && o->kind == SPLIT_LEAVE_ONE_OUT)
        log_message(LOG_LEVEL_INFO, "leave-one-out: %lld users with a single record stay in training only",
                    (long long)users);
    else if (users)
        log_message(LOG_LEVEL_INFO,
                    "per-user: %lld users have no more than %lld records; one of each stays in training",
                    (long long)users, (long long)wanted);
}

/* candidates: an item is set aside by the same draw, with a record or without. */
static int flag_candidates(struct splitter *s)
{
    *s->candidates =
        (struct user_candidates){.kind = CANDIDATES_DRAWN, .draw = s->draw, .fraction = s->options->fraction};
    return run_rows(s, flag_by_record);
}

/* cold-items: a draw of each item's id, with all of its records. Users with such a record rank all of these
 * items. */
static int flag_cold_items(struct splitter *s, struct dpf_error *error)
{
    const struct csr *csr = &s->all->csr;
    uint8_t *cold = memory_new((size_t)s->items->n + 1, 1);
    int32_t *items = memory_raw((size_t)s->items->n + 1, sizeof *items);
    int64_t n = 0;
    struct prf draw;
    if (!cold || !items) {
        free(cold);
        free(items);
        return error_memory(error);
    }
    prf_open(s->seeded, "split", "items", &draw);
    for (int64_t item = 0; item < s->items->n; item++) {
        cold[item] = prf_unit(prf_value(&draw, id_map_text(s->items, item))) < s->options->fraction;
        if (cold[item])
            items[n++] = (int32_t)item;
    }
    for (int64_t i = 0; i < csr->ptr[csr->rows]; i++)
        s->flags[i] = cold[csr->others[i]];
    *s->candidates = (struct user_candidates){.kind = CANDIDATES_SHARED, .items = items, .n = n};
    free(cold);
    return 0;
}

/* time: each record by its own time. */
static void flag_from(struct splitter *s)
{
    const struct csr *csr = &s->all->csr;
    for (int64_t i = 0; i < csr->ptr[csr->rows]; i++)
        s->flags[i] = s->all->times[i] >= s->options->time_from;
}

#define KNOWN 2 /* a record of a held-out user that is neither trained on nor tested */

static int flag_held_out_users(void *context, int64_t task, int worker)
{
    struct splitter *s = context;
    const struct csr *csr = &s->all->csr;
    (void)worker;
    for (int64_t r = task * ROWS_PER_TASK; r < last_row(s, task); r++) {
        struct prf user;
        if (!(prf_unit(prf_value(&s->draw_of_users, id_map_text(s->users, r))) < s->options->users))
            continue;
        open_user(s, r, &user);
        for (int64_t i = csr->ptr[r]; i < csr->ptr[r + 1]; i++)
            s->flags[i] = prf_unit(draw_of(s, &user, csr->others[i])) < s->options->fraction ? 1 : KNOWN;
    }
    return 0;
}

static int split_flags(const struct data_options *options, const struct ratings *all,
                       const struct id_map *users, const struct id_map *items,
                       const struct random_root *seeded, struct pool *pool, uint8_t *flags,
                       struct user_candidates *candidates, struct dataset_summary *summary,
                       struct dpf_error *error)
{
    struct splitter s = {.options = options,
                         .all = all,
                         .users = users,
                         .items = items,
                         .seeded = seeded,
                         .flags = flags,
                         .candidates = candidates,
                         .summary = summary,
                         .pool = pool};
    prf_open(seeded, "split", "pairs", &s.draw);
    int status = 0;
    switch (options->kind) {
    case SPLIT_RANDOM:
    case SPLIT_FOLDS:
        status = run_rows(&s, flag_by_record);
        break;
    case SPLIT_RANDOM_EXACT:
        status = flag_exactly(&s, error);
        break;
    case SPLIT_LEAVE_ONE_OUT:
    case SPLIT_PER_USER:
        if (options->kind == SPLIT_LEAVE_ONE_OUT && options->by == BY_TIME)
            flag_latest(&s);
        else
            status = run_rows(&s, flag_lowest) == 0 ? 0 : error_memory(error);
        report_short_users(&s);
        break;
    case SPLIT_CANDIDATES:
        status = flag_candidates(&s);
        break;
    case SPLIT_COLD_ITEMS:
        status = flag_cold_items(&s, error);
        break;
    case SPLIT_TIME:
        flag_from(&s);
        break;
    case SPLIT_USERS:
        prf_open(seeded, "split", "users", &s.draw_of_users);
        status = run_rows(&s, flag_held_out_users);
        break;
    default:
        break;
    }
    return status;
}

static int flag_by_draw(void *context, int64_t task, int worker)
{
    struct splitter *s = context;
    const struct csr *csr = &s->all->csr;
    (void)worker;
    for (int64_t r = task * ROWS_PER_TASK; r < last_row(s, task); r++) {
        struct prf user;
        open_user(s, r, &user);
        for (int64_t i = csr->ptr[r]; i < csr->ptr[r + 1]; i++)
            s->flags[i] = !(prf_unit(draw_of(s, &user, csr->others[i])) < s->fraction);
    }
    return 0;
}

/* What is left for training is thinned out, each record by a draw of its own that has nothing to do with the
 * split's. */
static int thin_training(const struct data_options *options, struct ratings *train,
                         const struct id_map *users, const struct id_map *items,
                         const struct random_root *seeded, struct pool *pool, struct dpf_error *error)
{
    if (!(options->train_fraction < 1))
        return 0;
    struct splitter s = {
        .all = train, .users = users, .items = items, .pool = pool, .fraction = options->train_fraction};
    s.flags = memory_new((size_t)train->csr.ptr[train->csr.rows] + 1, 1);
    if (!s.flags)
        return error_memory(error);
    prf_open(seeded, "split", "training", &s.draw);
    run_rows(&s, flag_by_draw);
    ratings_remove(train, s.flags);
    free(s.flags);
    return 0;
}

/* Takes the known records out, and their flags. */
static int extract_known(struct ratings *all, uint8_t *flags, struct csr *known, struct dpf_error *error)
{
    const int64_t n = all->csr.ptr[all->csr.rows];
    uint8_t *marks = memory_new((size_t)n + 1, 1);
    int64_t kept = 0;
    if (!marks)
        return error_memory(error);
    for (int64_t i = 0; i < n; i++)
        marks[i] = flags[i] == KNOWN;
    const int status = ratings_extract(all, marks, known) == 0 ? 0 : error_memory(error);
    for (int64_t i = 0; i < n; i++)
        if (!marks[i])
            flags[kept++] = flags[i];
    free(marks);
    return status;
}

int split_make(const struct data_options *options, struct ratings *all, const struct id_map *users,
               const struct id_map *items, const struct random_root *seeded, struct pool *pool,
               struct csr *test, struct csr *known, struct user_candidates *candidates,
               struct dataset_summary *summary, struct dpf_error *error)
{
    int64_t n = all->csr.ptr[all->csr.rows];
    if (options->kind == SPLIT_NONE || options->kind == SPLIT_FILES)
        return thin_training(options, all, users, items, seeded, pool, error);
    uint8_t *flags = memory_new((size_t)n, 1);
    if (!flags)
        return error_memory(error);
    int status = split_flags(options, all, users, items, seeded, pool, flags, candidates, summary, error);
    if (status == 0 && options->kind == SPLIT_USERS)
        status = extract_known(all, flags, known, error);
    if (status == 0 && ratings_extract(all, flags, test) != 0)
        status = error_memory(error);
    free(flags);
    return status != 0 ? status : thin_training(options, all, users, items, seeded, pool, error);
}

static int refuse_overlap(const struct id_map *users, const struct id_map *items, int64_t row, int32_t item,
                          const struct table *train, const struct table *test, struct dpf_error *error)
{
    const char *path = NULL, *other = "?";
    int64_t line = 0, other_line = 0;
    table_find(test, (int32_t)row, item, 0, &path, &line);
    table_find(train, (int32_t)row, item, 0, &other, &other_line);
    return error_at(
        error, DPF_FAULT_DATA, path, (long)line,
        "user \"%s\" and item \"%s\" are also in the training part (%s:%lld); set split.overlap = "
        "test or train to keep one of them",
        id_map_text(users, row), id_map_text(items, item), other, (long long)other_line);
}

int split_overlaps(const struct data_options *options, struct ratings *train, struct ratings *test,
                   const struct id_map *users, const struct id_map *items, const struct table *train_table,
                   const struct table *test_table, struct violations *violations, struct dpf_error *error)
{
    struct ratings *loser = options->overlap == OVERLAP_TEST ? train : test;
    uint8_t *flags = memory_new((size_t)loser->csr.ptr[loser->csr.rows], 1);
    int64_t common = 0;
    int status = flags ? 0 : error_memory(error);
    for (int64_t r = 0; r < train->csr.rows && status == 0; r++) {
        int64_t i = train->csr.ptr[r];
        for (int64_t t = test->csr.ptr[r]; t < test->csr.ptr[r + 1] && status == 0; t++) {
            while (i < train->csr.ptr[r + 1] && train->csr.others[i] < test->csr.others[t])
                i++;
            if (i == train->csr.ptr[r + 1] || train->csr.others[i] != test->csr.others[t])
                continue;
            common++;
            flags[loser == train ? i : t] = 1;
            if (options->overlap == OVERLAP_ERROR) {
                refuse_overlap(users, items, r, test->csr.others[t], train_table, test_table, error);
                violations_add(violations, 0, 0, error); /* it stays in the training part */
            }
        }
    }
    if (status == 0 && common)
        ratings_remove(loser, flags);
    if (status == 0 && common && options->overlap != OVERLAP_ERROR)
        log_message(LOG_LEVEL_INFO, "%lld pairs were in both files; they stay in the %s part",
                    (long long)common, loser == train ? "test" : "training");
    free(flags);
    return status;
}
