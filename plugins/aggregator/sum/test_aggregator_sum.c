/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_host.h"

#define ROWS 5
#define WIDTH 3
#define N (ROWS * WIDTH)
#define PARTIES 6

struct sum {
    struct plain_host host;
    const dpf_aggregator *functions;
};

static void open_sum(struct sum *sum)
{
    const dpf_component *component = plain_component("sum", DPF_ROLE_AGGREGATOR, "sum");

    plain_open(&sum->host, component, "");
    sum->functions = component->functions;
    assert_int_equal(sum->functions->sees, DPF_SEES_MESSAGES);
    assert_int_equal(sum->functions->flags, DPF_AGGREGATOR_BY_ROWS | DPF_AGGREGATOR_ADDS);
}

static dpf_aggregation aggregation(int64_t *sums, uint64_t modulus)
{
    const dpf_aggregation out = {.size = sizeof(out),
                                 .width = WIDTH,
                                 .rows = ROWS,
                                 .n_parties = PARTIES,
                                 .modulus = modulus,
                                 .sums = memset(sums, 0, N * sizeof(int64_t))};

    return out;
}

static dpf_encoded message(int64_t *values, const int32_t *rows, int64_t n_rows)
{
    const dpf_encoded out = {.size = sizeof(out),
                             .width = WIDTH,
                             .n_rows = n_rows,
                             .rows = rows,
                             .total_rows = ROWS,
                             .values = values,
                             .stride = WIDTH};

    return out;
}

static dpf_status absorb(struct sum *sum, dpf_aggregation *into, const dpf_encoded *from)
{
    plain_clear(&sum->host);
    return sum->functions->absorb(sum->host.self, plain_call(&sum->host), into, from);
}

TEST(rows_find_their_place)
{
    static const int32_t rows[] = {1, 4};
    struct sum sum;
    int64_t sums[N], dense[N], sparse[2 * WIDTH] = {10, 20, 30, -40, 50, 60};
    open_sum(&sum);
    dpf_aggregation into = aggregation(sums, 0);
    for (int32_t i = 0; i < N; i++) {
        dense[i] = i - 7;
    }
    const dpf_encoded all = message(dense, NULL, ROWS);
    const dpf_encoded some = message(sparse, rows, 2);
    dpf_encoded range = message(dense, NULL, 2);
    range.first_row = 3;
    assert_int_equal(absorb(&sum, &into, &all), DPF_OK);
    assert_int_equal(absorb(&sum, &into, &some), DPF_OK);
    assert_int_equal(absorb(&sum, &into, &range), DPF_OK);
    for (int32_t r = 0; r < ROWS; r++) {
        for (int32_t i = 0; i < WIDTH; i++) {
            int64_t expected = r * WIDTH + i - 7;
            expected += r == 1 ? sparse[i] : r == 4 ? sparse[WIDTH + i] : 0;
            expected += r >= 3 ? (r - 3) * WIDTH + i - 7 : 0;
            assert_int_equal(sums[r * WIDTH + i], expected);
        }
    }
    assert_int_equal(into.survivors, 3);
    assert_int_equal(into.bytes_up, (ROWS + 2 + 2) * WIDTH * 8 + 2 * 4);
    assert_true(sum.functions->scale(sum.host.self, 17) == 1.0);

    dpf_encoded outside = some;
    static const int32_t bad_rows[] = {1, ROWS};
    outside.rows = bad_rows;
    assert_int_equal(absorb(&sum, &into, &outside), DPF_E_INTERNAL);
    outside = range;
    outside.first_row = -1;
    assert_int_equal(absorb(&sum, &into, &outside), DPF_E_INTERNAL);
    outside = all;
    outside.width = 2;
    assert_int_equal(absorb(&sum, &into, &outside), DPF_E_INTERNAL);
    plain_close(&sum.host);
}

static uint64_t next_word(void)
{
    static uint64_t seed = 3;

    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed ^ (seed >> 29);
}

/* Every order, and every way to deal parties to two workers, gives the same sums. */
static void order_and_workers_do_not_matter(uint64_t modulus)
{
    struct sum sum;
    int64_t values[PARTIES][N], first[N], a[N], b[N];

    open_sum(&sum);
    for (int32_t p = 0; p < PARTIES; p++) {
        for (int32_t i = 0; i < N; i++) {
            values[p][i] = (int64_t)next_word() >> 4;
        }
    }
    dpf_aggregation all = aggregation(first, modulus);
    for (int32_t p = 0; p < PARTIES; p++) {
        const dpf_encoded one = message(values[p], NULL, ROWS);
        assert_int_equal(absorb(&sum, &all, &one), DPF_OK);
    }
    for (uint32_t split = 0; split < 1U << PARTIES; split++) {
        dpf_aggregation left = aggregation(a, modulus);
        dpf_aggregation right = aggregation(b, modulus);
        for (int32_t p = PARTIES - 1; p >= 0; p--) {
            const dpf_encoded one = message(values[p], NULL, ROWS);
            assert_int_equal(absorb(&sum, split >> p & 1 ? &left : &right, &one), DPF_OK);
        }
        assert_int_equal(sum.functions->merge(sum.host.self, plain_call(&sum.host), &left, &right), DPF_OK);
        assert_memory_equal(a, first, sizeof(a));
        assert_int_equal(left.survivors, PARTIES);
        assert_int_equal(left.bytes_up, all.bytes_up);
    }
    for (int32_t i = 0; i < N; i++) {
        __int128 exact = 0;
        for (int32_t p = 0; p < PARTIES; p++) {
            exact += values[p][i];
        }
        if (modulus) {
            exact %= (__int128)modulus;
            exact += exact < 0 ? (__int128)modulus : 0;
        }
        assert_true(exact == first[i]);
    }
    plain_close(&sum.host);
}

