/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown as a terminal shows it: aligned, within its width, with every cell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/text_table.h"

static void columns_are_aligned(void **state)
{
    (void)state;
    char *out = text_table_render("Means.\n\n"
                                  "| variant | runs | rmse |\n|---|---|---|\n"
                                  "| plain | 3 | 0.9 ± 0.1 |\n| a\\|b | 12 | n/a |\n\nThe end.\n",
                                  80);
    assert_string_equal(out, "Means.\n\n"
                             "variant  runs       rmse\n"
                             "plain       3  0.9 ± 0.1\n"
                             "a|b        12        n/a\n\nThe end.\n");
    free(out);
}

/* The columns that name a row begin each part. */
static void a_wide_table_goes_on_below(void **state)
{
    (void)state;
    struct text markdown = {0};
    text_add(&markdown, "| variant |");
    for (int c = 0; c < 28; c++)
        text_add(&markdown, " metric-%d |", c);
    text_add(&markdown, "\n|---|");
    for (int c = 0; c < 28; c++)
        text_add(&markdown, "---|");
    for (int r = 0; r < 3; r++) {
        text_add(&markdown, "\n| row-%c |", 'a' + r);
        for (int c = 0; c < 28; c++)
            text_add(&markdown, " %d.%d |", r, c);
    }
    text_add(&markdown, "\n");
    char *out = text_table_render(markdown.data, 60), cell[32];
    assert_non_null(out);
    assert_null(strchr(out, '|'));
    int heads = 0;
    for (const char *line = out; *line; line = strchr(line, '\n') + 1) {
        assert_true(strchr(line, '\n') - line <= 60);
        heads += strncmp(line, "variant", 7) == 0;
    }
    assert_true(heads > 3);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 28; c++) {
            snprintf(cell, sizeof cell, " %d.%d", r, c);
            assert_non_null(strstr(out, cell));
        }
    free(out);
    text_free(&markdown);
}

static void odd_tables_are_no_trouble(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "|",
                                        "||\n",
                                        "| a |",
                                        "| a\n| b | c | d |\n",
                                        "|-|\n",
                                        "| a | b |\n| c |\n",
                                        "text | with | bars\n",
                                        "|\\||\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(text_table_render(texts[i], 40));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_aligned),
        cmocka_unit_test(a_wide_table_goes_on_below),
        cmocka_unit_test(odd_tables_are_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
