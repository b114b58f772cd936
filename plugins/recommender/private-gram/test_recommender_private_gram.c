/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ease_state.h"
#include "gram_sum.h"
#include "plain_random.h"
#include "statistical/goodness.h"
#include "unit_rows.h"

#define USERS 120
#define ITEMS 40
#define WORKERS 3

static const dpf_component *component;
static const dpf_recommender *recommender;

/* ---- records ---------------------------------------------------------------------------------------------
 */

struct data {
    uint8_t has[USERS][ITEMS];
    int64_t n_users, n_items, offsets[USERS + 1];
    int32_t items[USERS * ITEMS];
    dpf_interactions records;
};
static struct data full;

/* Users in the order given, all but the one that leaves (-1: nobody). */
static void index_data(struct data *d, int64_t leaves, int backwards)
{
    int64_t n = 0, rows = 0;
    d->offsets[0] = 0;
    for (int64_t k = 0; k < d->n_users; k++) {
        const int64_t u = backwards ? d->n_users - 1 - k : k;
        if (u == leaves)
            continue;
        for (int32_t i = 0; i < d->n_items; i++)
            if (d->has[u][i])
                d->items[n++] = i;
        d->offsets[++rows] = n;
    }
    d->records = (dpf_interactions){.size = sizeof d->records,
                                    .n_users = rows,
                                    .n_items = d->n_items,
                                    .n = n,
                                    .by_user = {rows, d->offsets, d->items, NULL}};
}

/* Two tastes; users of all lengths, from one item to all. */
static void fill_data(struct data *d)
{
    uint64_t z = 777;
    memset(d, 0, sizeof *d);
    d->n_users = USERS;
    d->n_items = ITEMS;
    for (int64_t u = 0; u < USERS; u++)
        for (int64_t i = 0; i < ITEMS; i++) {
            z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const double much = u % 10 == 0 ? 0.9 : u % 2 == i % 2 ? 0.35 : 0.05;
            d->has[u][i] = (double)(z >> 11) * 0x1p-53 < much;
        }
    memset(d->has[0], 0, ITEMS);
    d->has[0][3] = 1; /* the first user has one item, the last one all */
    memset(d->has[USERS - 1], 1, ITEMS);
    index_data(d, -1, 0);
}

static dpf_recommender_setup setup_of(const struct data *d)
{
    return (dpf_recommender_setup){.size = sizeof(dpf_recommender_setup),
                                   .n_users = d->n_users,
                                   .n_items = d->n_items,
                                   .value_lo = 1,
                                   .value_hi = 1,
                                   .noise_factor = 1,
                                   .unit = DPF_UNIT_USER,
                                   .adjacency = DPF_ADJ_ADD_REMOVE};
}

static void backwards(const dpf_call *call, int64_t n_tasks, dpf_task task, void *context)
{
    for (int64_t i = n_tasks; i-- > 0;)
        task(context, i, (int32_t)(i % call->n_workers));
}

static const dpf_call *call_with(struct plain_host *host, int32_t workers, uint32_t draw)
{
    host->call.draw = draw;
    host->call.n_workers = workers;
    host->call.run_tasks = backwards;
    return plain_call(host);
}

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

struct columns_case {
    int32_t column[ITEMS];
    double weight[ITEMS];
    struct gram_columns columns;
};

static void make_columns(struct columns_case *c, int64_t every)
{
    int32_t m = 0;
    for (int32_t i = 0; i < ITEMS; i++) {
        c->column[i] = i % every == 0 ? m : -1;
        if (i % every == 0)
            c->weight[m++] = pow(i + 1, -0.3);
    }
    c->columns = (struct gram_columns){ITEMS, m, c->column, c->weight, 12, NULL};
}

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

static void stated(struct plain_host *host, const dpf_recommender_setup *setup, int32_t expected,
                   dpf_recommender_release releases[GRAM_MOST_RELEASES])
{
    int32_t n = 0;
    memset(releases, 0, GRAM_MOST_RELEASES * sizeof *releases);
    for (int r = 0; r < GRAM_MOST_RELEASES; r++)
        for (int unit = 0; unit < DPF_N_UNITS; unit++)
            for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
                releases[r].event.sensitivity.at[unit][adjacency] = (dpf_norms){NAN, NAN, NAN};
    assert_int_equal(recommender->releases(host->self, setup, releases, GRAM_MOST_RELEASES, &n), DPF_OK);
    assert_int_equal(n, expected);
}

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

