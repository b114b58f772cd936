/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep that is run by its points: by processes that know nothing of each other, some of which are killed,
 * and by GNU parallel and make. The oracle is the same sweep run whole by one process. */
#include "kit/test.h"
#include "kit/training.h"

#include "kit/spawned.h"

static const char base[] =
    "[run]\nrounds = 40\nthreads = 1\noutput = out\n"
    "[data]\nformat = csv\nheader = yes\npath = ratings.csv\nvalue-min = 1\nvalue-max = 5\n"
    "[split]\nkind = random\nfraction = 0.2\n"
    "[model]\nrank = 3\noffset = midpoint\n"
    "[parties]\nkind = users\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.2\n"
    "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = gaussian\nsolver = gradient-descent\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"
    "[items.solver]\nrate = 0.01\n"
    "[privacy]\nid-lists = public\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = "
    "1e-6\nrandomness = reproducible\n"
    "[accountants]\nlist = rdp\n[evaluate]\nmetrics = rmse, hr\n";

static const char sweep[] = "include = base.ini\n[run]\noutput = swept\n"
                            "[sweep]\nquestion = Does noise matter?\nbaseline = noise-multiplier=1\n"
                            "items.mechanism.noise-multiplier = 1, 16\nrun.seed = 1..4\n";
enum { N_POINTS = 8 };
static const char *const names[N_POINTS] = {"noise-multiplier-1_seed-1",  "noise-multiplier-1_seed-2",
                                            "noise-multiplier-1_seed-3",  "noise-multiplier-1_seed-4",
                                            "noise-multiplier-16_seed-1", "noise-multiplier-16_seed-2",
                                            "noise-multiplier-16_seed-3", "noise-multiplier-16_seed-4"};

static char text_a[1 << 20], text_b[1 << 20];

static void same_tables(const char *directory)
{
    static const char *const files[] = {"results.csv", "tables.md", "tables.csv", "tables.tex"};
    char path[96];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "swept/%s", files[i]);
        command_slurp(command_path(path), text_a, sizeof text_a);
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        command_slurp(command_path(path), text_b, sizeof text_b);
        if (strcmp(text_a, text_b) != 0)
            fail_msg("%s differs from that of the whole sweep", path);
        assert_true(strlen(text_a) > 50);
    }
}

/* Points of the sweep in a directory whose state is the given one, by --list --json. */
static int in_state(const char *directory, const char *wanted)
{
    char arguments[160];
    int n = 0;
    snprintf(arguments, sizeof arguments, "sweep -c sweep.ini -O %s --list --json", directory);
    command_expect(arguments, 0, "");
    json_t *list = command_json(NULL);
    assert_int_equal(json_array_size(list), N_POINTS);
    for (size_t i = 0; i < N_POINTS; i++) {
        const json_t *point = json_array_get(list, i);
        assert_int_equal(json_integer_value(json_object_get(point, "index")), (int)i + 1);
        assert_string_equal(json_string_value(json_object_get(point, "name")), names[i]);
        n += strcmp(json_string_value(json_object_get(point, "state")), wanted) == 0;
    }
    json_decref(list);
    return n;
}

/* When the results of a point were written: 0 if they are not there. Seconds alone would not tell two apart.
 */
static struct timespec written(const char *directory, const char *name)
{
    char path[160];
    struct stat info;
    snprintf(path, sizeof path, "%s/points/%s/run.json", directory, name);
    return stat(command_path(path), &info) == 0 ? info.st_mtim : (struct timespec){0};
}

TEST(preparing_writes_the_list_and_runs_nothing)
{
    command_expect("sweep -c sweep.ini -O listed --list", 2, "name the output directory of a sweep");
    command_expect("sweep -c sweep.ini -O listed --point 1", 2, "--prepare");
    command_expect("sweep -c sweep.ini -O listed --prepare", 0, "");
    assert_non_null(strstr(command_out, "8 points are prepared"));
    assert_true(command_exists("listed/configs/noise-multiplier-16_seed-4.ini"));
    assert_int_equal(in_state("listed", "waiting"), N_POINTS);
    command_expect("report listed", 0, "");
    assert_non_null(strstr(command_out, "0 of 8 points are done\nwaiting: 8: noise-multiplier-1_seed-1, "));
    command_expect("sweep -q -c sweep.ini -O listed --point noise-multiplier-1_seed-2", 0, "");
    command_expect("sweep -q -c sweep.ini -O listed --point 7-8", 0, "");
    assert_int_equal(in_state("listed", "done"), 3);
    command_expect("report listed", 0, "");
    assert_non_null(strstr(command_out, "3 of 8 points are done\nwaiting: 5: noise-multiplier-1_seed-1, "
                                        "noise-multiplier-1_seed-3, "));
    /* Preparing again keeps what is done. */
    command_expect("sweep -c sweep.ini -O listed --prepare", 0, "");
    assert_non_null(strstr(command_out, "3 of them are done"));
}

