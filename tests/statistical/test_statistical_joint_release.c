/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One ball over all blocks of a message, through every additive mechanism from its .so: one event, whose
 * price is the mechanism's, which no message of the ball exceeds and the worst one reaches; and the sums have
 * the noise that the plan says, block by block.
 */
#include "kit/goodness.h"

#include "dpframe/joint.h"
#include "kit/plain_random.h"
#include "kit/plain_release.h"

#define ROWS 300
#define D 4
#define WIDTH (D * (D + 1) / 2 + D + 1)
#define RADIUS 2.0
#define PARTIES 20

static const struct {
    const char *plugin, *settings;
    int p;       /* norm of the noise: 1 or 2 */
    int gram;    /* 1: serves a Gram row */
    double cost; /* largest norm over scale */
} mechanisms[] = {
    {"gaussian", "calibration=noise-multiplier; noise-multiplier=2; where=sum", 2, 1, 0.5},
    {"laplace", "epsilon=0.5; where=sum", 1, 1, 0.5},
    {"laplace", "epsilon=0.5; where=sum; sensitivity=joint", 1, 1, 0.5},
    {"laplace-gamma", "epsilon=0.5", 1, 0, 0.5},
    {"discrete-gaussian", "noise-multiplier=2", 2, 0, 0.5},
    {"skellam", "noise-multiplier=2", 2, 0, 0.5},
};
#define N_MECHANISMS (sizeof mechanisms / sizeof mechanisms[0])

struct ball {
    struct plain_release r;
    dpf_joint_norm bound;
    dpf_joint_norms joint;
};

static void ball_of(struct ball *ball, size_t which, const double weights[3])
{
    const int p = mechanisms[which].p;
    struct plain_release *r = &ball->r;
    plain_release_init(r, D, ROWS);
    r->release.n_parties = r->release.min_honest = PARTIES;
    if (mechanisms[which].gram) {
        plain_release_share(r, 1, 1);
        r->release.gram_share = 0.3;
    }
    ball->bound = dpf_joint_new(7 | (mechanisms[which].gram ? 7u << DPF_GRAM_BIT : 0), p, p);
    for (int b = 0; b < 3; b++) {
        const double own = RADIUS * weights[b];
        r->blocks[b] = plain_sensitivity(p == 1 ? own : 1e3 * own, own);
        r->gram[b] = r->blocks[b];
        ball->bound.weight[b] = ball->bound.weight[DPF_GRAM_BIT + b] = weights[b];
    }
    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++)
            ball->bound.at[u][a] = RADIUS;
    ball->joint =
        (dpf_joint_norms){.size = sizeof ball->joint, .n = 1, .capacity = 1, .bounds = &ball->bound};
    r->release.joint = &ball->joint;
}

/* The worst message: all of the ball's radius in the block where noise is least. */
static double worst(const struct ball *ball, const dpf_noise_plan *plan, const double weights[3], int gram)
{
    double most = 0;
    for (int b = 0; b < 3; b++) {
        most = fmax(most, RADIUS * weights[b] / plan->scale[b]);
        if (gram)
            most = fmax(most, RADIUS * weights[b] / plan->gram_scale[b]);
    }
    (void)ball;
    return most;
}

