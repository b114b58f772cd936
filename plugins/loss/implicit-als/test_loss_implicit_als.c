/* SPDX-License-Identifier: Apache-2.0 */
#include "sensitivity_fixture.h"

#include "sanitized.h"
#include "simd_kind.h"

static const uint32_t layouts[3] = {DPF_LAYOUT_PACKED, DPF_LAYOUT_FULL, DPF_LAYOUT_LOWER};
static const int32_t dimensions[] = {1, 2, 3, 7, 15, 16, 17, 31, 33, 48, 64, 65, 100, 128, 130};
static double confidence;

static void formula(const dpf_query *q, const dpf_groups *groups, int64_t e, double *aw, double *t, double *w)
{
    (void)q;
    *w = groups->weights ? groups->weights[e] : 1;
    *aw = *w * (1 + confidence * (groups->values ? groups->values[e] : 1) * (confidence > 0));
    *t = 2 * *aw;
}

static void check_layouts(struct plain_host *host, int32_t d, int variant)
{
    const dpf_loss *loss = host->component->functions;
    struct check_data c;
    dpf_query q, full = {0};
    check_data_new(&c, d, variant & 1, variant & 2);
    for (int l = 0; l < 3; l++) {
        dpf_side_info info = check_info(d, 0, d, -1, layouts[l], 0);
        assert_int_equal(loss->query(host->self, &info, &q), DPF_OK);
        check_accumulate(host, &q, &c, formula);
        check_local(host, &q, &c, formula);
        if (layouts[l] == DPF_LAYOUT_FULL)
            full = q;
    }
    const dpf_side_info info = check_info(d, 0, d, -1, DPF_LAYOUT_OPERATOR, 0);
    assert_int_equal(loss->query(host->self, &info, &q), DPF_OK);
    assert_true(q.width < 2 * d + 32);
    check_local(host, &q, &c, formula);
    check_apply(host, &q, &full, &c, formula);
    check_data_free(&c);
}

TEST(test_sums)
{
    const dpf_component *component = plain_component("implicit-als", DPF_ROLE_LOSS, "implicit-als");
    for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++) {
        for (int variant = 0; variant < 6; variant++) {
            char settings[128];
            struct plain_host host;
            if (dimensions[i] > 33 && variant % CASES(5, 6) != 0)
                continue; /* the naive sums take long */
            confidence = variant >= 4 ? 2.5 : 0;
            snprintf(settings, sizeof(settings), "confidence=%g", confidence);
            plain_open(&host, component, settings);
            check_layouts(&host, dimensions[i], variant & 3);
            plain_close(&host);
        }
    }
}

/* The fused kernels give the same bits, so that machines of either kind agree: AVX-512 here where there is one, and AVX2
   in the run with DPFRAME_SIMD=avx2. The portable one rounds products and gives others. */
TEST(test_fused_kernels_agree)
{
#ifndef NDEBUG /* unoptimised code around the kernels rounds otherwise */
    skip();
#endif
    if (!simd_has(SIMD_KIND_AVX512) && !simd_has(SIMD_KIND_AVX2))
        skip();
    struct plain_host host;
    struct check_data c;
    dpf_query q;
    plain_open(&host, plain_component("implicit-als", DPF_ROLE_LOSS, "implicit-als"), "");
    const dpf_loss *loss = host.component->functions;
    const dpf_side_info info = check_info(65, 0, 65, -1, DPF_LAYOUT_PACKED, 0);
    check_data_new(&c, 65, 0, 1);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    const int64_t stride = (q.width + 15) / 16 * 16;
    float *out = aligned_alloc(64, (size_t)(CHECK_GROUPS * stride) * 4);
    assert_non_null(out);
    memset(out, 0, (size_t)(CHECK_GROUPS * stride) * 4);
    loss->accumulate_local(host.self, plain_call(&host), &q, &c.groups, out, stride);
    uint64_t hash = 0;
    for (int64_t g = 0; g < CHECK_GROUPS; g++)
        for (int32_t i = 0; i < q.width; i++) {
            uint32_t bits;
            memcpy(&bits, &out[g * stride + i], 4);
            hash = (hash ^ bits) * UINT64_C(0x100000001b3);
        }
    assert_int_equal(hash, UINT64_C(0x56f0a3bc0d30d482));
    free(out);
    check_data_free(&c);
    plain_close(&host);
}

