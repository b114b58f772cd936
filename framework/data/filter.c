/* SPDX-License-Identifier: Apache-2.0 */
#include "data/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/prf.h"

struct filtering {
    const struct filter_options *options;
    struct ratings *all;
    const struct id_map *users, *items;
    const struct random_root *seeded;
    uint8_t *flags; /* of records that go, cleared after each step */
};

int filter_is_set(const struct filter_options *o)
{
    return o->user_min || o->user_max || o->users < 1 || o->item_min;
}

static int64_t degree(const struct csr *csr, int64_t row)
{
    return csr->ptr[row + 1] - csr->ptr[row];
}

static void flag_user(struct filtering *f, int64_t user)
{
    const struct csr *csr = &f->all->csr;
    memset(f->flags + csr->ptr[user], 1, (size_t)degree(csr, user));
}

static int64_t take_out(struct filtering *f)
{
    const int64_t n = f->all->csr.ptr[f->all->csr.rows], gone = ratings_remove(f->all, f->flags);
    memset(f->flags, 0, (size_t)n);
    return gone;
}

static void flag_fraction(struct filtering *f)
{
    struct prf draw;
    prf_open(f->seeded, "data", "filter of users", &draw);
    for (int64_t u = 0; u < f->users->n; u++)
        if (prf_unit(prf_value(&draw, id_map_text(f->users, u))) >= f->options->users)
            flag_user(f, u);
}

static void flag_few(struct filtering *f)
{
    for (int64_t u = 0; u < f->users->n; u++)
        if (degree(&f->all->csr, u) < f->options->user_min)
            flag_user(f, u);
}

static int flag_items(struct filtering *f, struct dpf_error *error)
{
    const struct csr *csr = &f->all->csr;
    const int64_t n = csr->ptr[csr->rows];
    int64_t *counts = memory_new((size_t)f->items->n + 1, sizeof *counts);
    if (!counts)
        return error_memory(error);
    for (int64_t i = 0; i < n; i++)
        counts[csr->others[i]]++;
    for (int64_t i = 0; i < n; i++)
        f->flags[i] = counts[csr->others[i]] < f->options->item_min;
    free(counts);
    return 0;
}

struct kept {
    double time;
    uint64_t draw;
    int32_t order;
    int64_t at;
};

static int compare_draws(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    return x->draw != y->draw ? (x->draw > y->draw) - (x->draw < y->draw) : (x->at > y->at) - (x->at < y->at);
}

/* The latest first; of equal times, the later line. */
static int compare_times(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    return x->time < y->time || x->time > y->time ? (x->time < y->time) - (x->time > y->time)
                                                  : (x->order < y->order) - (x->order > y->order);
}

static int flag_many(struct filtering *f, struct dpf_error *error)
{
    const struct csr *csr = &f->all->csr;
    const int latest = f->options->keep == KEEP_LATEST;
    int64_t longest = 0;
    struct prf draw, own;
    for (int64_t u = 0; u < csr->rows; u++)
        longest = degree(csr, u) > longest ? degree(csr, u) : longest;
    struct kept *kept = memory_raw((size_t)longest + 1, sizeof *kept);
    if (!kept)
        return error_memory(error);
    prf_open(f->seeded, "data", "filter of records", &draw);
    for (int64_t u = 0; u < csr->rows; u++) {
        const int64_t n = degree(csr, u), first = csr->ptr[u];
        if (n <= f->options->user_max)
            continue;
        prf_within(&draw, id_map_text(f->users, u), &own);
        for (int64_t i = 0; i < n; i++)
            kept[i] = (struct kept){.time = latest ? f->all->times[first + i] : 0,
                                    .order = latest ? f->all->order[first + i] : 0,
                                    .draw = prf_value(&own, id_map_text(f->items, csr->others[first + i])),
                                    .at = first + i};
        qsort(kept, (size_t)n, sizeof *kept, latest ? compare_times : compare_draws);
        for (int64_t i = f->options->user_max; i < n; i++)
            f->flags[kept[i].at] = 1;
    }
    free(kept);
    return 0;
}

int filter_apply(const struct filter_options *o, struct ratings *all, const struct id_map *users,
                 const struct id_map *items, const struct random_root *seeded, int64_t *removed,
                 struct dpf_error *error)
{
    if (!filter_is_set(o))
        return 0;
    struct filtering f = {.options = o, .all = all, .users = users, .items = items, .seeded = seeded};
    f.flags = memory_new((size_t)all->csr.ptr[all->csr.rows] + 1, 1);
    int status = f.flags ? 0 : error_memory(error);
    if (status == 0 && o->users < 1) {
        flag_fraction(&f);
        *removed += take_out(&f);
    }
    if (status == 0 && o->item_min && (status = flag_items(&f, error)) == 0)
        *removed += take_out(&f);
    if (status == 0 && o->user_min) {
        flag_few(&f);
        *removed += take_out(&f);
    }
    if (status == 0 && o->user_max && (status = flag_many(&f, error)) == 0)
        *removed += take_out(&f);
    free(f.flags);
    return status;
}
