/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "dpframe/query.h"
#include "plot/gnuplot.h"
#include "run/noise_table.h"
#include "sweep/plot_data.h"

struct figure {
    const struct outcomes *outcomes;
    const struct plot *plot;
    const struct plot_data *data;
    const char *x, *y;
    int log_x, log_y, lines;
    int from_zero; /* y begins at 0 */
};

static void add_style(struct text *script, const char *data, const struct figure *figure, int series)
{
    static const int filled[] = {7, 5, 9, 11, 13, 15}, hollow[] = {6, 4, 8, 10, 12, 14};
    const int *shapes = figure->data->hollow[series] ? hollow : filled;
    const char *colour = gnuplot_colour(series);
    if (figure->lines)
        text_add(script, "%s\"%s\" index %d using 1:2 with lines lw 2 lc rgb \"%s\" title ",
                 series ? ", " : "", data, series, colour);
    else
        text_add(script,
                 "%s\"%s\" index %d using 1:2:3 with yerrorlines lw 1.2 pt %d ps %s lc rgb \"%s\" title ",
                 series ? ", " : "", data, series, shapes[series % 6],
                 figure->data->hollow[series] ? "1.4" : "0.8", colour);
    gnuplot_quote(script, figure->data->labels[series]);
}

static void add_terminal(struct text *script, const char *terminal, const struct figure *figure,
                         const char *ending)
{
    text_add(script, "set terminal %s noenhanced\nset output \"%s.%s\"\n", terminal, figure->plot->name,
             ending);
}

static void add_axes(struct text *script, const struct figure *figure)
{
    const struct plot_data *d = figure->data;
    text_add(script, "set encoding utf8\nset xlabel ");
    gnuplot_quote(script, figure->x);
    text_add(script, "\nset ylabel ");
    gnuplot_quote(script, figure->y);
    text_add(script, "\nset grid lc rgb \"#dddddd\"\nset border 3\nset tics nomirror\n"
                     "set key outside bottom center horizontal\n");
    if (figure->log_x)
        text_add(script, "set logscale x\nset xrange [%.9g:%.9g]\n", d->x_lo / 1.15, d->x_hi * 1.15);
    else if (d->x_hi > d->x_lo)
        text_add(script, "set xrange [%.9g:%.9g]\n", d->x_lo - 0.03 * (d->x_hi - d->x_lo),
                 d->x_hi + 0.03 * (d->x_hi - d->x_lo));
    if (figure->from_zero)
        text_add(script, "set yrange [0:*]\n");
    if (figure->log_y)
        text_add(script, "set logscale y\nset format y \"%%g\"\n");
    text_add(script, "set offsets 0, 0, graph 0.05, graph 0.05\n");
}

static char *make_script(const struct figure *figure, const char *data)
{
    struct text script = {0};
    add_terminal(&script, "svg size 720,440 dynamic background rgb \"white\" font \"sans,13\"", figure,
                 "svg");
    add_axes(&script, figure);
    text_add(&script, "plot ");
    for (int s = 0; s < figure->data->n; s++)
        add_style(&script, data, figure, s);
    text_add(&script, "\n");
    add_terminal(&script, "pngcairo size 1440,880 background rgb \"white\" font \"sans,20\" linewidth 2",
                 figure, "png");
    text_add(&script, "replot\nset output\n");
    if (script.failed)
        text_free(&script);
    return script.data;
}

static int draw(const struct figure *figure, int *missing, struct dpf_error *error)
{
    char *directory = files_join(figure->outcomes->directory, "plots");
    char *data = memory_format("%s.dat", figure->plot->name),
         *script = memory_format("%s.gp", figure->plot->name);
    char *data_path = directory && data ? files_join(directory, data) : NULL;
    char *script_path = directory && script ? files_join(directory, script) : NULL;
    char *text = data ? make_script(figure, data) : NULL;
    int status = data_path && script_path && text && !figure->data->rows.failed ? 0 : error_memory(error);
    if (status == 0 && files_make_directory(directory, error) == 0 &&
        files_write_text(data_path, figure->data->rows.data, error) == 0 &&
        files_write_text(script_path, text, error) == 0)
        status = gnuplot_run(directory, script, missing, error);
    if (error->fault)
        status = -1;
    free(directory);
    free(data);
    free(script);
    free(data_path);
    free(script_path);
    free(text);
    return status;
}

