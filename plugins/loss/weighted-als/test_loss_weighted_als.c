/* SPDX-License-Identifier: Apache-2.0 */
#include "sensitivity_fixture.h"

static double confidence;

static void formula(const dpf_query *q, const dpf_groups *groups, int64_t e, double *aw, double *t, double *w)
{
    (void)q;
    *w = groups->weights ? groups->weights[e] : 1;
    *aw = *w * confidence;
    *t = 2 * *w * (1 + confidence) * (groups->values ? groups->values[e] : 1);
}

TEST(sums_match_their_formula)
{
    static const uint32_t layouts[3] = {DPF_LAYOUT_PACKED, DPF_LAYOUT_FULL, DPF_LAYOUT_LOWER};
    static const int32_t dimensions[] = {1, 3, 14, 16, 17, 40};
    for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++)
        for (int variant = 0; variant < 4; variant++) {
            const int32_t d = dimensions[i];
            struct plain_host host;
            struct check_data c;
            dpf_query q, full = {0};
            confidence = variant == 3 ? 0 : 15;
            plain_open(&host, plain_component("weighted-als", DPF_ROLE_LOSS, "weighted-als"),
                       variant == 3 ? "confidence=0" : "confidence=15");
            const dpf_loss *loss = host.component->functions;
            check_data_new(&c, d, variant & 1, variant & 2);
            for (int l = 0; l < 3; l++) {
                const dpf_side_info info = check_info(d, 0, d, -1, layouts[l], 0);
                assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
                check_accumulate(&host, &q, &c, formula);
                check_local(&host, &q, &c, formula);
                if (layouts[l] == DPF_LAYOUT_FULL)
                    full = q;
            }
            const dpf_side_info info = check_info(d, 0, d, -1, DPF_LAYOUT_OPERATOR, 0);
            assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
            check_apply(&host, &q, &full, &c, formula);
            check_data_free(&c);
            plain_close(&host);
        }
}

/* The objective of Eq. 4, cell by cell: every cell of the row, whether rated or not. */
static double objective(const struct check_data *c, int64_t g, const double *x, int32_t d)
{
    double sum = 0;
    for (int64_t o = 0; o < CHECK_OTHERS; o++) {
        double prediction = 0, target = 0, weight = 1;
        for (int64_t e = c->offsets[g]; e < c->offsets[g + 1]; e++)
            if (c->others[e] == o) {
                target = (double)c->values[e];
                weight = 1 + confidence;
            }
        for (int32_t i = 0; i < d; i++)
            prediction += x[i] * (double)dpf_row(&c->other, o)[i];
        sum += weight * (target - prediction) * (target - prediction);
    }
    return sum;
}

/* Differences of the objective are those of the quadratic form with the Gram row. */
TEST(quadratic_is_the_objective)
{
    enum { D = 5 };
    struct plain_host host;
    struct check_data c;
    dpf_query q;
    double out[CHECK_GROUPS * 64] = {0}, gram[64] = {0}, x[D], zero[D] = {0};
    confidence = 4;
    plain_open(&host, plain_component("weighted-als", DPF_ROLE_LOSS, "weighted-als"),
               "confidence=4; lambda=0.5");
    const dpf_loss *loss = host.component->functions;
    const dpf_side_info info = check_info(D, 0, D, -1, DPF_LAYOUT_FULL, 0);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    assert_true(q.has_gram);
    assert_true(q.support == DPF_SUPPORT_DENSE);
    assert_true(!q.ridge_per_count);
    assert_true(q.ridge_constant[D - 1] == 0.5F);
    check_data_new(&c, D, 1, 0);
    for (int64_t g = 0; g < CHECK_GROUPS; g++) /* a pair has one record */
        for (int64_t e = c.offsets[g]; e < c.offsets[g + 1]; e++)
            c.others[e] = (int32_t)(e - c.offsets[g]);
    assert_int_equal(loss->accumulate(host.self, plain_call(&host), &q, &c.groups, NULL, out, 64), DPF_OK);
    assert_int_equal(loss->gram(host.self, plain_call(&host), &q, &c.other, 0, 100, gram), DPF_OK);
    assert_int_equal(loss->gram(host.self, plain_call(&host), &q, &c.other, 100, CHECK_OTHERS - 100, gram),
                     DPF_OK);
    for (int64_t g = 0; g < CHECK_GROUPS; g++) {
        double form = 0;
        for (int i = 0; i < D; i++)
            x[i] = 2 * check_uniform() - 1;
        for (int i = 0; i < D; i++) {
            for (int j = 0; j < D; j++)
                form += x[i] * x[j] * (out[g * 64 + i * D + j] + gram[i * D + j]);
            form -= x[i] * (out[g * 64 + q.blocks[1].offset + i] + gram[q.blocks[1].offset + i]);
        }
        const double expected = objective(&c, g, x, D) - objective(&c, g, zero, D);
        assert_true(fabs(form - expected) <= 1e-9 * (1 + fabs(expected)));
    }
    check_data_free(&c);
    plain_close(&host);
}

TEST(sensitivities_hold_for_all_neighbours)
{
    const float values[2] = {1, 3};
    for (int box = 0; box < 2; box++)
        for (int users_solved = 0; users_solved < 2; users_solved++) {
            struct states_case c;
            states_open(&c, "weighted-als", "confidence=2", box, users_solved, DPF_LAYOUT_FULL, values, 2, 0);
            for (int32_t b = 0; b < 2; b++) {
                check_statement(&c.states, c.blocks, b, DPF_UNIT_RECORD, DPF_ADJ_FLIP, TIGHT_ALL);
                check_statement(&c.states, c.blocks, b, DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE, TIGHT_ALL);
                check_statement(&c.states, c.blocks, b, DPF_UNIT_USER, DPF_ADJ_ZERO_OUT, TIGHT_ALL);
                check_statement(&c.states, c.blocks, b, DPF_UNIT_USER, DPF_ADJ_REPLACE, 0);
            }
            assert_true(c.gram[0].at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1 == 0);
            assert_true((c.gram[0].at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT].l2 > 0) == !users_solved);
            states_close(&c);
        }
}

TEST(refusals_and_memory)
{
    struct plain_host host;
    struct check_data c;
    dpf_query q;
    double out[256];
    plain_open(&host, plain_component("weighted-als", DPF_ROLE_LOSS, "weighted-als"), "");
    const dpf_loss *loss = host.component->functions;
    dpf_side_info info = check_info(6, 1, 5, 1, DPF_LAYOUT_PACKED, 0);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_E_CONFIG);
    info = check_info(3, 0, 3, -1, DPF_LAYOUT_PACKED, 0);
    assert_int_equal(loss->query(host.self, &info, &q), DPF_OK);
    check_data_new(&c, 3, 0, 0);
    c.groups.offset = 3.5;
    assert_int_equal(loss->accumulate(host.self, plain_call(&host), &q, &c.groups, NULL, out, 16),
                     DPF_E_UNSUPPORTED);
    check_data_free(&c);
    plain_close(&host);
    plain_check_memory(host.component, "");
}
