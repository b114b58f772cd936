/* SPDX-License-Identifier: Apache-2.0 */
#include "dpframe/joint.h"
#include "kit/plain_random.h"

#define ROWS 97
#define WIDTH 5

static uint64_t seed = 3;

static double uniform(double lo, double hi)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

struct projection {
    struct plain_host host;
    const dpf_transform *functions;
};

static void open_projection(struct projection *p, const char *settings)
{
    const dpf_component *component =
        plain_component("sparse-projection", DPF_ROLE_TRANSFORM, "sparse-projection");
    plain_open_random(&p->host, component, settings);
    p->functions = component->functions;
    assert_int_equal(p->functions->kind, DPF_TRANSFORM_STATE);
}

static dpf_message message(double *values, int64_t rows)
{
    return (dpf_message){.size = sizeof(dpf_message),
                         .n_rows = rows,
                         .total_rows = rows,
                         .values = values,
                         .stride = WIDTH,
                         .width = WIDTH};
}

static int64_t rows_after(struct projection *p, int64_t rows)
{
    int64_t out = -1;
    assert_int_equal(p->functions->rows(p->host.self, rows, &out), DPF_OK);
    return out;
}

static void project(struct projection *p, double *in, int64_t m, double *out, int64_t rows)
{
    const dpf_message from = message(in, m);
    dpf_message to = message(out, rows);
    assert_int_equal(p->functions->project(p->host.self, plain_call(&p->host), &from, &to), DPF_OK);
}

/* S as a matrix, column by column. */
static void matrix_of(struct projection *p, int64_t m, int64_t rows, double *s)
{
    double *in = calloc((size_t)(m * WIDTH), sizeof(double)),
           *out = malloc((size_t)(rows * WIDTH) * sizeof(double));
    assert_true(in);
    assert_true(out);
    for (int64_t j = 0; j < m; j++) {
        in[j * WIDTH] = 1;
        project(p, in, m, out, rows);
        in[j * WIDTH] = 0;
        for (int64_t r = 0; r < rows; r++)
            s[r * m + j] = out[r * WIDTH];
    }
    free(in);
    free(out);
}

TEST(columns_have_one_sign)
{
    enum { M = 4000, P = 200 };
    struct projection p;
    double *s = malloc(sizeof(double) * M * P);
    int64_t load[P] = {0}, plus = 0;
    double spread = 0;
    assert_non_null(s);
    plain_random_start(11);
    open_projection(&p, "rows=200");
    assert_int_equal(rows_after(&p, M), P);
    matrix_of(&p, M, P, s);
    for (int64_t j = 0; j < M; j++) {
        int nonzero = 0;
        for (int64_t r = 0; r < P; r++) {
            const double x = s[r * M + j];
            assert_true(x == 0 || x == 1 || x == -1);
            nonzero += x != 0;
            load[r] += x != 0;
            plus += x == 1;
        }
        assert_int_equal(nonzero, 1);
    }
    /* Uniform: chi-square with 199 degrees of freedom is below 300 but for 5e-6; signs are fair. */
    for (int64_t r = 0; r < P; r++)
        spread += ((double)load[r] - 20) * ((double)load[r] - 20) / 20;
    assert_true(spread < 300);
    assert_true(spread > 120);
    assert_true(llabs(plus - M / 2) < 4 * 32);
    free(s);
    plain_close(&p.host);
    plain_random_stop();
}

TEST(adjoint_is_the_transpose)
{
    struct projection p;
    double x[ROWS * WIDTH], y[ROWS * WIDTH], sx[ROWS * WIDTH], sty[ROWS * WIDTH];
    static const char *const settings[] = {"ratio=1", "ratio=2", "ratio=7.5", "ratio=1000", "rows=13"};
    plain_random_start(5);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        open_projection(&p, settings[i]);
        const int64_t rows = rows_after(&p, ROWS);
        for (int k = 0; k < ROWS * WIDTH; k++) {
            x[k] = uniform(-1, 1);
            y[k] = uniform(-1, 1);
        }
        project(&p, x, ROWS, sx, rows);
        const dpf_message from = message(y, rows);
        dpf_message to = message(sty, ROWS);
        assert_int_equal(p.functions->adjoint(p.host.self, plain_call(&p.host), &from, &to), DPF_OK);
        double left = 0, right = 0;
        for (int64_t k = 0; k < rows * WIDTH; k++)
            left += sx[k] * y[k];
        for (int k = 0; k < ROWS * WIDTH; k++)
            right += x[k] * sty[k];
        assert_true(fabs(left - right) < 1e-12);
        plain_close(&p.host);
    }
    plain_random_stop();
}

/*
 * DPMF-RP, Lemma 5.1, over 4,000 seeds: S'S x is unbiased, and its mean squared error is (m - 1) / p |x|^2,
 * which the lemma bounds by 2 m / p |x|^2. A coordinate of S'S x is x_j plus a sum of others' signed x_i
 * 1{h(i) = h(j)}, of variance
 * (|x|^2 - x_j^2) / p.
 */
