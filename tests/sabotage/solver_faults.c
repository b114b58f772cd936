/* SPDX-License-Identifier: Apache-2.0 */
/* The solver "ball", which keeps rows within a radius that others' bounds rest on, with one fault each. */
#include "faults.h"

#include "../../plugins/solver/ball/ball.c"

static dpf_status solve_and(void *self, const dpf_call *call, const dpf_solve *batch,
                            float (*change)(const dpf_call *call, const dpf_solve *batch, int64_t row,
                                            float x))
{
    const dpf_status status = solve(self, call, batch);
    for (int64_t r = 0; status == DPF_OK && r < batch->n_rows; r++)
        for (int32_t i = 0; i < batch->query->dimension; i++) {
            float *x = &batch->next[r * batch->next_stride + batch->query->first + i];
            *x = change(call, batch, r, *x);
        }
    return status;
}

/* Rows are three times as long as the radius allows. */
static float three_times(const dpf_call *call, const dpf_solve *batch, int64_t row, float x)
{
    (void)call, (void)batch, (void)row;
    return 3 * x + (x >= 0 ? 5 : -5);
}

static dpf_status leaves_ball(void *self, const dpf_call *call, const dpf_solve *batch)
{
    return solve_and(self, call, batch, three_times);
}

/* The same from the second round on. */
static float later_three_times(const dpf_call *call, const dpf_solve *batch, int64_t row, float x)
{
    return call->round > 0 ? three_times(call, batch, row, x) : x;
}

static dpf_status leaves_ball_later(void *self, const dpf_call *call, const dpf_solve *batch)
{
    return solve_and(self, call, batch, later_three_times);
}

/* A row is not a number. */
static float nothing(const dpf_call *call, const dpf_solve *batch, int64_t row, float x)
{
    (void)call;
    return batch->first_row + row == 7 ? (float)NAN : x;
}

static dpf_status not_finite(void *self, const dpf_call *call, const dpf_solve *batch)
{
    return solve_and(self, call, batch, nothing);
}

/* Infinite, in the third round. */
static float later_infinite(const dpf_call *call, const dpf_solve *batch, int64_t row, float x)
{
    (void)batch, (void)row;
    return call->round == 2 ? (float)INFINITY : x;
}

static dpf_status not_finite_later(void *self, const dpf_call *call, const dpf_solve *batch)
{
    return solve_and(self, call, batch, later_infinite);
}

/* Rows depend on which worker solves them. */
static float by_worker_a_little(const dpf_call *call, const dpf_solve *batch, int64_t row, float x)
{
    (void)batch, (void)row;
    return x * (1 - 0.01F * (float)call->worker);
}

static dpf_status by_worker(void *self, const dpf_call *call, const dpf_solve *batch)
{
    return solve_and(self, call, batch, by_worker_a_little);
}

/* A hundredth of the radius is stated. */
static double small_radius(void *instance)
{
    return radius(instance) / 100;
}

/* Rows hold something of what was solved before them: records of another row, or of another run. */
static float last_seen;
static float with_the_last(const dpf_call *call, const dpf_solve *batch, int64_t row, float x)
{
    (void)call;
    const float mixed = 0.9F * x + 0.01F * last_seen / (1 + fabsf(last_seen));
    last_seen = batch->blocks[row * batch->blocks_stride];
    return mixed;
}

static dpf_status keeps_state(void *self, const dpf_call *call, const dpf_solve *batch)
{
    return solve_and(self, call, batch, with_the_last);
}

#define SOLVER(SOLVE, RADIUS)                                                                                \
    {                                                                                                        \
        .flags = DPF_SOLVER_QUADRATIC | DPF_SOLVER_INDEFINITE, .radius = (RADIUS), .solve = (SOLVE)          \
    }
static const dpf_solver tables[] = {SOLVER(leaves_ball, radius), SOLVER(leaves_ball_later, radius),
                                    SOLVER(not_finite, radius),  SOLVER(not_finite_later, radius),
                                    SOLVER(by_worker, radius),   SOLVER(solve, small_radius),
                                    SOLVER(keeps_state, radius)};
#define SPOILT(NAME, I)                                                                                      \
    FAULT_COMPONENT(NAME, DPF_ROLE_SOLVER, &tables[I], params, P_COUNT, create, sizeof(struct ball))
static const dpf_component faults[] = {SPOILT("solver-leaves-ball", 0), SPOILT("solver-leaves-ball-later", 1),
                                       SPOILT("solver-not-finite", 2),  SPOILT("solver-not-finite-later", 3),
                                       SPOILT("solver-by-worker", 4),   SPOILT("solver-states-less", 5),
                                       SPOILT("solver-keeps-state", 6)};
SEVEN_FAULTS("solver")
