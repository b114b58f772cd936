/* SPDX-License-Identifier: Apache-2.0 */
/* The program from outside: what it writes, what it leaves alone, and interrupted runs. */
#include "integration/command_fixture.h"

/* ---- exit codes ------------------------------------------------------------------------------------- */

/* Locks belong to open files, so the test can stand for the other run. */
TEST(two_runs_do_not_share_a_directory)
{
    struct dpf_error error = {0};
    command_expect("-q -c sound.ini -O shared-directory", 0, "");
    int lock = files_lock_directory(command_path("shared-directory"), &error);
    assert_true(lock >= 0);
    command_expect("-q -c sound.ini -O shared-directory", 2, "another run is writing there");
    close(lock);
    command_expect("-q -c sound.ini -O shared-directory", 0, "");
    training_file("two.ini", "include = sound.ini\n[sweep]\nrun.seed = 1..2\n");
    command_expect("-q -c two.ini -O shared-sweep", 0, "");
    lock = files_lock_directory(command_path("shared-sweep"), &error);
    assert_true(lock >= 0);
    command_expect("-q -c two.ini -O shared-sweep --resume", 2, "another run is writing there");
    close(lock);
    command_expect("-q -c two.ini -O shared-sweep --resume", 0, "");
}

/* ---- the output directory ------------------------------------------------------------------------------ */

TEST(foreign_directories_are_left_alone)
{
    assert_int_equal(mkdir(command_path("thesis"), 0755), 0);
    training_file("thesis/chapter1.tex", "precious");
    command_expect("-c sound.ini -O thesis", 2, "contains chapter1.tex, which does not belong");
    char text[64];
    command_slurp(command_path("thesis/chapter1.tex"), text, sizeof text);
    assert_string_equal(text, "precious");
    assert_false(command_exists("thesis/run.json") || command_exists("thesis/release"));
    assert_int_equal(mkdir(command_path("archive"), 0755), 0);
    training_file("archive/movies.part1.rar", "precious");
    command_expect("-c sound.ini -O archive", 2, "contains movies.part1.rar");
    assert_int_equal(mkdir(command_path("project"), 0755), 0);
    assert_int_equal(mkdir(command_path("project/private"), 0755), 0);
    training_file("project/private/diary.txt", "precious");
    command_expect("-c sound.ini -O project", 2, "contains private/diary.txt");
    command_expect("-q -c sound.ini -O nested/mine", 0, "");
    command_expect("-c sound.ini -O nested", 2, "[run] output = nested: the directory ");
    assert_non_null(strstr(command_err, "choose another directory with -O DIRECTORY"));
    command_expect("-c sound.ini -O sound.ini", 2, "not a directory");
    command_expect("-c sound.ini -O sound.ini/below", 2, "sound.ini");
    if (geteuid() != 0) {
        assert_int_equal(mkdir(command_path("locked"), 0555), 0);
        command_expect("-c sound.ini -O locked", 2, "locked");
        /* Results are kept where new ones could not be written. */
        command_expect("-q -c sound.ini -O sealed", 0, "");
        assert_int_equal(chmod(command_path("sealed/release"), 0555), 0);
        command_expect("-q -c sound.ini -O sealed", 2, "sealed/release: cannot write there");
        assert_true(command_exists("sealed/run.json"));
        assert_int_equal(chmod(command_path("sealed/release"), 0755), 0);
    }
}

/* Whatever makes it, and whatever the umask: runs, points of sweeps, selections, checkpoints, reports. */
TEST(what_is_private_is_its_owners_alone)
{
    const mode_t before = umask(0);
    training_file("seeds.ini", "include = sound.ini\n[sweep]\nrun.seed = 1..2\n");
    /* With much less noise than errors, so that whatever is drawn has a score. */
    training_file("choice.ini",
                  "include = sound.ini\n[evaluate]\nmetrics = rmse\nrelease = noisy\n"
                  "release-epsilon = 100\n[select]\nmetric = rmse\n"
                  "repetitions = geometric\nmean = 3\n[sweep]\nitems.solver.rate = 0.001, 0.01\n");
    assert_int_equal(shell("mkdir -p modes/run && mkdir -m 0755 modes/run/private"), 0); /* made before */
    command_expect("-q -c sound.ini -O modes/run -o run.checkpoint=true -o run.noise=true", 0, "");
    command_expect("-q report modes/run", 0, "");
    command_expect("-q -c seeds.ini -O modes/sweep", 0, "");
    command_expect("-q run choice.ini -O modes/select", 0, "");
    umask(before);
    assert_int_equal(shell("cd modes && find . -path '*/private*' ! -path '*/release*' -perm /077 > open && "
                           "! grep . open"),
                     0);
    for (const char *const *of = (const char *const[]){"run", "sweep/points/*", "select", NULL}; *of; of++) {
        char line[160];
        snprintf(line, sizeof line,
                 "cd modes && test \"$(stat -c %%a %s/private %s/private/metrics.csv %s/release | sort -u | "
                 "tr '\\n' ' ')\" = '600 700 777 '",
                 *of, *of, *of);
        assert_int_equal(shell(line), 0);
    }
}

