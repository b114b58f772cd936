/* SPDX-License-Identifier: Apache-2.0 */
#include "dpframe/joint.h"
#include "kit/plain_random.h"

#define MOST 4096

static uint64_t seed = 3;

static double uniform(double lo, double hi)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

struct flatten {
    struct plain_host host;
    const dpf_transform *functions;
    int64_t rows_in, rows_out;
    int32_t width;
};

static void open_flatten(struct flatten *f, int matrix, int64_t rows, int32_t width)
{
    char settings[64];
    const dpf_component *component =
        plain_component("hadamard-flatten", DPF_ROLE_TRANSFORM, "hadamard-flatten");
    snprintf(settings, sizeof(settings), matrix ? "scope=matrix; columns=%d" : "scope=rows; columns=%d",
             width);
    plain_open_random(&f->host, component, settings);
    f->functions = component->functions;
    f->rows_in = rows;
    f->width = width;
    assert_int_equal(f->functions->rows(f->host.self, rows, &f->rows_out), DPF_OK);
}

static dpf_message message(const struct flatten *f, double *values, int64_t rows)
{
    return (dpf_message){.size = sizeof(dpf_message),
                         .n_rows = rows,
                         .total_rows = rows,
                         .values = values,
                         .stride = f->width,
                         .width = f->width};
}

static void forward(struct flatten *f, double *in, double *out)
{
    const dpf_message from = message(f, in, f->rows_in);
    dpf_message to = message(f, out, f->rows_out);
    assert_int_equal(f->functions->forward(f->host.self, plain_call(&f->host), &from, &to), DPF_OK);
}

static void backward(struct flatten *f, double *in, double *out)
{
    const dpf_message from = message(f, in, f->rows_out);
    dpf_message to = message(f, out, f->rows_in);
    assert_int_equal(f->functions->inverse(f->host.self, plain_call(&f->host), &from, &to), DPF_OK);
}

TEST(sizes_are_powers_of_two)
{
    static const struct {
        int matrix;
        int64_t rows;
        int32_t width;
        int64_t expected;
    } cases[] = {{0, 841, 14, 1024}, {0, 561, 14, 1024}, {0, 1024, 14, 1024}, {0, 1, 3, 1},
                 {1, 841, 14, 1171}, {1, 561, 14, 586},  {1, 512, 16, 512},   {1, 1, 1, 1}};
    plain_random_start(1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct flatten f;
        open_flatten(&f, cases[i].matrix, cases[i].rows, cases[i].width);
        assert_int_equal(f.rows_out, cases[i].expected);
        plain_close(&f.host);
    }
    plain_random_stop();
}

