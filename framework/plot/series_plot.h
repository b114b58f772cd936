/* SPDX-License-Identifier: Apache-2.0 */
/* series_plot.h - the CSV files of "dpframe account" as pictures beside them: NAME.svg, .png and the .gp. */
#ifndef DPF_PLOT_SERIES_PLOT_H
#define DPF_PLOT_SERIES_PLOT_H

#include "base/error.h"

/* Columns are counted from 1. */
struct series_plot {
    const char *path; /* of the CSV file, with a first line of names */
    int key, x, y;    /* columns: whose line, and where */
    const char *x_label, *y_label, *title;
    int log_y;
    const char *const *keys;
    int n_keys;
};

/* Without gnuplot in PATH there is no picture, and *missing is set; that is no error. */
int series_plot_draw(const struct series_plot *plot, int *missing, struct dpf_error *error);

#endif