TEST(paths_are_canonical)
{
    assert_int_equal(mkdir(command_path("a"), 0755), 0);
    command_expect("-c sound.ini -O a/../canonical", 0, "");
    char *expected = realpath(command_path("canonical"), NULL);
    assert_non_null(strstr(command_out, expected));
    assert_null(strstr(command_out, "a/../"));
    json_t *run = command_json("canonical/run.json");
    json_t *output = json_object_get(json_object_get(json_object_get(run, "config"), "run"), "output");
    assert_string_equal(json_string_value(output), expected);
    json_decref(run);
    free(expected);
}

/* ---- what is written ------------------------------------------------------------------------------------
 */

static json_t *need(json_t *object, const char *key, int type)
{
    json_t *value = json_object_get(object, key);
    if (!value || (int)json_typeof(value) != type)
        fail_msg("\"%s\" is missing or of another type", key);
    return value;
}

static void assert_guarantee(json_t *guarantee)
{
    json_t *conditions = need(guarantee, "conditions", JSON_ARRAY);
    assert_int_equal(json_array_size(conditions), N_CONDITIONS);
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        json_t *condition = json_array_get(conditions, i);
        need(condition, "id", JSON_STRING);
        need(condition, "why", JSON_STRING);
        assert_true(json_is_boolean(json_object_get(condition, "holds")));
    }
    json_t *proved = need(guarantee, "proved", JSON_ARRAY);
    assert_int_equal(json_array_size(proved), 1);
    json_t *first = json_array_get(proved, 0);
    assert_string_equal(json_string_value(need(first, "accountant", JSON_STRING)), "rdp");
    assert_true(json_real_value(need(first, "epsilon", JSON_REAL)) > 0);
    assert_true(json_real_value(need(first, "delta", JSON_REAL)) == 1e-6);
    assert_string_equal(json_string_value(need(first, "unit", JSON_STRING)), "user");
    assert_string_equal(json_string_value(need(first, "adjacency", JSON_STRING)), "add-remove");
    need(first, "observer", JSON_STRING);
    assert_int_equal(json_array_size(need(guarantee, "published", JSON_ARRAY)), 0);
}

/* Stages add up, and to what passed by the clock but for the end of the process. */
static void assert_stages(json_t *timing, double passed)
{
    static const char *const stages[] = {"configure", "load",    "plan",  "train",
                                         "evaluate",  "budgets", "write", "verdict"};
    const double total = json_real_value(need(timing, "total", JSON_REAL));
    double sum = 0;
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        assert_true(json_real_value(need(timing, stages[i], JSON_REAL)) >= 0);
        sum += json_real_value(need(timing, stages[i], JSON_REAL));
    }
    assert_true(fabs(sum - total) < 1e-9);
    if (total > passed + 0.05 || total < 0.9 * passed - 0.5) /* a busy machine ends processes late */
        fail_msg("stages take %.3f s, the process %.3f s", total, passed);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

TEST(run_json_says_what_was_run)
{
    const double before = seconds_now();
    command_expect("-c sound.ini -O spoken -o run.compare=mean,non-private", 0, "");
    const double passed = seconds_now() - before;
    json_t *run = command_json("spoken/run.json");
    assert_stages(need(run, "timing", JSON_OBJECT), passed);
    assert_true(json_real_value(need(need(run, "metrics", JSON_OBJECT), "rmse", JSON_REAL)) > 0);
    assert_true(json_array_size(need(run, "plugins", JSON_ARRAY)) >= 7);
    need(need(run, "config", JSON_OBJECT), "items.mechanism", JSON_OBJECT);
    need(need(run, "baselines", JSON_OBJECT), "mean", JSON_OBJECT);
    need(need(run, "baselines", JSON_OBJECT), "non-private", JSON_OBJECT);
    assert_guarantee(need(run, "guarantee", JSON_OBJECT));
    json_t *files = need(run, "files", JSON_OBJECT), *value;
    const char *key;
    json_object_foreach(files, key, value)
    {
        char name[256];
        snprintf(name, sizeof name, "spoken/%s", json_string_value(value));
        assert_true(command_exists(name));
    }
    /* Users stay local, items are released. */
    assert_string_equal(json_string_value(json_object_get(files, "user_factors")),
                        "private/user_factors.npy");
    assert_string_equal(json_string_value(json_object_get(files, "item_factors")),
                        "release/item_factors.npy");
    json_decref(run);
}

