/* SPDX-License-Identifier: Apache-2.0 */
/* The program from outside: exit codes and messages, what it writes, and what it leaves alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/files.h"
#include "integration/training.h"

#include "integration/spawned.h"

#define SYNTHETIC                                                                                            \
    "[data]\nformat = synthetic\nsynthetic.users = 120\nsynthetic.items = 60\nsynthetic.ratings = 2000\n"    \
    "value-min = 1\nvalue-max = 5\n"
#define REST                                                                                                 \
    "[split]\nkind = random\nfraction = 0.2\n"                                                               \
    "[model]\nusers = 120\nrank = 3\noffset = midpoint\n"                                                    \
    "[parties]\nkind = users\n"                                                                              \
    "[users]\nloss = explicit-als\nsolver = cholesky\n"                                                      \
    "[users.loss]\nlambda = 0.2\n"                                                                           \
    "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = gaussian\nsolver = "                 \
    "gradient-descent\n"                                                                                     \
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"                 \
    "[items.solver]\nrate = 0.01\n"                                                                          \
    "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-6\n"                    \
    "[accountants]\nlist = rdp\n"                                                                            \
    "[evaluate]\nmetrics = rmse, mae\n"

static const char sound[] = "[run]\nrounds = 3\nthreads = 2\noutput = out\n" SYNTHETIC REST;

/* ---- exit codes ------------------------------------------------------------------------------------- */

static void a_run_that_works_exits_with_0(void **state)
{
    (void)state;
    command_expect("-c sound.ini", 0, "");
    assert_non_null(strstr(command_out, "rmse"));
    command_expect("check -c sound.ini", 0, "");
    command_expect("account -c sound.ini", 0, "");
    command_expect("list", 0, "");
    command_expect("--version", 0, "");
    command_expect("--help", 0, "");
    command_expect("run --help", 0, "");
}

/* Of one and the same plan pld proves more than rdp, and nothing is to be said where it is listed. */
static void check_names_a_tighter_accountant(void **state)
{
    (void)state;
    command_expect("check -c sound.ini", 0, "");
    assert_non_null(strstr(command_out, "Accountant pld, which is not listed, has epsilon = "));
    command_expect("check -c sound.ini --json", 0, "");
    assert_non_null(strstr(command_out, "tighter_accountant"));
    command_expect("check -c sound.ini -o accountants.list=pld,rdp", 0, "");
    assert_null(strstr(command_out, "not listed"));
}

static double first_epsilon(const char *command, const char *list, const char *inner)
{
    json_error_t error;
    command_expect(command, 0, "");
    json_t *whole = json_loads(command_out, 0, &error);
    if (!whole)
        fail_msg("%s: %s", command, error.text);
    json_t *from = inner ? json_object_get(whole, inner) : whole;
    const double epsilon =
        json_number_value(json_object_get(json_array_get(json_object_get(from, list), 0), "epsilon"));
    json_decref(whole);
    return epsilon;
}

/* Two users move a sum twice as far as one: the same as half of the noise. */
static void two_users_are_like_half_of_the_noise(void **state)
{
    (void)state;
    const double pair =
        first_epsilon("account -c sound.ini --json -o accountants.list=pld", "groups", "reach");
    const double half = first_epsilon("account -c sound.ini --json -o accountants.list=pld "
                                      "-o items.mechanism.noise-multiplier=2",
                                      "proved", NULL);
    assert_true(half > 0 && fabs(pair / half - 1) < 1e-4);
    /* The quickstart has blocks without noise, of public numbers. */
    char text[1024];
    snprintf(text, sizeof text, "account -c %s/configs/quickstart.ini --json -o accountants.list=pld",
             getenv("DPFRAME_SOURCE_DIR"));
    const double two = first_epsilon(text, "groups", "reach");
    strncat(text, " -o items.mechanism.noise-multiplier=2", sizeof text - strlen(text) - 1);
    assert_true(fabs(two / first_epsilon(text, "proved", NULL) - 1) < 1e-4);
    command_expect("account -c sound.ini --curve curve.csv", 0, "");
    assert_non_null(strstr(command_out, "TRADE-OFF"));
    assert_non_null(strstr(command_out, "Gaussian differential privacy: mu = "));
}

