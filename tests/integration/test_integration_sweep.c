/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps from outside: what is written, what a kill loses, what is run again, and what is said about
 * failures. */
#include "kit/test.h"
#include "kit/training.h"

#include "kit/spawned.h"

static const char base[] =
    "[run]\nrounds = 3\nthreads = 1\noutput = out\n"
    "[data]\nformat = csv\nheader = yes\npath = ratings.csv\nvalue-min = 1\nvalue-max = 5\n"
    "[split]\nkind = random\nfraction = 0.2\n"
    "[model]\nrank = 3\noffset = midpoint\n"
    "[parties]\nkind = users\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.2\n"
    "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = gaussian\nsolver = gradient-descent\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"
    "[items.solver]\nrate = 0.01\n"
    "[privacy]\nid-lists = public\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = "
    "1e-6\nrandomness = "
    "reproducible\n"
    "[accountants]\nlist = rdp\n[evaluate]\nmetrics = rmse, hr\n";

static const char sweep[] = "include = base.ini\n[run]\noutput = swept\n"
                            "[sweep]\nquestion = Does noise matter?\nbaseline = plain\njobs = 2\n"
                            "items.mechanism.noise-multiplier = 1, 16\nrun.seed = 1..3\nvariant.plain =\n"
                            "[sweep.variant.flat]\nmodel.rank = 1\n";

static char text_a[1 << 20], text_b[1 << 20];

static void same_file(const char *a, const char *b)
{
    command_slurp(command_path(a), text_a, sizeof text_a);
    command_slurp(command_path(b), text_b, sizeof text_b);
    if (strcmp(text_a, text_b) != 0)
        fail_msg("%s differs from %s", a, b);
    assert_true(strlen(text_a) > 50);
}

static void same_tables(const char *a, const char *b)
{
    static const char *const files[] = {"results.csv", "tables.md", "tables.csv", "tables.tex"};
    char x[96], y[96];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(x, sizeof x, "%s/%s", a, files[i]);
        snprintf(y, sizeof y, "%s/%s", b, files[i]);
        same_file(x, y);
    }
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

TEST(a_sweep_runs_all_points)
{
    command_expect("-c sweep.ini", 0, "12/12");
    assert_non_null(strstr(command_out, "| plain | 1 | 3 |"));
    assert_true(command_exists("swept/points/flat_noise-multiplier-16_seed-3/run.json"));
    assert_true(command_exists("swept/configs/flat_noise-multiplier-16_seed-3.ini"));
    command_slurp(command_path("swept/results.csv"), text_a, sizeof text_a);
    assert_int_equal(count(text_a, ",rmse,"), 12);
    assert_non_null(strstr(text_a, "point,variant,noise-multiplier,seed,metric,value\n"));
    command_slurp(command_path("swept/tables.tex"), text_a, sizeof text_a);
    assert_non_null(strstr(text_a, "\\toprule"));
}

/* The point's own configuration gives the same bytes. */
TEST(a_point_can_be_run_alone)
{
    command_expect("-q -c swept/configs/flat_noise-multiplier-16_seed-2.ini -O alone", 0, "");
    same_file("alone/private/metrics.csv",
              "swept/points/flat_noise-multiplier-16_seed-2/private/metrics.csv");
    same_file("alone/release/certificate.json",
              "swept/points/flat_noise-multiplier-16_seed-2/release/certificate.json");
    /* And so does the configuration with the settings that --dry-run lists. */
    command_slurp(command_path("swept/configs/flat_noise-multiplier-16_seed-2.ini"), text_a, sizeof text_a);
    assert_non_null(strstr(text_a, "noise-seed = 1698502286948440"));
    command_expect("-q -c base.ini -o model.rank=1 -o items.mechanism.noise-multiplier=16 -o run.seed=2 "
                   "-o privacy.noise-seed=1698502286948440 -O by-hand",
                   0, "");
    same_file("by-hand/private/metrics.csv", "alone/private/metrics.csv");
}

TEST(a_dry_run_lists_and_writes_nothing)
{
    command_expect("-c sweep.ini --dry-run -O dry", 0, "");
    assert_int_equal(count(command_out, "run    "), 12);
    assert_non_null(strstr(command_out, "12 points, 2 at a time"));
    assert_false(command_exists("dry"));
    command_expect("-c sweep.ini --dry-run", 0, "");
    assert_int_equal(count(command_out, "done   "), 12);
    assert_int_equal(mkdir(command_path("beside"), 0755), 0);
    command_expect("-c sweep.ini --dry-run -O beside/../deep/dry", 0, "");
    assert_null(strstr(command_out, ".."));
    assert_non_null(strstr(command_out, "/deep/dry\n"));
}

