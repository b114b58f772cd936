/* SPDX-License-Identifier: Apache-2.0 */
/* csv_plot.h - draws a CSV file of numbers beside it: NAME.svg, NAME.png and NAME.gp for NAME.csv. */
#ifndef DPF_PLOT_CSV_PLOT_H
#define DPF_PLOT_CSV_PLOT_H

#include "base/error.h"

/* Columns are counted from 1. Fields have no quotes. */
struct csv_plot {
    const char *path; /* of the CSV file, with a first line of names */
    int key, x, y;    /* columns: the name of a line, and its points */
    const char *x_label, *y_label, *title;
    int log_y;
    double y_least; /* what is below is not drawn */
};

/* Without gnuplot in PATH there is no picture, and *missing is set; that is no error. */
int csv_plot_draw(const struct csv_plot *csv, int *missing, struct dpf_error *error);

#endif
