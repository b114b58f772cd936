/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/outcomes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "run/accounts.h"

#define SWEEP_FORMAT 1

/* ---- reading ------------------------------------------------------------------------------------------ */

static int damaged(const struct outcomes *outcomes, struct dpf_error *error, const char *what)
{
    return error_set(error, DPF_FAULT_DATA, "%s/sweep.json: %s; is this the directory of a sweep?",
                     outcomes->directory, what);
}

static int read_dimension(struct outcomes *outcomes, const json_t *json, struct dimension *out,
                          struct dpf_error *error)
{
    out->name = json_string_value(json_object_get(json, "name"));
    out->key = json_string_value(json_object_get(json, "key"));
    const json_t *values = json_object_get(json, "values");
    if (!out->name || !out->key || !json_array_size(values))
        return damaged(outcomes, error, "a dimension lacks its name or its values");
    out->n = json_array_size(values);
    out->values = memory_need(out->n, sizeof *out->values);
    out->zipped = json_is_true(json_object_get(json, "zipped"));
    out->numeric = 1;
    for (size_t v = 0; v < out->n; v++) {
        double number;
        out->values[v] = json_string_value(json_array_get(values, v));
        if (!out->values[v])
            return damaged(outcomes, error, "a value is not a text");
        out->numeric &= text_to_real(out->values[v], &number) == 0 && isfinite(number);
    }
    return 0;
}

static int read_dimensions(struct outcomes *outcomes, struct dpf_error *error)
{
    const json_t *array = json_object_get(outcomes->sweep, "dimensions");
    size_t n = json_array_size(array);
    outcomes->dimensions = memory_need(n + 1, sizeof *outcomes->dimensions);
    outcomes->n_repetitions = 1;
    for (size_t d = 0; d < n; d++) {
        const json_t *json = json_array_get(array, d);
        struct dimension *dimension = &outcomes->dimensions[outcomes->n_dimensions++];
        if (read_dimension(outcomes, json, dimension, error) != 0)
            return -1;
        dimension->repeats = json_is_true(json_object_get(json, "repetition"));
        if (dimension->repeats &&
            __builtin_mul_overflow(outcomes->n_repetitions, dimension->n, &outcomes->n_repetitions))
            return damaged(outcomes, error, "it has too many repetitions");
    }
    return 0;
}

static json_t *load_part(const char *directory, const char *part, const char *name, const char *ending)
{
    json_error_t problem;
    char *path = memory_format("%s/%s/%s%s", directory, part, name, ending);
    json_t *json = json_load_file(path, 0, &problem);
    free(path);
    return json;
}

/* What a prepared sweep was made from decides: results of an earlier configuration are not its results. */
static int is_done(const struct outcomes *outcomes, const struct outcome *outcome)
{
    const char *status = json_string_value(json_object_get(outcome->state, "status"));
    const char *of = json_string_value(json_object_get(outcome->state, "fingerprint"));
    const json_t *all = json_object_get(outcomes->sweep, "fingerprints");
    const char *wanted = json_string_value(json_object_get(all, outcome->name));
    return status && strcmp(status, "done") == 0 && (!all || (wanted && of && strcmp(wanted, of) == 0));
}

/* Values that move together have one index; a value may stand in a list more than once. */
static int zipped_fits(const struct outcomes *outcomes, const json_t *values, size_t v)
{
    for (size_t d = 0; d < outcomes->n_dimensions; d++) {
        const struct dimension *dimension = &outcomes->dimensions[d];
        const char *value = json_string_value(json_array_get(values, d));
        if (dimension->zipped && value && (v >= dimension->n || strcmp(dimension->values[v], value) != 0))
            return 0;
    }
    return 1;
}

static int read_point(struct outcomes *outcomes, const json_t *json, struct outcome *out,
                      struct dpf_error *error)
{
    out->spec = json;
    out->name = json_string_value(json_object_get(json, "name"));
    const json_t *values = json_object_get(json, "values");
    if (!out->name || strchr(out->name, '/') || json_array_size(values) != outcomes->n_dimensions)
        return damaged(outcomes, error, "a point lacks its name or has other dimensions");
    out->at = memory_need(outcomes->n_dimensions + 1, sizeof *out->at);
    for (size_t d = 0; d < outcomes->n_dimensions; d++) {
        const struct dimension *dimension = &outcomes->dimensions[d];
        const char *value = json_string_value(json_array_get(values, d));
        size_t v = 0;
        if (json_is_null(json_array_get(values, d)) && *dimension->key && !dimension->repeats) {
            out->at[d] = OUTCOME_NO_VALUE;
            continue;
        }
        while (value && v < dimension->n &&
               (strcmp(dimension->values[v], value) != 0 ||
                (dimension->zipped && !zipped_fits(outcomes, values, v))))
            v++;
        if (!value || v == dimension->n)
            return damaged(outcomes, error, "a point has a value that its dimension lacks");
        out->at[d] = v;
    }
    out->state = load_part(outcomes->directory, "state", out->name, ".json");
    if (is_done(outcomes, out))
        out->run = load_part(outcomes->directory, "points", out->name, "/run.json");
    outcomes->n_done += out->run != NULL;
    return 0;
}

