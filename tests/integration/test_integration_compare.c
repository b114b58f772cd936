/* SPDX-License-Identifier: Apache-2.0 */
/* Models that a run is compared with: exact ones, and what could be released in its place with its epsilon.
 */
#include "kit/test.h"
#include "kit/training.h"

#include "kit/spawned.h"

static double baseline(const char *run, const char *model, const char *metric)
{
    json_t *json = command_json(run);
    const json_t *value = json_object_get(json_object_get(json_object_get(json, "baselines"), model), metric);
    const double number = json_is_number(value) ? json_number_value(value) : -1;
    json_decref(json);
    return number;
}

static double own(const char *run, const char *metric)
{
    json_t *json = command_json(run);
    const json_t *value = json_object_get(json_object_get(json, "metrics"), metric);
    const double number = json_is_number(value) ? json_number_value(value) : -1;
    json_decref(json);
    return number;
}

/* Lines are wrapped at the terminal's width. */
static void says(const char *text)
{
    for (char *at = command_out; *at; at++)
        if (*at == '\n')
            *at = ' ';
    if (!strstr(command_out, text))
        fail_msg("\"%s\" is missing in: %s", text, command_out);
}

/* Biases without privacy are what alternating least squares of rank 0 converges to. */
TEST(biases_are_those_of_rank_0)
{
    command_expect("-q -c exact.ini -O als", 0, "");
    command_expect("-q -c exact.ini -o model.kind=biases -O biases", 0, "");
    assert_true(own("als/run.json", "rmse") > 0.1);
    assert_true(fabs(own("als/run.json", "rmse") - own("biases/run.json", "rmse")) < 1e-4);
    command_expect("-c exact.ini -o run.compare=biases,mean -O compared", 0, "");
    says("mean, biases: of exact records, without privacy.");
    says("Verdict: this test part cannot tell whether the model predicts better than biases of users");
    assert_true(fabs(baseline("compared/run.json", "biases", "rmse") - own("biases/run.json", "rmse")) <
                1e-12);
    assert_true(baseline("compared/run.json", "mean", "rmse") >
                baseline("compared/run.json", "biases", "rmse"));
    command_expect("-q -c exact.ini -o run.compare=bias -O refused", 2, "must be non-private, popularity");
}

/* The recommender in place of a factorization, whose keys it does not read: with the epsilon of the run. */
TEST(what_could_be_released_has_the_epsilon_of_the_run)
{
    command_expect("-c noisy.ini -o run.compare=private-biases,popularity -O noisy", 0, "");
    says("private-biases: a model trained from these records with epsilon 3");
    says("released with the same epsilon (private-biases)");
    says("no epsilon covers it");
    const double epsilon = baseline("noisy/run.json", "private-biases", "epsilon-proved"),
                 rmse = baseline("noisy/run.json", "private-biases", "rmse");
    assert_true(epsilon > 2.9);
    assert_true(epsilon <= 3);
    assert_true(baseline("noisy/run.json", "popularity", "epsilon-proved") == -1);
    /* The model of its own configuration, with the same key and budget. */
    command_expect("-q -c released.ini -O released", 0, "");
    assert_true(fabs(own("released/run.json", "rmse") - rmse) < 1e-12);
    /* The same where each release states its noise. */
    command_expect("-q -c noisy.ini -o privacy.budget=per-release -o privacy.calibrate-by= -o "
                   "run.compare=private-biases -O stated",
                   0, "");
    assert_true(baseline("stated/run.json", "private-biases", "epsilon-proved") > 0);
    assert_true(baseline("stated/run.json", "private-biases", "rmse") > 0);
}

/* A point of a sweep sets its model after everything else; the comparison has its own all the same. */
TEST(points_of_sweeps_are_compared_too)
{
    command_expect("-q -c sweep.ini -O sweep", 0, "");
    double values[2];
    for (int point = 0; point < 2; point++) {
        const char *path = point ? "sweep/points/b/run.json" : "sweep/points/a/run.json";
        values[point] = baseline(path, "private-biases", "rmse");
        assert_true(values[point] > 0);
        assert_true((fabs(own(path, "rmse") - values[point]) < 1e-12) == (point == 1));
    }
    assert_true(fabs(values[0] - values[1]) < 1e-12);
}

/* Nothing is proved of the run: it is complete, and the comparison is left out with the reason. */
TEST(what_cannot_be_released_is_left_out)
{
    command_expect("-q -c exact.ini -o run.compare=private-biases -O left-out", 0,
                   "private-biases is left out: private-biases is trained with the epsilon that is proved");
    assert_true(own("left-out/run.json", "rmse") > 0);
    command_expect("-c lists.ini -o run.compare=private-popularity -O lists", 0, "");
    assert_true(baseline("lists/run.json", "private-popularity", "ndcg@10") > 0);
    says("released with the same epsilon (private-popularity)");
}