static void a_run_that_diverges_exits_with_1(void **state)
{
    (void)state;
    command_expect("-c sound.ini -o items.mechanism=none -o items.transforms= -o items.solver.rate=1e6 "
                   "-o users.loss=squared-error -o users.loss.lambda= -o users.solver=gradient-descent "
                   "-O diverged",
                   2, "lambda"); /* an empty number is no number */
    command_expect("-c diverging.ini -O diverged", 1, "diverged");
    assert_false(command_exists("diverged/run.json"));
}

static void a_wrong_command_exits_with_2(void **state)
{
    (void)state;
    command_expect("", 2, "usage");
    command_expect("-c", 2, "needs a value");
    command_expect("-c sound.ini -c sound.ini", 2, "twice");
    command_expect("trian -c sound.ini", 2, "did you mean train?");
    command_expect("--colour -c sound.ini", 2, "unknown option --colour");
    command_expect("recommend run --usr 3", 2, "did you mean --user?");
    command_expect("recommend run --user", 2, "--user needs a value"); /* and not the operand before it */
    command_expect("--resume=1 -c sound.ini", 2, "takes no value");
    command_expect("-c sound.ini -O a -O b", 2, "-O is given twice");
    /* What a command would ignore is refused. */
    command_expect("-c sound.ini --all", 2, "this command has no option --all");
    command_expect("list -c sound.ini", 2, "this command has no option -c");
    command_expect("list --format xml", 2, "this command has no option --format");
    command_expect("generate -O x.csv -o data.value-min=1", 2, "this command has no option -o");
    command_expect("evaluate run -O x", 2, "this command has no option -O");
    command_expect("account -c sound.ini --curve=x --export x", 2, "x is named twice");
    command_expect("audit -c sound.ini --user 1 --user=2", 2, "--user is given twice");
    command_expect("describe Run", 2, "did you mean \"run\"");
    command_expect("generate -O x.csv seed=3 users=0", 2, "\"users=0\": [data] synthetic.users = 0: ");
    command_expect("check", 2, "no configuration");
    command_expect("describe no-such-thing", 2, "no-such-thing");
    command_expect("generate", 2, "--output");
}

/* Where the meaning is plain, it is taken; where it is not, the command to type is named. */
static void a_command_may_be_written_in_several_ways(void **state)
{
    (void)state;
    command_expect("-q -c sound.ini -O way-1", 0, "");
    command_expect("run sound.ini -q -O way-2", 0, "");
    command_expect("train -c sound.ini -q -O way-3", 0, "");
    command_expect("-q -O way-4 train sound.ini", 0, "");
    command_expect("--output=way-5 -q run -c sound.ini -o model.rank=2", 0, "");
    for (int i = 1; i <= 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "way-%d/run.json", i);
        assert_true(command_exists(name));
    }
    command_expect("check sound.ini", 0, "");
    char *by_word = memory_text(command_out);
    command_expect("check -c sound.ini", 0, "");
    assert_string_equal(by_word, command_out);
    free(by_word);
    command_expect("--json account sound.ini", 0, "");
    assert_int_equal(command_out[0], '{');
    command_expect("-o model.rank=99999 check sound.ini", 2,
                   "rank"); /* an override before the command counts */
    command_expect("check sound.ini sound.ini", 2, "check takes no argument");
    command_expect("check -c sound.ini sound.ini", 2, "check takes no argument");
    command_expect("sound.ini", 2, "\"dpframe run sound.ini\" trains, \"dpframe check sound.ini\" says");
    command_expect("-q", 2, "no configuration");
    command_expect("list mechanism", 0, "");
    assert_non_null(strstr(command_out, "laplace"));
    assert_null(strstr(command_out, "cholesky"));
    command_expect("list mechanism --json", 0, "");
    json_t *list = command_json(NULL);
    assert_true(json_array_size(list) > 3);
    json_decref(list);
    command_expect("list mechanisms", 2, "did you mean mechanism?");
    command_expect("list mechanism loss", 2, "one role");
}

static void fits(int width)
{
    for (const char *line = command_out; *line;) {
        const char *end = strchr(line, '\n');
        int n = 0;
        for (const char *p = line; p < end; p++)
            n += ((unsigned char)*p & 0xc0) != 0x80;
        if (n > width)
            fail_msg("a line of %d characters where %d fit: %.*s", n, width, (int)(end - line), line);
        line = end + 1;
    }
}

