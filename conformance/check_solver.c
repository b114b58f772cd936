/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of solvers: finite rows, within the declared radius, other columns left alone. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "conformance/check_scenario.h"

enum { ROWS = 130, D = 5, FIRST = 1, COLUMNS = 7, STRIDE = 16, MAX_STATE = 4 * D, N_ROUNDS = 10 };

struct solve_inputs {
    dpf_query query;
    float *blocks; /* ROWS x blocks_stride */
    int64_t blocks_stride;
    float *ridge;
    float *current;
    int32_t *degrees;
    int32_t state_width;
};

/* What one row writes: the next row, then the state. */
struct row_output {
    float next[STRIDE];
    float state[MAX_STATE];
};

static const dpf_solver *table(const struct instance *instance)
{
    return instance->functions;
}

static void describe_query(dpf_query *query, int form, const float *ridge)
{
    *query = (dpf_query){
        .size = sizeof *query, .form = form, .dimension = D, .first = FIRST, .support = DPF_SUPPORT_OBSERVED};
    if (form == DPF_FORM_GRADIENT) {
        query->n_blocks = 1;
        query->width = D;
        query->blocks[0] = (dpf_block){.kind = DPF_BLOCK_GRADIENT, .offset = 0, .length = D};
        return;
    }
    int32_t packed = dpf_packed_length(D);
    query->n_blocks = 3;
    query->width = packed + D + 1;
    query->blocks[0] =
        (dpf_block){.kind = DPF_BLOCK_QUADRATIC, .layout = DPF_LAYOUT_PACKED, .offset = 0, .length = packed};
    query->blocks[1] = (dpf_block){.kind = DPF_BLOCK_LINEAR, .offset = packed, .length = D};
    query->blocks[2] = (dpf_block){.kind = DPF_BLOCK_COUNT, .offset = packed + D, .length = 1};
    query->ridge_per_count = ridge;
    query->ridge_constant = ridge;
}

/* Positive definite A = sum of x x' over a few records, b and n to match; or a gradient. */
static void fill_row(struct check_source *source, const dpf_query *query, float *row, int records)
{
    if (query->form == DPF_FORM_GRADIENT) {
        for (int i = 0; i < D; i++)
            row[i] = (float)check_uniform(source, -2, 2);
        return;
    }
    for (int r = 0; r < records; r++) {
        double x[D], value = check_uniform(source, 1, 5);
        for (int i = 0; i < D; i++)
            x[i] = check_uniform(source, -1, 1);
        for (int i = 0; i < D; i++) {
            for (int j = 0; j <= i; j++)
                row[i * (i + 1) / 2 + j] += (float)(x[i] * x[j]);
            row[query->blocks[1].offset + i] += (float)(2 * value * x[i]);
        }
    }
    row[query->width - 1] = (float)records;
}

static struct solve_inputs *make_inputs(struct check *check, struct instance *instance, int form)
{
    struct check_source source = {check->seed};
    struct solve_inputs *in = check_keep(check, sizeof *in);
    if (!in || !(in->ridge = check_keep(check, D * sizeof(float))))
        return NULL;
    for (int i = 0; i < D; i++)
        in->ridge[i] = 0.05F;
    describe_query(&in->query, form, in->ridge);
    in->blocks_stride = (in->query.width + 15) / 16 * 16;
    in->blocks = check_keep(check, (size_t)(ROWS * in->blocks_stride) * sizeof(float));
    in->current = check_keep(check, ROWS * STRIDE * sizeof(float));
    in->degrees = check_keep(check, ROWS * sizeof(int32_t));
    if (!in->blocks || !in->current || !in->degrees)
        return NULL;
    for (int r = 0; r < ROWS; r++) {
        in->degrees[r] = D + r % 3;
        fill_row(&source, &in->query, in->blocks + r * in->blocks_stride, in->degrees[r]);
        for (int c = 0; c < COLUMNS; c++)
            in->current[r * STRIDE + c] = (float)check_uniform(&source, -0.2, 0.2);
    }
    const dpf_solver *solver = table(instance);
    in->state_width = solver->state_width ? solver->state_width(instance->self, D) : 0;
    if (in->state_width < 0 || in->state_width > MAX_STATE) {
        check_warn(check, "state_width is %d, the kit expects 0 to %d", (int)in->state_width, MAX_STATE);
        return NULL;
    }
    return in;
}

