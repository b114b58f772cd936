/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_host.h"

static uint64_t seed = 11;

static double uniform(double lo, double hi)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

static long double norm_of(const double *v, int64_t n, int which)
{
    long double sum = 0, most = 0;

    for (int64_t i = 0; i < n; i++) {
        const long double x = (long double)v[i];
        sum += which == 1 ? fabsl(x) : x * x;
        most = fabsl(x) > most ? fabsl(x) : most;
    }
    return which == 0 ? most : which == 1 ? sum : sqrtl(sum);
}

struct clip {
    struct plain_host host;
    const dpf_transform *functions;
};

static void open_clip(struct clip *clip, const char *settings)
{
    const dpf_component *component = plain_component("clip-user", DPF_ROLE_TRANSFORM, "clip-user");

    plain_open(&clip->host, component, settings);
    clip->functions = component->functions;
    assert_int_equal(clip->functions->kind, DPF_TRANSFORM_MESSAGE);
    assert_true(clip->functions->flags & DPF_TRANSFORM_PER_USER);
}

static dpf_message message_of(double *values, int64_t n_rows, int32_t width, int64_t stride)
{
    const dpf_message message = {.size = sizeof(message),
                                 .n_rows = n_rows,
                                 .total_rows = n_rows,
                                 .values = values,
                                 .stride = stride,
                                 .width = width};

    return message;
}

static dpf_status apply(struct clip *clip, double *values, int64_t n_rows, int32_t width, int64_t stride)
{
    const dpf_message in = message_of(values, n_rows, width, stride);
    dpf_message out = in;

    plain_clear(&clip->host);
    return clip->functions->forward(clip->host.self, plain_call(&clip->host), &in, &out);
}

#define WIDE 70 /* numbers of a row: not a multiple of any vector */

static void fill(dpf_sensitivity *blocks, int32_t n, double value);

static void check_norm(const char *settings, int l1, double bound)
{
    struct clip clip;
    double values[240], before[240];

    open_clip(&clip, settings);
    memset(values, 0, sizeof(values));
    for (int32_t round = 0; round < 3000; round++) {
        const int32_t width = 1 + round % 12;
        const int64_t rows = 1 + round % 20;
        const int64_t n = rows * width;
        const double size = bound * exp2(uniform(-8, round % 2 ? 8 : 300));
        for (int64_t i = 0; i < n; i++) {
            values[i] = uniform(-size, size);
        }
        memcpy(before, values, sizeof(values));
        const long double old = norm_of(before, n, l1 ? 1 : 2);
        assert_int_equal(apply(&clip, values, rows, width, width), DPF_OK);
        const long double now = norm_of(values, n, l1 ? 1 : 2);
        assert_true(now <= (long double)bound);
        if (old < 0.999999L * (long double)bound) {
            assert_memory_equal(values, before, (size_t)n * sizeof(double));
        } else if (old > (long double)bound) {
            assert_true(now >= 0.99999999L * (long double)bound);
        }
    }
    plain_close(&clip.host);
}

TEST(messages_stay_within_the_bound)
{
    check_norm("norm=l2; bound=1", 0, 1);
    check_norm("norm=l1; bound=1", 1, 1);
    check_norm("norm=l2; bound=0.1", 0, 0.1);
    check_norm("norm=l1; bound=1e-100", 1, 1e-100);
    check_norm("norm=l2; bound=1e-100", 0, 1e-100);
}

