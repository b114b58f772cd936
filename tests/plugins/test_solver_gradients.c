/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every solver that steps along a gradient keeps to, as a table of solvers and settings: it goes down, only
 * unknowns move, rows do not depend on their batch or on where the result is written, and what is refused.
 */
#include "kit/plain_host.h"

#define ROWS 7
#define STRIDE 32

static const struct solver {
    const char *plugin, *id, *settings;
} solvers[] = {
    {"gradient-descent", "gradient-descent", "rate=0.1"},
    {"gradient-descent", "gradient-descent", "rate=0.1; radius=9"},
    {"gradient-descent", "damped-gradient-descent", "rate=0.1"},
    {"adam", "adam", "rate=0.1"},
    {"adam", "adam", "rate=0.1; beta1=0.8; beta2=0.95"},
};
#define SOLVERS (sizeof solvers / sizeof solvers[0])

static uint64_t seed = 9;

static double uniform(double lo, double hi)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

struct problem {
    struct plain_host host;
    const dpf_solver *functions;
    dpf_query query;
    dpf_solve batch;
    float current[ROWS * STRIDE], next[ROWS * STRIDE], state[ROWS * 2 * STRIDE], ridge[STRIDE];
    _Alignas(64) float blocks[ROWS * STRIDE];
    int32_t degrees[ROWS];
};

/* Unknowns `first` .. `first` + d - 1 of rows of random numbers, with random gradients. */
static void open_problem(struct problem *p, const struct solver *solver, int32_t d, int32_t first)
{
    memset(p, 0, sizeof *p);
    plain_open(&p->host, plain_component(solver->plugin, DPF_ROLE_SOLVER, solver->id), solver->settings);
    p->functions = p->host.component->functions;
    for (int32_t i = 0; i < ROWS * STRIDE; i++) {
        p->current[i] = (float)uniform(-1, 1);
        p->next[i] = 7;
        p->blocks[i] = (float)uniform(-2, 2);
    }
    for (int32_t r = 0; r < ROWS; r++)
        p->degrees[r] = 10 * r * r;
    p->query = (dpf_query){.size = sizeof p->query,
                           .form = DPF_FORM_GRADIENT,
                           .dimension = d,
                           .first = first,
                           .width = d,
                           .n_blocks = 1};
    p->query.blocks[0] = (dpf_block){DPF_BLOCK_GRADIENT, 0, 0, d, 0, {0}};
    p->batch = (dpf_solve){.size = sizeof p->batch,
                           .n_rounds = 100,
                           .n_rows = ROWS,
                           .query = &p->query,
                           .blocks = p->blocks,
                           .blocks_stride = STRIDE,
                           .current = p->current,
                           .current_stride = STRIDE,
                           .next = p->next,
                           .next_stride = STRIDE,
                           .degrees = p->degrees,
                           .state = p->state,
                           .state_width =
                               p->functions->state_width ? p->functions->state_width(p->host.self, d) : 0};
    assert_true(p->batch.state_width <= 2 * d);
}

static dpf_status solve(struct problem *p, const dpf_solve *batch, int32_t round)
{
    plain_clear(&p->host);
    p->host.call.round = round;
    return p->functions->solve(p->host.self, plain_call(&p->host), batch);
}

/* In the first round each unknown goes against its gradient, and what is no unknown stays. */
TEST(steps_go_down_and_move_unknowns_alone)
{
    static struct problem p;
    for (size_t k = 0; k < SOLVERS; k++)
        for (int32_t d = 1; d <= 20; d += 1 + d / 4) {
            open_problem(&p, &solvers[k], d, 2);
            assert_int_equal(solve(&p, &p.batch, 0), DPF_OK);
            for (int32_t r = 0; r < ROWS; r++)
                for (int32_t c = 0; c < STRIDE; c++) {
                    const float moved = p.next[r * STRIDE + c] - p.current[r * STRIDE + c];
                    if (c < 2 || c >= d + 2)
                        assert_true(p.next[r * STRIDE + c] == 7);
                    else
                        assert_true(moved * p.blocks[r * STRIDE + c - 2] < 0);
                }
            plain_close(&p.host);
        }
}

