/* SPDX-License-Identifier: Apache-2.0 */
/* The budget of a data set over runs: what adds up, what is refused, and what a crash leaves. */
#include "kit/test.h"
#include "base/files.h"
#include "kit/training.h"

#include "kit/spawned.h"

static const char config[] =
    "[run]\nrounds = 1\noutput = out\n"
    "[data]\nformat = synthetic\nsynthetic.users = 60\nsynthetic.items = 30\nsynthetic.ratings = 600\n"
    "value-min = 1\nvalue-max = 5\n[split]\nkind = none\n[model]\nusers = 60\nrank = 2\noffset = midpoint\n"
    "[parties]\nkind = users\n[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.2\n"
    "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = gaussian\nsolver = gradient-descent\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"
    "[items.solver]\nrate = 0.01\n[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\n"
    "delta = 1e-6\nledger = spent.jsonl\n[accountants]\nlist = pld\n";

/* Of the file that runs of this configuration share. */
#define HEAD                                                                                                 \
    "{\"dpframe_ledger\":1,\"unit\":\"user\",\"adjacency\":\"add-remove\",\"observer\":\"outsider\","        \
    "\"users\":\"that of the generator\",\"items\":\"that of the generator\"}\n"

static int begin(void **state)
{
    if (training_begin(state) != 0)
        return -1;
    training_file("runs.ini", config);
    return 0;
}

static int lines_of(const char *name)
{
    char text[65536];
    int n = 0;
    command_slurp(command_path(name), text, sizeof text);
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        n++;
    return n;
}

static double budget_of(const char *name, const char *field)
{
    char path[64];
    snprintf(path, sizeof path, "%s/run.json", name);
    json_t *run = command_json(path);
    const json_t *budget = json_object_get(json_object_get(run, "guarantee"), "budget");
    const double value = json_number_value(json_object_get(budget, field));
    json_decref(run);
    return value;
}

static const char counting[] =
    "[run]\noutput = counts\n[data]\nformat = csv\npath = plays.csv\nheader = yes\nfeedback = implicit\n"
    "column.rating = none\nitems-file = all.txt\n[split]\nkind = none\n[model]\nusers = 400\nitems = 40\n"
    "recommender = private-popularity\n[parties]\nkind = curator\n[privacy]\nunit = user\n"
    "adjacency = add-remove\nobserver = outsider\ndelta = 1e-6\nbudget = total\ntotal-epsilon = 4\n"
    "ledger = items.jsonl\n[accountants]\nlist = pld\n";
static const char factorizing[] =
    "[run]\nrounds = 1\noutput = out\n[data]\nformat = csv\npath = plays.csv\nheader = yes\n"
    "feedback = implicit\ncolumn.rating = none\nitems-file = popular.txt\ncatalogue.outside = drop\n"
    "[split]\nkind = none\n[model]\nusers = 400\nrank = 2\n[parties]\nkind = users\n"
    "[users]\nloss = implicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.2\n"
    "[items]\nloss = implicit-als\ntransforms = clip-user\nmechanism = gaussian\ngram-share = 0.2\nsolver = "
    "ball\n"
    "[items.loss]\nlambda = 0.2\n[items.transform.clip-user]\nbound = 2\n[items.mechanism]\n"
    "calibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"
    "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-6\n"
    "ledger = items.jsonl\n[accountants]\nlist = pld\n";

/* Item k is the favourite of all users but k of each 40; ids in the order of the catalogue are another. */
static void write_plays(int users)
{
    static char text[1 << 18];
    char *at = text + sprintf(text, "user,item\n");
    for (int u = 0; u < users; u++)
        for (int i = 0; i < 40; i++)
            if ((u * 17 + i * 7) % 40 >= i)
                at += sprintf(at, "u%d,i%d\n", u, i);
    training_file("plays.csv", text);
    at = text;
    for (int i = 0; i < 40; i++)
        at += sprintf(at, "i%d\n", (i * 11) % 40);
    training_file("all.txt", text);
}