static void output_fits_the_terminal(void **state)
{
    static const char *const commands[] = {"--help",
                                           "list",
                                           "describe data",
                                           "describe run",
                                           "describe gaussian",
                                           "account sound.ini",
                                           "run --help",
                                           "start --help"};
    static const char *const all[] = {"--jobs",       "--dry-run",    "--resume",
                                      "--candidates", "--plugin-dir", "--version"};
    (void)state;
    command_expect("--help", 0, "");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        assert_non_null(strstr(command_out, all[i]));
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        unsetenv("COLUMNS");
        command_expect(commands[i], 0, "");
        fits(80);
        setenv("COLUMNS", "100", 1);
        command_expect(commands[i], 0, "");
        fits(100);
    }
    unsetenv("COLUMNS");
    /* Lines of running text are filled again; what explains an option stays in its column. */
    command_expect("start --help", 0, "");
    assert_non_null(strstr(command_out, "directory (FILE's name with .ini"));
    command_expect("recommend --help", 0, "");
    assert_non_null(strstr(command_out, "\n                     of the same ones."));
    command_expect("run --help", 0, "");
    assert_non_null(strstr(command_out, "\n  --resume "));
    setenv("COLUMNS", "50", 1);
    command_expect("describe run", 0, "");
    fits(50);
    command_expect("account sound.ini", 0, "");
    fits(50);
    unsetenv("COLUMNS");
}

static void a_run_without_noise_says_so_in_one_line(void **state)
{
    (void)state;
    command_expect(
        "-c sound.ini -o items.mechanism= -o items.transforms= -o items.solver=gradient-descent -O noiseless",
        0, "");
    assert_non_null(strstr(command_out, "Privacy: none. "));
    assert_null(strstr(command_out, "CONDITIONS OF THE PROOF"));
    static char statement[1 << 16];
    command_slurp(command_path("noiseless/release/guarantee.txt"), statement, sizeof statement);
    assert_non_null(strstr(statement, "CONDITIONS OF THE PROOF")); /* the file has all of it */
    command_expect("-c sound.ini -O with-noise", 0, "");
    assert_non_null(strstr(command_out, "CONDITIONS OF THE PROOF"));
}

/* What completion/ asks for. */
static void shells_get_words(void **state)
{
    (void)state;
    command_expect("complete commands", 0, "");
    assert_non_null(strstr(command_out, "recommend\n"));
    assert_non_null(strstr(command_out, "start\n"));
    command_expect("complete components", 0, "");
    assert_non_null(strstr(command_out, "gaussian\n"));
    command_expect("complete sections", 0, "");
    assert_non_null(strstr(command_out, "evaluate\n"));
    command_expect("complete keys", 0, "");
    assert_non_null(strstr(command_out, "model.rank=\n"));
    assert_non_null(strstr(command_out, "items.mechanism=\n"));
    assert_null(strstr(command_out, "items.mechanism.noise-multiplier=\n"));
    command_expect("complete keys sound.ini", 0, "");
    assert_non_null(strstr(command_out, "items.mechanism.noise-multiplier=\n"));
    command_expect("complete keys absent.ini", 0, "");
    assert_string_equal(command_err, "");
    command_expect("complete", 0, "");
    assert_string_equal(command_out, "");
}