TEST(sums_are_exact)
{
    order_and_workers_do_not_matter(0);
    order_and_workers_do_not_matter(1);
    order_and_workers_do_not_matter(943 * 15 + 1);
    order_and_workers_do_not_matter(UINT64_C(1) << 40);
    order_and_workers_do_not_matter(UINT64_C(1) << 63);
    order_and_workers_do_not_matter((UINT64_C(1) << 63) - 25);
}

/* Sums are added several at a time, and the last ones by themselves. */
TEST(an_overflow_is_found_wherever_it_is)
{
    static const int64_t ends[][2] = {{INT64_MAX, 1}, {INT64_MIN, -1}};
    struct sum sum;
    int64_t sums[N], other[N];
    open_sum(&sum);
    for (int at = 0; at < N; at++)
        for (int end = 0; end < 2; end++)
            for (int beyond = 0; beyond < 2; beyond++) {
                dpf_aggregation into = aggregation(sums, 0), from = aggregation(other, 0);
                for (int i = 0; i < N; i++) {
                    sums[i] = ends[i % 2][0] / 2;
                    other[i] = ends[i % 3 % 2][0] / 2;
                }
                sums[at] = ends[end][0];
                other[at] = beyond ? ends[end][1] : -ends[end][1];
                plain_clear(&sum.host);
                assert_int_equal(sum.functions->merge(sum.host.self, plain_call(&sum.host), &into, &from),
                                 beyond ? DPF_E_RANGE : DPF_OK);
            }
    plain_close(&sum.host);
}

TEST(extremes)
{
    struct sum sum;
    int64_t sums[N], other[N], values[N] = {INT64_MAX, INT64_MIN, 0};
    open_sum(&sum);
    const dpf_encoded one = message(values, NULL, ROWS);
    dpf_aggregation into = aggregation(sums, 0);
    assert_int_equal(absorb(&sum, &into, &one), DPF_OK);
    dpf_aggregation from = aggregation(other, 0);
    other[0] = 1;
    assert_int_equal(sum.functions->merge(sum.host.self, plain_call(&sum.host), &into, &from), DPF_E_RANGE);
    values[0] = 0;
    values[1] = -1;
    assert_int_equal(absorb(&sum, &into, &one), DPF_E_RANGE);
    assert_int_equal(sum.host.code, DPF_E_RANGE);

    into = aggregation(sums, 7);
    values[0] = INT64_MAX;
    values[1] = INT64_MIN;
    assert_int_equal(absorb(&sum, &into, &one), DPF_OK);
    assert_int_equal(sums[0], INT64_MAX % 7);
    assert_int_equal(sums[1], 7 + INT64_MIN % 7);

    into = aggregation(sums, (UINT64_C(1) << 63) + 1);
    assert_int_equal(absorb(&sum, &into, &one), DPF_E_UNSUPPORTED);
    from = aggregation(other, 7);
    into = aggregation(sums, 8);
    assert_int_equal(sum.functions->merge(sum.host.self, plain_call(&sum.host), &into, &from),
                     DPF_E_INTERNAL);
    plain_close(&sum.host);
}

/* ---- rounds by messages ---- */

struct end {
    struct sum *sum;
    dpf_exchange x;
    _Alignas(64) uint8_t state[1 << 12];
};

static void open_end(struct end *end, struct sum *sum, int32_t which, const uint32_t *parties,
                     uint8_t *in_sum)
{
    memset(end, 0, sizeof(*end));
    end->sum = sum;
    end->x = (dpf_exchange){.size = sizeof(end->x),
                            .end = which,
                            .width = WIDTH,
                            .rows = ROWS,
                            .n_parties = 3,
                            .round = 4,
                            .next_round = 4,
                            .parties = parties,
                            .state = end->state,
                            .limit = 1000,
                            .in_sum = in_sum};
    memset(end->x.agreed, 7, sizeof(end->x.agreed));
    assert_true(sum->functions->exchange_bytes(sum->host.self, &end->x) <= sizeof(end->state));
    assert_int_equal(sum->functions->exchange_open(sum->host.self, plain_call(&sum->host), &end->x), DPF_OK);
}

