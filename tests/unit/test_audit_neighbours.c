/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbouring data sets differ in the canary, as the adjacency says, and in nothing else. */
#include <stdio.h>
#include <string.h>

#include "kit/test.h"
#include "audit/extremes.h"
#include "audit/pairs.h"
#include "dpframe/privacy.h"

/* Users a, b, c; items x, y. a: x 2, y 3; b: x 4; c: x 1, y 5. c trusts a and b. */
static int64_t ptr[] = {0, 2, 3, 5}, link_ptr[] = {0, 1, 1, 3};
static int32_t others[] = {0, 1, 0, 0, 1}, links[] = {1, 0, 1};
static float values[] = {2, 3, 4, 1, 5}, weights[] = {1, 2, 3};
static char user_bytes[] = "a\0b\0c", item_bytes[] = "x\0y";
static int64_t offsets[] = {0, 2, 4};

static struct dataset base(int implicit)
{
    return (struct dataset){
        .users = {.n = 3, .bytes = user_bytes, .offsets = offsets},
        .items = {.n = 2, .bytes = item_bytes, .offsets = offsets},
        .train = {.n = 5,
                  .by_user = {.rows = 3, .ptr = ptr, .others = others, .values = implicit ? NULL : values}},
        .relation = {.links = {.rows = 3, .ptr = link_ptr, .others = links}},
        .weights = {.users = weights},
        .implicit = implicit};
}

/* "a: x2 y3; b: x4; " */
static const char *told(const struct dataset *set)
{
    static char text[512];
    text[0] = '\0';
    for (int64_t u = 0; u < set->users.n; u++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s:", id_map_text(&set->users, u));
        for (int64_t i = set->train.by_user.ptr[u]; i < set->train.by_user.ptr[u + 1]; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), " %s%g",
                     id_map_text(&set->items, set->train.by_user.others[i]),
                     set->train.by_user.values ? (double)set->train.by_user.values[i] : 1);
        strcat(text, "; ");
    }
    return text;
}

static void expect(int unit, int adjacency, int implicit, struct canary canary, const char *first,
                   const char *second)
{
    const struct dataset from = base(implicit);
    const struct neighbours kind = {
        .unit = unit, .adjacency = adjacency, .value_lo = 1, .value_hi = 5, .thin = implicit};
    for (unsigned char bit = 0; bit < 2; bit++) {
        struct dataset set;
        struct dpf_error error = {0};
        assert_int_equal(neighbours_make(&from, &kind, &canary, &bit, 1, &set, &error), 0);
        assert_string_equal(told(&set), bit ? second : first);
        assert_int_equal(set.train.n, set.train.by_item.ptr[set.train.by_item.rows]);
        assert_int_equal(set.items.n, 2);
        dataset_free(&set);
    }
}

TEST(records_differ_alone)
{
    const struct canary canary = {0, 1};
    expect(DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE, 0, canary, "a: x2 y5; b: x4; c: x1 y5; ",
           "a: x2 y1; b: x4; c: x1 y5; ");
    expect(DPF_UNIT_RECORD, DPF_ADJ_ADD_REMOVE, 0, canary, "a: x2 y5; b: x4; c: x1 y5; ",
           "a: x2; b: x4; c: x1 y5; ");
    expect(DPF_UNIT_RECORD, DPF_ADJ_FLIP, 1, canary, "a: x1 y1; b: x1; c: x1 y1; ",
           "a: x1; b: x1; c: x1 y1; ");
}

TEST(users_differ_in_all_records)
{
    const struct canary canary = {0, -1};
    expect(DPF_UNIT_USER, DPF_ADJ_REPLACE, 0, canary, "a: x5 y5; b: x4; c: x1 y5; ",
           "a: x1 y1; b: x4; c: x1 y5; ");
    expect(DPF_UNIT_USER, DPF_ADJ_REPLACE, 1, canary, "a: x1 y1; b: x1; c: x1 y1; ",
           "a: x1; b: x1; c: x1 y1; ");
    expect(DPF_UNIT_USER, DPF_ADJ_ZERO_OUT, 0, canary, "a: x5 y5; b: x4; c: x1 y5; ",
           "a:; b: x4; c: x1 y5; ");
    /* The one that leaves is the last, so that the others have the same numbers with and without it. */
    expect(DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, 0, canary, "b: x4; c: x1 y5; a: x5 y5; ", "b: x4; c: x1 y5; ");
}

