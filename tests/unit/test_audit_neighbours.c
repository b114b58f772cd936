/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbouring data sets differ in the canary, as the adjacency says, and in nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

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

static void records_differ_alone(void **state)
{
    (void)state;
    const struct canary canary = {0, 1};
    expect(DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE, 0, canary, "a: x2 y5; b: x4; c: x1 y5; ",
           "a: x2 y1; b: x4; c: x1 y5; ");
    expect(DPF_UNIT_RECORD, DPF_ADJ_ADD_REMOVE, 0, canary, "a: x2 y5; b: x4; c: x1 y5; ",
           "a: x2; b: x4; c: x1 y5; ");
    expect(DPF_UNIT_RECORD, DPF_ADJ_FLIP, 1, canary, "a: x1 y1; b: x1; c: x1 y1; ",
           "a: x1; b: x1; c: x1 y1; ");
}

static void users_differ_in_all_records(void **state)
{
    (void)state;
    const struct canary canary = {0, -1};
    expect(DPF_UNIT_USER, DPF_ADJ_REPLACE, 0, canary, "a: x5 y5; b: x4; c: x1 y5; ",
           "a: x1 y1; b: x4; c: x1 y5; ");
    expect(DPF_UNIT_USER, DPF_ADJ_REPLACE, 1, canary, "a: x1 y1; b: x1; c: x1 y1; ",
           "a: x1; b: x1; c: x1 y1; ");
    expect(DPF_UNIT_USER, DPF_ADJ_ZERO_OUT, 0, canary, "a: x5 y5; b: x4; c: x1 y5; ",
           "a:; b: x4; c: x1 y5; ");
    expect(DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, 0, canary, "a: x5 y5; b: x4; c: x1 y5; ", "b: x4; c: x1 y5; ");
}

/* With the user go links, weights, and the numbers behind it. */
static void a_user_leaves_no_trace(void **state)
{
    (void)state;
    const struct dataset from = base(0);
    const struct neighbours kind = {DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, 1, 5, NULL, 0};
    const struct canary canary = {0, -1};
    const unsigned char out = 1;
    struct dataset set;
    struct dpf_error error = {0};
    assert_int_equal(neighbours_make(&from, &kind, &canary, &out, 1, &set, &error), 0);
    assert_int_equal(set.relation.links.rows, 2);
    assert_int_equal(set.relation.links.ptr[1], 0);
    assert_int_equal(set.relation.links.ptr[2], 1); /* c trusts b, who is the first now */
    assert_int_equal(set.relation.links.others[0], 0);
    assert_true(set.weights.users[0] == 2 && set.weights.users[1] == 3);
    dataset_free(&set);
}

/* Many canaries: each alone with its item, and the others as they were. */
static void canaries_of_one_run_do_not_meet(void **state)
{
    (void)state;
    const struct dataset from = base(0);
    const int32_t items[] = {1, 0};
    const struct neighbours kind = {DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, 1, 5, items, 0};
    const struct canary canaries[] = {{0, -1}, {2, -1}};
    const unsigned char bits[] = {0, 1};
    struct dataset set;
    struct dpf_error error = {0};
    assert_int_equal(neighbours_make(&from, &kind, canaries, bits, 2, &set, &error), 0);
    assert_string_equal(told(&set), "a: y5; b: x4; c:; ");
    dataset_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_differ_alone),
        cmocka_unit_test(users_differ_in_all_records),
        cmocka_unit_test(a_user_leaves_no_trace),
        cmocka_unit_test(canaries_of_one_run_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