/* What is measured piece by piece is what forward multiplies by, to the last bit. */
static void check_pieces(const char *settings)
{
    struct clip clip;
    dpf_query query;
    dpf_sensitivity blocks[2];
    enum { MOST_ROWS = 23 };
    double values[MOST_ROWS * WIDE] = {0}, clipped[MOST_ROWS * WIDE];

    open_clip(&clip, settings);
    memset(&query, 0, sizeof(query));
    query.size = sizeof(query);
    query.width = WIDE;
    query.n_blocks = 2;
    query.blocks[0].length = WIDE - 5;
    query.blocks[1].offset = WIDE - 5;
    query.blocks[1].length = 5;
    fill(blocks, 2, INFINITY);
    assert_int_equal(clip.functions->sensitivity(clip.host.self, &query, 90, blocks, NULL, NULL, NULL),
                     DPF_OK);
    for (int32_t round = 0; round < 400; round++) {
        const int64_t rows = 1 + round % MOST_ROWS, piece = 1 + round % 7;
        const double size = exp2(uniform(-60, 60));
        double numbers[DPF_MEASURE_NUMBERS] = {0}, factor = NAN;
        for (int64_t i = 0; i < rows * WIDE; i++)
            values[i] = i % WIDE >= WIDE - 5 && round % 3 == 0 ? 0 : uniform(-size, size);
        memcpy(clipped, values, sizeof(values));
        assert_int_equal(apply(&clip, clipped, rows, WIDE, WIDE), DPF_OK);
        for (int64_t first = 0; first < rows; first += piece) {
            const dpf_message part =
                message_of(values + first * WIDE, rows - first < piece ? rows - first : piece, WIDE, WIDE);
            assert_int_equal(clip.functions->measure(clip.host.self, plain_call(&clip.host), &part, numbers),
                             DPF_OK);
        }
        const dpf_status status =
            clip.functions->factor(clip.host.self, plain_call(&clip.host), numbers, rows, WIDE, &factor);
        assert_int_equal(status, DPF_OK);
        for (int64_t i = 0; i < rows * WIDE; i++)
            values[i] *= factor;
        assert_memory_equal(values, clipped, (size_t)(rows * WIDE) * sizeof(double));
    }
    plain_close(&clip.host);
}

TEST(pieces_measure_as_the_whole)
{
    check_pieces("norm=l2; bound=1");
    check_pieces("norm=l1; bound=1");
    check_pieces("norm=l2; block-bounds=1, 2");
    check_pieces("norm=l1; block-bounds=1, 2");
}

/* Beyond the range in which squares are safe, and where a Gram row is the last, messages must be whole. */
TEST(what_pieces_cannot_measure)
{
    static const double sizes[] = {0, 1e-120, 1e120, NAN, INFINITY};
    struct clip clip;
    open_clip(&clip, "norm=l2; bound=1");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        double values[3] = {sizes[i], 0, 0}, numbers[DPF_MEASURE_NUMBERS] = {0}, factor;
        const dpf_message rows = message_of(values, 1, 3, 3);
        assert_int_equal(clip.functions->measure(clip.host.self, plain_call(&clip.host), &rows, numbers),
                         DPF_OK);
        assert_int_equal(
            clip.functions->factor(clip.host.self, plain_call(&clip.host), numbers, 1, 3, &factor),
            DPF_E_UNSUPPORTED);
    }
    plain_close(&clip.host);
}

/* The norm runs over all rows, spares the gaps between them, and works in place or into a copy. */
TEST(rows_are_scaled_together)
{
    struct clip clip;
    double values[6] = {3, 0, -7, 0, 4, -7}; /* two rows of two; -7 is padding */
    double copy[4] = {0};
    dpf_message in = message_of(values, 2, 2, 3);
    dpf_message out = message_of(copy, 2, 2, 2);
    open_clip(&clip, "norm=l2; bound=1");
    assert_int_equal(clip.functions->forward(clip.host.self, plain_call(&clip.host), &in, &out), DPF_OK);
    assert_true(fabs(copy[0] - 0.6) < 1e-12);
    assert_true(copy[1] == 0);
    assert_true(copy[2] == 0);
    assert_true(fabs(copy[3] - 0.8) < 1e-12);
    assert_true(values[0] == 3);
    assert_true(values[4] == 4);
    assert_int_equal(apply(&clip, values, 2, 2, 3), DPF_OK);
    assert_true(values[0] == copy[0]);
    assert_true(values[4] == copy[3]);
    assert_true(values[2] == -7);
    assert_true(values[5] == -7);

    double zero[4] = {0};
    assert_int_equal(apply(&clip, zero, 2, 2, 2), DPF_OK);
    assert_true(norm_of(zero, 4, 2) == 0);
    assert_int_equal(apply(&clip, zero, 0, 2, 2), DPF_OK);
    plain_close(&clip.host);
}

