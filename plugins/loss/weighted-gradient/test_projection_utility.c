/* SPDX-License-Identifier: Apache-2.0 */
/* DPMF-RP's Lemmas 5.1 and 5.2, Eq. 41 and 45 and Theorem 5.7, with numbers worked out by hand. */
#include <math.h>

#include "kit/test.h"
#include "projection_utility.h"

static void near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g is not %.17g", got, expected);
}

/* 1,000 users, a tenth a round; m = 65, p = 16, k = 3; e = 2, kappa = 3, B_1 = 1/4: Delta_1 = 4 * 2 * 4 / 4
 * = 8. */
static const struct projection_setting by_hand = {.m = 65,
                                                  .k = 3,
                                                  .p = 16,
                                                  .padded = 16,
                                                  .users = 1000,
                                                  .beta = 0.1,
                                                  .theta = 0.25,
                                                  .trials = 4,
                                                  .kappa = 3,
                                                  .clip = 2,
                                                  .bound = 0.25,
                                                  .mu = 0.5,
                                                  .alpha = 4,
                                                  .epsilon = 10,
                                                  .rounds = 2.718281828459045,
                                                  .lipschitz = 3};

TEST(numbers_by_hand)
{
    struct projection_bounds b;
    projection_bounds(&by_hand, &b);
    near(b.delta1, 8);
    near(b.gradient, 100 * 65 * 64 / 4.0);
    near(b.projection, 130.0 / 16 * 104000);
    near(b.projection_derived, 4 * 104000);
    near(b.noise, 65 * 3 * 64 / (4 * 100 * 4 / 16.0));
    near(b.noise_derived, 100 * 65 * 3 * 64 / (4 * 16 * 4 / 16.0));
    near(b.smoothness, 0.5 + 3 * 4 / 16.0);
    near(b.smoothness_derived, 2 * (0.5 + 100 * 4 / 16.0));
    near(b.convergence, 1.25 * (65 * 3 * 64 * 2 / 1.0 + 9)); /* sqrt(beta epsilon) = 1, log T = 1 */
}

/* Without a Lipschitz constant Eq. 41 stands in for it; without a projection nothing is lost; one round
 * bounds nothing. */
TEST(what_is_left_out)
{
    struct projection_setting s = by_hand;
    struct projection_bounds b;
    s.lipschitz = NAN;
    projection_bounds(&s, &b);
    near(b.convergence, 1.25 * (65 * 3 * 64 * 2 + b.gradient));
    s.p = s.m;
    s.rounds = 1;
    projection_bounds(&s, &b);
    assert_true(b.projection_derived == 0);
    assert_true(isinf(b.convergence));
}
