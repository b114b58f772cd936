/* SPDX-License-Identifier: Apache-2.0 */
/* Every message has the bound for its norm, whatever it was; and no statement about shorter ones survives. */
#include "kit/plain_host.h"

struct scale {
    struct plain_host host;
    const dpf_transform *functions;
};

static void open_scale(struct scale *scale, const char *settings)
{
    const dpf_component *component = plain_component("scale-user", DPF_ROLE_TRANSFORM, "scale-user");
    plain_open(&scale->host, component, settings);
    scale->functions = component->functions;
    assert_true(scale->functions->flags & DPF_TRANSFORM_PER_USER);
}

static dpf_status apply(struct scale *scale, double *values, int64_t n_rows, int32_t width)
{
    const dpf_message in = {.size = sizeof in,
                            .n_rows = n_rows,
                            .total_rows = n_rows,
                            .values = values,
                            .stride = width,
                            .width = width};
    dpf_message out = in;
    plain_clear(&scale->host);
    return scale->functions->forward(scale->host.self, plain_call(&scale->host), &in, &out);
}

TEST(norms_become_the_bound)
{
    static const double sizes[] = {1e-140, 1e-12, 0.3, 1, 7, 1e12, 1e140};
    uint64_t z = 5;
    for (int l1 = 0; l1 < 2; l1++) {
        struct scale scale;
        open_scale(&scale, l1 ? "norm=l1; bound=2" : "bound=2");
        for (int trial = 0; trial < 700; trial++) {
            double x[12], first[12];
            long double norm = 0, before = 0, inner = 0;
            for (int k = 0; k < 12; k++) {
                z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                x[k] = first[k] = sizes[trial % 7] * ((double)(z >> 11) * 0x1p-53 - 0.5);
            }
            assert_int_equal(apply(&scale, x, 4, 3), DPF_OK);
            for (int k = 0; k < 12; k++) {
                norm += l1 ? fabsl((long double)x[k]) : (long double)x[k] * (long double)x[k];
                before += (long double)first[k] * (long double)first[k];
                inner += (long double)first[k] * (long double)x[k];
            }
            norm = l1 ? norm : sqrtl(norm);
            assert_true(norm <= 2);
            assert_true(norm > 2 - 1e-12L);
            long double now = 0;
            for (int k = 0; k < 12; k++)
                now += (long double)x[k] * (long double)x[k];
            assert_true(inner / sqrtl(before) / sqrtl(now) > 1 - 1e-12L); /* the direction stays */
        }
        plain_close(&scale.host);
    }
}

TEST(nothing_comes_of_nothing)
{
    struct scale scale;
    double x[4] = {0}, tiny[4] = {1e-200, 0, 0, -1e-200}, bad[4] = {1, NAN, 0, 0};
    open_scale(&scale, "bound=1");
    assert_int_equal(apply(&scale, x, 2, 2), DPF_OK);
    assert_true(x[0] == 0);
    assert_true(x[3] == 0);
    assert_int_equal(apply(&scale, tiny, 2, 2), DPF_OK);
    assert_true(fabs(tiny[0]) <= 1);
    assert_true(isfinite(tiny[3]));
    assert_int_equal(apply(&scale, bad, 2, 2), DPF_E_NUMERIC);
    plain_close(&scale.host);
}

/* Small statements about the message before are no statements about it afterwards. */
TEST(only_the_ball_is_stated)
{
    struct scale scale;
    dpf_query query = {.size = sizeof query, .n_blocks = 1, .width = 3, .dimension = 3};
    dpf_sensitivity block;
    dpf_joint_norms before = {.size = sizeof before}, after = {.size = sizeof after};
    query.blocks[0] = (dpf_block){DPF_BLOCK_GRADIENT, 0, 0, 3, 0, {0}};
    for (int unit = 0; unit < DPF_N_UNITS; unit++)
        for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
            block.at[unit][adjacency] = (dpf_norms){0.01, 0.01, 0.01};
    open_scale(&scale, "bound=2");
    assert_int_equal(scale.functions->sensitivity(scale.host.self, &query, 5, &block, NULL, &before, &after),
                     DPF_OK);
    assert_true(block.at[DPF_UNIT_USER][DPF_ADJ_ADD_REMOVE].l2 == 2);
    assert_true(block.at[DPF_UNIT_USER][DPF_ADJ_ZERO_OUT].l2 == 2);
    assert_true(block.at[DPF_UNIT_USER][DPF_ADJ_REPLACE].l2 == 4);
    assert_true(block.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2 == 4);
    assert_true(block.at[DPF_UNIT_RECORD][DPF_ADJ_ADD_REMOVE].l2 == 4);
    plain_close(&scale.host);
}
