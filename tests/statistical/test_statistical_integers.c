/* SPDX-License-Identifier: Apache-2.0 */
/* Exact samplers against exact probabilities. */
#include "kit/goodness.h"

#include <string.h>

#include "base/random.h"

#define N 300000
#define CELLS 401

static struct random_root *root;
static dpf_stream *stream;
static int64_t draws[N];

static void seek_to(uint32_t index, dpf_cursor *cursor)
{
    random_seek(stream, index, 0, 0, cursor);
}

static int64_t cell_of(int64_t x, int64_t reach)
{
    return x < -reach ? -reach : x > reach ? reach : x;
}

/* Pr[x] = (1 - q)/(1 + q) q^|x|, q = exp(-1/t). */
static double laplace_mass(int64_t x, double t)
{
    return tanh(0.5 / t) * exp(-fabs((double)x) / t);
}

static double laplace_tail(int64_t from, double t) /* Pr[X >= from], from > 0 */
{
    return exp(-(double)from / t) / (1 + exp(-1 / t));
}

TEST(discrete_laplace_has_its_masses)
{
    static const uint64_t scales[] = {1, 2, 3, 10, 40};
    for (size_t s = 0; s < sizeof(scales) / sizeof(scales[0]); s++) {
        int64_t reach = CELLS / 2, counts[CELLS] = {0};
        double t = (double)scales[s], p[CELLS];
        dpf_cursor cursor;
        seek_to((uint32_t)s, &cursor);
        assert_int_equal(random_discrete_laplace(&cursor, scales[s], draws, N), DPF_OK);
        for (int i = 0; i < N; i++)
            counts[cell_of(draws[i], reach) + reach]++;
        for (int64_t x = -reach; x <= reach; x++)
            p[x + reach] = llabs(x) == reach ? laplace_tail(reach, t) : laplace_mass(x, t);
        goodness_assert(goodness_chi_square(counts, p, CELLS), "discrete Laplace", t);
    }
}

/* Pr[X < edge] for the discrete Laplace. */
static double laplace_below(int64_t edge, double t)
{
    return edge > 0 ? 1 - laplace_tail(edge, t) : laplace_tail(1 - edge, t);
}

TEST(large_scales_fit_in_bins_and_in_low_bits)
{
    static const uint64_t scales[] = {1000, (UINT64_C(1) << 20) + 7, UINT64_C(1) << 36, UINT64_C(1) << 42};
    enum { BINS = 160 };
    for (size_t s = 0; s < sizeof(scales) / sizeof(scales[0]); s++) {
        double t = (double)scales[s], p[BINS], low_p[16], above = 0;
        int64_t counts[BINS] = {0}, low[16] = {0}, width = (int64_t)(scales[s] / 10);
        dpf_cursor cursor;
        seek_to(100 + (uint32_t)s, &cursor);
        assert_int_equal(random_discrete_laplace(&cursor, scales[s], draws, N), DPF_OK);
        for (int i = 0; i < N; i++) {
            int64_t bin = (draws[i] + width * (BINS / 2)) / width;
            counts[draws[i] < -width * (BINS / 2) ? 0 : bin >= BINS ? BINS - 1 : bin]++;
            low[draws[i] & 15]++;
            above += llabs(draws[i]) >= (int64_t)(8 * scales[s]);
        }
        for (int b = 0; b < BINS; b++) {
            int64_t edge = width * (b - BINS / 2);
            p[b] =
                (b == BINS - 1 ? 1 : laplace_below(edge + width, t)) - (b == 0 ? 0 : laplace_below(edge, t));
        }
        for (int b = 0; b < 16; b++)
            low_p[b] = 1.0 / 16;
        goodness_assert(goodness_chi_square(counts, p, BINS), "discrete Laplace, binned", t);
        goodness_assert(goodness_chi_square(low, low_p, 16), "discrete Laplace, low bits", t);
        goodness_assert(goodness_count(above, N, 2 * laplace_tail((int64_t)(8 * scales[s]), t)),
                        "discrete Laplace, tail", t);
    }
}

