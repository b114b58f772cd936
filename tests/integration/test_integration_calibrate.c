/* SPDX-License-Identifier: Apache-2.0 */
/* [privacy] budget = total: the noise that a target asks for. Plans are made without data. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit/test.h"
#include "kit/training.h"
#include "privacy/dp_event.h"
#include "plan/plan_make.h"

/* Items released by clipped messages of users, whose own rows stay local. */
#define BEFORE                                                                                               \
    "[run]\nrounds = 30\n"                                                                                   \
    "[data]\nformat = synthetic\nvalue-min = 1\nvalue-max = 5\n"                                             \
    "[split]\nkind = none\n"                                                                                 \
    "[model]\nrank = 4\nusers = 1000\nitems = 200\noffset = midpoint\n"                                      \
    "[parties]\nkind = users\n"                                                                              \
    "[users]\nloss = explicit-als\nsolver = cholesky\n"                                                      \
    "[users.loss]\nlambda = 0.1\n"
#define AFTER                                                                                                \
    "[privacy]\nunit = user\nadjacency = add-remove\nobserver = outsider\ndelta = 1e-6\nbudget = total\n"    \
    "[accountants]\nlist = published, rdp, pld, pure\n"

static const char gaussian[] = BEFORE
    "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = gaussian\nsolver = gradient-descent\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 1\nwhere = sum\n" AFTER;
static const char laplace[] = BEFORE
    "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = laplace\nsolver = gradient-descent\n"
    "[items.transform.clip-user]\nnorm = l1\n"
    "[items.mechanism]\nepsilon = 1\nwhere = sum\n" AFTER;

static int complete(struct plan *plan, const char *base, const char *changes, struct dpf_error *error)
{
    memset(error, 0, sizeof *error);
    return training_plan(plan, base, changes, error) != 0 || plan_complete(plan, -1, -1, error) != 0 ? -1 : 0;
}

static double epsilon_of(const struct plan *plan, const char *accountant)
{
    for (int i = 0; i < plan->guarantee.n_accounts; i++)
        if (strcmp(plan->guarantee.accounts[i].accountant, accountant) == 0)
            return plan->guarantee.accounts[i].answer.epsilon;
    fail_msg("accountant %s gave no answer", accountant);
    return 0;
}

/* The factor that reaches a target; epsilon is at most the target and close to it. */
static double factor_of(const char *changes, const char *accountant, double target, double *scale)
{
    struct plan plan;
    struct dpf_error error;
    if (complete(&plan, gaussian, changes, &error) != 0)
        fail_msg("%s", error.text);
    const double epsilon = epsilon_of(&plan, accountant), factor = plan.guarantee.noise_factor;
    if (!(epsilon <= target && epsilon >= target * 0.998))
        fail_msg("%s: epsilon %.9g for a target of %g", changes, epsilon, target);
    assert_true(plan.ledger.n > 0);
    assert_true(plan.ledger.entries[0].event.scale > 0);
    *scale = plan.ledger.entries[0].event.scale;
    plan_free(&plan);
    return factor;
}

TEST(the_target_is_met_from_the_private_side)
{
    double scale, same;
    const double one = factor_of("privacy.total-epsilon=1\n", "rdp", 1, &scale);
    const double of_one = scale;
    const double ten = factor_of("privacy.total-epsilon=10\n", "rdp", 10, &scale);
    const double small = factor_of("privacy.total-epsilon=0.05\n", "rdp", 0.05, &scale);
    assert_true(small > one);
    assert_true(one > ten);
    /* A factor is relative to the mechanism's own noise: the noise that results is the same. */
    const double halved =
        factor_of("privacy.total-epsilon=1\nitems.mechanism.noise-multiplier=0.5\n", "rdp", 1, &same);
    assert_true(fabs(halved / (2 * one) - 1) < 1e-3);
    assert_true(fabs(same / of_one - 1) < 1e-3);
    assert_true(factor_of("privacy.total-epsilon=1\nrun.rounds=300\n", "rdp", 1, &scale) > 3 * one);
}

TEST(the_sharper_accountant_asks_for_less_noise)
{
    double scale;
    const double rdp = factor_of("privacy.total-epsilon=1\n", "rdp", 1, &scale);
    const double pld = factor_of("privacy.total-epsilon=1\nprivacy.calibrate-by=pld\n", "pld", 1, &scale);
    assert_true(pld < rdp);
    assert_true(pld > 0.7 * rdp);
}

TEST(pure_budgets_are_shared_by_all_rounds)
{
    struct plan plan;
    struct dpf_error error;
    if (complete(&plan, laplace, "privacy.calibrate-by=pure\nprivacy.total-epsilon=3\n", &error) != 0)
        fail_msg("%s", error.text);
    assert_true(epsilon_of(&plan, "pure") <= 3);
    assert_true(epsilon_of(&plan, "pure") > 2.99);
    plan_free(&plan);
}

static void assert_refused(const char *changes, const char *text)
{
    struct plan plan;
    struct dpf_error error;
    if (complete(&plan, gaussian, changes, &error) == 0)
        fail_msg("%s was accepted", changes);
    if (!strstr(error.text, text))
        fail_msg("\"%s\" missing in: %s", text, error.text);
    plan_free(&plan);
}

TEST(what_no_noise_can_reach_is_refused)
{
    assert_refused("privacy.calibrate-by=published\n", "claim");
    assert_refused("privacy.calibrate-by=nobody\n", "nobody");
    assert_refused("privacy.calibrate-by=pure\n", "pure");
    assert_refused("items.mechanism.lifetime=run\n", "total-epsilon");
    assert_refused("items.mechanism.lifetime=run\n", "one draw of noise serves several releases");
    assert_refused("accountants.list=published\n", "accountant");
}