/* A run that ends early made fewer rounds, and what these spend is less than the statement, which is of all
 * rounds. */
TEST(a_run_may_end_early)
{
    static const char *const rules[] = {"training-error", "released-rows"};
    for (int i = 0; i < 2; i++) {
        char arguments[256], file[64];
        snprintf(arguments, sizeof arguments,
                 "-c sound.ini -O early%d -o run.rounds=40 -o run.until=%s -o run.tolerance=0.9", i,
                 rules[i]);
        command_expect(arguments, 0, "");
        snprintf(file, sizeof file, "early%d/run.json", i);
        json_t *run = command_json(file);
        const json_int_t made = json_integer_value(need(run, "rounds_done", JSON_INTEGER));
        assert_true(made >= 2 && made < 40);
        /* C2 decides in which list the statement of all rounds stands. */
        const json_t *lists = need(run, "guarantee", JSON_OBJECT);
        const json_t *stated = json_array_get(json_object_get(lists, i == 0 ? "unproved" : "proved"), 0);
        const double all = json_number_value(json_object_get(stated, "epsilon"));
        const double spent = json_real_value(need(need(run, "spent", JSON_OBJECT), "epsilon-rdp", JSON_REAL));
        assert_true(spent > 0 && spent < all);
        json_decref(run);
    }
    /* Metrics are released whenever it ends. */
    command_expect(
        "-c sound.ini -O measured -o run.rounds=40 -o run.until=released-rows -o run.tolerance=0.9 "
        "-o split.kind=random -o split.fraction=0.2 -o evaluate.metrics=hr "
        "-o evaluate.release=noisy -o evaluate.release-epsilon=5",
        0, "");
    json_t *measured = command_json("measured/run.json");
    assert_true(json_integer_value(need(measured, "rounds_done", JSON_INTEGER)) < 40);
    assert_true(json_real_value(need(need(measured, "spent", JSON_OBJECT), "epsilon-rdp", JSON_REAL)) > 4.9);
    json_decref(measured);
    /* The non-private twin, which releases nothing, makes all rounds. */
    command_expect("-c sound.ini -O late -o run.until=released-rows -o run.tolerance=0 -o "
                   "run.compare=non-private -o split.kind=random",
                   0, "");
    json_t *run = command_json("late/run.json");
    assert_int_equal(json_integer_value(need(run, "rounds_done", JSON_INTEGER)), 3);
    assert_null(json_object_get(run, "spent"));
    json_decref(run);
}

TEST(other_json_is_json)
{
    command_expect("account -c sound.ini --json", 0, "");
    json_t *json = command_json(NULL);
    assert_guarantee(json);
    json_decref(json);
    command_expect("list --json", 0, "");
    json = command_json(NULL);
    assert_true(json_is_array(json) && json_array_size(json) > 10);
    need(json_array_get(json, 0), "summary", JSON_STRING);
    json_decref(json);
    static const char *const names[] = {"gaussian", "run", "squared-error"};
    for (int i = 0; i < 3; i++) {
        char text[64];
        snprintf(text, sizeof text, "describe %s --json", names[i]);
        command_expect(text, 0, "");
        json = command_json(NULL);
        assert_string_equal(json_string_value(need(json, "name", JSON_STRING)), names[i]);
        json_decref(json);
    }
    command_expect("check -c sound.ini --json", 0, "");
    json = command_json(NULL);
    need(json, "ledger", JSON_ARRAY);
    json_decref(json);
}

static void assert_same_file(const char *a, const char *b)
{
    static char x[1 << 18], y[1 << 18];
    struct stat first, second;
    assert_int_equal(stat(command_path(a), &first), 0);
    assert_int_equal(stat(command_path(b), &second), 0);
    assert_true(first.st_size == second.st_size && (size_t)first.st_size < sizeof x);
    command_slurp(command_path(a), x, sizeof x);
    command_slurp(command_path(b), y, sizeof y);
    assert_memory_equal(x, y, (size_t)first.st_size);
}

