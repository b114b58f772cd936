/* SPDX-License-Identifier: Apache-2.0 */
/* What sampling changes in the guarantee of a plan. */
#include "integration/guarantee_fixture.h"

/* ---- sampling -------------------------------------------------------------------------------------------
 */

static void secret_poisson_draws_amplify(void **state)
{
    (void)state;
    struct plan all, some, known;
    plan_of(&all, by_users, "");
    plan_of(&some, by_users, "items.sampler=poisson-users\nitems.sampler.rate=0.1\n");
    plan_of(&known, by_users,
            "items.sampler=poisson-users\nitems.sampler.rate=0.1\nitems.sampler.secrecy=none\n");
    assert_true(epsilon_of(&some, "rdp") < 0.3 * epsilon_of(&all, "rdp"));
    assert_float_equal(epsilon_of(&known, "rdp"), epsilon_of(&all, "rdp"), 1e-9);
    plan_free(&all);
    plan_free(&some);
    plan_free(&known);
}

/*
 * Blocks of one release share its draw: amplified one by one, as if each had a draw of its own, they would
 * cost less than they do. As one Gaussian release they are sampled once.
 */
static void blocks_that_share_a_draw_are_sampled_once(void **state)
{
    (void)state;
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

static void sides_that_share_a_draw_are_not_amplified_one_by_one(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secret_poisson_draws_amplify),
        cmocka_unit_test(blocks_that_share_a_draw_are_sampled_once),
        cmocka_unit_test(sides_that_share_a_draw_are_not_amplified_one_by_one),
    };
    return cmocka_run_group_tests(tests, training_begin, training_end);
}
