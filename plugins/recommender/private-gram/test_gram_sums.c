/* SPDX-License-Identifier: Apache-2.0 */
/* Of private-gram: what users send, and how far one of them moves it. */
#include "gram_fixture.h"

/* ---- rows of integers ------------------------------------------------------------------------------------
 */

static int64_t squares_of(const int32_t *row, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (int64_t)row[i] * row[i];
    return sum;
}

TEST(rows_of_integers_never_exceed_their_norm)
{
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

/* ---- centred rows ----------------------------------------------------------------------------------------
 */

static double uniform(uint64_t *z)
{
    *z = *z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*z >> 11) * 0x1p-53;
}

static long double bound_of(const int32_t *row, int64_t m, int32_t spared)
{
    long double squares = 0, fourths = 0;
    for (int64_t i = 0; i < m; i++) {
        const long double square = (long double)row[i] * row[i];
        squares += square;
        fourths += square * square;
    }
    return squares * squares - spared / 100.0L * fourths;
}

/* Some columns are the user's own; values of many kinds, among them some that are no numbers. */
static int64_t draw_own(uint64_t *z, int64_t m, int kind, int32_t *at, double *values)
{
    const double part = uniform(z);
    int64_t n = 0;
    for (int64_t i = 0; i < m; i++)
        if (uniform(z) < part) {
            const double x = uniform(z);
            at[n] = (int32_t)i;
            values[n++] = kind == 0   ? 1
                          : kind == 1 ? x
                          : kind == 2 ? pow(10, 40 * x - 20)
                          : kind == 3 ? (x < 0.5 ? 0 : 1e-300)
                                      : (double)(x < 0.5 ? INFINITY : NAN);
        }
    return n;
}

/* In whichever columns, along whatever: q has norm 1, another norm, or is no number. */
TEST(centred_rows_keep_their_bound)
{
    enum { M = 90 };
    static const double parts[3] = {0, 0.4, 0.65};
    struct plain_host host;
    uint64_t z = 5;
    double q[M], values[M];
    int32_t at[M], own[M], row[M];
    plain_open_random(&host, gram_component, "");
    for (int c = 0; c < 1200; c++) {
        const int32_t bits = 5 + c % 8, spared = c / 8 % 2 ? GRAM_SPARED : 0, odd = c % 11 == 10;
        const int64_t m = 1 + (int64_t)(uniform(&z) * M);
        const double tilt = 3 * uniform(&z);
        struct row_centre centre;
        double squares = 0;
        for (int64_t i = 0; i < m; i++) {
            q[i] = pow(uniform(&z), tilt);
            squares += q[i] * q[i];
        }
        for (int64_t i = 0; i < m; i++)
            q[i] *= odd ? 3 : 1 / sqrt(squares);
        assert_int_equal(row_centre_make(plain_call(&host), m, bits, spared, parts[c / 16 % 3], q, &centre),
                         0);
        for (int user = 0; user < 10; user++) {
            const int64_t n = draw_own(&z, m, user % 5, at, values);
            const int32_t level = row_centre_apply(&centre, at, values, n, own);
            assert_true(level >= -1 && level < CENTRE_LEVELS);
            for (int64_t i = 0; i < m; i++)
                row[i] = level >= 0 ? centre.level[level * m + i] : 0;
            for (int64_t k = 0; k < n; k++)
                row[at[k]] = own[k];
            const long double most = ldexpl(1, 4 * bits), has = bound_of(row, m, spared);
            assert_true(has <= most);
            /* A grid of 2^-12 is fine enough to come near. */
            if (bits == 12 && !odd && user % 5 < 2 && n > 0)
                assert_true(has > 0.99L * most);
        }
    }
    plain_close(&host);
}

