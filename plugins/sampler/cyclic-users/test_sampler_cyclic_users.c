/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_random.h"

#define USERS 3000

static const dpf_component *component;
static const dpf_sampler *sampler;
static uint64_t keys[USERS];

static void draw_users(struct plain_host *host, uint32_t round, int64_t first, int64_t n, float *weights)
{
    dpf_draw draw = {
        .size = sizeof(draw), .level = DPF_LEVEL_PARTY, .n = n, .first = first, .keys = keys + first};
    host->call.draw = round;
    assert_int_equal(sampler->draw(host->self, plain_call(host), &draw, weights), DPF_OK);
}

TEST(it_says_how_it_samples)
{
    struct plain_host host;
    dpf_sampling sampling = {0};
    plain_open_random(&host, component, "groups=8");
    assert_int_equal(sampler->describe(host.self, &sampling), DPF_OK);
    assert_int_equal(sampling.kind, DPF_SAMPLING_CYCLIC);
    assert_int_equal(sampling.unit, DPF_UNIT_USER);
    assert_int_equal(sampling.hidden_from, -1);
    assert_int_equal(sampling.separation, 8);
    assert_true(sampling.rate == 0.125);
    assert_true(sampling.weight_max == 1);
    plain_close(&host);
}

/* In any 7 rounds in a row everybody takes part once; groups are of like size; another place changes nothing.
 */
TEST(everybody_takes_part_once_a_cycle)
{
    struct plain_host host;
    int last[USERS], taken[7] = {0};
    float weights[USERS], part[10];
    plain_open_random(&host, component, "groups=7");
    for (int u = 0; u < USERS; u++)
        last[u] = -1;
    for (uint32_t t = 0; t < 30; t++) {
        draw_users(&host, t, 0, USERS, weights);
        draw_users(&host, t, 500, 10, part);
        assert_memory_equal(part, weights + 500, sizeof(part));
        for (int u = 0; u < USERS; u++) {
            assert_true(weights[u] == 0 || weights[u] == 1);
            if (weights[u] == 0)
                continue;
            assert_true(last[u] == -1 ? t < 7 : (int)t - last[u] == 7);
            last[u] = (int)t;
            taken[t % 7] += t < 7;
        }
    }
    for (int u = 0; u < USERS; u++)
        assert_true(last[u] >= 23);
    for (int g = 0; g < 7; g++)
        assert_in_range(taken[g], 340, 520); /* 428.6, deviation 19 */
    plain_close(&host);
}

TEST(other_uses_are_refused)
{
    struct plain_host host;
    dpf_draw draw = {.size = sizeof(draw), .level = DPF_LEVEL_RECORD, .n = 1, .keys = keys};
    float weight;
    plain_init(&host, component);
    assert_int_equal(plain_create(&host, "groups=0"), DPF_E_CONFIG);
    host.fail_after = 0;
    assert_int_equal(plain_create(&host, ""), DPF_E_MEMORY);
    host.fail_after = -1;
    assert_int_equal(plain_create(&host, ""), DPF_OK);
    assert_int_equal(sampler->draw(host.self, plain_call(&host), &draw, &weight), DPF_E_UNSUPPORTED);
    draw.level = DPF_LEVEL_PARTY;
    draw.keys = NULL; /* silos have no ids */
    assert_int_equal(sampler->draw(host.self, plain_call(&host), &draw, &weight), DPF_E_UNSUPPORTED);
    draw.keys = keys;
    draw.size = 80; /* a host that knows no keys */
    assert_int_equal(sampler->draw(host.self, plain_call(&host), &draw, &weight), DPF_E_UNSUPPORTED);
    plain_close(&host);
}

static int setup(void **state)
{
    (void)state;
    uint64_t x = 1;
    for (int u = 0; u < USERS; u++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        keys[u] = x ^ x >> 29;
    }
    plain_random_start(13);
    component = plain_component("cyclic-users", DPF_ROLE_SAMPLER, "cyclic-users");
    sampler = component->functions;
    return 0;
}

FIXTURE(setup, plain_random_end)
