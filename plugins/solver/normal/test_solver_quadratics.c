/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every solver of quadratics keeps to, as a table of solvers and settings: solutions against residuals in all
 * layouts, columns that are not theirs left alone, rows that do not depend on their batch, and what is refused.
 */
#include "sanitized.h"
#include "solver_fixture.h"

enum { DEFINITE = 1, RIDGE = 2, REACHABLE = 4, OPERATOR = 8 };

static const struct solver {
    const char *id, *settings;
    double tolerance;
    int most; /* unknowns */
    int needs; /* definite matrices; a ridge; linear parts that a row could have made; or it takes products, too */
} solvers[] = {
    {"cholesky", "", 3e-6, 130, DEFINITE},
    {"cg", "steps=1000; tolerance=3e-7", 1e-5, 130, DEFINITE | OPERATOR},
    {"psd", "", 2e-7, 100, 0}, /* what rounding a solution to float32 leaves */
    {"kalman", "residual-variance=0.7", 2e-6, 33, RIDGE | REACHABLE}, /* A is kept in float32 */
};
#define SOLVERS (sizeof solvers / sizeof solvers[0])

static const uint32_t layouts[4] = {DPF_LAYOUT_PACKED, DPF_LAYOUT_FULL, DPF_LAYOUT_LOWER,
                                    DPF_LAYOUT_OPERATOR};

struct setting {
    const struct solver *solver;
    struct plain_host host;
    struct systems s;
};

static void open_solver(struct setting *t, const struct solver *solver)
{
    t->solver = solver;
    plain_open(&t->host, plain_component(solver->id, DPF_ROLE_SOLVER, solver->id), solver->settings);
}

static void open_systems(struct setting *t, int32_t d, uint32_t layout)
{
    struct systems *s = &t->s;
    const dpf_solver *functions = t->host.component->functions;
    systems_new(s, d, layout);
    if (t->solver->needs & REACHABLE) { /* c = A q, from the prior's mean of 0 */
        for (int64_t r = 0; r < SYSTEMS; r++)
            for (int64_t i = 0; i < d; i++)
                s->blocks[r * s->batch.blocks_stride + s->query.blocks[1].offset + i] =
                    (float)(2 * s->rhs[r * d + i]);
        for (int64_t k = 0; k < SYSTEMS * s->stride; k++)
            s->rows[k] = k % s->stride >= 1 && k % s->stride <= d ? 0 : 9;
    }
    s->batch.state_width = functions->state_width ? functions->state_width(t->host.self, d) : 0;
    if (s->batch.state_width > 0) {
        s->batch.state = calloc((size_t)(SYSTEMS * s->batch.state_width), sizeof(float));
        assert_non_null(s->batch.state);
    }
}

static void close_systems(struct setting *t)
{
    free(t->s.batch.state);
    systems_free(&t->s);
}

static dpf_status solve(struct setting *t, const dpf_solve *batch)
{
    const dpf_solver *functions = t->host.component->functions;
    plain_clear(&t->host);
    return functions->solve(t->host.self, plain_call(&t->host), batch);
}

static int takes(const struct solver *solver, uint32_t layout)
{
    return layout != DPF_LAYOUT_OPERATOR || (solver->needs & OPERATOR);
}

TEST(solutions_have_small_residuals)
{
    static const int32_t orders[] = {1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100, 130};
    struct setting t;
    int64_t solved = 0;
    for (size_t k = 0; k < SOLVERS; k++) {
        open_solver(&t, &solvers[k]);
        for (size_t i = 0; i < sizeof orders / sizeof orders[0] && orders[i] <= CASES(solvers[k].most, 65);
             i++)
            for (int l = 0; l < 4; l++) {
                if (!takes(&solvers[k], layouts[l]))
                    continue;
                open_systems(&t, orders[i], layouts[l]);
                if (solve(&t, &t.s.batch) != DPF_OK)
                    fail_msg("%s, %s, d %d: %s", solvers[k].id, solvers[k].settings, (int)orders[i],
                             t.host.report);
                systems_check(&t.s, solvers[k].tolerance);
                for (int64_t j = 0; j < t.s.d; j++) /* no right side: 0, not the start */
                    assert_true(t.s.rows[3 * t.s.stride + 1 + j] == 0);
                close_systems(&t);
                solved++;
            }
        plain_close(&t.host);
    }
    assert_true(solved >= CASES(3 * 3 * 15, 3 * 3 * 12));
}

