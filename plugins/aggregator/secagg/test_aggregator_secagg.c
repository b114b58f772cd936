/* SPDX-License-Identifier: Apache-2.0 */
/* The component: sums of messages, what is refused, and that losses and bytes are those of the protocol. */
#include "sanitized.h"
#include "kit/plain_random.h"

#define ROWS 3
#define WIDTH 5
#define N (ROWS * WIDTH)
#define PARTIES 12

struct one {
    struct plain_host host;
    const dpf_aggregator *functions;
    dpf_aggregation into;
    int64_t sums[N];
    int64_t values[PARTIES][N];
};

static void open_secagg(struct one *one, const char *settings)
{
    plain_open_random(&one->host, plain_component("secagg", DPF_ROLE_AGGREGATOR, "secagg"), settings);
    one->functions = one->host.component->functions;
}

static void start(struct one *one, uint64_t modulus, int64_t parties)
{
    memset(one->sums, 0, sizeof(one->sums));
    one->into = (dpf_aggregation){.size = sizeof(one->into),
                                  .width = WIDTH,
                                  .rows = ROWS,
                                  .n_parties = parties,
                                  .modulus = modulus,
                                  .sums = one->sums};
    const uint64_t bytes = one->functions->state_bytes(one->host.self, &one->into);
    one->into.state = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
    assert_non_null(one->into.state);
    memset(one->into.state, 0, (size_t)bytes);
}

static dpf_status absorb(struct one *one, uint32_t party, const int64_t *values)
{
    const dpf_encoded message = {.size = sizeof(message),
                                 .width = WIDTH,
                                 .n_rows = ROWS,
                                 .total_rows = ROWS,
                                 .values = (int64_t *)(uintptr_t)values,
                                 .stride = WIDTH,
                                 .survivors = 1};
    const dpf_call *call = plain_call(&one->host);
    one->host.call.party = party;
    return one->functions->absorb(one->host.self, call, &one->into, &message);
}

static dpf_status finish(struct one *one, uint32_t draw)
{
    const dpf_call *call = plain_call(&one->host);
    one->host.call.party = DPF_PARTY_AGGREGATE;
    one->host.call.draw = draw;
    return one->functions->finish(one->host.self, call, &one->into);
}

static void fill(struct one *one, uint64_t modulus)
{
    uint64_t x = 88172645463325252U;
    for (int p = 0; p < PARTIES; p++)
        for (int i = 0; i < N; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            one->values[p][i] =
                modulus ? (int64_t)(x >> 1) - (INT64_MAX >> 1) : (int64_t)(x >> 9) - (INT64_MAX >> 9);
        }
}

static void close_secagg(struct one *one)
{
    free(one->into.state);
    plain_close(&one->host);
}

/* The parties whose bits are set in `who`, added by other means. */
static void check_sums(const struct one *one, unsigned who, uint64_t modulus)
{
    for (int i = 0; i < N; i++) {
        __extension__ __int128 sum = 0;
        for (int p = 0; p < PARTIES; p++)
            sum += who >> p & 1 ? one->values[p][i] : 0;
        if (modulus) {
            sum %= (__int128)modulus;
            sum += sum < 0 ? (__int128)modulus : 0;
        }
        assert_true(sum == one->sums[i]);
    }
}

TEST(sums_are_exact)
{
    static const char *const settings[] = {"", "malicious=yes", "graph=regular; neighbours=4; threshold=3",
                                           "graph=regular"};
    static const uint64_t moduli[] = {
        0, 2, 943 * 15 + 1, UINT64_C(1) << 40, (UINT64_C(1) << 63) - 25, UINT64_C(1) << 63};
    static struct one one;
    plain_random_start(5);
    for (int s = 0; s < 4; s++)
        for (int m = CASES(0, s % 2); m < 6; m += CASES(1, 2)) {
            open_secagg(&one, settings[s]);
            start(&one, moduli[m], 100);
            fill(&one, moduli[m]);
            unsigned who = 0;
            for (uint32_t p = 0; p < PARTIES; p++) /* party numbers have gaps: the others were not drawn */
                if (p != 3 && p != 7) {
                    assert_int_equal(absorb(&one, 8 * p, one.values[p]), DPF_OK);
                    who |= 1U << p;
                }
            assert_int_equal(one.into.survivors, 10);
            assert_int_equal(finish(&one, (uint32_t)m), DPF_OK);
            assert_int_equal(one.into.survivors, 10);
            check_sums(&one, who, moduli[m]);
            close_secagg(&one);
        }
    plain_random_stop();
}

/* A 64-bit word in which a survivor is counted: value 2^(4 p) in every cell. The sum tells who is in it. */
TEST(losses_are_simulated)
{
    static struct one one;
    const int draws = CASES(60, 20);
    int fewer = 0, refused = 0;
    plain_random_start(6);
    open_secagg(&one, "losses=0.05, 0.05, 0.1, 0.1");
    for (uint32_t draw = 0; (int)draw < draws; draw++) {
        start(&one, UINT64_C(1) << 50, PARTIES);
        for (uint32_t p = 0; p < PARTIES; p++)
            for (int i = 0; i < N; i++)
                one.values[p][i] = INT64_C(1) << 4 * p;
        for (uint32_t p = 0; p < PARTIES; p++)
            assert_int_equal(absorb(&one, p, one.values[p]), DPF_OK);
        plain_clear(&one.host);
        const dpf_status status = finish(&one, draw);
        if (status != DPF_OK) {
            assert_int_equal(status, DPF_E_PRIVACY);
            assert_non_null(strstr(one.host.report, "no sum is opened"));
            for (int i = 0; i < N; i++)
                assert_int_equal(one.sums[i], 0);
            refused++;
        } else {
            int survivors = 0;
            unsigned who = 0;
            for (int p = 0; p < PARTIES; p++) {
                survivors += one.sums[0] >> 4 * p & 1;
                who |= (unsigned)(one.sums[0] >> 4 * p & 1) << p;
            }
            check_sums(&one, who, UINT64_C(1) << 50);
            assert_int_equal(one.into.survivors, survivors);
            assert_true(survivors >= 8); /* two thirds */
            fewer += survivors < PARTIES;
        }
        free(one.into.state);
        one.into.state = NULL;
    }
    assert_true(fewer > draws / 6);
    assert_true(refused > draws / 30);
    close_secagg(&one);
    plain_random_stop();
}