TEST(test_gram_row)
{
    const int32_t d = 19;
    const dpf_component *component = plain_component("implicit-als", DPF_ROLE_LOSS, "implicit-als");
    const dpf_loss *loss = component->functions;
    struct plain_host host;
    struct check_data c;
    dpf_query q;
    plain_open(&host, component, "unobserved-weight=0.3; lambda=0.02");
    check_data_new(&c, d, 0, 0);
    for (int l = 0; l < 3; l++) {
        const dpf_side_info info = check_info(d, 0, d, -1, layouts[l], 0);
        double *out = calloc((size_t)(d * 33 + 64), sizeof(double));
        assert_non_null(out);
        assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
        assert_int_equal(q.has_gram, 1);
        assert_true(fabs(q.ridge_constant[d - 1] - 0.02 * 0.3 * CHECK_OTHERS) < 1e-6);
        assert_true(fabs(q.ridge_per_count[0] - 0.02) < 1e-9);
        loss->gram(host.self, plain_call(&host), &q, &c.other, 0, 250, out);
        loss->gram(host.self, plain_call(&host), &q, &c.other, 250, CHECK_OTHERS - 250, out);
        for (int64_t i = 0; i < d; i++) {
            for (int64_t j = 0; j <= (layouts[l] == DPF_LAYOUT_FULL ? d - 1 : i); j++) {
                double sum = 0;
                for (int64_t r = 0; r < CHECK_OTHERS; r++)
                    sum += 0.3 * dpf_row(&c.other, r)[i] * (double)dpf_row(&c.other, r)[j];
                assert_true(fabs(out[check_position(&q.blocks[0], i, j)] - sum) < 1e-10);
            }
        }
        for (int64_t i = q.blocks[1].offset; i < q.width; i++)
            assert_true(out[i] == 0);
        free(out);
    }
    check_data_free(&c);
    plain_close(&host);
}

/* nu != 1: the regulariser moves into A, in sums and in products. */
/* cells = own: alpha0 N is the Gram row's count, and a user who comes is one more of N. */
TEST(test_own_cells)
{
    struct plain_host host;
    struct check_data c;
    dpf_query q;
    dpf_sensitivity blocks[DPF_MAX_BLOCKS], gram[DPF_MAX_BLOCKS];
    double out[16] = {0};
    plain_open(&host, plain_component("implicit-als", DPF_ROLE_LOSS, "implicit-als"),
               "unobserved-weight=0.25; lambda=0.02; cells=own");
    const dpf_loss *loss = host.component->functions;
    const dpf_side_info info = check_info(3, 0, 3, -1, DPF_LAYOUT_PACKED, 1);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    assert_true(q.ridge_constant == NULL);
    assert_true(fabs(q.ridge_per_count[2] - 0.02) < 1e-9);
    check_data_new(&c, 3, 0, 0);
    loss->gram(host.self, plain_call(&host), &q, &c.other, 0, 100, out);
    loss->gram(host.self, plain_call(&host), &q, &c.other, 100, 60, out);
    assert_true(out[9] == 0.25 * 160);
    const dpf_bounds bounds = {.size = sizeof(bounds),
                               .side = DPF_SIDE_ITEMS,
                               .dimension = 3,
                               .weight_max = 1,
                               .other_l1 = 1,
                               .other_l2 = 1,
                               .other_linf = 1,
                               .records_per_user = INT64_MAX,
                               .n_self = 10,
                               .n_other = 10};
    states_unknown(blocks);
    states_unknown(gram);
    assert_int_equal(loss->sensitivity(host.self, &q, &bounds, blocks, gram, NULL), DPF_OK);
    assert_true(gram[2].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l1 == 0.25);
    assert_true(gram[2].at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l1 == 0);
    assert_true(gram[2].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1 == 0);
    check_data_free(&c);
    plain_close(&host);
    plain_open(&host, host.component, "cells=own; nu=0.5");
    assert_int_equal(loss->query(host.self, &info, &q), DPF_E_CONFIG);
    plain_close(&host);
}

