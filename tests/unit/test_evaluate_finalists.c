/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and ranks found by way of near scores are those of the scorer's scores, to the last bit. */
#include "kit/evaluate_fixture.h"

#include "score/finalists.h"
#include "simd/simd_kind.h"

enum { USERS = 70, ITEMS = 1300, STRIDE = 32 };

enum shape { PLAIN, TIED, NEARLY_TIED, ZERO, HUGE, OVERFLOWING, TINY, SHORTER_AND_SHORTER, SHAPES };

struct rows {
    float users[USERS * STRIDE], items[ITEMS * STRIDE];
    double offset;
};

static float draw_of(enum shape shape, uint64_t *seed)
{
    const double plain = (double)(fixture_below(seed, 1 << 20) - (1 << 19)) / (1 << 19);
    switch (shape) {
    case TIED:
        return (float)(fixture_below(seed, 3) - 1);
    case ZERO:
        return 0;
    case HUGE:
        return (float)(plain * 1e15);
    case OVERFLOWING:
        return (float)(plain * 1e19);
    case TINY:
        return (float)(plain * 1e-22);
    default:
        return (float)plain;
    }
}

static void draw_rows(struct rows *rows, enum shape shape, uint64_t seed)
{
    for (int i = 0; i < USERS * STRIDE; i++)
        rows->users[i] = draw_of(shape, &seed);
    for (int i = 0; i < ITEMS * STRIDE; i++)
        rows->items[i] = draw_of(shape, &seed);
    float base[STRIDE];
    memcpy(base, rows->items, sizeof base);
    /* Items that differ in their last bits alone: what rounding decides decides about their order. */
    for (int i = 0; shape == NEARLY_TIED && i < ITEMS; i++)
        for (int c = 0; c < STRIDE; c++)
            rows->items[i * STRIDE + c] = base[c] * (1 + (float)fixture_below(&seed, 3) * 0x1p-23F);
    /* Two classes of items with columns of their own; most blocks of them can be skipped for most users. */
    for (int i = 0; shape == SHORTER_AND_SHORTER && i < ITEMS; i++)
        for (int c = 0; c < STRIDE; c++)
            rows->items[i * STRIDE + c] *=
                (i % 3 == 0) == (c < 12) ? expf(-0.02F * (float)(i * 37 % ITEMS)) : 0;
    rows->offset = shape == ZERO ? 0 : 3.3;
}

/* As the engine scores. */
static int product_scores(void *context, int32_t user, const int32_t *items, int64_t n, double *out,
                          struct dpf_error *error)
{
    const struct rows *rows = context;
    (void)error;
    for (int64_t k = 0; k < n; k++) {
        const float *u = rows->users + user * STRIDE, *v = rows->items + (items ? items[k] : k) * STRIDE;
        float part[16] = {0};
        for (int c = 0; c < STRIDE; c++)
            part[c % 16] += u[c] * v[c];
        out[k] = rows->offset;
        for (int l = 0; l < 16; l++)
            out[k] += (double)part[l];
    }
    return 0;
}

static struct scorer scorer_of(struct rows *rows, int with_factors)
{
    struct scorer scorer = {.context = rows, .scores = product_scores};
    struct dpf_error error = {0};
    if (with_factors) {
        const dpf_array items = {.name = "items",
                                 .type = DPF_ARRAY_F4,
                                 .rows = ITEMS,
                                 .columns = STRIDE,
                                 .stride = STRIDE,
                                 .data = rows->items},
                        users = {.name = "users",
                                 .type = DPF_ARRAY_F4,
                                 .rows = USERS,
                                 .columns = STRIDE,
                                 .stride = STRIDE,
                                 .data = rows->users};
        scorer.form = (struct score_form){
            .formula = SCORE_ROWS, .n_items = ITEMS, .arrays = {items, users}, .scalars = {rows->offset}};
        assert_int_equal(scorer_open(&scorer, &error), 0);
    }
    return scorer;
}

/* ---- lists and places of each kind of processor against the definition ------------------------------------
 */

/* Of all items: 1 for those of the list. */
static void flag(const int32_t *list, int64_t n, uint8_t *flags)
{
    memset(flags, 0, ITEMS);
    for (int64_t i = 0; i < n; i++)
        flags[list[i]] = 1;
}

