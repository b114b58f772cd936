/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpframe audit: what is wrong is caught, what is right is not, and bounds come near to what is proved. Noise
 * has fixed keys, so that nothing here depends on luck that changes.
 */
#include "kit/test.h"
#include "kit/training.h"
#include "kit/spawned.h"

#define VIOLATED 5

static json_t *audited; /* the last answer */

/* Audits what, with further arguments; returns the exit code. */
static int audit_this(const char *what, const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command,
             "audit %s --plugin-dir %s -o privacy.randomness=reproducible --json -q %s", what,
             training_plugins("integration-plugins"), arguments);
    json_decref(audited);
    audited = NULL;
    const int code = command_run_it(command);
    if (code != 0 && code != VIOLATED)
        fail_msg("dpframe %s: exit code %d: %s", command, code, command_err);
    audited = command_json(NULL);
    return code;
}

/* The same of configs/audit/NAME. */
static int audit(const char *name, const char *arguments)
{
    char what[512];
    snprintf(what, sizeof what, "-c %s/configs/audit/%s", getenv("DPFRAME_SOURCE_DIR"), name);
    return audit_this(what, arguments);
}

/* With `all` trials where the program was started with an argument, which the slow test does, else with `few`. */
static int audit_some(const char *name, int all, int few, const char *arguments)
{
    char with[1024];
    snprintf(with, sizeof with, "--trials %d %s", test_argument() ? all : few, arguments);
    return audit(name, with);
}

/* A number of the first statement of that kind. */
static double number(const char *kind, const char *key)
{
    size_t i;
    json_t *statement;
    json_array_foreach(json_object_get(audited, "statements"), i, statement)
    {
        if (strcmp(json_string_value(json_object_get(statement, "kind")), kind) == 0)
            return json_number_value(json_object_get(statement, key));
    }
    fail_msg("no statement is \"%s\"", kind);
    return 0;
}

static void assert_between(double value, double lo, double hi)
{
    if (!(value >= lo && value <= hi))
        fail_msg("%g is not between %g and %g", value, lo, hi);
}

#define GAUSSIAN                                                                                             \
    "-o items.mechanism=gaussian -o items.mechanism.calibration=noise-multiplier -o "                        \
    "items.mechanism.noise-multiplier=1 -o items.mechanism.where=sum -o privacy.delta=0.05 -o "              \
    "accountants.list=pld "

/* ---- one release -------------------------------------------------------------------------------------- */

TEST(laplace_is_tight_and_not_caught)
{
    assert_int_equal(audit("one-release.ini", "--trials 2000"), 0);
    assert_true(number("proved", "epsilon") < 1 + 1e-6);
    assert_between(number("proved", "epsilon_lower"), 0.6, 1);
}

/* At a large delta a threshold is nearly the best that can be done with Gaussian noise. */
TEST(gaussian_is_tight_and_not_caught)
{
    assert_int_equal(audit("one-release.ini", "--trials 4000 " GAUSSIAN), 0);
    assert_between(number("proved", "epsilon_lower") / number("proved", "epsilon"), 0.6, 1);
}

/*
 * All rounds are seen, and together they tell more than any of them: the lower bound is more than half of
 * what is proved. With everybody in every round the same noise is too little by far, and then nothing is
 * proved.
 */
TEST(correlated_noise_is_audited_as_one)
{
    assert_int_equal(audit_some("correlated-noise.ini", 2400, 1400, ""), 0);
    assert_between(number("proved", "epsilon_lower") / number("proved", "epsilon"), 0.4, 1);
    assert_int_equal(
        audit("correlated-noise.ini", "--trials 1200 -o items.sampler= -o items.mechanism.separation=3"), 0);
    assert_true(number("not proved", "epsilon_lower") > 1.5);
}

/* It states epsilon = 1 and draws a third of the noise. */
TEST(too_little_noise_is_caught)
{
    assert_int_equal(audit("one-release.ini", "--trials 800 -o items.mechanism=test-too-little-noise"),
                     VIOLATED);
    assert_between(number("proved", "epsilon_lower"), 1, 3);
    assert_true(json_is_true(json_object_get(audited, "violated")));
}

TEST(a_claim_is_compared)
{
    assert_int_equal(audit("one-release.ini", "--trials 1000 --claim 0.2"), VIOLATED);
    assert_true(number("claimed", "epsilon_lower") > 0.2);
    assert_true(number("claimed", "epsilon") < 0.21);
}