static int read_points(struct outcomes *outcomes, struct dpf_error *error)
{
    const json_t *array = json_object_get(outcomes->sweep, "points");
    size_t n = json_array_size(array);
    outcomes->items = memory_need(n + 1, sizeof *outcomes->items);
    for (size_t i = 0; i < n; i++)
        if (read_point(outcomes, json_array_get(array, i), &outcomes->items[outcomes->n++], error) != 0)
            return -1;
    return n ? 0 : damaged(outcomes, error, "it does not list points");
}

/* ---- cells -------------------------------------------------------------------------------------------- */

static int same_cell(const struct outcomes *outcomes, const size_t *a, const size_t *b)
{
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (!outcomes->dimensions[d].repeats && a[d] != b[d])
            return 0;
    return 1;
}

static size_t repetition_of(const struct outcomes *outcomes, const struct outcome *outcome)
{
    size_t index = 0;
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (outcomes->dimensions[d].repeats)
            index = index * outcomes->dimensions[d].n + outcome->at[d];
    return index;
}

static void add_to_cell(struct outcomes *outcomes, size_t index)
{
    const struct outcome *outcome = &outcomes->items[index];
    /* Points of a cell follow each other, so the search starts at the last one. */
    size_t c = outcomes->n_cells;
    while (c > 0 && !same_cell(outcomes, outcomes->cells[c - 1].at, outcome->at))
        c--;
    struct cell *cell = c ? &outcomes->cells[c - 1] : &outcomes->cells[outcomes->n_cells];
    if (c == 0) {
        cell->at = outcome->at;
        cell->members = memory_need(outcomes->n_repetitions, sizeof *cell->members);
        for (size_t r = 0; r < outcomes->n_repetitions; r++)
            cell->members[r] = SIZE_MAX;
        outcomes->n_cells++;
    }
    cell->members[repetition_of(outcomes, outcome)] = index;
}

static void make_cells(struct outcomes *outcomes)
{
    outcomes->cells = memory_need(outcomes->n, sizeof *outcomes->cells);
    for (size_t i = 0; i < outcomes->n; i++)
        add_to_cell(outcomes, i);
}

/* ---- metrics ------------------------------------------------------------------------------------------ */

/* Numbers of records and users that averages leave out are not results. */
static int is_count(const char *name)
{
    return strstr(name, "cold-records") || strstr(name, "users-");
}

static void add_metric(struct outcomes *outcomes, const char *name)
{
    for (size_t m = 0; m < outcomes->n_metrics; m++)
        if (strcmp(outcomes->metrics[m], name) == 0)
            return;
    size_t capacity = outcomes->n_metrics;
    outcomes->metrics =
        memory_need_grow(outcomes->metrics, &capacity, capacity + 1, sizeof *outcomes->metrics);
    outcomes->metrics[outcomes->n_metrics++] = name;
}

/* Adds the metrics of all runs, in the order of the runs: of tests, or of training. */
static void add_run_metrics(struct outcomes *outcomes, int training)
{
    for (size_t p = 0; p < outcomes->n; p++) {
        const char *name;
        json_t *value;
        json_object_foreach(json_object_get(outcomes->items[p].run, "metrics"), name, value)
        {
            int trained = strncmp(name, "train-", 6) == 0;
            if (!is_count(name) && trained == training)
                add_metric(outcomes, name);
        }
    }
}

static void add_guarantees(struct outcomes *outcomes)
{
    static const char *const names[] = {OUTCOME_PUBLISHED, OUTCOME_PROVED};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (size_t p = 0; p < outcomes->n; p++)
            if (!isnan(outcome_metric(&outcomes->items[p], names[i])))
                add_metric(outcomes, names[i]);
}

