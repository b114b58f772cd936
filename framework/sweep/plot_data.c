/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/plot_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/noise_table.h"
#include "base/statistics.h"

void plot_data_free(struct plot_data *data)
{
    for (int s = 0; s < data->n; s++)
        free(data->labels[s]);
    text_free(&data->rows);
}

static void add_row(struct plot_data *out, double x, const double *values, size_t n)
{
    char a[32], b[32], c[32];
    double deviation = statistics_deviation(values, (int64_t)n), y = statistics_mean(values, (int64_t)n);
    text_add(&out->rows, "%s %s %s\n", text_from_real(x, a), text_from_real(y, b),
             text_from_real(isnan(deviation) ? 0 : deviation, c));
    out->x_lo = out->points ? fmin(out->x_lo, x) : x;
    out->x_hi = out->points ? fmax(out->x_hi, x) : x;
    out->y_lo = out->points ? fmin(out->y_lo, y) : y;
    out->y_hi = out->points ? fmax(out->y_hi, y) : y;
    out->points++;
}

/* 1 if there is room for one more. label is taken over. */
static int begin_series(struct plot_data *out, char *label)
{
    if (out->n == PLOT_MAX_SERIES || !label) {
        out->left_out += label != NULL;
        free(label);
        return 0;
    }
    text_add(&out->rows, "%s", out->n ? "\n\n" : "");
    out->hollow[out->n] = 0;
    out->labels[out->n++] = label;
    return 1;
}

/* Takes back a series without rows. */
static void end_series(struct plot_data *out, size_t rows_before, size_t length_before)
{
    if (out->points != rows_before)
        return;
    out->rows.length = length_before;
    if (out->rows.data)
        out->rows.data[length_before] = '\0';
    free(out->labels[--out->n]);
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
                      const char *name, double *values, struct plot_data *out)
{
    double lo = out->x_lo, hi = out->x_hi;
    size_t n = gather(outcomes, cell, number, name, values);
    if (!n || !out->points || !begin_series(out, cell_label(outcomes, cell, -1)))
        return;
    add_row(out, lo, values, n);
    add_row(out, hi, values, n);
}

void plot_data_axis(const struct outcomes *outcomes, size_t axis, plot_number number, const char *name,
                    struct plot_data *out)
{
    *out = (struct plot_data){0};
    double *values = memory_new(outcomes->n_repetitions, sizeof *values), x;
    for (size_t c = 0; c < outcomes->n_cells && values; c++) {
        const struct cell *first = &outcomes->cells[c];
        if (first->at[axis] == OUTCOME_NO_VALUE)
            continue;
        /* A line begins at its first cell; the others follow along the axis. */
        int begun = 0;
        for (size_t v = 0; v < first->at[axis] && !begun; v++)
            begun = cell_beside(outcomes, first, axis, v) != NULL;
        size_t points = out->points, length = out->rows.length;
        if (begun || !begin_series(out, cell_label(outcomes, first, (int)axis)))
            continue;
        for (size_t v = 0; v < outcomes->dimensions[axis].n; v++) {
            const struct cell *cell = cell_beside(outcomes, first, axis, v);
            size_t n = cell ? gather(outcomes, cell, number, name, values) : 0;
            if (n && text_to_real(outcomes->dimensions[axis].values[v], &x) == 0)
                add_row(out, x, values, n);
        }
        end_series(out, points, length);
    }
    for (size_t c = 0; c < outcomes->n_cells && values; c++)
        if (outcomes->cells[c].at[axis] == OUTCOME_NO_VALUE)
            add_level(outcomes, &outcomes->cells[c], number, name, values, out);
    free(values);
}

/* ---- against proved epsilon --------------------------------------------------------------------------- */

/* Series are the values of the first dimension that is no number, if there is one. */
static int grouping(const struct outcomes *outcomes)
{
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if ((int)d != outcomes->repetition &&
            (!outcomes->dimensions[d].numeric || !*outcomes->dimensions[d].key))
            return (int)d;
    return -1;
}

static int proved_row(const struct outcomes *outcomes, const struct cell *cell, const char *metric,
                      double *values, struct plot_data *out)
{
    double epsilon = (double)NAN;
    int plan = 0, is_plan = 0;
    for (size_t r = 0; r < outcomes->n_repetitions; r++)
        if (cell->members[r] != SIZE_MAX) {
            double proved = outcome_proved(&outcomes->items[cell->members[r]], &is_plan);
            epsilon = fmax(epsilon, proved); /* ignores NaN */
            plan |= is_plan;
        }
    cell_values(outcomes, cell, metric, values);
    size_t n = cell_compact(values, outcomes->n_repetitions);
    if (n && isfinite(epsilon))
        add_row(out, epsilon, values, n);
    return plan;
}

