/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indefinite systems against matrices whose eigenvectors the test chose. What psd has in common with other solvers:
 * ../normal/test_solver_quadratics.c.
 */
#include "solver_fixture.h"

#define MOST 40
#define STRIDE 64

static const dpf_component *psd(void)
{
    return plain_component("psd", DPF_ROLE_SOLVER, "psd");
}

/* ---- known spectra ------------------------------------------------------------------------------- */

struct known {
    int32_t d;
    double v[MOST][MOST]; /* rows are orthonormal */
    double values[MOST];
    double c[MOST];
    float row[MOST * MOST + MOST + 1];
    float next[STRIDE];
    dpf_query query;
    float constant[MOST], per_count[MOST];
};

/* v := v (I - 2 u u'), u a random unit vector. */
static void reflect_all(struct known *k)
{
    double u[MOST], sum = 0;
    for (int i = 0; i < k->d; i++) {
        u[i] = 2 * solver_uniform() - 1;
        sum += u[i] * u[i];
    }
    for (int r = 0; r < k->d; r++) {
        double inner = 0;
        for (int i = 0; i < k->d; i++)
            inner += k->v[r][i] * u[i];
        for (int i = 0; i < k->d; i++)
            k->v[r][i] -= 2 * inner * u[i] / sum;
    }
}

/* A = sum of values[r] v[r] v[r]', packed, with a linear part and a count. Eigenvalues: clusters, zeros, both
 * signs. */
static void known_new(struct known *k, int32_t d)
{
    memset(k, 0, sizeof(*k));
    k->d = d;
    for (int i = 0; i < d; i++) {
        k->v[i][i] = 1;
        k->values[i] = i % 5 == 4 ? 0 : i % 3 == 2 ? -1.5 : 4 * solver_uniform() - 2;
        k->c[i] = 2 * solver_uniform() - 1;
    }
    for (int i = 0; i < 4; i++)
        reflect_all(k);
    const int32_t packed = dpf_packed_length(d);
    k->query = (dpf_query){
        .size = sizeof(k->query), .form = DPF_FORM_QUADRATIC, .dimension = d, .width = packed + d + 1};
    k->query.n_blocks = 3;
    k->query.blocks[0] = (dpf_block){DPF_BLOCK_QUADRATIC, DPF_LAYOUT_PACKED, 0, packed, 0, {0}};
    k->query.blocks[1] = (dpf_block){DPF_BLOCK_LINEAR, 0, packed, d, 0, {0}};
    k->query.blocks[2] = (dpf_block){DPF_BLOCK_COUNT, 0, packed + d, 1, 0, {0}};
    for (int i = 0; i < d; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int r = 0; r < d; r++)
                sum += k->values[r] * k->v[r][i] * k->v[r][j];
            k->row[i * (i + 1) / 2 + j] = (float)sum;
        }
        k->row[packed + i] = (float)(2 * k->c[i]);
    }
    k->query.ridge_constant = k->constant;
    k->query.ridge_per_count = k->per_count;
}

static dpf_status known_solve(struct known *k, struct plain_host *host)
{
    const dpf_solve batch = {.size = sizeof(batch),
                             .n_rounds = 1,
                             .n_rows = 1,
                             .query = &k->query,
                             .blocks = k->row,
                             .blocks_stride = k->query.width,
                             .current = k->next,
                             .current_stride = STRIDE,
                             .next = k->next,
                             .next_stride = STRIDE};
    plain_clear(host);
    return ((const dpf_solver *)host->component->functions)->solve(host->self, plain_call(host), &batch);
}

/* x = sum of v v'c / (max(value, floor) + ridge). */
static void known_check(const struct known *k, double floor, double ridge)
{
    for (int i = 0; i < k->d; i++) {
        double x = 0, size = 0;
        for (int r = 0; r < k->d; r++) {
            double inner = 0;
            for (int j = 0; j < k->d; j++)
                inner += k->v[r][j] * k->c[j];
            const double part = inner * k->v[r][i] / (fmax(k->values[r], floor) + ridge);
            x += part;
            size += fabs(part);
        }
        if (!(fabs(x - (double)k->next[i]) <= 3e-6 * (1 + size) / fmin(1, floor + ridge)))
            fail_msg("d %d, unknown %d: %.9g, not %.9g", (int)k->d, i, (double)k->next[i], x);
    }
}

TEST(test_projection)
{
    static const int32_t orders[] = {1, 2, 3, 4, 5, 8, 17, 40};
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        for (int with_floor = 0; with_floor < 2; with_floor++) {
            struct plain_host host;
            struct known k;
            plain_open(&host, psd(), with_floor ? "floor=0.75" : "");
            known_new(&k, orders[i]);
            for (int32_t c = 0; c < k.d; c++)
                k.constant[c] = 0.5f;
            if (known_solve(&k, &host) != DPF_OK)
                fail_msg("d %d: %s", (int)orders[i], host.report);
            known_check(&k, with_floor ? 0.75 : 0, 0.5);
            plain_close(&host);
        }
    }
}

TEST(test_counts)
{
    struct plain_host host;
    struct known k;
    plain_open(&host, psd(), "");
    known_new(&k, 6);
    for (int32_t c = 0; c < k.d; c++) {
        k.constant[c] = 0.5f;
        k.per_count[c] = 0.25f;
    }
    float *count = &k.row[k.query.blocks[2].offset];
    *count = 4;
    assert_int_equal(known_solve(&k, &host), DPF_OK);
    known_check(&k, 0, 1.5);
    *count = -1000; /* noise */
    assert_int_equal(known_solve(&k, &host), DPF_OK);
    known_check(&k, 0, 0.5);
    plain_close(&host);
}

TEST(test_singular)
{
    struct plain_host host;
    struct known k;
    known_new(&k, 4); /* the third eigenvalue is negative: 0 when projected */
    plain_open(&host, psd(), "floor=0.5");
    assert_int_equal(known_solve(&k, &host), DPF_OK);
    known_check(&k, 0.5, 0);
    plain_close(&host);
    plain_open(&host, psd(), "");
    k.values[0] = k.values[1] = k.values[2] = k.values[3] = -1;
    for (int i = 0, at = 0; i < 4; i++)
        for (int j = 0; j <= i; j++)
            k.row[at++] = i == j ? -1.0f : 0.0f;
    assert_int_equal(known_solve(&k, &host), DPF_E_NUMERIC);
    assert_non_null(strstr(host.report, "floor"));
    for (int i = 0; i < 4; i++) /* nothing pulls: 0 */
        k.row[k.query.blocks[1].offset + i] = 0;
    assert_int_equal(known_solve(&k, &host), DPF_OK);
    for (int i = 0; i < 4; i++)
        assert_true(k.next[i] == 0.0f);
    plain_close(&host);
}
