/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcomes.h - the results of a sweep, read from its directory.
 *
 * A point has a value in each dimension of the sweep (variant, then axes). Points that differ only in the
 * repetition (run.seed, split.fold) are one cell: its metrics have a mean and a deviation.
 */
#ifndef DPF_SWEEP_OUTCOMES_H
#define DPF_SWEEP_OUTCOMES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define OUTCOME_NO_VALUE SIZE_MAX /* a reference has no value on the axes */

struct dimension {
    const char *name; /* "epsilon" */
    const char *key;  /* "items.mechanism.epsilon"; "" for variants */
    const char **values;
    size_t n;
    int numeric; /* all values are numbers */
    int repeats; /* run.seed or split.fold */
    int zipped;  /* moves together with the other zipped ones: their values have the same index */
};

struct outcome {
    const char *name;
    size_t *at;         /* index of the value in each dimension, or OUTCOME_NO_VALUE */
    const json_t *spec; /* of sweep.json */
    json_t *state;      /* NULL: not run yet */
    json_t *run;        /* run.json; NULL unless done */
};

struct cell {
    size_t *at;      /* as of its points, but for the repetition */
    size_t *members; /* indices of outcomes, by repetition; SIZE_MAX: none */
};

struct outcomes {
    char *directory;
    json_t *sweep;
    struct dimension *dimensions;
    size_t n_dimensions;
    size_t n_repetitions; /* combinations of the dimensions that repeat; at least 1 */
    struct outcome *items;
    size_t n, n_done;
    struct cell *cells;
    size_t n_cells;
    const char **metrics; /* that tables and plots show */
    size_t n_metrics;
};

/* On failure out is empty. Points without results are there, with run NULL. */
int outcomes_read(const char *directory, struct outcomes *out, struct dpf_error *error);
void outcomes_free(struct outcomes *outcomes);

/*
 * Metrics of every point that are not results and are not tested: what its statement gives, the smallest
 * epsilons published and proved; and, where a sweep names them, what a party sends and receives in a round.
 */
#define OUTCOME_PUBLISHED "epsilon-published"
#define OUTCOME_PROVED "epsilon-proved"
#define OUTCOME_BYTES_UP "bytes-up"
/* Rounds that the run made, and the published epsilon of these: of a run that [run] until may end early. */
#define OUTCOME_ROUNDS "rounds-done"
#define OUTCOME_SPENT "epsilon-spent"
#define OUTCOME_BYTES_DOWN "bytes-down"
int outcome_is_stated(const char *metric);

/* A metric of a point, or NaN. */
double outcome_metric(const struct outcome *outcome, const char *name);
/* A number below "communication", "timing" and the like, or NaN. */
double outcome_number(const struct outcome *outcome, const char *part, const char *name);
/* The smallest epsilon that is proved, or NaN. *plan is set if it is that of the plan, the noise of the run
   being reproducible. */
double outcome_proved(const struct outcome *outcome, int *plan);

/* The run of a repetition, or of the first that has ended; NULL: there is none. */
const struct outcome *cell_run(const struct outcomes *outcomes, const struct cell *cell, size_t repetition);
const struct outcome *cell_first_run(const struct outcomes *outcomes, const struct cell *cell);
/* The values of a metric in a cell, by repetition, NaN where there is none: n_repetitions of them. */
void cell_values(const struct outcomes *outcomes, const struct cell *cell, const char *metric, double *out);
/* Values that are numbers, moved to the front; returns how many. */
size_t cell_compact(double *values, size_t n);
/* The text of a value, or without. */
const char *dimension_value(const struct dimension *dimension, size_t at, const char *without);
/* "als, epsilon = 0.5". Free it. without: a dimension to leave out, with those zipped to it, or -1. */
char *cell_label(const struct outcomes *outcomes, const struct cell *cell, int without);
/* The cell that differs from this one only in that dimension's value (and those zipped to it), or NULL. */
const struct cell *cell_beside(const struct outcomes *outcomes, const struct cell *cell, size_t dimension,
                               size_t value);

/* Where the baseline lies: 1 and the dimension and value, or 0 if there is none. */
int outcomes_baseline(const struct outcomes *outcomes, size_t *dimension, size_t *value);

#endif