/* A mechanism without a section of its own has noise that the plan can scale; one that was asked for other noise says what it
   lacks, at the line that named it. */
TEST(gaussian_noise_needs_no_settings)
{
    static const char bare[] =
        BEFORE "[items]\nloss = squared-error\ntransforms = clip-user\nmechanism = gaussian\nsolver = "
               "gradient-descent\n" AFTER;
    static const struct {
        const char *changes, *says;
    } cases[] = {
        {"items.mechanism.calibration=analytic\n", "calibration = noise-multiplier needs none"},
        {"items.mechanism.calibration=classic\n", "[items.mechanism] delta (default), mechanism gaussian: "
                                                  "delta = 0: calibration = analytic and classic need"},
    };
    struct plan plan;
    struct dpf_error error;
    if (complete(&plan, bare, "", &error) != 0)
        fail_msg("%s", error.text);
    assert_true(epsilon_of(&plan, "rdp") <= 1 && epsilon_of(&plan, "rdp") > 0.9);
    plan_free(&plan);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(complete(&plan, bare, cases[i].changes, &error), -1);
        if (!strstr(error.text, cases[i].says) || !strstr(error.text, ".ini:24: "))
            fail_msg("\"%s\" missing in: %s", cases[i].says, error.text);
        plan_free(&plan);
    }
}

/* Epsilon by rdp of the same configuration with so many rounds. */
static double epsilon_of_rounds(const char *changes, int rounds)
{
    struct plan plan;
    struct dpf_error error;
    char text[512];
    snprintf(text, sizeof text, "privacy.budget=per-release\naccountants.list=rdp\nrun.rounds=%d\n%s", rounds,
             changes);
    if (complete(&plan, gaussian, text, &error) != 0)
        fail_msg("%s", error.text);
    const double epsilon = epsilon_of(&plan, "rdp");
    plan_free(&plan);
    return epsilon;
}

/* What the odometer says after each of 24 of 50 rounds is what that many rounds cost, and no less. */
static void odometer_is_exact(const char *changes)
{
    struct plan plan;
    struct dpf_error error;
    char text[512], name[32], *out = NULL;
    size_t size = 0;
    int round, lines = 0, last = 0;
    double epsilon;
    snprintf(text, sizeof text, "privacy.budget=per-release\naccountants.list=rdp\nrun.rounds=50\n%s",
             changes);
    if (complete(&plan, gaussian, text, &error) != 0)
        fail_msg("%s", error.text);
    FILE *file = open_memstream(&out, &size);
    assert_int_equal(
        odometer_write(&plan.guarantee, plan.accountants, plan.n_accountants, &plan.ledger, 50, file, &error),
        0);
    fclose(file);
    for (const char *line = strchr(out, '\n') + 1; *line; line = strchr(line, '\n') + 1, lines++) {
        assert_int_equal(sscanf(line, "%d,%31[^,],%lf", &round, name, &epsilon), 3);
        const double exact = epsilon_of_rounds(changes, round);
        if (!(round > last && epsilon >= exact * (1 - 1e-11) && epsilon <= exact * (1 + 1e-8)))
            fail_msg("%s: %.12g after %d rounds, exactly %.12g", changes, epsilon, round, exact);
        last = round;
    }
    assert_true(lines == 24);
    assert_true(last == 50);
    free(out);
    plan_free(&plan);
}

TEST(odometers_are_exact_after_each_round)
{
    odometer_is_exact("");
    odometer_is_exact("items.sampler=poisson-users\nitems.sampler.rate=0.2\n");
    /* A cap may be used up in the first rounds. */
    odometer_is_exact("items.sampler=poisson-users\nitems.sampler.rate=0.2\nitems.max-participations=7\n");
    odometer_is_exact("items.sampler=poisson-users\nitems.sampler.rate=0.2\nitems.max-participations=33\n");
}

/* Curves fall, and reach twice the largest epsilon. The grid of pld does not matter to that. */
TEST(curves_fall)
{
    struct plan plan;
    struct dpf_error error;
    char *text = NULL, name[32];
    size_t size = 0;
    double x, y, pld[41], end = 0;
    int n = 0;
    assert_int_equal(
        complete(&plan, gaussian, "privacy.budget=per-release\naccountants.pld.tolerance=0.02\n", &error), 0);
    FILE *file = open_memstream(&text, &size);
    assert_int_equal(
        curve_write(&plan.guarantee, plan.accountants, plan.n_accountants, &plan.ledger, 30, file, &error),
        0);
    fclose(file);
    for (const char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        assert_int_equal(sscanf(line, "%31[^,],%lf,%lf", name, &x, &y), 3);
        if (strcmp(name, "pld") == 0)
            pld[n++] = y;
        end = strcmp(name, "pld") == 0 ? x : end;
    }
    assert_int_equal(n, 41);
    for (int i = 1; i < n; i++)
        assert_true(pld[i] <= pld[i - 1]);
    assert_true(end > 1.9 * epsilon_of(&plan, "rdp"));
    assert_true(pld[n - 1] < 1e-6);
    free(text);
    plan_free(&plan);
}

TEST(nothing_changes_without_it)
{
    struct plan plan;
    struct dpf_error error;
    assert_int_equal(complete(&plan, gaussian, "privacy.budget=per-release\n", &error), 0);
    assert_true(plan.guarantee.noise_factor == 0);
    assert_true(plan.noise_factor == 0);
    plan_free(&plan);
}

FIXTURE(training_begin, training_end)