TEST(items_are_chosen_by_released_counts_and_charged)
{
    static char first[4096], again[4096], ids[4096], seeded[4096];
    write_plays(400);
    training_file("counting.ini", counting);
    training_file("factorizing.ini", factorizing);
    command_expect("-q run counting.ini -O counts", 0, "");
    const double one = budget_of("counts", "epsilon");
    assert_true(one > 3.9 && one <= 4);
    command_expect("items counts -n 10 -O popular.txt", 0, "");
    assert_string_equal(command_err, "");
    command_slurp(command_path("popular.txt"), first, sizeof first);
    /* Far apart counts survive this noise: the ten are among the first fourteen. */
    int n = 0;
    for (char *line = strtok(strcpy(ids, first), "\n"); line; line = strtok(NULL, "\n"), n++)
        assert_true(line[0] == 'i' && atoi(line + 1) < 14);
    assert_int_equal(n, 10);
    /* The release alone says it: other records change nothing. */
    write_plays(7);
    command_expect("items counts -n 10", 0, "");
    assert_string_equal(command_out, first);
    write_plays(400);
    snprintf(seeded, sizeof seeded, "%s", counting);
    *strstr(seeded, "ledger =") = ';';
    training_file("unproved.ini", seeded);
    command_expect("-q run unproved.ini -O unproved -o privacy.randomness=reproducible", 0, "");
    command_expect("items unproved -n 10", 0, "nothing is proved of what this run released");
    /* The rows of the factorization are these items; no record of others is a fault; both runs are charged.
     */
    command_expect("-q run factorizing.ini -O out", 0, "");
    assert_string_equal(command_err, "");
    command_slurp(command_path("out/release/item_ids.txt"), again, sizeof again);
    assert_string_equal(again, first);
    assert_false(command_exists("out/private/violations.txt"));
    assert_true(budget_of("out", "runs_before") == 1);
    json_t *run = command_json("out/run.json");
    const json_t *guarantee = json_object_get(run, "guarantee");
    const json_t *proved = json_array_get(json_object_get(guarantee, "proved"), 0);
    const double own = json_number_value(json_object_get(proved, "epsilon"));
    assert_true(own > 0 && fabs(budget_of("out", "epsilon") - (one + own)) < 1e-9);
    json_decref(run);
    command_expect("-q run factorizing.ini -o data.catalogue.outside=fault -O faults", 0,
                   "faults in protected records");
    /* Rows are in the order of the catalogue, also for those who come later, with items that it does not
     * have. */
    training_file("later.csv", "user,item\nzoe,i0\nzoe,i39\nzoe,i1\n");
    command_expect("recommend out --data later.csv --user zoe -n 3", 0, "");
    assert_null(strstr(command_out, "zoe,i0,"));
    /* Nothing public can be made of what is not released. */
    command_expect("items out", 2, "no state of a recommender is released");
}

TEST(runs_add_up_until_nothing_is_left)
{
    command_expect("-c runs.ini -O first", 0, "");
    const double one = budget_of("first", "epsilon");
    assert_true(one > 0);
    assert_true(budget_of("first", "runs_before") == 0);
    command_expect("-c runs.ini -O second", 0, "");
    assert_true(fabs(budget_of("second", "epsilon") - 2 * one) < 1e-9);
    assert_true(budget_of("second", "delta") == 2e-6);
    char limited[128];
    snprintf(limited, sizeof limited, "-c runs.ini -O third -o privacy.max-epsilon=%.17g", 2.5 * one);
    command_expect(limited, 2, "[privacy] max-epsilon");
    assert_non_null(strstr(command_err, ": 2 runs have spent epsilon"));
    assert_false(command_exists("third"));
    assert_int_equal(lines_of("spent.jsonl"), 3);
    snprintf(limited, sizeof limited, "check -c runs.ini -o privacy.max-epsilon=%.17g", 2.5 * one);
    command_expect(limited, 2, "max-epsilon"); /* and says so beforehand */
    snprintf(limited, sizeof limited, "-c runs.ini -O third -o privacy.max-epsilon=%.17g", 3.0 * one);
    command_expect(limited, 0, "");
    command_expect("account -c runs.ini", 0, "");
    assert_non_null(strstr(command_out, "BUDGET OF THE DATA SET"));
    assert_int_equal(lines_of("spent.jsonl"), 4); /* which only reads */
}