/* In place, in batches of any size, after rounds that left a state: the same bytes. */
TEST(rows_do_not_depend_on_their_batch)
{
    static struct problem p, q;
    for (size_t k = 0; k < SOLVERS; k++)
        for (int32_t size = 1; size <= ROWS; size++) {
            open_problem(&p, &solvers[k], 9, 2);
            for (int32_t i = 0; i < ROWS * 9 * 2; i++)
                p.state[i] = (float)uniform(0, 1);
            memcpy(&q, &p, sizeof p);
            assert_int_equal(solve(&p, &p.batch, 3), DPF_OK);
            for (int32_t r = 0; r < ROWS; r += size) {
                dpf_solve part = p.batch;
                part.first_row = r;
                part.n_rows = r + size <= ROWS ? size : ROWS - r;
                part.blocks = q.blocks + r * STRIDE;
                part.current = part.next = q.current + r * STRIDE;
                part.degrees = q.degrees + r;
                part.state = q.state + r * part.state_width;
                assert_int_equal(solve(&p, &part, 3), DPF_OK);
            }
            for (int32_t r = 0; r < ROWS; r++)
                assert_memory_equal(p.next + r * STRIDE + 2, q.current + r * STRIDE + 2, 9 * sizeof(float));
            assert_memory_equal(p.state, q.state, sizeof p.state);
            plain_close(&p.host);
        }
}

/* Without a gradient nothing moves, in any round; a ridge alone pulls towards 0. */
TEST(a_zero_gradient_moves_nothing_and_a_ridge_pulls)
{
    static struct problem p;
    for (size_t k = 0; k < SOLVERS; k++) {
        open_problem(&p, &solvers[k], 3, 0);
        memset(p.blocks, 0, sizeof p.blocks);
        for (int32_t i = 0; i < ROWS * STRIDE; i++)
            p.current[i] = i % 2 ? -1 : 1;
        for (int32_t round = 0; round < 3; round++) {
            assert_int_equal(solve(&p, &p.batch, round), DPF_OK);
            for (int32_t c = 0; c < 3; c++)
                assert_true(p.next[c] == p.current[c]);
        }
        p.ridge[0] = p.ridge[1] = p.ridge[2] = 0.5F;
        p.query.ridge_constant = p.ridge;
        assert_int_equal(solve(&p, &p.batch, 3), DPF_OK);
        for (int32_t c = 0; c < 3; c++) {
            assert_true(fabsf(p.next[c]) < 1);
            assert_true(p.next[c] * p.current[c] > 0);
        }
        plain_close(&p.host);
    }
}

TEST(what_is_not_finite_is_refused)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    static struct problem p;
    for (size_t k = 0; k < SOLVERS; k++)
        for (size_t b = 0; b < 3; b++) {
            open_problem(&p, &solvers[k], 3, 0);
            p.blocks[2 * STRIDE + 1] = bad[b];
            assert_int_equal(solve(&p, &p.batch, 0), DPF_E_NUMERIC);
            p.blocks[2 * STRIDE + 1] = 0;
            p.current[2 * STRIDE + 1] = bad[b];
            if (b == 0) /* a row that is lost already */
                assert_int_equal(solve(&p, &p.batch, 0), DPF_E_NUMERIC);
            plain_close(&p.host);
        }
}

TEST(missing_state_bad_settings_and_memory)
{
    static struct problem p;
    for (size_t k = 0; k < SOLVERS; k++) {
        const dpf_component *component = plain_component(solvers[k].plugin, DPF_ROLE_SOLVER, solvers[k].id);
        open_problem(&p, &solvers[k], 3, 0);
        p.batch.state = NULL;
        assert_int_equal(solve(&p, &p.batch, 0), p.batch.state_width > 0 ? DPF_E_INTERNAL : DPF_OK);
        plain_close(&p.host);
        plain_check_memory(component, solvers[k].settings);
        plain_init(&p.host, component);
        assert_int_equal(plain_create(&p.host, "rate=0"), DPF_E_CONFIG);
        assert_int_equal(plain_create(&p.host, "rate=nan"), DPF_E_CONFIG);
        plain_close(&p.host);
    }
}
