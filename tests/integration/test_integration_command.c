/* SPDX-License-Identifier: Apache-2.0 */
/* The program from outside: commands, exit codes and messages. */
#include "integration/command_fixture.h"

/* ---- exit codes ------------------------------------------------------------------------------------- */

TEST(a_run_that_works_exits_with_0)
{
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
TEST(check_names_a_tighter_accountant)
{
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
TEST(two_users_are_like_half_of_the_noise)
{
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

TEST(a_run_that_diverges_exits_with_1)
{
    command_expect("-c sound.ini -o items.mechanism=none -o items.transforms= -o items.solver.rate=1e6 "
                   "-o users.loss=squared-error -o users.loss.lambda= -o users.solver=gradient-descent "
                   "-O diverged",
                   2, "lambda"); /* an empty number is no number */
    command_expect("-c diverging.ini -O diverged", 1, "diverged");
    assert_false(command_exists("diverged/run.json"));
}

TEST(a_wrong_command_exits_with_2)
{
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
    command_expect("describe run -O x", 2, "this command has no option -O");
    command_expect("account -c sound.ini --curve=x --export x", 2, "x is named twice");
    command_expect("audit -c sound.ini --user 1 --user=2", 2, "--user is given twice");
    command_expect("describe Run", 2, "did you mean \"run\"");
    command_expect("generate -O x.csv seed=3 users=0", 2, "\"users=0\": [data] synthetic.users = 0: ");
    command_expect("check", 2, "no configuration");
    command_expect("describe no-such-thing", 2, "no-such-thing");
    command_expect("generate", 2, "--output");
}

/* Where the meaning is plain, it is taken; where it is not, the command to type is named. */
TEST(a_command_may_be_written_in_several_ways)
{
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
    const char *const alone[] = {"run", "check", "account", "sweep", "audit"};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        char line[128];
        snprintf(line, sizeof line, "%s sound.ini twice.ini", alone[i]);
        command_expect(line, 2, "stray argument \"twice.ini\"");
        snprintf(line, sizeof line, "%s sound.ini model.rank=3", alone[i]);
        command_expect(line, 2, "stray argument \"model.rank=3\": a value follows -o");
        snprintf(line, sizeof line, "%s -c sound.ini again.ini", alone[i]);
        command_expect(line, 2, "stray argument \"again.ini\"");
    }
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

TEST(a_wrong_configuration_exits_with_2)
{
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

TEST(wrong_data_exits_with_3)
{
    training_file("bad.csv", "user,item,rating\n1,1,5\n1,2,four\n");
    training_file("range.csv", "user,item,rating\n1,1,5\n1,2,2\n2,2,9\n");
    training_file("empty.csv", "user,item,rating\n");
    command_expect("-c sound.ini -o data.format=csv -o data.path=bad.csv -O o3", 3, "bad.csv:3");
    command_expect("-c sound.ini -o data.format=csv -o data.path=range.csv -O o3", 3, "range.csv:4");
    command_expect("-c sound.ini -o data.format=csv -o data.path=empty.csv -O o3", 3, "empty.csv");
    assert_false(command_exists("o3/run.json"));
}

/* It is warned of, and an error where something is asked for that may be in it. */
TEST(a_wrong_plugin_exits_with_4)
{
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
TEST(an_unknown_component_names_the_search_path)
{
    command_expect("check -c sound.ini -o items.mechanism=acme-noise", 2, "Plugins are searched for in /");
    assert_non_null(strstr(command_err, "DPFRAME_PLUGIN_PATH"));
    assert_non_null(strstr(command_err, "--plugin-dir"));
}

/* For programs: the parts of a message, of which the last says what to do. */
TEST(errors_have_parts)
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

/* What nobody reads is refused, whatever the model. */
TEST(nothing_is_ignored_in_silence)
{
    static const char *const models[] = {"", "-o model.kind=popularity", "-o model.kind=mean"};
    char line[256];
    training_file("misspelt.ini", "include = sound.ini\n[evalute]\nmetrics = rmse\n");
    training_file("audit.ini", "include = sound.ini\n[audit]\ntrails = 500\n");
    training_file("audit-value.ini", "include = sound.ini\n[audit]\nconfidence = 2\n");
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        snprintf(line, sizeof line, "check -c misspelt.ini %s", models[i]);
        command_expect(line, 2, "misspelt.ini:2: unknown section [evalute]; did you mean [evaluate]?");
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
    /* A side that is not updated needs no solver, for a baseline either. */
    command_expect("check -c sound.ini -o model.kind=popularity -o items.update=no -o items.solver=", 0, "");
    /* Without a solver there is no side that another model would have, so that no key of it is read. */
    static const char *const unread[] = {"users.loss.nosuch=1", "items.mechanism.nosuch=1",
                                         "users.loss=nosuchloss", "users.loss.lambda=abc", "items.terms=a"};
    /* Whether anybody has a test record does not decide whether a range is asked for. */
    training_file("clip.csv", "user,item,rating\n1,1,3\n2,1,4\n1,2,5\n");
    training_file("clip.ini",
                  "[data]\nformat = csv\nheader = yes\npath = clip.csv\n[model]\nkind = mean\n[evaluate]\n"
                  "metrics = rmse\nclip-predictions = yes\n");
    command_expect("check -c clip.ini -o split.kind=none", 2, "clipping needs the range of values");
    command_expect("check -c clip.ini -o split.kind=per-user", 2, "clipping needs the range of values");
    training_file("bare.ini",
                  "[data]\nformat = synthetic\nfeedback = implicit\n[model]\nkind = popularity\n");
    command_expect("check -c bare.ini", 0, "");
    for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++) {
        snprintf(line, sizeof line, "check -c bare.ini -o %s", unread[i]);
        command_expect(line, 2, "kind = popularity solves no side");
        snprintf(line, sizeof line, "check -c bare.ini -o model.kind=mean -o data.feedback=explicit -o %s",
                 unread[i]);
        command_expect(line, 2, "kind = mean solves no side");
    }
}

/* Ratings beyond the declared range are for the curator to see, and where all are alike no model is praised. */
TEST(a_wrong_range_is_noticed)
{
    char lines[20000], *at = lines + sprintf(lines, "user,item,rating\n");
    for (int u = 0; u < 60; u++)
        for (int i = 0; i < 12; i++)
            at += sprintf(at, "%d,%d,%d\n", u, (u + i * 3) % 20, 20 + (u * i) % 80);
    training_file("hundred.csv", lines);
    command_expect(
        "start hundred.csv feedback=explicit users=60 items=20 value-min=1 value-max=5 epsilon=5 header=yes",
        0, "");
    command_expect("run hundred.ini -O hundred", 0, "720 of 720 values lie outside of the declared range");
    assert_non_null(strstr(command_out, "Verdict: cannot tell. All values are 5"));
}

/* ---- what is written ------------------------------------------------------------------------------------
 */

static void expect_output(const char *arguments, const char *text)
{
    command_expect(arguments, 0, "");
    if (!strstr(command_out, text))
        fail_msg("dpframe %s: \"%s\" is missing in: %s", arguments, text, command_out);
}

TEST(profile_shows_where_the_time_goes)
{
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    files_write_text(command_path("machine.json"),
                     "{\"limits\": {\"triad-gb-s\": 10, \"sgemm-gflop-s\": 50, \"keystream-gb-s\": 5}}",
                     &error);
    files_write_text(command_path("slow-keystream.json"),
                     "{\"limits\": {\"triad-gb-s\": 10, \"sgemm-gflop-s\": 50, \"keystream-gb-s\": 1e-6}}",
                     &error);
    files_write_text(command_path("no-machine.json"), "{\"limits\": {}}", &error);
    assert_int_equal(error.fault, DPF_FAULT_NONE);
    expect_output("-c sound.ini -O profiled --profile", "% of limit");
    expect_output("-c sound.ini -O profiled --profile=machine.json", "triad");
    expect_output("-c sound.ini -O profiled --profile=slow-keystream.json", "keystream");
    expect_output("-c sound.ini -O profiled -q --profile", "evaluate");
    command_expect("-c sound.ini -O profiled --profile=no-machine.json", 2, "no limits of a machine");
    command_expect("check sound.ini --profile", 2, "no option --profile");
}

/* ---- output that does not arrive -------------------------------------------------------------------- */

/* Keys that mean nothing are warned of, but not what an included file had for the kind that it asked for. */
TEST(meaningless_keys_are_warned_of)
{
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

/* No machine holds these records: sizes of generated data are what the generator is told. */
TEST(check_generates_no_data)
{
    char command[1024];
    snprintf(command, sizeof command,
             "check -c %s/configs/quickstart.ini -o data.synthetic.users=2000000000 -o "
             "data.synthetic.ratings=1e11 "
             "-o model.users=2000000000",
             getenv("DPFRAME_SOURCE_DIR"));
    command_expect(command, 0, "");
    assert_null(strstr(command_err, "the data cannot be read"));
}

FIXTURE(begin, training_end)
