/* SPDX-License-Identifier: Apache-2.0 */
/* Width and colours follow the environment; wrapped text fits and loses nothing. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/test.h"
#include "base/terminal.h"

TEST(the_width_is_that_of_columns)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    unsetenv("COLUMNS");
    assert_int_equal(terminal_width(ends[1]), 80);
    setenv("COLUMNS", "120", 1);
    assert_int_equal(terminal_width(ends[1]), 120);
    setenv("COLUMNS", "7", 1);
    assert_int_equal(terminal_width(ends[1]), 40);
    setenv("COLUMNS", "99999999999", 1);
    assert_int_equal(terminal_width(ends[1]), 400);
    setenv("COLUMNS", "wide", 1);
    assert_int_equal(terminal_width(ends[1]), 80);
    unsetenv("COLUMNS");
    close(ends[0]);
    close(ends[1]);
}

TEST(colours_are_for_terminals)
{
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_string_equal(terminal_colour(ends[1], COLOUR_RED), "");
    close(ends[0]);
    close(ends[1]);
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
        print_message("no pseudo-terminal here: colours on one are not tested\n");
        return;
    }
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    assert_string_equal(terminal_colour(slave, COLOUR_RED), "\033[1;31m");
    assert_string_equal(terminal_colour(slave, COLOUR_NONE), "\033[0m");
    setenv("NO_COLOR", "1", 1);
    assert_string_equal(terminal_colour(slave, COLOUR_RED), "");
    setenv("NO_COLOR", "", 1); /* empty is not set */
    assert_string_equal(terminal_colour(slave, COLOUR_GREEN), "\033[1;32m");
    setenv("TERM", "dumb", 1);
    assert_string_equal(terminal_colour(slave, COLOUR_RED), "");
    close(slave);
    close(master);
}

/* All words in their order, and no line too long unless a word is. */
TEST(wrapped_text_fits_and_loses_nothing)
{
    static const char body[] =
        "Das Maß der Dinge, word after word, and averyveryverylongwordthatdoesnotfitanywhere at all.\n"
        "A second line.";
    for (int width = 22; width < 90; width++) {
        struct text out = {0};
        terminal_wrap(&out, "  - ", 4, body, width);
        char *copy = strdup(out.data), *rest = strdup(body);
        char *ours = NULL, *theirs = NULL;
        for (char *a = strtok_r(copy + 4, " \n", &ours), *b = strtok_r(rest, " \n", &theirs); a || b;
             a = strtok_r(NULL, " \n", &ours), b = strtok_r(NULL, " \n", &theirs)) {
            assert_non_null(a);
            assert_non_null(b);
            assert_string_equal(a, b);
        }
        for (const char *line = out.data; *line; line = strchr(line, '\n') + 1) {
            size_t n = 0;
            for (const char *p = line; *p != '\n'; p++)
                n += ((unsigned char)*p & 0xc0) != 0x80;
            if (!strstr(line, "averyvery") || strstr(line, "averyvery") > strchr(line, '\n'))
                assert_true(n <= (size_t)(width > 24 ? width : 24));
        }
        free(copy);
        free(rest);
        text_free(&out);
    }
    struct text out = {0};
    terminal_wrap(&out, "x ", 2, "", 80);
    assert_string_equal(out.data, "x \n");
    text_free(&out);
}
