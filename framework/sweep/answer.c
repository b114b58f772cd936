/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "evaluate/metric_table.h"
#include "privacy/guarantee.h"
#include "run/run_json.h"
#include "sweep/outcome_tables.h"

#define EQUAL 5e-5      /* means that read the same in four decimals */
#define MOST_SETTINGS 6 /* that are told one by one */

struct contest {
    const struct outcomes *outcomes;
    const struct outcome_tests *tests;
    const char *metric;
    size_t dimension; /* whose values are compared */
    int has_baseline;
    size_t baseline; /* its value there */
    int with_all;    /* cells without noise take part, too: there are no others */
};

static int is_noiseless(const struct outcomes *outcomes, const struct cell *cell)
{
    const struct outcome *outcome = cell_first_run(outcomes, cell);
    return outcome && !run_json_has_noise(outcome->run);
}

/* A reference stands outside of the axes. */
static int is_reference(const struct outcomes *outcomes, const struct cell *cell)
{
    for (size_t d = 0; d < outcomes->n_dimensions; d++)
        if (!outcomes->dimensions[d].repeats && cell->at[d] == OUTCOME_NO_VALUE)
            return 1;
    return 0;
}

static double mean_of(const struct contest *contest, const struct cell *cell)
{
    return outcome_tables_summary(contest->outcomes, cell, contest->metric).mean;
}

static int takes_part(const struct contest *contest, const struct cell *cell)
{
    return !isnan(mean_of(contest, cell)) && !is_reference(contest->outcomes, cell) &&
           (contest->with_all || !is_noiseless(contest->outcomes, cell));
}

static int is_better(const struct contest *contest, const struct cell *a, const struct cell *b)
{
    const double x = mean_of(contest, a), y = mean_of(contest, b);
    return metric_smaller_is_better(contest->metric) ? x < y : x > y;
}

/* Are both at the same setting: alike but for the dimension that is compared? */
static int same_setting(const struct contest *contest, const struct cell *a, const struct cell *b)
{
    const struct outcomes *outcomes = contest->outcomes;
    for (size_t d = 0; d < outcomes->n_dimensions; d++) {
        const int moves = outcomes->dimensions[d].zipped && outcomes->dimensions[contest->dimension].zipped;
        if (!outcomes->dimensions[d].repeats && d != contest->dimension && !moves && a->at[d] != b->at[d])
            return 0;
    }
    return 1;
}

/* The best at the setting of a cell. */
static const struct cell *best_beside(const struct contest *contest, const struct cell *cell)
{
    const struct cell *best = NULL;
    for (size_t c = 0; c < contest->outcomes->n_cells; c++) {
        const struct cell *other = &contest->outcomes->cells[c];
        if (takes_part(contest, other) && same_setting(contest, cell, other) &&
            (!best || is_better(contest, other, best)))
            best = other;
    }
    return best;
}

static size_t rivals(const struct contest *contest, const struct cell *cell)
{
    size_t n = 0;
    for (size_t c = 0; c < contest->outcomes->n_cells; c++)
        n += takes_part(contest, &contest->outcomes->cells[c]) &&
             same_setting(contest, cell, &contest->outcomes->cells[c]);
    return n;
}

/* Is it the first of its setting in the order of cells? */
static int begins_setting(const struct contest *contest, const struct cell *cell)
{
    for (const struct cell *before = contest->outcomes->cells; before < cell; before++)
        if (takes_part(contest, before) && same_setting(contest, cell, before))
            return 0;
    return takes_part(contest, cell);
}

static const struct outcome_test *test_of(const struct contest *contest, const struct cell *cell)
{
    for (size_t i = 0; i < contest->tests->n; i++)
        if (contest->tests->items[i].cell == cell &&
            strcmp(contest->tests->items[i].metric, contest->metric) == 0)
            return &contest->tests->items[i];
    return NULL;
}

static void add_value(const struct contest *contest, const struct cell *cell, struct text *out)
{
    const struct summary s = outcome_tables_summary(contest->outcomes, cell, contest->metric);
    text_add(out, fabs(s.mean) < 1000 ? "%.4f" : "%.6g", s.mean);
    if (!isnan(s.deviation))
        text_add(out, fabs(s.mean) < 1000 ? " ± %.4f" : " ± %.3g", s.deviation);
    if (s.n < contest->outcomes->n_repetitions)
        text_add(out, " (%zu of %zu runs)", s.n, contest->outcomes->n_repetitions);
}

static void add_margin(const struct contest *contest, const struct cell *cell, struct text *out)
{
    const struct outcome_test *test = test_of(contest, cell);
    char p[16];
    if (!contest->has_baseline)
        return;
    if (cell->at[contest->dimension] == contest->baseline) {
        text_add(out, " (the baseline)");
        return;
    }
    if (!test || isnan(test->paired.difference))
        return;
    text_add(out, " (%+.4f from %s", test->paired.difference,
             contest->outcomes->dimensions[contest->dimension].values[contest->baseline]);
    if (!isnan(test->holm))
        text_add(out, ", p %s%s%s", test->holm < 1e-4 ? "" : "= ", outcome_tables_p(test->holm, p),
                 test->holm >= OUTCOME_SIGNIFICANT ? ", may be chance" : "");
    text_add(out, ")");
}

