/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secure aggregation in a run: the same model as with a plain modular sum, for whoever is a party and
 * whatever is drawn; another model once parties are lost; and no model where the protocol opens no sum.
 */
#include "kit/test.h"
#include "kit/training.h"
#include "plan/plan_make.h"

static const char base[] =
    "[run]\nrounds = 2\nthreads = 2\norder = users, items\n"
    "[data]\nformat = synthetic\nsynthetic.users = 40\nsynthetic.items = 25\nsynthetic.ratings = 500\n"
    "value-min = 1\nvalue-max = 5\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 4\ninit = normal\ninit-scale = 0.1\n"
    "[parties]\nkind = users\n"
    "[privacy]\nunit = user\nadjacency = replace\nrandomness = reproducible\nnoise-seed = 3\ndelta = 1e-5\n"
    "observer = server\n"
    "[users]\nloss = weighted-als\nsolver = cholesky\n"
    "[items]\nloss = weighted-gradient\ntransforms = clip-rows\nmechanism = pbm\nsolver = adam\n"
    "[items.transform.clip-rows]\nnorm = l1\nbound = 0.1\n"
    "[items.mechanism]\ntrials = 5\nbound = 0.2\n[privacy]\nmin-honest = 8\n";

#define UNBOUNDED                                                                                            \
    "items.loss=explicit-als\nitems.solver=cholesky\nitems.transforms=\nusers.loss=explicit-als\n"
#define EXACT UNBOUNDED "items.mechanism=none\n"

static void assert_same_as_plain(const char *changes, const char *protocol)
{
    struct training plain, secure;
    char text[1024];
    snprintf(text, sizeof text, "%sitems.aggregator=modular-sum\n", changes);
    training_run(&plain, base, text);
    snprintf(text, sizeof text, "%sitems.aggregator=secagg\n%s", changes, protocol);
    training_run(&secure, base, text);
    assert_true(training_same(&plain, &secure));
    assert_int_equal(plain.stats.messages, secure.stats.messages);
    assert_true(secure.stats.bytes_up > plain.stats.bytes_up);
    assert_true(secure.stats.bytes_down > 0);
    training_free(&plain);
    training_free(&secure);
}

TEST(same_as_a_plain_sum)
{
    assert_same_as_plain("", "");
    assert_same_as_plain("", "items.aggregator.graph=regular\nitems.aggregator.neighbours=6\n"
                             "items.aggregator.threshold=4\n");
    assert_same_as_plain("items.mechanism.modulus=power-of-two\n", "items.aggregator.malicious=yes\n");
    assert_same_as_plain("items.sampler=poisson-users\nitems.sampler.rate=0.5\nitems.sample-secrecy=none\n",
                         "");
    assert_same_as_plain("items.transforms=clip-rows, sparse-projection, hadamard-flatten\n"
                         "items.transform.sparse-projection.ratio=2\n"
                         "items.transform.hadamard-flatten.scope=rows\n",
                         "");
}

/* Without a modulus; and silos, each with all records of its users. */
TEST(same_for_silos)
{
    assert_same_as_plain(EXACT, "");
    assert_same_as_plain(EXACT "parties.kind=silos-by-users\nparties.count=5\n", "");
}

TEST(losses_change_the_sum)
{
    struct training all, fewer;
    training_run(&all, base, "items.aggregator=secagg\n");
    training_run(&fewer, base, "items.aggregator=secagg\nitems.aggregator.losses=0, 0, 0.1, 0\n");
    assert_false(training_same(&all, &fewer));
    assert_int_equal(all.stats.messages, 2 * 40);
    assert_true(fewer.stats.messages < 2 * 40);
    assert_true(fewer.stats.messages > 2 * 26);
    training_free(&all);
    training_free(&fewer);
}

