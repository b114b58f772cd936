/* SPDX-License-Identifier: Apache-2.0 */
/* dpframe account --choose: what is chosen meets the target when it is configured, and no more would. */
#include "kit/test.h"
#include "kit/training.h"

#include "kit/spawned.h"

static const char base[] =
    "[run]\nrounds = 3\noutput = out\norder = users, items\n"
    "[data]\nformat = synthetic\nsynthetic.users = 40\nsynthetic.items = 25\nsynthetic.ratings = 500\n"
    "value-min = 1\nvalue-max = 5\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 4\ninit = normal\ninit-scale = 0.1\nusers = 40\nitems = 25\n"
    "[parties]\nkind = users\n"
    "[privacy]\nunit = user\nadjacency = replace\ndelta = 1e-5\nobserver = server\n"
    "[accountants]\nlist = rdp\n"
    "[users]\nloss = weighted-als\nsolver = cholesky\n"
    "[items]\nloss = weighted-gradient\ntransforms = clip-rows, sparse-projection, hadamard-flatten\n"
    "mechanism = pbm\naggregator = modular-sum\nsolver = adam\n"
    "[items.loss]\nclip-error = 1\nobjective = full\n"
    "[items.transform.clip-rows]\nnorm = l1\nbound = 0.1\n"
    "[items.transform.sparse-projection]\nratio = 2\n"
    "[items.transform.hadamard-flatten]\nscope = rows\n"
    "[items.mechanism]\ntrials = 5\nbound = 0.2\n[privacy]\nmin-honest = 30\n";

#define UNPROJECTED " -o items.transforms=clip-rows"

static json_t *account(const char *options)
{
    char line[1024];
    snprintf(line, sizeof line, "account -c config.ini --json %s", options);
    const int status = command_run_it(line);
    if (status != 0)
        fail_msg("%s: exit code %d: %s", line, status, command_err);
    json_t *object = json_loads(command_out, 0, NULL);
    assert_non_null(object);
    return object;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static double setting(const json_t *candidate, const char *key)
{
    return number(json_object_get(candidate, "settings"), key);
}

/* Epsilon that is proved for the configuration with that theta, q and p; p = 0: as configured. */
static double proved(double theta, int trials, int rows, const char *options)
{
    char line[1024], p[80] = "";
    if (rows)
        snprintf(p, sizeof p, "-o items.transform.sparse-projection.rows=%d", rows);
    snprintf(line, sizeof line, "-o items.mechanism.theta=%.17g -o items.mechanism.trials=%d %s %s", theta,
             trials, p, options);
    json_t *guarantee = account(line);
    const double epsilon = number(json_array_get(json_object_get(guarantee, "proved"), 0), "epsilon");
    json_decref(guarantee);
    return epsilon;
}

TEST(theta_comes_first)
{
    training_file("config.ini", base);
    json_t *answer = account("--choose 4");
    const json_t *list = json_object_get(answer, "candidates");
    const size_t best = (size_t)number(answer, "chosen");
    double last = 0;
    assert_true(json_array_size(list) == 4); /* 25 rows, 13 as configured, 16 and 8 */
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *candidate = json_array_get(list, i);
        const double theta = setting(candidate, "theta");
        const int rows = (int)number(candidate, "rows");
        const double epsilon = proved(theta, 1, rows, "");
        assert_true(setting(candidate, "trials") == 1);
        assert_float_equal(epsilon, number(candidate, "epsilon"), 1e-12);
        assert_true(epsilon <= 4);
        assert_true(epsilon > 3.98);
        assert_true(proved(theta * 1.002, 1, rows, "") > 4);
        assert_true(theta >= last); /* fewer coordinates, more theta */
        last = theta;
        assert_true(number(candidate, "error") >= number(json_array_get(list, best), "error"));
        /* Padded to 32, 16, 16 and 8 rows of 4. */
        assert_true(number(candidate, "coordinates") == 4 * (rows > 16 ? 32 : rows > 8 ? 16 : 8));
    }
    json_decref(answer);
}

/* The error that p is chosen by is Eq. 25 with Eq. 41's bound; theory is Theorem 5.4 and Eq. 40 at alpha = 2.
 */
TEST(formulas)
{
    const double n = 40, m = 25, k = 4, epsilon = 4;
    training_file("config.ini", base);
    json_t *answer = account("--choose 4");
    const json_t *list = json_object_get(answer, "candidates");
    const json_t *theory = json_object_get(json_object_get(answer, "utility"), "published");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *candidate = json_array_get(list, i);
        const double theta = setting(candidate, "theta"), p = number(candidate, "rows");
        const double gradient = n * m / 4, error = 2 * m / p * gradient + m * k / (4 * n * theta * theta);
        assert_float_equal(number(candidate, "error") / error, 1, 1e-12);
    }
    assert_float_equal(number(theory, "rows_theorem_5_4"), n * sqrt(n * m * epsilon) / (k * sqrt(2)), 1e-9);
    const double theta = setting(json_array_get(list, (size_t)number(answer, "chosen")), "theta");
    const double square = 8 * n * n * epsilon * pow(1 - 2 * theta, 4) * (n * m / 4) / (4 * k * k);
    assert_float_equal(number(theory, "rows_eq_40"), sqrt(square), 1e-9);
    json_decref(answer);
}

