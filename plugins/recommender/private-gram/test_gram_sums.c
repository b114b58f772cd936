/* SPDX-License-Identifier: Apache-2.0 */
/* Of private-gram: what users send, and how far one of them moves it. */
#include "gram_case.h"

/* ---- rows of integers ------------------------------------------------------------------------------------
 */

static int64_t squares_of(const int32_t *row, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (int64_t)row[i] * row[i];
    return sum;
}

static void rows_of_integers_never_exceed_their_norm(void **state)
{
    (void)state;
    double values[300];
    int32_t row[300];
    uint64_t z = 1;
    for (int32_t bits = 5; bits <= 15; bits++)
        for (int64_t n = 1; n <= 300; n += bits) {
            for (int kind = 0; kind < 4; kind++) {
                for (int64_t i = 0; i < n; i++) {
                    z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                    const double x = (double)(z >> 11) * 0x1p-53;
                    values[i] = kind == 0 ? 1.0 : kind == 1 ? x : kind == 2 ? x - 0.5 : pow(10, 40 * x - 20);
                }
                unit_rows_round(values, n, bits, row);
                const int64_t squares = squares_of(row, n), most = INT64_C(1) << 2 * bits;
                assert_true(squares <= most);
                /* Rounding takes less than a step from each number. */
                assert_true(sqrt((double)squares) >= (double)(1 << bits) - sqrt((double)n) - 1);
            }
            const int64_t a = unit_rows_share(n, 20);
            assert_true(n * a * a <= INT64_C(1) << 40);
            assert_true(n * (a + 1) * (a + 1) > INT64_C(1) << 40);
        }
    const double pythagoras[2] = {3, 4}, nothing[2] = {0, 0};
    unit_rows_round(pythagoras, 2, 10, row);
    assert_true(squares_of(row, 2) <= 1 << 20);
    unit_rows_round(nothing, 2, 10, row);
    assert_true(row[0] == 0);
    assert_true(row[1] == 0);
    unit_rows_round_by(pythagoras, 2, 50, 10, row); /* a tenth of the length */
    assert_true(row[0] == 61);
    assert_true(row[1] == 81);
}

/* ---- sums ------------------------------------------------------------------------------------------------
 */

static void naive_pairs(const struct data *d, const struct columns_case *c, int64_t *out)
{
    const int64_t m = c->columns.m;
    memset(out, 0, ITEMS * ITEMS * sizeof *out);
    for (int64_t u = 0; u < d->records.n_users; u++) {
        double values[ITEMS];
        int32_t at[ITEMS], row[ITEMS];
        int64_t n = 0;
        for (int64_t i = d->offsets[u]; i < d->offsets[u + 1]; i++)
            if (c->column[d->items[i]] >= 0) {
                at[n] = c->column[d->items[i]];
                values[n++] = c->weight[c->column[d->items[i]]];
            }
        unit_rows_round(values, n, 12, row);
        for (int64_t a = 0; a < n; a++)
            for (int64_t b = a; b < n; b++)
                out[at[a] * m + at[b]] += (int64_t)row[a] * row[b];
    }
}

/* By pairs, by dense blocks, on one or several workers, users in either order: the same integers. */
static void sums_are_exact_in_any_order(void **state)
{
    (void)state;
    static struct data reversed;
    static int64_t expected[ITEMS * ITEMS], got[ITEMS * ITEMS], counts[2][ITEMS];
    struct plain_host host;
    struct columns_case c;
    plain_open_random(&host, component, "");
    reversed = full;
    index_data(&reversed, -1, 1);
    for (int64_t every = 1; every <= 3; every += 2) {
        make_columns(&c, every);
        naive_pairs(&full, &c, expected);
        for (int32_t workers = 1; workers <= 7; workers += 3)
            for (int order = 0; order < 2; order++) {
                const struct data *d = order ? &reversed : &full;
                memset(got, 0x55, sizeof got);
                assert_int_equal(gram_sum_pairs(call_with(&host, workers, 0), &d->records, &c.columns, got),
                                 DPF_OK);
                for (int64_t i = 0; i < c.columns.m; i++)
                    assert_memory_equal(got + i * c.columns.m + i, expected + i * c.columns.m + i,
                                        (size_t)(c.columns.m - i) * sizeof *got);
                assert_int_equal(gram_sum_counts(plain_call(&host), &d->records, 20, counts[order]), DPF_OK);
            }
        assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
    }
    plain_close(&host);
}