/* The same model, messages and bytes, with parties lost in every phase. */
TEST(threads_do_not_matter)
{
    static const char *const threads[] = {"run.threads=2\n", "run.threads=7\n"};
    static const char *const protocols[] = {
        "items.aggregator.malicious=yes\nitems.aggregator.losses=0, 0, 0, 0.1\n",
        ("items.aggregator.threshold=20\nitems.aggregator.losses=0.1, 0.1, 0.1, 0\n"),
        ("items.aggregator.graph=regular\nitems.aggregator.neighbours=12\nitems.aggregator.threshold=5\n"
         "items.aggregator.losses=0, 0, 0.2, 0\n")};
    char text[1024];
    for (int p = 0; p < 3; p++) {
        struct training one, many;
        snprintf(text, sizeof text, "items.aggregator=secagg\n%srun.threads=1\n", protocols[p]);
        training_run(&one, base, text);
        for (int i = 0; i < 2; i++) {
            snprintf(text, sizeof text, "items.aggregator=secagg\n%s%s", protocols[p], threads[i]);
            training_run(&many, base, text);
            assert_true(training_same(&one, &many));
            assert_int_equal(one.stats.messages, many.stats.messages);
            assert_int_equal(one.stats.bytes_up, many.stats.bytes_up);
            assert_int_equal(one.stats.bytes_down, many.stats.bytes_down);
            training_free(&many);
        }
        training_free(&one);
    }
}

static void assert_stops(const char *changes, const char *why)
{
    struct training t;
    training_try(&t, base, changes);
    assert_int_equal(t.status, -1);
    assert_int_equal(t.error.fault, DPF_FAULT_RUN); /* the configuration is valid: exit status 1 */
    if (!strstr(t.error.text, why))
        fail_msg("\"%s\" is not in: %s", why, t.error.text);
    training_free(&t);
}

TEST(closed_where_it_fails)
{
    assert_stops("items.aggregator=secagg\nitems.aggregator.losses=0, 0, 0, 0.6\n", "no sum is opened");
    training_refused(base, "items.aggregator=secagg\nitems.aggregator.survivors=41\n", DPF_FAULT_CONFIG,
                     "only 40 parties send");
    /* The protocol would open it, but the mechanism counts on more. */
    assert_stops(
        "items.aggregator=secagg\nitems.aggregator.threshold=3\nitems.aggregator.losses=0, 0, 0.8, 0\n"
        "privacy.min-honest=30\n",
        "no sum is opened");
    training_refused(base, "items.aggregator=modular-sum\nitems.aggregator.survivors=41\n", DPF_FAULT_CONFIG,
                     "only 40 parties send");
    /* Half of them are drawn. */
    training_refused(base,
                     "items.aggregator=modular-sum\nprivacy.min-honest=35\nitems.sampler=poisson-users\n"
                     "items.sampler.rate=0.5\nitems.sample-secrecy=none\n",
                     DPF_FAULT_CONFIG, "draws 20 of 40 users");
}

/* ---- how many parties may be curious --------------------------------------------------------------------
 */

static int planned(struct training *t, const char *mechanism, const char *changes)
{
    static const char shares[] =
        "[run]\nrounds = 1\norder = items\n"
        "[data]\nformat = synthetic\nsynthetic.users = 40\nsynthetic.items = 25\nsynthetic.ratings = 500\n"
        "value-min = 1\nvalue-max = 5\n[split]\nkind = none\n[model]\nrank = 2\n[parties]\nkind = users\n"
        "[privacy]\nunit = user\nadjacency = replace\nobserver = parties\ndelta = 1e-5\n"
        "[items]\nloss = weighted-gradient\ntransforms = clip-user\naggregator = secagg\n"
        "solver = gradient-descent\n[items.solver]\nrate = 0.1\n[items.transform.clip-user]\nbound = 1\n";
    char text[2048];
    memset(t, 0, sizeof *t);
    snprintf(text, sizeof text, "items.mechanism=%s\n%s", mechanism, changes);
    if (strcmp(mechanism, "laplace-gamma") == 0)
        strcat(text, "items.transform.clip-user.norm=l1\nprivacy.delta=0\n");
    return training_plan(&t->plan, shares, text, &t->error) == 0 ? plan_complete(&t->plan, 40, 25, &t->error)
                                                                 : -1;
}

