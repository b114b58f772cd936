/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/outcome_tests.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* Pairs of which both are there. */
static int64_t pair_up(double *a, double *b, size_t n)
{
    int64_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(a[i]) && !isnan(b[i])) {
            a[kept] = a[i];
            b[kept++] = b[i];
        }
    return kept;
}

static void test_cell(const struct outcomes *outcomes, double *values, struct outcome_test *test)
{
    size_t n = outcomes->n_repetitions;
    double *a = values, *b = values + n;
    cell_values(outcomes, test->cell, test->metric, a);
    cell_values(outcomes, test->baseline, test->metric, b);
    int64_t pairs = pair_up(a, b, n);
    test->t = statistics_t_test(a, b, pairs);
    test->wilcoxon = statistics_wilcoxon(a, b, pairs);
}

static void correct(struct outcome_test *tests, size_t n, double *p)
{
    for (size_t i = 0; i < n; i++)
        p[i] = tests[i].t.p;
    statistics_holm(p, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        tests[i].t_holm = p[i];
        p[i] = tests[i].wilcoxon.p;
    }
    statistics_holm(p, (int64_t)n);
    for (size_t i = 0; i < n; i++)
        tests[i].wilcoxon_holm = p[i];
}

int outcome_tests_make(const struct outcomes *outcomes, struct outcome_tests *out, struct dpf_error *error)
{
    size_t dimension, value;
    *out = (struct outcome_tests){0};
    if (!outcomes_baseline(outcomes, &dimension, &value))
        return 0;
    out->items = memory_new(outcomes->n_metrics * outcomes->n_cells + 1, sizeof *out->items);
    double *values = memory_new(2 * outcomes->n_repetitions + outcomes->n_cells, sizeof *values);
    if (!out->items || !values) {
        free(values);
        outcome_tests_free(out);
        return error_memory(error);
    }
    for (size_t m = 0; m < outcomes->n_metrics; m++) {
        size_t first = out->n;
        for (size_t c = 0; c < outcomes->n_cells; c++) {
            const struct cell *cell = &outcomes->cells[c];
            const struct cell *baseline = cell_beside(outcomes, cell, dimension, value);
            if (!baseline || baseline == cell || outcome_is_stated(outcomes->metrics[m]))
                continue;
            struct outcome_test *test = &out->items[out->n++];
            *test = (struct outcome_test){.metric = outcomes->metrics[m], .cell = cell, .baseline = baseline};
            test_cell(outcomes, values, test);
        }
        correct(out->items + first, out->n - first, values);
    }
    free(values);
    return 0;
}

void outcome_tests_free(struct outcome_tests *tests)
{
    free(tests->items);
    *tests = (struct outcome_tests){0};
}
