/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpframe audit --attack: attacks win against a model without noise, and stay within what is proved of one
 * with it; noise that is stated and not added is found out. Keys are fixed.
 */
#include "kit/test.h"
#include "kit/training.h"
#include "kit/spawned.h"

#define EXCEEDED 5

/* Users solve their rows at home, and send clipped sums. */
static const char federated[] =
    "[run]\nrounds = 2\nthreads = 1\n"
    "[data]\nformat = synthetic\nsynthetic.users = 80\nsynthetic.items = 40\nsynthetic.ratings = 1200\n"
    "synthetic.rank = 2\nsynthetic.min-per-user = 3\nvalue-min = 1\nvalue-max = 5\n"
    "[split]\nkind = none\n[model]\nusers = 80\nitems = 40\nrank = 2\noffset = midpoint\ninit-scale = 1\n"
    "[parties]\nkind = users\n"
    "[privacy]\nunit = user\nadjacency = zero-out\nobserver = outsider\ndelta = 1e-5\nbudget = total\n"
    "total-epsilon = 1\nrandomness = reproducible\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n[users.loss]\nlambda = 0.1\n"
    "[items]\nloss = explicit-als\ntransforms = clip-user\nmechanism = gaussian\naggregator = sum\n"
    "solver = ball\n[items.loss]\nlambda = 0.1\n[items.solver]\nradius = 3\n"
    "[items.transform.clip-user]\nnorm = l2\nbound = 2\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 4\nwhere = sum\n"
    "[accountants]\nlist = pld\n[audit]\ntargets = 30\ntrials = 96\n";

/* A recommender of the curator's. */
static const char recommender[] =
    "[run]\nthreads = 1\n"
    "[data]\nformat = synthetic\nsynthetic.users = 80\nsynthetic.items = 40\nsynthetic.ratings = 1200\n"
    "synthetic.rank = 2\nsynthetic.min-per-user = 3\nvalue-min = 1\nvalue-max = 5\n"
    "[split]\nkind = none\n[model]\nusers = 80\nitems = 40\nrecommender = private-ratings\n"
    "[parties]\nkind = curator\n"
    "[privacy]\nunit = user\nadjacency = replace\nobserver = outsider\ndelta = 1e-5\nbudget = total\n"
    "total-epsilon = 1\nrandomness = reproducible\n"
    "[accountants]\nlist = pld\n[audit]\ntargets = 30\ntrials = 64\n";

static json_t *answer;

static void attack(const char *config, const char *options, int code)
{
    char command[2048];
    training_file("attack.ini", config);
    snprintf(command, sizeof command, "audit -c attack.ini --attack -q --json --plugin-dir %s %s",
             training_plugins("integration-plugins"), options);
    json_decref(answer);
    answer = NULL;
    command_expect(command, code, "");
    answer = command_json(NULL);
}

static const json_t *finding(const char *game, const char *seen)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(answer, "attacks"), i, one)
    {
        if (strcmp(json_string_value(json_object_get(one, "game")), game) == 0 &&
            strcmp(json_string_value(json_object_get(one, "seen")), seen) == 0)
            return one;
    }
    fail_msg("no attack is %s, %s", game, seen);
    return NULL;
}

static double auc(const char *game, const char *seen, const char *key)
{
    return json_number_value(json_object_get(json_object_get(finding(game, seen), "auc"), key));
}

static double rate(const char *game, const char *seen, size_t which, const char *key)
{
    const json_t *rates = json_object_get(finding(game, seen), "true_positives");
    return json_number_value(json_object_get(json_array_get(rates, which), key));
}

static int is_covered(const char *game, const char *seen)
{
    return json_is_true(json_object_get(finding(game, seen), "covered"));
}

