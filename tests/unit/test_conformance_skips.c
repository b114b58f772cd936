/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/test.h"
#include "conformance/check_skips.h"

static struct check_skips *read_text(const char *text, struct dpf_error *error)
{
    char path[] = "/tmp/dpframe-skips-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    struct check_skips *skips = check_skips_read(path, error);
    unlink(path);
    return skips;
}

TEST(names_and_patterns_are_told_apart)
{
    struct dpf_error error = {0};
    struct check_skips *skips = read_text("# comment\n\nmechanism none mechanism.unknown adds no noise\n"
                                          "aggregator * run.* fed by message\n",
                                          &error);
    assert_non_null(skips);
    assert_int_equal(check_skips_find(skips, "mechanism", "none", "mechanism.unknown"), 1);
    assert_int_equal(check_skips_find(skips, "mechanism", "none", "mechanism.noise"), 0);
    assert_int_equal(check_skips_find(skips, "mechanism", "gaussian", "mechanism.unknown"), 0);
    assert_int_equal(check_skips_find(skips, "aggregator", "sum", "run.blocks"), 2);
    assert_int_equal(check_skips_find(skips, "solver", "cg", "run.blocks"), 0);
    check_skips_free(skips);
}

TEST(a_line_without_a_reason_is_refused)
{
    struct dpf_error error = {0};
    assert_null(read_text("# why\nmechanism none mechanism.unknown\n", &error));
    assert_non_null(strstr(error.text, ":2: "));
    assert_non_null(strstr(error.text, "give all four"));
    memset(&error, 0, sizeof error);
    assert_null(check_skips_read("/nowhere/skips.txt", &error));
    assert_non_null(strstr(error.text, "cannot read"));
}