/* A misspelt name would only be an empty column at the end of a long sweep. */
static void warn_of_absent(const struct outcomes *outcomes)
{
    for (size_t m = 0; m < outcomes->n_metrics && outcomes->n_done; m++) {
        char shown[TEXT_SHOWN];
        int found = outcome_is_stated(outcomes->metrics[m]); /* nothing may be proved */
        for (size_t p = 0; p < outcomes->n && !found; p++)
            found =
                outcomes->items[p].run && !isnan(outcome_metric(&outcomes->items[p], outcomes->metrics[m]));
        if (!found)
            log_message(
                LOG_LEVEL_WARNING,
                "[sweep] metrics: no point has a metric \"%s\"; correct the list, and --resume writes the "
                "tables again without running anything",
                text_show(outcomes->metrics[m], shown));
    }
}

/* Those that the design names, else all test metrics that some run has, or else training metrics; then the
   epsilons. */
static void choose_metrics(struct outcomes *outcomes)
{
    const json_t *named = json_object_get(outcomes->sweep, "metrics");
    size_t i;
    json_t *value;
    json_array_foreach(named, i, value)
    {
        if (json_is_string(value))
            add_metric(outcomes, json_string_value(value));
    }
    warn_of_absent(outcomes);
    for (int training = 0; training < 2 && !outcomes->n_metrics; training++)
        add_run_metrics(outcomes, training);
    add_guarantees(outcomes);
}

int outcomes_read(const char *directory, struct outcomes *out, struct dpf_error *error)
{
    json_error_t problem;
    *out = (struct outcomes){.directory = memory_text(directory)};
    char *path = files_join(directory, "sweep.json");
    int status = 0;
    out->sweep = json_load_file(path, 0, &problem);
    if (!out->sweep)
        status = error_set(error, DPF_FAULT_CONFIG, "%s: %s; name the output directory of a sweep", path,
                           problem.text);
    free(path);
    if (status == 0 && json_integer_value(json_object_get(out->sweep, "format")) != SWEEP_FORMAT)
        status = damaged(out, error, "an unknown format");
    if (status == 0)
        status = read_dimensions(out, error);
    if (status == 0)
        status = read_points(out, error);
    if (status == 0)
        make_cells(out);
    if (status == 0)
        choose_metrics(out);
    if (status != 0)
        outcomes_free(out);
    return status;
}