/* Locks belong to open files, so the test can stand for the other run. */
static void two_runs_do_not_share_a_directory(void **state)
{
    (void)state;
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

static void a_wrong_configuration_exits_with_2(void **state)
{
    (void)state;
    command_expect("-c absent.ini", 2, "absent.ini");
    command_expect("-c sound.ini -o users.loss=cholesky", 2,
                   "\"cholesky\" is a solver, not a loss (there are: ");
    command_expect("-c .", 2, "cannot read .: Is a directory");
    command_expect("-c /dev/null", 2, "/dev/null: not a regular file; save");
    command_expect("-c unknown.ini", 2, "unknown.ini:3: ");
    assert_non_null(strstr(command_err, "did you mean"));
    command_expect("-c wrong-type.ini", 2, "wrong-type.ini:2: ");
    command_expect("-c sound.ini -o model.rank=99999", 2, "rank");
    command_expect("-c sound.ini -o model.rank", 2, "-o");
    command_expect("-c sound.ini -o rank=3", 2, "-o");
    command_expect("-c sound.ini -o items.mechanism=gausian", 2, "gaussian");
    command_expect("-c sound.ini -o items.mechanism.epsilo=1", 2, "epsilo");
    command_expect("-c sound.ini -o items.transforms=", 2, "clip-user");
    command_expect("-c sound.ini -o run.compare=best", 2, "compare");
    command_expect("acount -c unknown.ini", 2, "unknown command \"acount\"; did you mean account?");
    command_expect("-c unknown.ini account", 2, "unknown.ini:3: ");
    command_expect("-c sound.ini elsewhere", 2, "stray argument \"elsewhere\"");
}

static void wrong_data_exits_with_3(void **state)
{
    (void)state;
    training_file("bad.csv", "user,item,rating\n1,1,5\n1,2,four\n");
    training_file("range.csv", "user,item,rating\n1,1,5\n1,2,2\n2,2,9\n");
    training_file("empty.csv", "user,item,rating\n");
    command_expect("-c sound.ini -o data.format=csv -o data.path=bad.csv -O o3", 3, "bad.csv:3");
    command_expect("-c sound.ini -o data.format=csv -o data.path=range.csv -O o3", 3, "range.csv:4");
    command_expect("-c sound.ini -o data.format=csv -o data.path=empty.csv -O o3", 3, "empty.csv");
    assert_false(command_exists("o3/run.json"));
}

/* It is warned of, and an error where something is asked for that may be in it. */
static void a_wrong_plugin_exits_with_4(void **state)
{
    (void)state;
    assert_int_equal(mkdir(command_path("plugins"), 0755), 0);
    training_file("plugins/broken.so", "this is no shared object");
    command_expect("list --plugin-dir plugins", 0, "broken.so");
    assert_non_null(strstr(command_out, "clip-user"));
    command_expect("check -c sound.ini --plugin-dir plugins", 0, "broken.so");
    command_expect("-q -c sound.ini --plugin-dir plugins -O beside-a-broken-one", 0, "broken.so");
    char *first = strstr(command_err, "broken.so");
    assert_null(strstr(first + 1, "broken.so")); /* once, not for each baseline and twin */
    command_expect("check -c sound.ini --plugin-dir plugins -o users.loss=acme", 4,
                   "-o \"users.loss=acme\": ");
    assert_non_null(strstr(command_err, "Not usable: "));
    training_file("plugins/broken.so", "");
    command_expect("list --plugin-dir plugins", 0, "broken.so: cannot be loaded: file too short");
    command_expect("describe acme --plugin-dir plugins", 2, "broken.so");
    assert_int_equal(unlink(command_path("plugins/broken.so")), 0);
    assert_int_equal(mkfifo(command_path("plugins/pipe.so"), 0644), 0);
    command_expect("list --plugin-dir plugins", 0, "pipe.so: is not a regular file");
    assert_int_equal(unlink(command_path("plugins/pipe.so")), 0);
    assert_int_equal(symlink("nowhere", command_path("plugins/link.so")), 0);
    command_expect("list --plugin-dir plugins", 0, "link.so: cannot be resolved");
    assert_int_equal(unlink(command_path("plugins/link.so")), 0);
    assert_int_equal(mkdir(command_path("plugins/directory.so"), 0755), 0);
    command_expect("list --plugin-dir plugins", 0, "directory.so: is not a regular file");
    assert_int_equal(rmdir(command_path("plugins/directory.so")), 0);
    training_file("plugins/broken.so", "");
    command_expect("list --plugin-dir nowhere", 2, "nowhere");
    assert_int_equal(chmod(command_path("plugins"), 0777), 0);
    command_expect("list --plugin-dir plugins", 0, "writable"); /* others could put code there */
}

/* A component that is not there: where was looked, and how to look elsewhere. */
static void an_unknown_component_names_the_search_path(void **state)
{
    (void)state;
    command_expect("check -c sound.ini -o items.mechanism=acme-noise", 2, "Plugins are searched for in /");
    assert_non_null(strstr(command_err, "DPFRAME_PLUGIN_PATH"));
    assert_non_null(strstr(command_err, "--plugin-dir"));
}

/* What nobody reads is refused, whatever the model. */
/* For programs: the parts of a message, of which the last says what to do. */
static void errors_have_parts(void **state)
{
    static const struct {
        const char *arguments, *kind, *key, *remedy;
        int code;
    } cases[] = {
        {"check -c sound.ini -o model.rank=a --json", "configuration", "model.rank", "must be an integer", 2},
        {"check -c sound.ini -o model.rnk=1 --json", "configuration", NULL, "did you mean", 2},
        {"check -c sound.ini -o data.format=csv -o data.path=absent.csv --json", "data", NULL, NULL, 3},
        {"check -c sound.ini -o data.format=csv -o data.path=semicolons.csv -o data.header=yes --json",
         "data", NULL, "did you mean delimiter = semicolon?", 3},
    };
    (void)state;
    training_file("semicolons.csv", "user;item;rating\na;b;3\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        command_expect(cases[i].arguments, cases[i].code, "\"error\"");
        json_t *root = json_loads(strstr(command_err, "{\"error\""), JSON_DISABLE_EOF_CHECK, NULL);
        const json_t *error = json_object_get(root, "error");
        const char *remedy = json_string_value(json_object_get(error, "remedy"));
        assert_string_equal(json_string_value(json_object_get(error, "kind")), cases[i].kind);
        if (cases[i].key)
            assert_string_equal(json_string_value(json_object_get(error, "key")), cases[i].key);
        if (strstr(cases[i].arguments, "semicolons")) {
            assert_non_null(strstr(json_string_value(json_object_get(error, "file")), "semicolons.csv"));
            assert_int_equal(json_integer_value(json_object_get(error, "line")), 1);
        }
        if (cases[i].remedy)
            assert_ptr_equal(strstr(remedy, cases[i].remedy), remedy);
        else
            assert_null(remedy);
        json_decref(root);
    }
}