static void projected_sums_are_the_same_in_any_order(void **state)
{
    (void)state;
    enum { D = 4 };
    static struct data reversed;
    static int64_t sums[3][ITEMS * D];
    static double basis[ITEMS * D];
    struct plain_host host;
    struct columns_case c;
    plain_open_random(&host, component, "");
    reversed = full;
    index_data(&reversed, -1, 1);
    make_columns(&c, 1);
    for (int64_t i = 0; i < ITEMS * D; i++)
        basis[i] = sin((double)(i * i)) / 6;
    const struct gram_directions along = {&c.columns, basis, D, GRAM_LEAST_PROJECTED};
    for (int k = 0; k < 3; k++)
        assert_int_equal(gram_sum_projected(call_with(&host, 1 + 2 * k, 0),
                                            k == 2 ? &reversed.records : &full.records, &c.columns, &along,
                                            sums[k]),
                         DPF_OK);
    assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
    assert_memory_equal(sums[0], sums[2], sizeof sums[0]);
    plain_close(&host);
}

/* ---- sensitivity -----------------------------------------------------------------------------------------
 */

/* How far apart two Grams are, in noise: the diagonal has more of it. */
static double gram_distance(const struct gram_plan *plan, const int64_t *a, const int64_t *b, int64_t m)
{
    double squares = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = i; j < m; j++) {
            const double scale = (double)(i == j ? plan->second.steps_diag : plan->second.steps);
            const double moved = (double)(a[i * m + j] - b[i * m + j]) / scale;
            squares += moved * moved;
        }
    return sqrt(squares);
}

/* Whoever leaves, the sent integers move by what is stated at most; the user of one item reaches it. */
static void a_user_moves_the_sums_as_far_as_stated(void **state)
{
    (void)state;
    static struct data without;
    static int64_t before[ITEMS * ITEMS], after[ITEMS * ITEMS], counts[2][ITEMS];
    struct plain_host host;
    struct columns_case c;
    dpf_recommender_release releases[GRAM_MOST_RELEASES];
    const dpf_recommender_setup setup = setup_of(&full);
    plain_open_random(&host, component, "form=gram");
    stated(&host, &setup, 2, releases);
    const struct gram_plan plan = plan_of(&full, FORM_GRAM);
    make_columns(&c, 1);
    c.columns.bits = plan.second.bits;
    const dpf_norms *norms[2];
    for (int r = 0; r < 2; r++)
        norms[r] = &releases[r].event.sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE];
    double nearest = 0;
    for (int64_t leaves = 0; leaves < USERS; leaves += leaves % 7 == 0 ? 17 : 1) {
        without = full;
        index_data(&without, leaves, 0);
        gram_sum_pairs(call_with(&host, WORKERS, 0), &full.records, &c.columns, before);
        gram_sum_pairs(call_with(&host, WORKERS, 0), &without.records, &c.columns, after);
        const double moved = gram_distance(&plan, before, after, ITEMS);
        assert_true(moved <= norms[1]->l2 / releases[1].event.scale);
        nearest = fmax(nearest, moved / (norms[1]->l2 / releases[1].event.scale));
        gram_sum_counts(plain_call(&host), &full.records, plan.counts.bits, counts[0]);
        gram_sum_counts(plain_call(&host), &without.records, plan.counts.bits, counts[1]);
        double squares = 0;
        for (int64_t i = 0; i < ITEMS; i++)
            squares += pow((double)(counts[0][i] - counts[1][i]) * plan.counts.grid, 2);
        assert_true(squares <= norms[0]->l2 * norms[0]->l2);
        assert_true(squares >= 0.999);
    }
    assert_true(nearest > 0.999);
    plain_close(&host);
}

