/* SPDX-License-Identifier: Apache-2.0 */
/* The exact laws over 10^8 draws each, against their probabilities: a share of 10^-4 too much would be seen.
 */
#include "kit/goodness.h"

#include "base/random.h"

#define BATCH 65536
#define BATCHES 1526 /* 10^8 draws */
#define BINS 81      /* of equal width; the outer ones are open */

static dpf_stream *stream;

static int start(void **state)
{
    (void)state;
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(20261128, "noise", &error);
    stream = root ? random_stream_open(root, "statistical", "many", &error) : NULL;
    random_root_free(root);
    return stream ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    random_stream_free(stream);
    return 0;
}

/* Pr[X >= edge], edge >= 1. */
static double laplace_tail(int64_t edge, double t)
{
    return exp(-(double)edge / t) / (1 + exp(-1 / t));
}

static double gaussian_tail(int64_t edge, double s)
{
    double total = 1, tail = 0;
    if (s > 1000) /* the sum is the integral but for 1/(24 s^2) */
        return 0.5 * erfc(((double)edge - 0.5) / s * sqrt(0.5));
    for (int64_t x = (int64_t)(40 * s); x > 0; x--) {
        const double mass = exp(-(double)x * (double)x / (2 * s * s));
        total += 2 * mass;
        tail += x >= edge ? mass : 0;
    }
    return tail / total;
}

/* Of variance 2 mean and, for these means, normal but for a part of 1/mean. */
static double skellam_tail(int64_t edge, double mean)
{
    return 0.5 * erfc(((double)edge - 0.5) / sqrt(4 * mean));
}

/* Bins centred on multiples of the width, an odd number. */
static void assert_law(dpf_status (*sampler)(dpf_cursor *, uint64_t, int64_t *, int64_t),
                       double (*tail)(int64_t, double), uint64_t scale, int64_t width, uint32_t index)
{
    static int64_t draws[BATCH];
    int64_t counts[BINS] = {0};
    double p[BINS], below = 0;
    dpf_cursor cursor;
    random_seek(stream, index, 0, 0, &cursor);
    for (int batch = 0; batch < BATCHES; batch++) {
        assert_int_equal(sampler(&cursor, scale, draws, BATCH), DPF_OK);
        for (int i = 0; i < BATCH; i++) {
            const int64_t shifted = draws[i] + width * (BINS / 2) + width / 2;
            const int64_t bin = shifted < 0 ? 0 : shifted / width;
            counts[bin < BINS ? bin : BINS - 1]++;
        }
    }
    for (int64_t b = 0; b < BINS; b++) { /* the upper end, from the nearer side */
        const int64_t end = width * (b - BINS / 2) + width / 2 + 1;
        const double above = b == BINS - 1 ? 0
                             : end >= 1    ? tail(end, (double)scale)
                                           : 1 - tail(1 - end, (double)scale);
        p[b] = 1 - above - below;
        below = 1 - above;
    }
    goodness_assert(goodness_chi_square(counts, p, BINS), "10^8 draws", (double)scale);
}

TEST(discrete_laplace)
{
    assert_law(random_discrete_laplace, laplace_tail, 1, 1, 0);
    assert_law(random_discrete_laplace, laplace_tail, 100, 15, 1);
    assert_law(random_discrete_laplace, laplace_tail, UINT64_C(1) << 36, (INT64_C(1) << 33) + 1, 2);
}

TEST(discrete_gaussian)
{
    assert_law(random_discrete_gaussian, gaussian_tail, 1, 1, 3);
    assert_law(random_discrete_gaussian, gaussian_tail, 64, 9, 4);
    assert_law(random_discrete_gaussian, gaussian_tail, 65, 9, 5);
    assert_law(random_discrete_gaussian, gaussian_tail, 1 << 20, (1 << 17) + 1, 6);
}

TEST(skellam)
{
    assert_law(random_skellam, skellam_tail, 1 << 14, 31, 7);
    assert_law(random_skellam, skellam_tail, UINT64_C(1) << 31, 10001, 8);
}

FIXTURE(start, stop)
