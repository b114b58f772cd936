/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secure aggregation in a run: the same model as with a plain modular sum, for whoever is a party and
 * whatever is drawn; another model once parties are lost; and no model where the protocol opens no sum.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "integration/training.h"

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
    "[items.mechanism]\ntrials = 5\nbound = 0.2\nclients = 8\n";

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

static void same_as_a_plain_sum(void **state)
{
    (void)state;
    assert_same_as_plain("", "");
    assert_same_as_plain("", "items.aggregator.graph=regular\nitems.aggregator.neighbours=6\n"
                             "items.aggregator.threshold=4\n");
    assert_same_as_plain("items.mechanism.modulus=power-of-two\n", "items.aggregator.malicious=yes\n");
    assert_same_as_plain("items.sampler=poisson-users\nitems.sampler.rate=0.5\nitems.sampler.secrecy=none\n",
                         "");
    assert_same_as_plain("items.transforms=clip-rows, sparse-projection, hadamard-flatten\n"
                         "items.transform.sparse-projection.ratio=2\n"
                         "items.transform.hadamard-flatten.scope=rows\n",
                         "");
}

/* Without a modulus; and silos, each with all records of its users. */
static void same_for_silos(void **state)
{
    (void)state;
    assert_same_as_plain(EXACT, "");
    assert_same_as_plain(EXACT "parties.kind=silos-by-users\nparties.count=5\n", "");
}

static void losses_change_the_sum(void **state)
{
    struct training all, fewer;
    (void)state;
    training_run(&all, base, "items.aggregator=secagg\n");
    training_run(&fewer, base, "items.aggregator=secagg\nitems.aggregator.lost-before-input=0.1\n");
    assert_false(training_same(&all, &fewer));
    assert_int_equal(all.stats.messages, 2 * 40);
    assert_true(fewer.stats.messages < 2 * 40 && fewer.stats.messages > 2 * 26);
    training_free(&all);
    training_free(&fewer);
}

/* The same model, messages and bytes, with parties lost in every phase. */
static void threads_do_not_matter(void **state)
{
    static const char *const threads[] = {"run.threads=2\n", "run.threads=7\n"};
    static const char *const protocols[] = {
        "items.aggregator.malicious=yes\nitems.aggregator.lost-before-unmask=0.1\n",
        "items.aggregator.threshold=20\nitems.aggregator.lost-before-keys=0.1\n"
        "items.aggregator.lost-before-shares=0.1\n"
        "items.aggregator.lost-before-input=0.1\n",
        "items.aggregator.graph=regular\nitems.aggregator.neighbours=12\nitems.aggregator.threshold=5\n"
        "items.aggregator.lost-before-input=0.2\n"};
    char text[1024];
    (void)state;
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
    if (!strstr(t.error.text, why))
        fail_msg("\"%s\" is not in: %s", why, t.error.text);
    training_free(&t);
}

static void closed_where_it_fails(void **state)
{
    (void)state;
    assert_stops("items.aggregator=secagg\nitems.aggregator.lost-before-unmask=0.6\n", "no sum is opened");
    assert_stops("items.aggregator=secagg\nitems.aggregator.survivors=41\n", "nothing is opened");
    /* The protocol would open it, the mechanism counts on more. */
    assert_stops(
        "items.aggregator=secagg\nitems.aggregator.threshold=3\nitems.aggregator.lost-before-input=0.8\n"
        "items.mechanism.clients=30\n",
        "fewer clients are in a sum");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_a_plain_sum),   cmocka_unit_test(same_for_silos),
        cmocka_unit_test(losses_change_the_sum), cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(closed_where_it_fails),
    };
    return cmocka_run_group_tests(tests, training_begin, training_end);
}
