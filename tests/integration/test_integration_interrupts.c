/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C at every kind of moment of every command that may take long: it says so and ends by the signal, which shells call
 * status 130, or it was over and is complete; what it would have written is not there in parts, and what was there is as it
 * was.
 *
 * Moments are those at which a command looks at its clock or writes to the disk (preload/disturbed.c): all that shows
 * progress does.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/test.h"
#include "kit/training.h"

#include "integration/party_processes.h"
#include "kit/spawned.h"

#define ENDED_BY(number) (128 + (number))

#define ALL_DATA "[data]\nformat = csv\npath = ratings.csv\nvalue-min = 1\nvalue-max = 5\n"
#define NOISY                                                                                                \
    "[parties]\nkind = curator\n"                                                                            \
    "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-5\n"                    \
    "[accountants]\nlist = pld\n"

static const char lists[] = "[run]\noutput = lists\nthreads = 2\n" ALL_DATA
                            "feedback = implicit\n[split]\nkind = per-user\nfraction = 0.2\n"
                            "[model]\nrecommender = private-gram\nusers = 120\nitems = 60\n" NOISY
                            "[evaluate]\nmetrics = ndcg\nk = 5\n";
static const char rows[] =
    "[run]\noutput = rows\nrounds = 3\nthreads = 2\n" ALL_DATA
    "[split]\nkind = random\nfraction = 0.2\n[model]\nusers = 120\nrank = 2\noffset = midpoint\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.2\n"
    "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = gaussian\n"
    "solver = gradient-descent\n[items.solver]\nrate = 0.01\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n" NOISY
    "[evaluate]\nmetrics = rmse, mae\n";
static const char settings[] =
    "[run]\nrounds = 3\noutput = settings\n[data]\nformat = synthetic\nsynthetic.users = 40\nsynthetic.items "
    "= "
    "25\nsynthetic.ratings = 500\nvalue-min = 1\nvalue-max = 5\n[split]\nkind = none\n"
    "[model]\nrank = 4\ninit = normal\ninit-scale = 0.1\nusers = 40\nitems = 25\n[parties]\nkind = users\n"
    "[privacy]\nunit = user\nadjacency = replace\ndelta = 1e-5\nobserver = server\nmin-honest = "
    "30\n[accountants]\nlist = "
    "rdp\n"
    "[users]\nloss = weighted-als\nsolver = cholesky\n"
    "[items]\nloss = weighted-gradient\ntransforms = clip-rows\nmechanism = pbm\naggregator = modular-sum\n"
    "solver = adam\n[items.loss]\nclip-error = 1\n[items.transform.clip-rows]\nnorm = l1\nbound = 0.1\n"
    "[items.mechanism]\ntrials = 5\nbound = 0.2\n";
static const char sweep[] = "include = rows.ini\n[run]\noutput = sweep\n[sweep]\nrun.seed = 1, 2\njobs = 1\n";
static const char chosen[] =
    "include = rows.ini\n[run]\noutput = chosen\n[data]\nheader = yes\nitems-file = items.txt\nusers-file = "
    "users.txt\n[evaluate]\nmetrics = rmse\nrelease = noisy\n"
    "release-epsilon = 2\n[privacy]\nrandomness = reproducible\nnoise-seed = 2\n[accountants]\nlist = pld, "
    "rdp\n"
    "[select]\nmetric = rmse\nrepetitions = geometric\nmean = 2\n"
    "[sweep]\nitems.solver.rate = 0.001, 0.02\njobs = 1\n";
static const char audited[] = "include = rows.ini\n[audit]\ntrials = 20\n";
static const char attacked[] = "include = rows.ini\n[audit]\nattack = membership\ntrials = 32\ntargets = 4\n";

static int begin(void **state)
{
    static char pairs[1 << 14] = "user,item\n", ids[1 << 10];
    if (training_begin(state) != 0)
        return -1;
    training_file("lists.ini", lists);
    training_file("rows.ini", rows);
    training_file("settings.ini", settings);
    training_file("sweep.ini", sweep);
    training_file("chosen.ini", chosen);
    training_file("audited.ini", audited);
    training_file("attacked.ini", attacked);
    for (int user = 1; user <= 120; user += 2)
        for (int item = 1; item < 10; item++)
            sprintf(pairs + strlen(pairs), "%d,%d\n", user, item);
    training_file("pairs.csv", pairs);
    for (int i = 1; i <= 120; i++)
        sprintf(ids + strlen(ids), "%d\n", i);
    training_file("users.txt", ids);
    *strstr(ids, "61\n") = '\0';
    training_file("items.txt", ids);
    return command_prepare("generate -q -O ratings.csv users=120 items=60 ratings=2400") ||
                   command_prepare("run -q lists.ini") || command_prepare("run -q rows.ini") ||
                   command_prepare("run -q rows.ini -O others -o run.seed=2 -o split.kind=leave-one-out") ||
                   command_prepare("run -q rows.ini -O again") ||
                   command_prepare("run -q sweep.ini -O swept") || command_prepare("report rows") ||
                   command_prepare("report swept")
               ? -1
               : 0;
}

