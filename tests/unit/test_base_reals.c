/* SPDX-License-Identifier: Apache-2.0 */
/* Normal and Laplace numbers: the same bytes on every processor, close to the functions that they stand for.
 */
#include "base/noise_real.c"
#include "kit/test.h"

#include <math.h>
#include <string.h>

#define ULP 0x1p-52L

static dpf_stream *stream;

static int start(void **state)
{
    (void)state;
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(5, "noise", &error);
    stream = root ? random_stream_open(root, "reals", "test", &error) : NULL;
    random_root_free(root);
    return stream ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    random_stream_free(stream);
    return 0;
}

/* Random words, the ends of the range, and words about where the logarithm changes its exponent. */
static void make_words(uint64_t *words, int64_t n)
{
    static const uint64_t special[] = {0,
                                       UINT64_MAX,
                                       1,
                                       UINT64_C(1) << 63,
                                       (UINT64_C(1) << 63) - 1,
                                       UINT64_C(1) << 62,
                                       UINT64_C(0xb504f333f9de6484),
                                       UINT64_C(0xb504f333f9de7484),
                                       UINT64_C(0x5a827999fcef3242),
                                       4096,
                                       UINT64_MAX - 4096};
    const int64_t n_special = sizeof(special) / sizeof(special[0]);
    dpf_cursor cursor;
    random_seek(stream, 0, 0, 0, &cursor);
    random_bits(&cursor, words, n);
    for (int64_t i = 0; i < n_special; i++)
        for (int64_t j = 0; j < n_special; j++) {
            words[2 * (i * n_special + j)] = special[i];
            words[2 * (i * n_special + j) + 1] = special[j];
        }
}

TEST(every_processor_gives_the_same_bytes)
{
    enum { N = 4096 };
    static uint64_t words[N];
    static double expected[2][N], got[N];
    make_words(words, N);
    const struct real_kernels one = kernels_of(SIMD_KIND_PORTABLE);
    for (int64_t i = 0; i < N; i += 2) /* one step of a loop at a time: no vectors */
        one.normals(words + i, 1, expected[0] + i);
    for (int64_t i = 0; i < N; i++)
        one.laplaces(words + i, 1, expected[1] + i);
    for (int kind = SIMD_KIND_AVX512; kind <= SIMD_KIND_PORTABLE; kind++) {
        if (simd_choose(kind) < 0)
            continue;
        const struct real_kernels k = kernels_of(kind);
        for (int64_t n = 1; n <= N / 2; n = n * 3 + 1) {
            memset(got, 0, sizeof(got));
            k.normals(words, n, got);
            assert_memory_equal(got, expected[0], (size_t)n * 2 * sizeof(double));
            k.laplaces(words, n, got);
            assert_memory_equal(got, expected[1], (size_t)n * sizeof(double));
        }
    }
}

/* Within 2 units of the last place, and the product of a radius and a direction within 4. */
TEST(numbers_are_those_of_the_formulas)
{
    enum { N = 200000 };
    static uint64_t words[N];
    static double normals[N], laplaces[N];
    make_words(words, N);
    const struct real_kernels k = kernels_of(simd_choose(SIMD_KIND_AUTO));
    k.normals(words, N / 2, normals);
    k.laplaces(words, N, laplaces);
    for (int64_t i = 0; i < N; i++) {
        const long double u = ((long double)(words[i] << 1 >> 12) + 0.5L) * 0x1p-52L, e = -logl(u);
        assert_true(fabsl(fabs(laplaces[i]) - e) <= 2 * ULP * e);
        assert_int_equal(signbit(laplaces[i]) != 0, words[i] >> 63);
    }
    for (int64_t i = 0; i < N; i += 2) {
        const long double u = ((long double)(words[i] >> 12) + 0.5L) * 0x1p-52L, r = sqrtl(-2 * logl(u));
        const long double a =
            (((long double)(words[i + 1] >> 10 & REAL_FRACTION) + 0.5L) * 0x1p-52L - 0.5L) * acosl(0.0L);
        const long double c[4] = {cosl(a), -sinl(a), -cosl(a), sinl(a)};
        const unsigned quarter = (unsigned)(words[i + 1] >> 62);
        const long double x = r * c[quarter], y = r * c[(quarter + 3) % 4];
        assert_true(fabsl((long double)normals[i] - x) <= 4 * ULP * fabsl(x));
        assert_true(fabsl((long double)normals[i + 1] - y) <= 4 * ULP * fabsl(y));
    }
}

typedef dpf_status (*row_sampler)(const dpf_stream *stream, const dpf_rows *rows, double *out);

/* A row is the same alone and among others, and what is beside it in memory is left alone. */
TEST(rows_do_not_depend_on_company)
{
    enum { ROWS = 150, WIDEST = 3001, STRIDE = WIDEST + 3 };
    static const row_sampler samplers[] = {random_row_normal, random_row_laplace};
    static const int64_t widths[] = {1, 7, 8, 10, 50, 51, 128, 129, 2048, 2049, WIDEST};
    static double all[ROWS * STRIDE], alone[STRIDE];
    for (int s = 0; s < 2; s++)
        for (size_t k = 0; k < sizeof(widths) / sizeof(widths[0]); k++) {
            const int64_t width = widths[k], n = width < 200 ? ROWS : 4;
            for (int64_t i = 0; i < ROWS * STRIDE; i++)
                all[i] = 1e9;
            dpf_rows rows = {.draw = 1, .party = 2, .first = 77, .n = n, .width = width, .stride = width + 3};
            assert_int_equal(samplers[s](stream, &rows, all), DPF_OK);
            for (int64_t i = 0; i < n; i++) {
                rows.first = 77 + i;
                rows.n = 1;
                assert_int_equal(samplers[s](stream, &rows, alone), DPF_OK);
                assert_memory_equal(alone, all + i * (width + 3), (size_t)width * sizeof(double));
                for (int64_t j = 0; j < 3; j++)
                    assert_true(all[i * (width + 3) + width + j] == 1e9);
                for (int64_t j = 0; j < width; j++)
                    assert_true(fabs(all[i * (width + 3) + j]) < 40);
            }
        }
    dpf_rows none = {.n = 1, .width = -1};
    assert_int_equal(random_row_normal(stream, &none, alone), DPF_E_RANGE);
}

FIXTURE(start, stop)