static dpf_status solve(const struct scenario *scenario, struct worker *worker, int64_t first, int64_t count,
                        struct row_output *out, int round)
{
    const struct solve_inputs *in = scenario->data;
    dpf_call *call = worker_call(worker, scenario->instance, round, (uint32_t)round, DPF_PARTY_AGGREGATE);
    dpf_status status = DPF_OK;
    /* The host's buffers are plain matrices: row by row copies keep the output free of gaps. */
    float *next = check_guarded((size_t)count * STRIDE * sizeof(float));
    float *state = check_guarded((size_t)(count * MAX_STATE) * sizeof(float));
    if (!next || !state)
        status = DPF_E_MEMORY;
    else {
        memset(state, 0, (size_t)(count * MAX_STATE) * sizeof(float));
        memcpy(next, in->current + first * STRIDE, (size_t)count * STRIDE * sizeof(float));
        dpf_solve batch = {.size = sizeof batch,
                           .side = DPF_SIDE_ITEMS,
                           .n_rounds = N_ROUNDS,
                           .state_width = in->state_width,
                           .n_rows = count,
                           .first_row = first,
                           .query = &in->query,
                           .blocks = in->blocks + first * in->blocks_stride,
                           .blocks_stride = in->blocks_stride,
                           .degrees = in->degrees + first,
                           .current = in->current + first * STRIDE,
                           .current_stride = STRIDE,
                           .next = next,
                           .next_stride = STRIDE,
                           .state = in->state_width ? state : NULL,
                           .gram_query = &in->query};
        status = table(scenario->instance)->solve(scenario->instance->self, call, &batch);
        for (int64_t r = 0; r < count; r++) {
            memcpy(out[r].next, next + r * STRIDE, sizeof out[r].next);
            memset(out[r].state, 0, sizeof out[r].state);
            memcpy(out[r].state, state + r * in->state_width, (size_t)in->state_width * sizeof(float));
        }
        if (!check_guards_hold(next) || !check_guards_hold(state))
            memset((void *)(out + count), 0, 1); /* breaks the guard of the caller, who reports it */
    }
    check_guarded_free(next);
    check_guarded_free(state);
    return status;
}

static dpf_status run_solve(const struct scenario *scenario, struct worker *worker, int64_t first,
                            int64_t count, void *out)
{
    return solve(scenario, worker, first, count, out, 0);
}

static void poison_blocks(const struct scenario *scenario, double value)
{
    struct solve_inputs *in = scenario->data;
    in->blocks[0] = (float)value;
}

static int finite_rows(const struct scenario *scenario, const void *out)
{
    const struct row_output *rows = out;
    for (int64_t r = 0; r < scenario->n; r++)
        if (!check_finite_f(rows[r].next, STRIDE))
            return 0;
    return 1;
}

int check_solver_scenario(struct check *check, int index, struct scenario *out)
{
    static const struct {
        uint32_t flag;
        int form;
        const char *name;
    } forms[] = {{DPF_SOLVER_GRADIENT, DPF_FORM_GRADIENT, "solve (gradient)"},
                 {DPF_SOLVER_QUADRATIC, DPF_FORM_QUADRATIC, "solve (quadratic)"}};
    if (index >= 2)
        return 0;
    struct instance *instance = check_instance(check);
    if (!instance || !(table(instance)->flags & forms[index].flag))
        return -1;
    *out = (struct scenario){.n = ROWS,
                             .unit_bytes = sizeof(struct row_output),
                             .strict = 1,
                             .instance = instance,
                             .run = run_solve,
                             .poison = poison_blocks,
                             .finite = finite_rows};
    memcpy(out->name, forms[index].name, strlen(forms[index].name));
    out->data = make_inputs(check, instance, forms[index].form);
    return out->data ? 1 : -1;
}

/* ---- what holds for the rows ---- */

static void look_at_rows(struct check *check, const struct scenario *scenario, const struct row_output *rows)
{
    const struct solve_inputs *in = scenario->data;
    const dpf_solver *solver = table(scenario->instance);
    double radius = solver->radius ? solver->radius(scenario->instance->self) : (double)INFINITY;
    if (isnan(radius) || radius < 0)
        check_fail(check, "radius is %g", radius);
    for (int r = 0; r < ROWS; r++) {
        double norm = 0;
        for (int c = 0; c < STRIDE; c++) {
            int unknown = c >= FIRST && c < FIRST + D;
            if (!unknown && memcmp(&rows[r].next[c], &in->current[r * STRIDE + c], sizeof(float)) != 0)
                check_fail(check, "%s writes column %d, which is not among the unknowns", scenario->name, c);
            if (unknown)
                norm += (double)rows[r].next[c] * (double)rows[r].next[c];
        }
        if (!isfinite(norm))
            check_fail(check, "%s returns a row that is not finite", scenario->name);
        else if (sqrt(norm) > radius * (1 + 1e-5))
            check_fail(check, "%s returns a row of norm %g, but the declared radius is %g", scenario->name,
                       sqrt(norm), radius);
    }
}

static void rule_rows(struct check *check)
{
    struct worker *worker = worker_new(0, 1);
    struct row_output *rows = check_keep(check, ROWS * sizeof *rows);
    int ran = 0;
    for (int index = 0; index < 2 && worker && rows; index++) {
        struct scenario scenario;
        if (check_solver_scenario(check, index, &scenario) != 1)
            continue;
        for (int round = 0; round < N_ROUNDS; round++) {
            struct dpf_error failed = {0};
            dpf_status status = solve(&scenario, worker, 0, ROWS, rows, round);
            if (instance_result(scenario.instance, status, scenario.name, &failed) != 0) {
                check_warn(check, "does not run on the kit's inputs: %.400s", failed.text);
                continue;
            }
            ran = 1;
            look_at_rows(check, &scenario, rows);
        }
    }
    worker_free(worker);
    if (!ran)
        check_skip(check, "none of the kit's inputs fit");
}

static const struct check_rule rules[] = {
    {"solver.rows", DPF_ROLE_SOLVER, rule_rows, "rows are finite and within the radius; other columns stay"},
};
const struct check_rules check_solver_rules = CHECK_RULES(rules);
