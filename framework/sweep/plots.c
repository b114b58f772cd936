/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/ticker.h"
#include "plot/plot_files.h"
#include "sweep/plot_data.h"

#define MOST_METRICS 6 /* a page with more than a few is not read; the tables have all */

/* ---- which are kept ------------------------------------------------------------------------------------ */

static int is_drawn_already(const struct plots *plots, const struct plot *plot)
{
    for (size_t i = 0; i < plots->n; i++)
        if (strcmp(plots->items[i].y_label, plot->y_label) == 0 && plot_is_part(plot, &plots->items[i]))
            return 1;
    return 0;
}

/* Takes the plot over, or frees it if there is nothing to see in it. */
static void keep(struct plots *plots, struct plot *plot)
{
    if (plot_points(plot) < 2 || plot_is_identity(plot) || is_drawn_already(plots, plot)) {
        plot_free(plot);
        return;
    }
    plots->items = memory_need_grow(plots->items, &plots->capacity, plots->n + 1, sizeof *plots->items);
    plots->items[plots->n++] = *plot;
}

/* ---- the plots there are ------------------------------------------------------------------------------- */

static void set_labels(struct plot *plot, const char *x, const char *y)
{
    snprintf(plot->x_label, sizeof plot->x_label, "%s", x);
    snprintf(plot->y_label, sizeof plot->y_label, "%s", y);
}

static void add_axis(struct plots *plots, const struct outcomes *outcomes, size_t axis, const char *metric)
{
    struct plot plot = {.n = 0};
    const struct dimension *dimension = &outcomes->dimensions[axis];
    plot_name(&plot, metric, dimension->name);
    snprintf(plot.title, sizeof plot.title, "%s against %s", metric, dimension->name);
    if (outcomes->n_repetitions > 1 && !outcome_is_stated(metric))
        snprintf(plot.note, sizeof plot.note, "Mean over seeds; bars are one sample standard deviation.");
    set_labels(&plot, dimension->key, metric);
    plot_data_axis(outcomes, axis, outcome_metric, metric, &plot);
    plot.log_x = plot_spans_decades(&plot);
    if (outcome_is_stated(metric) && plot_is_constant(&plot)) {
        plot_free(&plot);
        return;
    }
    keep(plots, &plot);
}

static void add_proved(struct plots *plots, const struct outcomes *outcomes, const char *metric)
{
    struct plot plot = {.n = 0};
    plot_name(&plot, metric, "proved");
    snprintf(plot.title, sizeof plot.title, "%s against the proved epsilon", metric);
    set_labels(&plot, "proved epsilon", metric);
    plot_data_proved(outcomes, metric, &plot);
    for (int s = 0; s < plot.n; s++)
        if (plot.series[s].hollow)
            snprintf(plot.note, sizeof plot.note,
                     "Hollow: the guarantee is that of the plan. These runs drew reproducible noise, so what "
                     "they released is not protected; a run with secure noise is.");
    plot.log_x = plot_spans_decades(&plot);
    keep(plots, &plot);
}

static void add_rounds(struct plots *plots, const struct outcomes *outcomes)
{
    struct plot plot = {.name = "rounds",
                        .title = "Training RMSE by round",
                        .note = "Mean over seeds. Private: computed from the training records.",
                        .lines = 1};
    set_labels(&plot, "round", "training RMSE");
    plot_data_rounds(outcomes, &plot);
    keep(plots, &plot);
}

static void add_noise(struct plots *plots, const struct outcomes *outcomes, const struct noise_source *source)
{
    struct plot plot = {.note = "One run of each. Private: draws of the last release, made again.",
                        .lines = 1};
    char name[128];
    snprintf(name, sizeof name, "%s-%s", source->term, source->block);
    plot_name(&plot, "noise", name);
    snprintf(plot.title, sizeof plot.title, "Noise on the %s coefficients of %s", source->block,
             source->term);
    plot_data_noise(outcomes, source, &plot);
    plot.from_zero = !plot.log_y;
    set_labels(&plot, plot.log_x ? "noise, its upper half" : "noise", "density");
    keep(plots, &plot);
}

static void add_all_noise(struct plots *plots, const struct outcomes *outcomes)
{
    struct noise_source *sources;
    const size_t n = plot_data_noise_sources(outcomes, &sources);
    for (size_t i = 0; i < n; i++)
        add_noise(plots, outcomes, &sources[i]);
    free(sources);
}

static double bytes_of(const struct outcome *outcome, const char *name)
{
    (void)name;
    double bytes = outcome_number(outcome, "communication", "bytes_up") +
                   outcome_number(outcome, "communication", "bytes_down");
    return bytes > 0 ? bytes : (double)NAN;
}

static void add_bytes(struct plots *plots, const struct outcomes *outcomes, size_t axis)
{
    struct plot plot = {.note = "Sent up and down in the whole run, as the aggregators count them."};
    const struct dimension *dimension = &outcomes->dimensions[axis];
    plot_name(&plot, "bytes", dimension->name);
    snprintf(plot.title, sizeof plot.title, "Communication against %s", dimension->name);
    set_labels(&plot, dimension->key, "bytes");
    plot_data_axis(outcomes, axis, bytes_of, NULL, &plot);
    plot.log_x = plot_spans_decades(&plot);
    if (plot_is_constant(&plot))
        plot_free(&plot);
    else
        keep(plots, &plot);
}

static int is_drawn(const struct outcomes *outcomes, size_t metric)
{
    return metric < MOST_METRICS || outcome_is_stated(outcomes->metrics[metric]);
}

static void add_axes(struct plots *plots, const struct outcomes *outcomes)
{
    int zipped = 0;
    for (size_t d = 0; d < outcomes->n_dimensions; d++) {
        const struct dimension *dimension = &outcomes->dimensions[d];
        if (outcomes->dimensions[d].repeats || !dimension->numeric || !*dimension->key || dimension->n < 2)
            continue;
        /* Zipped axes move together: the first stands for all. */
        if (dimension->zipped && zipped++)
            continue;
        for (size_t m = 0; m < outcomes->n_metrics; m++)
            if (is_drawn(outcomes, m))
                add_axis(plots, outcomes, d, outcomes->metrics[m]);
        add_bytes(plots, outcomes, d);
    }
}

void plots_make(const struct outcomes *outcomes, struct plots *out)
{
    *out = (struct plots){0};
    add_axes(out, outcomes);
    for (size_t m = 0; m < outcomes->n_metrics; m++)
        if (is_drawn(outcomes, m) && !outcome_is_stated(outcomes->metrics[m]))
            add_proved(out, outcomes, outcomes->metrics[m]);
    add_rounds(out, outcomes);
    add_all_noise(out, outcomes);
}

int plots_draw(const struct plots *plots, const char *directory, int *missing, struct dpf_error *error)
{
    char *inside = files_join(directory, "plots");
    int status = 0;
    *missing = 0;
    if (plots->n)
        status = files_make_directory(inside, error);
    ticker_begin("drawing plots", (int64_t)plots->n);
    for (size_t i = 0; i < plots->n && status == 0 && !*missing; i++) {
        ticker_add(1);
        status = interrupt_check("plots were drawn", error);
        if (status == 0)
            status = plot_files_draw(&plots->items[i], inside, plots->items[i].name, missing, error);
    }
    ticker_end();
    free(inside);
    return status;
}

void plots_free(struct plots *plots)
{
    for (size_t i = 0; i < plots->n; i++)
        plot_free(&plots->items[i]);
    free(plots->items);
    *plots = (struct plots){0};
}
