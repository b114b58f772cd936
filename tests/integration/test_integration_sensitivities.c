/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds and norms of plans: what a unit moves, in one block and in several. */
#include "integration/guarantee_fixture.h"

/* ---- bounds ---------------------------------------------------------------------------------------------
 */

/* The constant that pairs with a bias is outside the clip, but inside the gradient. */
TEST(biases_count_in_sensitivities)
{
    static const char clipped[] =
        "items.update=no\nprivacy.interaction-pattern=public\nusers.loss.clip-error=1\n";
    char biased[256];
    struct plan plain, bias;
    snprintf(biased, sizeof biased, "%smodel.user-bias=yes\n", clipped);
    plan_of(&plain, published, clipped);
    plan_of(&bias, published, biased);
    const struct term_plan *a = &plain.sides[DPF_SIDE_USERS].terms[0],
                           *b = &bias.sides[DPF_SIDE_USERS].terms[0];
    double without = a->sensitivity.blocks[0].at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2;
    double with = b->sensitivity.blocks[0].at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2;
    assert_float_equal(without, 2, 1e-4);
    assert_float_equal(with, 2 * sqrt(2), 1e-4);
    /* Predictions have the other side's bias too, which no clip touches. */
    char items[256];
    snprintf(items, sizeof items, "%smodel.item-bias=yes\n", clipped);
    plan_free(&bias);
    plan_of(&bias, published, items);
    b = &bias.sides[DPF_SIDE_USERS].terms[0];
    assert_true(b->bounds.residual_l2 >= a->bounds.residual_l2);
    assert_true(isinf(b->bounds.self_l2) || b->bounds.self_l2 >= 1);
    plan_free(&plain);
    plan_free(&bias);
}

/* What rounds to float32 may exceed its norm by a little: the bound covers it. */
TEST(initial_rows_are_within_their_bound)
{
    struct training t;
    training_run(&t, published, "run.rounds=0\nitems.update=no\nusers.transforms=\nmodel.users=2000\n");
    double bound = t.plan.sides[DPF_SIDE_USERS].terms[0].bounds.other_l2;
    assert_true(bound >= 1);
    assert_true(bound < 1.00001);
    for (int64_t i = 0; i < t.dataset.items.n; i++) {
        const float *row = training_row(&t, DPF_SIDE_ITEMS, i);
        double square = 0;
        for (int c = 0; c < t.model.columns; c++)
            square += (double)row[c] * row[c];
        assert_true(sqrt(square) <= bound);
        assert_float_equal(sqrt(square), 1, 1e-5);
    }
    training_free(&t);
}

/* Rows seen through a projection are sums of rows in the solver's ball. */
TEST(projected_rows_have_no_radius)
{
    struct plan plan;
    plan_of(&plan, by_users, "items.solver.radius=1\nitems.transforms=clip-user, test-fold\n");
    assert_true(isinf(plan.sides[DPF_SIDE_ITEMS].radius));
    plan_free(&plan);
    plan_of(&plan, by_users, "items.solver.radius=1\n");
    assert_true(plan.sides[DPF_SIDE_ITEMS].radius == 1);
    plan_free(&plan);
}

/* ---- sampling -------------------------------------------------------------------------------------------
 */