static void nothing_is_ignored_in_silence(void **state)
{
    static const char *const models[] = {"", "-o model.kind=popularity", "-o model.kind=mean"};
    char line[256];
    (void)state;
    training_file("misspelt.ini", "include = sound.ini\n[evalute]\nmetrics = rmse\n");
    training_file("audit.ini", "include = sound.ini\n[audit]\ntrails = 500\n");
    training_file("audit-value.ini", "include = sound.ini\n[audit]\nconfidence = 2\n");
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        snprintf(line, sizeof line, "check -c misspelt.ini %s", models[i]);
        command_expect(line, 2, "misspelt.ini:3: unknown section [evalute]; did you mean [evaluate]?");
        snprintf(line, sizeof line, "-q -c misspelt.ini %s -O ignored", models[i]);
        command_expect(line, 2, "unknown section [evalute]");
        snprintf(line, sizeof line, "check -c sound.ini %s -o nosuch.key=1", models[i]);
        command_expect(line, 2, "nosuch");
        snprintf(line, sizeof line, "check -c sound.ini %s -o users.lsos=x", models[i]);
        command_expect(line, 2, "did you mean \"loss\"");
        snprintf(line, sizeof line, "check -c audit.ini %s", models[i]);
        command_expect(line, 2, "audit.ini:3: unknown key \"trails\" in [audit]; did you mean \"trials\"?");
        snprintf(line, sizeof line, "-q -c audit-value.ini %s -O ignored", models[i]);
        command_expect(line, 2, "audit-value.ini:3: ");
        /* The sides of a factorization stay: a variant of a file may be a baseline. */
        snprintf(line, sizeof line, "check -c sound.ini %s", models[i]);
        command_expect(line, 0, "");
    }
    assert_false(command_exists("ignored"));
}

/* ---- the output directory ------------------------------------------------------------------------------ */