TEST(a_model_without_noise_tells_who_was_there)
{
    attack(federated, "-o audit.attack-noise=no --targets 12", 0);
    assert_int_equal(json_array_size(json_object_get(answer, "attacks")), 5);
    assert_true(auc("membership", "factors", "low") > 0.95);
    assert_true(rate("membership", "factors", 0, "low") > 0.5);
    assert_true(auc("attribute", "factors", "low") > 0.9);
    assert_true(rate("attribute", "factors", 0, "low") > 0.5);
    assert_true(auc("membership", "lists", "low") > 0.55);
    /* A list that is shared tells more of its user than those of others do. */
    assert_true(auc("attribute", "own-list", "value") > auc("attribute", "lists", "value") + 0.1);
    for (int view = 0; view < 2; view++)
        assert_false(is_covered("membership", view ? "lists" : "factors"));
}

TEST(attacks_stay_within_what_is_proved)
{
    static const char *const seen[] = {"factors", "lists"};
    attack(federated, "", 0);
    for (int view = 0; view < 2; view++) {
        assert_true(is_covered("membership", seen[view]));
        assert_true(is_covered("attribute", seen[view]));
        assert_true(auc("membership", seen[view], "low") <= auc("membership", seen[view], "at_most"));
        assert_true(auc("membership", seen[view], "value") < 0.6);
        for (size_t r = 0; r < 2; r++)
            assert_true(rate("attribute", seen[view], r, "low") <=
                        rate("attribute", seen[view], r, "at_most"));
    }
    assert_false(is_covered("attribute", "own-list"));
    /* e^epsilon FPR + delta, of one user, and of two for another record. */
    const double epsilon = json_number_value(json_object_get(finding("membership", "factors"), "epsilon"));
    assert_true(epsilon <= 1);
    assert_true(epsilon > 0.99);
    assert_true(fabs(rate("membership", "factors", 0, "at_most") - (exp(epsilon) * 0.01 + 1e-5)) < 1e-9);
    const double of_two = json_number_value(json_object_get(finding("attribute", "factors"), "epsilon"));
    assert_true(of_two > 2);
    assert_true(of_two < 2.5);
    attack(federated, "-o audit.attack=attribute -o privacy.adjacency=replace", 0);
    assert_true(json_number_value(json_object_get(finding("attribute", "factors"), "epsilon")) <= 1);
}

TEST(noise_that_is_not_added_is_found_out)
{
    attack(federated,
           "-o audit.attack=membership -o items.mechanism=hardly-any-noise -o "
           "items.mechanism.calibration=noise-multiplier -o items.mechanism.where=sum",
           EXCEEDED);
    assert_true(auc("membership", "factors", "low") > auc("membership", "factors", "at_most"));
    assert_true(json_is_true(json_object_get(finding("membership", "factors"), "exceeded")));
}

TEST(recommenders_are_attacked_too)
{
    attack(recommender, "-o audit.attack-noise=no --targets 12", 0);
    assert_true(auc("membership", "factors", "low") > 0.9);
    assert_true(auc("attribute", "factors", "low") > 0.8);
    attack(recommender, "", 0);
    assert_true(auc("membership", "factors", "value") < 0.6);
    assert_true(is_covered("membership", "factors"));
    assert_true(is_covered("attribute", "lists"));
}

TEST(mistakes_are_named)
{
    training_file("attack.ini", federated);
    command_expect("audit -c attack.ini --attack -o model.kind=popularity -o model.rank=1", 2, "baselines");
    command_expect("audit -c attack.ini --attack --trials 3", 2, "trials");
    command_expect("audit -c attack.ini --attack -o data.synthetic.users=3 -o data.synthetic.ratings=20", 3,
                   "four users");
    command_expect("audit -c attack.ini --attack -q -o audit.attack=membership --trials 32 --targets 5", 0,
                   "");
    assert_non_null(strstr(command_out, "membership, factors: proved with epsilon = "));
    assert_non_null(strstr(command_out, "A proof bounds every attack"));
    assert_non_null(strstr(command_out, "\"proved\": the most that any attacker reaches"));
    for (const char *line = command_out; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 82); /* 80 columns; a dash has three bytes */
}

FIXTURE(training_begin, training_end)
