/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Poisson binomial mechanism's privacy losses against their definition: laws are built trial by trial in
 * long double, and the largest hockey-stick divergence is sought over where clients stand.
 */
#include "pbm_case.h"

#define MOST 800

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

/* The client at the upper end, and at the other one (or in the middle), beside `high` trials at the upper end
   and `low` at the lower one. */
static void make_pair(double theta, int trials, int zero_out, int high, int low, struct law *p, struct law *q)
{
    p->n = 0;
    p->p[0] = 1;
    add_trials(p, high, 0.5L + (long double)theta);
    add_trials(p, low, 0.5L - (long double)theta);
    *q = *p;
    add_trials(p, trials, 0.5L + (long double)theta);
    add_trials(q, trials, zero_out ? 0.5L : 0.5L - (long double)theta);
}

static double hockey_stick(const struct law *p, const struct law *q, double epsilon)
{
    const long double y = expl(epsilon);
    long double forward = 0, backward = 0;
    for (int k = 0; k <= p->n; k++) {
        forward += fmaxl(p->p[k] - y * q->p[k], 0);
        backward += fmaxl(q->p[k] - y * p->p[k], 0);
    }
    return (double)fmaxl(forward, backward);
}

static double worst(double theta, int trials, int clients, int zero_out, double epsilon, int step)
{
    static struct law p, q;
    const int others = trials * (clients - 1);
    double most = 0;
    for (int high = 0; high <= others; high += step) {
        make_pair(theta, trials, zero_out, high, others - high, &p, &q);
        most = fmax(most, hockey_stick(&p, &q, epsilon));
    }
    return most;
}

static dpf_answer ask(const char *accountant_id, const dpf_event *events, int64_t n, int32_t adjacency,
                      double delta, double epsilon)
{
    struct case_accountant accountant;
    dpf_question question = case_question(delta);
    dpf_answer answer = {.size = sizeof answer};
    question.adjacency = adjacency;
    question.epsilon = epsilon;
    case_open(&accountant, accountant_id, "", NULL);
    const dpf_status status = (isnan(epsilon) ? accountant.functions->epsilon : accountant.functions->delta)(
        accountant.host.self, events, n, &question, &answer);
    if (status != DPF_OK)
        fail_msg("%s: %s", accountant_id, accountant.host.report);
    case_close(&accountant);
    return answer;
}

static double delta_of(const dpf_event *events, int64_t n, int32_t adjacency, double epsilon)
{
    return ask("pld", events, n, adjacency, 0.0, epsilon).delta;
}

struct setting {
    double theta;
    int trials, clients;
};

TEST(one_coordinate_is_the_worst_over_all_mixes)
{
    static const struct setting settings[] = {{0.25, 1, 1},  {0.25, 1, 2},  {0.1, 3, 5},
                                              {0.25, 1, 10}, {0.2, 7, 3},   {0.01, 1, 40},
                                              {0.25, 16, 1}, {0.05, 1, 60}, {0.25, 2, 30}};
    static const double epsilons[] = {0, 0.01, 0.1, 0.3, 1};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (size_t j = 0; j < sizeof epsilons / sizeof *epsilons; j++)
            for (int zero_out = 0; zero_out < 2; zero_out++) {
                const struct setting *s = &settings[i];
                const dpf_event event = pbm_event(s->theta, s->trials, s->clients, 1);
                const double exact = worst(s->theta, s->trials, s->clients, zero_out, epsilons[j], 1);
                const double got =
                    delta_of(&event, 1, zero_out ? DPF_ADJ_ZERO_OUT : DPF_ADJ_REPLACE, epsilons[j]);
                if (!(got >= exact * (1 - 1e-12) && got <= exact * (1 + 1e-4) + 1e-7))
                    fail_msg("theta %g q %d n %d epsilon %g: %.15g, exact %.15g", s->theta, s->trials,
                             s->clients, epsilons[j], got, exact);
            }
}

/* The worst mix is not the extreme one, and which one it is depends on epsilon. */
TEST(no_single_mix_is_the_worst)
{
    static struct law p, q;
    const dpf_event event = pbm_event(0.25, 1, 10, 1);
    make_pair(0.25, 1, 0, 0, 9, &p, &q);
    assert_true(fabs(hockey_stick(&p, &q, 0.1) - 0.1107) < 1e-4);
    make_pair(0.25, 1, 0, 1, 8, &p, &q);
    assert_true(fabs(hockey_stick(&p, &q, 0.1) - 0.1142) < 1e-4);
    assert_true(delta_of(&event, 1, DPF_ADJ_REPLACE, 0.1) >= hockey_stick(&p, &q, 0.1));
}

/* Of two coordinates, each with clients of its own choice. */
static double worst_of_two(double theta, int clients, double epsilon)
{
    static struct law p[2], q[2];
    const int others = clients - 1;
    double most = 0;
    for (int first = 0; first <= others; first++)
        for (int second = 0; second <= others; second++)
            for (int backward = 0; backward < 2; backward++) {
                long double sum = 0;
                make_pair(theta, 1, 0, first, others - first, &p[0], &q[0]);
                make_pair(theta, 1, 0, second, others - second, &p[1], &q[1]);
                const struct law *up = backward ? q : p, *down = backward ? p : q;
                for (int i = 0; i <= clients; i++)
                    for (int j = 0; j <= clients; j++)
                        sum +=
                            fmaxl(up[0].p[i] * up[1].p[j] - expl(epsilon) * down[0].p[i] * down[1].p[j], 0);
                most = fmax(most, (double)sum);
            }
    return most;
}

