/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/outcome_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "run/run_json.h"

/* ---- what a run says of its noise and of its split ---------------------------------------------------- */

static const char *setting(const struct outcome *outcome, const char *section, const char *key)
{
    const json_t *config = json_object_get(outcome->run, "config");
    const char *value = json_string_value(json_object_get(json_object_get(config, section), key));
    return value ? value : "";
}

static int is(const struct outcome *outcome, const char *section, const char *key, const char *value)
{
    return strcmp(setting(outcome, section, key), value) == 0;
}

/* Whether two repetitions read the same noise, so that they are one draw that is counted twice. */
static int shares_noise(const struct outcomes *outcomes, const struct cell *cell)
{
    for (size_t r = 0; r < outcomes->n_repetitions; r++) {
        const struct outcome *run = cell_run(outcomes, cell, r);
        if (!run || !is(run, "privacy", "randomness", "reproducible") || !run_json_has_noise(run->run))
            continue;
        for (size_t before = 0; before < r; before++) {
            const struct outcome *other = cell_run(outcomes, cell, before);
            if (other && is(other, "privacy", "noise-seed", setting(run, "privacy", "noise-seed")))
                return 1;
        }
    }
    return 0;
}

/* Sizes of the parts, from private/data.json. */
static double parts_ratio(const struct outcomes *outcomes, const struct outcome *outcome)
{
    json_error_t problem;
    char *path = memory_format("%s/points/%s/private/data.json", outcomes->directory, outcome->name);
    json_t *data = json_load_file(path, 0, &problem);
    const double test = json_number_value(json_object_get(data, "test"));
    const double train = json_number_value(json_object_get(data, "train"));
    json_decref(data);
    free(path);
    return test > 0 && train > 0 ? test / train : 0;
}

/* Whether all repetitions test the same records: what varies between them is the training alone. */
static int has_fixed_test(const struct outcome *run)
{
    return is(run, "split", "kind", "none") || is(run, "split", "kind", "files") ||
           (is(run, "split", "kind", "leave-one-out") && is(run, "split", "by", "time"));
}

/* Whether each repetition generates records of its own. */
static int has_own_records(const struct outcome *run)
{
    return is(run, "data", "format", "synthetic") && !is(run, "split", "kind", "k-fold");
}

/* Test part over training part where repetitions draw other splits of the same records; else 0. */
static double overlap_of(const struct outcomes *outcomes, const struct cell *cell)
{
    for (size_t r = 0; r < outcomes->n_repetitions; r++) {
        const struct outcome *run = cell_run(outcomes, cell, r);
        if (!run)
            continue;
        return has_fixed_test(run) || has_own_records(run) ? 0 : parts_ratio(outcomes, run);
    }
    return 0;
}

/* ---- what is measured --------------------------------------------------------------------------------- */

/* Figures of runs that differ in one of these are of other records, or of lists that are made otherwise. */
#define PROTOCOL(SECTION, KEY)                                                                               \
    {                                                                                                        \
        SECTION, KEY, "other [" SECTION "] " KEY " than the baseline: not the same is measured"              \
    }
static const struct {
    const char *section, *key, *differs;
} protocol[] = {
    PROTOCOL("split", "kind"),
    PROTOCOL("split", "fraction"),
    PROTOCOL("split", "folds"),
    PROTOCOL("split", "by"),
    PROTOCOL("split", "n"),
    PROTOCOL("split", "test.path"),
    PROTOCOL("split", "time-from"),
    PROTOCOL("split", "users"),
    PROTOCOL("evaluate", "ranking"),
    PROTOCOL("evaluate", "seen"),
    PROTOCOL("evaluate", "negatives"),
    PROTOCOL("evaluate", "negatives-from"),
    PROTOCOL("evaluate", "cold"),
    PROTOCOL("evaluate", "users"),
};

/* Why the metrics of two runs are not comparable; NULL: they are. */
static const char *protocol_differs(const struct outcome *a, const struct outcome *b)
{
    for (size_t i = 0; i < sizeof protocol / sizeof protocol[0]; i++)
        if (!is(a, protocol[i].section, protocol[i].key, setting(b, protocol[i].section, protocol[i].key)))
            return protocol[i].differs;
    return NULL;
}

/* ---- tests -------------------------------------------------------------------------------------------- */

/* Pairs of which both are there; *undefined: how many runs have ended without this metric. */
static int64_t pair_up(const struct outcomes *outcomes, const struct outcome_test *test, double *a, double *b,
                       size_t *undefined)
{
    int64_t kept = 0;
    *undefined = 0;
    for (size_t r = 0; r < outcomes->n_repetitions; r++) {
        const struct outcome *left = cell_run(outcomes, test->cell, r),
                             *right = cell_run(outcomes, test->baseline, r);
        if (!left || !right)
            continue;
        a[kept] = outcome_metric(left, test->metric);
        b[kept] = outcome_metric(right, test->metric);
        const int is_there = isfinite(a[kept]) && isfinite(b[kept]);
        *undefined += !is_there;
        kept += is_there;
    }
    return kept;
}

