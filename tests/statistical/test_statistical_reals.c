/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast float64 samplers, and the independence of what is read at different indices.
 */
#include "base/random.h"

#include "kit/goodness.h"

#define N 400000
#define BINS 120

static struct random_root *root;
static dpf_stream *stream;
static dpf_stream *other;
static double draws[N];

static double normal_below(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static double laplace_below(double x)
{
    return x < 0 ? 0.5 * exp(x) : 1 - 0.5 * exp(-x);
}

static double uniform_below(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Equal bins of the given width about 0; the outer ones are open. */
static double binned(const double *values, int n, double width, double (*below)(double))
{
    int64_t counts[BINS] = {0};
    double p[BINS];
    for (int i = 0; i < n; i++) {
        assert_true(isfinite(values[i]));
        int bin = (int)floor(values[i] / width) + BINS / 2;
        counts[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin]++;
    }
    for (int b = 0; b < BINS; b++)
        p[b] = (b == BINS - 1 ? 1 : below((b + 1 - BINS / 2) * width)) -
               (b == 0 ? 0 : below((b - BINS / 2) * width));
    return goodness_chi_square(counts, p, BINS);
}

TEST(normal_draws_are_normal)
{
    double sum = 0, squares = 0, fourths = 0, tail = 0;
    dpf_cursor cursor;
    random_seek(stream, 1, 0, 0, &cursor);
    random_normal(&cursor, draws, N);
    for (int i = 0; i < N; i++) {
        double square = draws[i] * draws[i];
        sum += draws[i];
        squares += square;
        fourths += square * square;
        tail += fabs(draws[i]) > 3.7;
    }
    goodness_assert(binned(draws, N, 0.08, normal_below), "normal, binned", 0.08);
    goodness_assert(binned(draws, N, 0.005, normal_below), "normal, centre", 0.005);
    goodness_assert(goodness_mean(sum, N, 0, 1), "normal, mean", 0);
    goodness_assert(goodness_mean(squares, N, 1, 2), "normal, variance", 0);
    goodness_assert(goodness_mean(fourths, N, 3, 96), "normal, fourth moment", 0);
    goodness_assert(goodness_count(tail, N, 2 * normal_below(-3.7)), "normal, tail", 3.7);
}

/* Cells that are neighbours in a row or a column are independent: a pair comes from one radius. */
TEST(cells_of_rows_are_independent)
{
    enum { WIDTH = 50, ROWS = N / WIDTH, TABLE = 8 };
    static const struct {
        int row, column;
    } steps[] = {{0, 1}, {0, 2}, {1, 0}, {1, 1}};
    const dpf_rows rows = {.draw = 6, .n = ROWS, .width = WIDTH, .stride = WIDTH};
    for (int law = 0; law < 2; law++) {
        assert_int_equal((law ? random_row_laplace : random_row_normal)(stream, &rows, draws), DPF_OK);
        goodness_assert(binned(draws, N, law ? 0.15 : 0.08, law ? laplace_below : normal_below),
                        "row, binned", law);
        for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
            int64_t counts[TABLE * TABLE] = {0};
            double p[TABLE * TABLE];
            for (int i = 0; i + steps[k].row < ROWS; i += 1 + steps[k].row)
                for (int j = 0; j + steps[k].column < WIDTH; j += 1 + steps[k].column) {
                    const double x[2] = {draws[i * WIDTH + j],
                                         draws[(i + steps[k].row) * WIDTH + j + steps[k].column]};
                    int at[2];
                    for (int side = 0; side < 2; side++)
                        at[side] = (int)(TABLE * (law ? laplace_below(x[side]) : normal_below(x[side])));
                    counts[at[0] * TABLE + at[1]]++;
                }
            for (int b = 0; b < TABLE * TABLE; b++)
                p[b] = 1.0 / (TABLE * TABLE);
            goodness_assert(goodness_chi_square(counts, p, TABLE * TABLE), "pairs of cells", (double)k);
        }
    }
}

TEST(laplace_draws_are_laplace)
{
    double sum = 0, squares = 0, tail = 0;
    dpf_cursor cursor;
    random_seek(stream, 2, 0, 0, &cursor);
    random_laplace(&cursor, draws, N);
    for (int i = 0; i < N; i++) {
        sum += draws[i];
        squares += draws[i] * draws[i];
        tail += fabs(draws[i]) > 8;
    }
    goodness_assert(binned(draws, N, 0.15, laplace_below), "laplace, binned", 0.15);
    goodness_assert(goodness_mean(sum, N, 0, 2), "laplace, mean", 0);
    goodness_assert(goodness_mean(squares, N, 2, 20), "laplace, variance", 0);
    goodness_assert(goodness_count(tail, N, exp(-8)), "laplace, tail", 8);
}

TEST(uniform_draws_are_uniform)
{
    dpf_cursor cursor;
    random_seek(stream, 3, 0, 0, &cursor);
    random_uniform(&cursor, draws, N);
    for (int i = 0; i < N; i++) {
        assert_true(draws[i] >= 0);
        assert_true(draws[i] < 1);
    }
    goodness_assert(binned(draws, N, 1.0 / (BINS / 2), uniform_below), "uniform", 0);
}

/* First words at index i and at a neighbour of i, in an 8 x 8 table of their highest, then lowest bits. */
enum neighbour { NEXT_DRAW, NEXT_PARTY, NEXT_ROW, OTHER_PURPOSE, NEXT_WORD, N_NEIGHBOURS };

static void read_pair(uint32_t i, enum neighbour neighbour, uint64_t pair[2])
{
    const dpf_stream *second = neighbour == OTHER_PURPOSE ? other : stream;
    dpf_cursor cursor;
    /* Steps of 2 along the axis in question: pairs do not overlap. */
    uint32_t at[3] = {9, 9, 9};
    uint32_t axis = neighbour < 3 ? (uint32_t)neighbour : 2;
    at[axis] = 2 * i;
    random_seek(stream, at[0], at[1], at[2], &cursor);
    random_bits(&cursor, pair, 2);
    if (neighbour == NEXT_WORD)
        return;
    at[axis] += neighbour == OTHER_PURPOSE ? 0 : 1;
    random_seek(second, at[0], at[1], at[2], &cursor);
    random_bits(&cursor, pair + 1, 1);
}

TEST(neighbouring_indices_are_independent)
{
    double p[64];
    for (int c = 0; c < 64; c++)
        p[c] = 1.0 / 64;
    for (int neighbour = 0; neighbour < N_NEIGHBOURS; neighbour++) {
        int64_t high[64] = {0}, low[64] = {0};
        double differing = 0;
        for (uint32_t i = 0; i < 40000; i++) {
            uint64_t pair[2];
            read_pair(i, (enum neighbour)neighbour, pair);
            high[(pair[0] >> 61) << 3 | pair[1] >> 61]++;
            low[(pair[0] & 7) << 3 | (pair[1] & 7)]++;
            differing += __builtin_popcountll(pair[0] ^ pair[1]);
        }
        goodness_assert(goodness_chi_square(high, p, 64), "high bits of neighbours", neighbour);
        goodness_assert(goodness_chi_square(low, p, 64), "low bits of neighbours", neighbour);
        goodness_assert(goodness_count(differing, 64 * 40000.0, 0.5), "bits that differ", neighbour);
    }
}

/* Noise of neighbouring rows, parties and rounds must not cancel or add up. */
TEST(noise_of_neighbours_is_uncorrelated)
{
    for (int axis = 0; axis < 3; axis++) {
        double products = 0;
        int n = 40000;
        for (uint32_t i = 0; i < (uint32_t)n; i++) {
            int64_t x[2];
            for (uint32_t side = 0; side < 2; side++) {
                dpf_cursor cursor;
                uint32_t at[3] = {5, 6, 7};
                at[axis] = 2 * i + side;
                random_seek(stream, at[0], at[1], at[2], &cursor);
                assert_int_equal(random_discrete_gaussian(&cursor, 1 << 20, &x[side], 1), DPF_OK);
            }
            products += (double)x[0] * 0x1p-20 * ((double)x[1] * 0x1p-20);
        }
        goodness_assert(goodness_mean(products, n, 0, 1), "product of neighbours", axis);
    }
}

static int setup(void **state)
{
    struct dpf_error error = {0};
    (void)state;
    root = random_root_seeded(20240301, "noise", &error);
    stream = root ? random_stream_open(root, "statistical", "reals", &error) : NULL;
    other = root ? random_stream_open(root, "statistical", "real", &error) : NULL;
    return stream && other ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    random_stream_free(stream);
    random_stream_free(other);
    random_root_free(root);
    return 0;
}

FIXTURE(setup, teardown)
