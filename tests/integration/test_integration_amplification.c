/* SPDX-License-Identifier: Apache-2.0 */
/* What sampling changes in the guarantee of a plan. */
#include "integration/guarantee_fixture.h"

/* ---- sampling -------------------------------------------------------------------------------------------
 */

TEST(secret_poisson_draws_amplify)
{
    struct plan all, some, known;
    plan_of(&all, by_users, "");
    plan_of(&some, by_users, "items.sampler=poisson-users\nitems.sampler.rate=0.1\n");
    plan_of(&known, by_users,
            "items.sampler=poisson-users\nitems.sampler.rate=0.1\nitems.sample-secrecy=none\n");
    assert_true(epsilon_of(&some, "rdp") < 0.3 * epsilon_of(&all, "rdp"));
    assert_float_equal(epsilon_of(&known, "rdp"), epsilon_of(&all, "rdp"), 1e-9);
    plan_free(&all);
    plan_free(&some);
    plan_free(&known);
}

/* ---- limits on participations ---------------------------------------------------------------------------- */

#define DRAWN "items.sampler=poisson-users\nitems.sampler.rate=0.1\n"

TEST(a_limit_never_costs)
{
    struct plan plain, none, once;
    plan_of(&plain, by_users, DRAWN);
    plan_of(&once, by_users, "run.rounds=1\n");
    const double amplified = epsilon_of(&plain, "rdp");
    double before = 0;
    for (int most = 1; most <= 100; most += 11) {
        char more[160];
        snprintf(more, sizeof more, DRAWN "items.max-participations=%d\n", most);
        plan_of(&none, by_users, more);
        const double limited = epsilon_of(&none, "rdp");
        assert_true(limited <= amplified * (1 + 1e-12) && limited >= before);
        if (most == 1)
            assert_float_equal(limited, epsilon_of(&once, "rdp"), 1e-9);
        before = limited;
        plan_free(&none);
    }
    assert_float_equal(before, amplified, 1e-9);
    /* Without secrecy the limit is all that there is. */
    plan_of(&none, by_users, DRAWN "items.sample-secrecy=none\nitems.max-participations=1\n");
    assert_float_equal(epsilon_of(&none, "rdp"), epsilon_of(&once, "rdp"), 1e-9);
    plan_free(&none);
    plan_free(&plain);
    plan_free(&once);
}