static const char *value_name(const struct contest *contest, const struct cell *cell)
{
    return dimension_value(&contest->outcomes->dimensions[contest->dimension], cell->at[contest->dimension],
                           "the reference");
}

/* Cells at the same setting whose means read the same; returns how many. */
static size_t add_equals(const struct contest *contest, const struct cell *best, struct text *out)
{
    size_t n = 0;
    for (size_t c = 0; c < contest->outcomes->n_cells; c++) {
        const struct cell *other = &contest->outcomes->cells[c];
        if (other == best || !takes_part(contest, other) || !same_setting(contest, best, other) ||
            fabs(mean_of(contest, other) - mean_of(contest, best)) >= EQUAL)
            continue;
        text_add(out, " and %s", value_name(contest, other));
        n++;
    }
    return n;
}

static void add_winner(const struct contest *contest, const struct cell *best, struct text *out)
{
    const struct dimension *dimension = &contest->outcomes->dimensions[contest->dimension];
    if (*dimension->key && dimension->numeric)
        text_add(out, "%s = ", dimension->name);
    text_add(out, "%s", value_name(contest, best));
    const size_t equals = add_equals(contest, best, out);
    text_add(out, rivals(contest, best) == 1 ? " alone has results" : equals ? " are best" : " is best");
    text_add(out, " with ");
    add_value(contest, best, out);
    add_margin(contest, best, out);
}

/* How many settings the value wins, of how many. */
static size_t wins_of(const struct contest *contest, size_t value, size_t *settings)
{
    size_t n = 0;
    *settings = 0;
    for (size_t c = 0; c < contest->outcomes->n_cells; c++) {
        const struct cell *cell = &contest->outcomes->cells[c];
        if (!begins_setting(contest, cell))
            continue;
        ++*settings;
        n += best_beside(contest, cell)->at[contest->dimension] == value;
    }
    return n;
}

static void add_each(const struct contest *contest, struct text *out)
{
    int n = 0;
    for (size_t c = 0; c < contest->outcomes->n_cells; c++) {
        const struct cell *cell = &contest->outcomes->cells[c];
        if (!begins_setting(contest, cell))
            continue;
        char *setting = cell_label(contest->outcomes, cell, (int)contest->dimension);
        text_add(out, "%s", n++ ? ";\n" : "");
        if (setting && *setting)
            text_add(out, "at %s ", setting);
        add_winner(contest, best_beside(contest, cell), out);
        free(setting);
    }
    text_add(out, ".");
}

/* Of many settings: who wins how many, and the best of all. */
static void add_counts(const struct contest *contest, struct text *out)
{
    const struct dimension *dimension = &contest->outcomes->dimensions[contest->dimension];
    const struct cell *best = NULL;
    int named = 0;
    for (size_t v = 0; v < dimension->n; v++) {
        size_t settings, n = wins_of(contest, v, &settings);
        if (n == 0)
            continue;
        text_add(out, "%s%s%s%s is best in %zu", named++ ? ", " : "",
                 *dimension->key && dimension->numeric ? dimension->name : "",
                 *dimension->key && dimension->numeric ? " = " : "", dimension->values[v], n);
        if (named == 1)
            text_add(out, " of %zu settings", settings);
    }
    for (size_t c = 0; c < contest->outcomes->n_cells; c++) {
        const struct cell *cell = &contest->outcomes->cells[c];
        if (takes_part(contest, cell) && (!best || is_better(contest, cell, best)))
            best = cell;
    }
    char *label = best ? cell_label(contest->outcomes, best, -1) : NULL;
    if (best) {
        text_add(out, "; best of all is %s with ", label ? label : "?");
        add_value(contest, best, out);
    }
    text_add(out, ".");
    free(label);
}

/* What there is without noise, or outside of the axes. */
static void add_references(const struct contest *contest, struct text *out)
{
    int n = 0;
    for (size_t c = 0; c < contest->outcomes->n_cells && n < 5; c++) {
        const struct cell *cell = &contest->outcomes->cells[c];
        if (takes_part(contest, cell) || isnan(mean_of(contest, cell)))
            continue;
        char *label = cell_label(contest->outcomes, cell, -1);
        text_add(out, "%s%s%s ", n ? ", " : "\nFor comparison: ", label ? label : "?",
                 is_noiseless(contest->outcomes, cell) ? " (no noise)" : "");
        add_value(contest, cell, out);
        n++;
        free(label);
    }
    text_add(out, n ? "." : "");
}

