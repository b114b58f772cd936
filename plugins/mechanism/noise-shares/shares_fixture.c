/* SPDX-License-Identifier: Apache-2.0 */
#include "shares_fixture.h"

void shares_release(struct plain_release *r, int64_t rows, int64_t honest)
{
    plain_release_gradient(r, SHARES_WIDTH, rows);
    r->release.n_parties = SHARES_PARTIES;
    r->release.min_honest = honest;
}

/* The decoded sum of that many empty messages, in this draw. */
static void shares_sum_at(struct plain_host *host, const struct plain_release *r, const dpf_noise_plan *plan,
                          int64_t senders, uint32_t draw, double *out)
{
    static const double nothing[SHARES_MOST_CELLS];
    static int64_t sums[SHARES_MOST_CELLS], message[SHARES_MOST_CELLS];
    const dpf_mechanism *mechanism = host->component->functions;
    const int64_t cells = r->release.rows * SHARES_WIDTH;
    memset(sums, 0, sizeof(sums));
    dpf_call call = *plain_call(host);
    call.draw = draw;
    for (int64_t p = 0; p < senders; p++) {
        dpf_encoded integers = plain_integers(r, message);
        call.party = (uint32_t)p;
        assert_int_equal(
            mechanism->encode(host->self, &call, plan, &r->query, nothing, SHARES_WIDTH, &integers), DPF_OK);
        for (int64_t i = 0; i < cells; i++)
            sums[i] += message[i];
    }
    dpf_encoded sum = plain_integers(r, sums);
    sum.survivors = senders;
    call.party = DPF_PARTY_AGGREGATE;
    assert_int_equal(mechanism->decode(host->self, &call, plan, &r->query, &sum, out, SHARES_WIDTH), DPF_OK);
}

void shares_sum(struct plain_host *host, const struct plain_release *r, const dpf_noise_plan *plan,
                int64_t senders, double *out)
{
    shares_sum_at(host, r, plan, senders, plain_call(host)->draw, out);
}

void shares_check_gram(const dpf_component *component, const char *settings)
{
    static double noise[2][4000];
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    shares_release(&r, 1, SHARES_PARTIES);
    plain_release_share(&r, 3, 3);
    r.release.gram_share = 0.25;
    plain_open_random(&host, component, settings);
    assert_int_equal(plain_plan(&host, &r, &plan, events), 2);
    assert_int_equal(events[1].blocks, UINT32_C(1) << DPF_GRAM_BIT);
    assert_int_equal(events[1].kind, events[0].kind);
    assert_true((events[1].flags & DPF_EVENT_NOISE_SHARED) && events[1].scale == plan.gram_scale[0]);
    const int l1 = dpf_event_norm(events[0].kind) == 1;
    const double budgets = l1 ? 3 : sqrt(3), /* of the budgets three quarters and a quarter */
        price = dpf_event_sensitivity(&events[1], DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE) / events[1].scale,
                 rows = dpf_event_sensitivity(&events[0], DPF_UNIT_RECORD, DPF_ADJ_REPLACE_VALUE) /
                        events[0].scale;
    if (!(fabs(rows / price / budgets - 1) < 1e-3))
        fail_msg("the rows cost %g, the Gram row %g", rows, price);
    for (int draw = 0; draw < 400; draw++) {
        double sum[2 * SHARES_WIDTH];
        shares_sum_at(&host, &r, &plan, SHARES_PARTIES, (uint32_t)draw, sum);
        for (int i = 0; i < SHARES_WIDTH; i++) {
            noise[0][draw * SHARES_WIDTH + i] = sum[i] / sqrt(plan.variance[0]);
            noise[1][draw * SHARES_WIDTH + i] = sum[SHARES_WIDTH + i] / sqrt(plan.gram_variance[0]);
        }
    }
    for (int gram = 0; gram < 2; gram++) {
        double sum = 0, square = 0;
        for (int i = 0; i < 4000; i++) {
            sum += noise[gram][i];
            square += noise[gram][i] * noise[gram][i];
        }
        goodness_assert(goodness_mean(sum, 4000, 0, 1), "mean", gram);
        goodness_assert(goodness_mean(square, 4000, 1, l1 ? 5 : 2), "variance", gram);
    }
    plain_close(&host);
    r.release.gram_share = 0;
    plain_open_random(&host, component, "");
    assert_int_equal(plain_plan(&host, &r, &plan, events), 2);
    assert_int_equal(events[1].kind, DPF_EVENT_NON_PRIVATE);
    assert_true(plan.gram_scale[0] == 0 && plan.scale[0] > 0);
    plain_close(&host);
}

