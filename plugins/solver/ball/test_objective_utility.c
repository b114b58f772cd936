/* SPDX-License-Identifier: Apache-2.0 */
/* Theorem 5 of DPIMF by hand, where Corollary 1 holds and where it does not. */
#include <math.h>

#include "kit/test.h"
#include "objective_utility.h"

static void near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", got, expected);
}

/* d = 4, N = 10, c = 1/2, epsilon = 2, alpha0 = .8, beta = (.1, .8, .1): sqrt2 c d N / epsilon = 10 sqrt2. */
TEST(numbers_by_hand)
{
    const struct objective_setting s = {4, 10, 0.5, 2, 0.8, {0, 0.1, 0.8, 0.1}};
    struct objective_bounds b;
    objective_bounds(&s, &b);
    near(b.published[OBJECTIVE_STR], 10 * sqrt(2) * (10 + 1) * 25);
    near(b.published[OBJECTIVE_COM], 10 * sqrt(2) * (10 * 16 * 0.2 / 0.8 + 8 / 0.1));
    near(b.published[OBJECTIVE_SYM], 10 * sqrt(2) * (10 * 20 * 0.2 / 1.6 + 8 / 0.1));
    near(b.published[OBJECTIVE_OPT], 10 * sqrt(2) * 8);
    /* scales: joint 9/2; com .2 * 4 / 1.6 = .5, 4 / .2 = 20, .2 / .2 = 1; sym .2 * 2.5 / 1.6; opt 4 / 2 = 2
     */
    near(b.derived[OBJECTIVE_STR], sqrt(2) * 4 * 100 * 4.5 + sqrt(8) * 10 * 4.5 + 4.5);
    near(b.derived[OBJECTIVE_COM], sqrt(2) * 4 * 100 * 0.5 + sqrt(8) * 10 * 20 + 1);
    near(b.derived[OBJECTIVE_SYM], sqrt(2) * 4 * 100 * 0.3125 + sqrt(8) * 10 * 20 + 1);
    near(b.derived[OBJECTIVE_OPT], sqrt(8) * 10 * 2);
    near(b.derived[OBJECTIVE_OPT], b.published[OBJECTIVE_OPT] / 2);
    /* Theorem 4, 7 records: .8 * 7 * 100 (.01 + 2 * 4 * .25), and with d c^2 once. */
    near(objective_change(&s, 7).published, 0.8 * 7 * 100 * (0.01 + 2));
    near(objective_change(&s, 7).derived, 0.8 * 7 * 100 * (0.01 + 1));
}

static const double shares[] = {0.02, 0.1, 0.3, 0.5, 0.8, 0.96};
static const double weights[] = {0, 0.2, 0.5, 0.8, 0.95, 1};
static const double radii[] = {1e-3, 0.3, 1, 4, 10, 100};

/* Calls check for settings in which the two shares add up to less than 1. */
static void for_settings(void (*check)(const struct objective_setting *))
{
    for (int64_t d = 1; d <= 40; d++)
        for (int i = 0; i < 6 * 6 * 6 * 6; i++) {
            struct objective_setting s = {d, radii[i % 6], 0.5, 1, weights[i / 6 % 6], {0}};
            s.beta[1] = shares[i / 36 % 6];
            s.beta[2] = shares[i / 216];
            s.beta[3] = 1 - s.beta[1] - s.beta[2];
            if (s.beta[3] > 0)
                check(&s);
        }
}

static int n_claimed, n_separated, n_wrong;

static void check_order(const struct objective_setting *s)
{
    struct objective_bounds b;
    objective_bounds(s, &b);
    const double *g = b.published;
    assert_true(g[OBJECTIVE_COM] >= g[OBJECTIVE_SYM]);
    assert_true(g[OBJECTIVE_SYM] >= g[OBJECTIVE_OPT]);
    assert_true(g[OBJECTIVE_STR] > g[OBJECTIVE_OPT]);
    if (b.separated) {
        assert_true(b.claimed);
        assert_true(g[OBJECTIVE_STR] > g[OBJECTIVE_COM]);
    }
    n_claimed += b.claimed;
    n_separated += b.separated;
    n_wrong += b.claimed && g[OBJECTIVE_STR] <= g[OBJECTIVE_COM];
}

/* Corollary 1's first part needs more than it says: beta_1 (d + 1)^2 >= 2 d in place of >= 1, or a large N.
 */
TEST(corollary_1)
{
    n_claimed = n_separated = n_wrong = 0;
    for_settings(check_order);
    assert_true(n_separated > 1000);
    assert_true(n_claimed > n_separated);
    assert_true(n_wrong > 0);
    struct objective_setting s = {4, 1,   1,
                                  1, 0.8, {0, 0.1, 0.8, 0.1}}; /* the paper's alpha0 and beta, lambda = 1 */
    struct objective_bounds b;
    objective_bounds(&s, &b);
    assert_true(b.claimed);
    assert_true(!b.separated);
    assert_true(b.published[OBJECTIVE_STR] < b.published[OBJECTIVE_COM]);
    s.d = 8; /* the paper's for Amazon */
    objective_bounds(&s, &b);
    assert_true(b.claimed);
    assert_true(b.published[OBJECTIVE_STR] > b.published[OBJECTIVE_COM]);
}

/* (c d + 1)^2 <= c (d + 1)^2 from c = 1/d^2 to 1, and nowhere else. */
TEST(the_published_strawman_needs_a_bounded_c)
{
    for (int64_t d = 2; d <= 40; d++)
        for (int i = -60; i <= 20; i++) {
            const double c = exp2(i / 5.0), dd = (double)d;
            const struct objective_setting s = {d, 5, c, 1, 0.8, {0, 0.1, 0.8, 0.1}};
            struct objective_bounds b;
            objective_bounds(&s, &b);
            /* both b at the factor 2 that is published, and without the count */
            const double joint = (c * dd + 1) * (c * dd + 1);
            const double sound = sqrt(2) * dd * 25 * joint + 2 * sqrt(2 * dd) * 5 * joint;
            if (fabs(c - 1) < 1e-9 || fabs(c * dd * dd - 1) < 1e-9)
                continue;
            assert_int_equal(b.published[OBJECTIVE_STR] >= sound, c >= 1 / (dd * dd) && c <= 1);
        }
}

TEST(a_share_of_nothing)
{
    struct objective_setting s = {3, 2, 1, 1, 1, {0, 1, 0, 0}};
    struct objective_bounds b;
    objective_bounds(&s, &b); /* alpha0 = 1 hides nothing in the second order */
    near(b.published[OBJECTIVE_COM], b.published[OBJECTIVE_OPT]);
    near(b.derived[OBJECTIVE_SYM], b.derived[OBJECTIVE_OPT]);
    s.alpha0 = 0.5;
    objective_bounds(&s, &b);
    assert_true(isinf(b.published[OBJECTIVE_COM]));
    assert_true(isinf(b.derived[OBJECTIVE_SYM]));
    assert_true(isfinite(b.published[OBJECTIVE_OPT]));
    assert_true(isfinite(b.derived[OBJECTIVE_STR]));
}