static void check_price(size_t which, const double weights[3], int alike)
{
    struct plain_host host;
    struct ball ball;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    ball_of(&ball, which, weights);
    plain_open_random(&host,
                      plain_component(mechanisms[which].plugin, DPF_ROLE_MECHANISM, mechanisms[which].plugin),
                      mechanisms[which].settings);
    assert_int_equal(plain_plan(&host, &ball.r, &plan, events), 1);
    const dpf_norms *moved = &events[0].sensitivity.at[ball.r.release.unit][ball.r.release.adjacency];
    const double price = (mechanisms[which].p == 1 ? moved->l1 : moved->l2) / events[0].scale;
    const double reached = worst(&ball, &plan, weights, mechanisms[which].gram);
    if (!(price <= mechanisms[which].cost * (1 + 1e-9)) || !(price >= mechanisms[which].cost * 0.98) ||
        !(reached <= price) || !(reached >= price * 0.98))
        fail_msg("%s: price %.9g, reached %.9g", mechanisms[which].settings, price, reached);
    assert_int_equal(events[0].blocks, ball.bound.blocks);
    assert_int_equal(events[0].kind == DPF_EVENT_PURE, mechanisms[which].p == 1 && !alike);
    if (events[0].kind == DPF_EVENT_PURE)
        assert_true(fabs(events[0].p.pure.epsilon * moved->l1 - price) < 1e-9);
    if (events[0].kind == DPF_EVENT_SKELLAM) { /* the deviation of the first block */
        assert_true(fabs(sqrt(events[0].p.skellam.variance) / events[0].scale - 1) < 1e-9);
        /* Every block has at least as many steps of noise as the event says. */
        for (int b = 0; b < 3; b++)
            assert_true(plan.scale[b] / plan.grid[b] >=
                        sqrt(events[0].p.skellam.variance) / events[0].grid * (1 - 1e-9));
    }
    plain_close(&host);
}

TEST(one_ball_has_one_price)
{
    static const double ones[3] = {1, 1, 1}, weights[3] = {3, 1, 0.2};
    for (size_t i = 0; i < N_MECHANISMS; i++) {
        check_price(i, ones, 1);
        if (!strstr(mechanisms[i].settings, "sensitivity=joint"))
            check_price(i, weights, 0);
    }
}

/* Empty messages of all parties: the sums' noise has the planned variance in each block. */
TEST(blocks_have_the_noise_of_the_plan)
{
    static const double weights[3] = {3, 1, 0.2};
    static double nothing[(ROWS + 1) * WIDTH], out[(ROWS + 1) * WIDTH];
    static int64_t message[(ROWS + 1) * WIDTH], sums[(ROWS + 1) * WIDTH];
    for (size_t i = 0; i < N_MECHANISMS; i++) {
        struct plain_host host;
        struct ball ball;
        dpf_noise_plan plan;
        dpf_event events[2 * DPF_MAX_BLOCKS];
        ball_of(&ball, i, weights);
        plain_open_random(&host,
                          plain_component(mechanisms[i].plugin, DPF_ROLE_MECHANISM, mechanisms[i].plugin),
                          mechanisms[i].settings);
        plain_plan(&host, &ball.r, &plan, events);
        const dpf_mechanism *mechanism = host.component->functions;
        memset(sums, 0, sizeof sums);
        for (uint32_t party = 0; party < PARTIES; party++) {
            dpf_encoded integers = plain_integers(&ball.r, message);
            host.call.party = party;
            assert_int_equal(mechanism->encode(host.self, plain_call(&host), &plan, &ball.r.query, nothing,
                                               WIDTH, &integers),
                             DPF_OK);
            for (int64_t k = 0; k < ball.r.release.rows * WIDTH; k++)
                sums[k] += message[k];
        }
        dpf_encoded total = plain_integers(&ball.r, sums);
        total.survivors = PARTIES;
        host.call.party = DPF_PARTY_AGGREGATE;
        assert_int_equal(
            mechanism->decode(host.self, plain_call(&host), &plan, &ball.r.query, &total, out, WIDTH),
            DPF_OK);
        for (int b = 0; b < 3; b++) {
            const dpf_block *block = &ball.r.query.blocks[b];
            double squares = 0, n = 0;
            for (int64_t r = 0; r < ROWS; r++)
                for (int c = block->offset; c < block->offset + block->length; c++, n++)
                    squares += out[r * WIDTH + c] * out[r * WIDTH + c];
            /* The fourth moment is below 6 variances squared for Laplace noise, 3 for the others. */
            const double fourth = (mechanisms[i].p == 1 ? 6.0 : 3.0) * plan.variance[b] * plan.variance[b];
            goodness_assert(
                goodness_mean(squares, n, plan.variance[b], fourth - plan.variance[b] * plan.variance[b]),
                mechanisms[i].settings, b);
        }
        plain_close(&host);
    }
}

static int begin(void **state)
{
    (void)state;
    plain_random_start(31);
    return 0;
}

FIXTURE(begin, plain_random_end)