void shares_assert_normal(const double *x, int64_t n, double deviation)
{
    double sum = 0, square = 0, one = 0, two = 0;
    for (int64_t i = 0; i < n; i++) {
        const double z = x[i] / deviation;
        sum += z;
        square += z * z;
        one += fabs(z) > 1;
        two += fabs(z) > 2;
    }
    goodness_assert(goodness_mean(sum, (double)n, 0, 1), "mean", deviation);
    goodness_assert(goodness_mean(square, (double)n, 1, 2), "variance", deviation);
    goodness_assert(goodness_count(one, (double)n, erfc(sqrt(0.5))), "beyond one", deviation);
    goodness_assert(goodness_count(two, (double)n, erfc(sqrt(2.0))), "beyond two", deviation);
}

void shares_check_too_few(const dpf_component *component)
{
    static double x[SHARES_MOST_CELLS];
    static int64_t sums[SHARES_MOST_CELLS];
    const dpf_mechanism *mechanism = component->functions;
    for (int i = 0; i < 4; i++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        dpf_event events[2 * DPF_MAX_BLOCKS];
        const int enough = i % 2;
        shares_release(&r, 100, i / 2 ? 18 : 20);
        r.release.max_curious = i / 2 ? 2 : 0;
        plain_open_random(&host, component, "");
        plain_plan(&host, &r, &plan, events);
        assert_int_equal(plan.spare_shares, i / 2 * 2);
        dpf_encoded sum = plain_integers(&r, sums);
        sum.survivors = 19 + enough;
        assert_int_equal(
            mechanism->decode(host.self, plain_call(&host), &plan, &r.query, &sum, x, SHARES_WIDTH),
            enough ? DPF_OK : DPF_E_PRIVACY);
        plain_close(&host);
    }
}

void shares_check_refusals(const dpf_component *component, const char *bad)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan = {.size = sizeof(plan)};
    const dpf_mechanism *mechanism = component->functions;
    static const int64_t wrong[][2] = {{26, 0}, {18, 8}, {0, 0}, {-1, 0}, {20, -1}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        shares_release(&r, 100, wrong[i][0]);
        r.release.max_curious = wrong[i][1];
        plain_open_random(&host, component, "");
        assert_int_equal(mechanism->plan(host.self, &r.release, &plan), DPF_E_INTERNAL);
        plain_close(&host);
    }
    shares_release(&r, 100, SHARES_PARTIES);
    plain_open_random(&host, component, "");
    plain_release_share(&r, 1, 1);
    r.release.gram_share = 0.5;
    r.release.gram = NULL;
    assert_int_equal(mechanism->plan(host.self, &r.release, &plan), DPF_E_PRIVACY);
    plain_close(&host);
    for (int i = 0; i < 2; i++) {
        shares_release(&r, 100, SHARES_PARTIES);
        plain_release_bound(&r, 0, i ? INFINITY : NAN, i ? INFINITY : NAN);
        plain_open_random(&host, component, "");
        assert_int_equal(mechanism->plan(host.self, &r.release, &plan), DPF_E_PRIVACY);
        plain_close(&host);
    }
    plain_init(&host, component);
    host.random = &plain_random;
    assert_int_equal(plain_create(&host, bad), DPF_E_CONFIG);
    host.fail_after = 0;
    assert_int_equal(plain_create(&host, ""), DPF_E_MEMORY);
    plain_close(&host);
}
