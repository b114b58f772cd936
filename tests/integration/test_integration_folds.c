/* SPDX-License-Identifier: Apache-2.0 */
/* "[split] fold = all": a run for each fold, their mean and deviation, and what all of them release together. */
#include "kit/test.h"
#include "integration/command_fixture.h"

#define FOLDS "[split]\nkind = k-fold\nfolds = 4\nfold = all\n"
#define DATA                                                                                                 \
    "[data]\nformat = synthetic\nsynthetic.users = 150\nsynthetic.items = 40\nsynthetic.ratings = 3000\n"    \
    "value-min = 1\nvalue-max = 5\n"

static const char exact[] = "[run]\nrounds = 3\nthreads = 1\noutput = out\n" DATA FOLDS "[model]\nrank = 2\n"
                            "[users]\nloss = explicit-als\nsolver = cholesky\n"
                            "[items]\nloss = explicit-als\nsolver = cholesky\n[evaluate]\nmetrics = rmse\n";
static const char private[] =
    "[run]\nthreads = 1\noutput = out\n" DATA FOLDS
    "[model]\nrecommender = private-ratings\nusers = 150\nitems = 40\n[parties]\nkind = curator\n"
    "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-5\nbudget = total\n"
    "total-epsilon = 1\ncalibrate-by = pld\n[accountants]\nlist = pld, rdp\n[evaluate]\nmetrics = rmse\n";

static int start(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    training_file("exact.ini", exact);
    training_file("private.ini", private);
    return 0;
}

static double number(const char *file, const char *part, const char *name)
{
    json_t *json = command_json(file);
    const json_t *value = json_object_get(json_object_get(json, part), name);
    const double out = json_is_number(value) ? json_number_value(value) : (double)NAN;
    json_decref(json);
    return out;
}

static double least_proved(const char *file)
{
    json_t *json = command_json(file), *account;
    double least = INFINITY;
    size_t i;
    json_array_foreach(json_object_get(json_object_get(json, "guarantee"), "proved"), i, account) least =
        fmin(least, json_number_value(json_object_get(account, "epsilon")));
    json_decref(json);
    return least;
}

/* The oracle: the same folds, one by one, and their mean and deviation by hand. */
TEST(all_folds_are_those_that_are_named)
{
    double sum = 0, squares = 0;
    char line[128], expected[64];
    command_expect("run exact.ini -O folds", 0, "");
    for (int k = 1; k <= 4; k++) {
        snprintf(line, sizeof line, "-q run exact.ini -o split.fold=%d -O one-%d", k, k);
        command_expect(line, 0, "");
        snprintf(line, sizeof line, "one-%d/run.json", k);
        const double alone = number(line, "metrics", "rmse");
        snprintf(line, sizeof line, "folds/points/fold-%d/run.json", k);
        assert_true(number(line, "metrics", "rmse") == alone);
        sum += alone;
        squares += alone * alone;
    }
    const double mean = sum / 4;
    snprintf(expected, sizeof expected, "%.4f ± %.4f", mean, sqrt((squares - 4 * mean * mean) / 3));
    static char tables[1 << 16];
    command_slurp(command_path("folds/tables.md"), tables, sizeof tables);
    if (!strstr(tables, expected))
        fail_msg("%s is not in %s", expected, tables);
    assert_null(strstr(tables, "together"));
}

/* Repetitions of a sweep are folds times seeds, and the correction for overlap is that of k-fold. */
TEST(sweeps_repeat_over_folds_and_seeds)
{
    command_expect(
        "-q run exact.ini -o sweep.model.rank=1,2 -o sweep.run.seed=1..2 -o sweep.baseline=rank=1 -O swept",
        0, "");
    static char tables[1 << 16];
    command_slurp(command_path("swept/tables.csv"), tables, sizeof tables);
    char *row = strstr(tables, "\n2,rmse,");
    assert_non_null(row);
    assert_int_equal(strncmp(row, "\n2,rmse,8,", 10), 0);
    /* Behind pairs, difference, interval, t, p, Holm and needed stands test part over training part. */
    double overlap = 0;
    char *field = row + 1;
    for (int i = 0; i < 13 && field; i++)
        field = strchr(field, ',') + 1;
    assert_int_equal(sscanf(field, "%lf", &overlap), 1);
    assert_true(fabs(overlap - 1.0 / 3) < 0.05);
}

