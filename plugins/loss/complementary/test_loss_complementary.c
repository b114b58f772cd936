/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The complementary loss: sums against the formula written out cell by cell, Eq. 15-18 as numbers, and all
 * neighbouring pairs of tiny data sets.
 */
#include "sensitivity_fixture.h"

static const uint32_t layouts[3] = {DPF_LAYOUT_PACKED, DPF_LAYOUT_FULL, DPF_LAYOUT_LOWER};
static double unobserved;

static const dpf_component *find(void)
{
    return plain_component("complementary", DPF_ROLE_LOSS, "complementary");
}

static void formula(const dpf_query *q, const dpf_groups *groups, int64_t e, double *aw, double *t, double *w)
{
    const double weight = groups->weights ? groups->weights[e] : 1;
    (void)q;
    *aw = (1 - unobserved) * weight;
    *t = 2 * weight;
    *w = (1 - unobserved) * weight; /* the count block */
}

/* ---- sums ----------------------------------------------------------------------------------- */

static void check_settings(double alpha, int32_t d)
{
    char settings[96];
    struct plain_host host;
    dpf_query q, full = {0};
    unobserved = alpha;
    snprintf(settings, sizeof(settings), "unobserved-weight=%g", alpha);
    plain_open(&host, find(), settings);
    const dpf_loss *loss = host.component->functions;
    for (int weighted = 0; weighted < 2; weighted++) {
        struct check_data c;
        check_data_new(&c, d, weighted, weighted);
        for (int l = 0; l < 3; l++) {
            const dpf_side_info info = check_info(d, 0, d, -1, layouts[l], 0);
            assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
            check_accumulate(&host, &q, &c, formula);
            check_local(&host, &q, &c, formula);
            full = l == 1 ? q : full;
        }
        const dpf_side_info info = check_info(d, 0, d, -1, DPF_LAYOUT_OPERATOR, 0);
        assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
        check_local(&host, &q, &c, formula);
        check_apply(&host, &q, &full, &c, formula);
        check_data_free(&c);
    }
    plain_close(&host);
}

TEST(test_sums)
{
    static const int32_t dimensions[] = {1, 2, 7, 16, 20, 33, 64};
    for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++) {
        check_settings(0.8, dimensions[i]);
        check_settings(1, dimensions[i]);
        check_settings(0, dimensions[i]);
    }
}

/* Row plus Gram row is Eq. 13 and 14 summed over all cells, and Eq. 12 is the ridge;
   with nu = 0 lambda is. */
TEST(test_whole_objective)
{
    enum { D = 5, N = 40 };
    const double alphas[] = {0, 0.3, 0.8, 1};
    for (int trial = 0; trial < 16; trial++) {
        const int constant = trial >= 8;
        char settings[96];
        struct plain_host host;
        struct check_data c;
        dpf_query q;
        double row[64] = {0}, gram[64] = {0};
        const double alpha = alphas[trial / 2 % 4];
        snprintf(settings, sizeof(settings), "unobserved-weight=%g; lambda=0.02; nu=%d; cells=%s", alpha,
                 !constant, trial % 2 ? "own" : "all");
        plain_open(&host, find(), settings);
        const dpf_loss *loss = host.component->functions;
        check_data_new(&c, D, 0, 0);
        c.other.rows = N;
        int32_t others[3] = {4, 9, 31};
        const int64_t offsets[2] = {0, 3};
        c.groups.n_groups = 1;
        c.groups.others = others;
        c.groups.offsets = offsets;
        dpf_side_info info = check_info(D, 0, D, -1, DPF_LAYOUT_PACKED, 1);
        info.n_other = N;
        assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
        assert_int_equal(q.has_gram, alpha > 0);
        assert_int_equal(q.support, DPF_SUPPORT_DENSE);
        assert_int_equal(q.n_blocks, constant ? 2 : 3);
        assert_int_equal(loss->accumulate(host.self, plain_call(&host), &q, &c.groups, NULL, row, 64),
                         DPF_OK);
        if (alpha > 0) {
            loss->gram(host.self, plain_call(&host), &q, &c.other, 0, 15, gram);
            loss->gram(host.self, plain_call(&host), &q, &c.other, 15, N - 15, gram);
        }
        for (int point = 0; point < 10; point++) {
            double x[D], expected = 0, got = 0, norm = 0;
            for (int i = 0; i < D; i++) {
                x[i] = 2 * check_uniform() - 1;
                norm += x[i] * x[i];
            }
            for (int32_t u = 0; u < N; u++) {
                const int observed = u == 4 || u == 9 || u == 31;
                double p = 0;
                for (int i = 0; i < D; i++)
                    p += x[i] * (double)dpf_row(&c.other, u)[i];
                expected += observed ? (p - 1) * (p - 1) - 1 : alpha * p * p; /* without the constant */
                expected += constant ? 0 : 0.02 * norm * (observed ? 1 : alpha);
            }
            expected += constant ? 0.02 * norm : 0;
            for (int i = 0; i < D; i++) {
                double ridge = q.ridge_constant ? q.ridge_constant[i] : 0;
                if (!constant)
                    ridge += q.ridge_per_count[i] * (row[D * (D + 3) / 2] + gram[D * (D + 3) / 2]);
                got += ridge * x[i] * x[i] - x[i] * (row[D * (D + 1) / 2 + i] + gram[D * (D + 1) / 2 + i]);
                for (int j = 0; j <= i; j++)
                    got += (i == j ? 1 : 2) * x[i] * x[j] *
                           (row[i * (i + 1) / 2 + j] + gram[i * (i + 1) / 2 + j]);
            }
            assert_true(fabs(got - expected) < 1e-6 * (1 + fabs(expected)));
        }
        check_data_free(&c);
        plain_close(&host);
    }
}