/* What all files of the test's directory contain. Free it. */
static char *contents(void)
{
    char line[512];
    static char text[1 << 17];
    snprintf(line, sizeof line,
             "cd '%s' && find . -type f ! -name stdout.txt ! -name stderr.txt ! -name moments -exec "
             "sha256sum {} + | "
             "sort -k 2",
             training_directory);
    FILE *stream = popen(line, "r");
    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    assert_int_equal(pclose(stream), 0);
    return memory_text(text);
}

static void forget(const char *made)
{
    char line[512];
    snprintf(line, sizeof line, "rm -rf '%s'/%s", training_directory, made);
    assert_int_equal(system(line), 0);
}

/* The exit code of a command that is interrupted at that moment. */
static int interrupted_at(const char *arguments, long moment)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", moment);
    setenv("DISTURBED_SIGNAL", text, 1);
    setenv("DISTURBED_MOMENTS", command_path("moments"), 1);
    const int code = command_run_it(arguments);
    unsetenv("DISTURBED_SIGNAL");
    return code;
}

static int faults; /* all cases are looked at */

/* How many moments a command has that nobody interrupts. */
static long moments_of(const char *arguments)
{
    char text[64];
    const int code = interrupted_at(arguments, 0);
    if (code != 0) {
        print_error("dpframe %s: exit code %d: %s\n", arguments, code, command_err);
        faults++;
        return 0;
    }
    command_slurp(command_path("moments"), text, sizeof text);
    return atol(text);
}

static const struct case_of {
    const char *arguments;
    const char *made;   /* what it writes, for itself alone; a pattern */
    const char *resume; /* goes on from what an interruption leaves; NULL: it leaves nothing */
    int is_quick;       /* reads a model alone, and is over before it could ask */
} cases[] = {
    {"generate -O made.csv users=5000 items=60 ratings=100000", "made.csv", NULL, 0},
    {"run lists.ini -O made", "made", NULL, 0},
    {"run lists.ini -O made -o run.compare=non-private,popularity -o privacy.budget=total "
     "-o privacy.total-epsilon=3 -o privacy.calibrate-by=pld",
     "made", NULL, 0},
    {"run rows.ini -O made", "made", NULL, 0},
    {"run rows.ini -O made -o data.format=synthetic -o data.path= -o data.synthetic.users=120 -o "
     "data.synthetic.items=60 -o data.synthetic.ratings=2400",
     "made", NULL, 0},
    {"check rows.ini", "none", NULL, 0},
    {"account rows.ini -o privacy.budget=total -o privacy.total-epsilon=3 -o privacy.calibrate-by=pld",
     "none", NULL, 0},
    {"account settings.ini --choose 4", "none", NULL, 0},
    {"account rows.ini --curve made.csv -o accountants.list=rdp,pld", "made.*", NULL, 0},
    {"check sweep.ini", "none", NULL, 0},
    {"recommend lists --all -O made.csv", "made.csv", NULL, 0},
    {"recommend lists --user 3 --data ratings.csv -O made.csv", "made.csv", NULL, 0},
    {"predict rows pairs.csv -O made.csv", "made.csv", NULL, 0},
    {"similar rows --item 3 -O made.csv", "made.csv", NULL, 1},
    {"evaluate rows", "none", NULL, 0},
    {"evaluate lists --format trec -O made", "made", NULL, 0},
    {"compare rows again", "none", NULL, 0},
    {"report rows", "rows/report.html", NULL, 0},
    {"report swept", "none", NULL, 0},
    {"page lists -O made.html", "made.html", NULL, 1},
    {"audit audited.ini -j 1", "none", NULL, 0},
    {"audit audited.ini -o audit.canaries=20", "none", NULL, 0},
    {"audit attacked.ini -j 1", "none", NULL, 0},
    {"audit --plugin gaussian -o audit.trials=20 -j 1", "none", NULL, 0},
    {"audit lists.ini -o audit.trials=20 -j 1", "none", NULL, 0},
    {"evaluate rows -o evaluate.bootstrap=200", "none", NULL, 0},
    {"sweep -c sweep.ini -O made", "made", "run -q sweep.ini -O made --resume", 0},
    {"run sweep.ini -O made", "made", "run -q sweep.ini -O made --resume", 0},
    {"run chosen.ini -O made", "made", "run -q chosen.ini -O made --resume", 0},
};

