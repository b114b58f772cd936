/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Poisson binomial mechanism's Renyi divergences against their definition: the law of the sum is built
 * trial by trial in long double, and the largest divergence is sought over where clients stand. No formula
 * of the accountant is used.
 */
#include "pbm_case.h"

#define MOST 1200

/* Masses of 0 .. n successes. */
struct law {
    long double p[MOST + 1];
    int n;
};

static void add_trials(struct law *law, int trials, long double p)
{
    for (int t = 0; t < trials; t++) {
        law->p[law->n + 1] = 0;
        for (int k = law->n + 1; k > 0; k--)
            law->p[k] = law->p[k] * (1 - p) + law->p[k - 1] * p;
        law->p[0] *= 1 - p;
        law->n++;
    }
}

static long double power_sum(const struct law *p, const struct law *q, long double a)
{
    long double top = -INFINITY, sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k <= p->n; k++) {
            const long double term = a * logl(p->p[k]) + (1 - a) * logl(q->p[k]);
            if (pass == 0)
                top = fmaxl(top, term);
            else
                sum += expl(term - top);
        }
    /* cppcheck-suppress invalidFunctionArg ; the largest term is exp(0), so sum is at least 1 */
    return top + logl(sum);
}

/* The client at x against y, both in [-1, 1], beside `high` trials at 1 and `low` at -1: the worse direction.
 */
static double divergence(double theta, int trials, double x, double y, int high, int low, double a)
{
    static struct law p, q;
    p.n = 0;
    p.p[0] = 1;
    add_trials(&p, high, 0.5L + (long double)theta);
    add_trials(&p, low, 0.5L - (long double)theta);
    q = p;
    add_trials(&p, trials, 0.5L + (long double)(theta * x));
    add_trials(&q, trials, 0.5L + (long double)(theta * y));
    const long double forward = power_sum(&p, &q, (long double)a),
                      backward = power_sum(&q, &p, (long double)a);
    return (double)(fmaxl(forward, backward) / ((long double)a - 1));
}

static double ask(const dpf_event *events, int64_t n, int32_t adjacency, const char *settings,
                  const char *orders, double delta)
{
    struct case_accountant accountant;
    dpf_question question = case_question(delta);
    dpf_answer answer = {.size = sizeof answer};
    question.adjacency = adjacency;
    case_open(&accountant, "rdp", settings, orders);
    if (accountant.functions->epsilon(accountant.host.self, events, n, &question, &answer) != DPF_OK)
        fail_msg("epsilon: %s", accountant.host.report);
    case_close(&accountant);
    return answer.epsilon;
}

/* See case_divergence. */
static double ours(double theta, int trials, int clients, int32_t adjacency, double a)
{
    char order[32];
    const dpf_event event = pbm_event(theta, trials, clients, 1);
    snprintf(order, sizeof order, "%.17g", a);
    return ask(&event, 1, adjacency, "conversion=classic; refine=no", order, 1.0 - 0x1p-53);
}

static double worst(double theta, int trials, int clients, int zero_out, double a)
{
    const int others = trials * (clients - 1);
    double most = 0;
    for (int high = 0; high <= others; high++) {
        const double d = divergence(theta, trials, 1, zero_out ? 0 : -1, high, others - high, a);
        most = d > most ? d : most;
    }
    return most;
}

struct setting {
    double theta;
    int trials, clients;
};

TEST(divergences_are_the_worst_over_all_mixes)
{
    static const struct setting settings[] = {{0.25, 1, 1}, {0.25, 1, 2},  {0.1, 3, 5},   {0.01, 1, 40},
                                              {0.2, 7, 3},  {0.25, 2, 30}, {0.25, 16, 1}, {0.05, 1, 60}};
    static const double orders[] = {1.25, 2, 4.5, 16, 64};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (size_t j = 0; j < sizeof orders / sizeof *orders; j++)
            for (int zero_out = 0; zero_out < 2; zero_out++) {
                const struct setting *s = &settings[i];
                const double exact = worst(s->theta, s->trials, s->clients, zero_out, orders[j]);
                const double got = ours(s->theta, s->trials, s->clients,
                                        zero_out ? DPF_ADJ_ZERO_OUT : DPF_ADJ_REPLACE, orders[j]);
                if (!(got >= exact * (1 - 1e-12) && got <= exact * (1 + 1e-9) + 1e-11))
                    fail_msg("theta %g q %d n %d order %g: %.15g, exact %.15g", s->theta, s->trials,
                             s->clients, orders[j], got, exact);
            }
}

/* What the accountant's proof says and its sums do not try: clients that stand between the ends. */
TEST(clients_between_the_ends_are_covered)
{
    const double theta = 0.25, a = 3;
    for (int trials = 1; trials <= 3; trials++) {
        const double most = ours(theta, trials, 3, DPF_ADJ_REPLACE, a);
        const double zero = ours(theta, trials, 3, DPF_ADJ_ZERO_OUT, a);
        for (double x = -1; x <= 1; x += 0.25)
            for (double y = -1; y <= 1; y += 0.25) {
                static struct law p, q;
                p.n = 0;
                p.p[0] = 1;
                add_trials(&p, trials, 0.5L + (long double)theta * 0.3L);
                add_trials(&p, trials, 0.5L - (long double)(theta * x));
                q = p;
                add_trials(&p, trials, 0.5L + (long double)(theta * x));
                add_trials(&q, trials, 0.5L + (long double)(theta * y));
                const double d = (double)(power_sum(&p, &q, (long double)a) / ((long double)a - 1));
                assert_true(d <= most * (1 + 1e-12));
                if (x == 0 || y == 0)
                    assert_true(d <= zero * (1 + 1e-12));
            }
    }
}