TEST(test_refusals)
{
    struct plain_host host;
    struct check_data c;
    dpf_query q;
    double out[64];
    plain_init(&host, find());
    assert_int_equal(plain_create(&host, "unobserved-weight=1.01"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&host, "lambda=-1"), DPF_E_CONFIG);
    plain_close(&host);
    plain_open(&host, find(), "");
    const dpf_loss *loss = host.component->functions;
    dpf_side_info info = check_info(5, 1, 4, 4, DPF_LAYOUT_PACKED, 0);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_E_CONFIG);
    assert_non_null(strstr(host.report, "bias"));
    info = check_info(3, 0, 3, -1, DPF_LAYOUT_LOWER, 1);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_E_UNSUPPORTED);
    info.layout = DPF_LAYOUT_PACKED;
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    check_data_new(&c, 3, 0, 0);
    c.groups.offset = 3.5;
    plain_clear(&host);
    assert_int_equal(loss->accumulate(host.self, plain_call(&host), &q, &c.groups, NULL, out, 0),
                     DPF_E_UNSUPPORTED);
    assert_non_null(strstr(host.report, "offset"));
    check_data_free(&c);
    plain_close(&host);
    plain_check_memory(find(), "");
}

/* ---- sensitivities ---------------------------------------------------------------------------- */

static dpf_bounds bounds_of(int32_t side, int32_t d, double l1, double l2, double linf)
{
    return (dpf_bounds){.size = sizeof(dpf_bounds),
                        .side = side,
                        .dimension = d,
                        .value_lo = 1,
                        .value_hi = 1,
                        .weight_max = 1,
                        .other_l1 = l1,
                        .other_l2 = l2,
                        .other_linf = linf,
                        .records_per_user = 2,
                        .n_self = 100,
                        .n_other = 100};
}

static void state_them(struct plain_host *host, uint32_t layout, const dpf_bounds *bounds,
                       dpf_sensitivity *blocks, dpf_sensitivity *gram)
{
    const dpf_loss *loss = host->component->functions;
    dpf_query q;
    dpf_side_info info = check_info(bounds->dimension, 0, bounds->dimension, -1, layout, 1);
    info.side = bounds->side;
    assert_int_equal(loss->query(host->self, &info, &q), DPF_OK);
    states_unknown(blocks);
    states_unknown(gram);
    assert_int_equal(loss->sensitivity(host->self, &q, bounds, blocks, gram, NULL), DPF_OK);
}

