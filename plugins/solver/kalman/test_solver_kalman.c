/* SPDX-License-Identifier: Apache-2.0 */
/* Without noise it is one of ../normal/test_solver_quadratics.c; with noise against the precision form of the same
   posterior, and by what it is for: less error than the minimiser that does not know the noise. */
#include "solver_fixture.h"

static const dpf_component *kalman(void)
{
    return plain_component("kalman", DPF_ROLE_SOLVER, "kalman");
}

/* ---- one unknown and two, by hand -----------------------------------------------------------------------
 */

struct small {
    dpf_query query;
    float ridge[4], row[6], next[16], state[64];
    double noise[6];
    dpf_solve batch;
};

static void small_new(struct small *k, struct plain_host *host)
{
    memset(k, 0, sizeof *k);
    k->query = (dpf_query){
        .size = sizeof k->query, .form = DPF_FORM_QUADRATIC, .dimension = 2, .width = 6, .n_blocks = 3};
    k->query.blocks[0] = (dpf_block){DPF_BLOCK_QUADRATIC, DPF_LAYOUT_PACKED, 0, 3, 0, {0}};
    k->query.blocks[1] = (dpf_block){DPF_BLOCK_LINEAR, 0, 3, 2, 0, {0}};
    k->query.blocks[2] = (dpf_block){DPF_BLOCK_COUNT, 0, 5, 1, 0, {0}};
    k->query.ridge_constant = k->ridge;
    const dpf_solver *solver = host->component->functions;
    k->batch = (dpf_solve){.size = sizeof k->batch,
                           .n_rounds = 2,
                           .state_width = solver->state_width(host->self, 2),
                           .n_rows = 1,
                           .query = &k->query,
                           .blocks = k->row,
                           .blocks_stride = 16,
                           .current = k->next,
                           .current_stride = 16,
                           .next = k->next,
                           .next_stride = 16,
                           .state = k->state,
                           .noise_variance = k->noise};
    assert_true(k->batch.state_width <= 64);
}

static dpf_status small_solve(struct small *k, struct plain_host *host, int32_t round)
{
    const dpf_solver *solver = host->component->functions;
    dpf_call *call = (dpf_call *)(uintptr_t)plain_call(host);
    call->round = round;
    plain_clear(host);
    return solver->solve(host->self, call, &k->batch);
}

/* (P^-1 + A R^-1 A)^-1 A R^-1 c with R = v A + V, for a diagonal A: each unknown by itself. */
TEST(test_posterior_of_each_unknown)
{
    struct plain_host host;
    struct small k;
    plain_open(&host, kalman(), "residual-variance=0.5");
    small_new(&k, &host);
    const double a[2] = {4, 0.25}, c[2] = {3, -1}, ridge[2] = {2, 0.1}, noise = 6, of_matrix = 0.3;
    const double p[2] = {0.5 / 2, 0.5 / 0.1};
    for (int i = 0; i < 2; i++) {
        k.ridge[i] = (float)ridge[i];
        k.row[i ? 2 : 0] = (float)a[i];
        k.row[3 + i] = (float)(2 * c[i]);
        k.noise[3 + i] = 4 * noise;
    }
    for (int i = 0; i < 3; i++)
        k.noise[i] = of_matrix;
    assert_int_equal(small_solve(&k, &host, 0), DPF_OK);
    for (int i = 0; i < 2; i++) {
        const double r = 0.5 * a[i] + noise + of_matrix * (p[0] + p[1]);
        const double mean = (a[i] * c[i] / r) / (1 / p[i] + a[i] * a[i] / r);
        assert_true(fabs((double)k.next[i] - mean) < 1e-6 * fabs(mean));
    }
    plain_close(&host);
}

/* Two rounds of equal weight are one with their mean and half the noise. */
TEST(test_rounds_average_out)
{
    struct plain_host host, once;
    struct small two, one;
    plain_open(&host, kalman(), "forget=1");
    plain_open(&once, kalman(), "");
    small_new(&two, &host);
    small_new(&one, &once);
    const float rows[2][6] = {{3, 1, 2, 4, -2, 5}, {5, -1, 4, 0, 6, 5}};
    for (int i = 0; i < 2; i++)
        two.ridge[i] = one.ridge[i] = 1;
    for (int i = 0; i < 6; i++) {
        two.noise[i] = 3;
        one.noise[i] = 1.5;
        one.row[i] = (rows[0][i] + rows[1][i]) / 2;
    }
    for (int round = 0; round < 2; round++) {
        memcpy(two.row, rows[round], sizeof rows[round]);
        assert_int_equal(small_solve(&two, &host, round), DPF_OK);
    }
    assert_int_equal(small_solve(&one, &once, 0), DPF_OK);
    for (int i = 0; i < 2; i++)
        assert_true(fabsf(two.next[i] - one.next[i]) < 1e-6F);
    plain_close(&host);
    plain_close(&once);
}

TEST(test_unknown_noise_is_refused)
{
    struct plain_host host;
    struct small k;
    plain_open(&host, kalman(), "");
    small_new(&k, &host);
    k.ridge[0] = k.ridge[1] = 1;
    k.noise[4] = NAN;
    assert_int_equal(small_solve(&k, &host, 0), DPF_E_UNSUPPORTED);
    assert_non_null(strstr(host.report, "variance of the noise is not known"));
    k.noise[4] = 1;
    k.ridge[1] = 0;
    assert_int_equal(small_solve(&k, &host, 0), DPF_E_NUMERIC);
    assert_non_null(strstr(host.report, "needs regularisation"));
    plain_close(&host);
}

static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += solver_uniform();
    return sum;
}

/* Rows from the prior, ratings about them, noise: the mean squared error is the least there is, below that of
   the minimiser, and below that of a solver that is told a tenth or ten times the noise. */
TEST(test_it_errs_least)
{
    struct plain_host host;
    struct small k;
    static const double told[4] = {1, 0.1, 10, 0};
    double error[4] = {0};
    plain_open(&host, kalman(), "residual-variance=0.5");
    small_new(&k, &host);
    k.ridge[0] = k.ridge[1] = 0.25F; /* P = 2 */
    const double a00 = 3, a01 = 1, a11 = 2, noise = 8;
    for (int trial = 0; trial < 20000; trial++) {
        const double q[2] = {sqrt(2.0) * normal(), sqrt(2.0) * normal()}, u = normal(), v = normal();
        const double l00 = sqrt(a00), l10 = a01 / l00, l11 = sqrt(a11 - l10 * l10), s = sqrt(0.5);
        const double c[2] = {a00 * q[0] + a01 * q[1] + s * l00 * u + sqrt(noise) * normal(),
                             a01 * q[0] + a11 * q[1] + s * (l10 * u + l11 * v) + sqrt(noise) * normal()};
        for (int t = 0; t < 4; t++) {
            k.row[0] = (float)a00;
            k.row[1] = (float)a01;
            k.row[2] = (float)a11;
            for (int i = 0; i < 2; i++) {
                k.row[3 + i] = (float)(2 * c[i]);
                k.noise[3 + i] = 4 * noise * told[t];
            }
            memset(k.state, 0, sizeof k.state);
            assert_int_equal(small_solve(&k, &host, 0), DPF_OK);
            for (int i = 0; i < 2; i++)
                error[t] += ((double)k.next[i] - q[i]) * ((double)k.next[i] - q[i]);
        }
    }
    assert_true(error[0] < 0.97 * error[1]);
    assert_true(error[0] < 0.97 * error[2]);
    assert_true(error[0] < 0.9 * error[3]);
    plain_close(&host);
}
