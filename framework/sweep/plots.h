/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plots.h - a sweep as pictures, by gnuplot: DIRECTORY/plots/NAME.svg, .png, and the .gp and .dat they are
 * made from.
 *
 *     METRIC-AXIS       a metric against an axis of numbers, with deviations, a line for each other cell
 *     rounds            training RMSE against rounds
 *     METRIC-proved     a metric against the epsilon that is proved
 *     bytes-AXIS        bytes sent against an axis of numbers
 *     noise-TERM-BLOCK  how the noise is distributed, where [run] noise counted it
 */
#ifndef DPF_SWEEP_PLOTS_H
#define DPF_SWEEP_PLOTS_H

#include "sweep/outcomes.h"

struct plot {
    char name[96];
    char title[256];
    char note[256]; /* what a reader has to know, or "" */
};
struct plots {
    struct plot *items;
    size_t n, capacity;
};

/*
 * Draws all plots that the sweep has the numbers for. Without gnuplot in PATH there are none, and *missing is
 * set; that is no error.
 */
int plots_draw(const struct outcomes *outcomes, struct plots *out, int *missing, struct dpf_error *error);
void plots_free(struct plots *plots);

#endif