TEST(a_point_is_named_or_numbered)
{
    command_expect("sweep -c sweep.ini -O listed --point 9", 2, "the points 1 to 8");
    command_expect("sweep -c sweep.ini -O listed --point 0", 2, "the points 1 to 8");
    command_expect("sweep -c sweep.ini -O listed --point 3-2", 2, "I not above J");
    command_expect("sweep -c sweep.ini -O listed --point noise-multiplier-1_sed-1", 2,
                   "did you mean noise-multiplier-1_seed-1?");
    command_expect("sweep -c sweep.ini -O listed --point 1 --list", 2,
                   "one of --prepare, --list and --point");
    command_expect("sweep -c sweep.ini -O listed --take-over --list", 2, "--take-over is for --point");
    command_expect("sweep -c base.ini --prepare", 2, "no section [sweep]");
    training_file("select.ini", "include = sweep.ini\n[select]\nmetric = hr\n");
    command_expect("sweep -c select.ini --prepare", 2, "section [select]");
}

/* Two processes on all points, one of them killed again and again: nothing is lost, and what is done is not
 * done again. */
TEST(kills_lose_nothing_and_repeat_nothing)
{
    static const char command[] = "sweep -q -c sweep.ini -O shared --point 1-8 -j 1";
    struct timespec first[N_POINTS] = {{0}};
    int kills = 0;
    command_expect("sweep -q -c sweep.ini -O shared --prepare", 0, "");
    for (long wait = 60; wait < 400; wait += 60) {
        const pid_t killed = command_start(command), other = command_start(command);
        command_sleep(wait);
        kill(killed, SIGKILL);
        kills += command_wait(killed) == 128 + SIGKILL;
        command_sleep(wait);
        kill(other, SIGKILL);
        command_wait(other);
        for (int p = 0; p < N_POINTS; p++) {
            const struct timespec now = written("shared", names[p]);
            char path[160];
            snprintf(path, sizeof path, "shared/state/%s.json", names[p]);
            if (!command_exists(path))
                continue; /* killed between the results and the state that says what they were made from */
            if (first[p].tv_sec == 0)
                first[p] = now;
        }
    }
    assert_true(kills > 0);
    assert_int_equal(in_state("shared", "running"), 0); /* all are known to be dead */
    /* Others hold points at the end of one of them, which says so; together they do all. */
    const pid_t a = command_start(command), b = command_start(command);
    command_wait(a);
    command_wait(b);
    assert_int_equal(in_state("shared", "done"), N_POINTS);
    for (int p = 0; p < N_POINTS; p++) {
        const struct timespec now = written("shared", names[p]);
        if (first[p].tv_sec != 0)
            assert_true(first[p].tv_sec == now.tv_sec && first[p].tv_nsec == now.tv_nsec);
    }
    command_expect(command, 0, "");
    command_expect("report shared", 0, "");
    assert_null(strstr(command_out, "waiting"));
    same_tables("shared");
}

/* A claim whose process cannot be seen from here stands until somebody says that it is dead. */
TEST(a_claim_of_another_machine_stands)
{
    command_expect("sweep -q -c sweep.ini -O held --prepare", 0, "");
    assert_int_equal(mkdir(command_path("held/claims/noise-multiplier-1_seed-1"), 0755), 0);
    training_file(
        "held/claims/noise-multiplier-1_seed-1/1",
        "{\"host\": \"node-7\", \"boot\": \"x\", \"namespace\": \"y\", \"process\": 12, \"started\": 34, "
        "\"job\": \"99_1\", \"since\": \"2026-01-01T00:00:00Z\"}\n");
    command_expect("sweep -c sweep.ini -O held --point 1", 1,
                   "is being run by process 12 on node-7, job 99_1, since 2026-01-01T00:00:00Z; --take-over");
    assert_int_equal(in_state("held", "running"), 1);
    assert_false(command_exists("held/points/noise-multiplier-1_seed-1/run.json"));
    command_expect("report held", 0, "");
    assert_non_null(strstr(command_out, "running: 1: noise-multiplier-1_seed-1\n"));
    command_expect("sweep -q -c sweep.ini -O held --point 1 --take-over", 0, "");
    assert_int_equal(in_state("held", "done"), 1);
    assert_true(command_exists("held/claims/noise-multiplier-1_seed-1/2.over"));
}