/* The same draw is the same round; another draw loses others. Bytes follow the formats. */
TEST(rounds_repeat)
{
    static struct one one;
    uint64_t up[2], down[2];
    plain_random_start(7);
    open_secagg(&one, "threshold=2");
    for (int run = 0; run < 2; run++) {
        start(&one, 1501, PARTIES);
        fill(&one, 1501);
        for (uint32_t p = 0; p < PARTIES; p++)
            assert_int_equal(absorb(&one, p, one.values[p]), DPF_OK);
        assert_int_equal(finish(&one, 9), DPF_OK);
        up[run] = one.into.bytes_up;
        down[run] = one.into.bytes_down;
        free(one.into.state);
    }
    one.into.state = NULL;
    assert_int_equal(up[0], up[1]);
    /* header and tag 44, START without tag; 11 peers; a commitment of 32; 11 bits a number */
    const uint64_t keys = 44 + 64, shares = 44 + 4 + 11 * 80 + 32, input = 44 + 8 + (N * 11 + 7) / 8,
                   unmask = 44 + 4 + 12 * 32;
    const uint64_t begin = 28 + 92, roster = 44 + 4 + 11 * 68, delivery = 44 + 4 + 2 + 11 * 80,
                   survivors = 44 + 4 + 2;
    assert_int_equal(up[0], PARTIES * (keys + shares + input + unmask));
    assert_int_equal(down[0], PARTIES * (begin + roster + delivery + survivors));
    close_secagg(&one);
    plain_random_stop();
}

TEST(refusals)
{
    static struct one one;
    static const char *const wrong[] = {"threshold=1",
                                        "neighbours=4; threshold=3",
                                        "graph=regular; threshold=3",
                                        "graph=regular; neighbours=4",
                                        "graph=regular; neighbours=5; threshold=3",
                                        "graph=regular; neighbours=4; threshold=6",
                                        "graph=regular; malicious=yes"};
    int64_t values[N] = {0};
    plain_random_start(8);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        plain_init(&one.host, plain_component("secagg", DPF_ROLE_AGGREGATOR, "secagg"));
        one.host.random = &plain_random;
        const dpf_status status = plain_create(&one.host, wrong[i]);
        assert_true(status == DPF_E_CONFIG || status == DPF_E_UNSUPPORTED);
        assert_true(one.host.report[0]);
        plain_close(&one.host);
    }
    open_secagg(&one, "survivors=4");
    start(&one, 0, PARTIES);
    values[2] = INT64_MAX / PARTIES + 1;
    assert_int_equal(absorb(&one, 0, values), DPF_E_RANGE);
    values[2] = -values[2];
    assert_int_equal(absorb(&one, 0, values), DPF_E_RANGE);
    values[2] = 0;
    for (uint32_t p = 4; p < 7; p++)
        assert_int_equal(absorb(&one, p, values), DPF_OK);
    assert_int_equal(absorb(&one, 6, values), DPF_E_INTERNAL); /* twice */
    assert_int_equal(absorb(&one, 5, values), DPF_E_INTERNAL);
    assert_int_equal(finish(&one, 0), DPF_E_PRIVACY); /* three */
    free(one.into.state);
    start(&one, (UINT64_C(1) << 63) + 1, PARTIES);
    assert_int_equal(absorb(&one, 0, values), DPF_E_UNSUPPORTED);
    close_secagg(&one);

    open_secagg(&one, "threshold=6; corrupt=0.5");
    start(&one, 5, PARTIES);
    for (uint32_t p = 0; p < PARTIES; p++)
        assert_int_equal(absorb(&one, p, values), DPF_OK);
    plain_clear(&one.host);
    assert_int_equal(finish(&one, 0), DPF_E_PRIVACY);
    assert_non_null(strstr(one.host.report, "corrupt"));
    one.host.cancel = 1;
    close_secagg(&one);

    open_secagg(&one, "");
    start(&one, 5, PARTIES);
    for (uint32_t p = 0; p < PARTIES; p++)
        assert_int_equal(absorb(&one, p, values), DPF_OK);
    one.host.cancel = 1;
    assert_int_equal(finish(&one, 0), DPF_E_CANCELLED);
    close_secagg(&one);
    plain_random_stop();
}

/* Each allocation of finish fails once: an error, and nothing stays. */
TEST(memory)
{
    static struct one one;
    int64_t values[N] = {1};
    plain_random_start(9);
    open_secagg(&one, "malicious=yes");
    const int64_t live = one.host.live;
    for (int64_t allowed = 0;; allowed++) {
        start(&one, 5, 3);
        for (uint32_t p = 0; p < 3; p++)
            assert_int_equal(absorb(&one, p, values), DPF_OK);
        one.host.fail_after = allowed;
        const dpf_status status = finish(&one, 0);
        one.host.fail_after = -1;
        assert_int_equal(one.host.live, live);
        if (status == DPF_OK)
            break;
        assert_int_equal(status, DPF_E_MEMORY);
        assert_true(allowed < 10);
        free(one.into.state);
    }
    close_secagg(&one);
    plain_random_stop();
}