/* A row alone, or the first of two, has the bytes that it has among all; an operator's rows have their numbers. */
TEST(rows_do_not_depend_on_their_batch)
{
    struct setting t;
    for (size_t k = 0; k < SOLVERS; k++) {
        open_solver(&t, &solvers[k]);
        for (int l = 0; l < 3; l++)
            for (int size = 1; size <= 2; size++) {
                open_systems(&t, 31, layouts[l]);
                struct systems *s = &t.s;
                const size_t bytes = (size_t)(SYSTEMS * s->stride) * sizeof(float);
                float *start = malloc(bytes), *whole = malloc(bytes);
                assert_true(start && whole);
                memcpy(start, s->rows, bytes);
                assert_int_equal(solve(&t, &s->batch), DPF_OK);
                memcpy(whole, s->rows, bytes);
                memcpy(s->rows, start, bytes);
                if (s->batch.state)
                    memset(s->batch.state, 0, (size_t)(SYSTEMS * s->batch.state_width) * sizeof(float));
                for (int64_t r = 0; r < SYSTEMS; r += size) {
                    dpf_solve part = s->batch;
                    part.n_rows = r + size <= SYSTEMS ? size : 1;
                    part.first_row += r;
                    part.blocks += r * part.blocks_stride;
                    part.next += r * part.next_stride;
                    part.current = part.next;
                    if (part.state)
                        part.state += r * part.state_width;
                    assert_int_equal(solve(&t, &part), DPF_OK);
                }
                if (memcmp(whole, s->rows, bytes) != 0)
                    fail_msg("%s, %s, layout %d: rows depend on batches of %d", solvers[k].id,
                             solvers[k].settings, l, size);
                free(start);
                free(whole);
                close_systems(&t);
            }
        plain_close(&t.host);
    }
}

/* Of a row without records, a Gram row or a ridge nothing is known, and nothing is asked. */
TEST(a_void_row_is_zero_or_asks_for_a_ridge)
{
    struct setting t;
    for (size_t k = 0; k < SOLVERS; k++) {
        open_solver(&t, &solvers[k]);
        open_systems(&t, 18, DPF_LAYOUT_PACKED);
        struct systems *s = &t.s;
        s->query.ridge_constant = s->query.ridge_per_count = NULL;
        s->batch.gram = NULL;
        s->batch.n_rows = 1; /* row 0 has no records */
        for (int64_t i = 0; i < s->d; i++)
            s->blocks[s->query.blocks[1].offset + i] = 0;
        if (solvers[k].needs & RIDGE) {
            assert_int_equal(solve(&t, &s->batch), DPF_E_NUMERIC);
            assert_non_null(strstr(t.host.report, "regularisation"));
        } else {
            assert_int_equal(solve(&t, &s->batch), DPF_OK);
            for (int64_t i = 0; i < s->d; i++)
                assert_true(s->rows[1 + i] == 0);
        }
        close_systems(&t);
        plain_close(&t.host);
    }
}

/* Gradients; what is no number; and what a definite matrix is not, of which the row is named. */
TEST(what_has_no_solution_is_refused)
{
    struct setting t;
    for (size_t k = 0; k < SOLVERS; k++) {
        open_solver(&t, &solvers[k]);
        open_systems(&t, 20, DPF_LAYOUT_PACKED);
        struct systems *s = &t.s;
        float *last = &s->blocks[4 * s->batch.blocks_stride + dpf_packed_length(20) - 1];
        float *linear = &s->blocks[4 * s->batch.blocks_stride + s->query.blocks[1].offset];
        const float was = *last, pull = *linear;
        if (solvers[k].needs & DEFINITE) {
            *last = -1e6f;
            assert_int_equal(solve(&t, &s->batch), DPF_E_NUMERIC);
            assert_non_null(strstr(t.host.report, "item row 104"));
        }
        *last = NAN;
        assert_int_equal(solve(&t, &s->batch), DPF_E_NUMERIC);
        *last = was;
        *linear = INFINITY;
        assert_int_equal(solve(&t, &s->batch), DPF_E_NUMERIC);
        *linear = pull;
        s->query.form = DPF_FORM_GRADIENT;
        assert_int_equal(solve(&t, &s->batch), DPF_E_UNSUPPORTED);
        close_systems(&t);
        plain_close(&t.host);
    }
}

TEST(memory_is_given_back_and_asked_for_in_words)
{
    for (size_t k = 0; k < SOLVERS; k++)
        plain_check_memory(plain_component(solvers[k].id, DPF_ROLE_SOLVER, solvers[k].id),
                           solvers[k].settings);
}
