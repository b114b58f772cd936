/* SPDX-License-Identifier: Apache-2.0 */
#include "neighbours_case.h"

static const dpf_component *component;
static struct case_data data;

TEST(neighbours_follow_from_the_reports)
{
    static const struct {
        const char *settings;
        int similarity, estimator;
        int64_t iterations;
    } cases[] = {
        {"epsilon=1; history=reported; neighbours=69", SIMILARITY_COSINE, ESTIMATOR_INVERSE, 0},
        {"epsilon=1; history=reported; neighbours=69; estimator=bayes", SIMILARITY_COSINE, ESTIMATOR_BAYES,
         100},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct plain_host host;
        struct case_reference reference = {.similarity = cases[c].similarity,
                                           .estimator = cases[c].estimator,
                                           .iterations = cases[c].iterations};
        bit_response_plan(1, 0, &reference.response);
        plain_open_random(&host, component, cases[c].settings);
        void *bytes = case_fit(&host, &data, 0);
        const struct neighbours_state fitted = neighbours_state_at(host.self, CASE_USERS, CASE_ITEMS, bytes);
        case_compare(&reference, &data, &fitted, CASE_ITEMS - 1);
        free(bytes);
        plain_close(&host);
    }
}

/* Without noise both reconstructions are the counts themselves. */
TEST(without_noise_the_estimators_agree)
{
    struct plain_host hosts[2];
    void *bytes[2];
    plain_open_random(&hosts[0], component, "epsilon=inf");
    plain_open_random(&hosts[1], component, "epsilon=inf; estimator=bayes");
    for (int i = 0; i < 2; i++)
        bytes[i] = case_fit(&hosts[i], &data, 0);
    assert_memory_equal(bytes[0], bytes[1], case_state_bytes(&hosts[0], &data));
    for (int i = 0; i < 2; i++) {
        free(bytes[i]);
        plain_close(&hosts[i]);
    }
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(31);
    component = plain_component("ldpicf", DPF_ROLE_RECOMMENDER, "ldpicf");
    case_fill(&data);
    return 0;
}

FIXTURE(setup, plain_random_end)