/* The direction that is taken off is not the row's own any more; the rest of it is as it was. */
TEST(centring_takes_off_what_is_shared)
{
    struct plain_host host;
    struct columns_case c;
    struct row_centre centre;
    int32_t plain[ITEMS], row[ITEMS];
    plain_open_random(&host, gram_component, "");
    make_columns(&c, 1);
    for (int64_t u = 1; u < USERS; u += 13)
        for (int step = 0; step < 2; step++) {
            double along[2] = {0, 0}, squares[2] = {0, 0}, both = 0;
            centre_columns(plain_call(&host), &c, 0, 0, &centre);
            whole_row(&c.columns, &gram_data, u, plain);
            centre_columns(plain_call(&host), &c, 0, step ? 0.65 : 0.4, &centre);
            whole_row(&c.columns, &gram_data, u, row);
            for (int i = 0; i < ITEMS; i++) {
                along[0] += plain[i] * centre.along[i];
                along[1] += row[i] * centre.along[i];
                squares[0] += (double)plain[i] * plain[i];
                squares[1] += (double)row[i] * row[i];
                both += (double)plain[i] * row[i];
            }
            const double kept = step ? 0.35 : 0.6,
                         rest[2] = {squares[0] - along[0] * along[0], squares[1] - along[1] * along[1]};
            /* Both have norm 1: the ratio of what lies along q to the rest falls to the part that is kept. */
            const double ratio = along[1] / along[0] * sqrt(rest[0] / rest[1]);
            assert_true(fabs(ratio / kept - 1) < 0.05);
            assert_true(fabs((both - along[0] * along[1]) / sqrt(rest[0] * rest[1]) - 1) < 1e-3);
        }
    plain_close(&host);
}

/* ---- sums ------------------------------------------------------------------------------------------------
 */

static void naive_pairs(const struct data *d, const struct columns_case *c, int64_t *out)
{
    const int64_t m = c->columns.m;
    int32_t row[ITEMS];
    memset(out, 0, ITEMS * ITEMS * sizeof *out);
    for (int64_t u = 0; u < d->records.n_users; u++) {
        whole_row(&c->columns, d, u, row);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = i; j < m; j++)
                out[i * m + j] += (int64_t)row[i] * row[j];
    }
}

/* What users send one by one. */
static void sum_of_messages(const struct data *d, const struct columns_case *c, int64_t *out)
{
    static int64_t triangle[ITEMS * (ITEMS + 1) / 2];
    static int32_t at[ITEMS], row[ITEMS];
    static double values[ITEMS];
    struct gram_desk desk = {at, row, values, -1};
    const int64_t m = c->columns.m;
    memset(triangle, 0, sizeof triangle);
    for (int64_t u = 0; u < d->records.n_users; u++)
        gram_message_pairs(&c->columns, &desk, gram_message_row(&c->columns, &d->records.by_user, u, &desk),
                           triangle);
    for (int64_t i = 0; i < m; i++)
        memcpy(out + i * m + i, triangle + gram_triangle_at(i, m), (size_t)(m - i) * sizeof *out);
}

static void assert_same_pairs(const int64_t *got, const int64_t *expected, int64_t m)
{
    for (int64_t i = 0; i < m; i++)
        assert_memory_equal(got + i * m + i, expected + i * m + i, (size_t)(m - i) * sizeof *got);
}

/* By pairs, by dense blocks, by levels, on one or several workers, users in either order: the same integers. */
TEST(sums_are_exact_in_any_order)
{
    static const double parts[4] = {-1, 0, 0.4, 0.65};
    static struct data reversed;
    static int64_t expected[ITEMS * ITEMS], got[ITEMS * ITEMS], counts[2][ITEMS];
    struct plain_host host, own;
    struct columns_case c;
    struct row_centre centre;
    plain_open_random(&host, gram_component, "");
    plain_open_random(&own, gram_component, "");
    reversed = gram_data;
    index_data(&reversed, -1, 1);
    for (int kind = 0; kind < 8; kind++) {
        make_columns(&c, kind < 4 ? 1 : 3);
        if (parts[kind % 4] >= 0)
            centre_columns(plain_call(&own), &c, GRAM_SPARED, parts[kind % 4], &centre);
        naive_pairs(&gram_data, &c, expected);
        sum_of_messages(&gram_data, &c, got);
        assert_same_pairs(got, expected, c.columns.m);
        for (int32_t workers = 1; workers <= 7; workers += 3)
            for (int order = 0; order < 2; order++) {
                const struct data *d = order ? &reversed : &gram_data;
                memset(got, 0x55, sizeof got);
                assert_int_equal(gram_sum_pairs(call_with(&host, workers, 0), &d->records, &c.columns, got),
                                 DPF_OK);
                assert_same_pairs(got, expected, c.columns.m);
                assert_int_equal(gram_sum_counts(plain_call(&host), &d->records, 20, counts[order]), DPF_OK);
            }
        assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
    }
    plain_close(&own);
    plain_close(&host);
}

