/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_host.h"

#define ROWS 6
#define WIDTH 5
#define N (ROWS * WIDTH)

struct modular {
    struct plain_host host;
    const dpf_aggregator *functions;
};

static void open_modular(struct modular *m, const char *settings)
{
    const dpf_component *component = plain_component("modular-sum", DPF_ROLE_AGGREGATOR, "modular-sum");
    plain_open(&m->host, component, settings);
    m->functions = component->functions;
    assert_int_equal(m->functions->sees, DPF_SEES_SUM);
    assert_true(m->functions->flags & DPF_AGGREGATOR_DENSE);
}

static dpf_aggregation aggregation(int64_t *sums, uint64_t modulus)
{
    memset(sums, 0, N * sizeof(*sums));
    return (dpf_aggregation){.size = sizeof(dpf_aggregation),
                             .width = WIDTH,
                             .rows = ROWS,
                             .n_parties = 100,
                             .modulus = modulus,
                             .sums = sums};
}

static dpf_status absorb(struct modular *m, dpf_aggregation *into, int64_t *values)
{
    const dpf_encoded message = {.size = sizeof(message),
                                 .width = WIDTH,
                                 .n_rows = ROWS,
                                 .total_rows = ROWS,
                                 .values = values,
                                 .stride = WIDTH,
                                 .survivors = 1};
    plain_clear(&m->host);
    return m->functions->absorb(m->host.self, plain_call(&m->host), into, &message);
}

static uint64_t seed = 5;

static int64_t draw(int64_t bound)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 20) % (uint64_t)bound);
}

/* Every subset of five messages, in two halves that are merged, in both orders: the same sum. */
TEST(sums_are_those_of_the_survivors)
{
    static const uint64_t moduli[] = {0, 2, 7, 95, UINT64_C(1) << 33, UINT64_C(1) << 63};
    int64_t values[5][N], sums[N], other[N];
    struct modular m;
    open_modular(&m, "");
    for (size_t k = 0; k < sizeof(moduli) / sizeof(moduli[0]); k++)
        for (int who = 1; who < 32; who++) {
            for (int p = 0; p < 5; p++)
                for (int i = 0; i < N; i++)
                    values[p][i] = draw(INT64_C(1) << 40) - (INT64_C(1) << 39);
            dpf_aggregation a = aggregation(sums, moduli[k]), b = aggregation(other, moduli[k]);
            for (int p = 4; p >= 0; p--)
                if (who >> p & 1)
                    assert_int_equal(absorb(&m, p % 2 ? &a : &b, values[p]), DPF_OK);
            assert_int_equal(m.functions->merge(m.host.self, plain_call(&m.host), &a, &b), DPF_OK);
            assert_int_equal(m.functions->finish(m.host.self, plain_call(&m.host), &a), DPF_OK);
            assert_int_equal(a.survivors, __builtin_popcount((unsigned)who));
            for (int i = 0; i < N; i++) {
                __int128 sum = 0;
                for (int p = 0; p < 5; p++)
                    sum += who >> p & 1 ? values[p][i] : 0;
                if (moduli[k]) {
                    sum %= (__int128)moduli[k];
                    sum += sum < 0 ? (__int128)moduli[k] : 0;
                }
                assert_true(sums[i] == (int64_t)sum);
            }
        }
    plain_close(&m.host);
}

