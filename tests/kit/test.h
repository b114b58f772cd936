/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test.h - tests that register themselves. One program holds the files of a room, and ctest runs each file as a test
 * of its own, by its name: "test-base test_base_text". Without a name the program runs all files.
 *
 * Scenario:
 *     TEST(grows)
 *     {
 *         assert_int_equal(...);
 *     }
 *     FIXTURE(open_all, close_all)     once a file, behind its tests: before the first of them, and after the last
 *
 * Tests of a file run in the order of their lines. TEST_WITH has a begin and an end of its own; what it hands on is *test_state.
 */
#ifndef DPF_TEST_KIT_TEST_H
#define DPF_TEST_KIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct test_case {
    const char *file;
    int line;
    const char *name; /* NULL: begin and end are the file's */
    CMUnitTestFunction run;
    CMFixtureFunction begin, end;
    struct test_case *next;
};

void test_add(struct test_case *test);

/* What stands behind the file's name on the command line, for a test with two sizes (dpframe_add_slow_test); or NULL. */
const char *test_argument(void);

#define TEST_REGISTER(WORD, NAME, RUN, BEGIN, END)                                                           \
    __attribute__((constructor)) static void WORD(void)                                                      \
    {                                                                                                        \
        static struct test_case registered = {__BASE_FILE__, __LINE__, NAME, RUN, BEGIN, END, NULL};         \
        test_add(&registered);                                                                               \
    }

#define TEST_WITH(NAME, BEGIN, END)                                                                          \
    static void NAME(void **test_state);                                                                     \
    TEST_REGISTER(NAME##_register, #NAME, NAME, BEGIN, END)                                                  \
    static void NAME(__attribute__((unused)) void **test_state)

#define TEST(NAME) TEST_WITH(NAME, NULL, NULL)

/* No semicolon behind it. */
#define FIXTURE(BEGIN, END) TEST_REGISTER(fixture_register, NULL, NULL, BEGIN, END)

#endif