TEST(discrete_laplace_has_its_moments)
{
    static const uint64_t scales[] = {1, 5, UINT64_C(1) << 30};
    for (size_t s = 0; s < sizeof(scales) / sizeof(scales[0]); s++) {
        double t = (double)scales[s], sum = 0, squares = 0, h = sinh(0.5 / t);
        double variance = 1 / (2 * h * h);
        double fourth = variance * (1 + 6 * variance); /* E x^4 = v + 6 v^2 */
        dpf_cursor cursor;
        seek_to(200 + (uint32_t)s, &cursor);
        assert_int_equal(random_discrete_laplace(&cursor, scales[s], draws, N), DPF_OK);
        for (int i = 0; i < N; i++) {
            sum += (double)draws[i];
            squares += (double)draws[i] * (double)draws[i];
        }
        goodness_assert(goodness_mean(sum, N, 0, variance), "discrete Laplace, mean", t);
        goodness_assert(goodness_mean(squares, N, variance, fourth - variance * variance),
                        "discrete Laplace, variance", t);
    }
}

TEST(discrete_gaussian_has_its_masses)
{
    static const uint64_t scales[] = {1, 2, 3, 10, 25};
    for (size_t s = 0; s < sizeof(scales) / sizeof(scales[0]); s++) {
        int64_t reach = CELLS / 2, counts[CELLS] = {0};
        double sigma = (double)scales[s], p[CELLS], total = 0;
        dpf_cursor cursor;
        seek_to(300 + (uint32_t)s, &cursor);
        assert_int_equal(random_discrete_gaussian(&cursor, scales[s], draws, N), DPF_OK);
        for (int i = 0; i < N; i++)
            counts[cell_of(draws[i], reach) + reach]++;
        for (int64_t x = -reach; x <= reach; x++)
            total += p[x + reach] = exp(-(double)(x * x) / (2 * sigma * sigma));
        for (int c = 0; c < CELLS; c++)
            p[c] /= total; /* what lies beyond 8 sigma is below 1e-15 */
        goodness_assert(goodness_chi_square(counts, p, CELLS), "discrete Gaussian", sigma);
    }
}

TEST(a_large_discrete_gaussian_is_normal)
{
    static const uint64_t scales[] = {1000, UINT64_C(1) << 20, (UINT64_C(1) << 24) - 1};
    enum { BINS = 100 };
    for (size_t s = 0; s < sizeof(scales) / sizeof(scales[0]); s++) {
        double sigma = (double)scales[s], p[BINS], low_p[16], sum = 0, squares = 0, above = 0;
        int64_t counts[BINS] = {0}, low[16] = {0}, width = (int64_t)(scales[s] / 10);
        dpf_cursor cursor;
        seek_to(400 + (uint32_t)s, &cursor);
        assert_int_equal(random_discrete_gaussian(&cursor, scales[s], draws, N), DPF_OK);
        for (int i = 0; i < N; i++) {
            int64_t bin = (draws[i] + width * (BINS / 2)) / width;
            double x = (double)draws[i] / sigma;
            counts[draws[i] < -width * (BINS / 2) ? 0 : bin >= BINS ? BINS - 1 : bin]++;
            low[draws[i] & 15]++;
            sum += x;
            squares += x * x;
            above += fabs(x) > 3;
        }
        for (int b = 0; b < BINS; b++) { /* the trapezoid rule is exact to exp(-2 pi^2 sigma^2) */
            double lo = ((double)width * (b - BINS / 2) - 0.5) / (sigma * sqrt(2));
            double hi = ((double)width * (b + 1 - BINS / 2) - 0.5) / (sigma * sqrt(2));
            p[b] = 0.5 * ((b == BINS - 1 ? 1 : erf(hi)) - (b == 0 ? -1 : erf(lo)));
        }
        for (int b = 0; b < 16; b++)
            low_p[b] = 1.0 / 16;
        goodness_assert(goodness_chi_square(counts, p, BINS), "discrete Gaussian, binned", sigma);
        goodness_assert(goodness_chi_square(low, low_p, 16), "discrete Gaussian, low bits", sigma);
        goodness_assert(goodness_mean(sum, N, 0, 1), "discrete Gaussian, mean", sigma);
        goodness_assert(goodness_mean(squares, N, 1, 2), "discrete Gaussian, variance", sigma);
        goodness_assert(goodness_count(above, N, erfc(3 / sqrt(2))), "discrete Gaussian, tail", sigma);
    }
}

