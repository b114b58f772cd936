/* SPDX-License-Identifier: Apache-2.0 */
/* What is its own. What it has in common with gradient descent: tests/plugins/test_solver_gradients.c. */
#include "kit/plain_host.h"

#define STRIDE 16
#define ROWS 5

static uint64_t seed = 9;

static double uniform(double lo, double hi)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

struct problem {
    dpf_query query;
    dpf_solve batch;
    float rows[ROWS * STRIDE];
    float state[ROWS * 2 * STRIDE];
    _Alignas(64) float blocks[ROWS * STRIDE];
    float ridge[STRIDE];
};

static void make_problem(struct problem *p, int32_t d, int32_t first)
{
    memset(p, 0, sizeof(*p));
    for (int32_t i = 0; i < ROWS * STRIDE; i++) {
        p->rows[i] = (float)uniform(-1, 1);
    }
    p->query.size = sizeof(p->query);
    p->query.form = DPF_FORM_GRADIENT;
    p->query.dimension = d;
    p->query.first = first;
    p->query.width = d;
    p->query.n_blocks = 1;
    p->query.blocks[0].kind = DPF_BLOCK_GRADIENT;
    p->query.blocks[0].length = d;
    p->batch.size = sizeof(p->batch);
    p->batch.n_rounds = 100;
    p->batch.n_rows = ROWS;
    p->batch.query = &p->query;
    p->batch.blocks = p->blocks;
    p->batch.blocks_stride = STRIDE;
    p->batch.current = p->rows;
    p->batch.next = p->rows;
    p->batch.current_stride = STRIDE;
    p->batch.next_stride = STRIDE;
    p->batch.state = p->state;
    p->batch.state_width = 2 * d;
}

struct adam {
    struct plain_host host;
    const dpf_solver *functions;
};

static void open_adam(struct adam *adam, const char *settings)
{
    const dpf_component *component = plain_component("adam", DPF_ROLE_SOLVER, "adam");

    plain_open(&adam->host, component, settings);
    adam->functions = component->functions;
}

static dpf_status solve(struct adam *adam, const dpf_solve *batch, int32_t round)
{
    plain_clear(&adam->host);
    adam->host.call.round = round;
    return adam->functions->solve(adam->host.self, plain_call(&adam->host), batch);
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.17g, expected %.17g", a, b);
    }
}

/*
 * By hand, from x = 1 with gradients 2, -1, 1, beta1 = .9, beta2 = .8, rate = .05:
 *   t=1: m = .2, v = .8; corrected 2 and 4; the step is .05 * 2 / 2 = .05.
 *   t=2: m = .08, v = .84; corrected .08/.19 and .84/.36; step .05 * .421052632 / 1.527525232.
 *   t=3: m = .172, v = .872; corrected .172/.271 and .872/.488; step .05 * .634686347 / 1.336744273.
 */
TEST(golden_steps)
{
    static const float gradients[] = {2, -1, 1};
    static const double expected[] = {0.95, 0.936217846, 0.912477812};
    struct adam adam;
    struct problem p;
    open_adam(&adam, "rate=0.05; beta1=0.9; beta2=0.8");
    make_problem(&p, 1, 0);
    p.batch.n_rows = 1;
    p.rows[0] = 1;
    for (int32_t t = 0; t < 3; t++) {
        p.blocks[0] = gradients[t];
        assert_int_equal(solve(&adam, &p.batch, t), DPF_OK);
        assert_near((double)p.rows[0], expected[t], 1e-7);
    }
    assert_near((double)p.state[0], 0.172, 1e-7);
    assert_near((double)p.state[1], 0.872, 1e-7);
    plain_close(&adam.host);
}

/* The algorithm as published, in double, on many rows, columns and rounds. */
TEST(steps_match_the_algorithm)
{
    static struct problem p;
    static double x[ROWS][STRIDE], m[ROWS][STRIDE], v[ROWS][STRIDE];
    struct adam adam;
    open_adam(&adam, "rate=0.02; beta1=0.8; beta2=0.95");
    assert_int_equal(adam.functions->state_width(adam.host.self, 14), 28);
    make_problem(&p, 14, 1);
    for (int32_t i = 0; i < 14; i++) {
        p.ridge[i] = (float)uniform(0, 1);
    }
    p.query.ridge_constant = p.ridge;
    for (int32_t r = 0; r < ROWS; r++) {
        for (int32_t i = 0; i < 14; i++) {
            x[r][i] = (double)p.rows[r * STRIDE + 1 + i];
        }
    }
    for (int32_t t = 1; t <= 30; t++) {
        for (int32_t i = 0; i < ROWS * STRIDE; i++) {
            p.blocks[i] = (float)uniform(-2, 2);
        }
        const float corner[2] = {p.rows[0], p.rows[15]};
        assert_int_equal(solve(&adam, &p.batch, t - 1), DPF_OK);
        assert_true(p.rows[0] == corner[0]);
        assert_true(p.rows[15] == corner[1]); /* not unknowns */
        for (int32_t r = 0; r < ROWS; r++) {
            for (int32_t i = 0; i < 14; i++) {
                const double g = (double)p.blocks[r * STRIDE + i] + (double)p.ridge[i] * x[r][i];
                m[r][i] = 0.8 * m[r][i] + 0.2 * g;
                v[r][i] = 0.95 * v[r][i] + 0.05 * g * g;
                x[r][i] -= 0.02 * (m[r][i] / (1 - pow(0.8, t))) / (sqrt(v[r][i] / (1 - pow(0.95, t))) + 1e-8);
                assert_near((double)p.rows[r * STRIDE + 1 + i], x[r][i], 2e-5);
            }
        }
    }
    plain_close(&adam.host);
}

/* In the first round every gradient, of any size, moves a row by the rate. */
TEST(first_steps_have_the_rate)
{
    struct adam adam;
    struct problem p;
    open_adam(&adam, "rate=0.5");
    make_problem(&p, 2, 0);
    p.batch.n_rows = 1;
    p.rows[0] = p.rows[1] = 0;
    p.blocks[0] = 1e-3F;
    p.blocks[1] = -1e9F;
    assert_int_equal(solve(&adam, &p.batch, 0), DPF_OK);
    assert_near((double)p.rows[0], -0.5, 1e-5);
    assert_near((double)p.rows[1], 0.5, 1e-5);
    plain_close(&adam.host);
}

TEST(failures)
{
    const dpf_component *component = plain_component("adam", DPF_ROLE_SOLVER, "adam");
    struct adam adam;
    struct problem p;
    open_adam(&adam, "");
    make_problem(&p, 3, 0);
    p.blocks[1] = 1e30F; /* its square exceeds the state's range */
    assert_int_equal(solve(&adam, &p.batch, 0), DPF_E_NUMERIC);
    p.query.form = DPF_FORM_QUADRATIC;
    assert_int_equal(solve(&adam, &p.batch, 0), DPF_E_UNSUPPORTED);
    plain_close(&adam.host);

    plain_init(&adam.host, component);
    assert_int_equal(plain_create(&adam.host, "beta1=1"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&adam.host, "beta2=1"), DPF_E_CONFIG);
    plain_close(&adam.host);
}
