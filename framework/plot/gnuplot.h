/* SPDX-License-Identifier: Apache-2.0 */
/* gnuplot.h - runs gnuplot, and escapes texts for its scripts. */
#ifndef DPF_PLOT_GNUPLOT_H
#define DPF_PLOT_GNUPLOT_H

#include "base/error.h"
#include "base/text.h"

const char *gnuplot_colour(int series);
/* A text in double quotes. */
void gnuplot_quote(struct text *script, const char *what);
/*
 * Runs a script in a directory; it names files relative to that. Its messages go to gnuplot.log there.
 * Without gnuplot in PATH *missing is set; that is no error.
 */
int gnuplot_run(const char *directory, const char *script, int *missing, struct dpf_error *error);

#endif