static struct gram_plan plan_of(const struct data *d, int32_t form)
{
    const struct gram_options options = {.multiplier = 1,
                                         .form = form,
                                         .weight_exponent = -1,
                                         .ridge = -1,
                                         .rescale = -1,
                                         .weight_offset = 10,
                                         .diagonal = 0.5};
    const dpf_recommender_setup setup = setup_of(d);
    struct gram_plan plan;
    assert_null(gram_plan_make(&options, &setup, &plan));
    return plan;
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

/* All releases together are one Gaussian mechanism of the stated multiplier: with a release of the tail too.
 */
static void noise_follows_the_budget(void **state)
{
    (void)state;
    static const char *const configured[2] = {"noise-multiplier=2; count-share=0.2; form=gram; items=40",
                                              "noise-multiplier=2; count-share=0.2; form=gram; items=30"};
    struct plain_host host;
    dpf_recommender_release releases[GRAM_MOST_RELEASES];
    dpf_recommender_setup setup = setup_of(&full);
    int32_t n = 0;
    for (int c = 0; c < 2; c++) {
        plain_open_random(&host, component, configured[c]);
        for (int twice = 0; twice < 2; twice++) {
            setup.noise_factor = twice ? 2 : 1;
            stated(&host, &setup, 2 + c, releases);
            double mu2 = 0;
            for (int r = 0; r < 2 + c; r++) {
                const dpf_event *event = &releases[r].event;
                const double per = event->sensitivity.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l2 / event->scale;
                assert_int_equal(event->kind, DPF_EVENT_DISCRETE_GAUSSIAN);
                assert_true(event->scale / event->grid == floor(event->scale / event->grid));
                mu2 += per * per;
                assert_true(releases[r].reads == DPF_READS_OWN_RECORDS);
                assert_true(releases[r].noise_where == DPF_NOISE_AT_SUM);
            }
            const double z = twice ? 4 : 2;
            assert_true(mu2 <= 1 / (z * z));
            assert_true(mu2 > 0.9999 / (z * z));
        }
        setup.without_noise = 1;
        stated(&host, &setup, 2 + c, releases);
        for (int r = 0; r < 2 + c; r++)
            assert_true(releases[r].event.kind == DPF_EVENT_NON_PRIVATE);
        setup.without_noise = 0;
        plain_close(&host);
    }
    static const char *const refused[2] = {"noise-multiplier=1e8",
                                           "count-share=0.5; tail-share=0.5; form=gram; items=5"};
    setup = setup_of(&full);
    for (int c = 0; c < 2; c++) {
        plain_open_random(&host, component, refused[c]);
        assert_int_equal(recommender->releases(host.self, &setup, releases, GRAM_MOST_RELEASES, &n),
                         DPF_E_RANGE);
        plain_close(&host);
    }
}

/* ---- noise -----------------------------------------------------------------------------------------------
 */

struct seen {
    double numbers[GRAM_MOST_RELEASES][ITEMS * ITEMS];
    int64_t n[GRAM_MOST_RELEASES];
    double noise; /* of the tail: squares, in units of its scale */
};

static void see(void *context, const dpf_witnessed *what)
{
    struct seen *seen = context;
    assert_true(what->row == 0);
    assert_true(what->release < GRAM_MOST_RELEASES);
    assert_true(what->n <= ITEMS * ITEMS);
    for (int64_t i = 0; i < what->n && what->release == 2; i++)
        seen->noise += pow(what->numbers[i] - what->exact[i], 2);
    memcpy(seen->numbers[what->release], what->numbers, (size_t)what->n * sizeof(double));
    seen->n[what->release] = what->n;
}

/* A trained state, to be freed; what left in *seen. */
static void *fit_seen(struct plain_host *host, const struct data *d, int without_noise, uint32_t draw,
                      struct seen *seen, uint64_t *used)
{
    dpf_recommender_setup setup = setup_of(d);
    const dpf_witness witness = {seen, see};
    uint64_t bytes = 0;
    setup.without_noise = without_noise;
    assert_int_equal(recommender->state_bytes(host->self, d->n_users, d->n_items, &bytes), DPF_OK);
    void *state = aligned_alloc(64, (size_t)((bytes + 63) / 64 * 64));
    assert_non_null(state);
    memset(state, 0, (size_t)bytes);
    dpf_fit fit = {.size = sizeof fit,
                   .setup = &setup,
                   .records = &d->records,
                   .state = state,
                   .state_bytes = bytes,
                   .witness = seen ? &witness : NULL};
    assert_int_equal(recommender->fit(host->self, call_with(host, WORKERS, draw), &fit), DPF_OK);
    assert_true(fit.state_bytes <= bytes);
    assert_int_equal(recommender->check(host->self, d->n_users, d->n_items, state, fit.state_bytes), DPF_OK);
    if (used)
        *used = fit.state_bytes;
    return state;
}

/* With exponent 0 the columns do not depend on the noise of the counts: what leaves, less the sums, is noise.
 */
static void noise_has_the_planned_variance(void **state)
{
    (void)state;
    static struct seen seen;
    static int64_t sums[ITEMS * ITEMS], counts[ITEMS];
    struct plain_host host;
    struct columns_case c;
    const struct gram_plan plan = plan_of(&full, FORM_GRAM);
    double squares[3] = {0}, n[3] = {0};
    plain_open_random(&host, component, "form=gram; items=40; weight-exponent=0");
    make_columns(&c, 1);
    for (int k = 0; k < ITEMS; k++)
        c.weight[k] = 1;
    c.columns.bits = plan.second.bits;
    gram_sum_pairs(call_with(&host, 1, 0), &full.records, &c.columns, sums);
    gram_sum_counts(plain_call(&host), &full.records, plan.counts.bits, counts);
    for (uint32_t draw = 0; draw < 60; draw++) {
        free(fit_seen(&host, &full, 0, draw, &seen, NULL));
        for (int64_t i = 0; i < ITEMS; i++) {
            squares[0] += pow(
                (seen.numbers[0][i] / plan.counts.grid - (double)counts[i]) / (double)plan.counts.steps, 2);
            n[0]++;
            for (int64_t j = i; j < ITEMS; j++) {
                const double noise =
                    seen.numbers[1][i * ITEMS + j] / plan.second.grid - (double)sums[i * ITEMS + j];
                const double scale = (double)(i == j ? plan.second.steps_diag : plan.second.steps);
                squares[i == j ? 1 : 2] += noise / scale * (noise / scale);
                n[i == j ? 1 : 2]++;
            }
        }
    }
    static const char *const names[3] = {"counts", "diagonal", "pairs"};
    for (int k = 0; k < 3; k++)
        goodness_assert((squares[k] - n[k]) / sqrt(2 * n[k]), names[k], 3);
    plain_close(&host);
}

static void the_tails_noise_has_the_planned_variance(void **state)
{
    (void)state;
    static struct seen seen;
    struct plain_host host;
    dpf_recommender_release releases[GRAM_MOST_RELEASES];
    const dpf_recommender_setup setup = setup_of(&full);
    double n = 0;
    plain_open_random(&host, component, "form=gram; items=30; noise-multiplier=0.5");
    stated(&host, &setup, 3, releases);
    seen.noise = 0;
    for (uint32_t draw = 0; draw < 40; draw++) {
        free(fit_seen(&host, &full, 0, draw, &seen, NULL));
        n += (double)seen.n[2];
    }
    assert_true(n > 400);
    const double scale = releases[2].event.scale;
    goodness_assert((seen.noise / (scale * scale) - n) / sqrt(2 * n), "tail", 1);
    plain_close(&host);
}

/* ---- an audit
 * ---------------------------------------------------------------------------------------------- */

/* Clopper and Pearson's bound by bisection over the normal-free tail: P[Binomial(n, p) >= k] = risk. */
static double binomial_tail(int64_t n, int64_t k, double p)
{
    double sum = 0;
    for (int64_t i = k; i <= n && i < k + 4000; i++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
                   (double)i * log(p) + (double)(n - i) * log1p(-p));
    return sum;
}

static double lower_bound(int64_t n, int64_t k, double risk)
{
    double lo = 1e-12, hi = (double)k / (double)n;
    for (int step = 0; k > 0 && step < 60; step++) {
        const double p = (lo + hi) / 2;
        *(binomial_tail(n, k, p) < risk ? &lo : &hi) = p;
    }
    return k > 0 ? lo : 0;
}

static double upper_bound(int64_t n, int64_t k, double risk)
{
    double lo = (double)k / (double)n, hi = fmin(1, ((double)k + 50) / (double)n * 3);
    for (int step = 0; step < 60; step++) {
        const double p = (lo + hi) / 2;
        *(1 - binomial_tail(n, k + 1, p) < risk ? &hi : &lo) = p;
    }
    return hi;
}

enum { TRIALS = 100000 };
static double scores[2][TRIALS];

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct listening {
    struct seen seen;
    struct plain_host *host;
};

/* All that leaves has been seen: what is computed from it is of no concern here. */
static void see_and_stop(void *context, const dpf_witnessed *what)
{
    struct listening *listening = context;
    see(&listening->seen, what);
    listening->host->cancel = what->release == 1;
}

static void listen(struct plain_host *host, const struct data *d, uint32_t draw, struct listening *listening)
{
    static char state[1 << 16];
    const dpf_recommender_setup setup = setup_of(d);
    const dpf_witness witness = {listening, see_and_stop};
    dpf_fit fit = {.size = sizeof fit,
                   .setup = &setup,
                   .records = &d->records,
                   .state = state,
                   .state_bytes = sizeof state,
                   .witness = &witness};
    listening->host = host;
    assert_int_equal(recommender->fit(host->self, call_with(host, 1, draw), &fit), DPF_E_CANCELLED);
    host->cancel = 0;
}

/* The log-likelihood ratio of both releases, whose law is known: one user with both of two items, or not. */
static void score_trials(struct plain_host *host, const struct gram_plan *plan, const struct data sets[2])
{
    struct columns_case c;
    static struct listening listening;
    const struct seen *seen = &listening.seen;
    int64_t sums[2][4], counts[2][2];
    make_columns(&c, 1);
    c.weight[0] = c.weight[1] = 1;
    c.columns.n_items = c.columns.m = 2;
    c.columns.bits = plan->second.bits;
    for (int s = 0; s < 2; s++) {
        gram_sum_pairs(call_with(host, 1, 0), &sets[s].records, &c.columns, sums[s]);
        gram_sum_counts(plain_call(host), &sets[s].records, plan->counts.bits, counts[s]);
    }
    for (int s = 0; s < 2; s++)
        for (uint32_t trial = 0; trial < TRIALS; trial++) {
            listen(host, &sets[s], 2 * trial + (uint32_t)s, &listening);
            double score = 0;
            for (int i = 0; i < 2; i++) {
                const double moved = (double)(counts[1][i] - counts[0][i]) / (double)plan->counts.steps;
                const double at = (seen->numbers[0][i] / plan->counts.grid - (double)counts[0][i]) /
                                  (double)plan->counts.steps;
                score += moved * at;
                for (int j = i; j < 2; j++) {
                    const double scale = (double)(i == j ? plan->second.steps_diag : plan->second.steps);
                    const double m = (double)(sums[1][i * 2 + j] - sums[0][i * 2 + j]) / scale;
                    score += m *
                             (seen->numbers[1][i * 2 + j] / plan->second.grid - (double)sums[0][i * 2 + j]) /
                             scale;
                }
            }
            scores[s][trial] = score;
        }
}

/* Half of the trials choose the threshold, the other half count. 95 %: 2.5 % for either bound. */
static double audited_epsilon(double delta)
{
    enum { HALF = TRIALS / 2 };
    double best = 0, threshold = 0;
    for (int s = 0; s < 2; s++)
        qsort(scores[s], HALF, sizeof(double), by_size);
    for (int64_t k = 20; k < HALF / 4; k += 5) {
        int64_t hits = 0;
        const double at = scores[0][HALF - k];
        for (int64_t i = HALF - 1; i >= 0 && scores[1][i] >= at; i--)
            hits++;
        const double h = (double)hits, f = (double)k; /* about what the bounds will be */
        const double bound = log((h - 2 * sqrt(h)) / (f + 2 * sqrt(f) + 2));
        if (bound > best) {
            best = bound;
            threshold = at;
        }
    }
    int64_t counted[2] = {0, 0};
    for (int s = 0; s < 2; s++)
        for (int64_t i = HALF; i < TRIALS; i++)
            counted[s] += scores[s][i] >= threshold;
    return log((lower_bound(HALF, counted[1], 0.025) - delta) / upper_bound(HALF, counted[0], 0.025));
}

/* Proved: a Gaussian mechanism of multiplier 1.39 has epsilon 3 at delta 1e-5 (the analytic formula). */
static void an_audit_reaches_half_of_what_is_proved(void **state)
{
    (void)state;
    static struct data sets[2];
    struct plain_host host;
    const double delta = 1e-5, proved = 3;
    for (int s = 0; s < 2; s++) {
        memset(&sets[s], 0, sizeof sets[s]);
        sets[s].n_users = 3;
        sets[s].n_items = 2;
        sets[s].has[1][0] = sets[s].has[2][1] = 1;
        sets[s].has[0][0] = sets[s].has[0][1] = 1;
        index_data(&sets[s], s ? -1 : 0, 0); /* the first user is there or not */
    }
    plain_open_random(&host, component, "noise-multiplier=1.3906; form=gram; weight-exponent=0; items=2");
    const struct gram_options options = {
        .multiplier = 1.3906, .form = FORM_GRAM, .items = 2, .ridge = -1, .rescale = -1};
    const dpf_recommender_setup setup = setup_of(&sets[0]);
    struct gram_plan plan;
    assert_null(gram_plan_make(&options, &setup, &plan));
    score_trials(&host, &plan, sets);
    const double found = audited_epsilon(delta);
    print_message("audit: epsilon at least %.3f of %.1f proved\n", found, proved);
    assert_true(found >= proved / 2);
    assert_true(found <= proved);
    plain_close(&host);
}

/* ---- the model
 * --------------------------------------------------------------------------------------------- */

/* Solves a x = b in place by Gauss and Jordan. */
static void invert(double a[ITEMS][ITEMS], double out[ITEMS][ITEMS])
{
    for (int i = 0; i < ITEMS; i++)
        for (int j = 0; j < ITEMS; j++)
            out[i][j] = i == j;
    for (int k = 0; k < ITEMS; k++) {
        const double pivot = a[k][k];
        for (int j = 0; j < ITEMS; j++) {
            a[k][j] /= pivot;
            out[k][j] /= pivot;
        }
        for (int i = 0; i < ITEMS; i++) {
            const double factor = i == k ? 0 : a[i][k];
            for (int j = 0; j < ITEMS; j++) {
                a[i][j] -= factor * a[k][j];
                out[i][j] -= factor * out[k][j];
            }
        }
    }
}

/* Without noise: EASE by its formula, from the Gram and the ridge that the state says. */
static void without_noise_it_is_ease(void **state)
{
    (void)state;
    static struct seen seen;
    static double g[ITEMS][ITEMS], p[ITEMS][ITEMS], diagonal[ITEMS];
    struct plain_host host;
    float got[ITEMS] = {0};
    double mean = 0;
    plain_open_random(&host, component, "weight-exponent=0; ridge=0.5; diagonal=0; rescale=0; items=40");
    void *bytes = fit_seen(&host, &full, 1, 0, &seen, NULL);
    for (int i = 0; i < ITEMS; i++)
        for (int j = i; j < ITEMS; j++)
            g[i][j] = g[j][i] = seen.numbers[1][i * ITEMS + j];
    for (int i = 0; i < ITEMS; i++)
        mean += (diagonal[i] = g[i][i]) / ITEMS;
    for (int i = 0; i < ITEMS; i++)
        g[i][i] += 0.5 * mean;
    invert(g, p);
    for (int32_t u = 0; u < USERS; u += 11) {
        const dpf_scoring scoring = {sizeof scoring, u, &full.records, bytes, got};
        assert_int_equal(recommender->scores(host.self, plain_call(&host), &scoring), DPF_OK);
        int64_t n = full.offsets[u + 1] - full.offsets[u];
        for (int j = 0; j < ITEMS; j++) {
            double expected = 0;
            for (int64_t i = full.offsets[u]; i < full.offsets[u + 1]; i++)
                if (full.items[i] != j)
                    expected -= p[full.items[i]][j] / p[j][j] / sqrt((double)n);
            if (!(fabs(expected - (double)got[j]) < 1e-4 * (1 + fabs(expected))))
                fail_msg("user %d, item %d: %.6f, not %.6f", (int)u, j, (double)got[j], expected);
        }
    }
    free(bytes);
    plain_close(&host);
}

/* Items of a user's own taste come first on average, with little noise; in both forms. */
static void tastes_are_told_apart(void **state)
{
    (void)state;
    static const char *const forms[2] = {"form=gram; noise-multiplier=0.05",
                                         "form=projected; noise-multiplier=0.05"};
    static const dpf_feature_column taste[2] = {
        {.name = "even", .kind = DPF_FEATURE_CATEGORY, .mean = 0.5, .deviation = 1},
        {.name = "odd", .kind = DPF_FEATURE_CATEGORY, .mean = 0.5, .deviation = 1}};
    int64_t offsets[ITEMS + 1];
    int32_t at[ITEMS];
    float values[ITEMS], got[ITEMS] = {0};
    for (int i = 0; i < ITEMS; i++) {
        offsets[i + 1] = i + 1;
        at[i] = i % 2;
        values[i] = 1;
    }
    offsets[0] = 0;
    const dpf_features features = {sizeof features, 1, ITEMS, 2, offsets, at, values, taste};
    static struct data with;
    with = full;
    index_data(&with, -1, 0);
    with.records.item_features = &features;
    for (int form = 0; form < 2; form++) {
        struct plain_host host;
        plain_open_random(&host, component, forms[form]);
        void *bytes = fit_seen(&host, &with, 0, 0, NULL, NULL);
        double margin = 0;
        for (int32_t u = 0; u < USERS; u++) {
            const dpf_scoring scoring = {sizeof scoring, u, &with.records, bytes, got};
            assert_int_equal(recommender->scores(host.self, plain_call(&host), &scoring), DPF_OK);
            for (int j = 0; j < ITEMS && u % 10; j++)
                if (!with.has[u][j])
                    margin += u % 2 == j % 2 ? (double)got[j] : -(double)got[j];
        }
        assert_true(margin > 1);
        free(bytes);
        plain_close(&host);
    }
}

/* How much better items of a user's own taste score, of those without a column. */
static double margin_of_the_tail(const char *params)
{
    struct plain_host host;
    float got[ITEMS] = {0};
    double margin = 0;
    plain_open_random(&host, component, params);
    void *bytes = fit_seen(&host, &full, 0, 0, NULL, NULL);
    const struct ease_state model = ease_state_at(bytes);
    for (int32_t u = 0; u < USERS; u++) {
        const dpf_scoring scoring = {sizeof scoring, u, &full.records, bytes, got};
        assert_int_equal(recommender->scores(host.self, plain_call(&host), &scoring), DPF_OK);
        for (int j = 0; j < ITEMS && u % 10; j++)
            if (model.column[j] < 0)
                margin += u % 2 == j % 2 ? (double)got[j] : -(double)got[j];
    }
    free(bytes);
    plain_close(&host);
    return margin;
}

/* Their own release tells what counts alone do not. */
static void items_without_a_column_are_told_apart(void **state)
{
    (void)state;
    assert_true(margin_of_the_tail("form=gram; items=24; noise-multiplier=0.05; tail-share=0.1") >
                margin_of_the_tail("form=gram; items=24; noise-multiplier=0.05; tail-share=0") + 1);
}

static void nobody_and_nothing_are_no_faults(void **state)
{
    (void)state;
    static struct data empty;
    struct plain_host host;
    float got[ITEMS] = {0};
    empty = full;
    memset(empty.has, 0, sizeof empty.has);
    empty.has[0][0] = 1;
    index_data(&empty, -1, 0);
    plain_open_random(&host, component, "form=gram; noise-multiplier=20");
    uint64_t used = 0;
    void *bytes = fit_seen(&host, &empty, 0, 0, NULL, &used);
    const dpf_scoring scoring = {sizeof scoring, 5, &empty.records, bytes, got};
    assert_int_equal(recommender->scores(host.self, plain_call(&host), &scoring), DPF_OK);
    for (int j = 0; j < ITEMS; j++)
        assert_true(isfinite(got[j]));
    assert_int_equal(recommender->check(host.self, USERS, ITEMS + 1, bytes, used), DPF_E_RANGE);
    assert_int_equal(recommender->check(host.self, USERS, ITEMS, bytes, used - 4), DPF_E_RANGE);
    free(bytes);
    plain_close(&host);
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(31);
    component = plain_component("private-gram", DPF_ROLE_RECOMMENDER, "private-gram");
    recommender = component->functions;
    fill_data(&full);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    plain_random_stop();
    return 0;
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
        cmocka_unit_test(noise_follows_the_budget),
        cmocka_unit_test(noise_has_the_planned_variance),
        cmocka_unit_test(the_tails_noise_has_the_planned_variance),
        cmocka_unit_test(an_audit_reaches_half_of_what_is_proved),
        cmocka_unit_test(without_noise_it_is_ease),
        cmocka_unit_test(tastes_are_told_apart),
        cmocka_unit_test(items_without_a_column_are_told_apart),
        cmocka_unit_test(nobody_and_nothing_are_no_faults),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