/* They train nothing, look at no record of a large file, and compute no guarantee; or are tried elsewhere. */
static const char *const others[] = {
    "train",                          /* run, by another name */
    "start",                          /* questions: below */
    "serve",    "join",               /* test_integration_federation_resume */
    "items",                          /* test_integration_first_contact: a table of released counts */
    "diff",     "convert",    "list", /* configurations and plugins are read, and no data */
    "describe", "new-plugin",
};

/* A command that nobody has thought of here. */
TEST(every_command_is_interrupted)
{
    command_expect("complete commands", 0, "");
    char *names = memory_text(command_out);
    for (char *name = strtok(names, "\n"); name; name = strtok(NULL, "\n")) {
        int known = 0;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            known |= strncmp(cases[i].arguments, name, strlen(name)) == 0 &&
                     cases[i].arguments[strlen(name)] == ' ';
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            known |= strcmp(others[i], name) == 0;
        if (!known)
            fail_msg("dpframe %s: name it among the commands that are interrupted, or say why not", name);
    }
    free(names);
}

/* At one moment. Returns whether it was interrupted. */
static int interrupt(const struct case_of *c, long moment, const char *before)
{
    const int code = interrupted_at(c->arguments, moment);
    const int said = strstr(command_err, "interrupted") != NULL;
    if (code != 0 && (code != ENDED_BY(SIGINT) || !said)) {
        print_error("dpframe %s, at moment %ld: exit code %d: %s\n", c->arguments, moment, code, command_err);
        faults++;
    }
    if (code != 0 && c->resume && command_exists(c->made))
        command_expect(c->resume, 0, "");
    if (code == 0 || c->resume)
        forget(c->made);
    char *after = contents();
    if (strcmp(before, after) != 0) {
        print_error("dpframe %s, at moment %ld: exit code %d; there was\n%s\nand is\n%s\n", c->arguments,
                    moment, code, before, after);
        faults++;
    }
    free(after);
    return code != 0;
}

TEST(ctrl_c_leaves_nothing_half_done)
{
    char preload[512];
    if (!disturbed(preload, sizeof preload)) {
        print_message("no library that presses Ctrl-C in this build: left out\n");
        return;
    }
    setenv("LD_PRELOAD", preload, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct case_of *c = &cases[i];
        int interrupted = 0;
        forget(c->made);
        char *before = contents();
        const long n = moments_of(c->arguments);
        forget(c->made);
        const long at[] = {1, 2, n / 2, n - 1, n};
        for (int k = 0; k < 5; k++)
            if (at[k] > (k ? at[k - 1] : 0))
                interrupted += interrupt(c, at[k], before);
        const int missed = interrupted == 0 && !c->is_quick;
        if (missed)
            print_error("dpframe %s: it was never interrupted in %ld moments\n", c->arguments, n);
        faults += missed;
        free(before);
    }
    unsetenv("LD_PRELOAD");
    assert_int_equal(faults, 0);
}

/* It waits for an answer, and a signal finds it there. */
static void wait_until_asleep(pid_t pid)
{
    char path[64], state = 'R';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    for (int i = 0; i < 1000 && state != 'S'; i++) {
        command_sleep(10);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
        fclose(file);
    }
    assert_int_equal(state, 'S');
}

/* Questions at a terminal are not answered by Ctrl-C, at whichever of them it is. */
TEST(ctrl_c_ends_questions)
{
    static const char *const given[] = {"feedback=explicit",
                                        "header=yes"}; /* with one, the next question comes first */
    for (int n = 0; n < 2; n++) {
        char seen[4096], program[4096];
        size_t length = 0;
        int status;
        snprintf(program, sizeof program, "%s/dpframe", getenv("DPFRAME_BUILD_DIR"));
        const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
        assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
        const pid_t child = fork();
        if (child == 0) {
            const int end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
            if (end < 0 || chdir(training_directory) != 0 || dup2(end, 0) != 0 || dup2(end, 1) != 1 ||
                dup2(end, 2) != 2)
                _exit(99);
            execl(program, "dpframe", "start", "ratings.csv", given[n], (char *)NULL);
            _exit(98);
        }
        struct pollfd ready = {.fd = terminal, .events = POLLIN};
        do {
            assert_int_equal(poll(&ready, 1, 20000), 1);
            const ssize_t got = read(terminal, seen + length, sizeof seen - 1 - length);
            assert_true(got > 0);
            length += (size_t)got;
            seen[length] = '\0';
        } while (length < 2 || strcmp(seen + length - 2, "= ") != 0);
        wait_until_asleep(child);
        assert_int_equal(kill(child, SIGINT), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGINT);
        close(terminal);
    }
    assert_false(command_exists("ratings.ini"));
}

FIXTURE(begin, training_end)