void outcomes_free(struct outcomes *outcomes)
{
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        free(outcomes->dimensions[d].values);
    for (size_t i = 0; i < outcomes->n; i++) {
        free(outcomes->items[i].at);
        json_decref(outcomes->items[i].state);
        json_decref(outcomes->items[i].run);
    }
    for (size_t c = 0; c < outcomes->n_cells; c++)
        free(outcomes->cells[c].members);
    free(outcomes->dimensions);
    free(outcomes->items);
    free(outcomes->cells);
    free(outcomes->metrics);
    json_decref(outcomes->sweep);
    free(outcomes->directory);
    *outcomes = (struct outcomes){0};
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

static double number_of(const json_t *json)
{
    return json_is_number(json) ? json_number_value(json) : (double)NAN;
}

int outcome_is_stated(const char *metric)
{
    return strcmp(metric, OUTCOME_PUBLISHED) == 0 || strcmp(metric, OUTCOME_PROVED) == 0 ||
           strcmp(metric, OUTCOME_BYTES_UP) == 0 || strcmp(metric, OUTCOME_BYTES_DOWN) == 0 ||
           strcmp(metric, OUTCOME_ROUNDS) == 0 || strcmp(metric, OUTCOME_SPENT) == 0;
}

static double least_epsilon(const struct outcome *outcome, const char *side, int *plan)
{
    return least_account(json_object_get(outcome->run, "guarantee"), side, plan);
}

/* The mean of what a component has measured: "model.recommender.directions". */
static double measured(const struct outcome *outcome, const char *name)
{
    const char *dot = strrchr(name, '.');
    const json_t *all = json_object_get(outcome->run, "component_metrics");
    const json_t *section = dot ? json_object_getn(all, name, (size_t)(dot - name)) : NULL;
    return number_of(json_object_get(section ? json_object_get(section, dot + 1) : NULL, "mean"));
}

static double outcome_test_metric(const struct outcome *outcome, const char *name)
{
    const json_t *metrics = json_object_get(outcome->run, "metrics");
    return json_object_get(metrics, name) ? outcome_number(outcome, "metrics", name)
                                          : measured(outcome, name);
}

double outcome_metric(const struct outcome *outcome, const char *name)
{
    int plan;
    if (strcmp(name, OUTCOME_PUBLISHED) == 0)
        return least_epsilon(outcome, "published", &plan);
    if (strcmp(name, OUTCOME_ROUNDS) == 0)
        return number_of(json_object_get(outcome->run, "rounds_done"));
    if (strcmp(name, OUTCOME_SPENT) == 0) {
        const json_t *spent = json_object_get(outcome->run, "spent");
        return spent ? number_of(json_object_get(spent, OUTCOME_PUBLISHED))
                     : least_epsilon(outcome, "published", &plan);
    }
    if (strcmp(name, OUTCOME_BYTES_UP) == 0)
        return outcome_number(outcome, "communication", "bytes_up_each");
    if (strcmp(name, OUTCOME_BYTES_DOWN) == 0)
        return outcome_number(outcome, "communication", "bytes_down_each");
    return strcmp(name, OUTCOME_PROVED) == 0 ? outcome_proved(outcome, &plan)
                                             : outcome_test_metric(outcome, name);
}

double outcome_number(const struct outcome *outcome, const char *part, const char *name)
{
    return number_of(json_object_get(json_object_get(outcome->run, part), name));
}

double outcome_proved(const struct outcome *outcome, int *plan)
{
    return least_epsilon(outcome, "proved", plan);
}

const struct outcome *cell_run(const struct outcomes *outcomes, const struct cell *cell, size_t repetition)
{
    const size_t index = cell->members[repetition];
    return index == SIZE_MAX || !outcomes->items[index].run ? NULL : &outcomes->items[index];
}

const struct outcome *cell_first_run(const struct outcomes *outcomes, const struct cell *cell)
{
    const struct outcome *run = NULL;
    for (size_t r = 0; r < outcomes->n_repetitions && !run; r++)
        run = cell_run(outcomes, cell, r);
    return run;
}

void cell_values(const struct outcomes *outcomes, const struct cell *cell, const char *metric, double *out)
{
    for (size_t r = 0; r < outcomes->n_repetitions; r++)
        out[r] = cell->members[r] == SIZE_MAX ? (double)NAN
                                              : outcome_metric(&outcomes->items[cell->members[r]], metric);
}

size_t cell_compact(double *values, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            values[kept++] = values[i];
    return kept;
}

static int moves_with(const struct outcomes *outcomes, size_t a, size_t b)
{
    return a == b || (outcomes->dimensions[a].zipped && outcomes->dimensions[b].zipped);
}

const char *dimension_value(const struct dimension *dimension, size_t at, const char *without)
{
    return at == OUTCOME_NO_VALUE ? without : dimension->values[at];
}

char *cell_label(const struct outcomes *outcomes, const struct cell *cell, int without)
{
    struct text label = {0};
    text_add(&label, "%s", "");
    for (size_t d = 0; d < outcomes->n_dimensions; d++) {
        const struct dimension *dimension = &outcomes->dimensions[d];
        if (dimension->repeats || cell->at[d] == OUTCOME_NO_VALUE ||
            (without >= 0 && moves_with(outcomes, d, (size_t)without)))
            continue;
        const char *comma = label.length ? ", " : "";
        if (*dimension->key && dimension->numeric)
            text_add(&label, "%s%s = %s", comma, dimension->name, dimension->values[cell->at[d]]);
        else
            text_add(&label, "%s%s", comma, dimension->values[cell->at[d]]);
    }
    return label.data;
}

const struct cell *cell_beside(const struct outcomes *outcomes, const struct cell *cell, size_t dimension,
                               size_t value)
{
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        const struct cell *other = &outcomes->cells[c];
        int same = other->at[dimension] == value;
        /* A reference stands beside all cells that follow the axes. */
        for (size_t d = 0; d < outcomes->n_dimensions && same; d++)
            same = outcomes->dimensions[d].repeats || other->at[d] == OUTCOME_NO_VALUE ||
                   other->at[d] == (moves_with(outcomes, d, dimension) ? value : cell->at[d]);
        if (same)
            return other;
    }
    return NULL;
}

int outcomes_baseline(const struct outcomes *outcomes, size_t *dimension, size_t *value)
{
    const char *baseline = json_string_value(json_object_get(outcomes->sweep, "baseline"));
    const char *equals = baseline ? strchr(baseline, '=') : NULL;
    for (size_t d = 0; d < outcomes->n_dimensions && baseline && *baseline; d++) {
        const struct dimension *candidate = &outcomes->dimensions[d];
        size_t length = equals ? (size_t)(equals - baseline) : 0;
        int named =
            equals && ((strlen(candidate->key) == length && !strncmp(candidate->key, baseline, length)) ||
                       (strlen(candidate->name) == length && !strncmp(candidate->name, baseline, length)));
        const char *wanted = *candidate->key ? (named ? equals + 1 : NULL) : baseline;
        for (size_t v = 0; v < candidate->n && wanted; v++)
            if (!candidate->repeats && strcmp(candidate->values[v], wanted) == 0) {
                *dimension = d;
                *value = v;
                return 1;
            }
    }
    return 0;
}