/* Runs that were fixed beforehand are composed, which costs less than the sum; a limit is judged by what is
 * declared. */
TEST(planned_runs_are_composed)
{
    command_expect("-c runs.ini -O c1 -o privacy.ledger=composed.jsonl", 0, "");
    const double one = budget_of("c1", "epsilon");
    assert_true(fabs(budget_of("c1", "epsilon_composed") - one) < 1e-9);
    for (int i = 2; i <= 4; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "-c runs.ini -O c%d -o privacy.ledger=composed.jsonl", i);
        command_expect(arguments, 0, "");
    }
    const double sum = budget_of("c4", "epsilon"), composed = budget_of("c4", "epsilon_composed");
    assert_true(fabs(sum - 4 * one) < 1e-9);
    assert_true(composed > one);
    assert_true(composed < 0.7 * sum);
    /* Four runs are one with four times the rounds, at the same delta. */
    command_expect(
        "account -c runs.ini -o privacy.ledger=none.jsonl -o run.rounds=4 -o privacy.delta=4e-6 --json", 0,
        "");
    json_t *account = command_json(NULL);
    const json_t *proved = json_array_get(json_object_get(account, "proved"), 0);
    const double rounds = json_number_value(json_object_get(proved, "epsilon"));
    json_decref(account);
    if (!(fabs(composed - rounds) < 1e-3 * rounds))
        fail_msg("%g composed, %g for four times the rounds", composed, rounds);
    char limited[256];
    snprintf(limited, sizeof limited,
             "-c runs.ini -O c5 -o privacy.ledger=composed.jsonl -o privacy.max-epsilon=%g", sum);
    command_expect(limited, 2, "ledger-runs = planned");
    strcat(limited, " -o privacy.ledger-runs=planned");
    command_expect(limited, 0, "");
    command_expect("account -c runs.ini -o privacy.ledger=composed.jsonl", 0, "");
    assert_non_null(strstr(command_out, "Composed by pld"));
    /* A line that nobody can read the releases of leaves the sum alone. */
    training_file("old.jsonl", HEAD "{\"epsilon\":1,\"delta\":1e-6}\n");
    command_expect("-c runs.ini -O c6 -o privacy.ledger=old.jsonl", 0, "");
    assert_true(fabs(budget_of("c6", "epsilon") - 1 - one) < 1e-9);
    json_t *run = command_json("c6/run.json");
    assert_true(json_is_null(
        json_object_get(json_object_get(json_object_get(run, "guarantee"), "budget"), "epsilon_composed")));
    json_decref(run);
}

/* Whoever kills a run at any moment has no release that was not charged. */
TEST(a_killed_run_that_released_is_charged)
{
    enum { RUNS = 24 };
    int released = 0, killed = 0;
    for (int i = 0; i < RUNS; i++) {
        char arguments[128], path[64];
        snprintf(arguments, sizeof arguments,
                 "-q -c runs.ini -O killed%d -o privacy.ledger=killed.jsonl -o run.threads=1", i);
        const pid_t run = command_start(arguments);
        const struct timespec moment = {0, 1000000L * (2 + 4 * i)};
        nanosleep(&moment, NULL);
        kill(run, SIGKILL);
        killed += command_wait(run) != 0;
        snprintf(path, sizeof path, "killed%d/release", i);
        released += command_exists(path);
        const int charged = command_exists("killed.jsonl") ? lines_of("killed.jsonl") - 1 : 0;
        if (released > (charged > 0 ? charged : 0))
            fail_msg("%d runs released, %d are charged", released, charged);
    }
    assert_true(killed > 0);
    print_message("%d of %d runs were killed, %d had released\n", killed, RUNS, released);
    command_expect("-c runs.ini -O at-last -o privacy.ledger=killed.jsonl", 0, "");
}