static void assert_refused(const char *mechanism, const char *changes, const char *why)
{
    struct training t;
    assert_int_equal(planned(&t, mechanism, changes), -1);
    assert_int_equal(t.error.fault, DPF_FAULT_CONFIG);
    if (!strstr(t.error.text, why))
        fail_msg("%s: \"%s\" is not in: %s", mechanism, why, t.error.text);
    training_free(&t);
}

static void assert_holds_against(const char *mechanism, const char *changes, const char *words)
{
    struct training t;
    if (planned(&t, mechanism, changes) != 0)
        fail_msg("%s: %s", mechanism, t.error.text);
    char *statement = guarantee_text(&t.plan.guarantee), *flat = statement;
    for (char *c = statement; *c; c++) /* lines are broken anywhere, and the next one is indented */
        if (*c != '\n' && (*c != ' ' || (flat > statement && flat[-1] != ' ')))
            *flat++ = *c;
        else if (*c == '\n' && flat > statement && flat[-1] != ' ')
            *flat++ = ' ';
    *flat = '\0';
    if (!strstr(statement, words))
        fail_msg("%s: \"%s\" is not in: %s", mechanism, words, statement);
    free(statement);
    training_free(&t);
}

TEST(curious_parties_are_counted)
{
    static const char *const shares[] = {"laplace-gamma", "discrete-gaussian", "skellam", "pbm"};
    static const char noise[] = "privacy.min-honest=30\nprivacy.max-curious=3\n";
    char text[512];
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        const char *mechanism = shares[i];
        assert_holds_against(mechanism, noise, "at most 3 parties (t = 3");
        snprintf(text, sizeof text, "%sprivacy.observer=server\n", noise);
        assert_holds_against(mechanism, text, "The messages and noise of at most 3 parties (t = 3");
        /* 0.1 of 40 is 4, 0.099 is 3. */
        snprintf(text, sizeof text, "%sitems.aggregator.corrupt=0.1\n", noise);
        assert_refused(mechanism, text, "assumes that up to 4 parties collude with the server");
        snprintf(text, sizeof text, "%sitems.aggregator.corrupt=0.099\n", noise);
        assert_holds_against(mechanism, text, "t = 3");
        snprintf(text, sizeof text, "%sitems.aggregator.survivors=32\n", noise);
        assert_refused(mechanism, text, "opens sums of 32 messages");
        snprintf(text, sizeof text, "%sitems.aggregator=modular-sum\nitems.aggregator.survivors=32\n", noise);
        assert_refused(mechanism, text, "opens sums of 32 messages");
        snprintf(text, sizeof text, "%sitems.aggregator.survivors=33\n", noise);
        assert_holds_against(mechanism, text, "t = 3");
        /* By default all but the curious are honest, and nobody may be lost. */
        assert_holds_against(mechanism, "privacy.max-curious=3\n", "at most 3 parties (t = 3");
        assert_refused(mechanism, "privacy.max-curious=3\nitems.aggregator.survivors=39\n",
                       "needs sums of at least 40 messages, of which 3 may come from curious parties");
        assert_refused(mechanism, "privacy.max-curious=40\n", "max-curious = 40");
        assert_refused(mechanism, "privacy.min-honest=38\nprivacy.max-curious=3\n", "are 40, so no sum");
    }
}

/* Without the numbers there is no amount of noise to choose, so such a mechanism must not plan any in shares. */
TEST(noise_in_shares_needs_the_number_of_honest_parties)
{
    static const char *const cases[][2] = {
        {"test-uncounted-shares", "plans noise in shares, but has neither DPF_MECHANISM_SHARES"},
        {"test-few-shares",
         "would decode sums of 29 messages, but its noise in shares needs those of 30 honest"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct training t;
        assert_int_equal(planned(&t, cases[i][0], "items.mechanism.where=shares\nprivacy.min-honest=30\n"),
                         -1);
        assert_int_equal(t.error.fault, DPF_FAULT_PLUGIN);
        if (!strstr(t.error.text, cases[i][1]))
            fail_msg("%s", t.error.text);
        training_free(&t);
    }
}

FIXTURE(training_begin, training_end)
