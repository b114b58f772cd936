/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_host.h"

static uint64_t seed = 7;

static double uniform(double lo, double hi)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

static long double norm_of(const float *row, int32_t n, int l1)
{
    long double sum = 0;

    for (int32_t i = 0; i < n; i++) {
        const long double x = (long double)row[i];
        sum += l1 ? fabsl(x) : x * x;
    }
    return l1 ? sum : sqrtl(sum);
}

struct clip {
    struct plain_host host;
    const dpf_transform *functions;
};

static void open_clip(struct clip *clip, const char *settings)
{
    const dpf_component *component = plain_component("clip-rows", DPF_ROLE_TRANSFORM, "clip-rows");

    plain_open(&clip->host, component, settings);
    clip->functions = component->functions;
    assert_int_equal(clip->functions->kind, DPF_TRANSFORM_FACTOR);
}

static dpf_status apply(struct clip *clip, float *rows, int64_t count, int64_t stride, int32_t first,
                        int32_t cols)
{
    plain_clear(&clip->host);
    return clip->functions->factors(clip->host.self, plain_call(&clip->host), rows, count, stride, first,
                                    cols);
}

/* In exact arithmetic, for rows of any size: never outside, close to the bound, same direction. */
static void check_norm(const char *settings, int l1, double bound)
{
    struct clip clip;
    float row[200], before[200];

    open_clip(&clip, settings);
    memset(row, 0, sizeof(row));
    for (int32_t round = 0; round < 4000; round++) {
        const int32_t n = 1 + round % 190;
        const double size = exp2(uniform(-30, 60));
        for (int32_t i = 0; i < n; i++) {
            row[i] = (float)uniform(-size, size);
        }
        memcpy(before, row, sizeof(row));
        const long double old = norm_of(before, n, l1);
        assert_int_equal(apply(&clip, row, 1, 200, 0, n), DPF_OK);
        const long double now = norm_of(row, n, l1);
        assert_true(now <= (long double)bound);
        if (old <= 0.999L * (long double)bound) {
            assert_memory_equal(row, before, (size_t)n * sizeof(float));
        } else if (old > (long double)bound) {
            assert_true(now >= 0.99999L * (long double)bound);
            for (int32_t i = 0; i < n; i++) {
                assert_true(fabsl((long double)row[i] * old - (long double)before[i] * now) <=
                            1e-6L * old * (long double)bound);
            }
        }
        float again[200];
        memcpy(again, row, sizeof(row));
        assert_int_equal(apply(&clip, again, 1, 200, 0, n), DPF_OK);
        assert_memory_equal(again, row, (size_t)n * sizeof(float)); /* a clipped row stays as it is */
    }
    plain_close(&clip.host);
}

TEST(rows_stay_within_the_bound)
{
    check_norm("norm=l2; bound=1", 0, 1);
    check_norm("norm=l1; bound=1", 1, 1);
    check_norm("norm=l2; bound=0.3", 0, 0.3);
    check_norm("norm=l1; bound=1e-20", 1, 1e-20);
    check_norm("norm=l2; bound=12345.678", 0, 12345.678);
}

TEST(only_the_columns_of_interest_count)
{
    struct clip clip;
    float rows[2][16] = {{9, 3, 4, 9, 9}, {9, 0, 0, 9, 9}};
    open_clip(&clip, "bound=1");
    assert_int_equal(apply(&clip, &rows[0][0], 2, 16, 1, 2), DPF_OK);
    assert_true(rows[0][0] == 9);
    assert_true(rows[0][3] == 9);
    assert_true(rows[0][4] == 9);
    assert_true(fabsf(rows[0][1] - 0.6F) < 1e-6F);
    assert_true(fabsf(rows[0][2] - 0.8F) < 1e-6F);
    assert_true(rows[1][1] == 0);
    assert_true(rows[1][2] == 0); /* zero stays zero */
    plain_close(&clip.host);
}

TEST(rows_that_are_not_finite_are_errors)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    struct clip clip;
    for (int32_t l1 = 0; l1 < 2; l1++) {
        open_clip(&clip, l1 ? "norm=l1" : "norm=l2");
        for (size_t i = 0; i < 3; i++) {
            float row[3] = {1, bad[i], 1};
            assert_int_equal(apply(&clip, row, 1, 3, 0, 3), DPF_E_NUMERIC);
        }
        float row[2] = {3e38F, 3e38F}; /* the norm exceeds the range of float, but not of double */
        assert_int_equal(apply(&clip, row, 1, 2, 0, 2), DPF_OK);
        assert_true(norm_of(row, 2, l1) <= 1.0L);
        plain_close(&clip.host);
    }
}

TEST(bounds_tighten)
{
    struct clip clip;
    dpf_bounds bounds = {
        .size = sizeof(bounds), .dimension = 16, .other_l1 = 3, .other_l2 = INFINITY, .other_linf = 0.5};
    open_clip(&clip, "norm=l2; bound=2");
    assert_int_equal(clip.functions->bounds(clip.host.self, &bounds), DPF_OK);
    assert_true(bounds.other_l1 == 3);
    assert_true(bounds.other_l2 == 2);
    assert_true(bounds.other_linf == 0.5);
    bounds.other_l1 = INFINITY;
    assert_int_equal(clip.functions->bounds(clip.host.self, &bounds), DPF_OK);
    assert_true(bounds.other_l1 == 8);

    /* A maximum over private data gives way to the public bound, even if it is smaller. */
    bounds.from_data = 1;
    bounds.other_l1 = bounds.other_l2 = bounds.other_linf = 0.125;
    assert_int_equal(clip.functions->bounds(clip.host.self, &bounds), DPF_OK);
    assert_true(bounds.other_l1 == 8);
    assert_true(bounds.other_l2 == 2);
    assert_true(bounds.other_linf == 2);
    plain_close(&clip.host);

    open_clip(&clip, "norm=l1; bound=2");
    bounds.from_data = 0;
    bounds.other_l1 = bounds.other_l2 = bounds.other_linf = INFINITY;
    assert_int_equal(clip.functions->bounds(clip.host.self, &bounds), DPF_OK);
    assert_true(bounds.other_l1 == 2);
    assert_true(bounds.other_l2 == 2);
    assert_true(bounds.other_linf == 2);
    plain_close(&clip.host);
}

TEST(settings_and_memory)
{
    const dpf_component *component = plain_component("clip-rows", DPF_ROLE_TRANSFORM, "clip-rows");
    struct plain_host host;
    plain_check_memory(component, "");
    plain_init(&host, component);
    assert_int_equal(plain_create(&host, "bound=0"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&host, "norm=l3"), DPF_E_CONFIG);
    plain_close(&host);
}
