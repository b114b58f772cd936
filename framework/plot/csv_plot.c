/* SPDX-License-Identifier: Apache-2.0 */
#include "plot/csv_plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "plot/plot_files.h"

#define MOST_COLUMNS 8

/* A point of the plot for each line that has the key. */
static int add_points(const struct csv_plot *csv, const char *key, struct plot *plot, struct dpf_error *error)
{
    struct files_lines lines = {0};
    int status = files_open_lines(&lines, csv->path, error);
    for (char *line = status == 0 ? files_next_line(&lines) : NULL; line; line = files_next_line(&lines)) {
        char *fields[MOST_COLUMNS + 1] = {NULL}, *save = NULL;
        double x, y;
        int n = 1;
        for (char *field = strtok_r(line, ",", &save); field && n <= MOST_COLUMNS;
             field = strtok_r(NULL, ",", &save))
            fields[n++] = field;
        if (n <= csv->key || n <= csv->x || n <= csv->y || strcmp(fields[csv->key], key) != 0 ||
            text_to_real(fields[csv->x], &x) != 0 || text_to_real(fields[csv->y], &y) != 0)
            continue;
        if (y >= csv->y_least)
            plot_add(plot, x, y, 0);
    }
    files_close_lines(&lines);
    return status;
}

/* The key of a line, cut out of it; NULL if it has too few fields. */
static char *key_of(char *line, int column)
{
    char *save = NULL, *field = strtok_r(line, ",", &save);
    for (int c = 1; field && c < column; c++)
        field = strtok_r(NULL, ",", &save);
    return field;
}

static int is_known(const struct plot *plot, const char *key)
{
    for (int s = 0; s < plot->n; s++)
        if (strcmp(plot->series[s].label, key) == 0)
            return 1;
    return 0;
}

/* A line of the plot for each key, in the order in which they appear. */
static int read_plot(const struct csv_plot *csv, struct plot *plot, struct dpf_error *error)
{
    struct files_lines lines = {0};
    int status = files_open_lines(&lines, csv->path, error);
    if (status == 0)
        files_next_line(&lines); /* the names of columns */
    for (char *line = status == 0 ? files_next_line(&lines) : NULL; line && status == 0;
         line = files_next_line(&lines)) {
        const char *key = key_of(line, csv->key);
        if (!key || is_known(plot, key) || !plot_begin(plot, memory_text(key)))
            continue;
        status = add_points(csv, key, plot, error);
        plot_end(plot);
    }
    files_close_lines(&lines);
    return status;
}

int csv_plot_draw(const struct csv_plot *csv, int *missing, struct dpf_error *error)
{
    struct plot plot = {.log_y = csv->log_y, .lines = 1, .from_zero = !csv->log_y};
    const char *slash = strrchr(csv->path, '/'), *file = slash ? slash + 1 : csv->path;
    const size_t length = strlen(file);
    const int is_csv = length > 4 && strcmp(file + length - 4, ".csv") == 0;
    char *directory = files_directory(csv->path);
    char *stem = memory_format("%.*s", (int)(is_csv ? length - 4 : length), file);
    snprintf(plot.title, sizeof plot.title, "%s", csv->title);
    snprintf(plot.x_label, sizeof plot.x_label, "%s", csv->x_label);
    snprintf(plot.y_label, sizeof plot.y_label, "%s", csv->y_label);
    *missing = 0;
    int status = directory && stem ? read_plot(csv, &plot, error) : error_memory(error);
    if (status == 0 && plot_points(&plot) > 0)
        status = plot_files_draw(&plot, directory, stem, missing, error);
    plot_free(&plot);
    free(directory);
    free(stem);
    return status;
}