TEST(back_and_forth_is_unbiased)
{
    enum { M = 24, P = 6, SEEDS = 4000 };
    double x[M * WIDTH] = {0}, sx[P * WIDTH], back[M * WIDTH], mean[M] = {0}, square = 0, error = 0;
    for (int j = 0; j < M; j++) {
        x[j * WIDTH] = uniform(-1, 1);
        square += x[j * WIDTH] * x[j * WIDTH];
    }
    for (int k = 0; k < SEEDS; k++) {
        struct projection p;
        char settings[48];
        plain_random_start(31 + (uint64_t)k);
        snprintf(settings, sizeof settings, "rows=%d", P);
        open_projection(&p, settings);
        project(&p, x, M, sx, P);
        const dpf_message from = message(sx, P);
        dpf_message to = message(back, M);
        assert_int_equal(p.functions->adjoint(p.host.self, plain_call(&p.host), &from, &to), DPF_OK);
        for (int j = 0; j < M; j++) {
            const double off = back[j * WIDTH] - x[j * WIDTH];
            mean[j] += off / SEEDS;
            error += off * off / SEEDS;
        }
        plain_close(&p.host);
        plain_random_stop();
    }
    for (int j = 0; j < M; j++)
        assert_true(fabs(mean[j]) < 4.5 * sqrt((square - x[j * WIDTH] * x[j * WIDTH]) / P / SEEDS));
    assert_true(fabs(error / square * P / (M - 1) - 1) < 0.05);
    assert_true(error < 2.0 * M / P * square);
}

TEST(sizes_and_seeds)
{
    struct projection a, b;
    double x[ROWS * WIDTH], one[ROWS * WIDTH], two[ROWS * WIDTH];
    int64_t rows;
    plain_random_start(5);
    open_projection(&a, "ratio=3");
    assert_int_equal(rows_after(&a, 97), 33);
    assert_int_equal(rows_after(&a, 96), 32);
    assert_int_equal(rows_after(&a, 1), 1);
    plain_random_stop();
    plain_random_start(6);
    open_projection(&b, "ratio=3");
    for (int k = 0; k < ROWS * WIDTH; k++)
        x[k] = uniform(-1, 1);
    project(&a, x, ROWS, one, 33);
    project(&b, x, ROWS, two, 33);
    assert_memory_not_equal(one, two, sizeof(double) * 33 * WIDTH);
    project(&a, x, ROWS, two, 33);
    assert_memory_equal(one, two, sizeof(double) * 33 * WIDTH);
    plain_close(&b.host);
    open_projection(&b, "rows=98");
    assert_int_equal(b.functions->rows(b.host.self, 97, &rows), DPF_E_CONFIG);
    plain_close(&b.host);
    /* In place, rows would be read after they were written. */
    const dpf_message from = message(x, ROWS);
    dpf_message to = message(x, 33);
    assert_int_equal(a.functions->project(a.host.self, plain_call(&a.host), &from, &to), DPF_E_INTERNAL);
    plain_close(&a.host);
    plain_random_stop();
}

/* Statements against random differences; the worst are those whose items collide with equal signs. */
TEST(norms_stay_within_their_statement)
{
    struct projection p;
    double x[ROWS * WIDTH], y[ROWS * WIDTH];
    dpf_query query = {.size = sizeof(query), .n_blocks = 1, .width = WIDTH, .blocks = {{.length = WIDTH}}};
    plain_random_start(9);
    open_projection(&p, "ratio=10");
    const int64_t rows = rows_after(&p, ROWS);
    double *s = malloc((size_t)(ROWS * rows) * sizeof(double));
    assert_non_null(s);
    matrix_of(&p, ROWS, rows, s);
    int64_t full = 0;
    for (int64_t r = 0, most = 0; r < rows; r++) {
        int64_t load = 0;
        for (int j = 0; j < ROWS; j++)
            load += s[r * ROWS + j] != 0;
        full = load > most ? r : full;
        most = load > most ? load : most;
    }
    for (int trial = 0; trial < 200; trial++) {
        double before[3] = {0}, after[3] = {0};
        for (int k = 0; k < ROWS * WIDTH; k++)
            x[k] = trial < 100 ? uniform(-1, 1) : uniform(0, 1) < 0.05;
        for (int j = 0; j < ROWS && trial % 2; j++) /* aligned with the fullest row of S */
            for (int i = 0; i < WIDTH; i++)
                x[j * WIDTH + i] = s[full * ROWS + j];
        project(&p, x, ROWS, y, rows);
        for (int k = 0; k < ROWS * WIDTH; k++) {
            before[0] += fabs(x[k]);
            before[1] += x[k] * x[k];
            before[2] = fmax(before[2], fabs(x[k]));
        }
        for (int64_t k = 0; k < rows * WIDTH; k++) {
            after[0] += fabs(y[k]);
            after[1] += y[k] * y[k];
            after[2] = fmax(after[2], fabs(y[k]));
        }
        dpf_sensitivity stated;
        for (int u = 0; u < DPF_N_UNITS; u++)
            for (int a = 0; a < DPF_N_ADJACENCIES; a++)
                stated.at[u][a] = (dpf_norms){before[0], sqrt(before[1]), before[2]};
        assert_int_equal(p.functions->sensitivity(p.host.self, &query, ROWS, &stated, NULL, NULL, NULL),
                         DPF_OK);
        const dpf_norms *at = &stated.at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT];
        assert_true(after[0] <= at->l1);
        assert_true(sqrt(after[1]) <= at->l2);
        assert_true(after[2] <= at->linf);
        if (trial % 2) /* and attained */
        {
            assert_true(at->linf <= after[2] * 1.0001);
            assert_true(at->l2 <= sqrt(after[1]) * 1.0001);
        }
        assert_true(stated.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2 >= at->l2);
    }
    free(s);
    plain_close(&p.host);
    plain_random_stop();
}

