/* SPDX-License-Identifier: Apache-2.0 */
#include "solver_check.h"

static const uint32_t layouts[3] = {DPF_LAYOUT_PACKED, DPF_LAYOUT_FULL, DPF_LAYOUT_LOWER};
static const int32_t orders[] = {1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100, 130};

static const dpf_component *cholesky(void)
{
    return plain_component("cholesky", DPF_ROLE_SOLVER, "cholesky");
}

static void check_residuals(const char *settings, double tolerance)
{
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        for (int l = 0; l < 3; l++) {
            struct plain_host host;
            struct systems s;
            plain_open(&host, cholesky(), settings);
            const dpf_solver *solver = host.component->functions;
            systems_new(&s, orders[i], layouts[l]);
            if (solver->solve(host.self, plain_call(&host), &s.batch) != DPF_OK)
                fail_msg("d %d: %s", (int)orders[i], host.report);
            systems_check(&s, tolerance);
            systems_free(&s);
            plain_close(&host);
        }
    }
}

TEST(test_residuals)
{
    check_residuals("", 3e-6);
}

TEST(test_residuals_refined)
{
    check_residuals("refine=1", 5e-7);
}

/* A row's bytes must not depend on the batch it is in. */
TEST(test_batches)
{
    struct plain_host host;
    struct systems s;
    plain_open(&host, cholesky(), "");
    const dpf_solver *solver = host.component->functions;
    systems_new(&s, 37, DPF_LAYOUT_LOWER);
    assert_int_equal(solver->solve(host.self, plain_call(&host), &s.batch), DPF_OK);
    float *whole = malloc((size_t)(SYSTEMS * s.stride) * sizeof(float));
    assert_non_null(whole);
    memcpy(whole, s.rows, (size_t)(SYSTEMS * s.stride) * sizeof(float));
    for (int64_t r = 0; r < SYSTEMS; r++) {
        dpf_solve one = s.batch;
        one.n_rows = 1;
        one.blocks += r * one.blocks_stride;
        one.next += r * one.next_stride;
        one.current = one.next;
        for (int64_t i = 0; i < s.d; i++)
            one.next[1 + i] = 5;
        assert_int_equal(solver->solve(host.self, plain_call(&host), &one), DPF_OK);
    }
    assert_memory_equal(whole, s.rows, (size_t)(SYSTEMS * s.stride) * sizeof(float));
    free(whole);
    systems_free(&s);
    plain_close(&host);
}

/* An item without records whose bias alone is regularised: its factors are 0, not an error. */
TEST(test_untouched_unknowns)
{
    struct plain_host host;
    struct systems s;
    plain_open(&host, cholesky(), "");
    const dpf_solver *solver = host.component->functions;
    systems_new(&s, 20, DPF_LAYOUT_PACKED);
    float *packed = s.blocks;
    for (int32_t i = 0; i < 20; i++)
        for (int32_t j = 0; j <= i; j++)
            packed[i * (i + 1) / 2 + j] = i == 19 && j == 19 ? 5.0f : 0.0f;
    float *linear = packed + s.query.blocks[1].offset;
    for (int32_t i = 0; i < 19; i++)
        linear[i] = 0;
    linear[19] = 30;
    s.batch.gram = NULL;
    s.batch.n_rows = 1;
    dpf_query query = s.query;
    query.ridge_constant = NULL;
    s.batch.query = &query;
    query.ridge_per_count = NULL;
    assert_int_equal(solver->solve(host.self, plain_call(&host), &s.batch), DPF_OK);
    const float *row = s.batch.next + query.first;
    for (int32_t i = 0; i < 19; i++)
        assert_true(row[i] == 0.0f);
    assert_float_equal(row[19], 3.0, 1e-5); /* 5 x = 30 / 2 */
    systems_free(&s);
    plain_close(&host);
}

TEST(test_not_positive_definite)
{
    struct plain_host host;
    struct systems s;
    plain_open(&host, cholesky(), "");
    const dpf_solver *solver = host.component->functions;
    systems_new(&s, 20, DPF_LAYOUT_PACKED);
    s.blocks[4 * s.batch.blocks_stride + dpf_packed_length(20) - 1] = -1e4f;
    assert_int_equal(solver->solve(host.self, plain_call(&host), &s.batch), DPF_E_NUMERIC);
    assert_non_null(strstr(host.report, "item row 104"));
    assert_non_null(strstr(host.report, "ball"));
    plain_clear(&host);
    s.blocks[4 * s.batch.blocks_stride + dpf_packed_length(20) - 1] = NAN;
    assert_int_equal(solver->solve(host.self, plain_call(&host), &s.batch), DPF_E_NUMERIC);
    systems_free(&s);
    plain_close(&host);
}

/* A row of which nothing is known and nothing is asked becomes 0; a gradient query is refused. */
TEST(test_void_row_and_gradient)
{
    struct plain_host host;
    struct systems s;
    plain_open(&host, cholesky(), "");
    const dpf_solver *solver = host.component->functions;
    systems_new(&s, 18, DPF_LAYOUT_LOWER);
    s.query.ridge_constant = s.query.ridge_per_count = NULL;
    s.batch.gram = NULL;
    s.batch.n_rows = 1; /* row 0 has no records */
    for (int64_t i = 0; i < s.d; i++)
        s.blocks[s.query.blocks[1].offset + i] = 0;
    assert_int_equal(solver->solve(host.self, plain_call(&host), &s.batch), DPF_OK);
    for (int64_t i = 0; i < s.d; i++)
        assert_true(s.rows[1 + i] == 0);
    s.query.form = DPF_FORM_GRADIENT;
    assert_int_equal(solver->solve(host.self, plain_call(&host), &s.batch), DPF_E_UNSUPPORTED);
    systems_free(&s);
    plain_close(&host);
    plain_check_memory(cholesky(), "");
}