TEST(messages_that_are_not_finite_are_errors)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e200};
    struct clip clip;
    open_clip(&clip, "");
    for (size_t i = 0; i < 4; i++) {
        double values[3] = {1, bad[i], 1};
        assert_int_equal(apply(&clip, values, 1, 3, 3), DPF_E_NUMERIC);
        assert_int_equal(clip.host.code, DPF_E_NUMERIC);
    }
    plain_close(&clip.host);
}

/* ---- sensitivity ---------------------------------------------------------------------------- */

#define ROWS 2
#define WIDTH 3
#define N (ROWS * WIDTH)

static void two_blocks(dpf_query *query)
{
    memset(query, 0, sizeof(*query));
    query->size = sizeof(*query);
    query->width = WIDTH;
    query->n_blocks = 2;
    query->blocks[0].length = 2;
    query->blocks[1].offset = 2;
    query->blocks[1].length = 1;
}

static void fill(dpf_sensitivity *blocks, int32_t n, double value)
{
    for (int32_t b = 0; b < n; b++) {
        for (int32_t u = 0; u < DPF_N_UNITS; u++) {
            for (int32_t a = 0; a < DPF_N_ADJACENCIES; a++) {
                blocks[b].at[u][a] = (dpf_norms){value, value, value};
            }
        }
    }
}

/* The coordinates of a block in all rows. */
static int32_t gather(const dpf_query *query, int32_t b, const double *message, double *out)
{
    int32_t n = 0;

    for (int32_t r = 0; r < ROWS; r++) {
        for (int32_t i = 0; i < query->blocks[b].length; i++) {
            out[n++] = message[r * WIDTH + query->blocks[b].offset + i];
        }
    }
    return n;
}

static void assert_covered(const dpf_query *query, const double *a, const double *b,
                           const dpf_sensitivity *blocks, int32_t unit, int32_t adjacency)
{
    double change[N], block[N];

    for (int32_t i = 0; i < N; i++) {
        change[i] = a[i] - b[i];
    }
    for (int32_t k = 0; k < query->n_blocks; k++) {
        const int32_t n = gather(query, k, change, block);
        const dpf_norms *at = &blocks[k].at[unit][adjacency];
        assert_true(norm_of(block, n, 1) <= (long double)at->l1);
        assert_true(norm_of(block, n, 2) <= (long double)at->l2);
        assert_true(norm_of(block, n, 0) <= (long double)at->linf);
    }
}

/*
 * Random pairs of messages. A "record" changes one row of the message by a vector whose norms are stated
 * as the sensitivity before the clip; what is stated after it must cover the clipped pair.
 */
static void check_pairs(const char *settings, double step)
{
    struct clip clip;
    dpf_query query;
    dpf_sensitivity blocks[2];
    double a[N], b[N], block[N];
    const double zero[N] = {0};

    open_clip(&clip, settings);
    two_blocks(&query);
    for (int32_t round = 0; round < 4000; round++) {
        const double size = exp2(uniform(-3, 3));
        memset(a, 0, sizeof(a));
        for (int32_t i = 0; i < N; i++) {
            a[i] = round % 3 == 0 && i > 1 ? 0 : uniform(-size, size);
        }
        memcpy(b, a, sizeof(a));
        double change[N] = {0};
        const int32_t row = round % ROWS;
        for (int32_t i = 0; i < WIDTH; i++) {
            change[row * WIDTH + i] = round % 5 == 0 && i ? 0 : uniform(-step, step);
            b[row * WIDTH + i] += change[row * WIDTH + i];
            change[row * WIDTH + i] = b[row * WIDTH + i] - a[row * WIDTH + i];
        }
        fill(blocks, 2, NAN);
        for (int32_t k = 0; k < 2; k++) {
            const int32_t n = gather(&query, k, change, block);
            const double up = 1 + 1e-15;
            const dpf_norms norms = {(double)norm_of(block, n, 1) * up, (double)norm_of(block, n, 2) * up,
                                     (double)norm_of(block, n, 0) * up};
            blocks[k].at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE] = norms;
        }
        assert_int_equal(clip.functions->sensitivity(clip.host.self, &query, ROWS, blocks, NULL, NULL, NULL),
                         DPF_OK);
        assert_int_equal(apply(&clip, a, ROWS, WIDTH, WIDTH), DPF_OK);
        assert_int_equal(apply(&clip, b, ROWS, WIDTH, WIDTH), DPF_OK);
        assert_covered(&query, a, b, blocks, DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE);
        assert_covered(&query, a, b, blocks, DPF_UNIT_RECORD, DPF_ADJ_ADD_REMOVE); /* 2 C, from nothing */
        assert_covered(&query, a, zero, blocks, DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE);
        assert_covered(&query, a, zero, blocks, DPF_UNIT_USER, DPF_ADJ_ZERO_OUT);
        assert_covered(&query, a, b, blocks, DPF_UNIT_USER, DPF_ADJ_REPLACE);
    }
    plain_close(&clip.host);
}