/* Entry (i, j) of the Walsh-Hadamard matrix of order n is (-1)^popcount(i & j) / sqrt(n). */
TEST(transform_matches_its_matrix)
{
    double x[MOST], y[MOST], column[64], signs[64];
    plain_random_start(2);
    for (int64_t rows = 1; rows <= 37; rows += 4) {
        struct flatten f;
        open_flatten(&f, 0, rows, 3);
        const int64_t n = f.rows_out;
        /* The first coordinate of H D e_j is s_j / sqrt(n). */
        for (int64_t j = 0; j < rows; j++) {
            memset(x, 0, sizeof(x));
            x[j * 3] = 1;
            forward(&f, x, y);
            signs[j] = y[0] > 0 ? 1 : -1;
            assert_true(fabs(fabs(y[0]) - 1 / sqrt((double)n)) < 1e-15);
        }
        for (int64_t i = 0; i < rows * 3; i++)
            x[i] = uniform(-1, 1);
        forward(&f, x, y);
        for (int64_t c = 0; c < 3; c++)
            for (int64_t i = 0; i < n; i++) {
                column[i] = 0;
                for (int64_t j = 0; j < rows; j++)
                    column[i] +=
                        (__builtin_popcountll((uint64_t)(i & j)) % 2 ? -1 : 1) * signs[j] * x[j * 3 + c];
                assert_true(fabs(column[i] / sqrt((double)n) - y[i * 3 + c]) < 1e-13);
            }
        plain_close(&f.host);
    }
    plain_random_stop();
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* inverse(forward(x)) = x, norms stay, and the inverse is the adjoint. */
TEST(transform_is_orthogonal)
{
    static const int64_t sizes[] = {1, 2, 3, 16, 17, 64, 100};
    double x[MOST], y[MOST], z[MOST], back[MOST];
    plain_random_start(3);
    for (int matrix = 0; matrix < 2; matrix++)
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
            for (int32_t width = 1; width <= 14; width += 6) {
                struct flatten f;
                open_flatten(&f, matrix, sizes[s], width);
                const int64_t n_in = f.rows_in * width, n_out = f.rows_out * width;
                assert_true(n_out <= MOST);
                for (int64_t i = 0; i < n_out; i++) {
                    x[i] = uniform(-1, 1);
                    z[i] = uniform(-1, 1);
                }
                forward(&f, x, y);
                assert_true(fabs(dot(y, y, n_out) - dot(x, x, n_in)) < 1e-11);
                backward(&f, y, back);
                for (int64_t i = 0; i < n_in; i++)
                    assert_true(fabs(back[i] - x[i]) < 1e-13);
                /* The last numbers of scope = matrix fill up a row and carry nothing. */
                for (int64_t i = 0; matrix && i < n_out; i++)
                    z[i] = y[i] == 0 ? 0 : z[i];
                backward(&f, z, back);
                assert_true(fabs(dot(y, z, n_out) - dot(x, back, n_in)) < 1e-11);
                plain_close(&f.host);
            }
    plain_random_stop();
}

TEST(in_place_where_rows_stay)
{
    double x[16 * 3], y[16 * 3];
    struct flatten f;
    plain_random_start(4);
    open_flatten(&f, 0, 16, 3);
    for (int i = 0; i < 48; i++)
        x[i] = uniform(-1, 1);
    forward(&f, x, y);
    forward(&f, x, x);
    assert_memory_equal(x, y, sizeof(x));
    backward(&f, x, x);
    backward(&f, y, y);
    assert_memory_equal(x, y, sizeof(x));
    plain_close(&f.host);
    plain_random_stop();
}

/* A single number is spread evenly; and random messages stay within what is stated. */
TEST(norms_stay_within_their_statement)
{
    double x[MOST], y[MOST];
    dpf_query query = {.size = sizeof(query), .n_blocks = 1, .width = 7, .blocks = {{.length = 7}}};
    plain_random_start(5);
    for (int matrix = 0; matrix < 2; matrix++) {
        struct flatten f;
        open_flatten(&f, matrix, 50, 7);
        const int64_t n_in = 350, n_out = f.rows_out * 7;
        for (int trial = 0; trial < 300; trial++) {
            dpf_norms before = {0, 0, 0}, after = {0, 0, 0};
            for (int64_t i = 0; i < n_in; i++)
                x[i] = trial == 0 ? i == 13 : trial % 2 ? uniform(-1, 1) : uniform(0, 1) < 0.02;
            forward(&f, x, y);
            for (int64_t i = 0; i < n_in; i++) {
                before.l1 += fabs(x[i]);
                before.linf = fmax(before.linf, fabs(x[i]));
            }
            before.l2 = sqrt(dot(x, x, n_in));
            for (int64_t i = 0; i < n_out; i++) {
                after.l1 += fabs(y[i]);
                after.linf = fmax(after.linf, fabs(y[i]));
            }
            after.l2 = sqrt(dot(y, y, n_out));
            dpf_sensitivity stated;
            for (int u = 0; u < DPF_N_UNITS; u++)
                for (int a = 0; a < DPF_N_ADJACENCIES; a++)
                    stated.at[u][a] = before;
            assert_int_equal(f.functions->sensitivity(f.host.self, &query, 50, &stated, NULL, NULL, NULL),
                             DPF_OK);
            const dpf_norms *at = &stated.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE];
            assert_true(after.l1 <= at->l1);
            assert_true(after.l2 <= at->l2);
            assert_true(after.linf <= at->linf);
            assert_true(at->l2 <= before.l2 * (1 + 1e-12));
            assert_true(stated.at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l2 > at->l2);
            if (trial == 0) /* attained */
            {
                assert_true(at->linf <= after.linf * (1 + 1e-9));
                assert_true(at->l1 <= after.l1 * (1 + 1e-9));
            }
        }
        plain_close(&f.host);
    }
    plain_random_stop();
}