/* As the sweep itself and check exit. */
TEST(a_dry_run_says_whether_points_can_run)
{
    training_file("none.ini", "include = base.ini\n[sweep]\nusers.loss.lamda = 0.1, 1\n");
    command_expect("-c none.ini --dry-run -O dry", 2, "did you mean \"lambda\"?");
    assert_int_equal(count(command_out, "error  "), 2);
    command_expect("-q -c none.ini -O none-of-them", 2, "did you mean \"lambda\"?");
    command_expect("check -c none.ini", 2, "2 of 2 points cannot be run");
    training_file("some.ini", "include = base.ini\n[sweep]\nusers.loss.lambda = 0.1, -1\n");
    command_expect("-c some.ini --dry-run -O dry", 2, "1 of 2 points cannot be run");
    assert_int_equal(count(command_out, "error  "), 1);
    assert_int_equal(count(command_out, "run    "), 1);
    assert_false(command_exists("dry"));
}

/* check, a dry run and the run itself count the same points, of which check tells each row once. */
TEST(one_judge_decides_which_points_can_run)
{
    training_file("judged.ini", "include = base.ini\n[sweep]\nbaseline = cholesky\nvariant.cholesky = "
                                "items.solver=cholesky\nvariant.plain = items.solver=gradient-descent\n"
                                "items.gram-share = 0, 0.5\nrun.seed = 1, 2\n");
    command_expect("check -c judged.ini", 2, "4 of 8 points cannot be run");
    assert_int_equal(count(command_err, "solver cholesky does not take the gradient queries of loss "
                                        "squared-error; those that do: "),
                     2);
    assert_int_equal(count(command_err, ", gradient-descent"), 2);
    command_expect("-c judged.ini --dry-run -O judged", 2, "4 of 8 points cannot be run");
    assert_int_equal(count(command_out, "error  "), 4);
    command_expect("-q -c judged.ini -O judged", 1, "4 of 8 points failed");
    training_file("seeds.ini", "include = base.ini\n[sweep]\nitems.mechanism.noise-multiplier = 1, 2\n"
                               "run.seed = -5, 1, 2\n");
    command_expect("check -c seeds.ini", 2, "2 of 6 points cannot be run");
    command_expect("-c seeds.ini --dry-run -O seeds", 2, "2 of 6 points cannot be run");
}

/* A baseline is checked like any other point. */
TEST(a_misspelt_axis_is_refused)
{
    training_file("axis.ini", "include = base.ini\n[model]\nkind = popularity\n[sweep]\nevalute.k = 1, 5\n");
    command_expect("-q -c axis.ini -O axis", 2, "did you mean \"evaluate.k\"?");
}

TEST(a_sweep_is_not_overwritten)
{
    command_expect("-c sweep.ini", 2, "--resume");
    command_expect("-q -c base.ini -O swept", 2, "does not belong to the results of one run");
    training_file("thesis.txt", "precious");
    assert_int_equal(mkdir(command_path("foreign"), 0755), 0);
    training_file("foreign/thesis.txt", "precious");
    command_expect("-c sweep.ini -O foreign", 2, "not part of a sweep");
}

/* Kills after a while, many times; what is done stays done, and the end is that of a sweep without kills. */
TEST(kills_lose_only_what_is_in_flight)
{
    int kills = 0;
    for (long wait = 50; wait < 400; wait += 70) {
        pid_t pid = command_start("-q -c sweep.ini -O killed --resume");
        command_sleep(wait);
        kill(pid, SIGKILL);
        kills += command_wait(pid) == 128 + SIGKILL;
    }
    assert_true(kills > 0);
    training_file("killed/sweep.json.part12", "half");
    training_file("killed/configs/x.ini.part34", "half");
    training_file("killed/state/x.json.part56", "half");
    training_file("killed/configs/my.part2.ini", "no leftover");
    command_expect("-c sweep.ini -O killed --resume", 0, "");
    assert_false(command_exists("killed/sweep.json.part12"));
    assert_false(command_exists("killed/configs/x.ini.part34"));
    assert_false(command_exists("killed/state/x.json.part56"));
    assert_true(command_exists("killed/configs/my.part2.ini"));
    same_tables("swept", "killed");
    command_expect("-c sweep.ini -O killed --resume", 0, "");
    assert_int_equal(count(command_err, " done in "), 0); /* nothing was left to be done */
}

