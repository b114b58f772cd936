/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot_svg.h - a plot as part of an HTML page: inline SVG, a key, and a table of its values.
 *
 * Places are percentages and texts have the size of the page's, so that a plot is as wide as the page lets it
 * be and is read as well on a telephone as on a screen. Colours and sizes are those of the style sheet of
 * html_page.h. The value of a point shows up while the pointer is on it, without scripts.
 */
#ifndef DPF_PLOT_PLOT_SVG_H
#define DPF_PLOT_PLOT_SVG_H

#include "base/text.h"
#include "plot/plot.h"

/* The shapes of markers, once a page, before its first plot. */
void plot_svg_shapes(struct text *page);
/* A <figure> with the id "plot-NAME". -1 if memory ran out. The plot has points. */
int plot_svg_add(struct text *page, const struct plot *plot);

#endif
