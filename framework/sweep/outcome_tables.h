/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome_tables.h - a sweep as tables.
 *
 *     results.csv   one row for each point and metric, for tools of one's own
 *     tables.md     mean and standard deviation by cell, and the tests against the baseline
 *     tables.csv    the same, unrounded, one row for each cell and metric
 *     tables.tex    the same as LaTeX (booktabs)
 *     timings.csv   seconds of each point: the only file that differs between two runs of the same thing
 */
#ifndef DPF_SWEEP_OUTCOME_TABLES_H
#define DPF_SWEEP_OUTCOME_TABLES_H

#include "sweep/outcome_tests.h"

int outcome_tables_write(const struct outcomes *outcomes, struct dpf_error *error);

/* Each returns a text to free, or NULL if memory ran out. */
char *outcome_tables_markdown(const struct outcomes *outcomes);
char *outcome_tables_latex(const struct outcomes *outcomes);
char *outcome_tables_csv(const struct outcomes *outcomes);
char *outcome_tables_results(const struct outcomes *outcomes);
char *outcome_tables_timings(const struct outcomes *outcomes);

/* "0.9312 +- 0.0021" of a cell, with a sign of one's own in the middle, or "n/a". */
void outcome_tables_number(const struct outcomes *outcomes, const struct cell *cell, const char *metric,
                           const char *plus_minus, char out[64]);
/* A p-value: "0.0312", "<0.0001", or "n/a". */
const char *outcome_tables_p(double p, char out[16]);

#endif