static void check_user(const struct finalist_user *u, struct rows *rows, int64_t k, int shape)
{
    double scores[ITEMS];
    uint8_t masked[ITEMS], found[ITEMS];
    int64_t places = 0;
    product_scores(rows, u->user, NULL, ITEMS, scores, NULL);
    flag(u->masked, u->n_masked, masked);
    flag(u->items, u->n_items, found);
    for (int64_t i = 1; i < u->n_items; i++)
        assert_true(u->items[i] > u->items[i - 1]);
    for (int32_t i = 0; i < ITEMS; i++) {
        int64_t above = 0;
        if (masked[i]) {
            assert_false(found[i]);
            continue;
        }
        for (int32_t j = 0; j < ITEMS; j++)
            above += scores[j] > scores[i] && !masked[j];
        if (above < k && !found[i])
            fail_msg("shape %d: item %d of user %d is among the first %d and no finalist", shape, i, u->user,
                     (int)k);
        for (int64_t p = 0; p < u->n_positives; p++)
            places += (scores[u->positives[p]] < scores[i]) + (scores[u->positives[p]] <= scores[i]);
    }
    assert_int_equal(u->places, places);
}

static void draw_user(struct finalists *f, int i, int32_t *masked, uint64_t *seed)
{
    struct finalist_user *u = &f->users[i];
    const int64_t wanted = i % 3 == 0 ? 1 : i % 3 == 1 ? 5 : 40;
    u->user = (int32_t)(4 * i + 1);
    u->masked = masked;
    u->n_masked = u->n_positives = 0;
    assert_int_equal(finalists_reserve(f, i, wanted, NULL), 0);
    for (int32_t item = 0; item < ITEMS; item++) {
        if (i % 2 && fixture_below(seed, 4) == 0)
            masked[u->n_masked++] = item;
        else if (u->n_positives < wanted && fixture_below(seed, 8) == 0)
            u->positives[u->n_positives++] = item;
    }
}

static void finds_what_the_scorer_finds(int kind, int64_t k, struct rows *rows, int shape)
{
    struct dpf_error error = {.fault = DPF_FAULT_NONE};
    const struct scorer scorer = scorer_of(rows, 1);
    struct finalist_items items;
    struct finalists f;
    uint64_t seed = 77;
    int32_t *masked = memory_new(NEAR_USERS * ITEMS, sizeof *masked);
    assert_int_equal(finalist_items_open(&items, &scorer, ITEMS, NULL, k, kind, &error), 0);
    assert_int_equal(finalists_init(&f, &items, 1, &error), 0);
    for (int group = 0; group < 2; group++) {
        f.n_users = group ? 5 : NEAR_USERS;
        for (int i = 0; i < f.n_users; i++)
            draw_user(&f, i, masked + (ptrdiff_t)i * ITEMS, &seed);
        assert_int_equal(finalists_find(&f, &error), 0);
        for (int i = 0; i < f.n_users; i++) {
            assert_int_equal(f.users[i].left, shape == OVERFLOWING);
            if (!f.users[i].left)
                check_user(&f.users[i], rows, k, shape);
            if (shape == PLAIN && !f.users[i].left)
                assert_true(f.users[i].n_items < k + 5);
        }
    }
    finalists_free(&f);
    finalist_items_close(&items);
    free(masked);
}

TEST(each_kind_of_processor_finds_them)
{
    static struct rows rows;
    int kinds = 0;
    for (int kind = SIMD_KIND_AVX512; kind <= SIMD_KIND_PORTABLE; kind++) {
        if (simd_choose(kind) != kind)
            continue;
        kinds++;
        for (int shape = 0; shape < SHAPES; shape++) {
            draw_rows(&rows, shape, 5);
            finds_what_the_scorer_finds(kind, 1, &rows, shape);
            finds_what_the_scorer_finds(kind, 30, &rows, shape);
        }
    }
    assert_true(kinds > 0);
}

/* ---- metrics with near scores and without
 * ------------------------------------------------------------------- */

