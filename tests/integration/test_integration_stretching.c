/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stretched ratings under other noise and under a secure sum: a change of one section, which runs, and whose
 * statement says which conditions it repairs.
 */
#include "kit/test.h"
#include "kit/training.h"

/* HDPMF as published: weights by groups, a message for each rating, shares of noise with a factor that the
 * server knows. */
static const char published[] =
    "[run]\nrounds = 2\norder = items, users\n"
    "[data]\nformat = synthetic\nsynthetic.users = 60\nsynthetic.items = 40\nsynthetic.ratings = 900\n"
    "value-min = 1\nvalue-max = 5\n"
    "[data.weights]\nkind = groups\n"
    "[split]\nkind = none\n"
    "[model]\nrank = 3\nusers = 60\nitems = 40\n"
    "[parties]\nkind = users\n"
    "[users]\nloss = squared-error\ntransforms = stretch\nsolver = damped-gradient-descent\n"
    "[users.solver]\nrate = 0.01\ncurvature = 60\nradius = 1\n"
    "[items]\nloss = squared-error\ntransforms = stretch\nmechanism = laplace-mixture\n"
    "solver = damped-gradient-descent\n"
    "[items.solver]\nrate = 0.01\ncurvature = 6\n"
    "[privacy]\nunit = record\nadjacency = replace-value\nobserver = server\n"
    "[accountants]\nlist = rdp\n";

/* The corrected one: users, a clip, a secure sum, no counts. */
static const char corrected[] =
    "items.transforms=stretch, clip-user\nitems.mechanism=laplace-gamma\nprivacy.min-honest=50\n"
    "items.aggregator=modular-sum\nitems.aggregator.survivors=50\nitems.transform.clip-user.norm=l1\n"
    "items.solver=gradient-descent\nitems.solver.rate=0.005\n"
    "privacy.unit=user\nprivacy.adjacency=zero-out\n";

/* The conditions that fail, in order, as "C2 C8". */
static void failing(const struct plan *plan, char *out, size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < N_CONDITIONS; i++)
        if (!plan->guarantee.conditions[i].holds)
            snprintf(out + strlen(out), size - strlen(out), "%s%s", *out ? " " : "",
                     plan->guarantee.conditions[i].id);
}

static void assert_runs(const char *changes, const char *expected)
{
    struct training t;
    char found[64];
    training_run(&t, published, changes);
    failing(&t.plan, found, sizeof found);
    if (strcmp(found, expected) != 0)
        fail_msg("%s: %s fail, not %s", changes, found, expected);
    assert_int_equal(t.stats.rounds_done, 2);
    assert_true(t.stats.messages > 0);
    training_free(&t);
}

TEST(one_section_changes_noise_or_sum)
{
    assert_runs("", "C2 C4 C5 C8 C9 C12");
    assert_runs("items.mechanism=gaussian\nitems.mechanism.calibration=noise-multiplier\n"
                "items.mechanism.noise-multiplier=4\nitems.mechanism.where=party\n",
                "C2 C8 C12");
    assert_runs("items.aggregator=modular-sum\n", "C2 C4 C8 C9 C12");
    assert_runs("items.aggregator=modular-sum\nprivacy.interaction-pattern=public\n", "C2 C4 C9 C12");
}

/* The largest weight is 1, so that stretching changes no sensitivity; the noise of each message is the whole
 * noise. */
TEST(gaussian_noise_is_scaled_to_the_stretched_range)
{
    struct training t;
    training_run(&t, published,
                 "items.mechanism=gaussian\nitems.mechanism.calibration=noise-multiplier\n"
                 "items.mechanism.noise-multiplier=4\nitems.mechanism.where=party\n");
    const dpf_event *event = &t.plan.ledger.entries[0].event;
    const double l2 = event->sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2;
    assert_true(l2 >= 2 * 4);
    assert_true(l2 < 2 * 4 * (1 + 1e-3)); /* 2 |r - r'| |u| */
    assert_true(event->scale / l2 > 3.99);
    assert_true(event->scale / l2 < 4.01);
    assert_int_equal(event->count, 2);
    assert_int_equal(t.plan.sides[DPF_SIDE_ITEMS].terms[0].noise.where, DPF_NOISE_AT_PARTY);
    training_free(&t);
}

TEST(corrected_noise_is_one_section_too)
{
    static const char *const noises[] = {
        "items.mechanism.epsilon=0.5\n",
        ("items.mechanism=discrete-gaussian\nitems.mechanism.noise-multiplier=4\n"
         "items.transform.clip-user.norm=l2\n"),
        "items.mechanism=skellam\nitems.mechanism.noise-multiplier=4\nitems.transform.clip-user.norm=l2\n"};
    for (int i = 0; i < 3; i++) {
        char changes[1024];
        snprintf(changes, sizeof changes, "%s%s", corrected, noises[i]);
        assert_runs(changes, "");
        struct training t;
        training_run(&t, published, changes);
        assert_true(t.plan.guarantee.run_holds);
        assert_int_equal(t.plan.guarantee.n_accounts, 1);
        const double epsilon = t.plan.guarantee.accounts[0].answer.epsilon;
        /* Two releases: of epsilon 1/2; or of a noise multiplier 4, whose rho is 1/16. */
        assert_true(epsilon > 0.5);
        assert_true(epsilon < (i == 0 ? 1.0001 : 2));
        training_free(&t);
    }
}

FIXTURE(training_begin, training_end)