/* Eq. 15-18, for a row p whose norms are the bounds. */
TEST(test_published_sensitivities)
{
    const double p[4] = {0.5, -1.25, 0.75, 2};
    double l1 = 0, l2 = 0, full = 0, triangle = 0;
    for (int i = 0; i < 4; i++) {
        l1 += fabs(p[i]);
        l2 += p[i] * p[i];
        for (int j = 0; j < 4; j++) {
            full += fabs(p[i] * p[j]);
            triangle += j >= i ? fabs(p[i] * p[j]) : 0;
        }
    }
    const dpf_bounds bounds = bounds_of(DPF_SIDE_ITEMS, 4, l1, sqrt(l2), 2);
    const double alphas[] = {0, 0.25, 0.8, 1};
    for (int k = 0; k < 4; k++) {
        char settings[64];
        struct plain_host host;
        dpf_sensitivity full_blocks[DPF_MAX_BLOCKS], blocks[DPF_MAX_BLOCKS], gram[DPF_MAX_BLOCKS];
        snprintf(settings, sizeof(settings), "unobserved-weight=%g", alphas[k]);
        plain_open(&host, find(), settings);
        state_them(&host, DPF_LAYOUT_FULL, &bounds, full_blocks, gram);
        state_them(&host, DPF_LAYOUT_PACKED, &bounds, blocks, gram);
        const double rest = 1 - alphas[k];
        const int r = DPF_UNIT_RECORD, f = DPF_ADJ_FLIP;
        assert_true(fabs(blocks[1].at[r][f].l1 - 2 * l1) < 1e-9);           /* Eq. 15 */
        assert_true(fabs(full_blocks[0].at[r][f].l1 - rest * full) < 1e-9); /* Eq. 16 */
        assert_true(fabs(blocks[2].at[r][f].l1 - rest) < 1e-12);            /* Eq. 17 */
        assert_true(fabs(blocks[0].at[r][f].l1 - rest * triangle) < 1e-9);  /* Eq. 18 */
        for (int b = 0; b < 3; b++)
            assert_true(gram[b].at[r][f].l1 == 0 || alphas[k] == 0);
        plain_close(&host);
    }
}

/*
 * Eq. 18 is a maximum over rows of one row's triangle. Of (1, 1) and (1.9, 0) the first has the largest L1 norm, the second
 * the largest L2 norm and the largest triangle, 3.61; the two norms together would say (4 + 3.61) / 2.
 */
TEST(test_maximum_of_one_row)
{
    struct plain_host host;
    dpf_sensitivity blocks[DPF_MAX_BLOCKS], gram[DPF_MAX_BLOCKS];
    dpf_bounds bounds = bounds_of(DPF_SIDE_ITEMS, 2, 2, 1.9, 1.9);
    const double expected[2] = {(4 + 3.61) / 2, 3.61};
    plain_open(&host, find(), "unobserved-weight=0.5");
    for (int stated = 0; stated < 2; stated++) {
        bounds.other_upper = stated ? 3.61 : 0;
        state_them(&host, DPF_LAYOUT_PACKED, &bounds, blocks, gram);
        assert_true(fabs(blocks[0].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1 - 0.5 * expected[stated]) < 1e-12);
    }
    bounds.size = offsetof(dpf_bounds, other_upper); /* an older host */
    state_them(&host, DPF_LAYOUT_PACKED, &bounds, blocks, gram);
    assert_true(fabs(blocks[0].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1 - 0.5 * expected[0]) < 1e-12);
    plain_close(&host);
}

/* The strawman: the blocks of implicit-als add up to Eq. 9. */
TEST(test_strawman_sensitivity)
{
    struct plain_host host;
    dpf_sensitivity blocks[DPF_MAX_BLOCKS], gram[DPF_MAX_BLOCKS];
    const double l1 = 3.5, l2 = 2.25;
    const dpf_bounds bounds = bounds_of(DPF_SIDE_ITEMS, 4, l1, l2, 2);
    plain_open(&host, plain_component("implicit-als", DPF_ROLE_LOSS, "implicit-als"),
               "unobserved-weight=0.5");
    state_them(&host, DPF_LAYOUT_FULL, &bounds, blocks, gram);
    double sum = 0;
    for (int b = 0; b < 3; b++)
        sum += blocks[b].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1;
    assert_true(fabs(sum - (2 * l1 + l1 * l1 + 1)) < 1e-12);
    plain_close(&host);
}

TEST(test_weights_multiply)
{
    struct plain_host host;
    dpf_sensitivity one[DPF_MAX_BLOCKS], heavy[DPF_MAX_BLOCKS], gram[DPF_MAX_BLOCKS];
    dpf_bounds bounds = bounds_of(DPF_SIDE_USERS, 3, 2, 1.5, 1);
    plain_open(&host, find(), "unobserved-weight=0.6");
    state_them(&host, DPF_LAYOUT_PACKED, &bounds, one, gram);
    bounds.weight_max = 7;
    state_them(&host, DPF_LAYOUT_PACKED, &bounds, heavy, gram);
    for (int b = 0; b < 3; b++)
        assert_true(fabs(heavy[b].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1 -
                         7 * one[b].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1) < 1e-9);
    plain_close(&host);
}

