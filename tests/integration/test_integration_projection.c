/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users who send all rows, empty cells included, through a projection, flattening, and a mechanism of
 * their own: the chain of DPMF-RP, its caps, and what it refuses.
 */
#include "kit/test.h"
#include "kit/training.h"

#define USERS 70
#define ITEMS 45

static const char base[] = "[run]\nrounds = 4\norder = users, items\nseed = 3\n"
                           "[data]\nformat = synthetic\nsynthetic.users = 70\nsynthetic.items = 45\n"
                           "synthetic.ratings = 900\nvalue-min = 1\nvalue-max = 5\n"
                           "[split]\nkind = none\n"
                           "[model]\nrank = 3\ninit = normal\ninit-scale = 0.3\n"
                           "[parties]\nkind = users\n"
                           "[users]\nloss = weighted-als\nsolver = cholesky\n"
                           "[items]\nloss = weighted-gradient\nsolver = gradient-descent\naggregator = sum\n"
                           "mechanism = none\ntransforms = clip-rows\n"
                           "[items.transform.clip-rows]\nnorm = l1\nbound = 1\n"
                           "[items.loss]\nclip-error = 1\n"
                           "[items.solver]\nrate = 0.0005\n"
                           "[privacy]\nunit = user\nadjacency = replace\nobserver = server\ndelta = 1e-5\n"
                           "randomness = reproducible\n";

static const char whole_chain[] = "items.sampler=poisson-users\nitems.sampler.rate=0.6\nitems.mechanism=pbm\n"
                                  "items.mechanism.bound=0.5\nprivacy.min-honest=10\n"
                                  "items.aggregator=modular-sum\nitems.solver=adam\nitems.solver.rate=0.05\n"
                                  "items.transforms=clip-rows, sparse-projection, hadamard-flatten\n";

TEST(workers_do_not_matter)
{
    static const char *const flattens[] = {"scope=rows",
                                           "scope=matrix\nitems.transform.hadamard-flatten.columns=3"};
    for (int f = 0; f < 2; f++) {
        struct training one;
        for (int threads = 1; threads <= 5; threads += 2) {
            struct training t;
            char changes[1024];
            snprintf(changes, sizeof changes, "%sitems.transform.hadamard-flatten.%s\nrun.threads=%d",
                     whole_chain, flattens[f], threads);
            training_run(threads == 1 ? &one : &t, base, changes);
            if (threads == 1)
                continue;
            assert_true(training_same(&one, &t));
            assert_int_equal(one.stats.messages, t.stats.messages);
            assert_int_equal(one.stats.bytes_up, t.stats.bytes_up);
            training_free(&t);
        }
        training_free(&one);
    }
}

/* One bit more than the users' trials in each number: 71 needs 7 bits. */
TEST(bytes_are_those_on_the_wire)
{
    struct training t;
    training_run(&t, base, whole_chain);
    const int64_t numbers = 32 * 3; /* 23 rows of 45, padded to a power of two */
    assert_int_equal(t.stats.bytes_up, (uint64_t)t.stats.messages * (numbers * 7 / 8));
    assert_true(t.stats.messages > 4 * 10);
    assert_true(t.stats.messages < 4 * USERS);
    training_free(&t);
}

static double distance(const struct training *a, const struct training *b)
{
    double most = 0;
    for (int64_t r = 0; r < ITEMS; r++)
        for (int c = 0; c < 3; c++)
            most = fmax(most, fabs((double)training_row(a, DPF_SIDE_ITEMS, r)[c] -
                                   (double)training_row(b, DPF_SIDE_ITEMS, r)[c]));
    return most;
}

/* Without noise flattening is undone to the last digits, with and without a projection before it. */
TEST(flattening_is_undone)
{
    static const char *const before[] = {"clip-rows", "clip-rows, sparse-projection"};
    for (int i = 0; i < 2; i++) {
        struct training plain, flat;
        char changes[256];
        snprintf(changes, sizeof changes, "items.transforms=%s", before[i]);
        training_run(&plain, base, changes);
        snprintf(changes, sizeof changes, "items.transforms=%s, hadamard-flatten", before[i]);
        training_run(&flat, base, changes);
        assert_true(distance(&plain, &flat) < 1e-5);
        training_free(&plain);
        training_free(&flat);
    }
}