/* What is drawn is as secret as the deployment says, and no more than the sampler allows. */
TEST(secrecy_is_the_terms_up_to_what_the_sampler_can_hide)
{
    static const struct {
        const char *changes;
        int hidden_from;
        const char *why;
    } cases[] = {
        {DRAWN, DPF_OBSERVER_OUTSIDER, NULL},
        {DRAWN "items.sample-secrecy=none\n", -1, NULL},
        {DRAWN "items.sample-secrecy=server\n", DPF_OBSERVER_SERVER, NULL},
        {DRAWN "items.sample-secrecy=parties\n", 0,
         "poisson-users hides its draw from no more than the server"},
        {"items.sampler=cyclic-users\nitems.sampler.groups=4\nitems.sample-secrecy=server\n", -1, NULL},
        {"items.sample-secrecy=server\n", -1, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan plan;
        struct dpf_error error = {0};
        const int status = training_plan(&plan, by_users, cases[i].changes, &error) == 0
                               ? plan_complete(&plan, 100, 50, &error)
                               : -1;
        assert_int_equal(status, cases[i].why ? -1 : 0);
        if (cases[i].why)
            assert_non_null(strstr(error.text, cases[i].why));
        else
            assert_int_equal(plan.sides[DPF_SIDE_ITEMS].terms[0].sampling.hidden_from, cases[i].hidden_from);
        plan_free(&plan);
    }
}

/* A budget is divided as the term says, by mechanisms that can. */
TEST(a_division_that_cannot_be_is_refused)
{
    static const char *const cases[][2] = {
        {"items.block-shares=0.4, 0.6\n", "has 1 blocks: give one number for each"},
        {"items.block-shares=0.4\n", "do not add up to 1"},
        {"items.mechanism=laplace-mixture\nitems.block-shares=1\n",
         "mechanism laplace-mixture does not divide its budget"},
        {"items.mechanism=laplace-mixture\nitems.gram-share=0.1\n",
         "mechanism laplace-mixture does not divide its budget"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan plan;
        struct dpf_error error = {0};
        const int status = training_plan(&plan, by_users, cases[i][0], &error) == 0
                               ? plan_complete(&plan, 100, 50, &error)
                               : -1;
        assert_int_equal(status, -1);
        assert_int_equal(error.fault, DPF_FAULT_CONFIG);
        if (!strstr(error.text, cases[i][1]))
            fail_msg("%s", error.text);
        plan_free(&plan);
    }
}

/* Two rounds, each with probability q, one participation at most: the exact divergence in both directions, by
   a sum over a fine grid, for the epsilon of two amplified rounds. */
static double limited_delta(double q, double mu, double epsilon, int removal)
{
    const double step = 0.02, at_0 = 1 / sqrt(2 * 3.14159265358979323846);
    double delta = 0;
    for (double x = -8; x < 8 + mu; x += step)
        for (double y = -8; y < 8 + mu; y += step) {
            const double off = at_0 * at_0 * exp(-(x * x + y * y) / 2);
            const double first = exp(mu * x - mu * mu / 2), second = exp(mu * y - mu * mu / 2);
            const double on = off * ((1 - q) * (1 - q) + q * first + (1 - q) * q * second);
            delta += fmax(0, removal ? on - exp(epsilon) * off : off - exp(epsilon) * on) * step * step;
        }
    return delta;
}

TEST(a_limited_release_is_no_worse_than_an_unlimited_one)
{
    struct plan plan;
    plan_of(&plan, by_users, DRAWN);
    const dpf_accountant *rdp = plan.accountants[0]->functions;
    for (int i = 0; i < 6; i++) {
        const double q = (const double[]){0.1, 0.5, 0.9}[i % 3], delta = i < 3 ? 1e-2 : 1e-4;
        dpf_event event = plan.ledger.entries[0].event;
        event.count = 2;
        event.sampling.rate = q;
        event.scale = event.sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l2; /* mu = 1 */
        dpf_answer answer = {.size = sizeof answer};
        const dpf_question question = {.size = sizeof question,
                                       .unit = DPF_UNIT_USER,
                                       .adjacency = DPF_ADJ_ADD_REMOVE,
                                       .observer = DPF_OBSERVER_OUTSIDER,
                                       .delta = delta,
                                       .rounds = 2};
        assert_int_equal(rdp->epsilon(plan.accountants[0]->self, &event, 1, &question, &answer), DPF_OK);
        for (int removal = 0; removal < 2; removal++)
            assert_true(limited_delta(q, 1, answer.epsilon, removal) <= delta);
    }
    plan_free(&plan);
}

/*
 * Blocks of one release share its draw: amplified one by one, as if each had a draw of its own, they would
 * cost less than they do. As one Gaussian release they are sampled once.
 */
TEST(blocks_that_share_a_draw_are_sampled_once)
{
    struct plan all, some, laplace;
    int32_t n_all, n_some, n_laplace;
    plan_of(&all, by_users, BLOCKS);
    plan_of(&some, by_users, BLOCKS "items.sampler=poisson-users\nitems.sampler.rate=0.1\n");
    const double before = squared_multipliers(&all, &n_all), after = squared_multipliers(&some, &n_some);
    assert_true(n_all > 1);
    assert_true(n_some == 1);
    assert_true(after >= before);
    assert_true(after < before * (1 + 1e-9));
    const dpf_event *joined = &some.ledger.entries[0].event;
    assert_int_equal(joined->kind, DPF_EVENT_DISCRETE_GAUSSIAN);
    assert_int_equal(joined->sampling.hidden_from, DPF_OBSERVER_OUTSIDER);
    assert_true(joined->scale / joined->grid >= 16);
    assert_true(strstr(some.ledger.entries[0].source, "shares its draw") != NULL);
    assert_true(epsilon_of(&some, "rdp") < 0.5 * epsilon_of(&all, "rdp"));
    /* It costs more than the blocks would with a draw each. */
    struct plan wrong = some;
    dpf_event events[3];
    dpf_answer answer = {.size = sizeof answer};
    const dpf_question question = {.size = sizeof question,
                                   .unit = DPF_UNIT_USER,
                                   .adjacency = DPF_ADJ_ADD_REMOVE,
                                   .observer = DPF_OBSERVER_OUTSIDER,
                                   .delta = 1e-6,
                                   .rounds = 100};
    int32_t n = 0;
    for (int64_t i = 0; i < all.ledger.n && n < 3; i++) {
        events[n] = all.ledger.entries[i].event;
        events[n++].sampling = joined->sampling;
    }
    const dpf_accountant *rdp = wrong.accountants[0]->functions;
    assert_int_equal(rdp->epsilon(wrong.accountants[0]->self, events, n, &question, &answer), DPF_OK);
    assert_true(answer.epsilon < epsilon_of(&some, "rdp"));
    /* Of other noise that is not proved: no block is amplified. */
    plan_of(&laplace, by_users,
            BLOCKS
            "items.mechanism=laplace\nitems.mechanism.epsilon=1\nitems.mechanism.where=sum\n"
            "items.transform.clip-user.norm=l1\nitems.sampler=poisson-users\nitems.sampler.rate=0.1\n");
    squared_multipliers(&laplace, &n_laplace);
    assert_true(n_laplace > 1);
    for (int64_t i = 0; i < laplace.ledger.n; i++)
        assert_int_equal(laplace.ledger.entries[i].event.sampling.hidden_from, -1);
    plan_free(&all);
    plan_free(&some);
    plan_free(&laplace);
}

/*
 * Personal draws are one draw of the run, so that the same records are kept for both sides: given that a
 * record is, both releases depend on it. Amplified one by one they would cost 2 ln(1 + q (e^e - 1)), less
 * than they do.
 */
static const char personal[] = DATA
    "[data.weights]\nkind = groups\n"
    "[model]\nrank = 2\ninit-scale = 1\nusers = 1000\nitems = 200\n"
    "[users]\nloss = squared-error\ntransforms = clip-rows\nsolver = gradient-descent\nmechanism = laplace\n"
    "sampler = personalised\n[users.loss]\nclip-error = 1\n[users.mechanism]\nepsilon = 1\nwhere = sum\n"
    "[items]\nloss = squared-error\ntransforms = clip-rows\nsolver = gradient-descent\nmechanism = laplace\n"
    "sampler = personalised\n[items.loss]\nclip-error = 1\n[items.mechanism]\nepsilon = 1\nwhere = sum\n"
    "[privacy]\nunit = record\nadjacency = add-remove\nobserver = outsider\n"
    "[accountants]\nlist = heterogeneous\n";

static double epsilon_at_lowest_weight(const struct plan *plan)
{
    double low = NAN;
    const char *note = strstr(plan->guarantee.accounts[0].answer.note, "weight: ");
    assert_non_null(note);
    assert_int_equal(sscanf(note, "weight: %lf at weight", &low), 1);
    return low;
}

TEST(sides_that_share_a_draw_are_not_amplified_one_by_one)
{
    struct plan both, one;
    plan_of(&both, personal, "run.rounds=1\n");
    for (int64_t e = 0; e < both.ledger.n; e++)
        assert_int_equal(both.ledger.entries[e].event.sampling.hidden_from, -1);
    assert_true(both.guarantee.plan_holds);
    assert_true(epsilon_at_lowest_weight(&both) >= 2);
    plan_free(&both);
    plan_of(&one, personal, "run.rounds=1\nitems.update=no\n");
    assert_int_equal(one.ledger.entries[0].event.sampling.hidden_from, DPF_OBSERVER_OUTSIDER);
    assert_true(epsilon_at_lowest_weight(&one) < 0.1);
    plan_free(&one);
    plan_of(&one, personal, "run.rounds=1\nitems.sampler=uniform\nitems.sampler.weight=unit\n");
    assert_int_equal(one.sides[DPF_SIDE_USERS].terms[0].sampling.hidden_from, DPF_OBSERVER_OUTSIDER);
    plan_free(&one);
}

FIXTURE(training_begin, training_end)