TEST(interrupts_are_clean)
{
    pid_t pid = command_start("-c sweep.ini -o run.rounds=20000 -O stopped -j 2");
    /* A point that writes its log runs; a sweep that is still being read is ended by the signal itself. */
    for (int i = 0;
         i < 6000 && access(command_path("stopped/logs/plain_noise-multiplier-1_seed-1.txt"), F_OK) != 0; i++)
        command_sleep(10);
    command_sleep(200);
    kill(pid, SIGINT);
    assert_int_equal(command_wait(pid), 128 + SIGINT);
    assert_non_null(strstr(command_err, "interrupted"));
    assert_non_null(strstr(command_err, "--resume"));
    assert_null(strstr(command_err, "failed"));   /* stopped is not failed */
    if (strstr(command_err, "interrupted; 0 of")) /* no table of nothing */
        assert_string_equal(command_out, "");
    command_expect("report stopped", 0, "");
}

/* What a point is made from decides: the configuration, and the bytes of the data. */
TEST(what_has_changed_is_run_again)
{
    command_expect("-c sweep.ini -O changing", 0, "");
    command_expect("-c sweep.ini -O changing -o sweep.items.mechanism.noise-multiplier=1,8 --resume", 0, "");
    assert_int_equal(count(command_err, " done in "), 6);
    command_expect("-c sweep.ini -O changing -o run.threads=2 --resume", 0, ""); /* changes no byte */
    assert_int_equal(count(command_err, " done in "), 0);
    command_expect("-c sweep.ini -O changing -o evaluate.k=5 --resume", 0, "");
    assert_int_equal(count(command_err, " done in "), 12);
    command_slurp(command_path("ratings.csv"), text_a, sizeof text_a);
    FILE *stream = fopen(command_path("ratings.csv"), "a");
    assert_true(stream);
    assert_true(fputs("1,99999,3,1000000\n", stream) >= 0);
    fclose(stream);
    command_expect("-c sweep.ini -O changing -o evaluate.k=5 --resume", 0, "");
    assert_int_equal(count(command_err, " done in "), 12);
    training_file("ratings.csv", text_a);
    /* Results that somebody has touched are no results. */
    training_file("swept/points/plain_noise-multiplier-1_seed-1/run.json", "{}");
    command_expect("-c sweep.ini --resume", 0, "");
    assert_int_equal(count(command_err, " done in "), 1);
    same_tables("swept", "killed");
}

#define FAILING                                                                                              \
    "-c sweep.ini -O failing -o sweep.run.seed=1 -o sweep.items.solver.rate=0.01,-1 "                        \
    "-o sweep.data.path=ratings.csv,bad.csv"

TEST(failures_do_not_stop_the_others)
{
    /* One value that is refused before the start, one that fails in the run. */
    training_file("bad.csv", "user,item,rating\n1,1,5\n1,2,four\n");
    command_expect(FAILING, 1, "12 of 16 points failed");
    assert_int_equal(count(command_err, "failed: "), 12);
    assert_non_null(strstr(command_err, "failed: flat_noise-multiplier-1_rate--1_path-ratings.csv_seed-1: "));
    assert_non_null(strstr(command_err, "\"items.solver.rate=-1\": [items.solver] rate"));
    assert_non_null(strstr(command_err, "bad.csv:3"));
    assert_true(
        command_exists("failing/points/flat_noise-multiplier-1_rate-0.01_path-ratings.csv_seed-1/run.json"));
    command_slurp(command_path("failing/tables.csv"), text_a, sizeof text_a);
    assert_non_null(strstr(text_a, "flat,1,-1,ratings.csv,rmse,0,,,"));
    assert_non_null(strstr(text_a, "flat,1,0.01,ratings.csv,rmse,1,"));
    /* They are tried again, the others are not. */
    command_expect(FAILING " --resume", 1, "failed");
    assert_int_equal(count(command_err, " failed in "), 4);
    assert_int_equal(count(command_err, " done in "), 0);
    /* A mistake in all points is one of the configuration. */
    command_expect("-c sweep.ini -O wrong -o items.solver.rate=-1", 2, "rate");
    command_expect("-c sweep.ini -O wrong2 -o sweep.model.rnk=1,2", 2, "did you mean \"");
}

TEST(a_variant_may_be_a_file)
{
    training_file("flat.ini", "include = base.ini\n[model]\nrank = 1\n");
    training_file("files.ini", "include = base.ini\n[sweep]\nvariant.plain =\nvariant.flat = @flat.ini\n"
                               "items.mechanism.noise-multiplier = 16\nrun.seed = 2\n");
    command_expect("-q -c files.ini -O files", 0, "");
    same_file("files/points/flat_noise-multiplier-16_seed-2/private/metrics.csv",
              "alone/private/metrics.csv");
}