/* The same data on both sides. */
TEST(equal_data_sets_are_not_told_apart)
{
    char same[512];
    snprintf(same, sizeof same, "--trials 200 --neighbour %s/configs/audit/few.csv",
             getenv("DPFRAME_SOURCE_DIR"));
    assert_int_equal(audit("one-release.ini", same), 0);
    assert_true(number("proved", "epsilon_lower") == 0);
}

/* configs/audit/few.csv, with each line that begins with a prefix replaced; "" leaves it out. Returns its
 * path. */
static const char *changed_file(const char *prefix, const char *replacement)
{
    char path[512], line[64];
    snprintf(path, sizeof path, "%s/configs/audit/few.csv", getenv("DPFRAME_SOURCE_DIR"));
    FILE *from = fopen(path, "r"), *to = fopen(command_path("neighbour.csv"), "w");
    assert_true(from);
    assert_true(to);
    while (fgets(line, sizeof line, from))
        fputs(strncmp(line, prefix, strlen(prefix)) == 0 ? replacement : line, to);
    fclose(from);
    assert_int_equal(fclose(to), 0);
    return command_path("neighbour.csv");
}

/* A neighbour from a file: item 3 of user 1 from 4 stars to 1. The noise is for 5 against 1. */
TEST(files_are_audited_too)
{
    char arguments[512];
    snprintf(arguments, sizeof arguments, "--trials 2000 --neighbour %s", changed_file("1,3,", "1,3,1\n"));
    assert_int_equal(audit("one-release.ini", arguments), 0);
    assert_between(number("proved", "epsilon_lower"), 0.3, 0.75);
}

/* A faulty record means what it means to a run: nothing stops, unless on-violation says so. */
TEST(faulty_records_are_treated_as_in_a_run)
{
    char arguments[1024], path[512];
    snprintf(path, sizeof path, "%s", changed_file("1,3,", "1,3,much\n"));
    snprintf(arguments, sizeof arguments, "--trials 20 -o data.path=%s", path);
    assert_int_equal(audit("one-release.ini", arguments), 0);
    snprintf(arguments, sizeof arguments, "--trials 20 --neighbour %s", path);
    assert_int_equal(audit("one-release.ini", arguments), 0);
    snprintf(arguments, sizeof arguments,
             "audit -q -c %s/configs/audit/one-release.ini --trials 20 -o data.path=%s -o "
             "privacy.on-violation=error",
             getenv("DPFRAME_SOURCE_DIR"), path);
    command_expect(arguments, 3, "neighbour.csv:4");
}

/* A record is missing, where values alone may differ: no bound would say anything about what is stated. */
TEST(files_that_are_no_neighbours_are_refused)
{
    char command[1024];
    snprintf(command, sizeof command, "audit -c %s/configs/audit/one-release.ini --neighbour %s",
             getenv("DPFRAME_SOURCE_DIR"), changed_file("1,3,", ""));
    command_expect(command, 3, "not neighbours");
}

/* ---- one component by itself -------------------------------------------------------------------------- */

TEST(mechanisms_by_themselves_are_sound)
{
    static const struct {
        const char *plugin;
        double least; /* share of what is proved */
    } cases[] = {{"laplace", 0.6}, {"laplace-gamma", 0.6}, {"discrete-gaussian", 0.15}, {"dplcf", 0.6}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char what[64];
        snprintf(what, sizeof what, "--plugin %s", cases[i].plugin);
        assert_int_equal(audit_this(what, "--trials 1000"), 0);
        assert_between(number("proved", "epsilon_lower") / number("proved", "epsilon"), cases[i].least, 1);
    }
}

/* What predicts values gets a range of them, and whole users that differ. */
TEST(recommenders_of_ratings_stand_by_themselves)
{
    static const char *const plugins[] = {"private-biases", "private-ratings", "private-als"};
    for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++) {
        char what[64];
        snprintf(what, sizeof what, "--plugin %s", plugins[i]);
        assert_int_equal(audit_this(what, "--trials 20 -j 1"), 0);
        assert_true(number("proved", "epsilon") < 10);
    }
}

