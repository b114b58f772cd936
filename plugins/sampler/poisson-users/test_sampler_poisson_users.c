/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_random.h"

#define USERS 1000

static const dpf_component *component;
static const dpf_sampler *sampler;

static void draw_users(struct plain_host *host, uint32_t round, int64_t first, int64_t n, float *weights)
{
    dpf_draw draw = {.size = sizeof(draw), .level = DPF_LEVEL_PARTY, .n = n, .first = first};
    host->call.draw = round;
    assert_int_equal(sampler->draw(host->self, plain_call(host), &draw, weights), DPF_OK);
}

TEST(it_says_how_it_samples)
{
    static const struct {
        const char *settings;
        double weight;
    } cases[] = {
        {"rate=0.25", 1},
        {"rate=0.25; weight=inverse", 4},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct plain_host host;
        dpf_sampling sampling = {0};
        float weights[USERS];
        plain_open_random(&host, component, cases[i].settings);
        assert_int_equal(sampler->describe(host.self, &sampling), DPF_OK);
        assert_int_equal(sampling.kind, DPF_SAMPLING_POISSON);
        assert_int_equal(sampling.unit, DPF_UNIT_USER);
        assert_int_equal(sampling.hidden_from, DPF_OBSERVER_SERVER);
        assert_true(sampling.rate == 0.25);
        assert_true(sampling.weight_max == cases[i].weight);
        assert_true(!sampler->lifetime); /* a round */
        draw_users(&host, 0, 0, USERS, weights);
        for (int u = 0; u < USERS; u++)
            assert_true(weights[u] == 0 || weights[u] == (float)cases[i].weight);
        plain_close(&host);
    }
}

TEST(a_draw_depends_on_round_and_user_only)
{
    struct plain_host host;
    float all[USERS], part[10], next[USERS];
    int taken = 0, same = 0;
    plain_open_random(&host, component, "rate=0.5");
    draw_users(&host, 3, 0, USERS, all);
    draw_users(&host, 3, 500, 10, part);
    assert_memory_equal(part, all + 500, sizeof(part));
    draw_users(&host, 4, 0, USERS, next);
    for (int u = 0; u < USERS; u++) {
        taken += all[u] > 0;
        same += (all[u] > 0) == (next[u] > 0);
    }
    assert_in_range(taken, 430, 570); /* 4.4 standard deviations */
    assert_in_range(same, 430, 570);
    plain_close(&host);
}

TEST(rate_one_takes_everybody)
{
    struct plain_host host;
    float all[USERS];
    plain_open_random(&host, component, "rate=1");
    draw_users(&host, 0, 0, USERS, all);
    for (int u = 0; u < USERS; u++)
        assert_true(all[u] == 1);
    plain_close(&host);
}

TEST(other_uses_are_refused)
{
    struct plain_host host;
    dpf_draw draw = {.size = sizeof(draw), .level = DPF_LEVEL_RECORD, .n = 1};
    float weight;
    plain_init(&host, component);
    host.random = &plain_random;
    assert_int_equal(plain_create(&host, "rate=0"), DPF_E_CONFIG);
    assert_int_equal(plain_create(&host, "rate=1.5"), DPF_E_CONFIG);
    host.fail_after = 0;
    assert_int_equal(plain_create(&host, ""), DPF_E_MEMORY);
    host.fail_after = -1;
    assert_int_equal(plain_create(&host, ""), DPF_OK);
    assert_int_equal(sampler->draw(host.self, plain_call(&host), &draw, &weight), DPF_E_UNSUPPORTED);
    plain_close(&host);
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(13);
    component = plain_component("poisson-users", DPF_ROLE_SAMPLER, "poisson-users");
    sampler = component->functions;
    return 0;
}

FIXTURE(setup, plain_random_end)
