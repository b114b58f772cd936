/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/plot_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/noise_table.h"
#include "run/training_curve.h"
#include "base/statistics.h"

static void add_row(struct plot *out, double x, const double *values, size_t n)
{
    plot_add(out, x, statistics_mean(values, (int64_t)n), statistics_deviation(values, (int64_t)n));
}

static size_t gather(const struct outcomes *outcomes, const struct cell *cell, plot_number number,
                     const char *name, double *values)
{
    for (size_t r = 0; r < outcomes->n_repetitions; r++)
        values[r] =
            cell->members[r] == SIZE_MAX ? (double)NAN : number(&outcomes->items[cell->members[r]], name);
    return cell_compact(values, outcomes->n_repetitions);
}

/* A reference, from the first x to the last. */
static void add_level(const struct outcomes *outcomes, const struct cell *cell, plot_number number,
                      const char *name, double *values, struct plot *out)
{
    const struct plot_range range = plot_range(out);
    size_t n = gather(outcomes, cell, number, name, values);
    if (!n || plot_points(out) == 0 || !plot_begin(out, cell_label(outcomes, cell, -1)))
        return;
    add_row(out, range.x_lo, values, n);
    if (range.x_hi > range.x_lo)
        add_row(out, range.x_hi, values, n);
}

/* A line begins at its first cell; the others follow along the axis. */
static int is_first(const struct outcomes *outcomes, const struct cell *cell, size_t axis)
{
    for (size_t v = 0; v < cell->at[axis]; v++)
        if (cell_beside(outcomes, cell, axis, v))
            return 0;
    return 1;
}

void plot_data_axis(const struct outcomes *outcomes, size_t axis, plot_number number, const char *name,
                    struct plot *out)
{
    double *values = memory_need(outcomes->n_repetitions, sizeof *values), x;
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        const struct cell *first = &outcomes->cells[c];
        if (first->at[axis] == OUTCOME_NO_VALUE || !is_first(outcomes, first, axis) ||
            !plot_begin(out, cell_label(outcomes, first, (int)axis)))
            continue;
        for (size_t v = 0; v < outcomes->dimensions[axis].n; v++) {
            const struct cell *cell = cell_beside(outcomes, first, axis, v);
            size_t n = cell ? gather(outcomes, cell, number, name, values) : 0;
            if (n && text_to_real(outcomes->dimensions[axis].values[v], &x) == 0)
                add_row(out, x, values, n);
        }
        plot_end(out);
    }
    for (size_t c = 0; c < outcomes->n_cells; c++)
        if (outcomes->cells[c].at[axis] == OUTCOME_NO_VALUE)
            add_level(outcomes, &outcomes->cells[c], number, name, values, out);
    free(values);
}

/* ---- against proved epsilon --------------------------------------------------------------------------- */

/* Series are the values of the first dimension that is not a number, if there is one. */
static int grouping(const struct outcomes *outcomes)
{
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (!outcomes->dimensions[d].repeats &&
            (!outcomes->dimensions[d].numeric || !*outcomes->dimensions[d].key))
            return (int)d;
    return -1;
}

static double proved_of(const struct outcomes *outcomes, const struct cell *cell, int *plan)
{
    double epsilon = (double)NAN;
    int is_plan = 0;
    for (size_t r = 0; r < outcomes->n_repetitions; r++)
        if (cell->members[r] != SIZE_MAX) {
            const double proved = outcome_proved(&outcomes->items[cell->members[r]], &is_plan);
            epsilon = fmax(epsilon, proved); /* ignores NaN */
            *plan |= is_plan;
        }
    return epsilon;
}

static int proved_row(const struct outcomes *outcomes, const struct cell *cell, const char *metric,
                      double *values, struct plot *out)
{
    int plan = 0;
    const double epsilon = proved_of(outcomes, cell, &plan);
    cell_values(outcomes, cell, metric, values);
    size_t n = cell_compact(values, outcomes->n_repetitions);
    if (n && isfinite(epsilon))
        add_row(out, epsilon, values, n);
    return plan;
}