TEST(a_wrong_mechanism_by_itself_is_caught)
{
    char command[1024];
    assert_int_equal(audit_this("--plugin test-too-little-noise", "--trials 600"), VIOLATED);
    assert_true(number("proved", "epsilon") < 1.01);
    assert_true(number("proved", "epsilon_lower") > 1.2);
    snprintf(command, sizeof command, "audit --plugin laplace -c %s/configs/audit/one-release.ini",
             getenv("DPFRAME_SOURCE_DIR"));
    command_expect(command, 2, "leave -c or --plugin out");
    command_expect("audit --plugin poisson-users", 2, "it is of the role sampler");
    command_expect("audit --plugin nothing", 2, "no component has that id");
}

/* ---- recommenders ------------------------------------------------------------------------------------- */

TEST(randomised_response_is_tight)
{
    assert_int_equal(audit("randomised-response.ini", ""), 0);
    assert_string_equal(json_string_value(json_object_get(audited, "view")), "messages");
    assert_between(number("proved", "epsilon_lower"), 0.8, 1);
    assert_int_equal(audit("randomised-response.ini", "--trials 1000 --claim 0.4"), VIOLATED);
    assert_int_equal(audit("randomised-response.ini", "--trials 1000 -o model.recommender=ldpicf "
                                                      "-o model.recommender.keep=0.6"),
                     0);
    assert_between(number("proved", "epsilon_lower"), 0.4, 1);
}

/* All records of user 1 against one of them: each of seven bits that differ is a report with the budget. */
TEST(users_of_recommenders_differ_in_many_bits)
{
    assert_int_equal(audit("randomised-response.ini", "--trials 1000 -o privacy.unit=user "
                                                      "-o privacy.adjacency=replace --claim 1"),
                     VIOLATED);
    assert_true(number("proved", "epsilon") > 7);
    assert_true(number("proved", "epsilon_lower") > 2.5);
}

TEST(recommenders_are_audited_in_one_run)
{
    assert_int_equal(audit("randomised-response.ini",
                           "-o data.format=synthetic -o data.synthetic.users=600 -o data.synthetic.items=400 "
                           "-o data.synthetic.ratings=20000 --one-run -o audit.seed=2"),
                     0);
    assert_between(number("proved", "epsilon_lower"), 0.6, 1);
    /* An outsider sees neighbours, not messages: what is published about it is not refuted by these. */
    assert_int_equal(
        audit("randomised-response.ini", "--trials 400 --claim 0.2 -o privacy.observer=outsider"), 0);
}

/* ---- flaws of publications ---------------------------------------------------------------------------- */

TEST(private_inputs_are_caught)
{
    assert_int_equal(audit_some("gaussian-rdp-one-item.ini", 400, 150, ""), VIOLATED);
    assert_true(number("claimed", "epsilon") < 0.3);
    assert_true(number("claimed", "epsilon_lower") > 0.6);
    /* With items released too, and all noise accounted for, the same pair is no evidence of anything. */
    assert_int_equal(
        audit_some("gaussian-rdp-one-item.ini", 400, 60,
                   "-o items.mechanism=gaussian -o items.mechanism.where=sum -o items.aggregator=sum "
                   "-o items.mechanism.calibration=noise-multiplier -o items.mechanism.noise-multiplier=1 "
                   "-o privacy.interaction-pattern=public -o privacy.budget=total -o privacy.total-epsilon=1 "
                   "-o items.residual=transformed -o users.residual=transformed "
                   "-o accountants.list=pld"),
        0);
    assert_between(number("proved", "epsilon_lower"), 0, 1);
}

TEST(known_noise_is_caught)
{
    assert_int_equal(audit("hdpmf-known-factor.ini", ""), VIOLATED);
    assert_between(number("claimed", "epsilon_lower"), 1.2, 8);
    assert_int_equal(audit("hdpmf-known-factor.ini", "-o privacy.observer=outsider"), 0);
    assert_between(number("proved", "epsilon_lower"), 0.5, 1);
}

/* What DPIMF's server sees: rows of 20 rounds, each with noise of its own (C3). */
TEST(rounds_that_are_not_composed_are_caught)
{
    assert_int_equal(audit("dpimf-rounds.ini", ""), VIOLATED);
    assert_string_equal(json_string_value(json_object_get(audited, "view")), "rows");
    assert_true(number("claimed", "epsilon") < 1.001);
    assert_true(number("claimed", "epsilon_lower") > 0.6);
    assert_true(number("not proved", "epsilon_lower") < number("not proved", "epsilon"));
    assert_int_equal(audit("dpimf-rounds.ini", "-o run.rounds=1 --trials 2000"), 0);
    assert_between(number("claimed", "epsilon_lower"), 0.3, 1);
}