/* Three trainings are counted as three, and the comparison with what could be released is that of one. */
TEST(noise_is_drawn_again_and_counted)
{
    command_expect("-c noisy.ini -o run.compare-repetitions=2 -o run.compare=private-biases -O again", 0,
                   "with [run] compare-repetitions 3 trainings are counted");
    says("That is one draw of the noise: over 3 of them rmse is ");
    says("The model is trained 3 times");
    json_t *run = command_json("again/run.json"), *guarantee = json_object_get(run, "guarantee");
    assert_int_equal(json_integer_value(json_object_get(guarantee, "trainings")), 3);
    const json_t *proved = json_array_get(json_object_get(guarantee, "proved"), 0);
    const double epsilon = json_number_value(json_object_get(proved, "epsilon"));
    assert_true(epsilon > 3.5 && epsilon <= 9);
    json_decref(run);
    assert_true(baseline("again/run.json", "private-biases", "epsilon-proved") <= 3);
    /* The model is that of a run without it, and check says the same of it. */
    command_expect("-q -c noisy.ini -o run.compare= -O alone", 0, "");
    command_expect("check --json -c noisy.ini -o run.compare-repetitions=2", 0, "");
    json_t *json = json_loads(command_out, 0, NULL);
    proved = json_array_get(json_object_get(json_object_get(json, "guarantee"), "proved"), 0);
    assert_true(fabs(json_number_value(json_object_get(proved, "epsilon")) - epsilon) < 1e-9);
    json_decref(json);
    /* All of them are charged. */
    command_expect("-q -c noisy.ini -o run.compare-repetitions=2 -o privacy.randomness=secure -o "
                   "privacy.ledger=spent -o "
                   "privacy.max-epsilon=3.1 -O charged",
                   2, "max-epsilon = 3.1");
    assert_int_equal(access(command_path("charged/run.json"), F_OK), -1);
}

/* Each is a sentence, and none has a p value. */
TEST(what_cannot_be_compared_says_why)
{
    command_expect("-q -c exact.ini -O mine", 0, "");
    command_expect("-q -c exact.ini -o run.seed=2 -O elsewhere", 0, "");
    command_expect("compare mine elsewhere", 3, "do not have the same test records");
    command_expect("compare mine nowhere", 3, "name the directory of a finished run");
    command_expect("compare mine", 2, "name the directories of 2 to");
    command_expect("compare mine mine --json", 0, "");
    json_t *list = json_loads(command_out, 0, NULL);
    assert_true(json_is_null(json_object_get(json_array_get(list, 0), "p")));
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "why_not")),
                        "all users have equal results");
    json_decref(list);
    command_expect("-q -c exact.ini -o split.kind=none -O untested", 0, "");
    command_expect("compare mine untested", 3, "has no results by user");
}

/* ---- finished runs ------------------------------------------------------------------------------------ */

/* Both halves of a run's results by user are those of its metrics. */
TEST(finished_runs_are_compared_by_user)
{
    command_expect("-q -c exact.ini -O one", 0, "");
    command_expect("-q -c exact.ini -o model.kind=mean -O other", 0, "");
    command_expect("compare one other --json", 0, "");
    json_t *list = json_loads(command_out, 0, NULL), *test = json_array_get(list, 0);
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(json_string_value(json_object_get(test, "metric")), "rmse");
    assert_true(fabs(json_number_value(json_object_get(test, "value")) - own("other/run.json", "rmse")) <
                1e-12);
    assert_true(fabs(json_number_value(json_object_get(test, "baseline_value")) -
                     own("one/run.json", "rmse")) < 1e-12);
    assert_string_equal(json_string_value(json_object_get(test, "verdict")), "worse");
    assert_true(json_number_value(json_object_get(test, "p")) < 0.01);
    assert_true(json_number_value(json_object_get(test, "low")) > 0);
    assert_true(json_integer_value(json_object_get(test, "wins")) <
                json_integer_value(json_object_get(test, "losses")));
    json_decref(list);
    command_expect("compare one other", 0, "");
    says("Privacy:");
    says("| other | rmse |");
    says("| worse |");
    command_expect("compare one one", 0, "");
    says("all users have equal results");
    command_expect("compare one other one", 0, "");
    says("Against one, user by user:");
}

