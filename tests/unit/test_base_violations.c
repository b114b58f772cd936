/* SPDX-License-Identifier: Apache-2.0 */
#include "base/violations.h"
#include "kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAULTS = 5 * VIOLATIONS_KEPT };

static void add(struct violations *list, int64_t number)
{
    struct dpf_error error = {0};
    error_set(&error, DPF_FAULT_DATA, "fault %lld", (long long)number);
    violations_add(list, number / 100, number % 100, &error);
    assert_int_equal(error.fault, DPF_FAULT_NONE);
}

static void assert_the_first(const struct violations *list)
{
    struct dpf_error error = {0};
    char *text = violations_text(list), *line = text, more[64];
    for (int i = 0; i < VIOLATIONS_KEPT; i++) {
        char expected[32];
        const int length = snprintf(expected, sizeof expected, "fault %d\n", i);
        assert_memory_equal(line, expected, (size_t)length);
        line += length;
    }
    snprintf(more, sizeof more, "and %d more\n", FAULTS - VIOLATIONS_KEPT);
    assert_string_equal(line, more);
    assert_int_equal(violations_report(list, &error), -1);
    assert_string_equal(error.text, "fault 0");
    free(text);
}

/* Whoever finds them, and in whatever order: 7919 is prime to their number. */
TEST(threads_decide_nothing_about_what_is_kept)
{
    for (int threads = 1; threads <= 4; threads++)
        for (int step = 1; step <= 7919; step += 7918) {
            struct violations lists[4] = {{0}}, all = {0};
            for (int64_t i = 0; i < FAULTS; i++)
                add(&lists[i * 17 / 1000 % threads], i * step % FAULTS);
            violations_merge(&all, lists, threads);
            assert_int_equal(all.n, FAULTS);
            assert_the_first(&all);
            violations_free(&all);
        }
}

TEST(texts_are_wanted_while_they_may_be_among_the_first)
{
    struct violations list = {0};
    for (int64_t i = 0; i < 2 * VIOLATIONS_KEPT; i++) {
        assert_true(violations_want(&list, 50, i));
        add(&list, 2 * i);
    }
    assert_true(violations_want(&list, 0, 1));
    assert_false(violations_want(&list, 2 * VIOLATIONS_KEPT, 0));
    violations_free(&list);
}

TEST(lists_that_are_joined_keep_their_order)
{
    struct violations into = {0}, from = {0};
    for (int64_t i = VIOLATIONS_KEPT / 2; i < VIOLATIONS_KEPT; i++)
        add(&into, i);
    for (int64_t i = 0; i < VIOLATIONS_KEPT; i++)
        add(&from, i);
    violations_join(&into, &from);
    assert_int_equal(into.n, VIOLATIONS_KEPT + VIOLATIONS_KEPT / 2);
    assert_int_equal(into.kept, VIOLATIONS_KEPT);
    assert_string_equal(into.list[0].text, "fault 500");
    assert_string_equal(into.list[VIOLATIONS_KEPT / 2].text, "fault 0");
    violations_free(&into);
}
