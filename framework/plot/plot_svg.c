/* SPDX-License-Identifier: Apache-2.0 */
#include "plot/plot_svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/html.h"
#include "base/memory.h"
#include "base/sheet.h"
#include "plot/ticks.h"

#define SHAPES 6
#define UNITS 10000       /* of the box in which lines are drawn, which is stretched */
#define MOST_ANSWERING 41 /* points of a line that tell their value */
#define MOST_ROWS 41      /* of the table of values */
#define LEAST_GAP 0.11    /* between numbers of the x axis, as part of the narrowest plot */

struct view {
    struct text *page;
    const struct plot *plot;
    struct axis x, y;
};

void plot_svg_shapes(struct text *page)
{
    static const char *const shapes[SHAPES] = {"<circle r=\"4\"/>",
                                               "<rect x=\"-3.6\" y=\"-3.6\" width=\"7.2\" height=\"7.2\"/>",
                                               "<path d=\"M0-5 4.6 3.2H-4.6Z\"/>",
                                               "<path d=\"M0-5.2 5.2 0 0 5.2-5.2 0Z\"/>",
                                               "<path d=\"M0 5-4.6-3.2H4.6Z\"/>",
                                               "<path d=\"M-4.5-1.5 0-5 4.5-1.5 2.8 4H-2.8Z\"/>"};
    text_add(page, "<svg width=\"0\" height=\"0\" class=\"shapes\" aria-hidden=\"true\"><defs>");
    for (int i = 0; i < SHAPES; i++)
        text_add(page, "<g id=\"m%d\">%s</g>", i, shapes[i]);
    text_add(page, "</defs></svg>\n");
}

/* ---- axes ---------------------------------------------------------------------------------------------- */

static double percent_x(const struct view *view, double x)
{
    return 100 * axis_place(&view->x, x);
}

