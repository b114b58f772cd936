/* SPDX-License-Identifier: Apache-2.0 */
#include "plot/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SAME 1e-3   /* relative: nobody sees the difference */
#define DECADES 8.0 /* from that ratio on an axis is logarithmic */

void plot_name(struct plot *plot, const char *what, const char *against)
{
    snprintf(plot->name, sizeof plot->name, "%.60s-%.60s", what, against);
    for (char *c = plot->name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '.'))
            *c = '-';
}

int plot_begin(struct plot *plot, char *label)
{
    if (plot->n == PLOT_MAX_SERIES) {
        plot->left_out++;
        free(label);
        return 0;
    }
    plot->series[plot->n++] = (struct plot_series){.label = label};
    return 1;
}

void plot_add(struct plot *plot, double x, double y, double deviation)
{
    struct plot_series *series = &plot->series[plot->n - 1];
    if (!isfinite(x) || !isfinite(y))
        return;
    series->points =
        memory_need_grow(series->points, &series->capacity, series->n + 1, sizeof *series->points);
    series->points[series->n++] = (struct plot_point){x, y, isfinite(deviation) ? deviation : 0};
}

void plot_end(struct plot *plot)
{
    if (plot->n == 0 || plot->series[plot->n - 1].n > 0)
        return;
    free(plot->series[--plot->n].label);
    free(plot->series[plot->n].points);
    plot->series[plot->n] = (struct plot_series){0};
}

static int by_x(const void *a, const void *b)
{
    const struct plot_point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

void plot_sort(struct plot *plot)
{
    for (int s = 0; s < plot->n; s++)
        if (plot->series[s].n)
            qsort(plot->series[s].points, plot->series[s].n, sizeof *plot->series[s].points, by_x);
}

void plot_free(struct plot *plot)
{
    for (int s = 0; s < plot->n; s++) {
        free(plot->series[s].label);
        free(plot->series[s].points);
    }
    *plot = (struct plot){0};
}

size_t plot_points(const struct plot *plot)
{
    size_t n = 0;
    for (int s = 0; s < plot->n; s++)
        n += plot->series[s].n;
    return n;
}

int plot_shows(const struct plot *plot, const struct plot_point *point)
{
    return (!plot->log_x || point->x > 0) && (!plot->log_y || point->y > 0);
}

struct plot_range plot_range(const struct plot *plot)
{
    struct plot_range range = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int s = 0; s < plot->n; s++)
        for (size_t i = 0; i < plot->series[s].n; i++) {
            const struct plot_point *p = &plot->series[s].points[i];
            if (!plot_shows(plot, p))
                continue;
            const double low = p->y - p->deviation;
            range.x_lo = fmin(range.x_lo, p->x);
            range.x_hi = fmax(range.x_hi, p->x);
            range.y_lo = fmin(range.y_lo, plot->log_y && low <= 0 ? p->y : low);
            range.y_hi = fmax(range.y_hi, p->y + p->deviation);
        }
    return range.x_lo <= range.x_hi ? range : (struct plot_range){0, 0, 0, 0};
}

int plot_spans_decades(const struct plot *plot)
{
    const struct plot_range range = plot_range(plot);
    return range.x_lo > 0 && range.x_hi >= DECADES * range.x_lo;
}

static int is_near(double a, double b)
{
    return fabs(a - b) <= SAME * fmax(fabs(a), fabs(b));
}

int plot_is_identity(const struct plot *plot)
{
    for (int s = 0; s < plot->n; s++)
        for (size_t i = 0; i < plot->series[s].n; i++)
            if (!is_near(plot->series[s].points[i].x, plot->series[s].points[i].y))
                return 0;
    return plot->n > 0;
}

int plot_is_constant(const struct plot *plot)
{
    for (int s = 0; s < plot->n; s++)
        for (size_t i = 0; i < plot->series[s].n; i++)
            if (!is_near(plot->series[s].points[0].y, plot->series[s].points[i].y))
                return 0;
    return plot->n > 0;
}

static const struct plot_series *find_series(const struct plot *plot, const char *label)
{
    for (int s = 0; s < plot->n; s++)
        if (strcmp(plot->series[s].label, label) == 0)
            return &plot->series[s];
    return NULL;
}

int plot_is_part(const struct plot *part, const struct plot *whole)
{
    for (int s = 0; s < part->n; s++) {
        const struct plot_series *x = &part->series[s], *y = find_series(whole, x->label);
        if (!y || x->n != y->n)
            return 0;
        for (size_t i = 0; i < x->n; i++)
            if (!is_near(x->points[i].x, y->points[i].x) || !is_near(x->points[i].y, y->points[i].y))
                return 0;
    }
    return 1;
}