TEST(sensitivities_are_never_exceeded)
{
    check_pairs("norm=l2; bound=1", 0.05);
    check_pairs("norm=l1; bound=1", 0.05);
    check_pairs("norm=l2; bound=2", 3);
    check_pairs("norm=l1; bound=2", 3);
}

TEST(sensitivities_as_stated)
{
    struct clip clip;
    dpf_query query;
    dpf_sensitivity blocks[2];
    two_blocks(&query);
    open_clip(&clip, "norm=l2; bound=0.5");
    fill(blocks, 2, INFINITY);
    assert_int_equal(clip.functions->sensitivity(clip.host.self, &query, 8, blocks, NULL, NULL, NULL),
                     DPF_OK);
    const dpf_norms *out = blocks[0].at[DPF_UNIT_USER];
    assert_true(out[DPF_ADJ_ADD_REMOVE].l2 == 0.5);
    assert_true(out[DPF_ADJ_ZERO_OUT].l2 == 0.5);
    assert_true(out[DPF_ADJ_REPLACE].l2 == 1.0);
    assert_true(out[DPF_ADJ_REPLACE].l1 == 4.0); /* sqrt(16) each */
    assert_true(out[DPF_ADJ_ADD_REMOVE].linf == 0.5);
    assert_true(blocks[0].at[DPF_UNIT_RECORD][DPF_ADJ_ADD_REMOVE].l2 == 1.0);

    /* Where less was proved before, less is kept; a change in all blocks reaches each of them. */
    fill(blocks, 2, 0.3);
    assert_int_equal(clip.functions->sensitivity(clip.host.self, &query, 8, blocks, NULL, NULL, NULL),
                     DPF_OK);
    assert_true(out[DPF_ADJ_ADD_REMOVE].l1 == 0.3);
    assert_true(out[DPF_ADJ_REPLACE].l2 == 0.6);
    assert_true(fabs(blocks[0].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l2 - 0.3 * sqrt(2)) < 1e-12);
    plain_close(&clip.host);

    open_clip(&clip, "norm=l1; bound=0.5");
    fill(blocks, 2, NAN);
    assert_int_equal(clip.functions->sensitivity(clip.host.self, &query, 8, blocks, NULL, NULL, NULL),
                     DPF_OK);
    assert_true(out[DPF_ADJ_REPLACE].l1 == 1.0);
    assert_true(out[DPF_ADJ_REPLACE].l2 == 1.0);
    assert_true(isnan(out[DPF_ADJ_REPLACE_VALUE].l1)); /* no adjacency of users */
    assert_true(blocks[0].at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l1 == 1.0);
    plain_close(&clip.host);
}

/* ---- one ball over all blocks, the Gram row's among them ---------------------------------------- */

/* The change of each block of a message, as its sensitivity before the clip. */
static void state_change(const double *change, dpf_sensitivity blocks[4])
{
    const double up = 1 + 1e-15;

    fill(blocks, 4, NAN);
    for (int32_t k = 0; k < 4; k++) {
        double block[N];
        int32_t n = 0;
        for (int32_t r = k < 2 ? 0 : ROWS - 1; r < (k < 2 ? ROWS - 1 : ROWS); r++) {
            for (int32_t i = k % 2 ? 2 : 0; i < (k % 2 ? WIDTH : 2); i++) {
                block[n++] = change[r * WIDTH + i];
            }
        }
        blocks[k].at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE] =
            (dpf_norms){(double)norm_of(block, n, 1) * up, (double)norm_of(block, n, 2) * up,
                        (double)norm_of(block, n, 0) * up};
    }
}

