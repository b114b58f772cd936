/* SPDX-License-Identifier: Apache-2.0 */
#include "sensitivity_fixture.h"

static const uint32_t layouts[3] = {DPF_LAYOUT_PACKED, DPF_LAYOUT_FULL, DPF_LAYOUT_LOWER};

/* The model as the header states it: columns that are not unknown multiply a constant 1. */
static void formula(const dpf_query *q, const dpf_groups *groups, int64_t e, double *aw, double *t, double *w)
{
    const float *y = dpf_row(groups->other, groups->others[e]);
    double fixed = 0;
    for (int32_t c = 0; c < groups->other->cols; c++) {
        if (c < q->first || c >= q->first + q->dimension)
            fixed += y[c];
    }
    *aw = *w = groups->weights ? groups->weights[e] : 1;
    *t = 2 * *w * ((groups->values ? groups->values[e] : 1) - groups->offset - fixed);
}

static void check_side(struct plain_host *host, int32_t columns, int32_t first, int32_t d, int32_t bias,
                       int variant)
{
    const dpf_loss *loss = host->component->functions;
    struct check_data c;
    dpf_query q, full = {0};
    check_data_new(&c, columns, variant & 1, variant & 2);
    c.groups.offset = variant & 1 ? 3.25 : 0;
    for (int l = 0; l < 3; l++) {
        const dpf_side_info info = check_info(columns, first, d, bias, layouts[l], 0);
        assert_int_equal(loss->query(host->self, &info, &q), DPF_OK);
        check_accumulate(host, &q, &c, formula);
        check_local(host, &q, &c, formula);
        if (layouts[l] == DPF_LAYOUT_FULL)
            full = q;
    }
    const dpf_side_info info = check_info(columns, first, d, bias, DPF_LAYOUT_OPERATOR, 0);
    assert_int_equal(loss->query(host->self, &info, &q), DPF_OK);
    check_local(host, &q, &c, formula);
    check_apply(host, &q, &full, &c, formula);
    for (int l = 0; l < 2; l++) { /* last: it changes the rows */
        const dpf_side_info released =
            check_info(columns, first, d, bias, l ? DPF_LAYOUT_FULL : DPF_LAYOUT_PACKED, 1);
        assert_int_equal(loss->query(host->self, &released, &q), DPF_OK);
        check_scaled(host, &q, &c, formula);
    }
    check_data_free(&c);
}

static void check_sums(int with_bias)
{
    const int32_t factors[] = {1, 2, 15, 16, 17, 31, 32, 64, test_argument() ? 129 : 65};
    const dpf_component *component = plain_component("explicit-als", DPF_ROLE_LOSS, "explicit-als");
    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
        for (int variant = 0; variant < 4; variant++) {
            const int32_t k = factors[i];
            if (k > 32 && variant % (test_argument() ? 3 : 4) != 0)
                continue; /* the naive sums take long */
            for (int side = 0; side <= with_bias; side++) {
                struct plain_host host;
                plain_open(&host, component, "");
                if (!with_bias)
                    check_side(&host, k, 0, k, -1, variant);
                else /* unknown: bias and factors in front of, or behind, the constant column */
                    check_side(&host, k + 2, side, k + 1, side ? k + 1 : 0, variant);
                plain_close(&host);
            }
        }
    }
}

TEST(test_sums_plain)
{
    check_sums(0);
}

TEST(test_sums_with_biases)
{
    check_sums(1);
}