TEST(projected_sums_are_the_same_in_any_order)
{
    enum { D = 4 };
    static struct data reversed;
    static int64_t sums[4][ITEMS * D];
    static int32_t at[ITEMS + D], row[ITEMS + D];
    static double values[ITEMS + D];
    static struct along_case a;
    struct gram_desk desk = {at, row, values, -1};
    struct plain_host host, own;
    struct columns_case c;
    struct row_centre centre;
    plain_open_random(&host, gram_component, "");
    plain_open_random(&own, gram_component, "");
    reversed = gram_data;
    index_data(&reversed, -1, 1);
    for (int centred = 0; centred < 2; centred++) {
        make_columns(&c, 1);
        if (centred)
            centre_columns(plain_call(&own), &c, 0, 0.6, &centre);
        make_along(&a, &c.columns, D, 1);
        for (int k = 0; k < 3; k++)
            assert_int_equal(gram_sum_projected(call_with(&host, 1 + 2 * k, 0),
                                                k == 2 ? &reversed.records : &gram_data.records, &c.columns,
                                                &a.along, sums[k]),
                             DPF_OK);
        memset(sums[3], 0, sizeof sums[3]);
        for (int64_t u = 0; u < USERS; u++)
            gram_message_projected(&a.along, &c.columns, &gram_data.records.by_user, u, &desk, sums[3]);
        for (int k = 1; k < 4; k++)
            assert_memory_equal(sums[0], sums[k], sizeof sums[0]);
    }
    plain_close(&own);
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

/* Whoever leaves, the sent integers move by what is stated at most; the user of one item reaches it, and, where rows are
   centred, everybody does nearly. */
TEST(a_user_moves_the_sums_as_far_as_stated)
{
    static const double parts[3] = {0, 0.4, 0.65};
    static struct data without;
    static int64_t before[ITEMS * ITEMS], after[ITEMS * ITEMS], counts[2][ITEMS];
    struct plain_host host, own;
    struct columns_case c;
    struct row_centre centre;
    dpf_recommender_release releases[GRAM_MOST_RELEASES];
    const dpf_recommender_setup setup = setup_of(&gram_data);
    plain_open_random(&host, gram_component, "form=gram");
    plain_open_random(&own, gram_component, "form=gram");
    stated(&host, &setup, 2, releases);
    const struct gram_plan plan = plan_of(&gram_data, FORM_GRAM);
    const dpf_norms *norms[2];
    for (int r = 0; r < 2; r++)
        norms[r] = &releases[r].event.sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE];
    for (int p = 0; p < 3; p++) {
        double nearest = 0;
        make_columns(&c, 1);
        c.columns.bits = plan.second.bits;
        centre_columns(plain_call(&own), &c, GRAM_SPARED, parts[p], &centre);
        gram_sum_pairs(call_with(&host, WORKERS, 0), &gram_data.records, &c.columns, before);
        for (int64_t leaves = 0; leaves < USERS; leaves += leaves % 7 == 0 ? 17 : 1) {
            without = gram_data;
            index_data(&without, leaves, 0);
            gram_sum_pairs(call_with(&host, WORKERS, 0), &without.records, &c.columns, after);
            const double moved = gram_distance(&plan, before, after, ITEMS);
            assert_true(moved <= norms[1]->l2 / releases[1].event.scale);
            nearest = fmax(nearest, moved / (norms[1]->l2 / releases[1].event.scale));
            gram_sum_counts(plain_call(&host), &gram_data.records, plan.counts.bits, counts[0]);
            gram_sum_counts(plain_call(&host), &without.records, plan.counts.bits, counts[1]);
            double squares = 0;
            for (int64_t i = 0; i < ITEMS; i++)
                squares += pow((double)(counts[0][i] - counts[1][i]) * plan.counts.grid, 2);
            assert_true(squares <= norms[0]->l2 * norms[0]->l2);
            assert_true(squares >= 0.999);
        }
        assert_true(nearest > 0.999);
    }
    plain_close(&own);
    plain_close(&host);
}

/* Rows of two users, each with any of four columns: replacing one by the other moves the pairs by twice the norm at most,
   and further than by sqrt(2) times it, which bounds rows without negative numbers. */