static void check_one_ball(const char *settings, int p, double bound, double step)
{
    struct clip clip;
    dpf_query query;
    dpf_sensitivity blocks[4];
    dpf_joint_norm bounds[2];
    long double furthest = 0;

    open_clip(&clip, settings);
    two_blocks(&query);
    query.has_gram = 1;
    for (int32_t round = 0; round < 3000; round++) {
        double a[N], b[N], change[N];
        dpf_joint_norms after = {.size = sizeof(after), .capacity = 2, .bounds = bounds};
        const double size = exp2(uniform(-4, 5));
        for (int32_t i = 0; i < N; i++) {
            a[i] = uniform(-size, size);
            b[i] = a[i] + (round % 3 ? uniform(-step, step) : 0);
            b[i] = round % 3 ? b[i] : uniform(-size, size);
            change[i] = b[i] - a[i];
        }
        state_change(change, blocks);
        assert_int_equal(
            clip.functions->sensitivity(clip.host.self, &query, ROWS, blocks, blocks + 2, NULL, &after),
            DPF_OK);
        assert_int_equal(after.n, 1);
        const dpf_joint_norm *joint = &bounds[0];
        assert_int_equal(joint->blocks, 3 | 3 << DPF_GRAM_BIT);
        assert_true(joint->within == p);
        assert_true(joint->across == p);
        assert_true(joint->weight[DPF_GRAM_BIT] == 1);
        assert_true(joint->at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE] == bound);
        assert_true(joint->at[DPF_UNIT_USER][DPF_ADJ_REPLACE] == 2 * bound);
        assert_int_equal(apply(&clip, a, ROWS, WIDTH, WIDTH), DPF_OK);
        assert_int_equal(apply(&clip, b, ROWS, WIDTH, WIDTH), DPF_OK);
        assert_true(norm_of(a, N, p) <= (long double)bound);
        for (int32_t i = 0; i < N; i++) {
            change[i] = b[i] - a[i];
        }
        const long double moved = norm_of(change, N, p);
        assert_true(moved <= (long double)joint->at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE]);
        furthest = fmaxl(furthest, norm_of(a, N, p));
    }
    assert_true(furthest > 0.99L * (long double)bound); /* the ball is filled */
    plain_close(&clip.host);
}

TEST(all_blocks_share_one_ball)
{
    check_one_ball("norm=l2; bound=1.5", 2, 1.5, 0.05);
    check_one_ball("norm=l1; bound=1.5", 1, 1.5, 0.05);
    check_one_ball("norm=l2; bound=2", 2, 2, 3);
    check_one_ball("norm=l2; bound=0.5", 2, 0.5, 0.05);
}

/* ---- a bound for each block ------------------------------------------------------------------ */

/* One factor for all: the block that needs the smallest. */
TEST(blocks_stay_within_their_bounds)
{
    static const double bounds[2] = {0.5, 3};
    struct clip clip;
    dpf_query query;
    dpf_sensitivity blocks[2];
    open_clip(&clip, "norm=l2; block-bounds=0.5,3");
    two_blocks(&query);
    fill(blocks, 2, INFINITY);
    assert_int_equal(clip.functions->sensitivity(clip.host.self, &query, ROWS, blocks, NULL, NULL, NULL),
                     DPF_OK);
    for (int32_t round = 0; round < 3000; round++) {
        double a[N], before[N], block[N];
        const double size = exp2(uniform(-4, 6));
        double tightest = 1;
        for (int32_t i = 0; i < N; i++) {
            before[i] = a[i] = uniform(-size, size) * (round % 2 && i % WIDTH == 2 ? 40 : 1);
        }
        assert_int_equal(apply(&clip, a, ROWS, WIDTH, WIDTH), DPF_OK);
        for (int32_t b = 0; b < 2; b++) {
            const int32_t n = gather(&query, b, before, block);
            tightest = fmin(tightest, bounds[b] / (double)norm_of(block, n, 2));
            gather(&query, b, a, block);
            assert_true(norm_of(block, n, 2) <= (long double)bounds[b]);
        }
        for (int32_t i = 0; i < N; i++) {
            assert_true(fabs(a[i] - tightest * before[i]) <= 1e-12 * fabs(before[i]));
        }
        assert_covered(&query, a, (const double[N]){0}, blocks, DPF_UNIT_USER, DPF_ADJ_ZERO_OUT);
    }
    plain_close(&clip.host);
}