/* Whether the proved epsilon follows the axis anywhere. */
static int changes_epsilon(const struct outcomes *outcomes, size_t axis)
{
    int ignored = 0;
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        const struct cell *cell = &outcomes->cells[c];
        const double here = proved_of(outcomes, cell, &ignored);
        for (size_t v = 0; v < outcomes->dimensions[axis].n && isfinite(here); v++) {
            const struct cell *other = cell_beside(outcomes, cell, axis, v);
            const double there = other ? proved_of(outcomes, other, &ignored) : (double)NAN;
            if (isfinite(there) && fabs(there - here) > 1e-6 * fabs(here))
                return 1;
        }
    }
    return 0;
}

/* The first axis of numbers along which the proved epsilon changes: lines follow it. -1: none. */
static int axis_of_epsilon(const struct outcomes *outcomes)
{
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (!outcomes->dimensions[d].repeats && outcomes->dimensions[d].numeric &&
            *outcomes->dimensions[d].key && changes_epsilon(outcomes, d))
            return (int)d;
    return -1;
}

/* The name of the line that a cell is on. Free it. */
static char *proved_label(const struct outcomes *outcomes, const struct cell *cell, int axis, int by)
{
    char *label = axis >= 0 ? cell_label(outcomes, cell, axis)
                  : by >= 0 ? memory_text(dimension_value(&outcomes->dimensions[by], cell->at[by], "all"))
                            : NULL;
    if (label && *label)
        return label;
    free(label);
    return memory_text("all");
}

static int is_begun(const struct plot *plot, const char *label)
{
    for (int s = 0; s < plot->n; s++)
        if (strcmp(plot->series[s].label, label) == 0)
            return 1;
    return 0;
}

void plot_data_proved(const struct outcomes *outcomes, const char *metric, struct plot *out)
{
    const int axis = axis_of_epsilon(outcomes), by = grouping(outcomes);
    double *values = memory_need(outcomes->n_repetitions, sizeof *values);
    char **labels = memory_need(outcomes->n_cells + 1, sizeof *labels);
    for (size_t c = 0; c < outcomes->n_cells; c++)
        labels[c] = proved_label(outcomes, &outcomes->cells[c], axis, by);
    for (size_t first = 0; first < outcomes->n_cells; first++) {
        if (!labels[first] || is_begun(out, labels[first]) || !plot_begin(out, memory_text(labels[first])))
            continue;
        int plan = 0;
        for (size_t c = first; c < outcomes->n_cells; c++)
            if (labels[c] && strcmp(labels[c], labels[first]) == 0)
                plan |= proved_row(outcomes, &outcomes->cells[c], metric, values, out);
        out->series[out->n - 1].hollow = plan;
        plot_end(out);
    }
    plot_sort(out);
    for (size_t c = 0; c < outcomes->n_cells; c++)
        free(labels[c]);
    free(labels);
    free(values);
}

/* ---- against rounds ----------------------------------------------------------------------------------- */

/* The curve of a point, into every stride-th of values; how many rounds it has. */
static size_t add_rounds(const struct outcomes *outcomes, const struct outcome *outcome, double *values,
                         size_t most, size_t stride)
{
    char *path = memory_format("%s/points/%s/private/metrics.csv", outcomes->directory, outcome->name);
    double *curve = memory_new(most, sizeof *curve);
    const size_t rounds = path && curve && outcome->run ? training_curve_read(path, curve, most) : 0;
    for (size_t i = 0; i < rounds; i++)
        values[i * stride] = curve[i];
    free(curve);
    free(path);
    return rounds;
}

void plot_data_rounds(const struct outcomes *outcomes, struct plot *out)
{
    enum { MOST = 2000 };
    size_t stride = outcomes->n_repetitions;
    double *values = memory_need(MOST * stride, sizeof *values);
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        size_t rounds = 0;
        if (!plot_begin(out, cell_label(outcomes, &outcomes->cells[c], -1)))
            continue;
        for (size_t i = 0; i < MOST * stride; i++)
            values[i] = (double)NAN;
        for (size_t r = 0; r < stride; r++) {
            size_t member = outcomes->cells[c].members[r];
            size_t last = member == SIZE_MAX
                              ? 0
                              : add_rounds(outcomes, &outcomes->items[member], values + r, MOST, stride);
            rounds = last > rounds ? last : rounds;
        }
        for (size_t i = 0; i < rounds; i++) {
            size_t n = cell_compact(values + i * stride, stride);
            if (n)
                add_row(out, (double)(i + 1), values + i * stride, n);
        }
        plot_end(out);
    }
    free(values);
}

