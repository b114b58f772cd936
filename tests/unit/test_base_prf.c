/* SPDX-License-Identifier: Apache-2.0 */
/* The keyed function of ids: values that an independent implementation gave, and that they look uniform. */
#include "base/prf.h"
#include "kit/test.h"

#include <math.h>
#include <stdio.h>

#define N 20000

static struct prf opened(uint64_t seed, const char *purpose)
{
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(seed, "run", &error);
    struct prf prf;
    assert_non_null(root);
    prf_open(root, "split", purpose, &prf);
    random_root_free(root);
    return prf;
}

/* Made from Python's hashlib.blake2b and a SipHash-2-4 that was checked against the vector of its paper. A
   change here changes every split, weight and silo that is drawn from a seed. */
TEST(values_stay_what_they_are)
{
    const struct prf prf = opened(1, "pairs");
    struct prf user;
    assert_true(prf_value(&prf, "") == UINT64_C(0x08052f2f7525f765));
    assert_true(prf_value(&prf, "1") == UINT64_C(0x53b5ea238ea26ca2));
    assert_true(prf_value(&prf, "anna") == UINT64_C(0x150644ef6ac9d840));
    assert_true(prf_value(&prf, "caf\xc3\xa9") == UINT64_C(0x91df75a7ce24d344));
    prf_within(&prf, "1", &user);
    assert_true(prf_value(&user, "1") == UINT64_C(0x8b9d7c0b8090a2ca));
    assert_true(prf_value(&user, "50") == UINT64_C(0xeb25101a83c4ddf1));
    assert_true(prf_value(&user, "caf\xc3\xa9") == UINT64_C(0x92992482c771b563));
}

/* The largest difference between N values and the uniform law, times sqrt(N): above 2 with probability 7e-4
   (Kolmogorov and Smirnov); as cells, so that order does not matter. */
static double unevenness(const double *u)
{
    static int64_t cells[1000];
    int64_t below = 0;
    double most = 0;
    for (int c = 0; c < 1000; c++)
        cells[c] = 0;
    for (int i = 0; i < N; i++)
        cells[(int)(u[i] * 1000)]++;
    for (int c = 0; c < 1000; c++) {
        below += cells[c];
        most = fmax(most, fabs((double)below / N - (c + 1) / 1000.0));
    }
    return most * sqrt(N);
}

static double correlation(const double *u, const double *v)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += 12 * (u[i] - 0.5) * (v[i] - 0.5);
    return sum / sqrt(N);
}

TEST(values_are_uniform_and_unrelated)
{
    static double kinds[5][N];
    const struct prf prf = opened(1, "pairs"), other = opened(2, "pairs"), purpose = opened(1, "weights");
    struct prf user;
    prf_within(&prf, "4711", &user);
    for (int i = 0; i < N; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        const struct prf *const by[] = {&prf, &other, &purpose, &user};
        for (int k = 0; k < 4; k++)
            kinds[k][i] = prf_unit(prf_value(by[k], id));
        struct prf within;
        prf_within(&prf, id, &within);
        kinds[4][i] = prf_unit(prf_value(&within, "4711"));
    }
    for (int k = 0; k < 5; k++) {
        assert_true(unevenness(kinds[k]) < 2);
        for (int l = 0; l < k; l++)
            assert_true(fabs(correlation(kinds[k], kinds[l])) < 4);
    }
}

TEST(parts_are_equal)
{
    assert_int_equal(prf_part(0, 7), 0);
    assert_int_equal(prf_part(UINT64_MAX, 7), 6);
    assert_int_equal(prf_part(UINT64_MAX, 1), 0);
    assert_int_equal(prf_part(UINT64_C(1) << 63, 2), 1);
    assert_int_equal(prf_part((UINT64_C(1) << 63) - 1, 2), 0);
    assert_true(prf_unit(0) == 0);
    assert_true(prf_unit(UINT64_MAX) < 1);
}

/* Streams at an id: the same however the id is numbered, of one law, and apart from those of other ids. */
TEST(streams_belong_to_ids)
{
    static double first[N], second[N];
    struct dpf_error error = {0};
    struct random_root *root = random_root_seeded(3, "run", &error);
    dpf_stream *stream = random_stream_open(root, "items", "init", &error);
    assert_non_null(stream);
    for (int i = 0; i < N; i++) {
        char id[16];
        dpf_cursor cursor;
        double u[2], again;
        snprintf(id, sizeof id, "%d", i);
        random_seek_id(stream, id, &cursor);
        random_uniform(&cursor, u, 2);
        random_seek_id(stream, id, &cursor);
        random_uniform(&cursor, &again, 1);
        assert_true(again == u[0]);
        first[i] = u[0];
        second[i] = u[1];
    }
    assert_true(unevenness(first) < 2);
    assert_true(unevenness(second) < 2);
    assert_true(fabs(correlation(first, second)) < 4);
    random_stream_free(stream);
    random_root_free(root);
}
