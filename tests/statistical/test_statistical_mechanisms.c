/* SPDX-License-Identifier: Apache-2.0 */
/* Mechanisms and samplers from their .so: estimates are unbiased and have the variance planned. */
#include "kit/goodness.h"

#include "kit/plain_random.h"
#include "kit/plain_release.h"

#define ROWS 2000
#define D 10
#define CELLS (ROWS * D)
#define BINS 60

static double values[CELLS], estimates[CELLS];
static int64_t message[CELLS], sums[CELLS];

/* Encodes as many messages of the same values as there are parties, adds, decodes. */
static void run_step(struct plain_host *host, const struct plain_release *r, const dpf_noise_plan *plan)
{
    const dpf_mechanism *mechanism = host->component->functions;
    dpf_encoded integers = plain_integers(r, message), total = plain_integers(r, sums);
    memset(sums, 0, sizeof(sums));
    for (int64_t party = 0; party < r->release.n_parties; party++) {
        host->call.party = (uint32_t)party;
        assert_int_equal(
            mechanism->encode(host->self, plain_call(host), plan, &r->query, values, D, &integers), DPF_OK);
        for (int i = 0; i < CELLS; i++)
            sums[i] += message[i];
    }
    total.survivors = r->release.n_parties;
    host->call.party = DPF_PARTY_AGGREGATE;
    assert_int_equal(mechanism->decode(host->self, plain_call(host), plan, &r->query, &total, estimates, D),
                     DPF_OK);
}

/* Kurtosis of a sum of n draws whose own is k. */
static void check(const char *plugin, const char *settings, int64_t parties, double kurtosis)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    double sum = 0, squares = 0;
    plain_release_gradient(&r, D, ROWS);
    r.release.n_parties = parties;
    plain_open_random(&host, plain_component(plugin, DPF_ROLE_MECHANISM, plugin), settings);
    plain_plan(&host, &r, &plan, events);
    run_step(&host, &r, &plan);
    double n = plan.where == DPF_NOISE_AT_PARTY ? (double)parties : 1;
    double variance = plan.variance[0];
    for (int i = 0; i < CELLS; i++) {
        double error = estimates[i] - values[i] * (double)parties;
        sum += error;
        squares += error * error;
    }
    double fourth = variance * variance * (3 + (kurtosis - 3) / n);
    goodness_assert(goodness_mean(sum, CELLS, 0, variance), settings, (double)parties);
    goodness_assert(goodness_mean(squares, CELLS, variance, fourth - variance * variance), settings,
                    (double)parties);
    plain_close(&host);
}

TEST(estimates_are_unbiased_with_the_variance_planned)
{
    check("laplace", "epsilon=0.5", 1, 6);
    check("laplace", "epsilon=2", 7, 6);
    check("laplace", "epsilon=0.5; where=sum", 7, 6);
    check("gaussian", "calibration=noise-multiplier; noise-multiplier=3", 1, 3);
    check("gaussian", "calibration=noise-multiplier; noise-multiplier=3", 7, 3);
    check("gaussian", "epsilon=1; delta=1e-5; where=sum", 7, 3);
    check("gaussian", "calibration=sigma; sigma=0.1", 3, 3);
}

static double laplace_below(double x)
{
    return x < 0 ? 0.5 * exp(x) : 1 - 0.5 * exp(-x);
}

static double normal_below(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

/* The whole distribution of what a single release adds, in units of its scale. */
static void check_shape(const char *plugin, const char *settings, double (*below)(double))
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    int64_t counts[BINS] = {0};
    double p[BINS];
    plain_release_gradient(&r, D, ROWS);
    plain_open_random(&host, plain_component(plugin, DPF_ROLE_MECHANISM, plugin), settings);
    plain_plan(&host, &r, &plan, events);
    run_step(&host, &r, &plan);
    for (int i = 0; i < CELLS; i++) {
        int bin = (int)floor((estimates[i] - values[i]) / plan.scale[0] * 10) + BINS / 2;
        counts[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin]++;
    }
    for (int b = 0; b < BINS; b++)
        p[b] = (b == BINS - 1 ? 1 : below((b + 1 - BINS / 2) / 10.0)) -
               (b == 0 ? 0 : below((b - BINS / 2) / 10.0));
    goodness_assert(goodness_chi_square(counts, p, BINS), settings, 0);
    plain_close(&host);
}

TEST(noise_has_the_shape_it_claims)
{
    check_shape("laplace", "epsilon=0.3", laplace_below);
    check_shape("laplace", "epsilon=0.3; where=sum", laplace_below);
    check_shape("gaussian", "calibration=sigma; sigma=5", normal_below);
    check_shape("gaussian", "calibration=sigma; sigma=5; where=sum", normal_below);
}

TEST(users_take_part_at_their_rate)
{
    enum { USERS = 2000, ROUNDS = 50 };
    static const char *settings[] = {"rate=0.1", "rate=0.003", "rate=0.6"};
    static const double rates[] = {0.1, 0.003, 0.6};
    const dpf_component *component = plain_component("poisson-users", DPF_ROLE_SAMPLER, "poisson-users");
    const dpf_sampler *sampler = component->functions;
    for (int s = 0; s < 3; s++) {
        struct plain_host host;
        static float now[USERS], before[USERS];
        double taken = 0, in_both = 0, with_neighbour = 0, q = rates[s];
        dpf_draw draw = {.size = sizeof(draw), .level = DPF_LEVEL_PARTY, .n = USERS};
        plain_open_random(&host, component, settings[s]);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            host.call.draw = round;
            assert_int_equal(sampler->draw(host.self, plain_call(&host), &draw, now), DPF_OK);
            for (int u = 0; u < USERS; u++) {
                taken += now[u];
                in_both += round % 2 ? now[u] * before[u] : 0;
                with_neighbour += u % 2 ? now[u] * now[u - 1] : 0;
            }
            memcpy(before, now, sizeof(now));
        }
        goodness_assert(goodness_count(taken, (double)USERS * ROUNDS, q), "taking part", q);
        goodness_assert(goodness_count(in_both, USERS * ROUNDS / 2.0, q * q), "in two rounds", q);
        goodness_assert(goodness_count(with_neighbour, USERS * ROUNDS / 2.0, q * q), "two neighbours", q);
        plain_close(&host);
    }
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(20240302);
    for (int i = 0; i < CELLS; i++)
        values[i] = 0.01 * (i % 97) - 0.3;
    return 0;
}

FIXTURE(setup, plain_random_end)