/* Two blocks in one ball stay in one: each is turned by itself, or both as one vector. */
TEST(joint_norms_carry_over)
{
    static const int columns[2] = {0, 3}, ends[2] = {3, 7};
    double x[MOST], y[MOST];
    dpf_query query = {.size = sizeof(query),
                       .n_blocks = 2,
                       .width = 7,
                       .blocks = {{.length = 3}, {.offset = 3, .length = 4}}};
    plain_random_start(5);
    for (int matrix = 0; matrix < 2; matrix++)
        for (int within = 1; within <= 2; within++) {
            struct flatten f;
            open_flatten(&f, matrix, 50, 7);
            for (int trial = 0; trial < 100; trial++) {
                dpf_sensitivity blocks[2] = {dpf_unstated(), dpf_unstated()};
                dpf_joint_norm bounds[2][2] = {{dpf_joint_new(3, within, within)}};
                const dpf_joint_norms before = {
                    .size = sizeof before, .n = 1, .capacity = 2, .bounds = bounds[0]};
                dpf_joint_norms after = {.size = sizeof after, .capacity = 2, .bounds = bounds[1]};
                const double weights[2] = {1, matrix ? 1 : 0.25};
                double sum = 0, turned = 0, largest = 0;
                for (int b = 0; b < 2; b++)
                    bounds[0][0].weight[b] = weights[b];
                for (int i = 0; i < 350; i++)
                    x[i] = trial % 2 ? uniform(-1, 1) : (uniform(0, 1) < 0.05) * (i % 7 >= 3 ? 9 : 1);
                forward(&f, x, y);
                for (int b = 0; b < 2; b++) {
                    double from = 0, to = 0;
                    for (int64_t r = 0; r < f.rows_out; r++)
                        for (int c = columns[b]; c < ends[b]; c++) {
                            from += r >= 50       ? 0
                                    : within == 1 ? fabs(x[r * 7 + c])
                                                  : x[r * 7 + c] * x[r * 7 + c];
                            to += y[r * 7 + c] * y[r * 7 + c];
                        }
                    sum += within == 1 ? from / weights[b] : from / weights[b] / weights[b];
                    turned += to / weights[b] / weights[b];
                    largest = fmax(largest, to);
                }
                bounds[0][0].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE] = within == 1 ? sum : sqrt(sum);
                assert_int_equal(
                    f.functions->sensitivity(f.host.self, &query, 50, blocks, NULL, &before, &after), DPF_OK);
                assert_int_equal(after.n, 1);
                const double stated = bounds[1][0].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE];
                assert_int_equal(bounds[1][0].within, 2);
                assert_true(bounds[1][0].weight[1] == weights[1]);
                assert_true(sqrt(turned) <= stated);
                assert_true(stated <= (within == 1 ? sum : sqrt(sum)) * (1 + 1e-9));
                if (within == 2) /* and reached: nothing is charged twice */
                    assert_true(stated <= sqrt(turned) * (1 + 1e-9));
                if (matrix)
                    assert_true(sqrt(largest) <= blocks[0].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l2);
            }
            plain_close(&f.host);
        }
    plain_random_stop();
}

TEST(refusals_and_memory)
{
    const dpf_component *component =
        plain_component("hadamard-flatten", DPF_ROLE_TRANSFORM, "hadamard-flatten");
    struct plain_host host;
    struct flatten f;
    double x[64] = {0}, y[64];
    const int32_t some[] = {1, 5};
    dpf_query query = {.size = sizeof(query), .n_blocks = 1, .width = 4, .blocks = {{.length = 4}}};
    dpf_sensitivity stated;
    plain_random_start(6);
    plain_init(&host, component);
    host.random = &plain_random;
    assert_int_equal(plain_create(&host, "scope=matrix"), DPF_E_CONFIG);
    assert_non_null(strstr(host.report, "columns"));
    plain_close(&host);
    open_flatten(&f, 1, 5, 3);
    assert_int_equal(f.functions->sensitivity(f.host.self, &query, 5, &stated, NULL, NULL, NULL),
                     DPF_E_CONFIG);
    dpf_message from = message(&f, x, 5), to = message(&f, y, f.rows_out);
    from.rows = some;
    assert_int_equal(f.functions->forward(f.host.self, plain_call(&f.host), &from, &to), DPF_E_INTERNAL);
    plain_close(&f.host);
    plain_check_memory_random(component, "");
    plain_random_stop();
}