/* Where 1/4 is allowed, q is the largest. */
TEST(then_trials)
{
    static const char options[] = "-o run.rounds=1" UNPROJECTED;
    char line[200];
    training_file("config.ini", base);
    const double at_three = proved(0.25, 3, 0, options), at_four = proved(0.25, 4, 0, options);
    snprintf(line, sizeof line, "--choose %.17g %s", (at_three + at_four) / 2, options);
    json_t *answer = account(line);
    const json_t *only = json_array_get(json_object_get(answer, "candidates"), 0);
    assert_int_equal(json_array_size(json_object_get(answer, "candidates")), 1);
    assert_true(setting(only, "theta") == 0.25);
    assert_true(setting(only, "trials") == 3);
    assert_true(number(only, "rows") == 25);
    assert_true(number(only, "bits") == 7); /* 40 x 3 + 1 = 121 */
    assert_float_equal(number(only, "epsilon"), at_three, 1e-9);
    json_decref(answer);
}

TEST(refusals)
{
    static const struct {
        const char *options, *why;
    } wrong[] = {
        {"--choose", "needs a value"},
        {"--choose 0", "above 0"},
        {"--choose 3x", "above 0"},
        {"--choose nan", "above 0"},
        {"--choose 3 -o items.mechanism=none -o items.transforms=", "no release"},
        {"--choose 3 -o privacy.budget=total -o privacy.total-epsilon=2", "budget = total"},
        {"--choose 3 -o accountants.list=", "needs an accountant"},
        {"--choose 3 -o privacy.unit=record", "accountant rdp"},
    };
    training_file("config.ini", base);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[512];
        snprintf(line, sizeof line, "account -c config.ini %s", wrong[i].options);
        assert_int_not_equal(command_run_it(line), 0);
        if (!strstr(command_err, wrong[i].why))
            fail_msg("%s: \"%s\" is not in: %s", line, wrong[i].why, command_err);
    }
}

/* What is proved for one more option; NAN: nothing. */
static double proved_or_none(const char *options)
{
    json_t *guarantee = account(options);
    const json_t *list = json_object_get(guarantee, "proved");
    const double epsilon = json_array_size(list) ? number(json_array_get(list, 0), "epsilon") : (double)NAN;
    json_decref(guarantee);
    return epsilon;
}

/* Parties that observe know their own messages: the sum needs others enough. */
TEST(parties_that_observe)
{
    training_file("config.ini", base);
    const double server = proved_or_none("");
    assert_true(isnan(proved_or_none("-o privacy.observer=parties")));
    assert_float_equal(proved_or_none("-o privacy.observer=parties -o privacy.max-curious=5"), server, 1e-12);
    assert_float_equal(proved_or_none("-o privacy.observer=parties -o privacy.max-curious=11 "
                                      "-o privacy.min-honest=29"),
                       proved_or_none("-o privacy.min-honest=29"), 1e-12);
    /* The users of a silo send messages of their own: one silo knows more than so many of them. */
#define SILOS "-o parties.kind=silos-by-users -o parties.count=5 -o privacy.max-curious=5 "
    assert_true(isnan(proved_or_none(SILOS "-o privacy.observer=parties")));
    assert_float_equal(proved_or_none(SILOS "-o privacy.observer=server"), server, 1e-12);
    char line[] = "account -c config.ini -o privacy.max-curious=11";
    assert_int_not_equal(command_run_it(line), 0);
    assert_non_null(strstr(command_err, "curious"));
}

/* A draw that the server sees amplifies nothing; where users are capped, the cap is composed. */
TEST(cohorts_and_caps)
{
#define SAMPLED                                                                                              \
    "-o run.rounds=20 -o items.sampler=poisson-users -o items.sampler.rate=0.5 -o "                          \
    "privacy.min-honest=2 "
    training_file("config.ini", base);
    const double all = proved_or_none("-o run.rounds=20 -o privacy.min-honest=2");
    const double seen = proved_or_none(SAMPLED "-o items.sample-secrecy=none");
    const double capped =
        proved_or_none(SAMPLED "-o items.sample-secrecy=none -o items.max-participations=5");
    const double five = proved_or_none("-o run.rounds=5 -o privacy.min-honest=2");
    assert_float_equal(seen, all, 1e-9 * all);
    assert_float_equal(capped, five, 1e-9 * five);
    assert_true(capped < seen);
}

/* No theta is small enough: that is an answer. */
TEST(out_of_reach)
{
    training_file("config.ini", base);
    json_t *answer = account("--choose 1e-9 -o privacy.delta=0");
    assert_true(json_is_null(json_object_get(answer, "chosen")));
    assert_true(
        json_is_false(json_object_get(json_array_get(json_object_get(answer, "candidates"), 0), "found")));
    json_decref(answer);
    assert_int_equal(command_run_it("account -c config.ini --choose 4"), 0);
    assert_non_null(strstr(command_out, "not a guarantee"));
    assert_non_null(strstr(command_out, "Theorem 5.4"));
}

FIXTURE(training_begin, training_end)