/* Large cohorts go by blocks of mixes: a bound, and a close one. */
TEST(many_clients_are_bounded_closely)
{
    static const struct setting settings[] = {{0.25, 1, 700}, {0.1, 4, 200}};
    static const double orders[] = {2, 4, 16};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (size_t j = 0; j < sizeof orders / sizeof *orders; j++) {
            const struct setting *s = &settings[i];
            const int others = s->trials * (s->clients - 1);
            double exact = 0;
            for (int high = 0; high <= others; high += others / 3)
                exact = fmax(exact, divergence(s->theta, s->trials, 1, -1, high, others - high, orders[j]));
            const double got = ours(s->theta, s->trials, s->clients, DPF_ADJ_REPLACE, orders[j]);
            assert_true(got >= exact);
            assert_true(got <= exact * 1.02);
        }
}

/* Computed apart, as in the comment, to ten digits; the last two rows for comparison with 8 a q theta^2 /
   (n (1 - 4 theta^2)), the limit for many clients. */
TEST(known_values)
{
    static const struct {
        struct setting s;
        double at[3];
    } rows[] = {
        {{0.25, 1, 10}, {0.1628012227, 0.3730614693, 0.9068573723}},
        {{0.1, 2, 50}, {0.006693803709, 0.01344538021, 0.05512177947}},
        {{0.25, 1, 100}, {0.01360678595, 0.02772740724, 0.1259808836}},
        {{0.05, 4, 100}, {0.001616885573, 0.003235477357, 0.01298161841}},
    };
    static const double orders[] = {2, 4, 16};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < 3; j++) {
            const struct setting *s = &rows[i].s;
            const double got = ours(s->theta, s->trials, s->clients, DPF_ADJ_REPLACE, orders[j]);
            assert_true(fabs(got / rows[i].at[j] - 1) < 1e-8);
        }
    for (int i = 0; i < 2; i++) {
        const double n = i == 0 ? 1e5 : 1e6, theta = 0.25;
        const double limit = 8 * 2 * theta * theta / (n * (1 - 4 * theta * theta));
        const double got = ours(theta, 1, (int)n, DPF_ADJ_REPLACE, 2);
        assert_true(got > limit * 0.99);
        assert_true(got < limit * 1.05);
    }
}

TEST(releases_compose)
{
    dpf_event events[3] = {pbm_event(0.1, 1, 50, 10), pbm_event(0.1, 1, 50, 10), pbm_event(0.05, 2, 50, 3)};
    dpf_event one = pbm_event(0.1, 1, 50, 1);
    const double apart = ask(events, 2, DPF_ADJ_REPLACE, "", NULL, 1e-5);
    events[0].count = 2;
    assert_true(fabs(ask(events, 1, DPF_ADJ_REPLACE, "", NULL, 1e-5) / apart - 1) < 1e-9);
    one.count = 20;
    assert_true(fabs(ask(&one, 1, DPF_ADJ_REPLACE, "", NULL, 1e-5) / apart - 1) < 1e-9);
    assert_true(ask(events, 3, DPF_ADJ_REPLACE, "", NULL, 1e-5) > apart);
    assert_true(ask(events, 1, DPF_ADJ_ZERO_OUT, "", NULL, 1e-5) < apart);
    /* A secret draw is not counted: the number of clients shows. */
    const dpf_event sampled = case_sampled(events[0], 0.1);
    assert_true(ask(&sampled, 1, DPF_ADJ_ZERO_OUT, "", NULL, 1e-5) ==
                ask(events, 1, DPF_ADJ_ZERO_OUT, "", NULL, 1e-5));
}

/* More clients, less theta, fewer trials: less epsilon. Across the sizes at which the method changes, too. */
TEST(epsilon_is_monotone)
{
    static const int clients[] = {10, 100, 400, 2000, 15000, 30000, 200000};
    double before = INFINITY;
    for (size_t i = 0; i < sizeof clients / sizeof *clients; i++) {
        const dpf_event event = pbm_event(0.1, 1, clients[i], 1000);
        const double epsilon = ask(&event, 1, DPF_ADJ_REPLACE, "", NULL, 1e-6);
        assert_true(epsilon < before);
        assert_true(epsilon > 0);
        before = epsilon;
    }
    const dpf_event less = pbm_event(0.05, 1, 100, 1000), more = pbm_event(0.1, 1, 100, 1000);
    const dpf_event most = pbm_event(0.1, 2, 100, 1000);
    const double at = ask(&more, 1, DPF_ADJ_REPLACE, "", NULL, 1e-6);
    assert_true(ask(&less, 1, DPF_ADJ_REPLACE, "", NULL, 1e-6) < at);
    assert_true(ask(&most, 1, DPF_ADJ_REPLACE, "", NULL, 1e-6) > at);
}

TEST(what_is_not_proved_is_refused)
{
    pbm_unproved_is_refused("rdp");
}
