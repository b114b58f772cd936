/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot.h - the data of a plot: series of points on two axes.
 *
 * plot_svg.h draws it into a page, plot_files.h with gnuplot into files.
 */
#ifndef DPF_PLOT_PLOT_H
#define DPF_PLOT_PLOT_H

#include <stddef.h>

#define PLOT_MAX_SERIES 12

struct plot_point {
    double x, y;
    double deviation; /* of y; 0: none is drawn */
};

struct plot_series {
    char *label;
    struct plot_point *points;
    size_t n, capacity;
    int hollow; /* markers without filling: a guarantee of the plan alone */
};

struct plot {
    char name[128]; /* of its files and in addresses: letters, digits, '-' and '.' */
    char title[256];
    char note[512]; /* a note for the reader, or "" */
    char x_label[128], y_label[128];
    int log_x, log_y;
    int lines;       /* lines without markers */
    int from_zero;   /* y begins at 0 */
    double x_margin; /* of the part of the x range that is shown beyond the data; default 0 */
    struct plot_series series[PLOT_MAX_SERIES];
    int n;
    int left_out; /* series beyond the most that a plot shows */
};

/* Sets the name from two words, such as a metric and an axis: "hr@10" becomes "hr-10". */
void plot_name(struct plot *plot, const char *what, const char *against);
/* Begins a series; label is taken over. 0 if the plot is full (the label is freed and counted) or memory is
   short. */
int plot_begin(struct plot *plot, char *label);
/* Adds a point to the last series. A point that is not finite is left out. */
void plot_add(struct plot *plot, double x, double y, double deviation);
/* Takes the series that was begun last back if it has no points. */
void plot_end(struct plot *plot);
/* Puts the points of each series in the order of x. */
void plot_sort(struct plot *plot);
void plot_free(struct plot *plot);

size_t plot_points(const struct plot *plot);

struct plot_range {
    double x_lo, x_hi, y_lo, y_hi; /* of all points; y with deviations */
};
/* All 0 without points. Points that a logarithm cannot show are not counted. */
struct plot_range plot_range(const struct plot *plot);
/* Whether a plot shows the point: on logarithmic axes those above 0. */
int plot_shows(const struct plot *plot, const struct plot_point *point);
/* Whether x spans so much that its logarithm is the better axis. */
int plot_spans_decades(const struct plot *plot);
/* Whether y is x wherever there is a point, to a thousandth: nothing to see. */
int plot_is_identity(const struct plot *plot);
/* Whether no series changes its y, to a thousandth: the axis changes nothing. */
int plot_is_constant(const struct plot *plot);
/* Whether the whole plot has each series of the part, at the same places to a thousandth, whatever their axes
   are called. */
int plot_is_part(const struct plot *part, const struct plot *whole);

#endif