/* Units and adjacencies that no header names yet: "not stated", whatever a plugin leaves in their rows. */
TEST(rows_without_a_meaning_are_not_stated)
{
    static const char *const mechanisms[] = {"gaussian", "test-probe", "none"};
    for (size_t m = 0; m < 3; m++) {
        char changes[256];
        struct plan plan;
        snprintf(changes, sizeof changes, "items.mechanism=%s\n%s", mechanisms[m],
                 m == 0 ? "items.mechanism.calibration=noise-multiplier\n" : "");
        plan_of(&plan, by_users, changes);
        assert_true(plan.ledger.n > 0);
        for (int64_t i = 0; i < plan.ledger.n; i++)
            for (int u = 0; u < DPF_UNIT_ROWS; u++)
                for (int a = 0; a < DPF_ADJACENCY_ROWS; a++)
                    if (u >= DPF_N_UNITS || a >= DPF_N_ADJACENCIES)
                        assert_true(isnan(plan.ledger.entries[i].event.sensitivity.at[u][a].l2));
        const struct term_sensitivity *stated = &plan.sides[DPF_SIDE_ITEMS].terms[0].sensitivity;
        assert_int_equal(stated->n_bounds, 1);
        assert_true(isnan(stated->bounds[0].at[DPF_UNIT_ROWS - 1][0]));
        assert_true(isnan(stated->blocks[0].at[0][DPF_ADJACENCY_ROWS - 1].l1));
        plan_free(&plan);
    }
}

/*
 * One clip for a whole message is charged once: C / s for the least noise s, whatever the number of blocks,
 * and the release is one event, in L1 as in L2.
 */
TEST(one_ball_is_charged_once)
{
    struct plan one, apart, sampled, laplace, product;
    int32_t n;
    plan_of(&one, by_users, ONE_BALL);
    plan_of(&apart, by_users, BLOCKS);
    const double z = squared_multipliers(&one, &n);
    assert_int_equal(n, 1);
    assert_float_equal(z, 1.0 / 16, 1e-6); /* noise-multiplier = 4 */
    assert_float_equal(squared_multipliers(&apart, &n), 1.0 / 16, 1e-6);
    assert_int_equal(n, 3);
    /* The same guarantee with noise of sigma C for all blocks, in place of sqrt(3) times that. */
    const dpf_noise_plan *noise = &one.sides[DPF_SIDE_ITEMS].terms[0].noise;
    const dpf_noise_plan *before = &apart.sides[DPF_SIDE_ITEMS].terms[0].noise;
    for (int b = 0; b < 3; b++) {
        assert_float_equal(noise->scale[b], 4, 1e-2);
        assert_float_equal(before->scale[b], 4 * sqrt(3), 1e-2);
    }
    assert_float_equal(epsilon_of(&one, "rdp"), epsilon_of(&apart, "rdp"), 1e-3);
    plan_of(&sampled, by_users, ONE_BALL "items.sampler=poisson-users\nitems.sampler.rate=0.1\n");
    assert_true(epsilon_of(&sampled, "rdp") < 0.5 * epsilon_of(&one, "rdp"));
    const char to_laplace[] = ONE_BALL "items.mechanism=laplace\nitems.mechanism.epsilon=1\n"
                                       "items.mechanism.where=sum\nitems.transform.clip-user.norm=l1\n"
                                       "accountants.list=pure\nrun.rounds=1\n";
    plan_of(&laplace, by_users, to_laplace);
    assert_float_equal(epsilon_of(&laplace, "pure"), 1, 1e-9);
    assert_int_equal(laplace.ledger.n, 1);
    assert_int_equal(laplace.ledger.entries[0].event.kind, DPF_EVENT_DISCRETE_LAPLACE);
    assert_float_equal(laplace.sides[DPF_SIDE_ITEMS].terms[0].noise.scale[1], 1, 1e-2);
    char text[1024];
    snprintf(text, sizeof text, "%sitems.transform.clip-user.block-bounds=1, 1, 1\n", to_laplace);
    plan_of(&product, by_users, text);
    assert_float_equal(epsilon_of(&product, "pure"), 1, 1e-9);
    assert_float_equal(product.sides[DPF_SIDE_ITEMS].terms[0].noise.scale[1], 3, 1e-2);
    /* Replacing a user moves from one end of the ball to the other. */
    const dpf_sensitivity *stated = &one.ledger.entries[0].event.sensitivity;
    assert_float_equal(stated->at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l2,
                       2 * stated->at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l2, 1e-2);
    plan_free(&one);
    plan_free(&apart);
    plan_free(&sampled);
    plan_free(&laplace);
    plan_free(&product);
}

FIXTURE(training_begin, training_end)
