/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome_tests.h - tests each cell of a sweep against the baseline's cell with the same other settings.
 *
 * Pairs are repetitions with the same seed. Holm's correction covers all tests of one kind and one metric, since a
 * reader asks which rows of a table differ.
 */
#ifndef DPF_SWEEP_OUTCOME_TESTS_H
#define DPF_SWEEP_OUTCOME_TESTS_H

#include "sweep/outcomes.h"
#include "base/statistics.h"

struct outcome_test {
    const char *metric;
    const struct cell *cell, *baseline;
    struct paired_test t, wilcoxon;
    double t_holm, wilcoxon_holm;
};

struct outcome_tests {
    struct outcome_test *items;
    size_t n;
};

/* Empty if the sweep names no baseline. */
int outcome_tests_make(const struct outcomes *outcomes, struct outcome_tests *out, struct dpf_error *error);
void outcome_tests_free(struct outcome_tests *tests);

#endif