static void check_neighbours(double alpha, int box, int users_solved, uint32_t layout)
{
    char settings[64];
    struct plain_host host;
    struct states s;
    dpf_query q;
    dpf_sensitivity blocks[DPF_MAX_BLOCKS], gram[DPF_MAX_BLOCKS];
    static float y[32][16] __attribute__((aligned(64)));
    const float values[2] = {1, 1};
    const int64_t n = states_vectors(box, y);
    const dpf_factors other = {&y[0][0], n, 16, 2, 0};
    const int32_t side = users_solved ? DPF_SIDE_USERS : DPF_SIDE_ITEMS;
    dpf_bounds bounds = bounds_of(side, 2, INFINITY, box ? INFINITY : 1, box ? 1 : INFINITY);
    bounds.n_self = users_solved ? 1 : STATE_ROWS;
    bounds.n_other = n;
    snprintf(settings, sizeof(settings), "unobserved-weight=%g", alpha);
    plain_open(&host, find(), settings);
    const dpf_loss *loss = host.component->functions;
    dpf_side_info info = check_info(2, 0, 2, -1, layout, 1);
    info.side = side;
    state_them(&host, layout, &bounds, blocks, gram);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    states_new(&s, &host, &q, &other, 0);
    states_enumerate(&s, n, users_solved, values, 1);
    for (int32_t b = 0; b < 3; b++) {
        check_statement(&s, blocks, b, DPF_UNIT_RECORD, DPF_ADJ_FLIP, TIGHT_ALL);
        check_statement(&s, blocks, b, DPF_UNIT_RECORD, DPF_ADJ_ADD_REMOVE, TIGHT_ALL);
        check_statement(&s, blocks, b, DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE, TIGHT_ALL);
        check_statement(&s, blocks, b, DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, TIGHT_ALL);
        check_statement(&s, blocks, b, DPF_UNIT_USER, DPF_ADJ_REPLACE, 0);
    }
    states_free(&s);
    plain_close(&host);
}

TEST(test_sensitivities)
{
    for (int box = 0; box < 2; box++)
        for (int l = 0; l < 2; l++)
            for (int users = 0; users < 2; users++) {
                check_neighbours(0.8, box, users, layouts[l]);
                check_neighbours(1, box, users, layouts[l]);
            }
}

/* A user who comes brings a row into the items' Gram matrix, and is one more in the count. */
TEST(test_gram_row_and_users)
{
    struct plain_host host;
    dpf_sensitivity blocks[DPF_MAX_BLOCKS], gram[DPF_MAX_BLOCKS];
    double before[32] = {0}, after[32] = {0}, l1[3] = {0};
    const float rows[2][16] = {{0.5f, -0.5f}, {2.0f / 3, -1.0f / 3}};
    const dpf_factors other = {&rows[0][0], 2, 16, 2, 0};
    dpf_bounds bounds = bounds_of(DPF_SIDE_ITEMS, 2, 1, 1, 1);
    plain_open(&host, find(), "unobserved-weight=0.4; cells=own");
    const dpf_loss *loss = host.component->functions;
    const dpf_side_info info = check_info(2, 0, 2, -1, DPF_LAYOUT_FULL, 1);
    dpf_query q;
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    state_them(&host, DPF_LAYOUT_FULL, &bounds, blocks, gram);
    loss->gram(host.self, plain_call(&host), &q, &other, 0, 1, before);
    loss->gram(host.self, plain_call(&host), &q, &other, 0, 2, after);
    for (int b = 0; b < 3; b++) {
        for (int32_t i = q.blocks[b].offset; i < q.blocks[b].offset + q.blocks[b].length; i++)
            l1[b] += fabs(after[i] - before[i]);
        assert_true(fabs(gram[b].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l1 - l1[b]) < 1e-6);
    }
    assert_true(l1[0] > 0.399);
    assert_true(l1[2] == 0.4);
    assert_true(gram[2].at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l1 == 0); /* as many users as before */
    bounds.side = DPF_SIDE_USERS;
    state_them(&host, DPF_LAYOUT_FULL, &bounds, blocks, gram);
    for (int b = 0; b < 3; b++)
        assert_true(gram[b].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l1 == 0);
    plain_close(&host);
}