TEST(runs_beside_each_other_are_all_counted)
{
    enum { RUNS = 6 };
    pid_t runs[RUNS];
    for (int i = 0; i < RUNS; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments,
                 "-c runs.ini -O beside%d -o privacy.ledger=beside.jsonl -o run.threads=1", i);
        runs[i] = command_start(arguments);
    }
    for (int i = 0; i < RUNS; i++)
        assert_int_equal(command_wait(runs[i]), 0);
    assert_int_equal(lines_of("beside.jsonl"), RUNS + 1);
    double most = 0;
    for (int i = 0; i < RUNS; i++) {
        char name[32];
        snprintf(name, sizeof name, "beside%d", i);
        most = fmax(most, budget_of(name, "runs_before"));
    }
    assert_true(most == RUNS - 1);
}

/* Points of a sweep are runs. */
TEST(a_sweep_is_as_many_runs)
{
    char text[sizeof config + 256];
    snprintf(text, sizeof text,
             "%s[sweep]\nquestion = How much?\nrun.seed = 1..2\nvariant.loud = "
             "items.mechanism.noise-multiplier=4\nvariant.quiet = items.mechanism.noise-multiplier=8\n",
             config);
    training_file("sweep.ini", text);
    command_expect("-c sweep.ini -O swept -o privacy.ledger=swept.jsonl", 0, "");
    assert_int_equal(lines_of("swept.jsonl"), 5);
}

TEST(what_does_not_add_up_is_refused)
{
    training_file(
        "other.jsonl",
        "{\"dpframe_ledger\":1,\"unit\":\"record\",\"adjacency\":\"flip\",\"observer\":\"outsider\"}\n");
    command_expect("-c runs.ini -O bad -o privacy.ledger=other.jsonl", 2,
                   "-o \"privacy.ledger=other.jsonl\": [privacy] ledger = other.jsonl: it is for unit "
                   "record, adjacency flip");
    training_file("no-json.jsonl", "once upon a time\n");
    command_expect("-c runs.ini -O bad -o privacy.ledger=no-json.jsonl", 2, "line 1");
    training_file("negative.jsonl", HEAD "{\"epsilon\":-3,\"delta\":0}\n");
    command_expect("-c runs.ini -O bad -o privacy.ledger=negative.jsonl", 2, "line 2");
    command_expect("-c runs.ini -O bad -o privacy.ledger=. ", 2, "ledger");
    command_expect("-c runs.ini -O bad -o items.mechanism=none -o items.mechanism.calibration= "
                   "-o items.mechanism.noise-multiplier= -o items.mechanism.where=",
                   2, "");
    char text[sizeof config + 32], *line = strstr(strcpy(text, config), "ledger = spent.jsonl");
    memcpy(line, "max-epsilon = 3     ", strlen("ledger = spent.jsonl"));
    training_file("without.ini", text);
    command_expect("-c without.ini -O bad", 2, "needs the file");
    assert_false(command_exists("bad"));
}

/* A run that takes the lists of ids for public says nothing of whoever alone has an item, and then a sum with
   it says nothing either. */
TEST(runs_that_protect_less_do_not_add_up)
{
    static const char declared[] =
        "-c runs.ini -O public -o privacy.ledger=public.jsonl -o privacy.id-lists=public";
    command_expect(declared, 0, "");
    command_expect(declared, 0, "");
    assert_int_equal(lines_of("public.jsonl"), 3);
    command_expect("-c runs.ini -O hidden -o privacy.ledger=public.jsonl", 2,
                   "for runs that declare id-lists to be public; this run declares nothing");
    command_expect("check -c runs.ini -o privacy.ledger=public.jsonl", 2, "id-lists");
    command_expect("-c runs.ini -O kept -o privacy.ledger=kept.jsonl", 0, "");
    command_expect("-c runs.ini -O hidden -o privacy.ledger=kept.jsonl -o privacy.id-lists=public", 2,
                   "for runs that declare nothing to be public; this run declares id-lists");
    /* Who rated what: under an adjacency that is about it. */
    static const char values[] = "-c runs.ini -O values -o privacy.adjacency=zero-out "
                                 "-o privacy.interaction-pattern=public -o privacy.ledger=values.jsonl";
    command_expect(values, 0, "");
    command_expect("-c runs.ini -O hidden -o privacy.adjacency=zero-out -o privacy.ledger=values.jsonl", 2,
                   "interaction-pattern");
    assert_false(command_exists("hidden"));
    assert_int_equal(lines_of("public.jsonl"), 3);
}