/* ---- noise -------------------------------------------------------------------------------------------- */

#define SPREAD 20       /* the widest series in terms of the narrowest, from which on logarithms are shown */
#define HALF_SHOWN 0.25 /* of the twelve deviations that are counted */

static FILE *open_noise(const struct outcomes *outcomes, const struct outcome *outcome)
{
    char *path = memory_format("%s/points/%s/private/noise.csv", outcomes->directory, outcome->name);
    FILE *stream = fopen(path, "r");
    free(path);
    return stream;
}

static int is_known(const struct noise_source *sources, size_t n, const struct noise_source *source)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(sources[i].term, source->term) == 0 && strcmp(sources[i].block, source->block) == 0)
            return 1;
    return 0;
}

static void add_sources(FILE *stream, struct noise_source **sources, size_t *n, size_t *capacity)
{
    char line[512];
    struct noise_source source;
    while (fgets(line, sizeof line, stream)) {
        if (!noise_table_source(line, source.term, sizeof source.term, source.block, sizeof source.block) ||
            is_known(*sources, *n, &source))
            continue;
        struct noise_source *grown = memory_grow(*sources, capacity, *n + 1, sizeof *grown);
        if (!grown)
            return;
        *sources = grown;
        grown[(*n)++] = source;
    }
}

size_t plot_data_noise_sources(const struct outcomes *outcomes, struct noise_source **out)
{
    size_t n = 0, capacity = 0;
    *out = NULL;
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        const struct outcome *outcome = cell_first_run(outcomes, &outcomes->cells[c]);
        FILE *stream = outcome ? open_noise(outcomes, outcome) : NULL;
        if (stream) {
            add_sources(stream, out, &n, &capacity);
            fclose(stream);
        }
    }
    return n;
}

/* The densities of a run; the middle of what was counted, or the upper half of it for logarithms. */
static void add_densities(const struct outcomes *outcomes, const struct outcome *outcome,
                          const struct noise_source *source, double most, struct plot *out)
{
    FILE *stream = open_noise(outcomes, outcome);
    char line[512];
    double value, density;
    while (stream && fgets(line, sizeof line, stream))
        if (noise_table_read(line, source->term, source->block, &value, &density) &&
            (out->log_x ? value > 0 && density > 0 : fabs(value) <= most))
            plot_add(out, value, density, 0);
    if (stream)
        fclose(stream);
}

/* The largest value that a run counted. */
static double extent(const struct outcomes *outcomes, const struct outcome *outcome,
                     const struct noise_source *source)
{
    FILE *stream = open_noise(outcomes, outcome);
    char line[512];
    double value, density, largest = 0;
    while (stream && fgets(line, sizeof line, stream))
        if (noise_table_read(line, source->term, source->block, &value, &density))
            largest = fmax(largest, value);
    if (stream)
        fclose(stream);
    return largest;
}

void plot_data_noise(const struct outcomes *outcomes, const struct noise_source *source, struct plot *out)
{
    double widest = 0, narrowest = INFINITY;
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        const struct outcome *outcome = cell_first_run(outcomes, &outcomes->cells[c]);
        const double largest = outcome ? extent(outcomes, outcome, source) : 0;
        widest = fmax(widest, largest);
        narrowest = largest > 0 ? fmin(narrowest, largest) : narrowest;
    }
    out->log_x = out->log_y = widest > SPREAD * narrowest;
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        const struct outcome *outcome = cell_first_run(outcomes, &outcomes->cells[c]);
        if (!outcome || extent(outcomes, outcome, source) <= 0 ||
            !plot_begin(out, cell_label(outcomes, &outcomes->cells[c], -1)))
            continue;
        add_densities(outcomes, outcome, source, HALF_SHOWN * widest, out);
        plot_end(out);
    }
}
