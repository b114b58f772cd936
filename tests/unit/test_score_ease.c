/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores of ease/1. Where factors are the columns themselves, as in EASE by one inverse, a user's row is 0 in most columns:
 * scores, lists and places are the same bits as with an identity in "in", and they are those of the formula.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/test.h"
#include "base/memory.h"
#include "score/finalists.h"
#include "simd/simd_kind.h"

enum { ITEMS = 1500, M = 300, SPAN = 3, USERS = 40, K = 25, POSITIVES = 9 };

struct model {
    int32_t column[ITEMS];
    float popularity[ITEMS], undo[ITEMS], weight[M], in[M * (M + SPAN)], directions[M * SPAN], out[M * M],
        span[SPAN * ITEMS];
    int64_t ptr[USERS + 1];
    int32_t others[USERS * 40];
    float values[USERS * 40];
    struct csr records;
};

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static float plain(uint64_t *seed)
{
    return (float)(next(seed) % 2001) / 1000 - 1;
}

/* Items from M on, mixed with the others, have no column; their rows are a hundredth as long. Users' numbers of records differ;
   every fourth user has none with a column, and every eighth none at all. */
static void make(struct model *m)
{
    uint64_t seed = 9;
    for (int32_t i = 0; i < ITEMS; i++) {
        const int32_t to = (int32_t)((int64_t)i * 707 % ITEMS);
        m->column[to] = i < M ? i : -1;
        m->popularity[to] = (float)(1 + i % 50) / 50;
        m->undo[to] = 1 + plain(&seed) / 4;
    }
    for (int32_t j = 0; j < M; j++) {
        m->weight[j] = 0.5F + (float)(next(&seed) % 100) / 100;
        for (int32_t c = 0; c < M + SPAN; c++)
            m->in[j * (M + SPAN) + c] = c < M ? (float)(c == j) : plain(&seed);
        memcpy(m->directions + j * SPAN, m->in + j * (M + SPAN) + M, SPAN * sizeof(float));
    }
    for (int32_t k = 0; k < M * M; k++)
        m->out[k] = plain(&seed);
    for (int32_t k = 0; k < SPAN * ITEMS; k++)
        m->span[k] = plain(&seed) / 100;
    int64_t n = 0;
    for (int32_t u = 0; u < USERS; u++) {
        m->ptr[u] = n;
        for (int32_t i = 0; i < ITEMS && n < m->ptr[u] + u % 37 && u % 8 != 1; i++)
            if (next(&seed) % 12 == 0 && !(u % 4 == 2 && m->column[i] >= 0)) {
                m->values[n] = (float)(1 + next(&seed) % 5);
                m->others[n++] = i;
            }
    }
    m->ptr[USERS] = n;
    m->records = (struct csr){.ptr = m->ptr, .others = m->others, .values = m->values};
}

static dpf_array array(const char *name, int64_t rows, int64_t columns, const void *data)
{
    return (dpf_array){.name = name,
                       .type = DPF_ARRAY_F4,
                       .rows = rows,
                       .columns = columns,
                       .stride = columns,
                       .data = (void *)(uintptr_t)data};
}

/* With r factors: "out" has as many rows, and "in" has width columns. */
static struct scorer open_factors(struct model *m, const float *in, int32_t width, const float *out,
                                  int32_t r)
{
    struct dpf_error error = {0};
    struct scorer scorer = {
        .records = &m->records,
        .form = {.formula = SCORE_EASE,
                 .n_items = ITEMS,
                 .scalars = {1, 5, 0.35},
                 .arrays = {array("column", ITEMS, 1, m->column),
                            array("popularity", ITEMS, 1, m->popularity), array("undo", ITEMS, 1, m->undo),
                            array("weight", M, 1, m->weight), array("in", M, width, in),
                            array("out", r, M, out), array("span", SPAN, ITEMS, m->span)}}};
    assert_int_equal(scorer_open(&scorer, &error), 0);
    return scorer;
}

/* The factors are the columns; whole: as an array says. */
static struct scorer open(struct model *m, int whole)
{
    struct scorer scorer =
        whole ? open_factors(m, m->in, M + SPAN, m->out, M) : open_factors(m, m->directions, SPAN, m->out, M);
    assert_int_equal(scorer.is_plain, !whole);
    return scorer;
}

/* Of a row of "in" with a column of "out". */
static double product(const float *in, const float *out, int32_t r, int32_t j, int32_t column)
{
    double sum = 0;
    for (int32_t c = 0; c < r; c++)
        sum += (double)in[j * (r + SPAN) + c] * (double)out[c * M + column];
    return sum;
}