/* The same records, read from a file: the list of a side is that of a catalogue, or of the ids that occur. */
static const char read_from[] =
    "[data]\npath = records.csv\nheader = yes\nvalue-min = 1\nvalue-max = 5\n[split]\nkind = none\n"
    "[run]\nrounds = 1\norder = items\noutput = out\n"
    "[model]\nusers = 12\nrank = 2\noffset = midpoint\n[parties]\nkind = users\n"
    "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = gaussian\n"
    "solver = gradient-descent\n[items.mechanism]\ncalibration = noise-multiplier\n"
    "noise-multiplier = 4\nwhere = sum\n[items.solver]\nrate = 0.01\n"
    "[privacy]\nunit = user\nobserver = outsider\ndelta = 1e-6\nid-lists = public\n"
    "[accountants]\nlist = pld\n";

/* A person whom one of the runs does not protect is not protected by the sum: where the list of a side is
   taken from the data, whoever adds to it shows. Each adjacency, each list, both orders. */
TEST(lists_from_elsewhere_do_not_add_up)
{
    static const char *const adjacencies[] = {"zero-out", "replace", "add-remove"};
    static const char *const catalogues[] = {"", " -o data.users-file=users.txt",
                                             " -o data.items-file=items.txt",
                                             " -o data.users-file=users.txt -o data.items-file=items.txt"};
    char records[512] = "user,item,rating\n", users[128] = "", items[64] = "", arguments[512];
    for (int u = 0; u < 10; u++) {
        for (int i = 0; i < 3; i++)
            snprintf(records + strlen(records), sizeof records - strlen(records), "u%d,i%d,%d\n", u,
                     (u + i) % 5, 1 + (u + 2 * i) % 5);
        snprintf(users + strlen(users), sizeof users - strlen(users), "u%d\n", u);
    }
    for (int i = 0; i < 5; i++)
        snprintf(items + strlen(items), sizeof items - strlen(items), "i%d\n", i);
    training_file("records.csv", records);
    training_file("users.txt", users);
    training_file("items.txt", items);
    training_file("read.ini", read_from);
    for (int a = 0; a < 3; a++)
        for (int first = 0; first < 4; first++)
            for (int second = 0; second < 4; second++) {
                char file[48];
                snprintf(file, sizeof file, "lists%d%d.jsonl", a, first);
                snprintf(arguments, sizeof arguments,
                         "-q -c read.ini -O lists -o privacy.adjacency=%s -o privacy.ledger=%s%s",
                         adjacencies[a], file, catalogues[second == 0 ? first : (first + second) % 4]);
                command_expect(arguments, second == 0 ? 0 : 2,
                               second == 0 ? "" : "their sum does not protect");
            }
    /* A catalogue that has grown is still public. */
    strcat(items, "i9\n");
    training_file("items.txt", items);
    command_expect("-q -c read.ini -O lists -o privacy.adjacency=zero-out -o privacy.ledger=lists02.jsonl "
                   "-o data.items-file=items.txt",
                   0, "");
    assert_int_equal(lines_of("lists02.jsonl"), 3);
    /* Where it is public who rated what, the lists are as well, wherever they come from. */
    static const char public[] =
        "-q -c read.ini -O lists -o privacy.adjacency=zero-out -o privacy.id-lists=private "
        "-o privacy.interaction-pattern=public -o privacy.ledger=pattern.jsonl";
    command_expect(public, 0, "");
    snprintf(arguments, sizeof arguments, "%s%s", public, catalogues[3]);
    command_expect(arguments, 0, "");
}

/* Two runs with the same noise differ by what their data differ. */
TEST(reproducible_noise_is_not_added_up)
{
    static const char again[] =
        " -c runs.ini -o privacy.ledger=seeded.jsonl -o privacy.randomness=reproducible "
        "-o privacy.noise-seed=";
    char arguments[256];
    for (int seed = 1; seed <= 2; seed++) {
        snprintf(arguments, sizeof arguments, "-O seeded%s%d", again, seed);
        command_expect(arguments, 2, "randomness = secure");
    }
    snprintf(arguments, sizeof arguments, "check%s1", again);
    command_expect(arguments, 2, "the noise of this run is reproducible");
    assert_false(command_exists("seeded") || command_exists("seeded.jsonl"));
}

