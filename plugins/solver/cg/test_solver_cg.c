/* SPDX-License-Identifier: Apache-2.0 */
#include "solver_check.h"

static const int32_t orders[] = {1, 2, 3, 15, 16, 17, 33, 64, 100, 130};

static const dpf_component *cg(void)
{
    return plain_component("cg", DPF_ROLE_SOLVER, "cg");
}

/* The operator as a host would give it, with the promises of role/solver.h checked. */
static dpf_status product(void *context, int64_t first, int64_t count, const float *x, int64_t x_stride,
                          float *out, int64_t out_stride)
{
    const struct systems *s = context;
    const int64_t d = s->d;
    assert_true(first >= 0);
    assert_true(count > 0);
    assert_true(first + count <= SYSTEMS);
    assert_true(x_stride % 16 == 0);
    assert_true(out_stride % 16 == 0);
    assert_true(x_stride >= d);
    assert_true(out_stride >= d);
    assert_true((uintptr_t)x % 64 == 0);
    assert_true((uintptr_t)out % 64 == 0);
    for (int64_t r = 0; r < count; r++, x += x_stride, out += out_stride) {
        for (int64_t i = d; i < x_stride; i++)
            assert_true(x[i] == 0);
        memset(out, 0, (size_t)out_stride * sizeof(float));
        for (int64_t i = 0; i < d; i++) {
            double sum = 0;
            for (int64_t j = 0; j < d; j++)
                sum += s->records[first + r][i * d + j] * x[j];
            out[i] = (float)sum;
        }
    }
    return DPF_OK;
}

static void systems_for_cg(struct systems *s, int64_t d, uint32_t layout)
{
    systems_new(s, d, layout);
    if (layout == DPF_LAYOUT_OPERATOR) {
        s->batch.product = product;
        s->batch.product_context = s;
    }
}

static void check_residuals(const char *settings)
{
    const uint32_t layouts[4] = {DPF_LAYOUT_PACKED, DPF_LAYOUT_FULL, DPF_LAYOUT_LOWER, DPF_LAYOUT_OPERATOR};
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        for (int l = 0; l < 4; l++) {
            struct plain_host host;
            struct systems s;
            plain_open(&host, cg(), settings);
            const dpf_solver *solver = host.component->functions;
            systems_for_cg(&s, orders[i], layouts[l]);
            if (solver->solve(host.self, plain_call(&host), &s.batch) != DPF_OK)
                fail_msg("d %d: %s", (int)orders[i], host.report);
            systems_check(&s, 1e-5);
            for (int64_t j = 0; j < s.d; j++)
                assert_true(s.rows[3 * s.stride + 1 + j] == 0); /* no right side: 0, not the start */
            systems_free(&s);
            plain_close(&host);
        }
    }
}

TEST(test_converges)
{
    check_residuals("steps=1000; tolerance=3e-7");
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
        systems_for_cg(&s, 40, form ? DPF_LAYOUT_OPERATOR : DPF_LAYOUT_LOWER);
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
        /* The second half of the rows alone: the same bytes. */
        dpf_solve part = s.batch;
        float *again = malloc((size_t)(SYSTEMS * s.stride) * sizeof(float));
        assert_non_null(again);
        memcpy(again, before, (size_t)(SYSTEMS * s.stride) * sizeof(float));
        if (!form) {
            part.n_rows = 2;
            part.blocks += 5 * part.blocks_stride;
            part.current = again + 5 * s.stride;
            part.next = again + 5 * s.stride;
            assert_int_equal(solver->solve(host.self, plain_call(&host), &part), DPF_OK);
            assert_memory_equal(again + 5 * s.stride, whole + 5 * s.stride, (size_t)(2 * s.stride) * 4);
        } else { /* a batch of the first three rows */
            part.n_rows = 3;
            part.current = again;
            part.next = again;
            assert_int_equal(solver->solve(host.self, plain_call(&host), &part), DPF_OK);
            assert_memory_equal(again, whole, (size_t)(3 * s.stride) * 4);
        }
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

TEST(test_failures)
{
    struct plain_host host;
    struct systems s;
    plain_open(&host, cg(), "");
    const dpf_solver *solver = host.component->functions;
    systems_for_cg(&s, 20, DPF_LAYOUT_PACKED);
    s.blocks[4 * s.batch.blocks_stride + dpf_packed_length(20) - 1] = -1e6f;
    assert_int_equal(solver->solve(host.self, plain_call(&host), &s.batch), DPF_E_NUMERIC);
    assert_non_null(strstr(host.report, "item row 104"));
    systems_free(&s);
    systems_for_cg(&s, 20, DPF_LAYOUT_OPERATOR);
    s.batch.product = failing_product;
    assert_int_equal(solver->solve(host.self, plain_call(&host), &s.batch), DPF_E_CANCELLED);
    systems_free(&s);
    plain_close(&host);
    plain_check_memory(cg(), "");
}