/* With the user go links, weights, and the numbers behind it. */
TEST(a_user_leaves_no_trace)
{
    const struct dataset from = base(0);
    const struct neighbours kind = {
        .unit = DPF_UNIT_USER, .adjacency = DPF_ADJ_ADD_REMOVE, .value_lo = 1, .value_hi = 5};
    const struct canary canary = {0, -1};
    const unsigned char out = 1;
    struct dataset set;
    struct dpf_error error = {0};
    assert_int_equal(neighbours_make(&from, &kind, &canary, &out, 1, &set, &error), 0);
    assert_int_equal(set.relation.links.rows, 2);
    assert_int_equal(set.relation.links.ptr[1], 0);
    assert_int_equal(set.relation.links.ptr[2], 1); /* c trusts b, who is the first now */
    assert_int_equal(set.relation.links.others[0], 0);
    assert_true(set.weights.users[0] == 2);
    assert_true(set.weights.users[1] == 3);
    dataset_free(&set);
    const unsigned char in = 0;
    assert_int_equal(neighbours_make(&from, &kind, &canary, &in, 1, &set, &error), 0);
    assert_int_equal(set.relation.links.ptr[2], 2);
    assert_int_equal(set.relation.links.others[0], 0);
    assert_int_equal(set.relation.links.others[1], 2); /* and a, who is the last */
    assert_true(set.weights.users[0] == 2);
    assert_true(set.weights.users[1] == 3);
    assert_true(set.weights.users[2] == 1);
    dataset_free(&set);
}

/* ---- two given data sets ------------------------------------------------------------------------------ */

/* base with the first record's value, b's item, and so many users. */
struct variant {
    float first_value, last_value;
    int32_t item_of_b;
    int64_t n_users;
};

static int compare(int unit, int adjacency, int support_is_public, const struct variant *variant,
                   struct difference *difference)
{
    struct dataset sets[2] = {base(0), base(0)};
    const struct dataset *const both[2] = {&sets[0], &sets[1]};
    float changed[] = {variant->first_value, 3, 4, 1, variant->last_value};
    int32_t of[] = {0, 1, variant->item_of_b, 0, 1};
    const struct neighbours kind = {.unit = unit, .adjacency = adjacency};
    struct dpf_error error = {0};
    sets[1].train.by_user.values = changed;
    sets[1].train.by_user.others = of;
    sets[1].users.n = sets[1].train.by_user.rows = variant->n_users;
    const int status = neighbours_compare(both, &kind, support_is_public, "other.csv", difference, &error);
    assert_true(status == 0 || strstr(error.text, "not neighbours"));
    return status;
}