static void foreign_directories_are_left_alone(void **state)
{
    (void)state;
    assert_int_equal(mkdir(command_path("thesis"), 0755), 0);
    training_file("thesis/chapter1.tex", "precious");
    command_expect("-c sound.ini -O thesis", 2, "dpframe did not write");
    char text[64];
    command_slurp(command_path("thesis/chapter1.tex"), text, sizeof text);
    assert_string_equal(text, "precious");
    assert_false(command_exists("thesis/run.json") || command_exists("thesis/release"));
    assert_int_equal(mkdir(command_path("archive"), 0755), 0);
    training_file("archive/movies.part1.rar", "precious");
    command_expect("-c sound.ini -O archive", 2, "dpframe did not write");
    assert_int_equal(mkdir(command_path("project"), 0755), 0);
    assert_int_equal(mkdir(command_path("project/private"), 0755), 0);
    training_file("project/private/diary.txt", "precious");
    command_expect("-c sound.ini -O project", 2, "dpframe did not write");
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

static void paths_are_canonical(void **state)
{
    (void)state;
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

/* Stages add up, and to what passed by the clock but for the beginning and the end of the process. */
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
    if (total > passed || total < 0.5 * passed - 1)
        fail_msg("stages take %.3f s, the process %.3f s", total, passed);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void expect_output(const char *arguments, const char *text)
{
    command_expect(arguments, 0, "");
    if (!strstr(command_out, text))
        fail_msg("dpframe %s: \"%s\" is missing in: %s", arguments, text, command_out);
}

static void profile_shows_where_the_time_goes(void **state)
{
    (void)state;
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    files_write_text(command_path("machine.json"),
                     "{\"limits\": {\"triad-gb-s\": 10, \"sgemm-gflop-s\": 50}}", &error);
    files_write_text(command_path("no-machine.json"), "{\"limits\": {}}", &error);
    assert_int_equal(error.fault, DPF_FAULT_NONE);
    expect_output("-c sound.ini -O profiled --profile", "% of limit");
    expect_output("-c sound.ini -O profiled --profile=machine.json", "triad");
    expect_output("-c sound.ini -O profiled -q --profile", "evaluate");
    command_expect("-c sound.ini -O profiled --profile=no-machine.json", 2, "no limits of a machine");
    command_expect("check sound.ini --profile", 2, "no option --profile");
}

static void run_json_says_what_was_run(void **state)
{
    (void)state;
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
static void a_run_may_end_early(void **state)
{
    (void)state;
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

static void other_json_is_json(void **state)
{
    (void)state;
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
static void results_repeat_themselves(void **state)
{
    (void)state;
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

static void an_interrupted_run_writes_nothing(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        char text[128], name[64];
        snprintf(text, sizeof text, "-c sound.ini -o run.rounds=1000000 -o run.trace=no -O stopped%d", i);
        snprintf(name, sizeof name, "stopped%d", i);
        pid_t pid = command_start(text);
        wait_for(name);
        command_sleep(300);
        assert_int_equal(kill(pid, signals[i]), 0);
        assert_int_equal(command_wait(pid), 1);
        assert_non_null(strstr(command_err, "interrupted"));
        assert_false(command_exists(name));
    }
}

/* An interrupted second run leaves the first one's results as they were. */
static void an_interrupted_run_keeps_earlier_results(void **state)
{
    (void)state;
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
    assert_int_equal(command_wait(pid), 1);
    json_t *run = command_json("kept/run.json");
    assert_int_equal(json_integer_value(json_object_get(run, "rounds_done")), 3);
    json_decref(run);
    assert_true(command_exists("kept/release/item_factors.npy"));
}

/* Killed at any moment: where run.json is, the results are whole; the next run cleans up. */
static void a_killed_run_leaves_no_half_results(void **state)
{
    (void)state;
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
static void users_are_streamed(void **state)
{
    (void)state;
    command_expect("-c sound.ini -O streamed -o run.rounds=2 -o model.rank=16 -o model.users=4000 -o "
                   "data.synthetic.users=4000 "
                   "-o data.synthetic.items=1500 -o data.synthetic.ratings=80000",
                   0, "");
    print_message("peak memory of 4000 user parties, 1500 items, rank 16: %ld KiB\n", command_peak);
    assert_true(command_peak < 400 * 1024);
}

/* ---- output that does not arrive -------------------------------------------------------------------- */

/* In the shell: the exit code of a command line in the test's directory, with $D for the program. */
static int shell(const char *line)
{
    char command[2048];
    snprintf(command, sizeof command, "cd '%s' && D='%s/dpframe' && %s", training_directory,
             getenv("DPFRAME_BUILD_DIR"), line);
    int status = system(command);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void what_does_not_arrive_is_no_success(void **state)
{
    (void)state;
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
static void devices_and_links_are_written_through(void **state)
{
    (void)state;
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
static void a_file_too_large_is_a_message(void **state)
{
    (void)state;
    assert_int_equal(shell("(ulimit -f 1; exec $D -q -c sound.ini -O limited 2>/dev/null)"), 1);
    assert_false(command_exists("limited/run.json"));
}

/* Opening a pipe waits for somebody who writes. */
static void a_pipe_is_no_configuration(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(command_path("config-pipe"), 0600), 0);
    command_expect("check -c config-pipe", 2, "config-pipe: not a regular file; save");
}

/* Else the first file of the results would be standard output, and the table of metrics would end up in it.
 */
static void closed_streams_do_not_reach_into_results(void **state)
{
    (void)state;
    assert_int_equal(shell("$D -c sound.ini -O closed >&- 2>&- <&-"), 1);
    assert_int_equal(
        shell("$D -q -c sound.ini -O open && cmp closed/release/item_ids.txt open/release/item_ids.txt"
              " && cmp closed/private/user_ids.txt open/private/user_ids.txt"),
        0);
    assert_int_equal(shell("! grep -rq 'PRIVACY STATEMENT' closed/private closed/run.json closed/config.ini"),
                     0);
}

static void a_run_that_fails_leaves_no_directory(void **state)
{
    (void)state;
    command_expect("-c sound.ini -o data.format=csv -o data.path=sound.ini -O fresh", 3, "sound.ini");
    assert_false(command_exists("fresh"));
    command_expect("-c sound.ini -o model.items=1 -O fresh", 2, "items = 1: the data has");
    assert_false(command_exists("fresh"));
    assert_int_equal(shell("mkdir mine"), 0);
    command_expect("-c sound.ini -o model.items=1 -O mine", 2, "items = 1");
    assert_true(command_exists("mine"));
}

/* The curve as CSV, as pictures where there is gnuplot, and as a table; a file that cannot be written is
 * named. */
static void the_curve_is_a_table_a_file_and_a_picture(void **state)
{
    (void)state;
    command_expect("account -c sound.ini -o accountants.list=rdp,pld --curve curve.csv --odometer spent.csv",
                   0, "");
    assert_non_null(strstr(command_out, "DELTA FOR EACH EPSILON"));
    assert_int_equal(
        shell("test $(grep -c '^rdp,' curve.csv) = 41 && test $(grep -c '^pld,' curve.csv) = 41"), 0);
    assert_int_equal(shell("test $(grep -c ',rdp,' spent.csv) = 3"), 0);
    if (shell("command -v gnuplot >/dev/null") == 0) {
        assert_int_equal(shell("test -s curve.svg && test -s curve.png && test -s spent.svg"), 0);
        assert_false(command_exists("gnuplot.log"));
    }
    command_expect("account -c sound.ini --curve nowhere/curve.csv", 1, "nowhere/curve.csv");
}

/* Whatever is printed is as wide as the terminal at most; a configuration alone stays as it is, to be copied.
 */
static void no_line_is_wider_than_the_terminal(void **state)
{
    static const char *const commands[] = {"$D --help",
                                           "$D run --help",
                                           "$D report --help",
                                           "$D list",
                                           "$D describe privacy",
                                           "$D account -c sound.ini --curve /dev/null",
                                           "$D check sound.ini | sed -n '/^# Pipeline/,$p'"};
    char line[512];
    (void)state;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        for (int width = 60; width <= 110; width += 25) {
            snprintf(line, sizeof line, "export COLUMNS=%d; %s | awk -v most=%d 'length > most' >wide.txt",
                     width, commands[i], width);
            assert_int_equal(shell(line), 0);
            command_slurp(command_path("wide.txt"), line, sizeof line);
            if (*line)
                fail_msg("%s at %d columns: %s", commands[i], width, line);
        }
}

static int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    training_file("sound.ini", sound);
    training_file("diverging.ini",
                  "[run]\nrounds = 50\noutput = out\n" SYNTHETIC "[split]\nkind = none\n[model]\nrank = 3\n"
                  "[users]\nloss = squared-error\nsolver = gradient-descent\n"
                  "[users.solver]\nrate = 100\n"
                  "[items]\nloss = squared-error\nmechanism = none\nsolver = gradient-descent\n"
                  "[items.solver]\nrate = 100\n");
    training_file("unknown.ini", "[model]\nrank = 3\nitem-bais = yes\n" SYNTHETIC);
    training_file("wrong-type.ini", "[model]\nrank = many\n" SYNTHETIC);
    return 0;
}

/* Keys that mean nothing are warned of, but not what an included file had for the kind that it asked for. */
static void meaningless_keys_are_warned_of(void **state)
{
    (void)state;
    training_file("folds.ini", "include = sound.ini\n[split]\nkind = folds\nfolds = 4\n");
    training_file("random.ini", "include = folds.ini\n[split]\nkind = random\n");
    training_file("mistake.ini", "include = random.ini\n[split]\nfolds = 7\n");
    command_expect("check -c random.ini", 0, "");
    assert_null(strstr(command_err, "no effect"));
    command_expect("check -c mistake.ini", 0, "split.folds has no effect with split.kind = random");
    command_expect("check -c random.ini -o split.folds=7", 0, "split.folds has no effect");
    /* One message for all keys, none for those of a kind that the command line has changed, and none from the
       resolved configuration, which has all of them. */
    training_file("own.csv", "1,1,5\n1,2,4\n2,1,3\n2,2,1\n3,1,2\n3,2,5\n");
    command_expect("check -c sound.ini -o data.format=csv -o data.path=own.csv", 0, "");
    assert_null(strstr(command_err, "no effect"));
    command_expect("check -c sound.ini -o data.header=no -o data.delimiter=tab -o data.encoding=utf-8", 0,
                   "data.header, data.delimiter, data.encoding have no effect with data.format = synthetic");
    command_expect("-q -c sound.ini -o data.format=csv -o data.path=own.csv -O own-file", 0, "");
    assert_null(strstr(command_err, "no effect"));
    command_expect("recommend own-file --user 1", 3, "nothing left");
    assert_null(strstr(command_err, "no effect"));
    command_expect("evaluate own-file", 0, "");
    assert_null(strstr(command_err, "no effect"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_works_exits_with_0),
        cmocka_unit_test(the_curve_is_a_table_a_file_and_a_picture),
        cmocka_unit_test(no_line_is_wider_than_the_terminal),
        cmocka_unit_test(check_names_a_tighter_accountant),
        cmocka_unit_test(two_users_are_like_half_of_the_noise),
        cmocka_unit_test(a_run_that_diverges_exits_with_1),
        cmocka_unit_test(a_wrong_command_exits_with_2),
        cmocka_unit_test(a_command_may_be_written_in_several_ways),
        cmocka_unit_test(output_fits_the_terminal),
        cmocka_unit_test(a_run_without_noise_says_so_in_one_line),
        cmocka_unit_test(shells_get_words),
        cmocka_unit_test(two_runs_do_not_share_a_directory),
        cmocka_unit_test(a_wrong_configuration_exits_with_2),
        cmocka_unit_test(wrong_data_exits_with_3),
        cmocka_unit_test(a_wrong_plugin_exits_with_4),
        cmocka_unit_test(an_unknown_component_names_the_search_path),
        cmocka_unit_test(errors_have_parts),
        cmocka_unit_test(nothing_is_ignored_in_silence),
        cmocka_unit_test(foreign_directories_are_left_alone),
        cmocka_unit_test(paths_are_canonical),
        cmocka_unit_test(run_json_says_what_was_run),
        cmocka_unit_test(profile_shows_where_the_time_goes),
        cmocka_unit_test(a_run_may_end_early),
        cmocka_unit_test(other_json_is_json),
        cmocka_unit_test(results_repeat_themselves),
        cmocka_unit_test(an_interrupted_run_writes_nothing),
        cmocka_unit_test(an_interrupted_run_keeps_earlier_results),
        cmocka_unit_test(a_killed_run_leaves_no_half_results),
        cmocka_unit_test(what_does_not_arrive_is_no_success),
        cmocka_unit_test(closed_streams_do_not_reach_into_results),
        cmocka_unit_test(devices_and_links_are_written_through),
        cmocka_unit_test(a_file_too_large_is_a_message),
        cmocka_unit_test(a_pipe_is_no_configuration),
        cmocka_unit_test(a_run_that_fails_leaves_no_directory),
        cmocka_unit_test(users_are_streamed),
        cmocka_unit_test(meaningless_keys_are_warned_of),
    };
    return cmocka_run_group_tests(tests, begin, training_end);
}