/* ---- the plots there are --------------------------------------------------------------------------------
 */

struct drawing {
    const struct outcomes *outcomes;
    struct plots *plots;
    int *missing;
    struct dpf_error *error;
};

/* A name of a metric or an axis as part of a file's name: "hr@10" becomes "hr-10". */
static void set_name(struct plot *plot, const char *what, const char *against)
{
    snprintf(plot->name, sizeof plot->name, "%.40s-%.40s", what, against);
    for (char *c = plot->name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '.'))
            *c = '-';
}

static int finish_plot(struct drawing *drawing, struct figure *figure, struct plot *plot,
                       struct plot_data *data)
{
    int status = 0;
    if (data->left_out)
        snprintf(plot->note + strlen(plot->note), sizeof plot->note - strlen(plot->note),
                 "%s%d more series not shown.", *plot->note ? " " : "", data->left_out);
    figure->outcomes = drawing->outcomes;
    figure->plot = plot;
    figure->data = data;
    if (data->points >= 2 && !*drawing->missing)
        status = draw(figure, drawing->missing, drawing->error);
    if (status == 0 && data->points >= 2 && !*drawing->missing) {
        struct plot *grown = memory_grow(drawing->plots->items, &drawing->plots->capacity,
                                         drawing->plots->n + 1, sizeof *grown);
        if (grown) {
            drawing->plots->items = grown;
            grown[drawing->plots->n++] = *plot;
        } else {
            status = error_memory(drawing->error);
        }
    }
    plot_data_free(data);
    return status;
}

static int spans_decades(const struct plot_data *data)
{
    return data->points && data->x_lo > 0 && data->x_hi >= 8 * data->x_lo;
}

static int plot_axis(struct drawing *drawing, size_t axis, const char *metric)
{
    struct plot plot = {.note = "Mean over seeds; bars are one sample standard deviation."};
    struct plot_data data;
    const struct dimension *dimension = &drawing->outcomes->dimensions[axis];
    set_name(&plot, metric, dimension->name);
    snprintf(plot.title, sizeof plot.title, "%s against %s", metric, dimension->name);
    plot_data_axis(drawing->outcomes, axis, outcome_metric, metric, &data);
    struct figure figure = {.x = dimension->key, .y = metric, .log_x = spans_decades(&data)};
    return finish_plot(drawing, &figure, &plot, &data);
}

static int plot_proved(struct drawing *drawing, const char *metric)
{
    struct plot plot = {.note = ""};
    struct plot_data data;
    set_name(&plot, metric, "proved");
    snprintf(plot.title, sizeof plot.title, "%s against the proved epsilon", metric);
    plot_data_proved(drawing->outcomes, metric, &data);
    for (int s = 0; s < data.n; s++)
        if (data.hollow[s])
            snprintf(
                plot.note, sizeof plot.note,
                "Hollow: the guarantee is that of the plan. These runs drew reproducible noise, so what they "
                "released is not protected; a run with secure noise is.");
    struct figure figure = {.x = "proved epsilon", .y = metric, .log_x = spans_decades(&data)};
    return finish_plot(drawing, &figure, &plot, &data);
}

static int plot_rounds(struct drawing *drawing)
{
    struct plot plot = {.name = "rounds",
                        .title = "Training RMSE by round",
                        .note = "Mean over seeds. Private: computed from the training records."};
    struct plot_data data;
    plot_data_rounds(drawing->outcomes, &data);
    struct figure figure = {.x = "round", .y = "training RMSE", .lines = 1};
    return finish_plot(drawing, &figure, &plot, &data);
}