TEST(only_neighbours_are_a_pair)
{
    const struct variant same = {2, 5, 0, 3}, value = {5, 5, 0, 3}, two = {5, 4, 0, 3}, item = {2, 5, 1, 3},
                         fewer = {2, 5, 0, 2}, both = {5, 5, 0, 2};
    struct difference d;
    assert_int_equal(compare(DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE, 1, &same, &d), 0);
    assert_int_equal(d.canary.user, -1);
    assert_int_equal(compare(DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE, 1, &value, &d), 0);
    assert_true(d.canary.user == 0);
    assert_true(d.canary.item == 0);
    assert_true(d.larger == -1);
    assert_int_equal(compare(DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE, 1, &two, &d), -1);
    assert_int_equal(compare(DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE, 1, &item, &d), -1);
    assert_int_equal(compare(DPF_UNIT_RECORD, DPF_ADJ_ADD_REMOVE, 0, &value, &d), -1);
    assert_int_equal(compare(DPF_UNIT_RECORD, DPF_ADJ_FLIP, 0, &item, &d), -1); /* two cells */
    assert_int_equal(compare(DPF_UNIT_USER, DPF_ADJ_REPLACE, 0, &item, &d), 0);
    assert_true(d.canary.user == 1);
    assert_true(d.canary.item == -1);
    assert_int_equal(compare(DPF_UNIT_USER, DPF_ADJ_REPLACE, 1, &item, &d), -1);
    assert_int_equal(compare(DPF_UNIT_USER, DPF_ADJ_REPLACE, 0, &two, &d), -1);
    assert_int_equal(compare(DPF_UNIT_USER, DPF_ADJ_ZERO_OUT, 0, &value, &d), -1);
    assert_int_equal(compare(DPF_UNIT_USER, DPF_ADJ_REPLACE, 0, &fewer, &d), -1);
    assert_int_equal(compare(DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, 0, &fewer, &d), 0);
    assert_true(d.canary.user == 2);
    assert_true(d.larger == 0);
    assert_int_equal(compare(DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, 0, &both, &d), -1);
    assert_int_equal(compare(DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, 0, &value, &d), -1);
}

/* Many canaries: each alone with its item, and the others as they were. */
TEST(canaries_of_one_run_do_not_meet)
{
    const struct dataset from = base(0);
    const int32_t items[] = {1, 0};
    const struct neighbours kind = {
        .unit = DPF_UNIT_USER, .adjacency = DPF_ADJ_ADD_REMOVE, .value_lo = 1, .value_hi = 5, .alone = items};
    const struct canary canaries[] = {{0, -1}, {2, -1}};
    const unsigned char bits[] = {0, 1};
    struct dataset set;
    struct dpf_error error = {0};
    assert_int_equal(neighbours_make(&from, &kind, canaries, bits, 2, &set, &error), 0);
    assert_string_equal(told(&set), "a: y5; b: x4; c:; ");
    dataset_free(&set);
}

/* Records that the canary's user never had: in the first form as they are, in the second as the adjacency
 * says. */
TEST(a_canary_can_have_any_records)
{
    static int64_t item_ptr[] = {0, 3, 5};
    struct dataset from = base(0);
    from.train.by_item = (struct csr){.rows = 2, .ptr = item_ptr};
    static const char *const first[N_EXTREMES] = {
        "a: x2 y3; b: x5 y5; c: x1 y5; ", "a: x2 y3; b: x1 y1; c: x1 y5; ", "a: x2 y3; b: x5 y1; c: x1 y5; ",
        "a: x2 y3; b: x5; c: x1 y5; ",    "a: x2 y3; b: y5; c: x1 y5; ",    "a: x2 y3; b: x5; c: x1 y5; "};
    for (int which = 0; which < N_EXTREMES; which++) {
        struct extreme_records extreme;
        struct neighbours kind = {
            .unit = DPF_UNIT_USER, .adjacency = DPF_ADJ_ZERO_OUT, .value_lo = 1, .value_hi = 5};
        assert_int_equal(extremes_make(&from, &kind, (enum extreme)which, &extreme), 0);
        kind.records = &extreme.records;
        const struct canary canary = {1, -1};
        for (unsigned char bit = 0; bit < 2; bit++) {
            struct dataset set;
            struct dpf_error error = {0};
            assert_int_equal(neighbours_make(&from, &kind, &canary, &bit, 1, &set, &error), 0);
            assert_string_equal(told(&set), bit ? "a: x2 y3; b:; c: x1 y5; " : first[which]);
            dataset_free(&set);
        }
        extremes_free(&extreme);
    }
    struct extreme_records none;
    from.implicit = 1;
    const struct neighbours kind = {.unit = DPF_UNIT_USER, .value_lo = 1, .value_hi = 1};
    assert_int_equal(extremes_make(&from, &kind, EXTREME_ALL_MIXED, &none), 1);
}
