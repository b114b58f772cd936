/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_random.h"
#include "kit/goodness.h"

#define USERS 200
#define ITEMS 100
#define N (USERS * ITEMS)

static const dpf_component *component;
static const dpf_sampler *sampler;
static int32_t users[N], items[N];
static float weights[N];

static dpf_sampler_setup setup_of(double budget)
{
    return (dpf_sampler_setup){.size = sizeof(dpf_sampler_setup),
                               .side = DPF_SIDE_ITEMS,
                               .n_parties = USERS,
                               .budget = budget,
                               .privacy_weight_lo = 0.01,
                               .privacy_weight_hi = 1,
                               .privacy_weight_mean = 0.4};
}

static void open_sampler(struct plain_host *host, const char *settings, double budget)
{
    dpf_sampler_setup setup = setup_of(budget);
    plain_open_random(host, component, settings);
    if (sampler->prepare(host->self, &setup) != DPF_OK)
        fail_msg("prepare: %s", host->report);
}

static dpf_status draw_records(struct plain_host *host, uint32_t round, int64_t first, int64_t n, float *out)
{
    dpf_draw draw = {.size = sizeof(draw),
                     .level = DPF_LEVEL_RECORD,
                     .n = n,
                     .users = users + first,
                     .items = items + first,
                     .privacy_weights = weights + first};
    host->call.draw = round;
    return sampler->draw(host->self, plain_call(host), &draw, out);
}

/* How many of the records with weight w are kept, against Jorgensen's formula written out anew. */
static void check_rate(const char *settings, double epsilon, double threshold, double w)
{
    struct plain_host host;
    static float kept[N];
    double count = 0, p = epsilon * w < threshold ? (exp(epsilon * w) - 1) / (exp(threshold) - 1) : 1;
    for (int i = 0; i < N; i++)
        weights[i] = (float)w;
    open_sampler(&host, settings, NAN);
    assert_int_equal(draw_records(&host, 0, 0, N, kept), DPF_OK);
    for (int i = 0; i < N; i++) {
        assert_true(kept[i] == 0 || kept[i] == 1);
        count += (double)kept[i];
    }
    if (p == 1)
        assert_true(count == N);
    else
        goodness_assert(goodness_count(count, N, p), settings, w);
    plain_close(&host);
}

TEST(records_are_kept_by_their_budgets)
{
    check_rate("epsilon=1; threshold=max", 1, 1, 0.25);
    check_rate("epsilon=1; threshold=max", 1, 1, 1);
    check_rate("epsilon=1; threshold=mean", 1, 0.4, 0.125);
    check_rate("epsilon=1; threshold=mean", 1, 0.4, 0.5);
    check_rate("epsilon=3; threshold=min", 3, 0.03, 0.0625);
    check_rate("epsilon=2; threshold=value; threshold-value=5", 2, 5, 1);
    check_rate("epsilon=2; threshold=value; threshold-value=5", 2, 5, 0.5);
}

/* What is drawn and then noised for t costs a record its budget, min(e, t), and no more. */
TEST(the_budget_of_a_record_is_kept)
{
    struct plain_host host;
    for (double w = 0.01; w <= 1; w += 0.0625) {
        dpf_sampling sampling = {0};
        dpf_sampler_setup setup = setup_of(1.5);
        setup.privacy_weight_hi = w;
        plain_open_random(&host, component, "epsilon=2; threshold=value; threshold-value=1.5");
        assert_int_equal(sampler->prepare(host.self, &setup), DPF_OK);
        assert_int_equal(sampler->describe(host.self, &sampling), DPF_OK);
        long double spent = log1pl((long double)sampling.rate * expm1l(1.5L));
        assert_true(spent <= fminl(2.0L * (long double)w, 1.5L));
        assert_true(spent >= fminl(2.0L * (long double)w, 1.5L) * (1 - 1e-12L));
        plain_close(&host);
    }
}