/* The formula in double: what docs/model-state.md says. */
static void by_formula(const struct model *m, const float *in, const float *out, int32_t r, int32_t user,
                       double *scores)
{
    double z[M] = {0}, squares = 0;
    for (int64_t k = m->ptr[user]; k < m->ptr[user + 1]; k++) {
        const int32_t j = m->column[m->others[k]];
        if (j < 0)
            continue;
        z[j] = (double)m->weight[j] * (0.35 + 0.65 * ((double)m->values[k] - 1) / 4);
        squares += z[j] * z[j];
    }
    for (int32_t i = 0; i < ITEMS; i++) {
        double sum = 0;
        for (int32_t j = 0; j < M && squares > 0; j++) {
            const int32_t column = m->column[i];
            for (int32_t c = 0; c < SPAN && column < 0 && z[j] != 0; c++)
                sum += z[j] * (double)in[j * (r + SPAN) + r + c] * (double)m->span[c * ITEMS + i];
            if (column >= 0 && column != j && z[j] != 0)
                sum += z[j] * product(in, out, r, j, column);
        }
        scores[i] = squares > 0 ? sum / sqrt(squares) * (double)m->undo[i] : (double)m->popularity[i];
    }
}

/* An item's own record does not predict it, whatever the product of its own row and column is. */
TEST(factors_give_the_formula)
{
    enum { R = 7 };
    static float in[M * (R + SPAN)], out[R * M];
    static double have[ITEMS], formula[ITEMS];
    struct model *m = *test_state;
    struct score_desk desk = {0};
    struct dpf_error error = {0};
    uint64_t seed = 31;
    for (int32_t k = 0; k < M * (R + SPAN); k++)
        in[k] = plain(&seed);
    for (int32_t k = 0; k < R * M; k++)
        out[k] = plain(&seed);
    struct scorer scorer = open_factors(m, in, R + SPAN, out, R);
    assert_false(scorer.is_plain);
    for (int32_t u = 0; u < USERS; u++) {
        assert_int_equal(scorer_scores(&scorer, &desk, u, NULL, ITEMS, have, &error), 0);
        by_formula(m, in, out, R, u, formula);
        for (int32_t i = 0; i < ITEMS; i++)
            assert_true(fabs(have[i] - formula[i]) < 1e-5);
    }
    score_desk_free(&desk);
    scorer_close(&scorer);
}

/* Records that weigh nothing are none. */
TEST(without_weight_items_are_popular)
{
    static float saved[M];
    static double have[ITEMS];
    struct model *m = *test_state;
    struct score_desk desk = {0};
    struct dpf_error error = {0};
    memcpy(saved, m->weight, sizeof saved);
    memset(m->weight, 0, sizeof saved);
    for (int whole = 0; whole < 2; whole++) {
        struct scorer scorer = open(m, whole);
        for (int32_t u = 0; u < USERS; u++) {
            assert_int_equal(scorer_scores(&scorer, &desk, u, NULL, ITEMS, have, &error), 0);
            for (int32_t i = 0; i < ITEMS; i++)
                assert_true(fabs(have[i] - (double)m->popularity[i]) < 1e-6);
        }
        score_desk_free(&desk);
        desk = (struct score_desk){0};
        scorer_close(&scorer);
    }
    memcpy(m->weight, saved, sizeof saved);
}

TEST(few_columns_give_the_bits_of_all)
{
    struct model *m = *test_state;
    struct scorer few = open(m, 0), all = open(m, 1);
    static double x[ITEMS], y[ITEMS], formula[ITEMS];
    struct score_desk left = {0}, right = {0};
    struct dpf_error error = {0};
    for (int32_t u = 0; u < USERS; u++) {
        assert_int_equal(scorer_scores(&few, &left, u, NULL, ITEMS, x, &error), 0);
        assert_int_equal(scorer_scores(&all, &right, u, NULL, ITEMS, y, &error), 0);
        assert_memory_equal(x, y, sizeof x);
        by_formula(m, m->in, m->out, M, u, formula);
        for (int32_t i = 0; i < ITEMS; i++)
            assert_true(fabs(x[i] - formula[i]) < 1e-5);
    }
    score_desk_free(&left);
    score_desk_free(&right);
    scorer_close(&few);
    scorer_close(&all);
}

/* ---- lists and places ------------------------------------------------------------------------------------ */

