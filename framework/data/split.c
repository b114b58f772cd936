/* SPDX-License-Identifier: Apache-2.0 */
#include "data/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"

/* What each kind of split works on. */
struct splitter {
    const struct data_options *options;
    const struct ratings *all;
    int64_t items;
    dpf_stream *stream;
    uint8_t *flags;
    struct csr *candidates;
    struct dataset_summary *summary;
};

static int64_t degree(const struct csr *csr, int64_t row)
{
    return csr->ptr[row + 1] - csr->ptr[row];
}

/* random and k-fold: a piece of one random order of all records, hence of exact size. */
static int flag_piece(struct splitter *s, struct dpf_error *error)
{
    const struct data_options *o = s->options;
    int64_t n = s->all->csr.ptr[s->all->csr.rows];
    int64_t first = 0, last = (int64_t)floor(o->fraction * (double)n + 0.5);
    if (o->kind == SPLIT_FOLDS) {
        if (n < o->folds)
            return error_set(error, DPF_FAULT_DATA, "%lld records cannot fill %lld folds (split.folds)",
                             (long long)n, (long long)o->folds);
        /* The first folds get one record more when the sizes differ. */
        int64_t size = n / o->folds, more = n % o->folds, fold = o->fold - 1;
        first = fold * size + (fold < more ? fold : more);
        last = first + size + (fold < more);
    }
    int64_t *order = memory_raw((size_t)n, sizeof *order);
    if (!order)
        return error_memory(error);
    dpf_cursor cursor;
    random_seek(s->stream, 0, 0, 0, &cursor);
    random_permutation(&cursor, order, n);
    for (int64_t i = first; i < last; i++)
        s->flags[order[i]] = 1;
    free(order);
    return 0;
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

static int flag_one_each(struct splitter *s, struct dpf_error *error)
{
    const struct csr *csr = &s->all->csr;
    if (s->options->by == BY_TIME && (!s->all->times || !s->all->order))
        return error_set(error, DPF_FAULT_DATA,
                         "leave-one-out by time needs time stamps in all files; set data.column.time, or "
                         "split.by = random");
    int64_t kept = 0;
    for (int64_t r = 0; r < csr->rows; r++) {
        int64_t n = degree(csr, r);
        if (n < 2) {
            kept += n;
            continue;
        }
        if (s->options->by == BY_TIME) {
            s->flags[latest(s, r)] = 1;
            continue;
        }
        dpf_cursor cursor;
        uint64_t pick;
        random_seek(s->stream, 0, (uint32_t)r, 0, &cursor);
        random_below(&cursor, (uint64_t)n, &pick, 1);
        s->flags[csr->ptr[r] + (int64_t)pick] = 1;
    }
    if (kept)
        log_message(LOG_LEVEL_INFO, "leave-one-out: %lld users with a single record stay in training only",
                    (long long)kept);
    return 0;
}

static void flag_some(struct splitter *s, int64_t row, int64_t count, int32_t *indices)
{
    const struct csr *csr = &s->all->csr;
    int64_t n = degree(csr, row);
    dpf_cursor cursor;
    random_seek(s->stream, 0, (uint32_t)row, 0, &cursor);
    for (int64_t i = 0; i < n; i++)
        indices[i] = (int32_t)i;
    for (int64_t i = 0; i < count; i++) {
        uint64_t pick;
        random_below(&cursor, (uint64_t)(n - i), &pick, 1);
        int64_t j = i + (int64_t)pick;
        int32_t chosen = indices[j];
        indices[j] = indices[i];
        s->flags[csr->ptr[row] + chosen] = 1;
    }
}

static int flag_per_user(struct splitter *s, struct dpf_error *error)
{
    const struct csr *csr = &s->all->csr;
    int64_t longest = 0, short_users = 0;
    for (int64_t r = 0; r < csr->rows; r++)
        longest = degree(csr, r) > longest ? degree(csr, r) : longest;
    int32_t *indices = memory_raw((size_t)longest, sizeof *indices);
    if (!indices)
        return error_memory(error);
    for (int64_t r = 0; r < csr->rows; r++) {
        int64_t n = degree(csr, r), count = s->options->held_out;
        if (n == 0)
            continue;
        short_users += n <= count;
        flag_some(s, r, n <= count ? n - 1 : count, indices);
    }
    free(indices);
    if (short_users)
        log_message(LOG_LEVEL_INFO,
                    "per-user: %lld users have no more than %lld records; one of each stays in training",
                    (long long)short_users, (long long)s->options->held_out);
    return 0;
}

/* `wanted` of n items, ascending, uniformly (Knuth, TAOCP 2, 3.4.2, algorithm S). */
static void choose_items(dpf_cursor *cursor, int64_t n, int64_t wanted, int32_t *out)
{
    double u[256];
    int64_t taken = 0;
    for (int64_t item = 0; taken < wanted; item++) {
        if (item % 256 == 0)
            random_uniform(cursor, u, n - item < 256 ? n - item : 256);
        if (u[item % 256] * (double)(n - item) < (double)(wanted - taken))
            out[taken++] = (int32_t)item;
    }
}

static void flag_common(struct splitter *s, int64_t row)
{
    const struct csr *csr = &s->all->csr;
    int64_t c = s->candidates->ptr[row];
    for (int64_t i = csr->ptr[row]; i < csr->ptr[row + 1]; i++) {
        while (c < s->candidates->ptr[row + 1] && s->candidates->others[c] < csr->others[i])
            c++;
        if (c < s->candidates->ptr[row + 1] && s->candidates->others[c] == csr->others[i])
            s->flags[i] = 1;
    }
}

static int flag_candidates(struct splitter *s, struct dpf_error *error)
{
    int64_t rows = s->all->csr.rows;
    int64_t wanted = (int64_t)floor(s->options->fraction * (double)s->items + 0.5);
    if (wanted < 1)
        wanted = s->items > 0;
    struct csr *csr = s->candidates;
    csr->rows = rows;
    csr->ptr = memory_new((size_t)rows + 1, sizeof *csr->ptr);
    csr->others = memory_raw((size_t)rows * (size_t)wanted, sizeof *csr->others);
    if (!csr->ptr || !csr->others)
        return error_memory(error);
    for (int64_t r = 0; r < rows; r++) {
        dpf_cursor cursor;
        random_seek(s->stream, 0, (uint32_t)r, 0, &cursor);
        csr->ptr[r + 1] = csr->ptr[r] + wanted;
        choose_items(&cursor, s->items, wanted, csr->others + csr->ptr[r]);
        flag_common(s, r);
    }
    return 0;
}

int split_flags(const struct data_options *options, const struct ratings *all, int64_t items,
                const struct random_root *seeded, uint8_t *flags, struct csr *candidates,
                struct dataset_summary *summary, struct dpf_error *error)
{
    static const char *const purposes[] = {"none",     "random", "k-fold",    "leave-one-out",
                                           "per-user", "files",  "candidates"};
    struct splitter s = {options, all, items, NULL, flags, candidates, summary};
    s.stream = random_stream_open(seeded, "split", purposes[options->kind], error);
    if (!s.stream)
        return -1;
    int status = 0;
    if (options->kind == SPLIT_RANDOM || options->kind == SPLIT_FOLDS)
        status = flag_piece(&s, error);
    else if (options->kind == SPLIT_LEAVE_ONE_OUT)
        status = flag_one_each(&s, error);
    else if (options->kind == SPLIT_PER_USER)
        status = flag_per_user(&s, error);
    else if (options->kind == SPLIT_CANDIDATES)
        status = flag_candidates(&s, error);
    random_stream_free(s.stream);
    return status;
}

int split_make(const struct data_options *options, struct ratings *all, int64_t items,
               const struct random_root *seeded, struct csr *test, struct csr *candidates,
               struct dataset_summary *summary, struct dpf_error *error)
{
    int64_t n = all->csr.ptr[all->csr.rows];
    if (options->kind == SPLIT_NONE || options->kind == SPLIT_FILES)
        return 0;
    uint8_t *flags = memory_new((size_t)n, 1);
    if (!flags)
        return error_memory(error);
    int status = split_flags(options, all, items, seeded, flags, candidates, summary, error);
    if (status == 0 && ratings_extract(all, flags, test) != 0)
        status = error_memory(error);
    free(flags);
    return status;
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
                   const struct table *test_table, struct dpf_error *error)
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
            if (options->overlap == OVERLAP_ERROR)
                status = refuse_overlap(users, items, r, test->csr.others[t], train_table, test_table, error);
        }
    }
    if (status == 0 && common) {
        ratings_remove(loser, flags);
        log_message(LOG_LEVEL_INFO, "%lld pairs were in both files; they stay in the %s part",
                    (long long)common, loser == train ? "test" : "training");
    }
    free(flags);
    return status;
}