static void test_cell(const struct outcomes *outcomes, double *values, struct outcome_test *test)
{
    size_t undefined;
    const char *differs;
    double *a = values, *b = values + outcomes->n_repetitions;
    const int64_t pairs = pair_up(outcomes, test, a, b, &undefined);
    test->overlap = overlap_of(outcomes, test->cell);
    test->paired = statistics_paired(a, b, pairs, test->overlap);
    if (!cell_first_run(outcomes, test->baseline))
        test->why_not = "no run of the baseline has ended; see why in its log";
    else if (!cell_first_run(outcomes, test->cell))
        test->why_not = "no run has ended; see why in its log";
    else if ((differs = protocol_differs(cell_first_run(outcomes, test->cell),
                                         cell_first_run(outcomes, test->baseline))))
        test->why_not = differs;
    else if (undefined)
        test->why_not = "a repetition does not have this metric";
    else if (pairs == 0)
        test->why_not = "no repetition has ended on both sides";
    else if (pairs < 2)
        test->why_not = "one pair; repeat with run.seed = 1..5";
    else if (shares_noise(outcomes, test->cell) || shares_noise(outcomes, test->baseline))
        test->why_not = "repetitions share one draw of noise; leave privacy.noise-seed to the sweep";
    else if (isnan(test->paired.p))
        test->why_not = "all differences are equal";
    if (test->why_not) {
        test->paired.p = test->paired.statistic = test->paired.low = test->paired.high = (double)NAN;
        test->paired.needed = 0;
    }
}

static void correct(struct outcome_test *tests, size_t n, double *p)
{
    for (size_t i = 0; i < n; i++)
        p[i] = tests[i].paired.p;
    statistics_holm(p, (int64_t)n);
    for (size_t i = 0; i < n; i++)
        tests[i].holm = p[i];
}

void outcome_tests_make(const struct outcomes *outcomes, struct outcome_tests *out)
{
    size_t dimension, value;
    *out = (struct outcome_tests){0};
    if (!outcomes_baseline(outcomes, &dimension, &value))
        return;
    out->items = memory_need(outcomes->n_metrics * outcomes->n_cells + 1, sizeof *out->items);
    double *values = memory_need(2 * outcomes->n_repetitions + outcomes->n_cells, sizeof *values);
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
}

void outcome_tests_free(struct outcome_tests *tests)
{
    free(tests->items);
    *tests = (struct outcome_tests){0};
}

/* ---- in words ----------------------------------------------------------------------------------------- */

/* What the runs of a pair have in common, by what they say of themselves: an axis or a variant may set the noise. */
static const char *paired_words(const struct outcomes *outcomes, const struct outcome_tests *tests)
{
    size_t pairs = 0, alike = 0;
    for (size_t i = 0; i < tests->n; i++)
        for (size_t r = 0; r < outcomes->n_repetitions; r++) {
            const struct outcome *a = cell_run(outcomes, tests->items[i].cell, r),
                                 *b = cell_run(outcomes, tests->items[i].baseline, r);
            pairs += a && b;
            alike += a && b && run_json_has_noise(a->run) && run_json_has_noise(b->run) &&
                     is(a, "privacy", "randomness", "reproducible") &&
                     is(b, "privacy", "randomness", "reproducible") &&
                     is(a, "privacy", "noise-seed", setting(b, "privacy", "noise-seed"));
        }
    return alike == 0       ? "the same split, noise of its own"
           : alike == pairs ? "the same split and the same seed of the noise"
                            : "the same split; some pairs have the same seed of the noise, others have not";
}

char *outcome_tests_note(const struct outcomes *outcomes, const struct outcome_tests *tests)
{
    struct text note = {0};
    double overlap = 0;
    for (size_t i = 0; i < tests->n; i++)
        overlap = fmax(overlap, tests->items[i].overlap);
    text_add(&note, "Against the baseline %.200s, in pairs",
             json_string_value(json_object_get(outcomes->sweep, "baseline")));
    const char *before = " of the same ";
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (outcomes->dimensions[d].repeats) {
            text_add(&note, "%s%s", before, outcomes->dimensions[d].key);
            before = " and ";
        }
    text_add(&note, " (%s). ", paired_words(outcomes, tests));
    text_add(&note,
             overlap > 0
                 ? "Repetitions share training records: t-test with the correction of Nadeau and Bengio. "
                 : "Student's t-test. ");
    text_add(
        &note,
        "Two-sided p, and corrected by Holm's method over the rows of a metric. Needed: repetitions that "
        "would find a difference of this size with probability .8.");
    return note.data;
}
