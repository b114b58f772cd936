/* SPDX-License-Identifier: Apache-2.0 */
#include "plot/plot_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "plot/gnuplot.h"

static void add_data(struct text *script, const struct plot *plot)
{
    char x[32], y[32], deviation[32];
    for (int s = 0; s < plot->n; s++) {
        text_add(script, "$series%d << END\n", s);
        for (size_t i = 0; i < plot->series[s].n; i++) {
            const struct plot_point *point = &plot->series[s].points[i];
            if (plot_shows(plot, point))
                text_add(script, "%s %s %s\n", text_from_real(point->x, x), text_from_real(point->y, y),
                         text_from_real(point->deviation, deviation));
        }
        text_add(script, "END\n");
    }
}

static void add_axes(struct text *script, const struct plot *plot)
{
    const struct plot_range range = plot_range(plot);
    const double margin = 0.03 * (range.x_hi - range.x_lo);
    text_add(script, "set encoding utf8\nset xlabel ");
    gnuplot_quote(script, plot->x_label);
    text_add(script, "\nset ylabel ");
    gnuplot_quote(script, plot->y_label);
    /* Above the plot, a line for each two series: below it lies over the label of the axis. */
    text_add(script, "\nset grid lc rgb \"#dddddd\"\nset border 3\nset tics nomirror\n"
                     "set key outside top center horizontal maxcols 2 height 0.5\n");
    if (plot->log_x)
        text_add(script, "set logscale x\nset format x \"%%g\"\nset xrange [%.9g:%.9g]\n", range.x_lo / 1.15,
                 range.x_hi * 1.15);
    else if (margin > 0)
        text_add(script, "set xrange [%.9g:%.9g]\n", range.x_lo - margin, range.x_hi + margin);
    if (plot->from_zero && range.y_lo >= 0)
        text_add(script, "set yrange [0:*]\n");
    if (plot->log_y)
        text_add(script, "set logscale y\nset format y \"%%g\"\n");
    text_add(script, "set offsets 0, 0, graph 0.05, graph 0.05\n");
}

static void add_series(struct text *script, const struct plot *plot, int s)
{
    static const int filled[] = {7, 5, 9, 11, 13, 15}, hollow[] = {6, 4, 8, 10, 12, 14};
    const int *shapes = plot->series[s].hollow ? hollow : filled;
    text_add(script, "%s$series%d using ", s ? ", " : "", s);
    if (plot->lines)
        text_add(script, "1:2 with lines lw 2 dt %d", s % 5 + 1);
    else
        text_add(script, "1:2:3 with yerrorlines lw 1.2 pt %d ps %s", shapes[s % 6],
                 plot->series[s].hollow ? "1.4" : "0.8");
    text_add(script, " lc rgb \"%s\" title ", gnuplot_colour(s));
    gnuplot_quote(script, plot->series[s].label);
}

static void add_output(struct text *script, const char *terminal, const char *stem, const char *ending)
{
    char *name = memory_format("%s.%s", stem, ending);
    text_add(script, "set terminal %s noenhanced\nset output ", terminal);
    gnuplot_quote(script, name);
    text_add(script, "\n");
    free(name);
}

static char *make_script(const struct plot *plot, const char *stem)
{
    struct text script = {0};
    add_data(&script, plot);
    add_axes(&script, plot);
    add_output(&script, "svg size 720,460 dynamic background rgb \"white\" font \"sans,13\"", stem, "svg");
    text_add(&script, "plot ");
    for (int s = 0; s < plot->n; s++)
        add_series(&script, plot, s);
    text_add(&script, "\n");
    add_output(&script, "pngcairo size 1440,920 background rgb \"white\" font \"sans,20\" linewidth 2", stem,
               "png");
    text_add(&script, "replot\nset output\n");
    return script.data;
}

int plot_files_draw(const struct plot *plot, const char *directory, const char *stem, int *missing,
                    struct dpf_error *error)
{
    char *name = memory_format("%s.gp", stem), *script = make_script(plot, stem);
    char *path = files_join(directory, name), *log = files_join(directory, "gnuplot.log");
    const int had_log = access(log, F_OK) == 0;
    int status = 0;
    *missing = 0;
    if (status == 0)
        status = files_write_text(path, script, error);
    if (status == 0)
        status = gnuplot_run(directory, name, missing, error);
    if (status == 0 && !had_log) /* nothing went wrong: leave pictures alone behind */
        unlink(log);
    free(name);
    free(script);
    free(path);
    free(log);
    return status;
}