/* What runs a point later, on another machine, must be what was prepared. */
TEST(what_was_prepared_is_what_is_run)
{
    command_expect("sweep -q -c sweep.ini -O other --prepare", 0, "");
    command_expect("sweep -q -c sweep.ini -O other --point 1", 0, "");
    command_expect("sweep -q -c sweep.ini -O other --point 1 -o model.rank=2", 2, "not those of --prepare");
    command_expect("-q -c sweep.ini -O other --resume", 2, "prepared to be run by points");
    /* Prepared again, the results of the earlier configuration are none of the sweep. */
    command_expect("sweep -q -c sweep.ini -O other --prepare -o model.rank=2", 0, "");
    assert_int_equal(in_state("other", "waiting"), N_POINTS);
    command_expect("sweep -q -c sweep.ini -O other --point 1 -o model.rank=2", 0, "");
    assert_int_equal(in_state("other", "done"), 1);
}

TEST(a_point_that_fails_says_so)
{
    training_file("bad.csv", "user,item,rating\n1,1,5\n1,2,four\n");
    training_file("failing.ini", "include = base.ini\n[sweep]\ndata.path = ratings.csv, bad.csv\n"
                                 "items.solver.rate = 0.01, -1\n");
    /* What can be seen to be wrong is said at once, the rest when it is run. */
    command_expect("sweep -q -c failing.ini -O failing --prepare", 2, "2 of 4 points cannot be run");
    command_expect("sweep -q -c failing.ini -O failing --point 1-4", 1, "3 of 4 points failed");
    assert_non_null(strstr(command_err, "bad.csv:3"));
    command_expect("sweep -c failing.ini -O failing --list", 0, "");
    assert_non_null(strstr(command_out, "1  done       path-ratings.csv_rate-0.01\n"));
    assert_non_null(strstr(command_out, "2  failed     path-ratings.csv_rate--1  "));
    assert_non_null(strstr(command_out, "3  failed     path-bad.csv_rate-0.01  "));
    training_file("bad.csv", "user,item,rating\n1,1,5\n1,2,4\n");
    command_expect("sweep -q -c failing.ini -O failing --point 3", 2, "not those of --prepare");
}

/* The examples of docs/clusters, as they stand, with the built program first in the path. */
static int run_example(const char *words)
{
    char command[1024];
    snprintf(command, sizeof command,
             "cd '%s' && PATH=\"$DPFRAME_BUILD_DIR:$PATH\" %s > stdout.txt 2> stderr.txt", training_directory,
             words);
    const int status = system(command);
    command_slurp(command_path("stdout.txt"), command_out, sizeof command_out);
    command_slurp(command_path("stderr.txt"), command_err, sizeof command_err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST(the_examples_run)
{
    training_file("by-parallel.ini", "include = sweep.ini\n[run]\noutput = by-parallel\n");
    training_file("by-make.ini", "include = sweep.ini\n[run]\noutput = by-make\n");
    for (int again = 0; again < 2; again++) {
        if (run_example("sh \"$DPFRAME_SOURCE_DIR/docs/clusters/parallel.sh\" by-parallel.ini 2") != 0)
            fail_msg("parallel: %s", command_err);
        if (run_example("make -s -j 2 -f \"$DPFRAME_SOURCE_DIR/docs/clusters/sweep.mk\" CONFIG=by-make.ini "
                        "OUTPUT=by-make") != 0)
            fail_msg("make: %s", command_err);
    }
    command_expect("report by-parallel", 0, "");
    same_tables("by-parallel");
    same_tables("by-make");
}

static int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    training_file("base.ini", base);
    training_file("sweep.ini", sweep);
    if (command_prepare("generate -q -O ratings.csv users=120 items=60 ratings=2000 step=1") != 0)
        return -1;
    return command_prepare("-q -c sweep.ini");
}

FIXTURE(begin, training_end)
