/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome_tables.h - writes a sweep as tables.
 *
 *     results.csv   one row for each point and metric, for your own tools
 *     tables.md     mean and standard deviation by cell, and the tests against the baseline
 *     tables.csv    the same, unrounded, one row for each cell and metric
 *     tables.tex    the same as LaTeX (booktabs)
 *     timings.csv   seconds of each point: the only file that differs between two runs of one sweep
 */
#ifndef DPF_SWEEP_OUTCOME_TABLES_H
#define DPF_SWEEP_OUTCOME_TABLES_H

#include "base/sheet.h"
#include "sweep/outcome_tests.h"

int outcome_tables_write(const struct outcomes *outcomes, struct dpf_error *error);

/* Means and tests with their notes: text of that width, Markdown or LaTeX. Free it; NULL if memory ran out.
 */
char *outcome_tables_text(const struct outcomes *outcomes, enum sheet_format format, int width);
/* The unrounded ones. Free them; NULL if memory ran out. */
char *outcome_tables_csv(const struct outcomes *outcomes);
char *outcome_tables_results(const struct outcomes *outcomes);
char *outcome_tables_timings(const struct outcomes *outcomes);

/* Single tables, to be written and freed by the caller. */
struct sheet outcome_tables_means(const struct outcomes *outcomes);
struct sheet outcome_tables_tests(const struct outcomes *outcomes, const struct outcome_tests *tests);

struct summary {
    size_t n; /* runs that have the metric */
    double mean, deviation;
};
struct summary outcome_tables_summary(const struct outcomes *outcomes, const struct cell *cell,
                                      const char *metric);
/* A p-value: "0.0312", "<0.0001", or "n/a". */
const char *outcome_tables_p(double p, char out[16]);

#endif