static double percent_y(const struct view *view, double y)
{
    return 100 - 100 * axis_place(&view->y, y);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All x of the plot, in order, each once. Free it; NULL if memory is short. */
static double *all_x(const struct plot *plot, size_t *n)
{
    double *values = memory_need(plot_points(plot) + 1, sizeof *values);
    size_t all = 0, kept = 0;
    for (int s = 0; s < plot->n; s++)
        for (size_t i = 0; i < plot->series[s].n; i++)
            values[all++] = plot->series[s].points[i].x;
    qsort(values, all, sizeof *values, by_value);
    for (size_t i = 0; i < all; i++)
        if (!kept || values[i] != values[kept - 1])
            values[kept++] = values[i];
    *n = kept;
    return values;
}

/* 0.99996 as what it was meant to be: 1, if that is no more than a thousandth away. */
static double shown(double value)
{
    char text[32];
    double rounded;
    snprintf(text, sizeof text, "%.3g", value);
    return text_to_real(text, &rounded) == 0 && fabs(rounded - value) <= 1e-3 * fabs(value) ? rounded : value;
}

/* A few values that were chosen are the best marks: 0.1, 0.3, 1. */
static void mark_values(struct view *view)
{
    size_t n = 0;
    double *values = all_x(view->plot, &n);
    if (n <= 8 && !view->plot->lines) {
        double last = -1;
        view->x.n = 0;
        for (size_t i = 0; i < n; i++) {
            const double place = axis_place(&view->x, values[i]);
            if (place - last < LEAST_GAP || (view->x.logarithmic && values[i] <= 0))
                continue;
            view->x.ticks[view->x.n++] = shown(values[i]);
            last = place;
        }
    }
    free(values);
}

static void make_axes(struct view *view)
{
    const struct plot *plot = view->plot;
    const struct plot_range range = plot_range(plot);
    view->x = axis_make(range.x_lo, range.x_hi, plot->log_x, plot->lines ? 0.01 : 0.04);
    const double y_lo = plot->from_zero && !plot->log_y ? fmin(0, range.y_lo) : range.y_lo;
    view->y = axis_make(y_lo, range.y_hi, plot->log_y, 0.05);
    if (plot->from_zero && !plot->log_y && range.y_lo >= 0)
        view->y.lo = 0;
    mark_values(view);
}

static void add_axes(const struct view *view)
{
    struct text *page = view->page;
    char number[32];
    text_add(page, "<g class=\"grid\">");
    for (int i = 0; i < view->y.n; i++) {
        const double at = percent_y(view, view->y.ticks[i]);
        text_add(page,
                 "<line x1=\"0\" x2=\"100%%\" y1=\"%.2f%%\" y2=\"%.2f%%\"/><text class=\"y\" x=\"-7\" "
                 "y=\"%.2f%%\" dy=\".35em\">%s</text>",
                 at, at, at, axis_text(&view->y, view->y.ticks[i], number));
    }
    for (int i = 0; i < view->x.n; i++) {
        const double at = percent_x(view, view->x.ticks[i]);
        text_add(page,
                 "<line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"100%%\"/><text class=\"x\" x=\"%.2f%%\" "
                 "y=\"100%%\" dy=\"1.35em\">%s</text>",
                 at, at, at, axis_text(&view->x, view->x.ticks[i], number));
    }
    text_add(page, "<line class=\"base\" x1=\"0\" x2=\"100%%\" y1=\"100%%\" "
                   "y2=\"100%%\"/></g>\n");
}

/* ---- series -------------------------------------------------------------------------------------------- */

static void add_line(const struct view *view, int s)
{
    const struct plot_series *series = &view->plot->series[s];
    text_add(view->page,
             "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" width=\"100%%\" "
             "height=\"100%%\"><polyline class=\"line s%d\" points=\"",
             UNITS, UNITS, s);
    for (size_t i = 0; i < series->n; i++)
        if (plot_shows(view->plot, &series->points[i]))
            text_add(view->page, "%.0f,%.0f ", percent_x(view, series->points[i].x) * UNITS / 100,
                     percent_y(view, series->points[i].y) * UNITS / 100);
    text_add(view->page, "\"/></svg>\n");
}

static void add_bar(const struct view *view, const struct plot_point *point)
{
    const double low = point->y - point->deviation, x = percent_x(view, point->x);
    if (point->deviation <= 0)
        return;
    text_add(view->page, "<line class=\"bar\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%.2f%%\" y2=\"%.2f%%\"/>", x,
             x, percent_y(view, point->y + point->deviation),
             view->plot->log_y && low <= 0 ? 100 : percent_y(view, low));
}

/* What shows up while the pointer is on a point: its place and the name of its series, above the plot. */
static void add_answer(const struct view *view, const struct plot_series *series,
                       const struct plot_point *point)
{
    struct text *page = view->page;
    text_add(page, "<text class=\"v\" x=\"100%%\" y=\"-1.75em\">");
    html_text(page, view->plot->x_label);
    text_add(page, " %.5g: %.5g", point->x, point->y);
    if (point->deviation > 0)
        text_add(page, " ± %.2g", point->deviation);
    text_add(page, "<tspan x=\"100%%\" dy=\"1.25em\">");
    html_text(page, series->label);
    text_add(page, "</tspan></text>");
}

static void add_point(const struct view *view, int s, const struct plot_point *point)
{
    const struct plot_series *series = &view->plot->series[s];
    const double x = percent_x(view, point->x), y = percent_y(view, point->y);
    text_add(view->page, "<g class=\"pt\">");
    add_bar(view, point);
    text_add(view->page,
             "<use href=\"#m%d\" x=\"%.2f%%\" y=\"%.2f%%\"/><circle class=\"hit\" cx=\"%.2f%%\" "
             "cy=\"%.2f%%\" r=\"11\"/>",
             s % SHAPES, x, y, x, y);
    add_answer(view, series, point);
    text_add(view->page, "</g>\n");
}

static void add_points(const struct view *view, int s)
{
    const struct plot_series *series = &view->plot->series[s];
    const size_t stride = view->plot->lines ? (series->n + MOST_ANSWERING - 1) / MOST_ANSWERING : 1;
    text_add(view->page, "<g class=\"s%d%s%s\">", s, series->hollow ? " hollow" : "",
             view->plot->lines ? " quiet" : "");
    for (size_t i = 0; i < series->n; i += stride)
        if (plot_shows(view->plot, &series->points[i]))
            add_point(view, s, &series->points[i]);
    text_add(view->page, "</g>\n");
}

/* ---- beside the picture -------------------------------------------------------------------------------- */

static void add_key(struct text *page, const struct plot *plot)
{
    if (plot->n < 2)
        return;
    text_add(page, "<ul class=\"key\">");
    for (int s = 0; s < plot->n; s++) {
        text_add(
            page,
            "<li><svg width=\"28\" height=\"12\" aria-hidden=\"true\" class=\"s%d%s\"><line class=\"line "
            "s%d\" x1=\"0\" x2=\"28\" y1=\"6\" y2=\"6\"/>",
            s, plot->series[s].hollow ? " hollow" : "", s);
        if (!plot->lines)
            text_add(page, "<use href=\"#m%d\" x=\"14\" y=\"6\"/>", s % SHAPES);
        text_add(page, "</svg>");
        html_text(page, plot->series[s].label);
        text_add(page, "</li>");
    }
    text_add(page, "</ul>\n");
}

static void add_value(struct sheet *table, const struct plot_series *series, double x)
{
    char y[32], deviation[32];
    for (size_t i = 0; i < series->n; i++) {
        const struct plot_point *point = &series->points[i];
        if (point->x != x)
            continue;
        snprintf(y, sizeof y, "%.5g", point->y);
        snprintf(deviation, sizeof deviation, "%.2g", point->deviation);
        sheet_spread(table, y, point->deviation > 0 ? deviation : NULL);
        return;
    }
    sheet_missing(table);
}

/* A row for each x, or for some forty of them, the last one included. */
static void add_values(struct text *page, const struct plot *plot)
{
    struct sheet table = {0};
    size_t n = 0;
    double *values = all_x(plot, &n);
    const size_t stride = (n + MOST_ROWS - 1) / MOST_ROWS;
    sheet_column(&table, plot->x_label, SHEET_RIGHT);
    for (int s = 0; s < plot->n; s++)
        sheet_column(&table, plot->n == 1 ? plot->y_label : plot->series[s].label, SHEET_RIGHT);
    for (size_t i = (n - 1) % stride; i < n; i += stride) {
        sheet_printf(&table, "%.5g", values[i]);
        for (int s = 0; s < plot->n; s++)
            add_value(&table, &plot->series[s], values[i]);
    }
    text_add(page, "<details><summary>Values</summary>\n");
    sheet_write(&table, SHEET_HTML, 0, page);
    text_add(page, "</details>\n");
    sheet_free(&table);
    free(values);
}

static void add_picture(const struct view *view)
{
    struct text *page = view->page;
    const struct plot *plot = view->plot;
    text_add(page, "<div class=\"label\">");
    html_text(page, plot->y_label);
    text_add(page, "</div>\n<svg class=\"plot\" role=\"img\" aria-labelledby=\"title-%s\"", plot->name);
    if (*plot->note)
        text_add(page, " aria-describedby=\"note-%s\"", plot->name);
    text_add(page, ">\n");
    add_axes(view);
    for (int s = 0; s < plot->n; s++)
        add_line(view, s);
    for (int s = 0; s < plot->n; s++)
        add_points(view, s);
    text_add(page, "</svg>\n");
    html_element(page, "div class=\"label x\"", plot->x_label);
    text_add(page, "\n");
}

void plot_svg_add(struct text *page, const struct plot *plot)
{
    struct view view = {.page = page, .plot = plot};
    make_axes(&view);
    text_add(page, "<figure id=\"plot-%s\"><h3 id=\"title-%s\">", plot->name, plot->name);
    html_text(page, plot->title);
    text_add(page, "</h3>\n");
    add_picture(&view);
    add_key(page, plot);
    if (*plot->note || plot->left_out) {
        text_add(page, "<figcaption id=\"note-%s\">", plot->name);
        html_text(page, plot->note);
        if (plot->left_out)
            text_add(page, "%s%d more series are not shown.", *plot->note ? " " : "", plot->left_out);
        text_add(page, "</figcaption>\n");
    }
    add_values(page, plot);
    text_add(page, "</figure>\n");
}
