/* SPDX-License-Identifier: Apache-2.0 */
/* Which numbers of a sweep become columns: test metrics or else training metrics, and the epsilons of the
 * statements. */
#include "sweep/outcomes.h"
#include "kit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sweep/outcome_tables.h"
#include "sweep/plot_data.h"

#define PUBLISHED "{\"epsilon\": 7.5}, {\"epsilon\": 7.25}"

static void write_file(const char *directory, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

#define SWEEP(dimensions, points)                                                                            \
    "{\"format\": 1, \"baseline\": \"plain\", \"metrics\": [], \"dimensions\": [{\"name\": \"variant\", "    \
    "\"key\": \"\", \"values\": [\"plain\", \"noisy\"]}" dimensions "], \"points\": [" points "]}"
#define VARIANTS                                                                                             \
    SWEEP("",                                                                                                \
          "{\"name\": \"plain\", \"values\": [\"plain\"]}, {\"name\": \"noisy\", \"values\": [\"noisy\"]}")
/* plain is a reference: it does not follow the axis. */
#define REFERENCE                                                                                            \
    SWEEP(", {\"name\": \"rank\", \"key\": \"model.rank\", \"values\": [\"4\", \"8\"]}",                     \
          "{\"name\": \"plain\", \"values\": [\"plain\", null]}, "                                           \
          "{\"name\": \"noisy\", \"values\": [\"noisy\", \"8\"]}")

/* Two points: plain without a statement, noisy with one. */
static void make_sweep(char directory[64], const char *design, const char *plain_metrics,
                       const char *noisy_metrics)
{
    static const char *const folders[] = {"state", "points", "points/plain", "points/noisy"};
    char path[256], text[512];
    strcpy(directory, "/tmp/dpf-outcomes-XXXXXX");
    assert_non_null(mkdtemp(directory));
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    write_file(directory, "sweep.json", design);
    write_file(directory, "state/plain.json", "{\"status\": \"done\"}");
    write_file(directory, "state/noisy.json", "{\"status\": \"done\"}");
    snprintf(text, sizeof text, "{\"metrics\": {%s}}", plain_metrics);
    write_file(directory, "points/plain/run.json", text);
    snprintf(text, sizeof text,
             "{\"metrics\": {%s}, \"guarantee\": {\"published\": [" PUBLISHED
             "], \"proved\": [{\"epsilon\": 9.0, \"plan\": true}]}}",
             noisy_metrics);
    write_file(directory, "points/noisy/run.json", text);
}

static void remove_sweep(const char *directory)
{
    static const char *const names[] = {"sweep.json",   "state/plain.json",      "state/noisy.json",
                                        "state",        "points/plain/run.json", "points/noisy/run.json",
                                        "points/plain", "points/noisy",          "points"};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(rmdir(directory), 0);
}

static void assert_metrics(const char *plain, const char *noisy, const char *const *expected, size_t n)
{
    char directory[64];
    struct outcomes outcomes;
    struct dpf_error error = {0};
    make_sweep(directory, VARIANTS, plain, noisy);
    assert_int_equal(outcomes_read(directory, &outcomes, &error), 0);
    assert_int_equal(outcomes.n_metrics, n);
    for (size_t m = 0; m < n; m++)
        assert_string_equal(outcomes.metrics[m], expected[m]);
    outcomes_free(&outcomes);
    remove_sweep(directory);
}

TEST(test_metrics_come_from_tests)
{
    static const char *const expected[] = {"rmse", "mae", OUTCOME_PUBLISHED, OUTCOME_PROVED};
    assert_metrics("\"rmse\": 1, \"train-rmse\": 0.5, \"rmse-cold-records\": 3", "\"mae\": 2", expected, 4);
}

TEST(test_without_tests_they_come_from_training)
{
    static const char *const expected[] = {"train-rmse", OUTCOME_PUBLISHED, OUTCOME_PROVED};
    assert_metrics("\"train-rmse\": 1", "\"train-rmse\": 2", expected, 3);
}

TEST(test_epsilons_are_the_smallest_and_are_not_tested)
{
    char directory[64];
    struct outcomes outcomes;
    struct outcome_tests tests;
    struct dpf_error error = {0};
    int plan;
    make_sweep(directory, VARIANTS, "\"rmse\": 1", "\"rmse\": 2");
    assert_int_equal(outcomes_read(directory, &outcomes, &error), 0);
    assert_true(isnan(outcome_metric(&outcomes.items[0], OUTCOME_PUBLISHED)));
    assert_float_equal(outcome_metric(&outcomes.items[1], OUTCOME_PUBLISHED), 7.25, 0);
    assert_float_equal(outcome_proved(&outcomes.items[1], &plan), 9, 0);
    assert_int_equal(plan, 1);
    outcome_tests_make(&outcomes, &tests);
    assert_int_equal(tests.n, 1);
    assert_string_equal(tests.items[0].metric, "rmse");
    outcome_tests_free(&tests);
    char *markdown = outcome_tables_text(&outcomes, SHEET_MARKDOWN, 0);
    assert_non_null(strstr(markdown, "| plain | 1 | 1.0000 | n/a | n/a |"));
    assert_non_null(strstr(markdown, "| noisy | 1 | 2.0000 | 7.2500 | 9.0000 |"));
    assert_non_null(strstr(markdown, "proved for the plan"));
    assert_non_null(strstr(markdown, "private, not covered"));
    free(markdown);
    outcomes_free(&outcomes);
    remove_sweep(directory);
}

TEST(test_a_reference_stands_beside_all_values_of_an_axis)
{
    char directory[64];
    struct outcomes outcomes;
    struct outcome_tests tests;
    struct plot plot = {.n = 0};
    struct dpf_error error = {0};
    make_sweep(directory, REFERENCE, "\"rmse\": 1", "\"rmse\": 2");
    assert_int_equal(outcomes_read(directory, &outcomes, &error), 0);
    assert_int_equal(outcomes.n_cells, 2);
    assert_true(outcomes.cells[0].at[1] == OUTCOME_NO_VALUE);
    outcome_tests_make(&outcomes, &tests);
    assert_int_equal(tests.n, 1);
    assert_ptr_equal(tests.items[0].cell, &outcomes.cells[1]);
    assert_ptr_equal(tests.items[0].baseline, &outcomes.cells[0]);
    outcome_tests_free(&tests);
    char *markdown = outcome_tables_text(&outcomes, SHEET_MARKDOWN, 0);
    assert_non_null(strstr(markdown, "| plain | – | 1 | 1.0000 |"));
    assert_non_null(strstr(markdown, "| noisy | 8 | 1 | 2.0000 |"));
    free(markdown);
    plot_data_axis(&outcomes, 1, outcome_metric, "rmse", &plot);
    assert_int_equal(plot.n, 2);
    assert_string_equal(plot.series[0].label, "noisy");
    assert_string_equal(plot.series[1].label, "plain");
    assert_int_equal(plot.series[0].n, 1);
    assert_float_equal(plot.series[0].points[0].x, 8, 0);
    assert_float_equal(plot.series[0].points[0].y, 2, 0);
    assert_float_equal(plot.series[1].points[0].x, 8, 0);
    assert_float_equal(plot.series[1].points[0].y, 1, 0);
    plot_free(&plot);
    outcomes_free(&outcomes);
    remove_sweep(directory);
}
