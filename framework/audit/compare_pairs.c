/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two data sets that somebody gives are neighbours, and where they differ. */
#include "audit/pairs.h"

#include <string.h>

#include "dpframe/privacy.h"

struct comparison {
    const struct dataset *const *sets;
    const struct neighbours *kind;
    int support_is_public;
    int larger;       /* -1: the same users in both */
    int64_t departed; /* its user that the other lacks */
    const char *path;
};

static int refuse_pair(const struct comparison *c, const char *why, struct dpf_error *error)
{
    return error_set(error, DPF_FAULT_DATA,
                     "%s: this file and [data] are not neighbours under [privacy] unit and adjacency: %s. "
                     "Give data sets that differ in one unit",
                     c->path, why);
}

static int same_ids(const struct id_map *a, int64_t i, const struct id_map *b, int64_t j)
{
    return strcmp(id_map_text(a, i), id_map_text(b, j)) == 0;
}

/* Both lists of users are the same, or one has one more. */
static int compare_users(struct comparison *c, struct dpf_error *error)
{
    const struct id_map *a = &c->sets[0]->users, *b = &c->sets[1]->users;
    c->larger = a->n == b->n ? -1 : a->n < b->n;
    c->departed = -1;
    const struct id_map *more = c->larger == 1 ? b : a, *fewer = c->larger == 1 ? a : b;
    if (more->n > fewer->n + 1 || (c->larger >= 0 && !neighbours_depart(c->kind)))
        return refuse_pair(c, "their users differ", error);
    for (int64_t i = 0; i < more->n; i++) {
        const int64_t j = i - (c->departed >= 0);
        if (j < fewer->n && same_ids(more, i, fewer, j))
            continue;
        if (c->larger < 0 || c->departed >= 0)
            return refuse_pair(c, "their users differ", error);
        c->departed = i;
    }
    return 0;
}

static int same_entry(const struct csr *a, int64_t i, const struct csr *b, int64_t j)
{
    const float x = a->values ? a->values[i] : 1, y = b->values ? b->values[j] : 1;
    const float v = a->privacy_weights ? a->privacy_weights[i] : 1,
                w = b->privacy_weights ? b->privacy_weights[j] : 1;
    return !(x < y || x > y || v < w || v > w);
}

static int is_void(const struct csr *csr, int64_t i)
{
    return csr->voids && csr->voids[i];
}

struct row_walk row_walk_begin(const struct csr *a, int64_t r, const struct csr *b, int64_t s)
{
    struct row_walk walk = {.sets = {a, b}};
    const int64_t rows[2] = {r, s};
    for (int set = 0; set < 2; set++)
        if (rows[set] < walk.sets[set]->rows) {
            walk.next[set] = walk.sets[set]->ptr[rows[set]];
            walk.end[set] = walk.sets[set]->ptr[rows[set] + 1];
        }
    return walk;
}

int32_t row_walk_next(struct row_walk *walk, int64_t at[2])
{
    int32_t item = INT32_MAX;
    for (int set = 0; set < 2; set++) {
        at[set] = -1;
        if (walk->next[set] < walk->end[set] && walk->sets[set]->others[walk->next[set]] < item)
            item = walk->sets[set]->others[walk->next[set]];
    }
    for (int set = 0; set < 2; set++)
        if (walk->next[set] < walk->end[set] && walk->sets[set]->others[walk->next[set]] == item)
            at[set] = walk->next[set]++;
    return at[0] < 0 && at[1] < 0 ? -1 : item;
}

/* How two rows of records differ. A void record is like none. */
struct row_difference {
    int64_t there, values; /* records that one of them lacks; records of other values */
    int32_t item;          /* of the last */
};

static struct row_difference compare_rows(const struct csr *a, int64_t r, const struct csr *b, int64_t s)
{
    struct row_difference d = {0, 0, -1};
    struct row_walk walk = row_walk_begin(a, r, b, s);
    int64_t at[2];
    for (int32_t item; (item = row_walk_next(&walk, at)) >= 0;) {
        const int first = at[0] >= 0 && !is_void(a, at[0]), second = at[1] >= 0 && !is_void(b, at[1]);
        const int both = first && second;
        const int same = both ? same_entry(a, at[0], b, at[1]) : first == second;
        if (!same)
            d.item = item;
        d.there += first != second;
        d.values += both && !same;
    }
    return d;
}

static int one_record(const struct comparison *c, const struct row_difference *d)
{
    return c->kind->adjacency == DPF_ADJ_REPLACE_VALUE ? !d->there && d->values <= 1
                                                       : !d->values && d->there <= 1;
}

static int one_user(const struct comparison *c, const struct row_difference *d, int both_have_records)
{
    switch (c->kind->adjacency) {
    case DPF_ADJ_REPLACE:
        return !c->support_is_public || !d->there;
    case DPF_ADJ_ZERO_OUT:
        return !both_have_records;
    default:
        return 0; /* add-remove: users that both have are the same */
    }
}

static int compare_records(const struct comparison *c, struct difference *out, struct dpf_error *error)
{
    const struct csr *a = &c->sets[0]->train.by_user, *b = &c->sets[1]->train.by_user;
    const int by_user = c->kind->unit == DPF_UNIT_USER;
    for (int64_t r = 0; r < a->rows; r++) {
        if (c->larger == 0 && r == c->departed)
            continue;
        const int64_t s = r + (c->larger == 1 && r >= c->departed) - (c->larger == 0 && r > c->departed);
        const struct row_difference d = compare_rows(a, r, b, s);
        if (d.item < 0)
            continue;
        if (out->canary.user >= 0 || c->larger >= 0)
            return refuse_pair(c, "the records of several users differ", error);
        if (by_user ? !one_user(c, &d, csr_row_counts(a, r) && csr_row_counts(b, s)) : !one_record(c, &d))
            return refuse_pair(c, "a user's records differ in another way", error);
        out->canary = (struct canary){(int32_t)r, by_user ? -1 : d.item};
    }
    return 0;
}

int neighbours_compare(const struct dataset *const sets[2], const struct neighbours *kind,
                       int support_is_public, const char *path, struct difference *out,
                       struct dpf_error *error)
{
    struct comparison c = {.sets = sets, .kind = kind, .support_is_public = support_is_public, .path = path};
    *out = (struct difference){{-1, -1}, -1};
    if (compare_users(&c, error) != 0 || compare_records(&c, out, error) != 0)
        return -1;
    out->larger = c.larger;
    if (c.departed >= 0)
        out->canary = (struct canary){(int32_t)c.departed, -1};
    return 0;
}