TEST(test_frequency_exponent)
{
    const int32_t d = 5;
    struct plain_host host;
    struct check_data c;
    dpf_query q, op;
    confidence = 0;
    plain_open(&host, plain_component("implicit-als", DPF_ROLE_LOSS, "implicit-als"),
               "unobserved-weight=0.5; lambda=0.1; nu=0.5");
    const dpf_loss *loss = host.component->functions;
    dpf_side_info info = check_info(d, 0, d, -1, DPF_LAYOUT_LOWER, 0);
    check_data_new(&c, d, 0, 1);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    assert_null(q.ridge_constant);
    assert_int_equal(q.n_blocks, 2);
    info.layout = DPF_LAYOUT_OPERATOR;
    assert_int_equal(loss->query(host.self, &info, &op), DPF_OK);
    float out[CHECK_GROUPS * 96] __attribute__((aligned(64)));
    double naive[96], size[96];
    assert_int_equal(loss->accumulate_local(host.self, plain_call(&host), &q, &c.groups, out, 96), 0);
    float x[CHECK_GROUPS * 16] __attribute__((aligned(64))) = {0},
                               ax[CHECK_GROUPS * 16] __attribute__((aligned(64)));
    for (int g = 0; g < CHECK_GROUPS; g++)
        x[16 * g + 2] = 1;
    assert_int_equal(loss->apply(host.self, plain_call(&host), &op, &c.groups, x, 16, ax, 16), 0);
    for (int g = 0; g < CHECK_GROUPS; g++) {
        double n = 0;
        for (int64_t e = c.offsets[g]; e < c.offsets[g + 1]; e++)
            n += c.weights[e];
        check_naive(&q, &c.groups, g, NULL, formula, naive, size);
        const double expected = naive[2 * 16 + 2] + 0.1 * sqrt(n + 0.5 * CHECK_OTHERS);
        assert_true(fabs(out[96 * g + 2 * 16 + 2] - expected) < 1e-5 * expected);
        assert_true(fabs(ax[16 * g + 2] - expected) < 1e-5 * expected);
    }
    info.layout = DPF_LAYOUT_PACKED;
    info.is_released = 1;
    assert_int_equal(loss->query(host.self, &info, &q), DPF_E_CONFIG);
    check_data_free(&c);
    plain_close(&host);
}

/* nu = 0: the ridge is lambda whatever the data are, so a released row has no count to hide, and a party's
   cells count nothing. */
TEST(test_constant_ridge)
{
    static const char *const settings[] = {"lambda=0.7; nu=0", "lambda=0.7; nu=0; cells=own"};
    for (int s = 0; s < 2; s++) {
        struct plain_host host;
        struct check_data c;
        dpf_query q;
        confidence = 0;
        plain_open(&host, plain_component("implicit-als", DPF_ROLE_LOSS, "implicit-als"), settings[s]);
        const dpf_loss *loss = host.component->functions;
        check_data_new(&c, 4, 0, 1);
        for (int released = 0; released < 2; released++) {
            const dpf_side_info info = check_info(4, 0, 4, -1, DPF_LAYOUT_PACKED, released);
            double out[16] = {0};
            assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
            assert_int_equal(q.n_blocks, 2);
            assert_null(q.ridge_per_count);
            for (int i = 0; i < 4; i++)
                assert_true(fabs(q.ridge_constant[i] - 0.7) < 1e-6);
            loss->gram(host.self, plain_call(&host), &q, &c.other, 0, CHECK_OTHERS, out);
            for (int i = q.blocks[1].offset; i < q.width; i++)
                assert_true(out[i] == 0);
            check_accumulate(&host, &q, &c, formula); /* nothing of the regulariser is in A */
        }
        check_data_free(&c);
        plain_close(&host);
    }
}

TEST(test_refusals)
{
    struct plain_host host;
    dpf_query q;
    plain_open(&host, plain_component("implicit-als", DPF_ROLE_LOSS, "implicit-als"), "");
    const dpf_loss *loss = host.component->functions;
    dpf_side_info info = check_info(6, 1, 5, 1, DPF_LAYOUT_PACKED, 0);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_E_CONFIG);
    info = check_info(5, 0, 5, -1, DPF_LAYOUT_LOWER, 1);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_E_UNSUPPORTED);
    struct check_data c;
    double out[64];
    info = check_info(3, 0, 3, -1, DPF_LAYOUT_PACKED, 0);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    check_data_new(&c, 3, 0, 0);
    c.groups.offset = 3.5;
    plain_clear(&host);
    assert_int_equal(loss->accumulate(host.self, plain_call(&host), &q, &c.groups, NULL, out, 0),
                     DPF_E_UNSUPPORTED);
    assert_non_null(strstr(host.report, "offset"));
    check_data_free(&c);
    plain_close(&host);
    plain_check_memory(host.component, "");
}

/* ---- sensitivities ---------------------------------------------------------------------------- */