TEST(it_says_how_it_samples)
{
    struct plain_host host;
    dpf_sampling sampling = {0};
    open_sampler(&host, "lifetime=round", 1);
    assert_int_equal(sampler->describe(host.self, &sampling), DPF_OK);
    assert_int_equal(sampler->level, DPF_LEVEL_RECORD);
    assert_int_equal(sampling.kind, DPF_SAMPLING_WEIGHTED);
    assert_int_equal(sampling.unit, DPF_UNIT_RECORD);
    assert_int_equal(sampling.hidden_from, DPF_OBSERVER_SERVER);
    assert_true(sampling.rate == 1);
    assert_true(sampling.weight_max == 1);
    assert_int_equal(sampler->lifetime(host.self), DPF_LIFETIME_ROUND);
    plain_close(&host);
    open_sampler(&host, "", 1);
    assert_int_equal(sampler->lifetime(host.self), DPF_LIFETIME_RUN);
    plain_close(&host);
}

TEST(a_draw_depends_on_round_and_record_only)
{
    struct plain_host host, other;
    static float all[N], again[N], part[ITEMS], next[N];
    int same = 0;
    for (int i = 0; i < N; i++)
        weights[i] = 0.5F;
    open_sampler(&host, "", 1);
    open_sampler(&other, "", NAN); /* of the other side */
    assert_int_equal(draw_records(&host, 3, 0, N, all), DPF_OK);
    assert_int_equal(draw_records(&other, 3, 0, N, again), DPF_OK);
    assert_memory_equal(all, again, sizeof(all));
    assert_int_equal(draw_records(&host, 3, 70, ITEMS, part), DPF_OK);
    assert_memory_equal(all + 70, part, sizeof(part));
    assert_int_equal(draw_records(&host, 4, 0, N, next), DPF_OK);
    for (int i = 0; i < N; i++)
        same += all[i] == next[i];
    double p = (exp(0.5) - 1) / (exp(1) - 1);
    goodness_assert(goodness_count(same, N, p * p + (1 - p) * (1 - p)), "agreement of rounds", 0);
    plain_close(&host);
    plain_close(&other);
}

TEST(budgets_that_do_not_fit_are_refused)
{
    struct plain_host host;
    float kept;
    dpf_sampler_setup setup = setup_of(0.41);
    plain_open_random(&host, component, "threshold=mean");
    assert_int_equal(sampler->prepare(host.self, &setup), DPF_E_PRIVACY);
    assert_non_null(strstr(host.report, "0.400000"));
    setup.budget = 0.4;
    assert_int_equal(sampler->prepare(host.self, &setup), DPF_OK);
    setup.privacy_weight_mean = NAN;
    plain_clear(&host);
    assert_int_equal(sampler->prepare(host.self, &setup), DPF_E_CONFIG);
    plain_close(&host);

    static const float bad[] = {0, -0.5F, 1.5F, NAN, INFINITY};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        open_sampler(&host, "", 1);
        weights[0] = bad[i];
        assert_int_equal(draw_records(&host, 0, 0, 1, &kept), DPF_E_PRIVACY);
        plain_close(&host);
    }
    dpf_draw draw = {.size = sizeof(draw), .level = DPF_LEVEL_PARTY, .n = 1};
    open_sampler(&host, "", 1);
    assert_int_equal(sampler->draw(host.self, plain_call(&host), &draw, &kept), DPF_E_UNSUPPORTED);
    plain_close(&host);
    plain_init(&host, component);
    host.random = &plain_random;
    assert_int_equal(plain_create(&host, "epsilon=0"), DPF_E_CONFIG);
    host.fail_after = 0;
    assert_int_equal(plain_create(&host, ""), DPF_E_MEMORY);
    plain_close(&host);
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(17);
    component = plain_component("personalised", DPF_ROLE_SAMPLER, "personalised");
    sampler = component->functions;
    for (int i = 0; i < N; i++) {
        users[i] = i / ITEMS;
        items[i] = i % ITEMS;
    }
    return 0;
}

FIXTURE(setup, plain_random_end)
