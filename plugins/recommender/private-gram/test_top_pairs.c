/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices whose eigenvalues and eigenvectors are known: a diagonal, mirrored at a fixed vector u: H D H, H = 1 - 2 u u'. */
#include <math.h>

#include "eigenpairs.h"
#include "gram_fixture.h"
#include "tiled_cholesky.h"
#include "top_pairs.h"

#define M 1100
#define EDGE 1.02

static double u[M], spectrum[M];
static struct plain_host host;

/* Eigenvalues of noise, -1 to 1, and then the given ones. */
static void choose_spectrum(const double *above, int32_t n)
{
    double squares = 0;
    for (int32_t i = 0; i < M; i++) {
        u[i] = cos(1.0 + (double)i * i);
        squares += u[i] * u[i];
        spectrum[i] = i < n ? above[i] : cos(3.0 * (double)i);
    }
    for (int32_t i = 0; i < M; i++)
        u[i] /= sqrt(squares);
}

/* u_i' D u_j and so on: (H D H)_ij = d_i (i = j) - 2 u_i u_j (d_i + d_j) + 4 u_i u_j u'Du. */
static struct matrix mirrored(const dpf_call *call)
{
    struct matrix a;
    double udu = 0;
    assert_int_equal(matrix_new(call, M, M, &a), 0);
    for (int32_t i = 0; i < M; i++)
        udu += u[i] * u[i] * spectrum[i];
    for (int32_t j = 0; j < M; j++)
        for (int32_t i = 0; i < M; i++)
            matrix_column(&a, j)[i] =
                (i == j ? spectrum[i] : 0) - 2 * u[i] * u[j] * (spectrum[i] + spectrum[j] - 2 * udu);
    return a;
}

/* Vectors are e_k - 2 u u_k, up to their sign; `above` descends. */
static void assert_pairs(const double *above, int32_t n, const double *values, const struct matrix *vectors)
{
    assert_int_equal(vectors->columns, n);
    for (int32_t k = 0; k < n; k++) {
        double product = 0;
        assert_true(fabs(values[n - 1 - k] - above[k]) < 1e-12 * (1 + above[0]));
        for (int32_t i = 0; i < M; i++)
            product += matrix_column(vectors, n - 1 - k)[i] * ((i == k) - 2 * u[i] * u[k]);
        assert_true(fabs(fabs(product) - 1) < 1e-9);
    }
}

TEST(few_pairs_are_found_and_proved)
{
    static const double above[] = {950, 37, 36.9, 4, 1.9, 1.4, 1.3, 1.2, 1.15, 1.1};
    static double values[M];
    struct matrix vectors;
    for (int32_t n = 0; n <= 10; n += 5) {
        plain_open_random(&host, gram_component, "");
        const dpf_call *call = call_with(&host, WORKERS, 0);
        choose_spectrum(above, n);
        struct matrix a = mirrored(call);
        assert_int_equal(top_pairs_above(call, &a, EDGE, values, &vectors), 1);
        assert_pairs(above, n, values, &vectors);
        plain_close(&host);
    }
}

/* From one start equal eigenvalues show one after another, as rounding errors grow. The proof sees that some are missing. */
TEST(what_one_start_cannot_show_is_computed_otherwise)
{
    static double above[40], values[M];
    struct matrix vectors;
    plain_open_random(&host, gram_component, "");
    const dpf_call *call = call_with(&host, 1, 0);
    for (int32_t k = 0; k < 40; k++)
        above[k] = 3;
    choose_spectrum(above, 40);
    struct matrix a = mirrored(call), again = mirrored(call);
    assert_int_equal(top_pairs_above(call, &a, EDGE, values, &vectors), 0);
    /* The upper triangle is as it was. */
    for (int32_t j = 0; j < M; j++)
        assert_memory_equal(matrix_column(&a, j), matrix_column(&again, j), (size_t)(j + 1) * sizeof(double));
    assert_int_equal(symmetric_eigen_above(call, &a, EDGE, values, &vectors), 0);
    assert_int_equal(vectors.columns, 40);
    for (int32_t k = 0; k < 40; k++)
        assert_true(fabs(values[k] - 3) < 1e-12);
    plain_close(&host);
}

TEST(many_pairs_are_left_to_the_whole_spectrum)
{
    static double above[300], values[M];
    struct matrix vectors;
    for (int32_t k = 0; k < 300; k++)
        above[k] = 10 - 0.02 * k;
    plain_open_random(&host, gram_component, "");
    const dpf_call *call = call_with(&host, WORKERS, 0);
    choose_spectrum(above, 300);
    struct matrix a = mirrored(call);
    assert_int_equal(symmetric_eigen_above(call, &a, EDGE, values, &vectors), 0);
    assert_pairs(above, 300, values, &vectors);
    plain_close(&host);
}

/* Of more pairs than are asked for, those with the largest eigenvalues: by Lanczos, and as the whole spectrum has them. */
TEST(the_largest_pairs_are_found)
{
    static const double above[] = {70, 20, 19, 8, 5, 4.9, 3, 2.5};
    static double values[M];
    struct matrix vectors;
    plain_open_random(&host, gram_component, "");
    const dpf_call *call = call_with(&host, WORKERS, 0);
    choose_spectrum(above, 8);
    struct matrix a = mirrored(call);
    assert_int_equal(top_pairs_largest(call, &a, 5, values, &vectors), 1);
    assert_pairs(above, 5, values, &vectors);
    a = mirrored(call);
    assert_int_equal(symmetric_eigen_largest(call, &a, 5, values, &vectors), 0);
    assert_pairs(above, 5, values, &vectors);
    plain_close(&host);
}

TEST(bytes_do_not_depend_on_workers)
{
    static const double above[] = {5, 4, 2};
    static double values[2][M];
    static double seen[2][3 * M];
    for (int k = 0; k < 2; k++) {
        struct matrix vectors;
        plain_open_random(&host, gram_component, "");
        const dpf_call *call = call_with(&host, k ? 4 : 1, 0);
        choose_spectrum(above, 3);
        struct matrix a = mirrored(call);
        assert_int_equal(symmetric_eigen_above(call, &a, EDGE, values[k], &vectors), 0);
        memcpy(seen[k], vectors.at, sizeof seen[k]);
        plain_close(&host);
    }
    assert_memory_equal(values[0], values[1], 3 * sizeof(double));
    assert_memory_equal(seen[0], seen[1], sizeof seen[0]);
}

TEST(a_factor_is_one)
{
    plain_open_random(&host, gram_component, "");
    const dpf_call *call = call_with(&host, WORKERS, 0);
    choose_spectrum(NULL, 0);
    for (int32_t i = 0; i < M; i++)
        spectrum[i] += 1.5;
    struct matrix a = mirrored(call), again = mirrored(call);
    assert_int_equal(tiled_cholesky(call, &a), 1);
    for (int32_t i = 0; i < M; i += 97)
        for (int32_t j = 0; j <= i; j += 13) {
            double sum = 0;
            for (int32_t k = 0; k <= j; k++)
                sum += matrix_column(&a, k)[i] * matrix_column(&a, k)[j];
            assert_true(fabs(sum - matrix_column(&again, j)[i]) < 1e-13);
        }
    spectrum[M - 1] = -1e-6;
    a = mirrored(call);
    assert_int_equal(tiled_cholesky(call, &a), 0);
    plain_close(&host);
}

FIXTURE(gram_open, gram_close)
