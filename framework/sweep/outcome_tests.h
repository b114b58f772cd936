/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome_tests.h - tests each cell of a sweep against the baseline's cell with the same other settings.
 *
 * Pairs are repetitions with the same run.seed and split.fold. Where these draw other splits of the same records, the
 * test is corrected for the overlap of training parts (base/statistics.h). Holm's correction covers all tests of a
 * metric, since a reader asks which rows of a table differ.
 */
#ifndef DPF_SWEEP_OUTCOME_TESTS_H
#define DPF_SWEEP_OUTCOME_TESTS_H

#include "sweep/outcomes.h"
#include "base/statistics.h"

#define OUTCOME_SIGNIFICANT 0.05

struct outcome_test {
    const char *metric;
    const struct cell *cell, *baseline;
    struct paired_test paired;
    double overlap;      /* as statistics_paired takes it */
    double holm;         /* p, corrected; NaN where there is none */
    const char *why_not; /* why there is no p: a sentence; NULL: there is one */
};

struct outcome_tests {
    struct outcome_test *items;
    size_t n;
};

/* Empty if the sweep names no baseline. */
void outcome_tests_make(const struct outcomes *outcomes, struct outcome_tests *out);
void outcome_tests_free(struct outcome_tests *tests);

/* What pairs have in common, how the tests are corrected, and what Holm's correction covers. Free it. */
char *outcome_tests_note(const struct outcomes *outcomes, const struct outcome_tests *tests);

#endif
