/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes and offsets of the ABI. A line may only be changed before 1.0 is released; afterwards sizes of
 * descriptors grow, with a new minor, and everything else stays (docs/abi-policy.md).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dpframe/dpframe.h"

static const struct {
    const char *what;
    size_t is;
    size_t released;
} layout[] = {
    {"dpf_plugin", sizeof(dpf_plugin), 48},
    {"dpf_plugin.components", offsetof(dpf_plugin, components), 40},
    {"dpf_component", sizeof(dpf_component), 88},
    {"dpf_component.params", offsetof(dpf_component, params), 48},
    {"dpf_component.create", offsetof(dpf_component, create), 64},
    {"dpf_component.functions", offsetof(dpf_component, functions), 80},
    {"dpf_param", sizeof(dpf_param), 88},
    {"dpf_param.default_real", offsetof(dpf_param, default_real), 32},
    {"dpf_param.values", offsetof(dpf_param, values), 56},
    {"dpf_param.help", offsetof(dpf_param, help), 80},
    {"dpf_enum_value", sizeof(dpf_enum_value), 16},
    {"dpf_value", sizeof(dpf_value), 56},
    {"dpf_value.count", offsetof(dpf_value, count), 48},
    {"dpf_params", sizeof(dpf_params), 16},
    {"dpf_host", sizeof(dpf_host), 32},
    {"dpf_host.fail", offsetof(dpf_host, fail), 24},
    {"dpf_call", sizeof(dpf_call), 64},
    {"dpf_call.draw", offsetof(dpf_call, draw), 16},
    {"dpf_call.host", offsetof(dpf_call, host), 24},
    {"dpf_call.scratch", offsetof(dpf_call, scratch), 40},
    {"dpf_call.cancelled", offsetof(dpf_call, cancelled), 48},
    {"dpf_call.run_tasks", offsetof(dpf_call, run_tasks), 56},
    {"dpf_memory_service", sizeof(dpf_memory_service), 16},
    {"dpf_log_service", sizeof(dpf_log_service), 16},
    {"dpf_random_service", sizeof(dpf_random_service), 88},
    {"dpf_cursor", sizeof(dpf_cursor), 640},
    {"dpf_factors", sizeof(dpf_factors), 32},
    {"dpf_norms", sizeof(dpf_norms), 24},
    {"dpf_sensitivity", sizeof(dpf_sensitivity), 240},
    {"dpf_bounds", sizeof(dpf_bounds), 136},
    {"dpf_sampling", sizeof(dpf_sampling), 64},
    {"dpf_event", sizeof(dpf_event), 440},
    {"dpf_event.scale", offsetof(dpf_event, scale), 40},
    {"dpf_event.sensitivity", offsetof(dpf_event, sensitivity), 104},
    {"dpf_event.sampling", offsetof(dpf_event, sampling), 344},
    {"dpf_event.unweighted", offsetof(dpf_event, unweighted), 416},
    {"dpf_block", sizeof(dpf_block), 24},
    {"dpf_query", sizeof(dpf_query), 240},
    {"dpf_query.blocks", offsetof(dpf_query, blocks), 32},
    {"dpf_query.ridge_constant", offsetof(dpf_query, ridge_constant), 232},
    {"dpf_groups", sizeof(dpf_groups), 112},
    {"dpf_loss", sizeof(dpf_loss), 56},
    {"dpf_side_info", sizeof(dpf_side_info), 48},
    {"dpf_sampler", sizeof(dpf_sampler), 40},
    {"dpf_sampler_setup", sizeof(dpf_sampler_setup), 72},
    {"dpf_draw", sizeof(dpf_draw), 72},
    {"dpf_transform", sizeof(dpf_transform), 88},
    {"dpf_records", sizeof(dpf_records), 40},
    {"dpf_message", sizeof(dpf_message), 64},
    {"dpf_mechanism", sizeof(dpf_mechanism), 72},
    {"dpf_release", sizeof(dpf_release), 80},
    {"dpf_noise_plan", sizeof(dpf_noise_plan), 488},
    {"dpf_encoded", sizeof(dpf_encoded), 72},
    {"dpf_csr", sizeof(dpf_csr), 32},
    {"dpf_interactions", sizeof(dpf_interactions), 112},
    {"dpf_feature_column", sizeof(dpf_feature_column), 64},
    {"dpf_features", sizeof(dpf_features), 56},
    {"dpf_recommender_setup", sizeof(dpf_recommender_setup), 64},
    {"dpf_recommender_release", sizeof(dpf_recommender_release), 672},
    {"dpf_witness", sizeof(dpf_witness), 16},
    {"dpf_fit", sizeof(dpf_fit), 72},
    {"dpf_scoring", sizeof(dpf_scoring), 32},
    {"dpf_recommender", sizeof(dpf_recommender), 48},
    {"dpf_aggregator", sizeof(dpf_aggregator), 56},
    {"dpf_aggregation", sizeof(dpf_aggregation), 80},
    {"dpf_solver", sizeof(dpf_solver), 32},
    {"dpf_solve", sizeof(dpf_solve), 136},
    {"dpf_accountant", sizeof(dpf_accountant), 32},
    {"dpf_question", sizeof(dpf_question), 40},
    {"dpf_answer", sizeof(dpf_answer), 496},
};

static void test_layout(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof layout / sizeof layout[0]; i++)
        if (layout[i].is != layout[i].released)
            fail_msg("%s is %zu, released as %zu", layout[i].what, layout[i].is, layout[i].released);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layout)};
    return cmocka_run_group_tests_name("plugin ABI layout", tests, NULL, NULL);
}
