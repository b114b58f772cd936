/* SPDX-License-Identifier: Apache-2.0 */
/* Which tests a sweep makes of its results: corrected where training parts overlap, and none where one draw of noise, one
 * pair or a missing metric would only look like evidence. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/test.h"
#include "base/memory.h"
#include "base/text.h"
#include "sweep/outcome_tables.h"
#include "sweep/outcome_tests.h"

#define NOISE "\"guarantee\": {\"releases\": 2}, "

/* A sweep of variants a and b with so many seeds and folds. */
struct made {
    char directory[64];
    int seeds, folds, fixed_seed, without_noise;
    const char *data, *split, *evaluate;           /* [evaluate] of the second variant */
    double (*metric)(int variant, int repetition); /* NaN: absent; infinite: the run failed */
};

static void put(const char *directory, const char *name, const char *text)
{
    char *path = memory_format("%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    free(path);
}

static void folder(const char *directory, const char *name)
{
    char *path = memory_format("%s/%s", directory, name);
    assert_int_equal(mkdir(path, 0700), 0);
    free(path);
}

static void add_run(const struct made *made, int variant, int repetition, const char *point)
{
    char *name = memory_format("state/%s.json", point), *part = memory_format("points/%s", point);
    const int failed = isinf(made->metric(variant, repetition));
    put(made->directory, name, failed ? "{\"status\": \"failed\"}" : "{\"status\": \"done\"}");
    folder(made->directory, part);
    free(name);
    name = memory_format("%s/private", part);
    folder(made->directory, name);
    free(name);
    name = memory_format("%s/private/data.json", part);
    put(made->directory, name, "{\"train\": 800, \"test\": 200}");
    free(name);
    const double value = made->metric(variant, repetition);
    char *metric = isnan(value) ? memory_text("null") : memory_format("%.17g", value);
    char *run = memory_format(
        "{\"metrics\": {\"rmse\": %s}, " NOISE "\"config\": {\"items\": {\"mechanism\": \"%s\"}, "
        "\"privacy\": {\"randomness\": \"reproducible\", \"noise-seed\": \"%d\"}, "
        "\"data\": {\"format\": \"%s\"}, \"split\": {%s}, \"evaluate\": {%s}}}",
        metric, made->without_noise ? "none" : "gaussian", made->fixed_seed ? 1 : 100 * variant + repetition,
        made->data, made->split, variant && made->evaluate ? made->evaluate : "");
    name = memory_format("%s/run.json", part);
    put(made->directory, name, run);
    free(name);
    free(metric);
    free(run);
    free(part);
}

static void make(struct made *made, struct outcomes *outcomes, struct outcome_tests *tests)
{
    static const char *const parts[] = {"state", "points"};
    struct text points = {0}, seeds = {0}, folds = {0};
    struct dpf_error error = {0};
    strcpy(made->directory, "/tmp/dpf-tests-XXXXXX");
    assert_non_null(mkdtemp(made->directory));
    for (int i = 0; i < 2; i++)
        folder(made->directory, parts[i]);
    for (int variant = 0; variant < 2; variant++)
        for (int fold = 0; fold < made->folds; fold++)
            for (int seed = 0; seed < made->seeds; seed++) {
                char *point = memory_format("%c-%d-%d", 'a' + variant, fold + 1, seed + 1);
                text_add(&points, "%s{\"name\": \"%s\", \"values\": [\"%c\", \"%d\", \"%d\"]}",
                         points.length ? ", " : "", point, 'a' + variant, fold + 1, seed + 1);
                add_run(made, variant, fold * made->seeds + seed, point);
                free(point);
            }
    for (int seed = 0; seed < made->seeds; seed++)
        text_add(&seeds, "%s\"%d\"", seed ? ", " : "", seed + 1);
    for (int fold = 0; fold < made->folds; fold++)
        text_add(&folds, "%s\"%d\"", fold ? ", " : "", fold + 1);
    char *sweep = memory_format("{\"format\": 1, \"baseline\": \"a\", \"metrics\": [], \"dimensions\": "
                                "[{\"name\": \"variant\", \"key\": "
                                "\"\", \"values\": [\"a\", \"b\"]}, {\"name\": \"fold\", \"key\": "
                                "\"split.fold\", \"repetition\": true, "
                                "\"values\": [%s]}, {\"name\": \"seed\", \"key\": \"run.seed\", "
                                "\"repetition\": true, \"values\": [%s]}], "
                                "\"points\": [%s]}",
                                folds.data, seeds.data, points.data);
    put(made->directory, "sweep.json", sweep);
    free(sweep);
    text_free(&points);
    text_free(&seeds);
    text_free(&folds);
    if (outcomes_read(made->directory, outcomes, &error) != 0)
        fail_msg("%s", error.text);
    outcome_tests_make(outcomes, tests);
    assert_int_equal(tests->n, 1);
}

static void end(struct made *made, struct outcomes *outcomes, struct outcome_tests *tests)
{
    char *command = memory_format("rm -r %s", made->directory);
    outcome_tests_free(tests);
    outcomes_free(outcomes);
    assert_int_equal(system(command), 0); /* NOLINT: a name that mkdtemp made */
    free(command);
}

/* b is .1 worse, with a spread of about .03. */
static double shifted(int variant, int repetition)
{
    return variant ? 1.1 + 0.01 * (repetition % 5) - 0.02 * (repetition % 2) : 1 + 0.001 * repetition;
}

static double overlap_of(const char *data, const char *split, int seeds, int folds)
{
    struct made made = {.seeds = seeds, .folds = folds, .data = data, .split = split, .metric = shifted};
    struct outcomes outcomes;
    struct outcome_tests tests;
    make(&made, &outcomes, &tests);
    assert_int_equal(tests.items[0].paired.n, seeds * folds);
    assert_int_equal((int64_t)outcomes.n_repetitions, seeds * folds);
    assert_int_equal((int64_t)outcomes.n_cells, 2);
    assert_null(tests.items[0].why_not);
    assert_true(tests.items[0].paired.low < tests.items[0].paired.difference);
    const double overlap = tests.items[0].overlap;
    char *note = outcome_tests_note(&outcomes, &tests);
    assert_non_null(note);
    assert_true((strstr(note, "Nadeau") != NULL) == (overlap > 0));
    free(note);
    end(&made, &outcomes, &tests);
    return overlap;
}

TEST(overlapping_training_parts_are_corrected_for)
{
    assert_true(overlap_of("csv", "\"kind\": \"random\"", 5, 1) == 0.25);
    assert_true(overlap_of("csv", "\"kind\": \"k-fold\"", 1, 5) == 0.25);
    assert_true(overlap_of("csv", "\"kind\": \"k-fold\"", 2, 3) == 0.25);
    assert_true(overlap_of("csv", "\"kind\": \"leave-one-out\", \"by\": \"random\"", 5, 1) == 0.25);
    assert_true(overlap_of("synthetic", "\"kind\": \"k-fold\"", 1, 5) == 0.25);
    /* The same test records each time, or records of their own. */
    assert_true(overlap_of("csv", "\"kind\": \"leave-one-out\", \"by\": \"time\"", 5, 1) == 0);
    assert_true(overlap_of("csv", "\"kind\": \"files\"", 5, 1) == 0);
    assert_true(overlap_of("synthetic", "\"kind\": \"random\"", 5, 1) == 0);
}

static void says(struct made made, const char *why, int64_t pairs)
{
    struct outcomes outcomes;
    struct outcome_tests tests;
    made.data = "csv";
    made.split = "\"kind\": \"files\"";
    make(&made, &outcomes, &tests);
    const struct outcome_test *test = &tests.items[0];
    assert_int_equal(test->paired.n, pairs);
    if (why) {
        assert_non_null(test->why_not);
        assert_non_null(strstr(test->why_not, why));
        assert_true(isnan(test->paired.p) && isnan(test->holm) && isnan(test->paired.low));
    } else {
        assert_null(test->why_not);
        assert_true(test->holm < 0.05);
    }
    struct sheet table = outcome_tables_tests(&outcomes, &tests);
    struct text text = {0};
    sheet_write(&table, SHEET_CSV, 0, &text);
    assert_non_null(strstr(text.data, why ? why : "b,rmse"));
    text_free(&text);
    sheet_free(&table);
    end(&made, &outcomes, &tests);
}

static double alike(int variant, int repetition)
{
    return variant ? 1.5 + repetition : 1.0 + repetition;
}

static double absent(int variant, int repetition)
{
    return repetition == 2 ? (double)NAN : shifted(variant, repetition);
}

static double without_baseline(int variant, int repetition)
{
    return variant == 0 ? (double)INFINITY : shifted(variant, repetition);
}

static double without_variant(int variant, int repetition)
{
    return variant == 1 ? (double)INFINITY : shifted(variant, repetition);
}

static double by_turns(int variant, int repetition)
{
    return repetition % 2 == variant ? (double)INFINITY : shifted(variant, repetition);
}

TEST(what_is_no_evidence_has_no_p)
{
    says((struct made){.seeds = 5, .folds = 1, .metric = shifted}, NULL, 5);
    says((struct made){.seeds = 5, .folds = 1, .metric = shifted, .fixed_seed = 1}, "share one draw of noise",
         5);
    says((struct made){.seeds = 2, .folds = 2, .metric = shifted, .fixed_seed = 1}, "share one draw of noise",
         4);
    says((struct made){.seeds = 5, .folds = 1, .metric = shifted, .fixed_seed = 1, .without_noise = 1}, NULL,
         5);
    says((struct made){.seeds = 1, .folds = 1, .metric = shifted}, "one pair", 1);
    says((struct made){.seeds = 5, .folds = 1, .metric = shifted, .evaluate = "\"ranking\": \"sampled\""},
         "other [evaluate] ranking than the baseline", 5);
    says((struct made){.seeds = 5, .folds = 1, .metric = shifted, .evaluate = "\"k\": \"5\""}, NULL, 5);
    says((struct made){.seeds = 5, .folds = 1, .metric = alike}, "all differences are equal", 5);
    says((struct made){.seeds = 5, .folds = 1, .metric = absent}, "does not have this metric", 4);
    says((struct made){.seeds = 5, .folds = 1, .metric = without_baseline},
         "no run of the baseline has ended", 0);
    says((struct made){.seeds = 5, .folds = 1, .metric = without_variant}, "no run has ended", 0);
    says((struct made){.seeds = 4, .folds = 1, .metric = by_turns}, "no repetition has ended on both sides",
         0);
}
