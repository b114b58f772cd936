/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nothing that is assigned to a user, an item or a record follows from who else is in the data: the first, a
 * middle and the last user or item leave, new ones come in front, between and behind, ids of another kind
 * come, and everybody else keeps the part, the weight and the group that they had.
 */
#include "kit/data_support.h"

#define USERS 30
#define ITEMS 25

/* What is absent and what is new; NULL: nothing. */
struct change {
    const char *without_user, *without_item, *new_user, *new_item;
};

static const struct change changes[] = {
    {"u100", NULL, NULL, NULL}, {"u115", NULL, NULL, NULL},  {"u129", NULL, NULL, NULL},
    {NULL, "200", NULL, NULL},  {NULL, "212", NULL, NULL},   {NULL, "224", NULL, NULL},
    {NULL, NULL, "a", NULL},    {NULL, NULL, "u1155", NULL}, {NULL, NULL, "z", NULL},
    {NULL, NULL, "7", NULL},    {NULL, NULL, NULL, "-1"},    {NULL, NULL, NULL, "999"},
    {NULL, NULL, NULL, "text"}, {NULL, NULL, "z", "text"},
};

static void write_ratings(const struct change *c)
{
    static char text[USERS * ITEMS * 32];
    size_t used = 0;
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < ITEMS; i++) {
            char user[16], item[16];
            snprintf(user, sizeof user, "u%d", 100 + u);
            snprintf(item, sizeof item, "%d", 200 + i);
            if ((u * 7 + i * 5) % 3 == 0 || (c->without_user && strcmp(user, c->without_user) == 0) ||
                (c->without_item && strcmp(item, c->without_item) == 0))
                continue;
            used += (size_t)sprintf(text + used, "%s,%s,%d,%d\n", user, item, 1 + (u + i) % 5,
                                    (u * ITEMS + i) * 31 % 1009);
        }
    const char *user = c->new_user ? c->new_user : "u103", *item = c->new_item ? c->new_item : "203";
    if (c->new_user || c->new_item)
        used += (size_t)sprintf(text + used, "%s,%s,5,99999\n", user, item);
    data_write_bytes("a.txt", text, used);
}

static void load(const struct change *c, const char *rest, struct data_outcome *out)
{
    char ini[512];
    write_ratings(c);
    snprintf(ini, sizeof ini, "[data]\npath = a.txt\nheader = no\n%s", rest);
    if (data_try(ini, 2, 3, out) != 0)
        fail_msg("%s", out->error.text);
}

/* Where records of b are in a; users who have a record more or less for that reason are left out if own. */
static void same_records(const struct dataset *a, const struct csr *in_a, const struct dataset *b,
                         const struct csr *in_b, const struct change *c, int own)
{
    for (int64_t u = 0; u < b->users.n; u++) {
        const char *user = id_map_text(&b->users, u);
        const int64_t v = id_map_find(&a->users, user);
        if (v < 0 || (own && (c->without_item || c->new_item)))
            continue;
        for (int64_t k = in_b->ptr[u]; k < in_b->ptr[u + 1]; k++) {
            const char *item = id_map_text(&b->items, in_b->others[k]);
            const int64_t i = id_map_find(&a->items, item);
            if (i < 0 || (c->new_item && strcmp(item, c->new_item) == 0))
                continue;
            int64_t at = in_a->ptr[v];
            while (at < in_a->ptr[v + 1] && in_a->others[at] != i)
                at++;
            if (at == in_a->ptr[v + 1])
                fail_msg("user %s, item %s: it moved to another part", user, item);
            if (in_a->privacy_weights)
                assert_true(in_a->privacy_weights[at] == in_b->privacy_weights[k]);
        }
    }
}

/* own: a kind that looks at all records of a user. */
static void keeps_all_others(const char *rest, int own)
{
    static const struct change none;
    struct data_outcome before, after;
    load(&none, rest, &before);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const struct dataset *a = &before.dataset, *b = &after.dataset;
        load(&changes[i], rest, &after);
        /* Both ways: nothing that both have is in different parts. */
        same_records(a, &a->train.by_user, b, &b->train.by_user, &changes[i], own);
        if (b->test.by_user.ptr)
            same_records(a, &a->test.by_user, b, &b->test.by_user, &changes[i], own);
        if (b->candidates.kind != CANDIDATES_ALL) {
            struct csr in_a, in_b;
            data_candidates(a, &in_a);
            data_candidates(b, &in_b);
            same_records(a, &in_a, b, &in_b, &changes[i], own);
            csr_free(&in_a);
            csr_free(&in_b);
        }
        for (int side = 0; side < 2 && b->weights.user_groups; side++) {
            const struct id_map *in_a = side ? &a->items : &a->users, *in_b = side ? &b->items : &b->users;
            const float *w = side ? a->weights.items : a->weights.users,
                        *x = side ? b->weights.items : b->weights.users;
            const uint8_t *g = side ? a->weights.item_groups : a->weights.user_groups,
                          *h = side ? b->weights.item_groups : b->weights.user_groups;
            for (int64_t r = 0; r < in_b->n; r++) {
                const int64_t q = id_map_find(in_a, id_map_text(in_b, r));
                assert_true(q < 0 || (w[q] == x[r] && g[q] == h[r]));
            }
        }
        dataset_free(&after.dataset);
    }
    dataset_free(&before.dataset);
}

/* Records that are in one training part are in the other, where both data sets have them: by numbers, as the
   parts are the same for users of both. */
static void keeps_the_same(const char *rest, int own)
{
    static const struct change none;
    struct data_outcome before, after;
    load(&none, rest, &before);
    assert_true(before.dataset.summary.filtered > 0);
    assert_true(before.dataset.train.n > 0);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const struct dataset *a = &before.dataset, *b = &after.dataset;
        load(&changes[i], rest, &after);
        same_records(a, &a->train.by_user, b, &b->train.by_user, &changes[i], own);
        same_records(b, &b->train.by_user, a, &a->train.by_user,
                     &(struct change){changes[i].new_user, changes[i].new_item, changes[i].without_user,
                                      changes[i].without_item},
                     own);
        dataset_free(&after.dataset);
    }
    dataset_free(&before.dataset);
}

TEST(parts_are_kept)
{
    keeps_all_others("[split]\nkind = random\nfraction = 0.4\n", 0);
    keeps_all_others("[split]\nkind = k-fold\nfolds = 3\nfold = 2\n", 0);
    keeps_all_others("[split]\nkind = candidates\nfraction = 0.4\n", 0);
    keeps_all_others("[split]\nkind = leave-one-out\nby = random\n", 1);
    keeps_all_others("[split]\nkind = leave-one-out\n", 1);
    keeps_all_others("[split]\nkind = per-user\nn = 5\n", 1);
    keeps_all_others("[split]\nkind = per-user\nfraction = 0.4\n", 1);
}

TEST(filters_keep_what_they_kept)
{
    keeps_the_same("filter.users = 0.6\n", 0);
    keeps_the_same("filter.user-max = 9\n", 1);
    keeps_the_same("filter.user-max = 9\nfilter.keep = latest\n", 1);
    keeps_the_same("filter.users = 0.8\nfilter.user-min = 12\n", 1);
}

TEST(weights_are_kept)
{
    keeps_all_others("weights.kind = groups\n", 0);
    keeps_all_others("weights.kind = groups\n[split]\nkind = random\n", 0);
    keeps_all_others("weights.kind = sensitive\n[split]\nkind = random\n", 0);
}

FIXTURE(data_enter, data_leave)