TEST(replacing_a_user_costs_up_to_twice_as_much)
{
    enum { M = 4, ALL = 1 << M };
    const struct gram_plan plan = plan_of(&gram_data, FORM_GRAM);
    struct plain_host host;
    struct row_centre centre;
    double furthest = 0;
    const double q[M] = {0.5, 0.5, 0.5, 0.5}, norm = ldexp(sqrt(0.5), 2 * plan.second.bits);
    int32_t rows[ALL][M];
    plain_open_random(&host, gram_component, "form=gram");
    assert_int_equal(row_centre_make(plain_call(&host), M, plan.second.bits, GRAM_SPARED, 0.65, q, &centre),
                     0);
    for (int set = 0; set < ALL; set++) {
        int32_t at[M], own[M];
        double values[M];
        int64_t n = 0;
        for (int i = 0; i < M; i++)
            if (set >> i & 1) {
                at[n] = i;
                values[n++] = 1;
            }
        const int32_t level = row_centre_apply(&centre, at, values, n, own);
        for (int i = 0; i < M; i++)
            rows[set][i] = level >= 0 ? centre.level[level * M + i] : 0;
        for (int64_t k = 0; k < n; k++)
            rows[set][at[k]] = own[k];
    }
    for (int a = 0; a < ALL; a++)
        for (int b = 0; b < a; b++) {
            double squares = 0;
            for (int i = 0; i < M; i++)
                for (int j = i; j < M; j++) {
                    const double moved = (double)rows[a][i] * rows[a][j] - (double)rows[b][i] * rows[b][j];
                    squares += moved * moved * (i == j ? 0.09 / 2 : 1);
                }
            furthest = fmax(furthest, sqrt(squares) / norm);
        }
    assert_true(furthest <= 2);
    assert_true(furthest > 1.43);
    plain_close(&host);
}

TEST(a_user_moves_the_projection_as_far_as_stated)
{
    enum { D = 5 };
    static struct data without;
    static int64_t before[ITEMS * D], after[ITEMS * D];
    static struct along_case a;
    struct plain_host host, own;
    struct columns_case c;
    struct row_centre centre;
    const struct gram_plan plan = plan_of(&gram_data, FORM_PROJECTED);
    plain_open_random(&host, gram_component, "form=projected");
    plain_open_random(&own, gram_component, "form=projected");
    for (int centred = 0; centred < 2; centred++) {
        double nearest = 0;
        make_columns(&c, 1);
        c.columns.bits = plan.second.bits;
        if (centred)
            centre_columns(plain_call(&own), &c, 0, 0.6, &centre);
        make_along(&a, &c.columns, D, 1e3); /* no basis: the bound holds for any numbers */
        gram_sum_projected(call_with(&host, 2, 0), &gram_data.records, &c.columns, &a.along, before);
        for (int64_t leaves = 0; leaves < USERS; leaves += 7) {
            without = gram_data;
            index_data(&without, leaves, 0);
            gram_sum_projected(call_with(&host, 2, 0), &without.records, &c.columns, &a.along, after);
            double squares = 0;
            for (int64_t i = 0; i < ITEMS * D; i++)
                squares += pow((double)(before[i] - after[i]) * plan.second.grid, 2);
            assert_true(squares <= 1);
            nearest = fmax(nearest, squares);
        }
        assert_true(nearest > 0.98);
    }
    plain_close(&own);
    plain_close(&host);
}

/* Items without a column, with records' values, in whichever directions: the last ones, not the columns'. */
TEST(a_user_moves_the_tail_as_far_as_stated)
{
    enum { D = 5 };
    static struct data without;
    static float values[USERS * ITEMS];
    static int64_t before[ITEMS * D], after[ITEMS * D];
    static double basis[ITEMS * D];
    struct plain_host host;
    struct columns_case head, rest;
    dpf_recommender_release releases[GRAM_MOST_RELEASES];
    const dpf_recommender_setup setup = setup_of(&gram_data);
    const struct value_weights weights = {1, 5, 0.35F};
    plain_open_random(&host, gram_component, "form=gram; items=14");
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
    const struct gram_directions along = {&head.columns, basis, D, GRAM_LEAST_PROJECTED, NULL};
    double nearest = 0;
    for (int64_t leaves = 0; leaves < USERS; leaves += leaves % 7 == 0 ? 17 : 1) {
        for (int k = 0; k < 2; k++) {
            without = gram_data;
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

TEST(values_weigh_records_within_their_range)
{
    const struct value_weights weights = {1, 5, 0.25F}, none = {1, 1, 0.25F};
    const float values[5] = {1, 3, 5, -7, NAN};
    const float expected[5] = {0.25F, 0.625F, 1, 0.25F, 1};
    for (int i = 0; i < 5; i++) {
        assert_true(fabsf(value_weight(&weights, values, i) - expected[i]) < 1e-6F);
        assert_true(value_weight(&weights, NULL, i) >= 1);
        assert_true(value_weight(&none, values, i) >= 1);
    }
}

FIXTURE(gram_open, gram_close)