TEST(test_ridge)
{
    struct plain_host host;
    dpf_query q;
    plain_open(&host, plain_component("explicit-als", DPF_ROLE_LOSS, "explicit-als"),
               "lambda=0.25; bias-lambda=3");
    const dpf_loss *loss = host.component->functions;
    const dpf_side_info info = check_info(5, 1, 4, 4, DPF_LAYOUT_PACKED, 1);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    assert_int_equal(q.n_blocks, 3);
    for (int i = 0; i < 4; i++) {
        assert_true(q.ridge_per_count[i] == (i == 3 ? 0 : 0.25f));
        assert_true(q.ridge_constant[i] == (i == 3 ? 3 : 0));
    }
    plain_close(&host);
    plain_open(&host, host.component, "lambda=0.25; regularization=constant");
    const dpf_side_info no_bias = check_info(4, 0, 4, -1, DPF_LAYOUT_PACKED, 1);
    assert_int_equal(loss->query(host.self, &no_bias, &q), DPF_OK);
    assert_int_equal(q.n_blocks, 2); /* no count that would have to be released */
    assert_true(q.ridge_constant[3] == 0.25f);
    assert_true(q.ridge_per_count[3] == 0);
    plain_close(&host);
    plain_check_memory(host.component, "");
}

/* ---- sensitivities ---------------------------------------------------------------------------- */

static void check_neighbours(int box, int users_solved, uint32_t layout)
{
    struct states_case c;
    const float values[2] = {1, 5};
    states_open(&c, "explicit-als", "", box, users_solved, layout, values, users_solved ? 1 : 2, 2.5);
    for (int32_t b = 0; b < 3; b++) {
        /* Where users are solved only the value 1 is tried: a residual of -1.5, and not the largest. */
        const int tight = users_solved && b == 1 ? 0 : TIGHT_ALL;
        check_statement(&c.states, c.blocks, b, DPF_UNIT_RECORD, DPF_ADJ_ADD_REMOVE, tight);
        check_statement(&c.states, c.blocks, b, DPF_UNIT_RECORD, DPF_ADJ_ZERO_OUT, tight);
        check_statement(&c.states, c.blocks, b, DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE, tight);
        check_statement(&c.states, c.blocks, b, DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, tight);
        check_statement(&c.states, c.blocks, b, DPF_UNIT_USER, DPF_ADJ_REPLACE,
                        users_solved ? 0
                        : b          ? TIGHT_ALL
                                     : TIGHT_L1 | TIGHT_L2);
        assert_true(isnan(c.blocks[b].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1));
    }
    states_close(&c);
}

TEST(test_sensitivities)
{
    for (int box = 0; box < 2; box++) {
        for (int l = 0; l < 2; l++) {
            check_neighbours(box, 0, layouts[l]);
            check_neighbours(box, 1, layouts[l]);
        }
    }
}

/*
 * With biases the other row is (bias, factors, 1): two unknown coordinates bounded by 1, a constant. The
 * residual then lies within (1 - 0 - 1) .. (5 - 0 + 1).
 */
TEST(test_sensitivity_with_biases)
{
    struct plain_host host;
    dpf_query q;
    dpf_sensitivity blocks[DPF_MAX_BLOCKS];
    plain_open(&host, plain_component("explicit-als", DPF_ROLE_LOSS, "explicit-als"), "");
    const dpf_loss *loss = host.component->functions;
    const dpf_side_info info = check_info(3, 1, 2, 2, DPF_LAYOUT_FULL, 1);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    const dpf_bounds bounds = {.size = sizeof(bounds),
                               .side = DPF_SIDE_ITEMS,
                               .dimension = 2,
                               .value_lo = 1,
                               .value_hi = 5,
                               .weight_max = 1,
                               .other_l1 = INFINITY,
                               .other_l2 = 1,
                               .other_linf = INFINITY,
                               .records_per_user = 1,
                               .n_self = 4,
                               .n_other = 4};
    states_unknown(blocks);
    assert_int_equal(loss->sensitivity(host.self, &q, &bounds, blocks, NULL, NULL), DPF_OK);
    const double stated = blocks[1].at[DPF_UNIT_RECORD][DPF_ADJ_ADD_REMOVE].l2;
    double largest = 0;
    float y[16] __attribute__((aligned(64))) = {0};
    for (int v = 0; v < 64; v++) {
        /* Other row: columns bias, factor (unknowns of that side, norm 1), constant 1. */
        const double angle = 6.283185307179586 * v / 64;
        y[0] = (float)cos(angle);
        y[1] = (float)sin(angle);
        y[2] = 1;
        for (int value = 1; value <= 5; value += 4) {
            const int64_t offsets[2] = {0, 1};
            const int32_t zero = 0;
            const float r = (float)value;
            const dpf_factors other = {y, 1, 16, 3, 0};
            double out[32];
            const dpf_groups groups = {.size = sizeof(groups),
                                       .side = DPF_SIDE_ITEMS,
                                       .self = &other,
                                       .other = &other,
                                       .n_groups = 1,
                                       .rows = &zero,
                                       .offsets = offsets,
                                       .others = &zero,
                                       .values = &r,
                                       .party_row = -1};
            assert_int_equal(loss->accumulate(host.self, plain_call(&host), &q, &groups, NULL, out, 32), 0);
            const double *b = out + q.blocks[1].offset;
            largest = fmax(largest, sqrt(b[0] * b[0] + b[1] * b[1]));
        }
    }
    assert_true(largest <= stated);
    assert_true(largest > stated / 2);
    plain_close(&host);
}