/* A message without its rows of zeros adds the same numbers and counts the same bytes. */
TEST(rows_of_zeros_may_be_left_out)
{
    static const int32_t rows[] = {1, 2, 5}, strange[] = {1, ROWS}, before[] = {-1};
    static const uint64_t moduli[] = {0, 95};
    int64_t values[N], few[3 * WIDTH], sums[N], other[N];
    struct modular m;
    open_modular(&m, "");
    assert_true(m.functions->flags & DPF_AGGREGATOR_FILLS);
    for (int k = 0; k < 2; k++) {
        dpf_aggregation a = aggregation(sums, moduli[k]), b = aggregation(other, moduli[k]);
        dpf_encoded message = {.size = sizeof(message),
                               .width = WIDTH,
                               .n_rows = 3,
                               .rows = rows,
                               .total_rows = ROWS,
                               .values = few,
                               .stride = WIDTH,
                               .survivors = 1};
        memset(values, 0, sizeof(values));
        for (int i = 0; i < 3 * WIDTH; i++)
            values[rows[i / WIDTH] * WIDTH + i % WIDTH] = few[i] = draw(1000) - 500;
        for (int twice = 0; twice < 2; twice++) {
            assert_int_equal(absorb(&m, &a, values), DPF_OK);
            assert_int_equal(m.functions->absorb(m.host.self, plain_call(&m.host), &b, &message), DPF_OK);
        }
        assert_memory_equal(sums, other, sizeof(sums));
        assert_int_equal(a.survivors, b.survivors);
        assert_int_equal(a.bytes_up, b.bytes_up);
        message.rows = strange;
        message.n_rows = 2;
        assert_int_equal(m.functions->absorb(m.host.self, plain_call(&m.host), &b, &message), DPF_E_INTERNAL);
        message.rows = before;
        message.n_rows = 1;
        assert_int_equal(m.functions->absorb(m.host.self, plain_call(&m.host), &b, &message), DPF_E_INTERNAL);
    }
    plain_close(&m.host);
}

/* N numbers of ceil(log2 M) bits, rounded up to bytes. */
TEST(bytes_follow_the_modulus)
{
    static const struct {
        uint64_t modulus, bytes;
    } cases[] = {{2, (30 + 7) / 8},     {3, (60 + 7) / 8},     {944, (300 + 7) / 8},
                 {1024, (300 + 7) / 8}, {1025, (330 + 7) / 8}, {0, 240}};
    int64_t values[N] = {0}, sums[N];
    struct modular m;
    open_modular(&m, "");
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        dpf_aggregation a = aggregation(sums, cases[k].modulus);
        assert_int_equal(absorb(&m, &a, values), DPF_OK);
        assert_int_equal(absorb(&m, &a, values), DPF_OK);
        assert_int_equal(a.bytes_up, 2 * cases[k].bytes);
        assert_int_equal(a.bytes_down, 0);
    }
    plain_close(&m.host);
}

TEST(sums_of_too_few_stay_closed)
{
    int64_t values[N], sums[N];
    struct modular m;
    open_modular(&m, "survivors=3; scale=mean");
    dpf_aggregation a = aggregation(sums, 97);
    for (int i = 0; i < N; i++)
        values[i] = i;
    for (int p = 1; p <= 3; p++) {
        assert_int_equal(absorb(&m, &a, values), DPF_OK);
        dpf_aggregation copy = a;
        int64_t left[N];
        memcpy(left, sums, sizeof(left));
        copy.sums = left;
        assert_int_equal(m.functions->finish(m.host.self, plain_call(&m.host), &copy),
                         p < 3 ? DPF_E_PRIVACY : DPF_OK);
        assert_int_equal(left[7], p < 3 ? 0 : 21); /* nothing of it is left to read */
    }
    assert_true(m.functions->scale(m.host.self, 4) == 0.25);
    assert_true(m.functions->scale(m.host.self, 0) == 1);
    plain_close(&m.host);
    open_modular(&m, "");
    assert_true(m.functions->scale(m.host.self, 4) == 1);
    plain_close(&m.host);
}

TEST(refusals_and_memory)
{
    int64_t values[N] = {INT64_MAX}, sums[N], other[N];
    struct modular m;
    open_modular(&m, "");
    dpf_aggregation a = aggregation(sums, 0), b = aggregation(other, 7);
    assert_int_equal(absorb(&m, &a, values), DPF_OK);
    assert_int_equal(absorb(&m, &a, values), DPF_E_RANGE);
    assert_int_equal(m.functions->merge(m.host.self, plain_call(&m.host), &a, &b), DPF_E_INTERNAL);
    a = aggregation(sums, (UINT64_C(1) << 63) + 1);
    assert_int_equal(absorb(&m, &a, values), DPF_E_UNSUPPORTED);
    a = aggregation(sums, 7);
    const dpf_encoded beyond = {.size = sizeof(beyond),
                                .width = WIDTH,
                                .n_rows = ROWS,
                                .first_row = 1,
                                .total_rows = ROWS,
                                .values = values,
                                .stride = WIDTH,
                                .survivors = 1};
    assert_int_equal(m.functions->absorb(m.host.self, plain_call(&m.host), &a, &beyond), DPF_E_INTERNAL);
    plain_close(&m.host);
    plain_check_memory(m.host.component, "");
}
