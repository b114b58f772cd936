/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The curve of Skellam noise against its definition: sums of the masses e^-V I_x(V), which are made by adding
 * Poisson masses in long double. No formula of the accountant is used.
 */
#include "kit/accounting_case.h"

#define REACH 600

static long double log_mass[2 * REACH + 1]; /* at -REACH .. REACH */

/* ln of e^-V I_x(V), by the series of I, its terms relative to the first. */
static void fill_masses(double variance)
{
    const long double half = variance / 2.0L;
    for (int x = 0; x <= REACH; x++) {
        long double term = 1, sum = 0;
        for (int k = 1; term > sum * 1e-22L; k++) {
            sum += term;
            term *= half * half / ((long double)k * (k + x));
        }
        log_mass[REACH + x] = log_mass[REACH - x] =
            /* cppcheck-suppress invalidFunctionArg ; the first term of sum is 1 */
            x * logl(half) - lgammal((long double)(x + 1)) + logl(sum) - variance;
    }
}

/* (order - 1) times the divergence of a shift by that many steps. */
static long double moment(int shift, double order)
{
    long double top = -INFINITY, sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int x = -REACH + shift; x <= REACH; x++) {
            const long double p = log_mass[REACH + x - shift], q = log_mass[REACH + x];
            const long double term = (long double)order * p + (1 - (long double)order) * q;
            if (pass == 0)
                top = fmaxl(top, term);
            else
                sum += expl(term - top);
        }
    /* cppcheck-suppress invalidFunctionArg ; the largest term is exp(0), so sum is at least 1 */
    return top + logl(sum);
}

/* Grid 1/4, so that units are seen to cancel. */
static dpf_event skellam(double variance, double l1, double l2)
{
    dpf_event event = case_event(DPF_EVENT_SKELLAM, sqrt(variance) / 4, 1.0);
    event.grid = 0.25;
    event.p.skellam.variance = variance / 16;
    for (int unit = 0; unit < DPF_N_UNITS; unit++)
        for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
            event.sensitivity.at[unit][adjacency] = (dpf_norms){l1 / 4, l2 / 4, l2 / 4};
    return event;
}

static double ours(double variance, double l1, double l2, double order)
{
    const dpf_event event = skellam(variance, l1, l2);
    return case_divergence(&event, 1, order);
}

TEST(divergences_are_bounded_closely)
{
    static const double variances[] = {4, 25, 100, 1000};
    static const double orders[] = {1.5, 2, 2.5, 3, 8, 16, 31.75};
    for (size_t v = 0; v < sizeof variances / sizeof *variances; v++) {
        fill_masses(variances[v]);
        for (int shift = 1; shift <= 4; shift++)
            for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
                const double a = orders[i], exact = (double)(moment(shift, a) / ((long double)a - 1));
                const double got = ours(variances[v], shift, shift, a);
                const double gaussian = a * shift * shift / (2 * variances[v]);
                if (!(got >= exact * (1 - 1e-12)))
                    fail_msg("variance %g shift %d order %g: %.15g, exact %.15g", variances[v], shift, a, got,
                             exact);
                /* The bound exceeds the Gaussian term by the paper's second term at most, at the next
                 * integer. */
                const double up = ceil(a);
                assert_true(got <= up / a * gaussian + 1.5 * shift / variances[v] * (1 + 1e-10));
            }
    }
}

/* Over coordinates divergences add; the bound for the norms of all holds for every way to share them. */
TEST(several_coordinates_are_covered)
{
    static const int shifts[][4] = {{1, 0, 0, 0}, {1, 1, 0, 0}, {2, 1, 0, 0}, {3, 0, 0, 0},
                                    {1, 1, 1, 1}, {2, 2, 1, 0}, {3, 2, 1, 1}};
    fill_masses(50);
    for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++)
        for (double a = 2; a <= 32; a *= 2) {
            long double exact = 0;
            double l1 = 0, squares = 0;
            for (int i = 0; i < 4; i++) {
                exact += moment(shifts[s][i], a) / ((long double)a - 1);
                l1 += shifts[s][i];
                squares += shifts[s][i] * shifts[s][i];
            }
            assert_true(ours(50, l1, sqrt(squares), a) >= (double)exact * (1 - 1e-12));
        }
}

/* The formula itself, worked out by hand: V = 1000, L1 = 9, L2^2 = 5, a = 10: .025 + min(149/4e6, .0135). */
TEST(known_values)
{
    assert_true(fabs(ours(1000, 9, sqrt(5), 10) / (0.025 + 149 / 4e6) - 1) < 1e-11);
    /* V = 1, L1 = 1, L2 = 1, a = 9: 4.5 + min(23/4, 1.5) */
    assert_true(fabs(ours(1, 1, 1, 9) / 6.0 - 1) < 1e-11);
}

TEST(epsilon_is_that_of_gaussian_noise_on_a_fine_grid)
{
    struct case_accountant rdp;
    case_open(&rdp, "rdp", "", NULL);
    const dpf_event fine = skellam(0x1p40, 0x1p24, 0x1p20), gaussian = case_event(DPF_EVENT_GAUSSIAN, 1, 1);
    const double epsilon = case_epsilon(&rdp, &fine, 1, 1e-6), limit = case_epsilon(&rdp, &gaussian, 1, 1e-6);
    assert_true(epsilon >= limit * (1 - 1e-12));
    assert_true(epsilon < limit * 1.002);
    const dpf_event coarse = skellam(64, 8, 8);
    assert_true(case_epsilon(&rdp, &coarse, 1, 1e-6) > limit);
    case_close(&rdp);
}

static double integer_moment(int shift, double rate, int order)
{
    long double sum = 0;
    for (int x = -REACH + shift; x <= REACH; x++) {
        const long double p = expl(log_mass[REACH + x - shift]), q = expl(log_mass[REACH + x]);
        if (q > 0)
            sum += q * powl(1 - (long double)rate + (long double)rate * p / q, order);
    }
    /* cppcheck-suppress invalidFunctionArg ; the masses add up to about 1 */
    return (double)(logl(sum) / (order - 1));
}

TEST(sampling_amplifies)
{
    fill_masses(25);
    for (int order = 2; order <= 16; order *= 2)
        for (double rate = 0.01; rate < 1; rate *= 4) {
            const dpf_event event = case_sampled(skellam(25, 2, 2), rate);
            const double got = case_divergence(&event, 1, order), exact = integer_moment(2, rate, order);
            assert_true(got >= exact * (1 - 1e-10));
            assert_true(got < exact * 1.5);
        }
}