/* Of two blocks in one ball ||S x|| counts, not ||x||: sqrt(c) in L2, where items collide with equal signs.
 */
TEST(joint_norms_are_those_of_the_projected_message)
{
    struct projection p;
    double x[ROWS * WIDTH], y[ROWS * WIDTH];
    dpf_query query = {.size = sizeof(query),
                       .n_blocks = 2,
                       .width = WIDTH,
                       .blocks = {{.length = 1}, {.offset = 1, .length = WIDTH - 1}}};
    plain_random_start(9);
    open_projection(&p, "ratio=10");
    const int64_t rows = rows_after(&p, ROWS);
    double *s = malloc((size_t)(ROWS * rows) * sizeof(double));
    assert_non_null(s);
    matrix_of(&p, ROWS, rows, s);
    int64_t full = 0, load = 0;
    for (int64_t r = 0; r < rows; r++) {
        int64_t here = 0;
        for (int j = 0; j < ROWS; j++)
            here += s[r * ROWS + j] != 0;
        full = here > load ? r : full;
        load = here > load ? here : load;
    }
    for (int trial = 0; trial < 200; trial++) {
        const int within = 1 + trial % 2;
        dpf_sensitivity blocks[2] = {dpf_unstated(), dpf_unstated()};
        dpf_joint_norm bounds[2][2] = {{dpf_joint_new(3, within, within)}};
        const dpf_joint_norms before = {.size = sizeof before, .n = 1, .capacity = 2, .bounds = bounds[0]};
        dpf_joint_norms after = {.size = sizeof after, .capacity = 2, .bounds = bounds[1]};
        double was = 0, is = 0;
        for (int k = 0; k < ROWS * WIDTH; k++)
            x[k] =
                trial < 100 ? uniform(-1, 1) : s[full * ROWS + k / WIDTH]; /* aligned with the fullest row */
        project(&p, x, ROWS, y, rows);
        for (int k = 0; k < ROWS * WIDTH; k++)
            was += within == 1 ? fabs(x[k]) : x[k] * x[k];
        for (int64_t k = 0; k < rows * WIDTH; k++)
            is += within == 1 ? fabs(y[k]) : y[k] * y[k];
        bounds[0][0].at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT] = within == 1 ? was : sqrt(was);
        assert_int_equal(p.functions->sensitivity(p.host.self, &query, ROWS, blocks, NULL, &before, &after),
                         DPF_OK);
        assert_int_equal(after.n, 1);
        const double stated = bounds[1][0].at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT];
        const double norm = within == 1 ? is : sqrt(is);
        assert_true(norm <= stated);
        if (trial >= 100)
            assert_true(stated <= norm * 1.0001);
        assert_true(within == 1 || stated <= sqrt((double)load * was) * 1.0001);
    }
    free(s);
    plain_close(&p.host);
    plain_random_stop();
}

TEST(what_is_not_known_stays_so)
{
    struct projection p;
    dpf_query query = {.size = sizeof(query), .n_blocks = 1, .width = WIDTH, .blocks = {{.length = WIDTH}}};
    dpf_sensitivity stated;
    plain_random_start(9);
    open_projection(&p, "ratio=2");
    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++)
            stated.at[u][a] = (dpf_norms){NAN, NAN, NAN};
    stated.at[DPF_UNIT_RECORD][DPF_ADJ_FLIP] = (dpf_norms){0, 0, 0};
    stated.at[DPF_UNIT_RECORD][DPF_ADJ_ZERO_OUT] = (dpf_norms){1, 1, 1};
    assert_int_equal(p.functions->sensitivity(p.host.self, &query, ROWS, &stated, NULL, NULL, NULL), DPF_OK);
    assert_true(isnan(stated.at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l1));
    assert_true(stated.at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l2 == 0);
    /* Nothing bounds a message, so nothing bounds its rounding error. */
    assert_true(isnan(stated.at[DPF_UNIT_RECORD][DPF_ADJ_ZERO_OUT].l1));
    plain_close(&p.host);
    plain_check_memory_random(p.host.component, "");
    plain_random_stop();
}