/* One round: private factors scale what is released (C2), or the noise (C1). */
TEST(private_factors_are_caught)
{
    char single[512];
    assert_int_equal(audit("dpimf-private-factors.ini", ""), VIOLATED);
    assert_true(number("claimed", "epsilon") < 1.001);
    assert_true(number("claimed", "epsilon_lower") > 1.5);
    snprintf(single, sizeof single, "--trials 300 -o data.path=%s/configs/audit/one-user.csv",
             getenv("DPFRAME_SOURCE_DIR"));
    assert_int_equal(audit("dpimf-private-factors.ini", single), VIOLATED);
    assert_true(number("claimed", "epsilon_lower") > 2.5);
}

/* The proof of DPMF-RP for users counts on a worst cohort, and such cohorts exist. */
TEST(poisson_binomial_noise_is_tight_and_not_caught)
{
    assert_int_equal(audit("dpmf-rp-cohort.ini", ""), 0);
    assert_between(number("proved", "epsilon_lower") / number("proved", "epsilon"), 0.8, 1);
    assert_int_equal(audit_some("dpmf-rp-cohort.ini", 6000, 2500, "-o run.rounds=4"), 0);
    assert_between(number("proved", "epsilon_lower") / number("proved", "epsilon"), 0.6, 1);
    assert_int_equal(audit("dpmf-rp-cohort.ini", "--trials 1000 --claim 0.5"), VIOLATED);
}

TEST(noise_in_shares_is_tight_and_not_caught)
{
    assert_int_equal(audit("noise-in-shares.ini", "--trials 2000"), 0);
    assert_between(number("proved", "epsilon_lower") / number("proved", "epsilon"), 0.6, 1);
    assert_int_equal(audit_some("noise-in-shares.ini", 6000, 3000,
                                "-o privacy.delta=0.05 -o accountants.list=pld -o "
                                "items.mechanism=discrete-gaussian -o items.transform.clip-user.norm=l2"),
                     0);
    assert_between(number("proved", "epsilon_lower") / number("proved", "epsilon"), 0.5, 1);
}

/* Parties that are lost have made messages, too, and a sum has the shares of the others alone. */
TEST(shares_of_the_lost_are_in_no_sum)
{
    const char config[] =
        "[run]\nrounds = 1\norder = items\n"
        "[data]\nformat = synthetic\nvalue-min = 1\nvalue-max = 5\nsynthetic.users = 15\n"
        "synthetic.items = 100\nsynthetic.ratings = 400\n[split]\nkind = none\n"
        "[model]\nrank = 3\noffset = midpoint\ninit-norm = 1\nusers = 15\nitems = 100\n"
        "[parties]\nkind = users\n"
        "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = skellam\naggregator = secagg\n"
        "solver = gradient-descent\n[items.transform.clip-user]\nnorm = l2\nbound = 1\n"
        "[items.mechanism]\nnoise-multiplier = 2\n"
        "[items.aggregator]\nthreshold = 5\nlosses = 0, 0, 0.15, 0\n"
        "[privacy]\nunit = user\nadjacency = zero-out\nobserver = server\nmin-honest = 3\ndelta = 1e-5\n"
        "[accountants]\nlist = pld\n";
    char what[256];
    snprintf(what, sizeof what, "-c %s", training_file("lost.ini", config));
    assert_int_equal(audit_this(what, "--trials 20 -j 1"), 0);
}

/* A message has a tenth of the noise (C5); here the server sees them. */
TEST(shares_of_noise_are_caught)
{
    assert_int_equal(audit("hdpmf-known-factor.ini", "--view auto --trials 400"), VIOLATED);
    assert_string_equal(json_string_value(json_object_get(audited, "view")), "messages");
    assert_true(number("claimed", "epsilon_lower") > 0.6);
}

/* Noise that is drawn once cancels between rounds. */
TEST(reused_noise_is_caught)
{
    assert_int_equal(audit("hdpmf-known-factor.ini",
                           "--trials 400 -o privacy.observer=outsider -o run.rounds=2 -o "
                           "run.order=items,users -o users.update=yes "
                           "-o items.mechanism.lifetime=run"),
                     VIOLATED);
    assert_true(number("claimed", "epsilon_lower") > 3);
}