TEST(two_coordinates_are_bounded_for_any_two_mixes)
{
    for (double epsilon = 0; epsilon < 1.5; epsilon += 0.25) {
        const dpf_event event = pbm_event(0.25, 1, 6, 2);
        const double exact = worst_of_two(0.25, 6, epsilon);
        const double got = delta_of(&event, 1, DPF_ADJ_REPLACE, epsilon);
        /* Every coordinate may have the mix that is worst for its own epsilon: that is given away. */
        assert_true(got >= exact * (1 - 1e-12));
        assert_true(got <= exact * 1.2 + 1e-6);
    }
}

TEST(bounds_come_in_order)
{
    static const struct {
        struct setting s;
        double coordinates;
    } cases[] = {{{0.25, 1, 100}, 50}, {{0.05, 1, 94}, 14336}, {{0.01, 4, 50}, 286720}, {{0.25, 16, 20}, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int zero_out = 0; zero_out < 2; zero_out++) {
            const struct setting *s = &cases[i].s;
            const int32_t adjacency = zero_out ? DPF_ADJ_ZERO_OUT : DPF_ADJ_REPLACE;
            const dpf_event event = pbm_event(s->theta, s->trials, s->clients, cases[i].coordinates);
            const dpf_answer pld = ask("pld", &event, 1, adjacency, 1e-5, NAN);
            const dpf_answer rdp = ask("rdp", &event, 1, adjacency, 1e-5, NAN);
            if (!(pld.epsilon_lower <= pld.epsilon && pld.epsilon <= rdp.epsilon * (1 + 1e-6)))
                fail_msg("case %d: %.9g, %.9g, rdp %.9g", (int)i, pld.epsilon_lower, pld.epsilon,
                         rdp.epsilon);
            assert_true(pld.epsilon_lower > 0.8 * pld.epsilon);
        }
}

TEST(many_clients_are_bounded)
{
    static const struct setting settings[] = {{0.25, 1, 700}, {0.1, 4, 180}};
    double before = INFINITY;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct setting *s = &settings[i];
        const dpf_event event = pbm_event(s->theta, s->trials, s->clients, 1);
        const double got = delta_of(&event, 1, DPF_ADJ_REPLACE, 0.01);
        const double exact = worst(s->theta, s->trials, s->clients, 0, 0.01, 120);
        assert_true(got >= exact);
        assert_true(got <= exact * 1.05);
    }
    for (int clients = 300; clients <= 30000; clients *= 10) {
        const dpf_event event = pbm_event(0.1, 1, clients, 1000);
        const dpf_answer answer = ask("pld", &event, 1, DPF_ADJ_REPLACE, 1e-6, NAN);
        assert_true(answer.epsilon < before);
        assert_true(answer.epsilon > 0);
        assert_true(answer.epsilon <= ask("rdp", &event, 1, DPF_ADJ_REPLACE, 1e-6, NAN).epsilon);
        before = answer.epsilon;
    }
}

TEST(releases_compose)
{
    dpf_event events[4] = {pbm_event(0.1, 1, 50, 10), pbm_event(0.1, 1, 50, 10), pbm_event(0.05, 2, 50, 3),
                           case_event(DPF_EVENT_GAUSSIAN, 5, 1)};
    dpf_event one = pbm_event(0.1, 1, 50, 1);
    const double apart = ask("pld", events, 2, DPF_ADJ_REPLACE, 1e-5, NAN).epsilon;
    one.count = 20;
    assert_true(fabs(ask("pld", &one, 1, DPF_ADJ_REPLACE, 1e-5, NAN).epsilon / apart - 1) < 1e-6);
    const double three = ask("pld", events, 3, DPF_ADJ_REPLACE, 1e-5, NAN).epsilon;
    const double four = ask("pld", events, 4, DPF_ADJ_REPLACE, 1e-5, NAN).epsilon;
    assert_true(three > apart);
    assert_true(four > three);
    assert_true(four < ask("rdp", events, 4, DPF_ADJ_REPLACE, 1e-5, NAN).epsilon);
    const dpf_event sampled = case_sampled(events[0], 0.1); /* a secret draw is not counted */
    assert_true(ask("pld", &sampled, 1, DPF_ADJ_ZERO_OUT, 1e-5, NAN).epsilon ==
                ask("pld", events, 1, DPF_ADJ_ZERO_OUT, 1e-5, NAN).epsilon);
}

TEST(what_is_not_proved_is_refused)
{
    pbm_unproved_is_refused("pld");
}

TEST(memory_failures_are_reported)
{
    struct case_accountant accountant;
    const dpf_event events[2] = {pbm_event(0.25, 1, 3, 2), case_event(DPF_EVENT_ZCDP, 1, 1)};
    dpf_question question = case_question(1e-5);
    question.adjacency = DPF_ADJ_REPLACE;
    case_open(&accountant, "pld", "", NULL);
    dpf_event both[2] = {events[0], events[1]};
    both[1].p.zcdp.rho = 0.1;
    int failures = 0;
    for (int after = 0; after < 60; after++) {
        dpf_answer answer = {.size = sizeof answer};
        accountant.host.fail_after = after;
        const dpf_status status =
            accountant.functions->epsilon(accountant.host.self, both, 2, &question, &answer);
        accountant.host.fail_after = -1;
        assert_true(status == DPF_E_MEMORY || status == DPF_OK);
        failures += status == DPF_E_MEMORY;
        plain_clear(&accountant.host);
    }
    assert_true(failures > 30);
    case_close(&accountant);
}