/* Four models of overlapping records: their releases add up, in the statement and in the ledger. */
TEST(folds_are_composed)
{
    command_expect("run private.ini -O composed", 0, "");
    assert_non_null(strstr(command_out, "together"));
    json_t *sweep = command_json("composed/sweep.json");
    const json_t *row = json_array_get(json_object_get(sweep, "together"), 0);
    const double all = json_number_value(json_object_get(row, "epsilon"));
    assert_int_equal(json_integer_value(json_object_get(row, "runs")), 4);
    const double one = least_proved("composed/points/fold-1/run.json");
    assert_true(one > 0.99 && one <= 1);
    assert_true(all > 1.5 * one && all <= 4 * one);
    json_decref(sweep);
    command_expect("check -c private.ini", 0, "");
    assert_non_null(strstr(command_out, "together"));
    /* The oracle: the ledger composes four planned runs. */
    command_expect("-q run private.ini -O charged -o privacy.ledger=spent -o privacy.max-epsilon=2.5 "
                   "-o privacy.ledger-runs=planned",
                   0, "");
    assert_int_equal(shell("test $(wc -l < spent) = 5"), 0);
    double composed = 0;
    for (int k = 1; k <= 4; k++) {
        char file[64];
        snprintf(file, sizeof file, "charged/points/fold-%d/run.json", k);
        json_t *run = command_json(file);
        const json_t *budget = json_object_get(json_object_get(run, "guarantee"), "budget");
        composed = fmax(composed, json_number_value(json_object_get(budget, "epsilon_composed")));
        json_decref(run);
    }
    assert_true(composed > 1.5 && composed <= all); /* at a delta four times as large */
}

/* Not the first two, and then no more; nor those of the first row of a table, and then a part of the second. */
TEST(a_ledger_has_room_for_all_folds_or_none)
{
    command_expect("-q run private.ini -O none -o privacy.ledger=short -o privacy.max-epsilon=3.5", 2,
                   "4 folds and seeds that are not charged yet: -o \"privacy.max-epsilon=3.5\": [privacy] "
                   "max-epsilon = 3.5");
    assert_int_equal(shell("test ! -e short && test ! -e none/points/fold-1/run.json"), 0);
    command_expect("check -c private.ini -o privacy.ledger=short -o privacy.max-epsilon=3.5", 2,
                   "max-epsilon = 3.5");
    command_expect("-q run private.ini -O enough -o privacy.ledger=enough.json -o privacy.max-epsilon=4.5", 0,
                   "");
    /* Those that are there were charged. */
    command_expect(
        "-q run private.ini -O enough -o privacy.ledger=enough.json -o privacy.max-epsilon=4.5 --resume", 0,
        "");
    assert_int_equal(shell("test $(wc -l < enough.json) = 5"), 0);
    command_expect("-q run private.ini -O rows -o sweep.privacy.delta=1e-5,1e-6 -o privacy.ledger=rows.json "
                   "-o privacy.max-epsilon=6",
                   2,
                   "8 folds and seeds that are not charged yet: -o \"privacy.max-epsilon=6\": [privacy] "
                   "max-epsilon = 6");
    assert_int_equal(shell("test ! -e rows.json && test ! -e rows/points"), 0);
    command_expect("-q run private.ini -O apart -o sweep.variant.a=privacy.ledger=a.json "
                   "-o sweep.variant.b=privacy.ledger=b.json -o privacy.max-epsilon=6",
                   0, "");
    assert_int_equal(shell("test $(wc -l < a.json) = 5 && test $(wc -l < b.json) = 5"), 0);
}

TEST(what_is_no_fold_is_refused)
{
    command_expect("run exact.ini -o split.fold=5 -O no", 2, "fold 5 of 4");
    command_expect("run exact.ini -o split.fold=0 -O no", 2, "neither a fold");
    command_expect("run exact.ini -o split.fold=every -O no", 2, "neither a fold, counted from 1, nor all");
    command_expect("run exact.ini -o split.folds=all -O no", 2, "fold = all tests each of them");
    command_expect("run exact.ini -o sweep.split.folds=2,3 -O no", 2,
                   "all makes the same folds for all points");
    command_expect("run exact.ini -o sweep.variant.a=split.folds=2 -O no", 2, "all makes the same folds");
    command_expect("run exact.ini -o split.kind=random -O random", 0, "");
    assert_int_equal(shell("test ! -e no"), 0);
}

FIXTURE(start, training_end)