/* Zipped axes move together, so the baseline of a cell is beside it in both. */
TEST(zipped_axes_are_tested_together)
{
    training_file("zip.ini", "include = base.ini\n[sweep]\nmode = zip\nbaseline = rank=1\nmodel.rank = 1, 3\n"
                             "items.mechanism.noise-multiplier = 16, 4\nrun.seed = 1..2\n");
    command_expect("-c zip.ini -O zipped", 0, "4/4");
    command_slurp(command_path("zipped/tables.csv"), text_a, sizeof text_a);
    assert_non_null(strstr(text_a, "\n3,4,rmse,2,"));
    assert_null(strstr(text_a, "\n3,16,"));
    const char *row = strstr(text_a, "\n3,4,rmse,2,");
    int commas = 0;
    for (row += 1; commas < 6; row++)
        commas += *row == ',';
    assert_int_equal(*row, '2'); /* pairs */
}

/* Paths in axes are relative to the file that lists them, as everywhere in that file. */
TEST(paths_in_axes_are_relative_to_their_file)
{
    assert_int_equal(mkdir(command_path("below"), 0755), 0);
    training_file("below/paths.ini", "include = ../base.ini\n[sweep]\ndata.path = ../ratings.csv\n");
    command_expect("-q -c below/paths.ini -O paths", 0, "");
}

/* A row for each point, whatever its seed; what cannot be run is said, and the others are shown. */
TEST(statements_without_training)
{
    command_expect("account -c sweep.ini -o model.users=200", 0, "");
    assert_int_equal(count(command_out, "| user, joint | add-remove | outsider | - | ("), 4);
    command_expect("account -c sweep.ini", 0, "");
    assert_int_equal(count(command_out, "\n"), 2 + 4);
    assert_int_equal(count(command_out, "| user, joint | add-remove | outsider | - | none | C2, C9 |\n"), 4);
    assert_non_null(strstr(command_out, "\n| flat_noise-multiplier-16 | "));
    memcpy(text_a, command_out, sizeof text_a);
    command_expect("check -c sweep.ini -O unwritten", 0, "");
    assert_string_equal(command_out, text_a);
    assert_false(command_exists("unwritten"));

    command_expect("account -c sweep.ini --json", 0, "");
    json_t *list = json_loads(command_out, 0, NULL);
    assert_int_equal(json_array_size(list), 4);
    command_expect("account -c base.ini -o items.mechanism.noise-multiplier=16 --json", 0, "");
    json_t *alone = json_loads(command_out, 0, NULL);
    assert_non_null(alone);
    assert_true(json_equal(json_object_get(json_array_get(list, 1), "guarantee"), alone));
    json_decref(alone);
    json_decref(list);

    training_file("half.ini", "include = sweep.ini\n[sweep]\nitems.mechanism.noise-multiplier = 1, -1\n");
    command_expect("account -c half.ini", 2, "points cannot be run");
    assert_non_null(strstr(command_err, "plain_noise-multiplier--1: "));
    assert_int_equal(count(command_out, "\n"), 2 + 2);
    command_expect("account -c sweep.ini --curve curve.csv", 2, "describes a sweep");
    assert_false(command_exists("curve.csv"));
    command_expect("audit -c sweep.ini", 2, "describes a sweep");
}

TEST(options_of_sweeps_need_one)
{
    command_expect("-c base.ini --resume", 2, "Only a run with [run] checkpoint = true");
    command_expect("-c sweep.ini -j 0", 2, "--jobs");
    command_expect("check -c sweep.ini --jobs 2", 2, "no option --jobs");
    /* What is wrong with the file comes first: it may well describe a sweep. */
    training_file("slash.ini", "include = base.ini\n[sweep]\nvariant.a/b = run.rounds=1\n");
    command_expect("-c slash.ini --jobs 2", 2, "slash.ini:3: ");
    training_file("places.ini", "include = base.ini\n[sweep]\nrun.output = a, b\n");
    command_expect("-c places.ini", 2, "places.ini:3: [sweep] run.output cannot be an axis");
    training_file("inner.ini", "include = base.ini\n[sweep]\nsweep.run.seed = 1, 2\n");
    command_expect("-c inner.ini", 2, "inner.ini:3: [sweep] sweep.run.seed cannot be an axis");
    training_file("column.ini", "include = base.ini\n[sweep]\nrun.seed = 1, 2\nmetrics = rmes\n");
    command_expect("-c column.ini -O column", 0, "no point has a metric \"rmes\"");
    command_expect("-c column.ini -O column -o sweep.metrics=epsilon-proved --resume", 0, "");
    assert_null(strstr(command_err, "no point has a metric"));
    command_expect("check -c sweep.ini", 0, "");
}

static int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    training_file("base.ini", base);
    training_file("sweep.ini", sweep);
    return command_prepare("generate -q -O ratings.csv users=120 items=60 ratings=2000 step=1");
}

FIXTURE(begin, training_end)
