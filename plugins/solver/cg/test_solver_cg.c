/* SPDX-License-Identifier: Apache-2.0 */
/* Steps are the textbook's. What cg has in common with other solvers: ../normal/test_solver_quadratics.c. */
#include "solver_fixture.h"

static const dpf_component *cg(void)
{
    return plain_component("cg", DPF_ROLE_SOLVER, "cg");
}

/* Float64 conjugate gradients, as in any textbook, for as many steps. */
static void reference(const struct systems *s, int64_t row, int64_t steps, double *x)
{
    const int64_t d = s->d;
    double r[64], p[64], ap[64], rr = 0;
    assert_true(d <= 64);
    for (int64_t i = 0; i < d; i++) {
        r[i] = s->rhs[row * d + i];
        for (int64_t j = 0; j < d; j++)
            r[i] -= s->a[row][i * d + j] * x[j];
        p[i] = r[i];
        rr += r[i] * r[i];
    }
    for (int64_t step = 0; step < steps && rr > 0; step++) {
        double curvature = 0, after = 0;
        for (int64_t i = 0; i < d; i++) {
            ap[i] = 0;
            for (int64_t j = 0; j < d; j++)
                ap[i] += s->a[row][i * d + j] * p[j];
            curvature += p[i] * ap[i];
        }
        for (int64_t i = 0; i < d; i++) {
            x[i] += rr / curvature * p[i];
            r[i] -= rr / curvature * ap[i];
            after += r[i] * r[i];
        }
        for (int64_t i = 0; i < d; i++)
            p[i] = r[i] + after / rr * p[i];
        rr = after;
    }
}

/* Three steps from a warm start are the textbook's three, in both forms, for any batch. */
TEST(test_three_steps)
{
    for (int form = 0; form < 2; form++) {
        struct plain_host host;
        struct systems s;
        plain_open(&host, cg(), "tolerance=0");
        const dpf_solver *solver = host.component->functions;
        systems_new(&s, 40, form ? DPF_LAYOUT_OPERATOR : DPF_LAYOUT_LOWER);
        for (int64_t i = 0; i < SYSTEMS * s.stride; i++)
            s.rows[i] = (float)(2 * solver_uniform() - 1);
        float *before = malloc((size_t)(SYSTEMS * s.stride) * sizeof(float)), *whole = s.rows;
        assert_non_null(before);
        memcpy(before, s.rows, (size_t)(SYSTEMS * s.stride) * sizeof(float));
        assert_int_equal(solver->solve(host.self, plain_call(&host), &s.batch), DPF_OK);
        for (int64_t r = 0; r < SYSTEMS; r++) {
            double x[64];
            for (int64_t i = 0; i < s.d; i++)
                x[i] = r == 3 ? 0 : before[r * s.stride + 1 + i];
            reference(&s, r, 3, x);
            for (int64_t i = 0; i < s.d; i++)
                assert_true(fabs(x[i] - whole[r * s.stride + 1 + i]) < 2e-4);
        }
        /* A batch of the first three rows alone: the same bytes. */
        dpf_solve part = s.batch;
        float *again = malloc((size_t)(SYSTEMS * s.stride) * sizeof(float));
        assert_non_null(again);
        memcpy(again, before, (size_t)(SYSTEMS * s.stride) * sizeof(float));
        part.n_rows = 3;
        part.current = part.next = again;
        assert_int_equal(solver->solve(host.self, plain_call(&host), &part), DPF_OK);
        assert_memory_equal(again, whole, (size_t)(3 * s.stride) * 4);
        free(again);
        free(before);
        systems_free(&s);
        plain_close(&host);
    }
}

static dpf_status failing_product(void *context, int64_t first, int64_t count, const float *x,
                                  int64_t x_stride, float *out, int64_t out_stride)
{
    (void)context;
    (void)first;
    (void)count;
    (void)x;
    (void)x_stride;
    (void)out;
    (void)out_stride;
    return DPF_E_CANCELLED;
}

TEST(a_failing_product_ends_it)
{
    struct plain_host host;
    struct systems s;
    plain_open(&host, cg(), "");
    const dpf_solver *solver = host.component->functions;
    systems_new(&s, 20, DPF_LAYOUT_OPERATOR);
    s.batch.product = failing_product;
    assert_int_equal(solver->solve(host.self, plain_call(&host), &s.batch), DPF_E_CANCELLED);
    systems_free(&s);
    plain_close(&host);
}
