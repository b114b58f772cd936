/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct test_case *registered; /* by file, then by line */
static const char *argument;

static int comes_first(const struct test_case *a, const struct test_case *b)
{
    const int order = strcmp(a->file, b->file);
    return order < 0 || (order == 0 && a->line <= b->line);
}

void test_add(struct test_case *test)
{
    struct test_case **place = &registered;
    while (*place && comes_first(*place, test))
        place = &(*place)->next;
    test->next = *place;
    *place = test;
}

const char *test_argument(void)
{
    return argument;
}

/* "test_base_text" of ".../test_base_text.c" */
static void file_name(const struct test_case *test, char *name, size_t size)
{
    const char *slash = strrchr(test->file, '/');
    const char *base = slash ? slash + 1 : test->file;
    const char *dot = strrchr(base, '.');
    snprintf(name, size, "%.*s", (int)(dot ? dot - base : (long)strlen(base)), base);
}

/* The tests of one file; returns how many failed. */
static int run_file(const char *name, const struct test_case *first, const struct test_case *end)
{
    size_t n = 0;
    for (const struct test_case *test = first; test != end; test = test->next)
        n++;
    struct CMUnitTest *tests = calloc(n, sizeof *tests);
    if (!tests)
        return 1;
    CMFixtureFunction begin_all = NULL, end_all = NULL;
    size_t used = 0;
    for (const struct test_case *test = first; test != end; test = test->next) {
        if (test->name) {
            tests[used++] = (struct CMUnitTest){test->name, test->run, test->begin, test->end, NULL};
        } else {
            begin_all = test->begin;
            end_all = test->end;
        }
    }
    const int failed = _cmocka_run_group_tests(name, tests, used, begin_all, end_all);
    free(tests);
    return failed;
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : NULL;
    argument = argc > 2 ? argv[2] : NULL;
    int failed = 0, files = 0;
    for (const struct test_case *first = registered, *end; first; first = end) {
        for (end = first->next; end && strcmp(end->file, first->file) == 0;)
            end = end->next;
        char name[256];
        file_name(first, name, sizeof name);
        if (wanted && strcmp(wanted, name) != 0)
            continue;
        files++;
        failed += run_file(name, first, end) != 0;
    }
    if (files == 0) {
        fprintf(stderr, "%s: no tests%s%s\n", argv[0], wanted ? " of " : "", wanted ? wanted : "");
        return 2;
    }
    return failed > 0;
}
