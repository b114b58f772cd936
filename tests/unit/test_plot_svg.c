/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of axes, what a plot leaves out, and a plot as part of a page. */
#include <math.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "base/memory.h"
#include "kit/html_checks.h"
#include "plot/html_page.h"
#include "plot/plot_svg.h"
#include "plot/ticks.h"

TEST(marks_are_round_and_inside)
{
    static const struct {
        double lo, hi;
        int logarithmic;
    } cases[] = {{0, 1, 0},          {0.93, 0.94, 0}, {-3, 1e6, 0},   {5, 5, 0},
                 {0, 0, 0},          {0.1, 10, 1},    {1e-12, 1, 1},  {3, 3, 1},
                 {1e-300, 1e300, 1}, {-1e9, -1e8, 0}, {1000, 1001, 0}};
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct axis axis = axis_make(cases[i].lo, cases[i].hi, cases[i].logarithmic, 0.04);
        assert_true(axis.lo < axis.hi);
        if (!(axis.n >= 1 && axis.n <= TICKS_MOST))
            fail_msg("%g to %g has %d marks", cases[i].lo, cases[i].hi, axis.n);
        for (int t = 0; t < axis.n; t++) {
            const double place = axis_place(&axis, axis.ticks[t]);
            assert_true(place >= -1e-9);
            assert_true(place <= 1 + 1e-9);
            assert_true(t == 0 || axis.ticks[t] > axis.ticks[t - 1]);
            assert_true(strlen(axis_text(&axis, axis.ticks[t], text)) < 9);
        }
    }
    const struct axis axis = axis_make(0, 1, 0, 0);
    assert_string_equal(axis_text(&axis, 0.2, text), "0.2");
    const struct axis bytes = axis_make(0, 6e8, 0, 0);
    assert_string_equal(axis_text(&bytes, 2e8, text), "200M");
}

static void add_series(struct plot *plot, const char *label, const double *xy, size_t n)
{
    assert_true(plot_begin(plot, memory_text(label)));
    for (size_t i = 0; i < n; i++)
        plot_add(plot, xy[2 * i], xy[2 * i + 1], 0.01);
    plot_end(plot);
}

TEST(nothing_to_see_is_recognised)
{
    static const double same[] = {0.1, 0.09999, 1, 1.0001}, flat[] = {1, 3, 2, 3}, other[] = {1, 3, 2, 4};
    struct plot a = {.n = 0}, b = {.n = 0};
    add_series(&a, "x", same, 2);
    assert_true(plot_is_identity(&a));
    assert_false(plot_is_constant(&a));
    plot_free(&a);
    add_series(&a, "x", flat, 2);
    assert_true(plot_is_constant(&a));
    assert_false(plot_is_identity(&a));
    static const double higher[] = {2, 4, 1, 4};
    add_series(&b, "z", flat, 2);
    add_series(&b, "higher", higher, 2);
    assert_true(plot_is_constant(&b)); /* the axis changes neither */
    plot_sort(&b);
    assert_float_equal(b.series[1].points[0].x, 1, 0);
    plot_free(&b);
    add_series(&b, "y", other, 2);
    add_series(&b, "x", flat, 2);
    assert_true(plot_is_part(&a, &b));
    assert_false(plot_is_part(&b, &a));
    assert_true(plot_begin(&b, memory_text("empty")));
    plot_end(&b);
    assert_int_equal(b.n, 2);
    plot_free(&a);
    plot_free(&b);
}

TEST(twelve_series_and_no_more)
{
    static const double xy[] = {1, 1};
    struct plot plot = {.n = 0};
    for (int s = 0; s < PLOT_MAX_SERIES; s++)
        add_series(&plot, "s", xy, 1);
    assert_false(plot_begin(&plot, memory_text("one more")));
    assert_int_equal(plot.left_out, 1);
    plot_free(&plot);
}

static char *page_of(const struct plot *plot)
{
    struct text page = {0};
    html_page_begin(&page, "A <page>");
    plot_svg_shapes(&page);
    plot_svg_add(&page, plot);
    html_page_end(&page);
    return page.data;
}

TEST(a_plot_has_its_values_its_key_and_no_fixed_width)
{
    static const double one[] = {0.1, 0.5, 1, 0.7, 10, 0.9}, two[] = {0.1, 0.4, 10, 0.8};
    struct plot plot = {.name = "hr-10-epsilon",
                        .title = "hr@10 against \"epsilon\"",
                        .note = "a & b",
                        .x_label = "epsilon",
                        .y_label = "hr@10",
                        .log_x = 1};
    size_t plots, values;
    add_series(&plot, "als <1>", one, 3);
    add_series(&plot, "mf", two, 2);
    char *page = page_of(&plot);
    html_check_page(page, ".", &plots, &values);
    assert_int_equal(plots, 1);
    assert_int_equal(values, 5);
    assert_non_null(strstr(page, "epsilon 1: 0.7 ± 0.01<tspan"));
    assert_non_null(strstr(page, ">als &lt;1&gt;</tspan>"));
    assert_non_null(strstr(page, "<ul class=\"key\">"));
    char tag[256];
    snprintf(tag, sizeof tag, "%.*s", (int)strcspn(strstr(page, "<svg class=\"plot\""), ">"),
             strstr(page, "<svg class=\"plot\""));
    assert_null(strstr(tag, "width="));
    assert_null(strstr(tag, "height="));
    assert_non_null(strstr(page, "prefers-color-scheme:dark"));
    assert_non_null(strstr(page, "@media print"));
    /* Marks at the values that were chosen. */
    assert_non_null(strstr(page, "dy=\"1.35em\">0.1</text>"));
    assert_non_null(strstr(page, "dy=\"1.35em\">10</text>"));
    free(page);
    plot_free(&plot);
}

/* Whatever the numbers are, places are numbers. */
TEST(odd_numbers_do_no_harm)
{
    static const double odd[] = {0, 0, -1, 5, 1, 1e300, 2, -1e300};
    for (int kind = 0; kind < 8; kind++) {
        struct plot plot = {.name = "odd", .log_x = kind & 1, .log_y = kind >> 1 & 1, .lines = kind >> 2};
        add_series(&plot, "s", odd, 4);
        plot_add(&plot, (double)NAN, 1, 0);
        plot_add(&plot, 1, (double)INFINITY, 0);
        assert_int_equal(plot.series[0].n, 4);
        char *page = page_of(&plot);
        html_check_page(page, ".", NULL, NULL);
        assert_null(strstr(page, "nan%"));
        assert_null(strstr(page, "inf%"));
        free(page);
        plot_free(&plot);
    }
}
