/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plots.h - the plots of a sweep: for its page, and as files in DIRECTORY/plots/ (NAME.svg, .png, .gp).
 *
 *     METRIC-AXIS       a metric against an axis of numbers, with deviations, a line for each other cell
 *     rounds            training RMSE against rounds
 *     METRIC-proved     a metric against the proved epsilon
 *     bytes-AXIS        bytes sent against an axis of numbers
 *     noise-TERM-BLOCK  the distribution of the noise, where [run] noise counted it
 *
 * Plots without information are left out: those of fewer than two points, of an epsilon against itself, of
 * values that an axis does not change, and repetitions of the same lines.
 */
#ifndef DPF_SWEEP_PLOTS_H
#define DPF_SWEEP_PLOTS_H

#include "plot/plot.h"
#include "sweep/outcomes.h"

struct plots {
    struct plot *items;
    size_t n, capacity;
};

/* All plots that the sweep has the numbers for. On failure out is empty. */
void plots_make(const struct outcomes *outcomes, struct plots *out);
/* Draws them into DIRECTORY/plots. Without gnuplot in PATH *missing is set, and no picture is drawn; that is
   no error. */
int plots_draw(const struct plots *plots, const char *directory, int *missing, struct dpf_error *error);
void plots_free(struct plots *plots);

#endif
