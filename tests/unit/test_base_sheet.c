/* SPDX-License-Identifier: Apache-2.0 */
/* One table in all notations: escaped as each needs, aligned, within the terminal's width, with every cell.
 */
#include <math.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "base/html.h"
#include "base/sheet.h"
#include "kit/html_checks.h"

static void fill(struct sheet *sheet)
{
    sheet_column(sheet, "variant", SHEET_LEFT);
    sheet_column(sheet, "runs", SHEET_RIGHT);
    sheet_column(sheet, "rmse_%", SHEET_RIGHT);
    sheet_text(sheet, "plain");
    sheet_count(sheet, 3);
    sheet_spread(sheet, "0.9", "0.1");
    sheet_text(sheet, "a|b, \"c\" & <d>");
    sheet_count(sheet, 12);
    sheet_fixed(sheet, (double)NAN, 4);
    sheet_text(sheet, NULL);
    sheet_count(sheet, 0);
    sheet_fixed(sheet, 0.25, 1 + 1);
}

static void expect(enum sheet_format format, int width, const char *expected)
{
    struct sheet sheet = {0};
    struct text text = {0};
    fill(&sheet);
    assert_int_equal(sheet_rows(&sheet), 3);
    sheet_write(&sheet, format, width, &text);
    assert_string_equal(text.data, expected);
    text_free(&text);
    sheet_free(&sheet);
}

TEST(each_notation_escapes_what_it_reads)
{
    expect(SHEET_TEXT, 80,
           "variant         runs     rmse_%\n"
           "plain              3  0.9 ± 0.1\n"
           "a|b, \"c\" & <d>    12        n/a\n"
           "–                  0       0.25\n");
    expect(SHEET_MARKDOWN, 0,
           "| variant | runs | rmse_% |\n|---|---:|---:|\n| plain | 3 | 0.9 ± 0.1 |\n"
           "| a\\|b, \"c\" & <d> | 12 | n/a |\n| – | 0 | 0.25 |\n");
    expect(SHEET_CSV, 0, "variant,runs,rmse_%\nplain,3,0.9 ± 0.1\n\"a|b, \"\"c\"\" & <d>\",12,\n,0,0.25\n");
    expect(SHEET_LATEX, 0,
           "\\begin{tabular}{lrr}\n\\toprule\nvariant & runs & rmse\\_\\% \\\\\n\\midrule\n"
           "plain & $3$ & $0.9 \\pm 0.1$ \\\\\na|b, \"c\" \\& <d> & $12$ & -- \\\\\n-- & $0$ & $0.25$ \\\\\n"
           "\\bottomrule\n\\end{tabular}\n");
}

TEST(html_is_well_formed_and_names_its_columns)
{
    struct sheet sheet = {0};
    struct text text = {0};
    fill(&sheet);
    sheet_link(&sheet, ".");
    text_add(&text, "<!DOCTYPE html><body>");
    sheet_write(&sheet, SHEET_HTML, 0, &text);
    text_add(&text, "</body>");
    html_check_page(text.data, ".", NULL, NULL);
    assert_non_null(strstr(text.data, "<a href=\".\">0.25</a>"));
    assert_non_null(strstr(text.data, "a|b, &quot;c&quot; &amp; &lt;d&gt;</th>"));
    assert_non_null(strstr(text.data, "data-l=\"rmse_%\">0.9 <span class=\"sd\">± 0.1</span></td>"));
    text_free(&text);
    sheet_free(&sheet);
}

/* Columns that name a row begin each part. */
TEST(a_wide_table_goes_on_below)
{
    struct sheet sheet = {0};
    struct text out = {0};
    char cell[32];
    sheet_column(&sheet, "variant", SHEET_LEFT);
    for (int c = 0; c < 28; c++) {
        snprintf(cell, sizeof cell, "metric-%d", c);
        sheet_column(&sheet, cell, SHEET_RIGHT);
    }
    for (int r = 0; r < 3; r++) {
        sheet_printf(&sheet, "row-%c", 'a' + r);
        for (int c = 0; c < 28; c++)
            sheet_printf(&sheet, "%d.%d", r, c);
    }
    sheet_write(&sheet, SHEET_TEXT, 60, &out);
    int heads = 0;
    for (const char *line = out.data; *line; line = strchr(line, '\n') + 1) {
        assert_true(strchr(line, '\n') - line <= 60);
        heads += strncmp(line, "variant", 7) == 0;
    }
    assert_true(heads > 3);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 28; c++) {
            snprintf(cell, sizeof cell, " %d.%d", r, c);
            assert_non_null(strstr(out.data, cell));
        }
    text_free(&out);
    sheet_free(&sheet);
}

TEST(numbers_read_back)
{
    struct sheet sheet = {0};
    struct text out = {0};
    sheet_column(&sheet, "x", SHEET_RIGHT);
    sheet_exact(&sheet, 0.1 + 0.2);
    sheet_exact(&sheet, (double)INFINITY);
    sheet_missing(&sheet);
    sheet_write(&sheet, SHEET_CSV, 0, &out);
    assert_string_equal(out.data, "x\n0.30000000000000004\n\n\n");
    text_free(&out);
    sheet_free(&sheet);
}

TEST(what_is_no_text_becomes_a_replacement_character)
{
    struct text out = {0};
    html_text(&out, "a\x01"
                    "b\xff"
                    "c\xed\xa0\x80é");
    assert_non_null(strstr(out.data, "a\xef\xbf\xbd"
                                     "b\xef\xbf\xbd"
                                     "c\xef\xbf\xbd"));
    assert_non_null(strstr(out.data, "é"));
    text_free(&out);
    html_link(&out, "a:b/c?d", "x");
    assert_string_equal(out.data, "<a href=\"./a%3Ab/c%3Fd\">x</a>");
    text_free(&out);
}