/* Rows of users never change here, and a Gram row has those of all: also that of a user whose records are
   gone, whose clipped message would then be as long as with them, and another one. */
TEST(users_without_records_contribute_nothing)
{
    const char config[] =
        "[run]\nrounds = 1\norder = items\n"
        "[data]\nformat = synthetic\nfeedback = implicit\nsynthetic.users = 40\nsynthetic.items = 20\n"
        "synthetic.ratings = 400\n[split]\nkind = none\n"
        "[model]\nrank = 3\ninit = normal\ninit-norm = 1\nusers = 40\nitems = 20\n"
        "[parties]\nkind = curator\n"
        "[items]\nloss = implicit-als\ntransforms = clip-user\nmechanism = gaussian\naggregator = sum\n"
        "gram-share = 0.5\nsolver = psd\n[items.loss]\nunobserved-weight = 1\n"
        "[items.transform.clip-user]\nbound = 1\n"
        "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 1\nwhere = "
        "sum\n"
        "[privacy]\nunit = user\nadjacency = zero-out\nobserver = outsider\ndelta = 1e-5\n"
        "[accountants]\nlist = pld\n";
    char what[256];
    snprintf(what, sizeof what, "-c %s", training_file("gram.ini", config));
    assert_int_equal(audit_this(what, "--trials 20 -j 1"), 0);
    const json_t *move = json_object_get(audited, "largest_move");
    assert_between(json_number_value(json_object_get(move, "share_of_stated")), 0.9, 1);
}

/* ---- hidden draws and many canaries ------------------------------------------------------------------- */

#define SAMPLED                                                                                              \
    "-o privacy.unit=user -o privacy.adjacency=add-remove -o privacy.interaction-pattern=private -o "        \
    "parties.kind=users "                                                                                    \
    "-o model.users=12 -o model.items=8 -o items.transforms=clip-user -o items.transform.clip-user.bound=1 " \
    "" GAUSSIAN

/* Whether the canary was drawn is hidden, and the score may not know. */
TEST(hidden_draws_stay_hidden)
{
    assert_int_equal(audit("one-release.ini", SAMPLED "--trials 2000"), 0);
    const double whole = number("proved", "epsilon"), found = number("proved", "epsilon_lower");
    assert_between(found / whole, 0.5, 1);
    assert_int_equal(audit("one-release.ini", SAMPLED "--trials 2000 -o items.sampler=poisson-users "
                                                      "-o items.sampler.rate=0.5 -o audit.seed=2"),
                     0);
    assert_true(number("proved", "epsilon") < 0.8 * whole);
    assert_between(number("proved", "epsilon_lower") / number("proved", "epsilon"), 0.15, 1);
}

/* A user in the middle of the list leaves: the draws of all others stay theirs, so that they are no evidence.
 */
TEST(users_behind_the_canary_do_not_move)
{
    static const char *const secrecies[] = {"outsider", "none"};
    for (int i = 0; i < 2; i++) {
        char arguments[1024];
        snprintf(arguments, sizeof arguments,
                 SAMPLED "--user 1 -o items.sampler=poisson-users -o items.sampler.rate=0.5 -o "
                         "items.sample-secrecy=%s",
                 secrecies[i]);
        assert_int_equal(audit_some("one-release.ini", 1000, 400, arguments), 0);
        assert_between(number("proved", "epsilon_lower"), 0, number("proved", "epsilon"));
    }
}

#define MANY                                                                                                 \
    "-o data.format=synthetic -o data.synthetic.users=600 "                                                  \
    "-o data.synthetic.items=400 -o data.synthetic.ratings=20000 --one-run -o audit.canaries=300 "

TEST(one_run_is_enough)
{
    assert_int_equal(audit("one-release.ini", MANY "-o items.mechanism.epsilon=3"), 0);
    assert_between(number("proved", "epsilon_lower"), 0.8, 3);
    assert_int_equal(audit("one-release.ini", MANY "-o items.mechanism=test-too-little-noise"), VIOLATED);
}

