/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private selection among the points of a sweep: what is charged, what lies where, what a failure and an
 * interruption leave, and what is refused.
 */
#include <dirent.h>

#include "kit/test.h"
#include "kit/training.h"

#include "kit/spawned.h"
#include "select/candidates.h"
#include "select/select_run.h"

#define COMMON                                                                                               \
    "[run]\nrounds = 2\nthreads = 1\noutput = out\n"                                                         \
    "[data]\nformat = synthetic\nsynthetic.users = 80\nsynthetic.items = 30\nsynthetic.ratings = 1200\n"     \
    "value-min = 1\nvalue-max = 5\n[split]\nkind = random\nfraction = 0.3\n"                                 \
    "[model]\nusers = 80\nrank = 2\noffset = midpoint\n"                                                     \
    "[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.2\n"                          \
    "[items]\ntransforms = clip-user\nmechanism = gaussian\n"                                                \
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 6\nwhere = sum\n"                 \
    "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-5\n"                    \
    "[accountants]\nlist = pld, rdp\n"                                                                       \
    "[evaluate]\nmetrics = rmse\nrelease = noisy\nrelease-epsilon = 2\n"                                     \
    "[select]\nmetric = rmse\nrepetitions = geometric\nmean = 4\n"

static const char config[] = "[items]\nloss = squared-error\nsolver = gradient-descent\n" COMMON
                             "[sweep]\nitems.solver.rate = 0.001, 0.02\njobs = 2\n";
/* Steps that are far too long multiply rows until they are not finite: such a run fails. */
static const char fails[] =
    "[items]\nloss = squared-error\nsolver = gradient-descent\n" COMMON
    "[sweep.variant.short]\nitems.solver.rate = 0.01\n"
    "[sweep.variant.long]\nitems.solver.rate = 1e6\nitems.loss.regularization = 1e30\n";

static int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    training_file("select.ini", config);
    return 0;
}

/* How many entries of a directory begin with that. */
static int count_in(const char *directory, const char *start)
{
    int n = 0;
    DIR *dir = opendir(command_path(directory));
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir))
        n += strncmp(entry->d_name, start, strlen(start)) == 0 && entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

static double proved(const json_t *guarantee)
{
    double least = INFINITY;
    const json_t *list = json_object_get(guarantee, "proved");
    for (size_t i = 0; i < json_array_size(list); i++)
        least = fmin(least, json_number_value(json_object_get(json_array_get(list, i), "epsilon")));
    return least;
}

/* ---- the statement ------------------------------------------------------------------------------------- */

/* check, account and the run say the same; with tuning it costs more than without, and pld refuses. */
TEST_WITH(the_statement_is_with_and_without_tuning, begin, training_end)
{
    command_expect("check select.ini --json", 0, "");
    json_t *root = command_json(NULL);
    const json_t *guarantee = json_object_get(root, "guarantee"),
                 *selection = json_object_get(guarantee, "selection");
    const double with = proved(guarantee),
                 without = json_number_value(json_object_get(selection, "epsilon_without_tuning"));
    assert_int_equal(json_integer_value(json_object_get(selection, "candidates")), 2);
    assert_true(without > 0);
    assert_true(with > 1.5 * without);
    assert_true(with < 6 * without);
    assert_true(json_array_size(json_object_get(guarantee, "refused")) == 1); /* pld */
    json_decref(root);
    command_expect("account select.ini", 0, "");
    assert_non_null(strstr(command_out, "Without tuning: epsilon ="));
    command_expect("run select.ini -O out", 0, "");
    assert_non_null(strstr(command_out, "SELECTION AMONG CANDIDATES"));
    root = command_json("out/run.json");
    assert_true(fabs(proved(json_object_get(root, "guarantee")) - with) < 1e-12);
    json_decref(root);
}

/* With a total, the selection has it, its candidates less. */
TEST_WITH(a_total_holds_for_all_runs_together, begin, training_end)
{
    command_expect("check select.ini --json -o privacy.budget=total -o privacy.total-epsilon=2", 0, "");
    json_t *root = command_json(NULL);
    const json_t *guarantee = json_object_get(root, "guarantee"),
                 *selection = json_object_get(guarantee, "selection");
    const double share = json_number_value(json_object_get(selection, "candidate_total_epsilon"));
    assert_true(proved(guarantee) <= 2);
    assert_true(proved(guarantee) > 1.99);
    assert_true(share > 0.4);
    assert_true(share < 1.5);
    assert_true(json_number_value(json_object_get(selection, "epsilon_without_tuning")) <= share);
    json_decref(root);
}

/* ---- what lies where ----------------------------------------------------------------------------------- */

