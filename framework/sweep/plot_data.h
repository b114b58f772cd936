/* SPDX-License-Identifier: Apache-2.0 */
/* plot_data.h - the series of a plot: blocks of "x y deviation" as gnuplot reads them. */
#ifndef DPF_SWEEP_PLOT_DATA_H
#define DPF_SWEEP_PLOT_DATA_H

#include "base/text.h"
#include "sweep/outcomes.h"

#define PLOT_MAX_SERIES 12

struct plot_data {
    struct text rows; /* blocks, divided by two blank lines */
    char *labels[PLOT_MAX_SERIES];
    int hollow[PLOT_MAX_SERIES]; /* a guarantee of the plan only */
    int n;
    int left_out; /* series beyond the most that a plot shows */
    double x_lo, x_hi, y_lo, y_hi;
    size_t points;
};

/* A number of a point: a metric, or bytes. */
typedef double (*plot_number)(const struct outcome *outcome, const char *name);

/* y against the values of an axis, a series for each cell without that axis. */
void plot_data_axis(const struct outcomes *outcomes, size_t axis, plot_number number, const char *name,
                    struct plot_data *out);
/* A metric against the proved epsilon, a series for each variant. */
void plot_data_proved(const struct outcomes *outcomes, const char *metric, struct plot_data *out);
/* The training RMSE of rounds, mean over repetitions, a series for each cell. */
void plot_data_rounds(const struct outcomes *outcomes, struct plot_data *out);
/*
 * Noise of a term's block as densities, a series for each cell: its first repetition. Returns 1 if the series
 * are so different that only values above 0 were taken, for axes with logarithms; noise is symmetric.
 */
int plot_data_noise(const struct outcomes *outcomes, const char *term, const char *block,
                    struct plot_data *out);
void plot_data_free(struct plot_data *data);

#endif