static void draw_user(struct finalists *f, int i, const struct model *m, int32_t user)
{
    struct finalist_user *u = &f->users[i];
    uint64_t seed = (uint64_t)user + 5;
    u->user = user;
    u->masked = (int32_t *)(uintptr_t)m->others + m->ptr[user];
    u->n_masked = m->ptr[user + 1] - m->ptr[user];
    u->n_positives = 0;
    const int64_t wanted = user % 3 ? POSITIVES : 2;
    assert_int_equal(finalists_reserve(f, i, wanted, NULL), 0);
    for (int32_t item = (int32_t)(next(&seed) % 100), own = 0; u->n_positives < wanted; item += 97) {
        while (own < u->n_masked && u->masked[own] < item)
            own++;
        if (own == u->n_masked || u->masked[own] != item)
            u->positives[u->n_positives++] = item;
    }
}

static void check_user(const struct scorer *scorer, struct score_desk *desk, const struct finalist_user *u)
{
    static double scores[ITEMS];
    uint8_t masked[ITEMS] = {0}, found[ITEMS] = {0};
    struct dpf_error error = {0};
    int64_t places = 0, listed = 0;
    assert_false(u->left);
    assert_int_equal(scorer_scores(scorer, desk, u->user, NULL, ITEMS, scores, &error), 0);
    for (int64_t k = 0; k < u->n_masked; k++)
        masked[u->masked[k]] = 1;
    for (int64_t k = 0; k < u->n_items; k++) {
        found[u->items[k]] = 1;
        assert_true(u->scores[k] == scores[u->items[k]]);
    }
    for (int32_t i = 0; i < ITEMS; i++) {
        int64_t above = 0;
        if (masked[i]) {
            assert_false(found[i]);
            continue;
        }
        for (int32_t j = 0; j < ITEMS; j++)
            above += scores[j] > scores[i] && !masked[j];
        listed += above < K;
        assert_true(above >= K || found[i]);
        for (int64_t p = 0; p < u->n_positives; p++)
            places += (scores[u->positives[p]] < scores[i]) + (scores[u->positives[p]] <= scores[i]);
    }
    assert_int_equal(u->places, places);
    assert_in_range(u->n_items, listed, listed + 20);
}

static void find_by(const struct scorer *scorer, const struct model *m, int kind)
{
    struct dpf_error error = {0};
    struct finalist_items items;
    struct finalists f;
    struct score_desk desk = {0};
    assert_int_equal(finalist_items_open(&items, scorer, ITEMS, NULL, K, kind, &error), 0);
    assert_int_equal(finalists_init(&f, &items, 1, &error), 0);
    for (int32_t first = 0; first < USERS; first += items.group) {
        f.n_users = USERS - first < items.group ? USERS - first : items.group;
        for (int i = 0; i < f.n_users; i++)
            draw_user(&f, i, m, first + i);
        assert_int_equal(finalists_find(&f, &error), 0);
        for (int i = 0; i < f.n_users; i++)
            check_user(scorer, &desk, &f.users[i]);
    }
    score_desk_free(&desk);
    finalists_free(&f);
    finalist_items_close(&items);
}

TEST(lists_and_places_are_the_scorers)
{
    struct model *m = *test_state;
    for (int whole = 0; whole < 2; whole++) {
        struct scorer scorer = open(m, whole);
        for (int kind = SIMD_KIND_AVX512; kind <= SIMD_KIND_PORTABLE; kind++)
            if (simd_choose(kind) == kind)
                find_by(&scorer, m, kind);
        scorer_close(&scorer);
    }
}

/* Short rows that differ in their last bits alone, beside long ones: the block's own error still covers them. */
TEST(last_bits_of_short_rows_decide)
{
    struct model *m = *test_state;
    uint64_t seed = 4;
    for (int32_t i = 0; i < ITEMS; i++) {
        m->undo[i] = 1;
        for (int32_t c = 0; c < SPAN; c++)
            m->span[c * ITEMS + i] = 0.013F * (float)(c + 1) * (1 + (float)(next(&seed) % 4) * 0x1p-23F);
    }
    for (int whole = 0; whole < 2; whole++) {
        struct scorer scorer = open(m, whole);
        for (int kind = SIMD_KIND_AVX512; kind <= SIMD_KIND_PORTABLE; kind++)
            if (simd_choose(kind) == kind)
                find_by(&scorer, m, kind);
        scorer_close(&scorer);
    }
}

static int set_up(void **state)
{
    struct model *m = memory_new(1, sizeof *m);
    if (!m)
        return -1;
    make(m);
    *state = m;
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

FIXTURE(set_up, tear_down)
