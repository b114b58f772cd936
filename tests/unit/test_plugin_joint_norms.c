/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest norm of a message under bounds over groups of its blocks, against maximisation by search:
 * random vectors inside of all bounds, improved step by step. The statement is never exceeded, and for one
 * ball, a product of balls and L1 of L2 norms it is reached.
 */
#include "kit/test.h"
#include "dpframe/joint.h"

#define N_BLOCKS 3
#define MOST 8 /* numbers of a block */
#define ALL UINT32_C(7)

/* Blocks of 1, 2 and 4 numbers in one row. */
static const int lengths[N_BLOCKS] = {1, 2, 4};

struct world {
    dpf_query query;
    dpf_sensitivity blocks[N_BLOCKS];
    dpf_joint_norm bounds[4];
    dpf_joint_norms joint;
    dpf_message_norms message;
    double scale[DPF_BLOCK_BITS];
};

static uint64_t state_of_random = 88172645463325252u;

static double uniform(double lo, double hi)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return lo + (hi - lo) * (double)(state_of_random >> 11) * 0x1p-53;
}

static void start(struct world *w)
{
    memset(w, 0, sizeof *w);
    w->query.size = sizeof w->query;
    w->query.n_blocks = N_BLOCKS;
    for (int b = 0; b < N_BLOCKS; b++) {
        w->query.blocks[b].length = lengths[b];
        w->blocks[b] = dpf_unstated();
        w->scale[b] = 1;
    }
    w->joint = (dpf_joint_norms){.size = sizeof w->joint, .capacity = 4, .bounds = w->bounds};
    w->message = (dpf_message_norms){&w->query, 1, w->blocks, NULL, &w->joint};
}

static void own_bound(struct world *w, int b, double l2)
{
    w->blocks[b].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE] = (dpf_norms){sqrt(lengths[b]) * l2, l2, l2};
}

static void joint_bound(struct world *w, uint32_t blocks, int within, int across, const double *weights,
                        double c)
{
    dpf_joint_norm bound = dpf_joint_new(blocks, within, across);
    for (int b = 0; weights && b < N_BLOCKS; b++)
        bound.weight[b] = weights[b];
    bound.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE] = c;
    dpf_joint_add(&w->joint, &bound);
}

static double largest(const struct world *w, int p)
{
    return dpf_joint_largest(&w->message, ALL, w->scale, p, DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE);
}

/* ---- by search ------------------------------------------------------------------------------- */

static double norm(const double *x, int n, int p)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += p == 1 ? fabs(x[i]) : x[i] * x[i];
    return p == 1 ? sum : sqrt(sum);
}

/* By how much x must be divided to lie inside of every bound. */
static double outside(const struct world *w, double x[N_BLOCKS][MOST])
{
    double most = 0;
    for (int b = 0; b < N_BLOCKS; b++) {
        const dpf_norms *own = &w->blocks[b].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE];
        if (!isnan(own->l2))
            most = fmax(most, norm(x[b], lengths[b], 2) / own->l2);
        if (!isnan(own->l1))
            most = fmax(most, norm(x[b], lengths[b], 1) / own->l1);
    }
    for (int i = 0; i < w->joint.n; i++) {
        const dpf_joint_norm *bound = &w->bounds[i];
        double y[N_BLOCKS] = {0};
        for (int b = 0; b < N_BLOCKS; b++)
            y[b] = bound->blocks >> b & 1 ? norm(x[b], lengths[b], bound->within) / bound->weight[b] : 0;
        most = fmax(most, norm(y, N_BLOCKS, bound->across) / bound->at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE]);
    }
    return most;
}

/* The norm of x, brought to the boundary of what is allowed and divided by the scales. */
static double value(const struct world *w, double x[N_BLOCKS][MOST], int p)
{
    const double by = outside(w, x);
    double sum = 0;
    for (int b = 0; b < N_BLOCKS; b++) {
        const double u = by > 0 ? norm(x[b], lengths[b], p) / by / w->scale[b] : 0;
        sum += p == 1 ? u : u * u;
    }
    return p == 1 ? sum : sqrt(sum);
}

static double by_search(const struct world *w, int p)
{
    double best = 0;
    for (int start_at = 0; start_at < 60; start_at++) {
        double x[N_BLOCKS][MOST] = {{0}}, tried[N_BLOCKS][MOST], now, step = 0.5;
        for (int b = 0; b < N_BLOCKS; b++)
            for (int i = 0; i < lengths[b]; i++)
                x[b][i] = uniform(0, 1) < 0.3 ? 0 : uniform(-1, 1);
        now = value(w, x, p);
        for (int round = 0; round < 1500; round++) {
            memcpy(tried, x, sizeof x);
            const int b = (int)uniform(0, N_BLOCKS), all = uniform(0, 1) < 0.4;
            const double by = exp(uniform(-step, step));
            for (int i = 0; i < lengths[b]; i++)
                tried[b][i] = all ? by * x[b][i] : x[b][i] + uniform(-step, step) * (uniform(0, 1) < 0.5);
            const double then = value(w, tried, p);
            if (then > now) {
                memcpy(x, tried, sizeof x);
                now = then;
            } else {
                step = fmax(step * 0.995, 1e-4);
            }
        }
        best = fmax(best, now);
    }
    return best;
}