static void check_neighbours(const char *settings, int box, int users_solved, uint32_t layout)
{
    struct states_case c;
    const float values[2] = {1, 3};
    states_open(&c, "implicit-als", settings, box, users_solved, layout, values,
                strstr(settings, "confidence") ? 2 : 1, 0);
    for (int32_t b = 0; b < 3; b++) {
        check_statement(&c.states, c.blocks, b, DPF_UNIT_RECORD, DPF_ADJ_FLIP, TIGHT_ALL);
        check_statement(&c.states, c.blocks, b, DPF_UNIT_RECORD, DPF_ADJ_ADD_REMOVE, TIGHT_ALL);
        check_statement(&c.states, c.blocks, b, DPF_UNIT_RECORD, DPF_ADJ_ZERO_OUT, TIGHT_ALL);
        check_statement(&c.states, c.blocks, b, DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE, TIGHT_ALL);
        check_statement(&c.states, c.blocks, b, DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, TIGHT_ALL);
        check_statement(&c.states, c.blocks, b, DPF_UNIT_USER, DPF_ADJ_ZERO_OUT, TIGHT_ALL);
        int tight = users_solved ? 0 : TIGHT_L1 | TIGHT_L2;
        if (b == 1 || (b == 2 && !users_solved) || (b == 0 && box && !users_solved))
            tight = TIGHT_ALL;
        check_statement(&c.states, c.blocks, b, DPF_UNIT_USER, DPF_ADJ_REPLACE, tight);
        assert_true(isnan(c.blocks[b].at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE].l1));
        assert_true(isnan(c.blocks[b].at[DPF_UNIT_USER][DPF_ADJ_FLIP].l1));
        assert_true(c.gram[b].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1 == 0);
    }
    states_close(&c);
}

TEST(test_sensitivities)
{
    for (int box = 0; box < 2; box++) {
        for (int l = 0; l < 2; l++) {
            check_neighbours("", box, 0, layouts[l]);
            check_neighbours("", box, 1, layouts[l]);
            check_neighbours("confidence=0.5", box, 0, layouts[l]);
        }
    }
}

TEST(test_gram_sensitivity_and_caps)
{
    struct plain_host host;
    dpf_query q;
    dpf_sensitivity blocks[DPF_MAX_BLOCKS], gram[DPF_MAX_BLOCKS];
    plain_open(&host, plain_component("implicit-als", DPF_ROLE_LOSS, "implicit-als"),
               "unobserved-weight=0.4");
    const dpf_loss *loss = host.component->functions;
    const dpf_side_info info = check_info(2, 0, 2, -1, DPF_LAYOUT_FULL, 1);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    dpf_bounds bounds = {.size = sizeof(bounds),
                         .side = DPF_SIDE_ITEMS,
                         .dimension = 2,
                         .value_lo = 1,
                         .value_hi = 1,
                         .weight_max = 1,
                         .other_l1 = INFINITY,
                         .other_l2 = 2,
                         .other_linf = INFINITY,
                         .records_per_user = INT64_MAX,
                         .n_self = 10,
                         .n_other = 10};
    states_unknown(blocks);
    states_unknown(gram);
    assert_int_equal(loss->sensitivity(host.self, &q, &bounds, blocks, gram, NULL), DPF_OK);
    const dpf_norms *user = gram[0].at[DPF_UNIT_USER];
    /* alpha0 p p' of one user with |p|_2 = 2: |p|_1^2 = 8. */
    assert_true(fabs(user[DPF_ADJ_ADD_REMOVE].l1 - 3.2) < 1e-9);
    assert_true(fabs(user[DPF_ADJ_ADD_REMOVE].l2 - 1.6) < 1e-9);
    assert_true(fabs(user[DPF_ADJ_REPLACE].l2 - 1.6 * sqrt(2)) < 1e-9);
    assert_true(gram[1].at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l1 == 0);
    /* Without a cap a user's effect is unbounded in every norm but the largest coordinate. */
    assert_true(isinf(blocks[0].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l1));
    assert_true(isinf(blocks[0].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l2));
    assert_true(blocks[0].at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].linf == 4);
    /* Without bounds on the factors nothing but the count is bounded, and nothing is NaN. */
    bounds.other_l2 = INFINITY;
    assert_int_equal(loss->sensitivity(host.self, &q, &bounds, blocks, gram, NULL), DPF_OK);
    assert_true(isinf(blocks[0].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l2));
    assert_true(blocks[1].at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2 == 0);
    assert_true(blocks[2].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l2 == 1);
    /* If users are solved, the Gram matrix is one of items: no user changes it. */
    bounds.side = DPF_SIDE_USERS;
    assert_int_equal(loss->sensitivity(host.self, &q, &bounds, blocks, gram, NULL), DPF_OK);
    assert_true(gram[0].at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l2 == 0);
    plain_close(&host);
}