static int plot_noise(struct drawing *drawing, const char *term, const char *block)
{
    struct plot plot = {.note = "One run of each. Private: draws of the last release, made again."};
    struct plot_data data;
    set_name(&plot, "noise", term);
    snprintf(plot.name + strlen(plot.name), sizeof plot.name - strlen(plot.name), "-%s", block);
    snprintf(plot.title, sizeof plot.title, "Noise on the %s coefficients of %s", block, term);
    const int logarithmic = plot_data_noise(drawing->outcomes, term, block, &data);
    data.x_hi /= logarithmic ? 1 : 4; /* of twelve deviations */
    data.x_lo /= logarithmic ? 1 : 4;
    struct figure figure = {.x = logarithmic ? "noise, its upper half" : "noise",
                            .y = "density",
                            .log_x = logarithmic,
                            .log_y = logarithmic,
                            .from_zero = !logarithmic,
                            .lines = 1};
    return finish_plot(drawing, &figure, &plot, &data);
}

static int plot_all_noise(struct drawing *drawing)
{
    static const int32_t kinds[] = {DPF_BLOCK_GRADIENT, DPF_BLOCK_QUADRATIC, DPF_BLOCK_LINEAR,
                                    DPF_BLOCK_COUNT};
    static const char *const terms[] = {"users", "items"};
    int status = 0;
    for (int t = 0; t < 2; t++)
        for (int k = 0; k < 4 && status == 0; k++)
            status = plot_noise(drawing, terms[t], noise_block_name(kinds[k]));
    return status;
}

static double bytes_of(const struct outcome *outcome, const char *name)
{
    (void)name;
    double bytes = outcome_number(outcome, "communication", "bytes_up") +
                   outcome_number(outcome, "communication", "bytes_down");
    return bytes > 0 ? bytes : (double)NAN;
}

static int plot_bytes(struct drawing *drawing, size_t axis)
{
    struct plot plot = {.note = "Sent up and down in the whole run, as the aggregators count them."};
    struct plot_data data;
    const struct dimension *dimension = &drawing->outcomes->dimensions[axis];
    set_name(&plot, "bytes", dimension->name);
    snprintf(plot.title, sizeof plot.title, "Communication against %s", dimension->name);
    plot_data_axis(drawing->outcomes, axis, bytes_of, NULL, &data);
    if (data.y_lo == data.y_hi) { /* nothing that the axis changes */
        plot_data_free(&data);
        return 0;
    }
    struct figure figure = {.x = dimension->key, .y = "bytes", .log_x = spans_decades(&data)};
    return finish_plot(drawing, &figure, &plot, &data);
}

/* A page with more than a few metrics is not read; the tables have all. */
static int is_drawn(const struct outcomes *outcomes, size_t metric)
{
    return metric < 6 || outcome_is_stated(outcomes->metrics[metric]);
}

int plots_draw(const struct outcomes *outcomes, struct plots *out, int *missing, struct dpf_error *error)
{
    *out = (struct plots){0};
    *missing = 0;
    struct drawing drawing = {outcomes, out, missing, error};
    int status = 0, zipped = 0;
    for (size_t d = 0; d < outcomes->n_dimensions && status == 0; d++) {
        const struct dimension *dimension = &outcomes->dimensions[d];
        if ((int)d == outcomes->repetition || !dimension->numeric || !*dimension->key || dimension->n < 2)
            continue;
        /* Zipped axes move together: the first stands for all. */
        if (dimension->zipped && zipped++)
            continue;
        for (size_t m = 0; m < outcomes->n_metrics && status == 0; m++)
            if (is_drawn(outcomes, m))
                status = plot_axis(&drawing, d, outcomes->metrics[m]);
        if (status == 0)
            status = plot_bytes(&drawing, d);
    }
    for (size_t m = 0; m < outcomes->n_metrics && status == 0; m++)
        if (is_drawn(outcomes, m) && !outcome_is_stated(outcomes->metrics[m]))
            status = plot_proved(&drawing, outcomes->metrics[m]);
    if (status == 0)
        status = plot_rounds(&drawing);
    if (status == 0)
        status = plot_all_noise(&drawing);
    if (status != 0)
        plots_free(out);
    return status;
}

void plots_free(struct plots *plots)
{
    free(plots->items);
    *plots = (struct plots){0};
}