/* The winner's files, all of one time; of the others nothing outside of private/. */
TEST_WITH(only_the_winner_is_released, begin, training_end)
{
    struct stat first = {0};
    static const char *const parts[] = {"out", "out/release"};
    command_expect("run select.ini -O out -o select.repetitions=poisson -o select.mean=6 "
                   "-o privacy.randomness=reproducible -o privacy.noise-seed=3",
                   0, "");
    const int runs = count_in("out/private/selection/state", "run-");
    assert_true(runs > 1);
    assert_int_equal(count_in("out/private/selection/logs", "run-"), runs);
    assert_int_equal(count_in("out/private/selection/runs", "run-"), runs - 1); /* the winner's has moved */
    assert_int_equal(count_in("out", ""), 4); /* run.json, config.ini, release, private */
    for (int part = 0; part < 2; part++) {
        DIR *dir = opendir(command_path(parts[part]));
        assert_non_null(dir);
        for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
            struct stat info;
            char name[200];
            snprintf(name, sizeof name, "%.20s/%.100s", parts[part], entry->d_name);
            if (entry->d_name[0] == '.' || strcmp(entry->d_name, "private") == 0)
                continue;
            assert_int_equal(stat(command_path(name), &info), 0);
            if (first.st_mtim.tv_sec == 0)
                first = info;
            assert_true(info.st_mtim.tv_sec == first.st_mtim.tv_sec);
            assert_true(info.st_mtim.tv_nsec == first.st_mtim.tv_nsec);
        }
        closedir(dir);
    }
    /* Neither standard output nor what is released tells how many runs there were, or of which. */
    assert_null(strstr(command_out, "run-00"));
    static char text[1 << 20];
    command_slurp(command_path("out/release/certificate.json"), text, sizeof text);
    assert_non_null(strstr(text, "\"selection\""));
    assert_null(strstr(text, "run-00"));
    command_slurp(command_path("out/run.json"), text, sizeof text);
    assert_null(strstr(text, "private/selection"));
    /* The released directory is a run like any other. */
    command_expect("evaluate out", 0, "");
    /* It is the best of all scores. */
    double best = -INFINITY;
    for (int i = 1; i <= runs; i++) {
        char name[64];
        snprintf(name, sizeof name, "out/private/selection/state/run-%04d.json", i);
        json_t *root = command_json(name);
        best = fmax(best, json_number_value(json_object_get(root, "score")));
        json_decref(root);
    }
    json_t *root = command_json("out/run.json");
    const double released = json_number_value(
        json_object_get(json_object_get(json_object_get(root, "released_metrics"), "rmse"), "value"));
    assert_true(fabs(released + best) < 1e-12);
    json_decref(root);
}

/* Runs of one candidate draw noise of their own, also from a seed; the whole repeats from it. */
TEST_WITH(runs_draw_their_own_noise, begin, training_end)
{
    static char first[1 << 16], second[1 << 16];
    const char *options = "-o select.repetitions=poisson -o select.mean=9 -o privacy.randomness=reproducible "
                          "-o privacy.noise-seed=5";
    char line[512];
    snprintf(line, sizeof line, "run select.ini -O out %s", options);
    command_expect(line, 0, "");
    snprintf(line, sizeof line, "run select.ini -O again %s", options);
    command_expect(line, 0, "");
    command_slurp(command_path("out/release/metrics.csv"), first, sizeof first);
    command_slurp(command_path("again/release/metrics.csv"), second, sizeof second);
    assert_string_equal(first, second);
    const int runs = count_in("out/private/selection/state", "run-");
    double scores[64];
    int finite = 0;
    assert_true(runs > 3);
    assert_true(runs < 64);
    for (int i = 0; i < runs; i++) {
        char name[64];
        snprintf(name, sizeof name, "out/private/selection/state/run-%04d.json", i + 1);
        json_t *root = command_json(name);
        /* null: so much noise that there is no root */
        scores[i] = json_is_null(json_object_get(root, "score"))
                        ? -i
                        : json_number_value(json_object_get(root, "score"));
        finite += scores[i] != -i;
        json_decref(root);
        for (int k = 0; k < i; k++)
            assert_true(scores[k] != scores[i]);
    }
    assert_true(finite > 3);
}

/* ---- the ledger of the data ---------------------------------------------------------------------------- */

static int lines_of(const char *name)
{
    static char text[65536];
    int n = 0;
    command_slurp(command_path(name), text, sizeof text);
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        n++;
    return n;
}

/* Charged once, before anything runs, whatever becomes of it; what does not fit leaves nothing behind. */
TEST_WITH(it_is_charged_once, begin, training_end)
{
    command_expect("run select.ini -O out -o privacy.ledger=spent.jsonl", 0, "");
    assert_int_equal(lines_of("spent.jsonl"), 2);
    command_expect("run select.ini -O out -o privacy.ledger=spent.jsonl --resume", 0, "");
    assert_int_equal(lines_of("spent.jsonl"), 2);
    command_expect("run select.ini -O more -o privacy.ledger=spent.jsonl -o privacy.max-epsilon=0.5", 2,
                   "max-epsilon");
    assert_false(command_exists("more"));
    command_expect("check select.ini -o privacy.ledger=spent.jsonl", 0, "");
    assert_int_equal(lines_of("spent.jsonl"), 2);
}

