/* SPDX-License-Identifier: Apache-2.0 */
/* plot_files.h - writes a plot as files for papers, by gnuplot: STEM.svg, STEM.png, and STEM.gp, which contains
 * the numbers and draws both again. */
#ifndef DPF_PLOT_PLOT_FILES_H
#define DPF_PLOT_PLOT_FILES_H

#include "base/error.h"
#include "plot/plot.h"

/* Into a directory that exists. Without gnuplot in PATH only STEM.gp is written, and *missing is set; that is
   no error. */
int plot_files_draw(const struct plot *plot, const char *directory, const char *stem, int *missing,
                    struct dpf_error *error);

#endif
