/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_host.h"

#define N 600

struct stretch {
    struct plain_host host;
    const dpf_transform *functions;
    int32_t users[N], items[N];
    float weights[N];
    dpf_records records;
};

static uint64_t seed = 11;

static double uniform(double lo, double hi)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

static void open_stretch(struct stretch *s, const char *settings)
{
    const dpf_component *component = plain_component("stretch", DPF_ROLE_TRANSFORM, "stretch");
    plain_open(&s->host, component, settings);
    s->functions = component->functions;
    assert_int_equal(s->functions->kind, DPF_TRANSFORM_RECORD);
    for (int i = 0; i < N; i++) {
        s->users[i] = i / 30;
        s->items[i] = i % 30;
        s->weights[i] = i % 50 == 0 ? 1.0F : (float)uniform(0.01, 1);
    }
    s->records = (dpf_records){.size = sizeof(dpf_records),
                               .n = N,
                               .users = s->users,
                               .items = s->items,
                               .privacy_weights = s->weights};
}

static dpf_status stretch_values(struct stretch *s, float *values)
{
    return s->functions->records(s->host.self, plain_call(&s->host), &s->records, values);
}

/* Two data sets that differ in one rating: it moves by W times the change, never by more than is stated. */
static void check_neighbours(const char *settings)
{
    static const double ranges[][2] = {{1, 5}, {0.5, 4}, {-10, 10}, {-5, -1}, {0, 1}};
    struct stretch s;

    open_stretch(&s, settings);
    for (size_t c = 0; c < sizeof(ranges) / sizeof(ranges[0]); c++) {
        double lo = ranges[c][0], hi = ranges[c][1];
        dpf_bounds bounds = {.size = sizeof(bounds), .value_lo = lo, .value_hi = hi};
        float first[N], second[N];
        double largest = 0;
        assert_int_equal(s.functions->bounds(s.host.self, &bounds), DPF_OK);
        for (int i = 0; i < N; i++) {
            first[i] = (float)lo;
            second[i] = (float)hi;
        }
        assert_int_equal(stretch_values(&s, first), DPF_OK);
        assert_int_equal(stretch_values(&s, second), DPF_OK);
        for (int i = 0; i < N; i++) {
            double change = fabs((double)second[i] - (double)first[i]);
            double rounding = 0x1p-23 * fmax(fmax(fabs(lo), fabs(hi)), 3);
            assert_true(change <= (double)s.weights[i] * (hi - lo) + rounding);
            assert_true(change >= (double)s.weights[i] * (hi - lo) - rounding);
            assert_true((double)first[i] >= bounds.value_lo);
            assert_true((double)second[i] <= bounds.value_hi);
            largest = fmax(largest, change);
        }
        assert_true(largest <= bounds.value_change);
        assert_true(bounds.value_change <=
                    (hi - lo) * (1 + 1e-5)); /* the noise of the publication, not more */
    }
    plain_close(&s.host);
}

TEST(neighbours_differ_by_weight_times_range)
{
    check_neighbours("");
    check_neighbours("center=3");
    check_neighbours("center=-0.5");
}

TEST(bounds_of_earlier_transforms_survive)
{
    struct stretch s;
    dpf_bounds bounds = {.size = sizeof(bounds), .value_lo = 1, .value_hi = 5, .value_change = 2};
    open_stretch(&s, "");
    assert_int_equal(s.functions->bounds(s.host.self, &bounds), DPF_OK);
    assert_true(bounds.value_lo == 0);
    assert_true(bounds.value_hi == 5);
    assert_true(bounds.value_change >= 2);
    assert_true(bounds.value_change < 2.0001);
    plain_close(&s.host);
}

TEST(predictions_come_back_to_the_scale_of_ratings)
{
    struct stretch s;
    float values[N];
    double scores[N], stretched[N];
    for (int i = 0; i < N; i++)
        values[i] = (float)(1 + i % 5);
    open_stretch(&s, "rescale=yes; center=2.5");
    assert_int_equal(stretch_values(&s, values), DPF_OK);
    for (int i = 0; i < N; i++)
        scores[i] = stretched[i] = (double)values[i];
    assert_int_equal(s.functions->predictions(s.host.self, plain_call(&s.host), &s.records, scores), DPF_OK);
    for (int i = 0; i < N; i++)
        assert_true(fabs(scores[i] - (1 + i % 5)) < 3e-5);
    plain_close(&s.host);
    open_stretch(&s, "rescale=no");
    memcpy(scores, stretched, sizeof(scores));
    assert_int_equal(s.functions->predictions(s.host.self, plain_call(&s.host), &s.records, scores), DPF_OK);
    assert_memory_equal(scores, stretched, sizeof(scores));
    plain_close(&s.host);
}

TEST(records_without_weights_stay)
{
    struct stretch s;
    float values[N];
    double scores[N];
    open_stretch(&s, "");
    s.records.privacy_weights = NULL;
    for (int i = 0; i < N; i++)
        scores[i] = values[i] = (float)i;
    assert_int_equal(stretch_values(&s, values), DPF_OK);
    assert_int_equal(s.functions->predictions(s.host.self, plain_call(&s.host), &s.records, scores), DPF_OK);
    for (int i = 0; i < N; i++) {
        assert_true(values[i] == (float)i);
        assert_true(scores[i] == i);
    }
    plain_close(&s.host);
}

TEST(weights_that_break_the_bound_are_refused)
{
    static const float bad[] = {0, -1, 1.0000001F, 2, NAN, INFINITY};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct stretch s;
        float values[N] = {0};
        double scores[N] = {0};
        open_stretch(&s, "");
        s.weights[N - 1] = bad[i];
        assert_int_equal(stretch_values(&s, values), DPF_E_PRIVACY);
        assert_int_equal(s.functions->predictions(s.host.self, plain_call(&s.host), &s.records, scores),
                         DPF_E_PRIVACY);
        plain_close(&s.host);
    }
}

TEST(memory_failures_are_reported)
{
    plain_check_memory(plain_component("stretch", DPF_ROLE_TRANSFORM, "stretch"), "");
}