/* V = S'B: items that share a row are equal up to sign, in the beginning and after every step. */
TEST(readers_see_the_projected_rows)
{
    for (int rounds = 0; rounds <= 3; rounds += 3)
        for (int ratio = 1; ratio <= 3; ratio += 2) {
            struct training t;
            char changes[256];
            int distinct = 0;
            snprintf(
                changes, sizeof changes,
                "items.transforms=clip-rows, sparse-projection\nitems.transform.sparse-projection.ratio=%d\n"
                "run.rounds=%d",
                ratio, rounds);
            training_run(&t, base, changes);
            for (int64_t i = 0; i < ITEMS; i++) {
                int seen = 0;
                for (int64_t j = 0; j < i && !seen; j++)
                    seen = fabsf(training_row(&t, DPF_SIDE_ITEMS, i)[0]) ==
                           fabsf(training_row(&t, DPF_SIDE_ITEMS, j)[0]);
                distinct += !seen;
            }
            /* Even with as many rows as items, some collide: the rows are hashed. */
            assert_true(distinct <= ITEMS / ratio);
            assert_true(distinct > ITEMS / ratio / 3);
            assert_true(distinct < ITEMS);
            training_free(&t);
        }
}

/* The sum over all cells does not depend on who holds them. */
TEST(curator_and_users_agree)
{
    struct training users, curator;
    training_run(&users, base, "");
    training_run(&curator, base, "parties.kind=curator");
    assert_true(training_same(&users, &curator));
    training_free(&users);
    training_free(&curator);
}

TEST(participations_are_capped)
{
    struct training capped, two;
    training_run(
        &capped, base,
        "items.sampler=poisson-users\nitems.sampler.rate=1\nitems.max-participations=2\nrun.rounds=5");
    assert_int_equal(capped.stats.messages, 2 * USERS);
    assert_int_equal(capped.plan.ledger.entries[0].event.count, 2);
    assert_int_equal(capped.plan.ledger.entries[0].event.sampling.hidden_from, -1);
    /* Rounds without messages leave the items as they are. */
    training_run(&two, base, "items.sampler=poisson-users\nitems.sampler.rate=1\nrun.rounds=2");
    assert_true(training_same_side(&capped, &two, DPF_SIDE_ITEMS));
    training_free(&capped);
    training_free(&two);

    training_run(
        &capped, base,
        "items.sampler=poisson-users\nitems.sampler.rate=0.5\nitems.max-participations=9\nrun.rounds=5");
    assert_int_equal(capped.plan.ledger.entries[0].event.count, 5);
    training_free(&capped);
}

static void refuse(const char *changes, const char *words)
{
    struct training t;
    training_try(&t, base, changes);
    assert_int_equal(t.status, -1);
    if (!strstr(t.error.text, words))
        fail_msg("\"%s\" lacks \"%s\"", t.error.text, words);
    training_free(&t);
}

TEST(what_cannot_be_right_is_refused)
{
    refuse("parties.kind=silos-by-users", "empty cells");
    refuse("parties.kind=silos-by-items\nitems.mechanism=pbm\nitems.loss=squared-error",
           "whole contribution");
    refuse("items.sampler=poisson-users\nitems.sampler.weight=inverse", "weight");
    refuse("items.max-participations=3", "sampler");
    refuse("items.mechanism=pbm\nprivacy.min-honest=60\nitems.sampler=poisson-users\nitems.sampler.rate="
           "0.3",
           "draws 21 of 70 users");
    refuse("items.aggregator=modular-sum\nitems.aggregator.survivors=60\nitems.sampler=poisson-users\n"
           "items.sampler.rate=0.3",
           "draws 21 of 70 users");
}

FIXTURE(training_begin, training_end)