/* Lists have their metrics by user, too; the order of users in the file changes nothing. */
TEST(ranked_runs_are_compared_by_user)
{
    command_expect("-q -c lists.ini -O ranked", 0, "");
    command_expect(
        "-q -c lists.ini -o model.kind=popularity -o model.recommender= -o run.compare= -O popular", 0, "");
    command_expect("compare popular ranked --json", 0, "");
    json_t *list = json_loads(command_out, 0, NULL), *test;
    size_t i;
    assert_true(json_array_size(list) > 0);
    json_array_foreach(list, i, test)
    {
        const char *metric = json_string_value(json_object_get(test, "metric"));
        assert_true(fabs(json_number_value(json_object_get(test, "value")) - own("ranked/run.json", metric)) <
                    1e-12);
        assert_true(fabs(json_number_value(json_object_get(test, "baseline_value")) -
                         own("popular/run.json", metric)) < 1e-12);
    }
    json_decref(list);
}

TEST(runs_with_other_test_records_are_refused)
{
    command_expect("-q -c exact.ini -o run.seed=4 -O seed", 0, "");
    command_expect("compare one seed", 3, "do not have the same test records");
    command_expect("compare one seed", 3, "Compare runs of the same data, [split] and run.seed");
    command_expect("-q -c exact.ini -o split.kind=none -O untested", 0, "");
    command_expect("compare one untested", 3, "untested has no results by user");
    command_expect("compare one nowhere", 3, "nowhere/run.json");
    command_expect("compare one", 2, "name the directories of 2 to 32 runs");
    command_expect("compare -c exact.ini", 2, "no option -c");
    training_file("one/private/by_user.npy", "damaged");
    command_expect("compare one other", 3, "by_user.npy");
}

#define DATA(FEEDBACK)                                                                                       \
    "[run]\nseed = 3\ntrace = no\n[data]\nformat = csv\ndelimiter = comma\nheader = no\nfields = 3\n"        \
    "column.user = 1\ncolumn.item = 2\npath = own.csv\n" FEEDBACK "[split]\nkind = random\nfraction = 0.2\n"
#define RATINGS DATA("column.rating = 3\nvalue-min = 1\nvalue-max = 5\n")
#define PRIVACY                                                                                              \
    "[parties]\nkind = curator\n[privacy]\nid-lists = public\nunit = user\nadjacency = zero-out\nobserver "  \
    "= outsider\ndelta = "                                                                                   \
    "1e-5\nbudget = total\ntotal-epsilon = 3\ncalibrate-by = pld\nrandomness = reproducible\n"               \
    "[accountants]\nlist = pld\n"
#define RATES "[evaluate]\nmetrics = rmse\ncold = model\n"

static int begin(void **state)
{
    static char text[1 << 17];
    if (training_begin(state) != 0)
        return -1;
    char *at = text;
    for (int u = 0; u < 300; u++)
        for (int i = 0; i < 40; i++)
            if ((u * 7 + i * i * 3) % 11 < 1 + i % 5)
                at += sprintf(at, "u%d,i%d,%d\n", u, i, 1 + (u % 3 + i % 3 + (u * i) % 5) / 2);
    training_file("own.csv", text);
    training_file("exact.ini",
                  RATINGS "[run]\nrounds = 15\n[model]\nrank = 0\nuser-bias = yes\nitem-bias = yes\noffset = "
                          "mean\n[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = "
                          "1\nbias-lambda = 5\nregularization = constant\n[items]\nloss = explicit-als\n"
                          "solver = cholesky\n[items.loss]\nlambda = 1\nbias-lambda = 5\n"
                          "regularization = constant\n[evaluate]\nmetrics = rmse\ncold = model\n");
    snprintf(text, sizeof text,
             "include = %s/configs/corrected/user-level-als.ini\n" RATINGS
             "[run]\nrounds = 1\n[model]\nusers = 300\nitems = 40\nrank = 1\n" PRIVACY,
             getenv("DPFRAME_SOURCE_DIR"));
    training_file("noisy.ini", text);
    training_file("released.ini",
                  RATINGS "[model]\nrecommender = private-biases\nusers = 300\nitems = 40\n" PRIVACY RATES);
    training_file("sweep.ini",
                  RATINGS "[model]\nrecommender = private-ratings\nusers = 300\nitems = 40\n" PRIVACY RATES
                          "[run]\ncompare = private-biases\n[sweep]\nmetrics = rmse\nvariant.a = "
                          "model.recommender=private-als\nvariant.b = model.recommender=private-biases\n");
    training_file(
        "lists.ini",
        DATA("column.rating = none\nfeedback = implicit\n") "[model]\nrecommender = private-gram\nusers = "
                                                            "300\nitems = 40\n" PRIVACY
                                                            "[evaluate]\nmetrics = ndcg\n");
    return 0;
}

FIXTURE(begin, training_end)
