/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of names in configurations: terms, transforms, accountants. */
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "plan/components.h"

static void check(const char *list, int n, const char *const *expected)
{
    int got = -1;
    char **names = components_names(list, &got);
    assert_non_null(names);
    assert_int_equal(got, n);
    for (int i = 0; i < n; i++)
        assert_string_equal(names[i], expected[i]);
    assert_null(names[n]);
    free(names);
}

TEST(blanks_and_empty_parts_vanish)
{
    check("", 0, NULL);
    check(" \t ", 0, NULL);
    check(",,,", 0, NULL);
    check("one", 1, (const char *[]){"one"});
    check(" one ,\ttwo\t,,three", 3, (const char *[]){"one", "two", "three"});
    check("a,b,", 2, (const char *[]){"a", "b"});
    check("two words", 1, (const char *[]){"two words"});
}

/* The array is sized by the list's length: the most names that fit are single letters. */
TEST(many_names_fit)
{
    enum { N = 1000 };
    char list[2 * N + 1];
    for (int i = 0; i < N; i++) {
        list[2 * i] = (char)('a' + i % 26);
        list[2 * i + 1] = ',';
    }
    list[2 * N - 1] = '\0';
    int n;
    char **names = components_names(list, &n);
    assert_int_equal(n, N);
    for (int i = 0; i < N; i++) {
        assert_true(names[i][0] == 'a' + i % 26);
        assert_true(names[i][1] == '\0');
    }
    free(names);
}