static void a_user_moves_the_projection_as_far_as_stated(void **state)
{
    (void)state;
    enum { D = 5 };
    static struct data without;
    static int64_t before[ITEMS * D], after[ITEMS * D];
    static double basis[ITEMS * D];
    struct plain_host host;
    struct columns_case c;
    const struct gram_plan plan = plan_of(&full, FORM_PROJECTED);
    plain_open_random(&host, component, "form=projected");
    make_columns(&c, 1);
    c.columns.bits = plan.second.bits;
    for (int64_t i = 0; i < ITEMS * D; i++)
        basis[i] = cos((double)(i * i)) * (i % 2 ? 1.0 : 1e3); /* no basis: the bound holds for any numbers */
    const struct gram_directions along = {&c.columns, basis, D, GRAM_LEAST_PROJECTED};
    double nearest = 0;
    for (int64_t leaves = 0; leaves < USERS; leaves += 7) {
        without = full;
        index_data(&without, leaves, 0);
        gram_sum_projected(call_with(&host, 2, 0), &full.records, &c.columns, &along, before);
        gram_sum_projected(call_with(&host, 2, 0), &without.records, &c.columns, &along, after);
        double squares = 0;
        for (int64_t i = 0; i < ITEMS * D; i++)
            squares += pow((double)(before[i] - after[i]) * plan.second.grid, 2);
        assert_true(squares <= 1);
        nearest = fmax(nearest, squares);
    }
    assert_true(nearest > 0.98);
    plain_close(&host);
}

/* Items without a column, with records' values, in whichever directions: the last ones, not the columns'. */
static void a_user_moves_the_tail_as_far_as_stated(void **state)
{
    (void)state;
    enum { D = 5 };
    static struct data without;
    static float values[USERS * ITEMS];
    static int64_t before[ITEMS * D], after[ITEMS * D];
    static double basis[ITEMS * D];
    struct plain_host host;
    struct columns_case head, rest;
    dpf_recommender_release releases[GRAM_MOST_RELEASES];
    const dpf_recommender_setup setup = setup_of(&full);
    const struct value_weights weights = {1, 5, 0.35F};
    plain_open_random(&host, component, "form=gram; items=14");
    stated(&host, &setup, 3, releases);
    const double most = releases[2].event.sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l2;
    make_columns(&head, 3);
    make_columns(&rest, 1);
    int32_t m = 0;
    for (int32_t i = 0; i < ITEMS; i++)
        rest.column[i] = head.column[i] < 0 ? m++ : -1;
    rest.columns.m = m;
    head.columns.values = rest.columns.values = &weights;
    const double grid = releases[2].event.grid;
    head.columns.bits = rest.columns.bits = (int32_t)lround(-log2(grid) / 2);
    for (int64_t i = 0; i < ITEMS * D; i++)
        basis[i] = cos((double)(i * i));
    const struct gram_directions along = {&head.columns, basis, D, GRAM_LEAST_PROJECTED};
    double nearest = 0;
    for (int64_t leaves = 0; leaves < USERS; leaves += leaves % 7 == 0 ? 17 : 1) {
        for (int k = 0; k < 2; k++) {
            without = full;
            index_data(&without, k ? leaves : -1, 0);
            /* A value is of its user and item, whoever leaves. */
            for (int64_t row = 0; row < without.records.n_users; row++)
                for (int64_t i = without.offsets[row]; i < without.offsets[row + 1]; i++)
                    values[i] = (float)(without.items[i] * 7 % 6 + (row + (k && row >= leaves)) % 3) - 1;
            without.records.by_user.values = values;
            gram_sum_projected(call_with(&host, 2, 0), &without.records, &rest.columns, &along,
                               k ? after : before);
        }
        double squares = 0;
        for (int64_t i = 0; i < m * D; i++)
            squares += pow((double)(before[i] - after[i]) * grid, 2);
        assert_true(squares <= most * most);
        nearest = fmax(nearest, squares);
    }
    assert_true(nearest > 0.98);
    plain_close(&host);
}

static void values_weigh_records_within_their_range(void **state)
{
    (void)state;
    const struct value_weights weights = {1, 5, 0.25F}, none = {1, 1, 0.25F};
    const float values[5] = {1, 3, 5, -7, NAN};
    const float expected[5] = {0.25F, 0.625F, 1, 0.25F, 1};
    for (int i = 0; i < 5; i++) {
        assert_true(fabsf(value_weight(&weights, values, i) - expected[i]) < 1e-6F);
        assert_true(value_weight(&weights, NULL, i) >= 1);
        assert_true(value_weight(&none, values, i) >= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_integers_never_exceed_their_norm),
        cmocka_unit_test(sums_are_exact_in_any_order),
        cmocka_unit_test(projected_sums_are_the_same_in_any_order),
        cmocka_unit_test(a_user_moves_the_sums_as_far_as_stated),
        cmocka_unit_test(a_user_moves_the_projection_as_far_as_stated),
        cmocka_unit_test(a_user_moves_the_tail_as_far_as_stated),
        cmocka_unit_test(values_weigh_records_within_their_range),
    };
    return cmocka_run_group_tests(tests, case_open, case_close);
}
