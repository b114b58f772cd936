/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot_svg.h - writes a plot into an HTML page: inline SVG, a key, and a table of its values.
 *
 * Positions are percentages and texts have the size of the page's text, so a plot fills the width of the page
 * and is readable on a telephone and on a screen. The style sheet of html_page.h sets colours and sizes. A
 * point's value appears while the pointer is on it, without scripts.
 */
#ifndef DPF_PLOT_PLOT_SVG_H
#define DPF_PLOT_PLOT_SVG_H

#include "base/text.h"
#include "plot/plot.h"

/* The shapes of markers, once a page, before its first plot. */
void plot_svg_shapes(struct text *page);
/* A <figure> with the id "plot-NAME". -1 if memory ran out. The plot has points. */
void plot_svg_add(struct text *page, const struct plot *plot);

#endif
