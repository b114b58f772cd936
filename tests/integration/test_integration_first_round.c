/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What could only fail in the rounds is refused by the plan, with the key to change; and what is close to it is not.
 * Drawn combinations are in tests/kit; here are the rules one by one.
 */
#include "kit/test.h"
#include "kit/training.h"

static const char base[] =
    "[run]\nrounds = 2\nthreads = 2\n"
    "[data]\nformat = synthetic\nsynthetic.users = 40\nsynthetic.items = 20\n"
    "synthetic.ratings = 300\nsynthetic.min-per-user = 2\nvalue-min = 1\nvalue-max = 5\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 3\ninit = uniform\ninit-scale = 0.5\n"
    "[users]\nloss = explicit-als\nsolver = cholesky\n"
    "[items]\nloss = explicit-als\nsolver = ball\nmechanism = gaussian\ntransforms = clip-rows\n"
    "[items.solver]\nradius = 1\n"
    "[items.mechanism]\ncalibration = noise-multiplier\nnoise-multiplier = 1\n"
    "[items.transform.clip-rows]\nbound = 1\n"
    /* psd without a floor fails where noise makes all of a matrix negative: a seed with which it does not */
    "[privacy]\nunit = record\nadjacency = add-remove\nrandomness = reproducible\nnoise-seed = 1\n";

#define SENT "parties.kind=users\nitems.mechanism=none\nitems.aggregator=modular-sum\n"

static void refused(const char *changes, const char *key, const char *text)
{
    struct training t;
    training_try(&t, base, changes);
    if (t.status == 0 || t.error.fault != DPF_FAULT_CONFIG || strcmp(t.error.key, key) != 0 ||
        !strstr(t.error.text, text) || t.stats.rounds_done > 0)
        fail_msg("%s: key \"%s\", \"%s\" missing in: %s", changes, t.error.key, text, t.error.text);
    training_free(&t);
}

static void runs(const char *changes)
{
    struct training t;
    training_run(&t, base, changes);
    training_free(&t);
}

TEST(solvers_need_definite_matrices)
{
    runs("");
    refused("items.solver=cholesky\n", "items.solver", "noise of mechanism gaussian");
    refused("items.solver=cg\n", "items.solver", "noise of mechanism gaussian");
    runs("items.solver=psd\n");
    runs("items.solver=cholesky\nitems.mechanism=\n");
    /* Where values alone are protected, matrices have no noise. */
    runs("items.solver=cholesky\nprivacy.adjacency=replace-value\n");
    refused("users.loss.lambda=0\n", "users.solver", "without regularisation");
    runs("users.loss.lambda=0\nusers.solver=ball\n");
    /* A party has no records of some rows, and psd nothing else than regularisation of what noise makes negative. */
    refused("items.solver=cholesky\nprivacy.adjacency=replace-value\nparties.kind=silos-by-users\n"
            "items.solve-at=party\nitems.aggregator=mean\nitems.mechanism.where=party\n",
            "items.loss", "of which a party has no records");
    refused("items.solver=psd\nitems.loss.lambda=0\n", "items.loss", "regularisation of every unknown");
    /* A Gram row of fewer rows than there are unknowns. */
    refused("model.rank=30\nusers.loss=implicit-als\nusers.loss.lambda=0\n", "users.solver",
            "without regularisation");
}

TEST(losses_say_what_they_cannot_read)
{
    refused("items.residual=raw\n", "items.residual", "set residual = transformed");
    runs("items.residual=raw\nitems.transforms=\nitems.mechanism=\n");
    refused("users.loss=implicit-als\nmodel.offset=midpoint\n", "model.offset", "set offset = none");
    refused("users.loss=implicit-als\nmodel.offset=mean\n", "model.offset", "set offset = none");
}

TEST(sums_need_their_senders)
{
    refused("items.aggregator=secagg\n", "items.aggregator", "only 1 parties send");
    runs(SENT "items.aggregator.survivors=40\n");
    refused(SENT "items.aggregator.survivors=41\n", "items.aggregator", "only 40 parties send");
    /* 20 are drawn on average. */
    refused(SENT "items.aggregator.survivors=30\nitems.sampler=poisson-users\nitems.sampler.rate=0.5\n",
            "items.sampler", "draws 20 of 40 users");
    refused(SENT "items.aggregator.survivors=18\nitems.sampler=poisson-users\nitems.sampler.rate=0.5\n",
            "items.sampler", "draws 20 of 40 users");
    runs(SENT "items.aggregator.survivors=5\nitems.sampler=poisson-users\nitems.sampler.rate=0.5\n");
}

/* An empty value takes back what another file has, and unknown keys of a side that nobody solves are unknown. */
TEST(sides_that_are_not_solved_are_read)
{
    static const char *const kinds[] = {"mean", "popularity", "biases"};
    char changes[256];
    runs("users.loss=\nusers.terms=one\nusers.one.loss=explicit-als\n");
    refused("users.terms=one\nusers.one.loss=explicit-als\n", "users.loss", "has terms");
    for (int k = 0; k < 3; k++) {
        static const char *const wrong[][2] = {{"users.loss.nosuch=1", "users.loss.nosuch"},
                                               {"items.mechanism.nosuch=1", "items.mechanism.nosuch"},
                                               {"users.loss=nosuchloss", "users.loss"},
                                               {"users.loss.lambda=abc", "users.loss.lambda"}};
        for (int i = 0; i < 4; i++) {
            struct training t;
            snprintf(changes, sizeof changes, "model.kind=%s\n%s\n", kinds[k], wrong[i][0]);
            training_try(&t, base, changes);
            if (t.status == 0 || t.error.fault != DPF_FAULT_CONFIG)
                fail_msg("%s is accepted", changes);
            training_free(&t);
        }
        struct plan plan;
        struct dpf_error error = {0};
        snprintf(changes, sizeof changes, "model.kind=%s\n", kinds[k]);
        assert_int_equal(training_plan(&plan, base, changes, &error), 0);
        assert_int_equal(plan_complete(&plan, 40, 20, &error), 0);
        plan_free(&plan);
    }
}

FIXTURE(training_begin, training_end)