static int32_t answer(struct end *end, const dpf_encoded *own, const uint8_t *asked, uint64_t n,
                      uint8_t *reply, uint64_t *n_reply)
{
    const struct sum *sum = end->sum;
    int32_t outcome = -1;
    assert_int_equal(sum->functions->party_answer(sum->host.self, plain_call(&end->sum->host), &end->x, own,
                                                  asked, n, reply, n_reply, &outcome),
                     DPF_OK);
    return outcome;
}

static int32_t take(struct end *end, uint32_t party, const uint8_t *message_bytes, uint64_t n)
{
    const struct sum *sum = end->sum;
    int32_t outcome = -1;
    assert_int_equal(sum->functions->server_take(sum->host.self, plain_call(&end->sum->host), &end->x, party,
                                                 message_bytes, n, &outcome),
                     DPF_OK);
    return outcome;
}

/* The server adds what fits: once from each, on its own terms, of the agreed shape, within the limit and 64 bits. */
TEST(rounds_by_messages)
{
    static const uint32_t parties[] = {2, 5, 9};
    static const int32_t rows[] = {1, 4};
    static uint8_t asked[1 << 12], reply[1 << 12], wrong[1 << 12];
    static struct end server, party;
    struct sum sum;
    uint8_t in_sum[3];
    int64_t sums[N], dense[N], sparse[2 * WIDTH] = {10, 20, 30, -40, 50, 60};
    uint64_t n_asked, n;
    int32_t outcome;
    for (int i = 0; i < N; i++)
        dense[i] = i - 7;
    open_sum(&sum);
    open_end(&server, &sum, DPF_END_SERVER, parties, in_sum);
    assert_int_equal(
        sum.functions->server_send(sum.host.self, plain_call(&sum.host), &server.x, 0, asked, &n_asked),
        DPF_OK);
    open_end(&party, &sum, DPF_END_PARTY, NULL, NULL);
    const dpf_encoded named = message(sparse, rows, 2), whole = message(dense, NULL, ROWS);
    assert_int_equal(answer(&party, &named, asked, n_asked, reply, &n), DPF_EXCHANGE_OVER);
    assert_int_equal(party.x.next_round, 5);
    assert_true(n <= sum.functions->exchange_room(sum.host.self, &party.x));
    assert_int_equal(take(&server, 3, reply, n), DPF_EXCHANGE_REFUSED); /* nobody has asked it */
    for (uint64_t at = 0; at < n; at++) { /* terms, round, shape, and the high bytes of rows and numbers */
        memcpy(wrong, reply, n);
        wrong[at] ^= 0x80;
        /* Names and numbers that nobody sends are told from what did not arrive whole. */
        if (at < 56)
            assert_int_equal(take(&server, 2, wrong, n), DPF_EXCHANGE_REFUSED);
        else if (at < 64 || at % 8 == 7)
            assert_int_equal(take(&server, 2, wrong, n), DPF_EXCHANGE_LIES);
    }
    assert_int_equal(take(&server, 2, reply, n - 1), DPF_EXCHANGE_REFUSED);
    assert_int_equal(take(&server, 2, reply, n), DPF_EXCHANGE_OVER);
    assert_int_equal(take(&server, 2, reply, n), DPF_EXCHANGE_REFUSED); /* once */
    assert_int_equal(answer(&party, &named, asked, n_asked, reply, &n), DPF_EXCHANGE_REFUSED);
    assert_int_equal(n, 0);
    open_end(&party, &sum, DPF_END_PARTY, NULL, NULL);
    party.x.next_round = 5; /* it has answered this round before it was started again */
    assert_int_equal(answer(&party, &whole, asked, n_asked, reply, &n), DPF_EXCHANGE_REFUSED);
    open_end(&party, &sum, DPF_END_PARTY, NULL, NULL);
    dense[3] = 1001;
    assert_int_equal(answer(&party, &whole, asked, n_asked, reply, &n), DPF_EXCHANGE_OVER);
    assert_int_equal(take(&server, 9, reply, n), DPF_EXCHANGE_LIES);
    dense[3] = -1000;
    open_end(&party, &sum, DPF_END_PARTY, NULL, NULL);
    assert_int_equal(answer(&party, &whole, asked, n_asked, reply, &n), DPF_EXCHANGE_OVER);
    assert_int_equal(take(&server, 9, reply, n), DPF_EXCHANGE_OVER);
    dpf_aggregation into = aggregation(sums, 0);
    assert_int_equal(
        sum.functions->server_close(sum.host.self, plain_call(&sum.host), &server.x, &into, &outcome),
        DPF_OK);
    assert_int_equal(outcome, DPF_EXCHANGE_OVER);
    assert_int_equal(into.survivors, 2);
    assert_memory_equal(in_sum, ((const uint8_t[]){1, 0, 1}), 3);
    for (int i = 0; i < N; i++) {
        const int row = i / WIDTH, column = i % WIDTH;
        const int64_t more = row == 1 ? sparse[column] : row == 4 ? sparse[WIDTH + column] : 0;
        assert_int_equal(sums[i], dense[i] + more);
    }
    plain_close(&sum.host);
}

TEST(memory)
{
    plain_check_memory(plain_component("sum", DPF_ROLE_AGGREGATOR, "sum"), "");
}