static int metrics_of(struct rows *rows, int with_factors, const struct fixture_options *options,
                      const struct dataset *dataset, int train_part, struct metrics *out,
                      struct dpf_error *error)
{
    struct scorer scorer = scorer_of(rows, with_factors);
    scorer.users = &dataset->users;
    scorer.items = &dataset->items;
    struct pool *pool = pool_new(2);
    const int status = evaluate_model(&options->values, dataset, &scorer, NULL, pool, train_part, out, error);
    pool_free(pool);
    return status;
}

static void assert_same_metrics(const struct metrics *a, const struct metrics *b)
{
    assert_int_equal(a->n, b->n);
    assert_true(a->n > 20);
    for (int64_t i = 0; i < a->n; i++) {
        assert_string_equal(a->items[i].name, b->items[i].name);
        if (memcmp(&a->items[i].value, &b->items[i].value, sizeof(double)) != 0)
            fail_msg("%s: %.17g and %.17g", a->items[i].name, a->items[i].value, b->items[i].value);
    }
}

TEST(metrics_have_the_same_bits)
{
    static struct rows rows;
    static const int64_t cutoffs[] = {3, 20}, bands[] = {5, 10};
    struct fixture_options options;
    double *train = fixture_cells(USERS, ITEMS), *test = fixture_cells(USERS, ITEMS);
    uint64_t seed = 3;
    for (int i = 0; i < USERS * ITEMS; i++) {
        const int64_t draw = fixture_below(&seed, 100);
        /* A few users with many records, some with one, some with none. */
        if (draw < 8)
            train[i] = 1;
        else if (draw < (i / ITEMS % 4 == 0 ? 20 : 9) && i / ITEMS % 7)
            test[i] = 1;
    }
    struct dataset dataset;
    fixture_dataset(&dataset, USERS, ITEMS, train, test, 1);
    fixture_defaults(&options);
    fixture_text(&options, "metrics",
                 "hr,ndcg,precision,recall,f1,map,map-hits,mrr,popularity,novelty,coverage,gini,mrank");
    fixture_list(&options, "k", cutoffs, 2);
    fixture_list(&options, "popularity-bands", bands, 2);
    for (int shape = 0; shape < SHAPES; shape++)
        for (int train_part = 0; train_part < 2; train_part++) {
            struct metrics near, exact;
            struct dpf_error error = {.fault = DPF_FAULT_NONE}, other = {.fault = DPF_FAULT_NONE};
            draw_rows(&rows, shape, 11);
            const int status = metrics_of(&rows, 1, &options, &dataset, train_part, &near, &error);
            assert_int_equal(metrics_of(&rows, 0, &options, &dataset, train_part, &exact, &other), status);
            assert_string_equal(error.text, other.text);
            if (status == 0)
                assert_same_metrics(&near, &exact);
            metrics_free(&near);
            metrics_free(&exact);
        }
    fixture_dataset_free(&dataset);
    free(train);
    free(test);
}

TEST(a_row_that_is_not_finite_is_reported)
{
    static struct rows rows;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    struct fixture_options options;
    double *train = fixture_cells(USERS, ITEMS), *test = fixture_cells(USERS, ITEMS);
    for (int u = 0; u < USERS; u++)
        test[u * ITEMS + u] = 1;
    struct dataset dataset;
    fixture_dataset(&dataset, USERS, ITEMS, train, test, 1);
    fixture_defaults(&options);
    for (int i = 0; i < 3; i++) {
        struct metrics m;
        struct dpf_error error = {.fault = DPF_FAULT_NONE};
        draw_rows(&rows, PLAIN, 2);
        rows.users[40 * STRIDE + 3] = bad[i];
        assert_int_equal(metrics_of(&rows, 1, &options, &dataset, 0, &m, &error), -1);
        assert_non_null(strstr(error.text, "user 41"));
        draw_rows(&rows, PLAIN, 2);
        rows.items[400 * STRIDE + 3] = bad[i];
        error = (struct dpf_error){.fault = DPF_FAULT_NONE};
        assert_int_equal(metrics_of(&rows, 1, &options, &dataset, 0, &m, &error), -1);
        assert_non_null(strstr(error.text, "item 401"));
    }
    fixture_dataset_free(&dataset);
    free(train);
    free(test);
}
