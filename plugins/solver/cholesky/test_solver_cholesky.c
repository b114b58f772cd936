/* SPDX-License-Identifier: Apache-2.0 */
/* What cholesky alone does. What it has in common with other solvers: ../normal/test_solver_quadratics.c. */
#include "solver_fixture.h"

static const dpf_component *cholesky(void)
{
    return plain_component("cholesky", DPF_ROLE_SOLVER, "cholesky");
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

TEST(indefinite_rows_are_sent_to_ball)
{
    struct plain_host host;
    struct systems s;
    plain_open(&host, cholesky(), "");
    const dpf_solver *solver = host.component->functions;
    systems_new(&s, 20, DPF_LAYOUT_PACKED);
    s.blocks[4 * s.batch.blocks_stride + dpf_packed_length(20) - 1] = -1e4f;
    assert_int_equal(solver->solve(host.self, plain_call(&host), &s.batch), DPF_E_NUMERIC);
    assert_non_null(strstr(host.report, "ball"));
    systems_free(&s);
    plain_close(&host);
}
