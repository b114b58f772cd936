/* SPDX-License-Identifier: Apache-2.0 */
/* Run alone and under mpirun with 2, 3 and 4 ranks: every rank computes what all of them must have. */
#include "kit/plain_host.h"

static struct plain_host host;
static const dpf_comm *comm;
static dpf_ranks ranks;

#define N 1000

static int64_t value_of(int rank, int64_t i)
{
    return (i + 1) * (rank + 1) * (rank % 2 ? -1 : 1);
}

static int64_t total_of(int64_t i)
{
    int64_t total = 0;
    for (int r = 0; r < ranks.ranks; r++) {
        total += value_of(r, i);
    }
    return total;
}

/* Unequal shares, some empty: rank r has r * r % 7 elements. */
static int64_t share(int rank)
{
    return (int64_t)rank * rank % 7 + (ranks.ranks == 1);
}

static void offsets_of_shares(int64_t *offsets)
{
    offsets[0] = 0;
    for (int r = 0; r < ranks.ranks; r++) {
        offsets[r + 1] = offsets[r] + share(r);
    }
}

TEST(everybody_is_there_once)
{
    int64_t least = ranks.rank, present[64] = {0};
    assert_in_range(ranks.rank, 0, ranks.ranks - 1);
    assert_in_range(ranks.near, 1, ranks.ranks);
    assert_int_equal(comm->least(host.self, &least), DPF_OK);
    assert_int_equal(least, 0);
    present[ranks.rank] = 1;
    assert_int_equal(comm->sum(host.self, present, 64), DPF_OK);
    for (int r = 0; r < 64; r++) {
        assert_int_equal(present[r], r < ranks.ranks);
    }
}

TEST(sums_are_exact)
{
    static int64_t values[N];
    for (int64_t i = 0; i < N; i++) {
        values[i] = value_of(ranks.rank, i);
    }
    assert_int_equal(comm->sum(host.self, values, N), DPF_OK);
    for (int64_t i = 0; i < N; i++) {
        assert_int_equal(values[i], total_of(i));
    }
}

TEST(sums_reach_their_owner)
{
    int64_t offsets[65];
    static int64_t values[N];
    offsets_of_shares(offsets);
    for (int64_t i = 0; i < offsets[ranks.ranks]; i++) {
        values[i] = value_of(ranks.rank, i);
    }
    assert_int_equal(comm->reduce(host.self, values, offsets), DPF_OK);
    for (int64_t i = offsets[ranks.rank]; i < offsets[ranks.rank + 1]; i++) {
        assert_int_equal(values[i], total_of(i));
    }
}

/* A sum that MPI would wrap. With one rank nothing is added. */
TEST(overflow_is_noticed_by_all)
{
    const dpf_status expected = ranks.ranks > 1 ? DPF_E_RANGE : DPF_OK;
    int64_t offsets[65], values[3] = {1, ranks.rank < 2 ? INT64_MAX : 0, 2};
    assert_int_equal(comm->sum(host.self, values, 3), expected);
    assert_int_equal(host.code, expected);
    plain_clear(&host);
    for (int r = 0; r <= ranks.ranks; r++) {
        offsets[r] = r == ranks.ranks ? 3 : 0;
    }
    values[1] = ranks.rank < 2 ? INT64_MIN : 0;
    assert_int_equal(comm->reduce(host.self, values, offsets), expected);
    plain_clear(&host);
    values[0] = 1; /* and a sum afterwards is not blamed for it */
    assert_int_equal(comm->sum(host.self, values, 1), DPF_OK);
    assert_int_equal(values[0], ranks.ranks);
}

TEST(shares_are_gathered)
{
    int64_t offsets[65];
    char data[N][3];
    offsets_of_shares(offsets);
    memset(data, 'x', sizeof(data));
    for (int64_t i = offsets[ranks.rank]; i < offsets[ranks.rank + 1]; i++) {
        data[i][0] = (char)('a' + ranks.rank);
        data[i][1] = (char)('0' + i % 10);
    }
    assert_int_equal(comm->gather(host.self, data, 3, offsets), DPF_OK);
    for (int r = 0; r < ranks.ranks; r++) {
        for (int64_t i = offsets[r]; i < offsets[r + 1]; i++) {
            assert_int_equal(data[i][0], 'a' + r);
            assert_int_equal(data[i][1], '0' + i % 10);
        }
    }
    assert_int_equal(data[offsets[ranks.ranks]][0], 'x');
}

/* Rank a sends a * b % 5 elements to rank b. */
TEST(elements_reach_who_they_are_for)
{
    int64_t out[65] = {0}, in[65] = {0};
    static int64_t from[N], into[N];
    for (int r = 0; r < ranks.ranks; r++) {
        out[r + 1] = out[r] + (int64_t)ranks.rank * r % 5;
        in[r + 1] = in[r] + (int64_t)ranks.rank * r % 5;
        for (int64_t i = out[r]; i < out[r + 1]; i++) {
            from[i] = 10000 * ranks.rank + 100 * r + (i - out[r]);
        }
    }
    assert_int_equal(comm->exchange(host.self, sizeof(*from), from, out, into, in), DPF_OK);
    for (int r = 0; r < ranks.ranks; r++) {
        for (int64_t i = in[r]; i < in[r + 1]; i++) {
            assert_int_equal(into[i], 10000 * r + 100 * ranks.rank + (i - in[r]));
        }
    }
}

TEST(words_are_broadcast)
{
    char word[32] = "";
    for (int root = 0; root < ranks.ranks; root++) {
        snprintf(word, sizeof(word), "%s%d", root == ranks.rank ? "from" : "?", root);
        assert_int_equal(comm->broadcast(host.self, word, sizeof(word), root), DPF_OK);
        assert_memory_equal(word, "from", 4);
        assert_int_equal(word[4], (char)('0' + root));
    }
}

TEST(a_job_is_joined_once)
{
    dpf_ranks again = {.size = sizeof(again)};
    plain_close(&host); /* the ranks part */
    plain_open(&host, plain_component("mpi", DPF_ROLE_COMM, "mpi"), "");
    assert_int_equal(comm->open(host.self, &again), DPF_E_UNSUPPORTED);
    plain_close(&host);
}

static int open_ranks(void **state)
{
    (void)state;
    plain_open(&host, plain_component("mpi", DPF_ROLE_COMM, "mpi"), "");
    comm = host.component->functions;
    ranks.size = sizeof(ranks);
    return comm->open(host.self, &ranks) == DPF_OK ? 0 : -1;
}

FIXTURE(open_ranks, NULL)