/* What a run was charged bounds what it tells only if it kept to its plan. */
TEST(a_run_that_departs_from_its_plan_releases_nothing)
{
    static const char correlated[] =
        "--plugin-dir %s/integration-plugins -c runs.ini -O departed%s -o privacy.ledger=departed.jsonl "
        "-o run.rounds=12 -o items.mechanism=correlated-gaussian -o items.mechanism.noise-multiplier=4 "
        "-o items.sampler=%s";
    char arguments[512];
    char text[sizeof config];
    memcpy(text, config, sizeof config);
    for (int i = 0; i < 2; i++)
        *strstr(text, i ? "where = sum" : "calibration =") = ';';
    training_file("runs.ini", text);
    snprintf(arguments, sizeof arguments, correlated, getenv("DPFRAME_BUILD_DIR"), "", "test-hasty");
    command_expect(arguments, 1, "took part twice");
    assert_false(command_exists("departed"));
    assert_int_equal(lines_of("departed.jsonl"), 2); /* and it stays charged */
    snprintf(arguments, sizeof arguments, correlated, getenv("DPFRAME_BUILD_DIR"), "-not", "cyclic-users");
    command_expect(arguments, 0, "");
    assert_int_equal(lines_of("departed.jsonl"), 3);
    training_file("runs.ini", config);
}

/* Noise in shares holds against so many parties; the sum of two runs does not against more. */
TEST(curious_parties_are_the_same)
{
    static const char shares[] =
        "-c shares.ini -O shares%d -o privacy.ledger=shares.jsonl -o privacy.adjacency=zero-out "
        "-o privacy.observer=parties -o items.aggregator=secagg "
        "-o items.mechanism=discrete-gaussian -o items.mechanism.noise-multiplier=4 "
        "-o privacy.min-honest=20 -o privacy.max-curious=%d";
    char arguments[512], text[sizeof config], *line;
    memcpy(text, config, sizeof config);
    while ((line = strstr(text, "calibration = noise-multiplier\n")) != NULL ||
           (line = strstr(text, "where = sum\n")) != NULL)
        *line = ';';
    training_file("shares.ini", text);
    for (int run = 0; run < 3; run++) {
        snprintf(arguments, sizeof arguments, shares, run, run < 2 ? 3 : 5);
        command_expect(arguments, run < 2 ? 0 : 2, run < 2 ? "" : "at most 3 parties");
    }
    assert_int_equal(lines_of("shares.jsonl"), 3);
}

/* A run that was stopped while it wrote had released nothing: its part of a line goes. */
TEST(part_of_a_line_is_dropped)
{
    command_expect("-c runs.ini -O whole -o privacy.ledger=torn.jsonl", 0, "");
    FILE *file = fopen(command_path("torn.jsonl"), "a");
    assert_non_null(file);
    fputs("{\"time\":\"2026-", file);
    fclose(file);
    command_expect("-c runs.ini -O after -o privacy.ledger=torn.jsonl", 0, "");
    assert_int_equal(lines_of("torn.jsonl"), 3);
    assert_true(budget_of("after", "runs_before") == 1);
}

/* A full disk is no fault of the configuration; nothing is released. */
TEST(a_full_disk_fails_the_run)
{
    char preload[512];
    snprintf(preload, sizeof preload, "%s/integration-preload/disturbed.so", getenv("DPFRAME_BUILD_DIR"));
    if (access(preload, F_OK) != 0) {
        print_message("no library that makes a disk full in this build: left out\n");
        return;
    }
    assert_int_equal(setenv("LD_PRELOAD", preload, 1), 0);
    assert_int_equal(setenv("DISTURBED_FILE", "full.jsonl", 1), 0);
    command_expect("-c runs.ini -O full -o privacy.ledger=full.jsonl", 1, "No space left on device");
    unsetenv("LD_PRELOAD");
    unsetenv("DISTURBED_FILE");
    assert_false(command_exists("full/run.json"));
}

FIXTURE(begin, training_end)