/* ---- failures and interruptions ------------------------------------------------------------------------ */

/* A candidate that cannot be trained scores minus infinity, and another one wins; what is printed says
   nothing of it. */
TEST_WITH(a_failed_candidate_loses, begin, training_end)
{
    training_file("fails.ini", fails);
    command_expect("run fails.ini -O out -o select.repetitions=poisson -o select.mean=12 "
                   "-o privacy.randomness=reproducible -o privacy.noise-seed=5",
                   0, "");
    const int runs = count_in("out/private/selection/state", "run-");
    int failed = 0;
    for (int i = 1; i <= runs; i++) {
        char name[64];
        snprintf(name, sizeof name, "out/private/selection/state/run-%04d.json", i);
        json_t *root = command_json(name);
        failed += json_is_null(json_object_get(root, "score")) &&
                  *json_string_value(json_object_get(root, "problem"));
        json_decref(root);
    }
    assert_true(failed > 0);
    assert_true(failed < runs);
    assert_null(strstr(command_err, "finite"));
    assert_non_null(strstr(command_out, "Selected: "));
}

/* Of a killed selection nothing is released; --resume makes the same draws, and runs no run twice. */
TEST_WITH(a_killed_selection_goes_on, begin, training_end)
{
    const char *line = "run select.ini -O out -j 1 -o select.repetitions=poisson -o select.mean=20 "
                       "-o run.rounds=40 -o privacy.ledger=spent.jsonl";
    char resume[512];
    snprintf(resume, sizeof resume, "%s --resume", line);
    const pid_t pid = command_start(line);
    for (int i = 0; i < 6000 && count_in("out/private/selection/state", "run-") < 2; i++)
        command_sleep(10);
    kill(pid, SIGKILL);
    command_wait(pid);
    const int before = count_in("out/private/selection/state", "run-");
    assert_true(before >= 2);
    assert_false(command_exists("out/release"));
    assert_false(command_exists("out/run.json"));
    command_expect(line, 2, "--resume");
    struct stat kept, after;
    assert_int_equal(stat(command_path("out/private/selection/state/run-0001.json"), &kept), 0);
    command_expect(resume, 0, "");
    assert_int_equal(stat(command_path("out/private/selection/state/run-0001.json"), &after), 0);
    assert_true(kept.st_ino == after.st_ino);
    assert_true(kept.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    assert_true(command_exists("out/release/guarantee.txt"));
    assert_true(count_in("out/private/selection/state", "run-") > before);
    assert_int_equal(lines_of("spent.jsonl"), 2);
    snprintf(resume, sizeof resume, "%s --resume -o users.loss.lambda=0.3", line);
    command_expect(resume, 2, "are others than those");
    command_expect("run select.ini -O out --resume -o select.mean=7", 2, "are others than those");
}

/* Where no run has a score, nothing is released, and the exit status says so. */
TEST_WITH(nothing_may_be_selected, begin, training_end)
{
    command_expect("run select.ini -O out -o select.repetitions=poisson -o select.mean=0.0001", 1,
                   "nothing is selected");
    assert_false(command_exists("out/release"));
}

/* ---- refusals ------------------------------------------------------------------------------------------ */

TEST_WITH(what_is_not_proved_is_not_selected, begin, training_end)
{
    command_expect("run select.ini -O out -o accountants.list=pld", 2, "add rdp");
    command_expect("run select.ini -O out -o privacy.observer=server", 2, "");
    command_expect("run select.ini -O out -o evaluate.release=private", 2, "metric");
    command_expect("run select.ini -O out -o select.metric=ndcg@10", 2, "metric");
    command_expect("run select.ini -O out -o evaluate.metrics=hr -o select.metric=hr", 2,
                   "did you mean hr@10?");
    command_expect("run select.ini -O out -o select.eta=0.3", 2, "eta");
    command_expect("run select.ini -O out -o select.mean=0.5", 2, "mean");
    command_expect("run select.ini -O out -o sweep.run.seed=1..3", 2, "a repetition is not a candidate");
    command_expect("run select.ini -O out -o sweep.privacy.delta=1e-5,1e-6", 2, "[privacy]");
    command_expect("run select.ini -O out -o sweep.split.fraction=0.2,0.3", 2, "[split]");
    command_expect("run select.ini -O out -o items.mechanism=none", 2, "");
    assert_false(command_exists("out"));
    training_file("alone.ini", "include = select.ini\n[select]\nmetirc = rmse\n");
    command_expect("run alone.ini -O out", 2, "metric");
}
