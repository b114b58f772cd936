/* SPDX-License-Identifier: Apache-2.0 */
/* What the search compares: lists of ids, from both sides alike. */
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "base/memory.h"
#include "dataset/ids.h"
#include "dpframe/privacy.h"
#include "kit/drawn_compare.h"

/* A data set of users ("1 4 u2") without records. */
static void list_users(const char *users, struct dataset *out)
{
    struct ids ids = {0}, none = {0};
    *out = (struct dataset){0};
    for (const char *at = users; *at; at += strspn(at, " ")) {
        const struct field id = {at, strcspn(at, " ")};
        assert_true(ids_add(&ids, &id) >= 0);
        at += id.length;
    }
    int32_t *rank = memory_need((size_t)ids.n + 1, sizeof *rank);
    assert_int_equal(ids_finish(&ids, &out->users, rank), 0);
    assert_int_equal(ids_finish(&none, &out->items, rank), 0);
    free(rank);
    ids_free(&ids);
    ids_free(&none);
}

static int differ(const char *first, const char *second, const struct draw_promise *promise, int unit)
{
    char what[DRAWN_WHAT];
    struct dataset a, b;
    const struct draw_pair pair = {.user = unit};
    list_users(first, &a);
    list_users(second, &b);
    const int status = drawn_same_reading(&a, &b, promise, &pair, what);
    dataset_free(&a);
    dataset_free(&b);
    return status;
}

/* Nobody else's id: the unit's may come, go, or be in both, before, between or behind the others. */
TEST(the_unit_alone_may_be_in_one_list_whichever_it_is)
{
    static const struct {
        const char *first, *second;
        int unit, leaves_differ;
    } lists[] = {
        {"1 4", "1 4", 3, 0},     {"1 4", "1", 3, 0},   {"1 4", "4", 0, 0},  {"1 4 7", "1 7", 3, 0},
        {"1 4 u2", "1 u2", 3, 0}, {"4", "", 3, 0},      {"1 4", "1", 0, 1},  {"1 4", "1 7", 3, 1},
        {"1 4 7", "1", 3, 1},     {"4 u2", "u3", 3, 1}, {"", "u2 u3", 1, 1},
    };
    const struct draw_promise leaves = {.unit = DPF_UNIT_USER},
                              shows = {.unit = DPF_UNIT_USER, .ids_public = 1};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (int turned = 0; turned < 2; turned++) {
            const char *a = turned ? lists[i].second : lists[i].first,
                       *b = turned ? lists[i].first : lists[i].second;
            if (differ(a, b, &leaves, lists[i].unit) != lists[i].leaves_differ)
                fail_msg("\"%s\" beside \"%s\"", a, b);
            assert_int_equal(differ(a, b, &shows, lists[i].unit), strcmp(a, b) != 0);
        }
}
