/* SPDX-License-Identifier: Apache-2.0 */
/* Poisson and Skellam numbers of large mean against their masses, which are sums of products. */
#include "kit/goodness.h"

#include "base/random.h"

#define N 800000
#define LEAST (1 << 14)
#define REACH 1500 /* more than 11 deviations of the least mean */
#define WIDTH 10
#define CELLS (2 * REACH / WIDTH)

static struct random_root *root;
static dpf_stream *stream;
static int64_t draws[N];
static double poisson[2 * REACH + 1]; /* of the least mean, at LEAST - REACH + i */

static void draw(dpf_status (*sampler)(dpf_cursor *, uint64_t, int64_t *, int64_t), uint64_t mean,
                 uint32_t index)
{
    dpf_cursor cursor;
    random_seek(stream, index, 0, 0, &cursor);
    assert_int_equal(sampler(&cursor, mean, draws, N), DPF_OK);
}

static int cell_of(double x)
{
    const int cell = (int)floor((x + REACH) / WIDTH);
    return cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : cell;
}

/* Masses at -REACH .. REACH, given by their place. */
static double fit(const double *masses, double shift)
{
    static int64_t counts[CELLS];
    static double p[CELLS];
    for (int c = 0; c < CELLS; c++)
        counts[c] = 0, p[c] = 0;
    for (int i = 0; i < N; i++)
        counts[cell_of((double)draws[i] - shift)]++;
    for (int x = -REACH; x <= REACH; x++)
        p[cell_of(x)] += masses[x + REACH];
    return goodness_chi_square(counts, p, CELLS);
}

/* e^-m m^k / k!, from the mode outwards. */
static void poisson_masses(double mean, double *out)
{
    double total = out[REACH] = 1;
    for (int k = 1; k <= REACH; k++) {
        total += out[REACH + k] = out[REACH + k - 1] * mean / (mean + k);
        total += out[REACH - k] = out[REACH - k + 1] * (mean - k + 1) / mean;
    }
    for (int i = 0; i <= 2 * REACH; i++)
        out[i] /= total;
}

TEST(poisson_numbers_have_their_masses)
{
    draw(random_poisson, LEAST, 1);
    goodness_assert(fit(poisson, LEAST), "Poisson", LEAST);
    /* Power: they do not fit a mean that is larger by a fortieth of the deviation. */
    assert_true(fabs(fit(poisson, LEAST + 3)) > GOODNESS_LIMIT);
}

TEST(skellam_numbers_have_their_masses)
{
    static double masses[2 * REACH + 1], wider[2 * REACH + 1];
    for (int x = -REACH; x <= REACH; x++)
        for (int y = -REACH; y <= REACH; y++)
            if (x + y >= -REACH && x + y <= REACH)
                masses[x + REACH] += poisson[x + y + REACH] * poisson[y + REACH];
    draw(random_skellam, LEAST, 2);
    goodness_assert(fit(masses, 0), "Skellam", LEAST);
    for (int x = -REACH; x <= REACH; x++) { /* a hundredth wider */
        const double sigma = sqrt(2.0 * LEAST) * 1.01, z = x / sigma;
        wider[x + REACH] = exp(-z * z / 2) / (sigma * sqrt(2 * acos(-1)));
    }
    assert_true(fabs(fit(wider, 0)) > GOODNESS_LIMIT);
}

/* z = (x - mean) / deviation: its powers, its tails and its low bits. */
static void assert_moments(double mean, double deviation, double skewness, double excess, const char *what)
{
    double sum[4] = {0}, far = 0, p[16];
    int64_t low[16] = {0};
    for (int i = 0; i < N; i++) {
        const double z = ((double)draws[i] - mean) / deviation;
        sum[0] += z;
        sum[1] += z * z;
        sum[2] += z * z * z;
        sum[3] += z * z * z * z;
        far += fabs(z) > 3;
        low[draws[i] & 15]++;
    }
    for (int b = 0; b < 16; b++)
        p[b] = 1.0 / 16;
    goodness_assert(goodness_mean(sum[0], N, 0, 1), what, 1);
    goodness_assert(goodness_mean(sum[1], N, 1, 2), what, 2);
    goodness_assert(goodness_mean(sum[2], N, skewness, 15), what, 3);
    goodness_assert(goodness_mean(sum[3], N, 3 + excess, 96), what, 4);
    goodness_assert(goodness_count(far, N, erfc(3 / sqrt(2))), what, 5);
    goodness_assert(goodness_chi_square(low, p, 16), what, 6);
}

TEST(moments_are_those_of_the_laws)
{
    static const uint64_t means[] = {LEAST, LEAST + 1, 1000003, UINT64_C(1) << 31, UINT64_C(1) << 47};
    for (uint32_t i = 0; i < sizeof(means) / sizeof(means[0]); i++) {
        const double m = (double)means[i];
        draw(random_poisson, means[i], 10 + i);
        assert_moments(m, sqrt(m), 1 / sqrt(m), 1 / m, "Poisson, moment");
        draw(random_skellam, means[i], 20 + i);
        assert_moments(0, sqrt(2 * m), 0, 1 / (2 * m), "Skellam, moment");
    }
}

/* Whatever the blocks of proposals are: their borders, and the two modes, are no place to see. */
TEST(borders_of_blocks_do_not_show)
{
    draw(random_poisson, LEAST, 3);
    for (int block = 0; block < 4; block++) { /* of 129 values */
        double last = 0, next = 0, left = 0, right = 0;
        const int edge = 129 * block;
        for (int i = 0; i < N; i++) {
            const int64_t x = draws[i] - LEAST;
            right += x >= edge && x < edge + 129;
            left += x < -edge && x >= -edge - 129;
            last += x >= edge - 16 && x < edge;
            next += x >= edge && x < edge + 16;
        }
        double p[4] = {0};
        for (int x = -REACH; x <= REACH; x++) {
            const double mass = poisson[x + REACH];
            p[0] += x >= edge && x < edge + 129 ? mass : 0;
            p[1] += x < -edge && x >= -edge - 129 ? mass : 0;
            p[2] += x >= edge - 16 && x < edge ? mass : 0;
            p[3] += x >= edge && x < edge + 16 ? mass : 0;
        }
        goodness_assert(goodness_count(right, N, p[0]), "right of the mean, block", block);
        goodness_assert(goodness_count(left, N, p[1]), "left of the mean, block", block);
        goodness_assert(goodness_count(last, N, p[2]), "before the border of block", block);
        goodness_assert(goodness_count(next, N, p[3]), "after the border of block", block);
    }
}

static int setup(void **state)
{
    struct dpf_error error = {0};
    (void)state;
    poisson_masses(LEAST, poisson);
    root = random_root_seeded(20211020, "noise", &error);
    stream = root ? random_stream_open(root, "statistical", "skellam", &error) : NULL;
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