/* config.ini of a result repeats the run, from anywhere, and is a fixed point of "check". */
TEST(results_repeat_themselves)
{
    training_file("ratings.csv", "user,item,rating\n1,1,5\n1,2,2\n2,2,4\n2,3,1\n3,1,1\n3,2,3\n3,3,5\n");
    command_expect("-c sound.ini -O first -o privacy.randomness=reproducible -o privacy.noise-seed=9 "
                   "-o data.format=csv -o data.path=ratings.csv -o split.fraction=0.3",
                   0, "");
    assert_int_equal(mkdir(command_path("elsewhere"), 0755), 0);
    assert_int_equal(rename(command_path("first/config.ini"), command_path("elsewhere/again.ini")), 0);
    command_expect("-c elsewhere/again.ini -O second", 0, "");
    assert_same_file("first/private/user_factors.npy", "second/private/user_factors.npy");
    assert_same_file("first/release/item_factors.npy", "second/release/item_factors.npy");
    assert_same_file("first/private/metrics.csv", "second/private/metrics.csv");
    assert_same_file("first/release/guarantee.txt", "second/release/guarantee.txt");
    json_t *run = command_json("second/run.json");
    command_expect("check --json -c second/config.ini", 0, "");
    json_t *check = command_json(NULL);
    assert_true(json_equal(json_object_get(run, "config"), json_object_get(check, "config")));
    const char *path =
        json_string_value(json_object_get(json_object_get(json_object_get(run, "config"), "data"), "path"));
    assert_int_equal(path[0], '/');
    json_decref(run);
    json_decref(check);
}

/* ---- interruptions ----------------------------------------------------------------------------------------
 */

/* Waits until the run has prepared its output directory. */
static void wait_for(const char *name)
{
    for (int i = 0; i < 1000 && !command_exists(name); i++)
        command_sleep(10);
    assert_true(command_exists(name));
}

TEST(an_interrupted_run_writes_nothing)
{
    static const int signals[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        char text[128], name[64];
        snprintf(text, sizeof text, "-c sound.ini -o run.rounds=1000000 -o run.trace=no -O stopped%d", i);
        snprintf(name, sizeof name, "stopped%d", i);
        pid_t pid = command_start(text);
        wait_for(name);
        command_sleep(300);
        assert_int_equal(kill(pid, signals[i]), 0);
        assert_int_equal(command_wait(pid), 128 + signals[i]);
        assert_non_null(strstr(command_err, "interrupted"));
        assert_false(command_exists(name));
    }
}

/* An interrupted second run leaves the first one's results as they were. */
TEST(an_interrupted_run_keeps_earlier_results)
{
    command_expect("-c sound.ini -O kept", 0, "");
    assert_int_equal(remove(command_path("stderr.txt")), 0);
    pid_t pid = command_start("-c sound.ini -o run.rounds=1000000 -O kept");
    struct stat said = {0}; /* its first words come after it has read the data */
    for (int i = 0; i < 1000 && said.st_size == 0; i++) {
        command_sleep(10);
        (void)stat(command_path("stderr.txt"), &said);
    }
    command_sleep(200);
    assert_int_equal(kill(pid, SIGINT), 0);
    assert_int_equal(command_wait(pid), 128 + SIGINT);
    json_t *run = command_json("kept/run.json");
    assert_int_equal(json_integer_value(json_object_get(run, "rounds_done")), 3);
    json_decref(run);
    assert_true(command_exists("kept/release/item_factors.npy"));
}

/* Killed at any moment: where run.json is, the results are whole; the next run cleans up. */
TEST(a_killed_run_leaves_no_half_results)
{
    command_expect("-c sound.ini -O killed", 0, "");
    for (int i = 0; i < 24; i++) {
        pid_t pid = command_start("-c sound.ini -O killed");
        command_sleep(20 + 7 * i);
        kill(pid, SIGKILL);
        command_wait(pid);
        if (!command_exists("killed/run.json"))
            continue;
        json_t *run = command_json("killed/run.json"), *value;
        const char *key;
        json_object_foreach(json_object_get(run, "files"), key, value)
        {
            char name[256];
            snprintf(name, sizeof name, "killed/%s", json_string_value(value));
            assert_true(command_exists(name));
        }
        json_decref(run);
    }
    training_file("killed/run.json.part12345", "half");
    training_file("killed/release/guarantee.txt.part12345", "half");
    command_expect("-c sound.ini -O killed", 0, "");
    assert_false(command_exists("killed/run.json.part12345"));
    assert_false(command_exists("killed/release/guarantee.txt.part12345"));
}

/* ---- memory
 * ------------------------------------------------------------------------------------------------ */

