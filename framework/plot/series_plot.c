/* SPDX-License-Identifier: Apache-2.0 */
#include "plot/series_plot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "plot/gnuplot.h"

/* A path in its parts, without ".csv". */
struct place {
    char *directory, *file, *stem;
};

static int split(const char *path, struct place *out)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    size_t length = strlen(file);
    if (length > 4 && strcmp(file + length - 4, ".csv") == 0)
        length -= 4;
    out->directory = files_directory(path);
    out->file = memory_format("%s", file);
    out->stem = memory_format("%.*s", (int)length, file);
    return out->directory && out->file && out->stem ? 0 : -1;
}

static void place_free(struct place *place)
{
    free(place->directory);
    free(place->file);
    free(place->stem);
}

static void add_output(struct text *script, const char *terminal, const char *stem, const char *ending)
{
    char *name = memory_format("%s.%s", stem, ending);
    text_add(script, "set terminal %s noenhanced\nset output ", terminal);
    gnuplot_quote(script, name ? name : "");
    text_add(script, "\n");
    script->failed |= !name;
    free(name);
}

static void add_lines(struct text *script, const struct series_plot *plot, const char *file)
{
    text_add(script, "plot ");
    for (int i = 0; i < plot->n_keys; i++) {
        text_add(script, "%s", i ? ", " : "");
        gnuplot_quote(script, file);
        text_add(script, " every ::1 using (strcol(%d) eq ", plot->key);
        gnuplot_quote(script, plot->keys[i]);
        text_add(script, " ? column(%d) : NaN):%d with lines lw 2 dt %d lc rgb \"%s\" title ", plot->x,
                 plot->y, i % 4 + 1, gnuplot_colour(i));
        gnuplot_quote(script, plot->keys[i]);
    }
    text_add(script, "\n");
}

static void add_script(struct text *script, const struct series_plot *plot, const struct place *place)
{
    text_add(script, "set encoding utf8\nset datafile separator \",\"\nset datafile missing NaN\nset title ");
    gnuplot_quote(script, plot->title);
    text_add(script, "\nset xlabel ");
    gnuplot_quote(script, plot->x_label);
    text_add(script, "\nset ylabel ");
    gnuplot_quote(script, plot->y_label);
    text_add(script, "\nset grid lc rgb \"#dddddd\"\nset border 3\nset tics nomirror\n"
                     "set key outside top right vertical\n");
    if (plot->log_y)
        text_add(script, "set logscale y\nset format y \"%%g\"\nset yrange [1e-12:1]\n");
    else
        text_add(script, "set yrange [0:]\n");
    add_output(script, "svg size 720,440 dynamic background rgb \"white\" font \"sans,13\"", place->stem,
               "svg");
    add_lines(script, plot, place->file);
    add_output(script, "pngcairo size 1440,880 background rgb \"white\" font \"sans,20\" linewidth 2",
               place->stem, "png");
    text_add(script, "replot\nset output\n");
}

int series_plot_draw(const struct series_plot *plot, int *missing, struct dpf_error *error)
{
    struct place place = {0};
    struct text script = {0};
    int status = split(plot->path, &place);
    char *name = status == 0 ? memory_format("%s.gp", place.stem) : NULL;
    char *path = name ? files_join(place.directory, name) : NULL;
    char *log = name ? files_join(place.directory, "gnuplot.log") : NULL;
    const int had_log = log && access(log, F_OK) == 0;
    *missing = 0;
    if (status == 0)
        add_script(&script, plot, &place);
    status = status == 0 && path && log && !script.failed ? 0 : error_memory(error);
    if (status == 0)
        status = files_write_text(path, script.data, error);
    if (status == 0)
        status = gnuplot_run(place.directory, name, missing, error);
    if (status == 0 && log && !had_log) /* nothing went wrong: leave pictures alone behind */
        unlink(log);
    text_free(&script);
    place_free(&place);
    free(name);
    free(path);
    free(log);
    return status;
}