/* Never exceeded, and reached up to `slack`. */
static void assert_largest(const struct world *w, int p, double slack, const char *what)
{
    const double stated = largest(w, p), found = by_search(w, p);
    if (!(found <= stated * (1 + 1e-9)) || !(stated <= found * (1 + slack)))
        fail_msg("%s, p %d: stated %.9g, found %.9g", what, p, stated, found);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* C max w / s, not C / s once for each block. */
TEST(test_one_ball)
{
    static const double weights[] = {1, 3, 0.5};
    for (int p = 1; p <= 2; p++) {
        struct world w;
        start(&w);
        joint_bound(&w, ALL, p, p, NULL, 2);
        assert_float_equal(largest(&w, p), 2, 1e-9);
        w.scale[0] = 4;
        w.scale[1] = 0.25;
        assert_float_equal(largest(&w, p), 8, 1e-9);
        assert_largest(&w, p, 1e-2, "one ball");
        start(&w);
        joint_bound(&w, ALL, p, p, weights, 2);
        assert_float_equal(largest(&w, p), 6, 1e-9);
        assert_largest(&w, p, 1e-2, "weighted ball");
    }
}

TEST(test_product_of_balls)
{
    struct world w;
    start(&w);
    own_bound(&w, 0, 3);
    own_bound(&w, 1, 4);
    own_bound(&w, 2, 12);
    assert_float_equal(largest(&w, 2), 13, 1e-9);
    assert_float_equal(largest(&w, 1), 3 + 4 * sqrt(2) + 12 * 2, 1e-9);
    assert_largest(&w, 2, 1e-2, "product");
    assert_largest(&w, 1, 1e-2, "product");
}

TEST(test_l1_of_l2)
{
    struct world w;
    start(&w);
    joint_bound(&w, ALL, 2, 1, NULL, 5);
    w.scale[1] = 0.5;
    assert_float_equal(largest(&w, 2), 10, 1e-9);
    assert_largest(&w, 2, 1e-2, "L1 of L2");
    /* In L1 the block of four numbers counts twice its L2 norm. */
    assert_float_equal(largest(&w, 1), 5 * 2 * sqrt(2), 1e-9);
    assert_largest(&w, 1, 1e-2, "L1 of L2");
}

/* An L2 ball in L1: Cauchy over the blocks' roots of lengths. */
TEST(test_l2_ball_in_l1)
{
    struct world w;
    start(&w);
    joint_bound(&w, ALL, 2, 2, NULL, 1);
    assert_float_equal(largest(&w, 1), sqrt(7), 1e-9);
    assert_largest(&w, 1, 1e-2, "L2 ball in L1");
    own_bound(&w, 2, 0.1);
    assert_largest(&w, 1, 1e-2, "L2 ball with a cap in L1");
}

/* A ball and smaller bounds of blocks: the ball's room goes where noise is least. */
TEST(test_ball_with_caps)
{
    struct world w;
    start(&w);
    joint_bound(&w, ALL, 2, 2, NULL, 5);
    own_bound(&w, 0, 3);
    w.scale[0] = 0.5;
    /* Block 0 takes 9 of 25 at 1/0.25, the others 16 at 1. */
    assert_float_equal(largest(&w, 2), sqrt(9 * 4 + 16), 1e-9);
    assert_largest(&w, 2, 1e-2, "capped ball");
    /* A bound over two blocks, and one of its own for the third. */
    start(&w);
    joint_bound(&w, 3, 2, 2, NULL, 3);
    own_bound(&w, 2, 4);
    assert_float_equal(largest(&w, 2), 5, 1e-9);
    /* The least of several bounds counts. */
    joint_bound(&w, ALL, 2, 2, NULL, 4.5);
    assert_float_equal(largest(&w, 2), 4.5, 1e-9);
}

TEST(test_any_bounds_are_never_exceeded)
{
    for (int trial = 0; trial < 40; trial++) {
        struct world w;
        start(&w);
        for (int b = 0; b < N_BLOCKS; b++) {
            w.scale[b] = exp(uniform(-1, 1));
            own_bound(&w, b, exp(uniform(-1, 2)));
        }
        const int n = 1 + (int)uniform(0, 3);
        for (int i = 0; i < n; i++) {
            const double weights[N_BLOCKS] = {exp(uniform(-1, 1)), exp(uniform(-1, 1)), exp(uniform(-1, 1))};
            joint_bound(&w, 1 + (uint32_t)uniform(0, 7), 1 + (int)uniform(0, 2), 1 + (int)uniform(0, 2),
                        weights, exp(uniform(-1, 1)));
        }
        for (int p = 1; p <= 2; p++) {
            const double stated = largest(&w, p), found = by_search(&w, p);
            if (!(found <= stated * (1 + 1e-9)))
                fail_msg("trial %d, p %d: stated %.9g, found %.9g", trial, p, stated, found);
        }
    }
}

TEST(test_what_is_not_stated)
{
    struct world w;
    start(&w);
    assert_true(isnan(largest(&w, 2)));
    joint_bound(&w, 3, 2, 2, NULL, 3);
    assert_true(isnan(largest(&w, 2))); /* block 2 is in no bound */
    joint_bound(&w, 4, 2, 2, NULL, INFINITY);
    assert_true(isnan(largest(&w, 2)));
    own_bound(&w, 2, 0);
    assert_float_equal(largest(&w, 2), 3, 1e-9);
    w.blocks[2].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE] = (dpf_norms){INFINITY, INFINITY, INFINITY};
    assert_true(isinf(largest(&w, 2)));
    joint_bound(&w, ALL, 2, 2, NULL, 7);
    assert_float_equal(largest(&w, 2), 7, 1e-9);
}