/* A smaller change of values lowers the sensitivity, unless the host is too old to know the field. */
TEST(test_value_change)
{
    struct plain_host host;
    dpf_query q;
    dpf_sensitivity blocks[DPF_MAX_BLOCKS];
    plain_open(&host, plain_component("explicit-als", DPF_ROLE_LOSS, "explicit-als"), "");
    const dpf_loss *loss = host.component->functions;
    const dpf_side_info info = check_info(2, 0, 2, -1, DPF_LAYOUT_FULL, 1);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    dpf_bounds bounds = {.size = sizeof(bounds),
                         .side = DPF_SIDE_ITEMS,
                         .dimension = 2,
                         .value_lo = 1,
                         .value_hi = 5,
                         .weight_max = 1,
                         .other_l1 = INFINITY,
                         .other_l2 = 1,
                         .other_linf = INFINITY,
                         .records_per_user = INT64_MAX,
                         .n_self = 4,
                         .n_other = 4,
                         .value_change = 0.5};
    states_unknown(blocks);
    assert_int_equal(loss->sensitivity(host.self, &q, &bounds, blocks, NULL, NULL), DPF_OK);
    assert_true(fabs(blocks[1].at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2 - 1) < 1e-12);
    bounds.size = offsetof(dpf_bounds, value_change);
    assert_int_equal(loss->sensitivity(host.self, &q, &bounds, blocks, NULL, NULL), DPF_OK);
    assert_true(fabs(blocks[1].at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2 - 8) < 1e-12);
    plain_close(&host);
}

TEST(test_untransformed_residuals_are_refused)
{
    struct plain_host host;
    struct check_data c;
    dpf_query q;
    double out[CHECK_GROUPS * 16];
    float out32[CHECK_GROUPS * 96] __attribute__((aligned(64)));
    plain_open(&host, plain_component("explicit-als", DPF_ROLE_LOSS, "explicit-als"), "");
    const dpf_loss *loss = host.component->functions;
    const dpf_side_info info = check_info(3, 0, 3, -1, DPF_LAYOUT_PACKED, 0);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    check_data_new(&c, 3, 1, 0);
    dpf_factors raw = c.other;
    c.groups.residual = &raw;
    assert_int_equal(loss->accumulate(host.self, plain_call(&host), &q, &c.groups, NULL, out, 16), DPF_OK);
    raw.data += raw.stride;
    assert_int_equal(loss->accumulate(host.self, plain_call(&host), &q, &c.groups, NULL, out, 16),
                     DPF_E_UNSUPPORTED);
    assert_int_equal(loss->accumulate_local(host.self, plain_call(&host), &q, &c.groups, out32, 16),
                     DPF_E_UNSUPPORTED);
    assert_non_null(strstr(host.report, "residual = transformed"));
    check_data_free(&c);
    plain_close(&host);
}