/* 4000 users x 1500 items x 16 numbers would be 768 MB: users are streamed. */
TEST(users_are_streamed)
{
    command_expect("-c sound.ini -O streamed -o run.rounds=2 -o model.rank=16 -o model.users=4000 -o "
                   "data.synthetic.users=4000 "
                   "-o data.synthetic.items=1500 -o data.synthetic.ratings=80000",
                   0, "");
    print_message("peak memory of 4000 user parties, 1500 items, rank 16: %ld KiB\n", command_peak);
    assert_true(command_peak < 400 * 1024);
}

/* ---- output that does not arrive -------------------------------------------------------------------- */

TEST(what_does_not_arrive_is_no_success)
{
    static const char *const commands[] = {
        "list", "--help", "--version", "describe run", "-c sound.ini -O unheard", "check -c sound.ini"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char line[256];
        snprintf(line, sizeof line, "$D %s >/dev/full 2>stderr.txt", commands[i]);
        assert_int_equal(shell(line), 1);
        assert_int_equal(shell("grep -q 'cannot write to standard output' stderr.txt"), 0);
    }
}

/* A device cannot be replaced by a file that is renamed over it: as root, /dev/full would be an ordinary
 * file. */
TEST(devices_and_links_are_written_through)
{
    assert_int_equal(shell("$D generate -O /dev/stdout users=20 items=15 ratings=200 >a.csv"), 0);
    assert_int_equal(shell("$D generate -O - users=20 items=15 ratings=200 >b.csv && cmp a.csv b.csv"), 0);
    assert_int_equal(shell("mkfifo pipe && { cat pipe >c.csv & } &&"
                           " $D generate -O pipe users=20 items=15 ratings=200 && wait && cmp a.csv c.csv"
                           " && test -p pipe"),
                     0);
    assert_int_equal(shell("touch d.csv && ln -s d.csv link.csv &&"
                           " $D generate -O link.csv users=20 items=15 ratings=200 && test -L link.csv &&"
                           " cmp a.csv d.csv"),
                     0);
    assert_int_equal(shell("$D generate -O /dev/full users=20 items=15 ratings=200 2>stderr.txt"), 1);
    assert_int_equal(shell("test -c /dev/full"), 0);
    assert_int_equal(shell("$D account -c sound.ini --curve /dev/null >stdout.txt && test -c /dev/null &&"
                           " ! test -e /dev/null.gp"),
                     0);
    /* Somebody else may know the name of the temporary file: a link there is not followed. */
    assert_int_equal(shell("echo precious >precious && sh -c 'ln -sf precious e.csv.part$$; exec \"$0\" "
                           "generate -O e.csv users=20 "
                           "items=15 ratings=200' $D && cmp a.csv e.csv && grep -q precious precious"),
                     0);
}

/* A limit on the size of files is a failed write with a message, not the end by a signal. */
TEST(a_file_too_large_is_a_message)
{
    assert_int_equal(shell("(ulimit -f 1; exec $D -q -c sound.ini -O limited 2>/dev/null)"), 1);
    assert_false(command_exists("limited/run.json"));
}

/* Opening a pipe waits for somebody who writes. */
TEST(a_pipe_is_no_configuration)
{
    assert_int_equal(mkfifo(command_path("config-pipe"), 0600), 0);
    command_expect("check -c config-pipe", 2, "config-pipe: not a regular file; save");
}

/* Else the first file of the results would be standard output, and the table of metrics would end up in it.
 */
TEST(closed_streams_do_not_reach_into_results)
{
    assert_int_equal(shell("$D -c sound.ini -O closed >&- 2>&- <&-"), 1);
    assert_int_equal(
        shell("$D -q -c sound.ini -O open && cmp closed/release/item_ids.txt open/release/item_ids.txt"
              " && cmp closed/private/user_ids.txt open/private/user_ids.txt"),
        0);
    assert_int_equal(shell("! grep -rq 'PRIVACY STATEMENT' closed/private closed/run.json closed/config.ini"),
                     0);
}

TEST(a_run_that_fails_leaves_no_directory)
{
    command_expect("-c sound.ini -o data.format=csv -o data.path=sound.ini -O fresh", 3, "sound.ini");
    assert_false(command_exists("fresh"));
    command_expect("-c sound.ini -o model.items=1 -O fresh", 2, "items = 1: the data has");
    assert_false(command_exists("fresh"));
    assert_int_equal(shell("mkdir mine"), 0);
    command_expect("-c sound.ini -o model.items=1 -O mine", 2, "items = 1");
    assert_true(command_exists("mine"));
}

FIXTURE(begin, training_end)
