/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of a sweep: what every page must keep, the sentence that answers the question, links to points and
 * logs, and a small page byte by byte (golden_page.html: REGENERATE=1 writes it again).
 */
#include <math.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/test.h"
#include "kit/html_checks.h"
#include "evaluate/metric_table.h"
#include "sweep/answer.h"
#include "sweep/html_report.h"
#include "sweep/outcome_tables.h"

static char directory[64];

static void write_file(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    for (char *slash = path + strlen(directory) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/dpf-page-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int end(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

/* A point of the variant, axis value and seed; as done as its parts say. */
static void add_point(char *points, size_t size, const char *variant, const char *epsilon, int seed,
                      double rmse)
{
    char name[128], path[256], text[2048];
    snprintf(name, sizeof name, "%s%s%s_seed-%d", variant, epsilon ? "_epsilon-" : "", epsilon ? epsilon : "",
             seed);
    snprintf(points + strlen(points), size - strlen(points),
             "%s{\"name\": \"%s\", \"values\": [\"%s\", %s%s%s, \"%d\"]}", *points ? ", " : "", name, variant,
             epsilon ? "\"" : "", epsilon ? epsilon : "null", epsilon ? "\"" : "", seed);
    snprintf(path, sizeof path, "configs/%s.ini", name);
    write_file(path, "[run]\n");
    if (isnan(rmse))
        return;
    snprintf(path, sizeof path, "logs/%s.txt", name);
    write_file(path, "done\n");
    snprintf(path, sizeof path, "state/%s.json", name);
    write_file(path, "{\"status\": \"done\", \"seconds\": 0.5}");
    snprintf(text, sizeof text,
             "{\"metrics\": {\"rmse\": %.4f}, \"timing\": {\"load\": 0.1, \"total\": 0.4}, "
             "\"config\": {\"data\": {\"format\": \"csv\"}, \"items\": {\"mechanism\": \"%s\"}}, "
             "\"guarantee\": {\"unit\": \"user\", \"adjacency\": \"add-remove\", \"delta\": 1e-05, "
             "\"releases\": %d, \"proved\": [%s%s%s]}}",
             rmse, variant, epsilon ? 1 : 0, epsilon ? "{\"plan\": true, \"epsilon\": " : "",
             epsilon ? epsilon : "", epsilon ? "}" : "");
    snprintf(path, sizeof path, "points/%s/run.json", name);
    write_file(path, text);
    snprintf(path, sizeof path, "points/%s/private/metrics.csv", name);
    snprintf(text, sizeof text,
             "part,round,metric,value,averaged_over,low,high\ntrain,1,rmse,%.4f,9,,\n"
             "train,2,rmse,%.4f,9,,\n",
             rmse, rmse - 0.1);
    write_file(path, text);
    snprintf(path, sizeof path, "points/%s/private/noise.csv", name);
    write_file(path, "term,block,from,to,density,draws\nusers.social,linear,-1.5,-0.5,0.2,10\n"
                     "users.social,linear,-0.5,0.5,0.6,10\nusers.social,linear,0.5,1.5,0.2,10\n"
                     "users.social,linear,3.5,4.5,0.01,10\n");
}

/* <gauss> and laplace at two epsilons, plain outside of the axis, three seeds each; one point has not run. */
static void make_sweep(struct outcomes *outcomes)
{
    static const double offsets[] = {0, 0.001, 0.003};
    char points[8192] = "", text[10000];
    struct dpf_error error = {0};
    for (int seed = 1; seed <= 3; seed++) {
        const double d = offsets[seed - 1];
        add_point(points, sizeof points, "plain", NULL, seed, 0.9 + d);
        add_point(points, sizeof points, "gauss", "1", seed, 1.2 + d);
        add_point(points, sizeof points, "gauss", "10", seed, 0.95 + d);
        add_point(points, sizeof points, "laplace", "1", seed, 1.1 + 1.5 * d);
        add_point(points, sizeof points, "laplace", "10", seed, seed == 3 ? (double)NAN : 0.96 - d);
    }
    snprintf(
        text, sizeof text,
        "{\"format\": 1, \"question\": \"Which noise <costs> least & why?\", \"config\": \"sweep.ini\", "
        "\"baseline\": \"gauss\", \"metrics\": [], \"privacy_keys\": {\"items.mechanism\": true}, "
        "\"dimensions\": [{\"name\": \"variant\", \"key\": \"\", \"values\": [\"plain\", \"gauss\", "
        "\"laplace\"]}, {\"name\": \"epsilon\", \"key\": \"privacy.total-epsilon\", \"values\": [\"1\", "
        "\"10\"]}, {\"name\": \"seed\", \"key\": \"run.seed\", \"repetition\": true, \"values\": [\"1\", "
        "\"2\", \"3\"]}], \"points\": [%s]}",
        points);
    write_file("sweep.json", text);
    assert_int_equal(outcomes_read(directory, outcomes, &error), 0);
    assert_int_equal(outcome_tables_write(outcomes, &error), 0);
}

static char *page_of(const struct outcomes *outcomes, struct plots *plots)
{
    char path[256];
    struct dpf_error error = {0};
    plots_make(outcomes, plots);
    assert_int_equal(html_report_write(outcomes, plots, &error), 0);
    snprintf(path, sizeof path, "%s/report.html", directory);
    FILE *file = fopen(path, "r");
    char *page = calloc(1, 1 << 20);
    assert_non_null(file);
    assert_non_null(page);
    assert_true(fread(page, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return page;
}

TEST_WITH(the_page_keeps_what_every_page_must, begin, end)
{
    struct outcomes outcomes;
    struct plots plots;
    size_t n, values;
    make_sweep(&outcomes);
    char *page = page_of(&outcomes, &plots);
    html_check_page(page, directory, &n, &values);
    assert_int_equal(n, plots.n);
    assert_true(values >= 4 * plots.n);
    /* rmse and rounds and noise; neither epsilon against itself, nor rmse against the same epsilon again. */
    assert_int_equal(plots.n, 3);
    assert_string_equal(plots.items[0].name, "rmse-epsilon");
    assert_string_equal(plots.items[1].name, "rounds");
    assert_string_equal(plots.items[2].name, "noise-users.social-linear");
    assert_non_null(strstr(page, "Noise on the linear coefficients of users.social"));
    assert_non_null(strstr(page, "href=\"logs/gauss_epsilon-1_seed-2.txt\""));
    assert_non_null(strstr(page, "href=\"points/gauss_epsilon-1_seed-2/run.json\""));
    assert_non_null(strstr(page, "1 of 15 points have no results"));
    assert_non_null(strstr(page, "class=\"box private\""));
    free(page);
    plots_free(&plots);
    outcomes_free(&outcomes);
}

TEST_WITH(the_question_is_answered, begin, end)
{
    struct outcomes outcomes;
    struct outcome_tests tests;
    make_sweep(&outcomes);
    outcome_tests_make(&outcomes, &tests);
    char *answer = answer_text(&outcomes, &tests), *privacy = answer_privacy(&outcomes);
    assert_non_null(
        strstr(answer, "By rmse (smaller is better):\nat epsilon = 1 laplace is best with 1.1020 ± "));
    assert_non_null(strstr(answer, "(-0.0993 from gauss, p <0.0001);\n"));
    assert_non_null(strstr(answer, "at epsilon = 10 gauss is best with 0.9513 ± 0.0015 (the baseline)."));
    assert_non_null(strstr(answer, "For comparison: plain (no noise) 0.9013"));
    assert_null(strstr(answer, "plain is best"));
    assert_string_equal(privacy,
                        "Privacy: of 5 combinations 4 have a finite epsilon proved for the plan (the noise "
                        "of these runs comes from seeds), 1 has no noise. The epsilons are from 1 to 10.");
    assert_true(metric_smaller_is_better("train-rmse-user"));
    assert_false(metric_smaller_is_better("ndcg@10"));
    free(answer);
    free(privacy);
    outcome_tests_free(&tests);
    outcomes_free(&outcomes);
}

/* Without its style sheet, its version and the directory. */
static char *stripped(const char *page)
{
    char *out = calloc(1, strlen(page) + 1), *to = out;
    for (const char *at = strstr(page, "<body>"); *at;) {
        if (strncmp(at, directory, strlen(directory)) == 0) {
            at += strlen(directory);
            to += sprintf(to, "DIR");
        } else if (strncmp(at, "dpframe " DPFRAME_VERSION, strlen("dpframe " DPFRAME_VERSION)) == 0) {
            at += strlen("dpframe " DPFRAME_VERSION);
            to += sprintf(to, "VERSION");
        } else {
            *to++ = *at++;
        }
    }
    return out;
}

TEST_WITH(a_small_page_is_the_same_bytes, begin, end)
{
    struct outcomes outcomes;
    struct plots plots;
    char path[512];
    make_sweep(&outcomes);
    char *page = page_of(&outcomes, &plots), *body = stripped(page);
    snprintf(path, sizeof path, "%s/tests/unit/golden_page.html", getenv("DPFRAME_SOURCE_DIR"));
    if (getenv("REGENERATE")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(body, file);
        fclose(file);
    }
    FILE *file = fopen(path, "r");
    char *expected = calloc(1, 1 << 20);
    assert_non_null(file);
    assert_non_null(expected);
    assert_true(fread(expected, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    assert_string_equal(body, expected);
    free(expected);
    free(body);
    free(page);
    plots_free(&plots);
    outcomes_free(&outcomes);
}
