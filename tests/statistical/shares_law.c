/* SPDX-License-Identifier: Apache-2.0 */
#include "statistical/shares_law.h"

/* I_(k-1)(x) = I_(k+1)(x) + (2 k / x) I_k(x), downwards from where I is nothing (Miller); the sum over all k,
   exp(x), gives the unit. */
static void law_of_skellam(struct law_tail *tail, double x)
{
    static double mass[LAW_MOST + 2];
    const int last = (int)(14 * sqrt(x)) + 60;
    double sum = 0, above = 0;
    assert_true(last < LAW_MOST);
    memset(mass, 0, sizeof mass);
    mass[last] = 1e-300;
    for (int k = last; k > 0; k--)
        mass[k - 1] = mass[k + 1] + 2.0 * k / x * mass[k];
    for (int k = last; k > 0; k--)
        sum += 2 * mass[k];
    sum += mass[0];
    for (int k = LAW_MOST + 1; k >= 0; k--)
        tail->at[k] = above += k <= last ? mass[k] / sum : 0;
}

static void law_of_discrete_laplace(struct law_tail *tail, double scale)
{
    for (int k = 0; k <= LAW_MOST + 1; k++)
        tail->at[k] = exp(-k / scale) / (1 + exp(-1 / scale)); /* of 0: (1 + Pr[0]) / 2 */
}

/* Bins of `wide` numbers, an odd number, centred on its multiples. */
static void law_bins(const struct law_tail *tail, int wide, double *p)
{
    double below = 0;
    for (int b = 0; b < LAW_BINS; b++) {
        const int end = wide * (b - LAW_BINS / 2) + wide / 2 + 1; /* the first number after the bin */
        const double above = b == LAW_BINS - 1 ? 0 : end >= 1 ? tail->at[end] : 1 - tail->at[1 - end];
        p[b] = 1 - above - below;
        below = 1 - above;
    }
}

/* Draws that many sums of `parties` shares; counts them in bins of steps of the grid. */
static void law_count(const dpf_component *component, const char *settings, int parties, int64_t sums,
                      int (*wide_of)(const dpf_event *, const dpf_noise_plan *), int64_t *counts,
                      dpf_event *event, dpf_noise_plan *plan)
{
    static const double nothing[LAW_CELLS];
    static int64_t sum[LAW_CELLS], message[LAW_CELLS];
    struct plain_host host;
    struct plain_release r;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_gradient(&r, LAW_WIDTH, LAW_ROWS);
    plain_release_bound(&r, 0, 3, 2);
    r.release.n_parties = r.release.min_honest = parties;
    r.release.fewer_bits = 32; /* the fewest that the plan may choose */
    plain_open_random(&host, component, settings);
    assert_int_equal(plain_plan(&host, &r, plan, events), 1);
    *event = events[0];
    const dpf_mechanism *mechanism = component->functions;
    const int64_t wide = wide_of(event, plan);
    uint32_t draw = 0;
    for (int64_t done = 0; done < sums; done += LAW_CELLS, draw++) {
        memset(sum, 0, sizeof sum);
        for (int p = 0; p < parties; p++) {
            dpf_encoded integers = plain_integers(&r, message);
            dpf_call call = *plain_call(&host);
            call.draw = draw;
            call.party = (uint32_t)p;
            assert_int_equal(
                mechanism->encode(host.self, &call, plan, &r.query, nothing, LAW_WIDTH, &integers), DPF_OK);
            for (int i = 0; i < LAW_CELLS; i++)
                sum[i] += message[i];
        }
        for (int i = 0; i < LAW_CELLS; i++) {
            const int64_t shifted = sum[i] + wide * (LAW_BINS / 2) + wide / 2;
            const int64_t bin = shifted < 0 ? 0 : shifted / wide;
            counts[bin < LAW_BINS ? bin : LAW_BINS - 1]++;
        }
    }
    plain_close(&host);
}

/* A fit, and the power of it: a law whose width differs by `off` does not fit the same numbers. */
static void law_fits(const int64_t *counts, const struct law_tail *right, const struct law_tail *wrong,
                     int wide, const char *what, double sums)
{
    double p[LAW_BINS];
    law_bins(right, wide, p);
    const double z = goodness_chi_square(counts, p, LAW_BINS);
    print_message("%s, %g sums: z = %.3f, p-value %.3f\n", what, sums, z, 0.5 * erfc(z / sqrt(2)));
    goodness_assert(z, what, sums);
    law_bins(wrong, wide, p);
    assert_true(goodness_chi_square(counts, p, LAW_BINS) > GOODNESS_LIMIT);
}

/* 2 t m, in squared steps: the variance of the sum, of which the event tells. */
static double law_skellam_x(const dpf_event *event, const dpf_noise_plan *plan)
{
    return event->p.skellam.variance / (plan->grid[0] * plan->grid[0]);
}

static int law_skellam_wide(const dpf_event *event, const dpf_noise_plan *plan)
{
    return (int)(sqrt(law_skellam_x(event, plan)) / 16) * 2 + 1;
}

static int law_laplace_wide(const dpf_event *event, const dpf_noise_plan *plan)
{
    return (int)(event->scale / plan->grid[0] / 8) * 2 + 1;
}

void law_check_skellam(int parties, int64_t sums)
{
    static struct law_tail right, wrong;
    int64_t counts[LAW_BINS] = {0};
    dpf_event event;
    dpf_noise_plan plan;
    /* The fewest steps that the plan may choose, where the law differs most from a normal one. */
    law_count(plain_component("skellam", DPF_ROLE_MECHANISM, "skellam"), "noise-multiplier=3", parties, sums,
              law_skellam_wide, counts, &event, &plan);
    const double x = law_skellam_x(&event, &plan);
    law_of_skellam(&right, x);
    law_of_skellam(&wrong, x * (1 + 20 / sqrt((double)sums)));
    law_fits(counts, &right, &wrong, law_skellam_wide(&event, &plan), "Skellam shares", (double)sums);
}

void law_check_laplace(int parties, int64_t sums)
{
    static struct law_tail right, wrong;
    int64_t counts[LAW_BINS] = {0};
    dpf_event event;
    dpf_noise_plan plan;
    law_count(plain_component("laplace-gamma", DPF_ROLE_MECHANISM, "laplace-gamma"), "epsilon=2", parties,
              sums, law_laplace_wide, counts, &event, &plan);
    const double scale = event.scale / plan.grid[0];
    law_of_discrete_laplace(&right, scale);
    law_of_discrete_laplace(&wrong, scale * (1 + 20 / sqrt((double)sums)));
    law_fits(counts, &right, &wrong, law_laplace_wide(&event, &plan), "gamma shares", (double)sums);
}

int law_start(void **state)
{
    (void)state;
    plain_random_start(20261128);
    return 0;
}