void plot_data_proved(const struct outcomes *outcomes, const char *metric, struct plot_data *out)
{
    *out = (struct plot_data){0};
    int by = grouping(outcomes);
    size_t n = by >= 0 ? outcomes->dimensions[by].n : 1;
    double *values = memory_new(outcomes->n_repetitions, sizeof *values);
    for (size_t v = 0; v < n && values; v++) {
        size_t points = out->points, length = out->rows.length;
        if (!begin_series(out, memory_text(by >= 0 ? outcomes->dimensions[by].values[v] : "all")))
            continue;
        int plan = 0;
        for (size_t c = 0; c < outcomes->n_cells; c++)
            if (by < 0 || outcomes->cells[c].at[by] == v)
                plan |= proved_row(outcomes, &outcomes->cells[c], metric, values, out);
        out->hollow[out->n - 1] = plan;
        end_series(out, points, length);
    }
    free(values);
}

/* ---- against rounds ----------------------------------------------------------------------------------- */

/* Adds the rounds of a point's metrics.csv ("train,ROUND,rmse,VALUE,N") to the sums; returns the last round.
 */
static size_t add_rounds(const struct outcomes *outcomes, const struct outcome *outcome, double *values,
                         size_t most, size_t stride)
{
    char *path = memory_format("%s/points/%s/private/metrics.csv", outcomes->directory, outcome->name);
    FILE *stream = path && outcome->run ? fopen(path, "r") : NULL;
    char line[256];
    size_t last = 0;
    while (stream && fgets(line, sizeof line, stream)) {
        char *save = NULL, *part = strtok_r(line, ",", &save), *round = strtok_r(NULL, ",", &save),
             *metric = strtok_r(NULL, ",", &save), *value = strtok_r(NULL, ",", &save);
        int64_t number;
        double rmse;
        if (!value || strcmp(part, "train") != 0 || strcmp(metric, "rmse") != 0 ||
            text_to_int(round, &number) != 0 || number < 1 || (size_t)number > most ||
            text_to_real(value, &rmse) != 0)
            continue;
        values[((size_t)number - 1) * stride] = rmse;
        last = (size_t)number > last ? (size_t)number : last;
    }
    if (stream)
        fclose(stream);
    free(path);
    return last;
}

void plot_data_rounds(const struct outcomes *outcomes, struct plot_data *out)
{
    enum { MOST = 2000 };
    size_t stride = outcomes->n_repetitions;
    *out = (struct plot_data){0};
    double *values = memory_new(MOST * stride, sizeof *values);
    for (size_t c = 0; c < outcomes->n_cells && values; c++) {
        size_t rounds = 0, points = out->points, length = out->rows.length;
        if (!begin_series(out, cell_label(outcomes, &outcomes->cells[c], -1)))
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
        end_series(out, points, length);
    }
    free(values);
}

/* ---- noise -------------------------------------------------------------------------------------------- */

static void add_densities(const struct outcomes *outcomes, const struct outcome *outcome, const char *term,
                          const char *block, int positive, struct plot_data *out)
{
    char *path = memory_format("%s/points/%s/private/noise.csv", outcomes->directory, outcome->name);
    FILE *stream = path && outcome->run ? fopen(path, "r") : NULL;
    char line[512];
    double value, density;
    while (stream && fgets(line, sizeof line, stream))
        if (noise_table_read(line, term, block, &value, &density) &&
            (!positive || (value > 0 && density > 0)))
            add_row(out, value, &density, 1);
    if (stream)
        fclose(stream);
    free(path);
}

/* All cells, or those values above 0 that have a logarithm. *spread: the widest series in terms of the
 * narrowest. */
static void add_noise(const struct outcomes *outcomes, const char *term, const char *block, int positive,
                      struct plot_data *out, double *spread)
{
    double widest = 0, narrowest = INFINITY;
    *out = (struct plot_data){0};
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        size_t points = out->points, length = out->rows.length, r = 0;
        const struct cell *cell = &outcomes->cells[c];
        while (r < outcomes->n_repetitions && cell->members[r] == SIZE_MAX)
            r++;
        if (r == outcomes->n_repetitions || !begin_series(out, cell_label(outcomes, cell, -1)))
            continue;
        struct plot_data before = *out;
        out->points = 0; /* the limits of this series alone */
        add_densities(outcomes, &outcomes->items[cell->members[r]], term, block, positive, out);
        if (out->points) {
            widest = fmax(widest, out->x_hi);
            narrowest = fmin(narrowest, out->x_hi);
        }
        if (before.points && out->points) {
            out->x_lo = fmin(out->x_lo, before.x_lo);
            out->x_hi = fmax(out->x_hi, before.x_hi);
        }
        out->points += points;
        end_series(out, points, length);
    }
    *spread = widest / narrowest;
}

int plot_data_noise(const struct outcomes *outcomes, const char *term, const char *block,
                    struct plot_data *out)
{
    double spread;
    add_noise(outcomes, term, block, 0, out, &spread);
    if (!(spread > 20))
        return 0;
    plot_data_free(out);
    add_noise(outcomes, term, block, 1, out, &spread);
    return 1;
}