/* A projection mixes rows; each canary then has a replay of its own. */
TEST(one_run_sees_through_projections)
{
    assert_int_equal(
        audit("one-release.ini", MANY GAUSSIAN
              "-o audit.canaries=60 -o data.synthetic.ratings=2400 -o data.synthetic.popularity=0 "
              "-o data.synthetic.min-per-user=2 -o items.transforms=clip-user,sparse-projection "
              "-o items.transform.clip-user.bound=1 -o items.transform.sparse-projection.ratio=2 "
              "-o parties.kind=users -o items.mechanism.noise-multiplier=0.1 -o privacy.unit=user "
              "-o privacy.adjacency=zero-out -o privacy.interaction-pattern=private -o privacy.delta=1e-5 -o "
              "audit.seed=2"),
        0);
    assert_between(number("proved", "epsilon_lower"), 1, 8);
}

/* ---- the command -------------------------------------------------------------------------------------- */

TEST(wrong_commands_are_refused)
{
    char command[1024];
    const char *source = getenv("DPFRAME_SOURCE_DIR");
    snprintf(command, sizeof command, "audit -c %s/configs/audit/one-release.ini --user nobody", source);
    command_expect(command, 2, "there is no user \"nobody\"");
    snprintf(command, sizeof command, "audit -c %s/configs/audit/one-release.ini --trials 3", source);
    command_expect(command, 2, "trials");
    snprintf(command, sizeof command, "audit -c %s/configs/audit/one-release.ini --trials", source);
    command_expect(command, 2, "needs a value");
    snprintf(command, sizeof command,
             "audit -c %s/configs/audit/one-release.ini --neighbour %s/configs/audit/two-users.csv", source,
             source);
    command_expect(command, 3, "its items are not those of");
    snprintf(
        command, sizeof command,
        "audit -q -c %s/configs/audit/dpmf-rp-cohort.ini --trials 20 -o items.transform.clip-rows.bound=1 "
        "-o privacy.on-violation=error",
        source);
    command_expect(command, 1, "a gradient is not finite or leaves the range of its grid");
    snprintf(command, sizeof command, "audit -c %s/configs/baselines/als.ini -o data.format=synthetic",
             source);
    command_expect(command, 2, "no side has a mechanism");
    /* The file would not be looked at, and a set would be compared with itself: "no contradiction". */
    snprintf(command, sizeof command,
             "audit -c %s/configs/audit/one-release.ini -o data.format=synthetic -o data.synthetic.users=20 "
             "-o data.synthetic.items=15 -o data.synthetic.ratings=200 --neighbour %s/configs/audit/few.csv",
             source, source);
    command_expect(command, 2, "so it has no neighbour");
    snprintf(command, sizeof command, "audit -c %s/configs/audit/one-release.ini --trials=20 --canaries 2",
             source);
    command_expect(command, 2, "[audit] trials = 20: it has no effect in one run (audit.canaries)");
    snprintf(command, sizeof command, "audit -c %s/configs/audit/one-release.ini --canaries 1", source);
    command_expect(command, 2, "[audit] canaries = 1: one canary shows chance alone");
}

/* What a way of auditing does not read: refused on a command line, told of a file. */
TEST(keys_of_another_way_are_told)
{
    static const struct {
        const char *options, *says;
    } cases[] = {
        {"--attack --canaries 20", "[audit] canaries = 20: it has no effect on attacks"},
        {"--attack --claim 3", "[audit] claim = 3: it has no effect"},
        {"--attack --view sums", "[audit] view = sums: it has no effect"},
        {"--attack --user 1", "[audit] user = 1: it has no effect"},
        {"--targets 5", "[audit] targets = 5: it has no effect"},
        {"-o audit.attack-noise=no", "[audit] attack-noise = no: it has no effect"},
        {"--one-run --user 1", "[audit] user = 1: it has no effect in one run"},
        {"--one-run --view sums", "[audit] view = sums: it has no effect in one run"},
        {"--one-run -j 2", "--jobs has no effect in one run"},
        {"--neighbour x.csv --item 3", "[audit] item = 3: it has no effect beside a file"},
    };
    char line[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(line, sizeof line, "audit -c %s/configs/audit/one-release.ini %s",
                 getenv("DPFRAME_SOURCE_DIR"), cases[i].options);
        command_expect(line, 2, cases[i].says);
    }
    snprintf(line, sizeof line, "include = %s/configs/audit/one-release.ini\n[audit]\nview = sums\n",
             getenv("DPFRAME_SOURCE_DIR"));
    training_file("views.ini", line);
    command_expect("audit views.ini --one-run", 0, "audit.view has no effect in one run");
}

static int end(void **state)
{
    json_decref(audited);
    return training_end(state);
}

FIXTURE(training_begin, end)