TEST(coin_flips_have_their_rate)
{
    static const double rates[] = {0.5, 0.1, 1.0 / 3, 0.999, 0x1p-11, 0x1.8p-12, 1e-4};
    static uint8_t flips[N];
    for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
        double ones = 0;
        dpf_cursor cursor;
        seek_to(500 + (uint32_t)r, &cursor);
        random_bernoulli(&cursor, rates[r], flips, N);
        for (int i = 0; i < N; i++)
            ones += flips[i];
        goodness_assert(goodness_count(ones, N, rates[r]), "Bernoulli", rates[r]);
    }
}

TEST(integers_below_a_bound_are_uniform)
{
    static const uint64_t bounds[] = {3, 10, 100, UINT64_C(3) << 62};
    static uint64_t values[N];
    for (size_t k = 0; k < sizeof(bounds) / sizeof(bounds[0]); k++) {
        int cells = bounds[k] > 100 ? 3 : (int)bounds[k];
        int64_t counts[100] = {0};
        double p[100];
        dpf_cursor cursor;
        seek_to(600 + (uint32_t)k, &cursor);
        random_below(&cursor, bounds[k], values, N);
        for (int i = 0; i < N; i++) {
            assert_true(values[i] < bounds[k]);
            counts[bounds[k] > 100 ? values[i] >> 62 : values[i]]++;
        }
        for (int c = 0; c < cells; c++)
            p[c] = 1.0 / cells;
        goodness_assert(goodness_chi_square(counts, p, cells), "below", (double)bounds[k]);
    }
}

TEST(permutations_of_four_are_uniform)
{
    int64_t counts[256] = {0}, cells[24], order[4];
    double p[24];
    int n = 0;
    for (uint32_t i = 0; i < 48000; i++) {
        dpf_cursor cursor;
        random_seek(stream, 700, 0, i, &cursor);
        random_permutation(&cursor, order, 4);
        counts[order[0] | order[1] << 2 | order[2] << 4 | order[3] << 6]++;
    }
    for (int i = 0; i < 256; i++)
        if (counts[i] && n < 24)
            cells[n++] = counts[i];
    assert_int_equal(n, 24);
    for (int i = 0; i < 24; i++)
        p[i] = 1.0 / 24;
    goodness_assert(goodness_chi_square(cells, p, 24), "permutations", 4);
}

/* Computed by an independent program from the definitions in random.c and noise_discrete.c. They change
   only if runs with a seed are meant to change. */
TEST(recorded_draws)
{
    static const int64_t laplace[6] = {-174, -393, -2873, 5982, 505, -328};
    static const int64_t gaussian[6] = {-659, 280, -204, 69, -1009, 605};
    dpf_cursor cursor;
    random_seek(stream, 1, 2, 3, &cursor);
    assert_int_equal(random_discrete_laplace(&cursor, 1000, draws, 6), DPF_OK);
    assert_memory_equal(draws, laplace, sizeof(laplace));
    random_seek(stream, 1, 2, 4, &cursor);
    assert_int_equal(random_discrete_gaussian(&cursor, 1000, draws, 6), DPF_OK);
    assert_memory_equal(draws, gaussian, sizeof(gaussian));
}

static int setup(void **state)
{
    struct dpf_error error = {0};
    (void)state;
    root = random_root_seeded(20240229, "noise", &error);
    stream = root ? random_stream_open(root, "statistical", "integers", &error) : NULL;
    return stream ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    random_stream_free(stream);
    random_root_free(root);
    return 0;
}

FIXTURE(setup, teardown)