TEST(bounds_of_blocks_as_stated)
{
    struct clip clip;
    dpf_query query;
    dpf_sensitivity blocks[4];
    open_clip(&clip, "norm=l2; block-bounds=0.5,3");
    two_blocks(&query);
    fill(blocks, 2, INFINITY);
    assert_int_equal(clip.functions->sensitivity(clip.host.self, &query, 8, blocks, NULL, NULL, NULL),
                     DPF_OK);
    for (int32_t b = 0; b < 2; b++) {
        const double c = b ? 3 : 0.5;
        assert_true(blocks[b].at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT].l2 == c);
        assert_true(blocks[b].at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l2 == 2 * c);
        assert_true(blocks[b].at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2 == 2 * c);
    }
    /* A Gram row is part of the message and within the same bounds. */
    query.has_gram = 1;
    fill(blocks, 4, INFINITY);
    assert_int_equal(clip.functions->sensitivity(clip.host.self, &query, 8, blocks, blocks + 2, NULL, NULL),
                     DPF_OK);
    assert_true(blocks[3].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l2 == 3);
    query.n_blocks = 1;
    assert_int_equal(clip.functions->sensitivity(clip.host.self, &query, 8, blocks, NULL, NULL, NULL),
                     DPF_E_CONFIG);
    plain_close(&clip.host);
}

/* Every block of a row has a bound: one that has none would pass the clip as it is. */
TEST(no_block_goes_without_a_bound)
{
    struct clip clip;
    dpf_query query;
    dpf_sensitivity blocks[4];
    open_clip(&clip, "norm=l2; block-bounds=0.5");
    for (int32_t gram = 0; gram < 2; gram++) {
        two_blocks(&query);
        query.has_gram = gram;
        fill(blocks, 2, INFINITY);
        plain_clear(&clip.host);
        assert_int_equal(clip.functions->sensitivity(clip.host.self, &query, ROWS, blocks, NULL, NULL, NULL),
                         DPF_E_CONFIG);
        assert_non_null(strstr(clip.host.report, "a bound for each"));
        assert_true(isinf(blocks[1].at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT].l2));
    }
    plain_close(&clip.host);
}

/* Without knowing where blocks are, nothing is let through. */
TEST(blocks_must_be_known)
{
    struct clip clip;
    double values[3] = {1, 1, 1};
    open_clip(&clip, "block-bounds=0.5,3");
    assert_int_equal(apply(&clip, values, 1, 3, 3), DPF_E_INTERNAL);
    plain_close(&clip.host);
}

/* Why an L1 clip doubles a record's sensitivity: here a small change moves the clipped message by more. */
TEST(l1_clips_can_expand_a_change)
{
    struct clip clip;
    double a[2] = {1, 0};
    double b[2] = {1, 0.01};
    open_clip(&clip, "norm=l1; bound=1");
    assert_int_equal(apply(&clip, a, 1, 2, 2), DPF_OK);
    assert_int_equal(apply(&clip, b, 1, 2, 2), DPF_OK);
    assert_true(fabs(a[0] - b[0]) + fabs(a[1] - b[1]) > 1.9 * 0.01);
    plain_close(&clip.host);
}

TEST(settings_and_memory)
{
    const dpf_component *component = plain_component("clip-user", DPF_ROLE_TRANSFORM, "clip-user");
    struct plain_host host;
    plain_check_memory(component, "");
    plain_init(&host, component);
    assert_int_equal(plain_create(&host, "bound=0"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&host, "bound=inf"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&host, "bound=1; block-bounds=1,1"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&host, "block-bounds=1,1,1,1,1,1,1,1,1"), DPF_E_CONFIG);
    plain_close(&host);
}