/* What the tests of this metric say together. */
static void add_verdicts(const struct contest *contest, struct text *out)
{
    size_t better = 0, worse = 0, all = 0;
    for (size_t i = 0; i < contest->tests->n; i++) {
        const struct outcome_test *test = &contest->tests->items[i];
        if (strcmp(test->metric, contest->metric) != 0 || isnan(test->holm))
            continue;
        const int gain = (test->paired.difference < 0) == metric_smaller_is_better(contest->metric);
        all++;
        better += test->holm < OUTCOME_SIGNIFICANT && gain;
        worse += test->holm < OUTCOME_SIGNIFICANT && !gain;
    }
    if (all)
        text_add(
            out,
            "\nOf %zu comparison%s with the baseline %zu %s better, %zu worse and %zu may be chance (paired "
            "test, corrected by Holm's method, 5 %%).",
            all, all == 1 ? "" : "s", better, better == 1 ? "is" : "are", worse, all - better - worse);
    if (contest->outcomes->n_repetitions < 2)
        text_add(out, "\nThere is one run of each, so any difference may be chance.");
}

static const char *first_metric(const struct outcomes *outcomes)
{
    for (size_t m = 0; m < outcomes->n_metrics; m++)
        if (!outcome_is_stated(outcomes->metrics[m]))
            return outcomes->metrics[m];
    return NULL;
}

/* The dimension whose values compete: the baseline's, the variants, or the first that has several. */
static void choose_dimension(struct contest *contest)
{
    const struct outcomes *outcomes = contest->outcomes;
    contest->has_baseline = outcomes_baseline(outcomes, &contest->dimension, &contest->baseline);
    if (contest->has_baseline)
        return;
    for (int text_first = 1; text_first >= 0; text_first--)
        for (size_t d = 0; d < outcomes->n_dimensions; d++) {
            const struct dimension *dimension = &outcomes->dimensions[d];
            if (outcomes->dimensions[d].repeats || dimension->n < 2 ||
                (text_first && *dimension->key && dimension->numeric))
                continue;
            contest->dimension = d;
            return;
        }
}

static size_t participants(const struct contest *contest)
{
    size_t n = 0;
    for (size_t c = 0; c < contest->outcomes->n_cells; c++)
        n += takes_part(contest, &contest->outcomes->cells[c]);
    return n;
}

char *answer_text(const struct outcomes *outcomes, const struct outcome_tests *tests)
{
    struct contest contest = {.outcomes = outcomes, .tests = tests, .metric = first_metric(outcomes)};
    struct text out = {0};
    size_t settings;
    if (!contest.metric || outcomes->n_dimensions == 0)
        return NULL;
    choose_dimension(&contest);
    contest.with_all = participants(&contest) == 0;
    if (participants(&contest) == 0)
        return NULL;
    wins_of(&contest, 0, &settings);
    text_add(&out, "By %s (%s is better):%s", contest.metric,
             metric_smaller_is_better(contest.metric) ? "smaller" : "larger", settings > 1 ? "\n" : " ");
    if (settings <= MOST_SETTINGS)
        add_each(&contest, &out);
    else
        add_counts(&contest, &out);
    add_references(&contest, &out);
    add_verdicts(&contest, &out);
    return out.data;
}

/* Never below what is proved. */
static void add_range(double least, double largest, struct text *out)
{
    char low[32], high[32];
    guarantee_digits_up(least, 5, low);
    guarantee_digits_up(largest, 5, high);
    if (strcmp(low, high) == 0)
        text_add(out, " The epsilon is %s.", low);
    else
        text_add(out, " The epsilons are from %s to %s.", low, high);
}

char *answer_privacy(const struct outcomes *outcomes)
{
    size_t cells = 0, noiseless = 0, proved = 0, planned = 0;
    double least = (double)NAN, largest = (double)NAN;
    struct text out = {0};
    for (size_t c = 0; c < outcomes->n_cells; c++) {
        const struct outcome *outcome = cell_first_run(outcomes, &outcomes->cells[c]);
        int plan = 0;
        if (!outcome)
            continue;
        cells++;
        const double epsilon = outcome_proved(outcome, &plan);
        const int holds = isfinite(epsilon);
        least = holds && !(least <= epsilon) ? epsilon : least;
        largest = holds && !(largest >= epsilon) ? epsilon : largest;
        noiseless += is_noiseless(outcomes, &outcomes->cells[c]);
        proved += holds && !plan;
        planned += holds && plan;
    }
    if (cells == 0)
        return NULL;
    text_add(&out, "Privacy: of %zu combination%s ", cells, cells == 1 ? "" : "s");
    if (planned)
        text_add(&out,
                 "%zu %s a finite epsilon proved for the plan (the noise of these runs comes from seeds)",
                 planned, planned == 1 ? "has" : "have");
    if (proved || !planned)
        text_add(&out, "%s%zu %s a finite epsilon proved", planned ? ", " : "", proved,
                 proved == 1 ? "has" : "have");
    if (cells > proved + planned + noiseless)
        text_add(&out, ", %zu %s none although there is noise", cells - proved - planned - noiseless,
                 cells - proved - planned - noiseless == 1 ? "has" : "have");
    if (noiseless)
        text_add(&out, ", %zu %s no noise", noiseless, noiseless == 1 ? "has" : "have");
    text_add(&out, ".");
    if (proved + planned)
        add_range(least, largest, &out);
    return out.data;
}
