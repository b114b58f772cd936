/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accountants against each other, without a table: a bound from below, privacy-loss distributions, Renyi with
 * the improved and with the classic conversion must come in this order for every kind of event; and against
 * exact values of small cases, computed here by enumeration. What holds of each by itself is in
 * test_golden_laws.c.
 */
#include "kit/accounting_case.h"

struct sample {
    const char *event;
    int pure;         /* the pure accountant serves it */
    int concentrated; /* zCDP amplifies it as well */
};

static const struct sample samples[] = {
    {"laplace scale=3", 1, 1},
    {"laplace scale=3 q=.2", 1, 1},
    {"discrete-laplace scale=3 grid=.5", 1, 1},
    {"discrete-laplace scale=3 grid=.5 q=.1", 1, 1},
    {"gaussian scale=4", 0, 1},
    {"gaussian scale=2 q=.05", 0, 0},
    {"discrete-gaussian scale=4 grid=1", 0, 1},
    {"discrete-gaussian scale=4 grid=.01", 0, 1},
    {"discrete-gaussian scale=4 grid=.01 q=.3", 0, 0},
    {"pure p0=.3", 1, 1},
    {"pure p0=.3 q=.4", 1, 1},
    {"approx p0=.2 p1=1e-9", 0, 1},
    {"randomized-response p0=.4", 1, 1},
    {"randomized-response p0=.4 q=.5", 1, 1},
    {"zcdp p1=.02", 0, 1},
    {"zcdp p0=.01 p1=.02", 0, 1},
    {"skellam p0=16 grid=.25", 0, 1},
    {"skellam p0=16 grid=.00390625", 0, 1},
    {"skellam p0=16 grid=.00390625 q=.2", 0, 0},
    {"no-op", 1, 1},
};
#define N_SAMPLES (sizeof samples / sizeof *samples)
#define DELTA 1e-5

static struct case_accountant pld, rdp, classic, pure, zcdp;

static int open_all(void **state)
{
    (void)state;
    case_open(&pld, "pld", "", NULL);
    case_open(&rdp, "rdp", "", NULL);
    case_open(&classic, "rdp", "conversion=classic", NULL);
    case_open(&pure, "pure", "", NULL);
    case_open(&zcdp, "zcdp", "", NULL);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    case_close(&pld);
    case_close(&rdp);
    case_close(&classic);
    case_close(&pure);
    case_close(&zcdp);
    return 0;
}

static dpf_event sample_event(size_t i)
{
    char text[128];
    dpf_event event;
    snprintf(text, sizeof text, "%s", samples[i].event);
    assert_int_equal(case_parse(text, &event), 1);
    return event;
}

/* Nothing is known of them from below. */
static int from_above_only(const dpf_event *event)
{
    return event->kind == DPF_EVENT_ZCDP || event->kind == DPF_EVENT_SKELLAM;
}

static double lower_epsilon(const dpf_event *events, int64_t n, double delta)
{
    const dpf_question question = case_question(delta);
    dpf_answer answer = {.size = sizeof answer};
    assert_int_equal(pld.functions->epsilon(pld.host.self, events, n, &question, &answer), DPF_OK);
    return answer.epsilon_lower;
}

/* x <= y, but for what rounding and the grid explain. */
static void at_most(double x, double y, double tolerance, const char *what)
{
    if (!(x <= y * (1.0 + tolerance) + tolerance))
        fail_msg("%s: %.12g is above %.12g", what, x, y);
}

static void near(double x, double y, double tolerance, const char *what)
{
    at_most(x, y, tolerance, what);
    at_most(y, x, tolerance, what);
}

TEST(bounds_come_in_order)
{
    static const int64_t counts[] = {1, 17, 300};
    for (size_t i = 0; i < N_SAMPLES; i++) {
        for (size_t j = 0; j < 3; j++) {
            dpf_event event = sample_event(i);
            const char *name = samples[i].event;
            event.count = counts[j];
            const double upper = case_epsilon(&pld, &event, 1, DELTA);
            const double renyi = case_epsilon(&rdp, &event, 1, DELTA);
            at_most(lower_epsilon(&event, 1, DELTA), upper, 0.0, name);
            if (event.kind == DPF_EVENT_ZCDP) /* pld starts from its bound of the divergence */
                near(upper, case_epsilon(&zcdp, &event, 1, DELTA), 1e-4, name);
            else
                at_most(upper, renyi, 1e-5, name);
            at_most(renyi, case_epsilon(&classic, &event, 1, DELTA), 1e-9, name);
            if (samples[i].concentrated) /* a Renyi curve is never above its concentrated line */
                at_most(renyi, case_epsilon(&zcdp, &event, 1, DELTA), 1e-6, name);
            if (samples[i].pure)
                at_most(upper, case_epsilon(&pure, &event, 1, 0.0), 1e-9, name);
            at_most(case_delta(&pld, &event, 1, 0.7),
                    case_delta(event.kind == DPF_EVENT_ZCDP ? &zcdp : &rdp, &event, 1, 0.7), 1e-4, name);
        }
    }
}

/* From above and from below they meet: nothing is given away that a finer grid would not bring back. */
TEST(bounds_from_both_sides_meet)
{
    for (size_t i = 0; i < N_SAMPLES; i++) {
        dpf_event event = sample_event(i);
        if ((event.kind == DPF_EVENT_DISCRETE_GAUSSIAN && event.grid == 1.0) || from_above_only(&event))
            continue; /* two steps of noise go to the other bound */
        event.count = 100;
        const double upper = case_epsilon(&pld, &event, 1, DELTA), lower = lower_epsilon(&event, 1, DELTA);
        at_most(upper, lower, 0.02, samples[i].event);
    }
}

TEST(delta_and_epsilon_are_inverse)
{
    struct case_accountant *const accountants[] = {&pld, &zcdp};
    for (size_t i = 0; i < 2 * N_SAMPLES; i++) {
        struct case_accountant *accountant = accountants[i % 2];
        dpf_event event = sample_event(i / 2);
        event.count = 30;
        const double epsilon = case_epsilon(accountant, &event, 1, DELTA);
        const double delta = case_delta(accountant, &event, 1, epsilon);
        if (epsilon > 0.0)
            near(delta / DELTA, 1.0, 2e-3, samples[i / 2].event);
    }
}

TEST(small_deltas_keep_their_digits)
{
    static const double deltas[] = {1e-30, 1e-100, 1e-200};
    for (size_t i = 0; i < 3; i++) {
        /* delta(e) of a Gaussian of multiplier 1: Phi(1/2 - e) - e^e Phi(-1/2 - e), in logarithms. */
        const dpf_event event = case_event(DPF_EVENT_GAUSSIAN, 1.0, 1.0);
        const double epsilon = case_epsilon(&pld, &event, 1, deltas[i]);
        const double a = 0.5 * erfc((epsilon - 0.5) / sqrt(2.0)), b = 0.5 * erfc((epsilon + 0.5) / sqrt(2.0));
        near((a - exp(epsilon) * b) / deltas[i], 1.0, 1e-2, "small delta");
    }
}

/* ---- exact values ------------------------------------------------------------------------------- */

/* delta of n bits, each flipped with probability f, all of them moved: by the binomial sum. */
static double response_delta(int n, double flip, double epsilon)
{
    const double step = log((1.0 - flip) / flip);
    double sum = 0.0;
    for (int k = 0; k <= n; k++) {
        const double log_p = lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(flip) +
                             (n - k) * log(1.0 - flip);
        const double loss = step * (n - 2 * k);
        if (loss > epsilon)
            sum += exp(log_p) * -expm1(epsilon - loss);
    }
    return sum;
}

/* Deltas down to the least numbers: a bound from above must not become 0 where the guess of a tilt was bad.
 */
TEST(gaussian_deltas_are_bounded_at_every_epsilon)
{
    for (double z = 0.3; z < 3.0; z *= 1.5)
        for (double epsilon = 5.0; epsilon < 200.0; epsilon *= 1.35) {
            const dpf_event event = case_event(DPF_EVENT_GAUSSIAN, z, 1.0);
            const double delta = case_delta(&pld, &event, 1, epsilon), root = sqrt(2.0);
            const double exact = 0.5 * erfc((epsilon * z - 0.5 / z) / root) -
                                 exp(epsilon) * 0.5 * erfc((epsilon * z + 0.5 / z) / root);
            assert_true(delta > 0.0);
            const double least = exact * (1.0 - 1e-9) - exp(epsilon) * 0x1p-1074; /* where erfc vanishes */
            if (!(delta >= least && delta <= exact * 1.01 + 1e-260))
                fail_msg("z %g epsilon %g: %g, exact %g", z, epsilon, delta, exact);
        }
}

TEST(responses_are_exact)
{
    for (int n = 1; n <= 100; n = n * 4 + 1) {
        dpf_event event = case_event(DPF_EVENT_RANDOMIZED_RESPONSE, 1.0, 1.0);
        event.p.response.flip = 0.4;
        event.count = n;
        for (double epsilon = 0.0; epsilon < 3.0; epsilon += 0.55) {
            const double exact = response_delta(n, 0.4, epsilon),
                         upper = case_delta(&pld, &event, 1, epsilon);
            at_most(exact, upper, 0.0, "response");
            at_most(upper, exact, 1e-5, "response");
        }
    }
}

/* Discrete noise against a shift, from its definition; two coordinates have the shifts m and k. */
static double brute_delta(int gaussian, double scale, int m, int k, double epsilon)
{
    const int reach = 80; /* e^-32 is left */
    double norm = 0.0, sum = 0.0;
    for (int x = -reach; x <= reach; x++)
        norm += exp(gaussian ? -x * x / (2.0 * scale * scale) : -abs(x) / scale);
    for (int x = -reach; x <= reach; x++) {
        for (int y = -reach; y <= reach; y++) {
            const double p = gaussian ? (x * x + y * y) / (2.0 * scale * scale) : (abs(x) + abs(y)) / scale;
            const double q = gaussian ? ((x - m) * (x - m) + (y - k) * (y - k)) / (2.0 * scale * scale)
                                      : (abs(x - m) + abs(y - k)) / scale;
            if (q - p > epsilon)
                sum += exp(-p) - exp(epsilon - q);
        }
    }
    return sum / (norm * norm);
}

TEST(discrete_noise_is_bounded_in_any_direction)
{
    for (int m = 1; m <= 3; m++) {
        for (int k = 0; k <= m; k++) {
            const dpf_event laplace_shape = case_event(DPF_EVENT_DISCRETE_LAPLACE, 2.5, m + k);
            const double norm = sqrt((double)(m * m + k * k));
            dpf_event laplace = laplace_shape, gaussian = case_event(DPF_EVENT_DISCRETE_GAUSSIAN, 5.0, norm);
            laplace.grid = gaussian.grid = 1.0;
            for (int unit = 0; unit < DPF_N_UNITS; unit++)
                for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
                    gaussian.sensitivity.at[unit][adjacency].l1 = m + k;
            for (double epsilon = 0.0; epsilon < 2.0; epsilon += 0.9) {
                const double of_laplace = case_delta(&pld, &laplace, 1, epsilon);
                const double exact = brute_delta(0, 2.5, m, k, epsilon);
                at_most(exact, of_laplace, 1e-12, "discrete Laplace");
                if (k == 0)
                    at_most(of_laplace, exact, 1e-6, "discrete Laplace");
                at_most(brute_delta(1, 5.0, m, k, epsilon), case_delta(&pld, &gaussian, 1, epsilon), 1e-12,
                        "discrete Gaussian");
            }
        }
    }
}

TEST(one_step_of_a_discrete_gaussian_is_exact)
{
    dpf_event event = case_event(DPF_EVENT_DISCRETE_GAUSSIAN, 1.0, 1.0);
    event.grid = 1.0;
    for (double epsilon = 0.0; epsilon < 4.0; epsilon += 0.77)
        near(case_delta(&pld, &event, 1, epsilon), brute_delta(1, 1.0, 1, 0, epsilon), 1e-6, "one step");
}

/* Both directions of a Poisson draw, with two points: a removal and an addition. */
TEST(a_draw_is_judged_in_its_worse_direction)
{
    const double q = 0.3, flip = 0.2;
    dpf_event event = case_event(DPF_EVENT_RANDOMIZED_RESPONSE, 1.0, 1.0);
    event.p.response.flip = flip;
    event = case_sampled(event, q);
    for (double epsilon = 0.0; epsilon < 1.2; epsilon += 0.1) {
        const double high = (1.0 - q) * flip + q * (1.0 - flip), low = 1.0 - high, e = exp(epsilon);
        const double removal = fmax(high - e * flip, 0.0) + fmax(low - e * (1.0 - flip), 0.0);
        const double addition = fmax(flip - e * high, 0.0) + fmax(1.0 - flip - e * low, 0.0);
        const double upper = case_delta(&pld, &event, 1, epsilon);
        near(upper, fmax(removal, addition), 1e-5, "draw");
        at_most(fmax(removal, addition), upper, 0.0, "draw");
    }
}

/* ---- refusals and failures ----------------------------------------------------------------------- */

static dpf_status ask(struct case_accountant *accountant, const dpf_event *event, double delta)
{
    const dpf_question question = case_question(delta);
    dpf_answer answer = {.size = sizeof answer};
    plain_clear(&accountant->host);
    return accountant->functions->epsilon(accountant->host.self, event, 1, &question, &answer);
}

TEST(what_is_not_known_is_refused)
{
    struct case_accountant *const accountants[] = {&pld, &zcdp};
    for (size_t i = 0; i < 2; i++) {
        dpf_event event = case_event(DPF_EVENT_UNSUPPORTED, 1.0, 1.0);
        assert_int_equal(ask(accountants[i], &event, DELTA), DPF_E_UNSUPPORTED);
        event.kind = DPF_EVENT_GAUSSIAN;
        assert_int_equal(ask(accountants[i], &event, 1.0), DPF_E_RANGE);
        assert_int_equal(ask(accountants[i], &event, NAN), DPF_E_RANGE);
        event = case_event(DPF_EVENT_GAUSSIAN, 1.0, NAN);
        assert_int_equal(ask(accountants[i], &event, DELTA), DPF_E_UNSUPPORTED);
        event = case_event(DPF_EVENT_PURE, 1.0, 1.0);
        event.p.pure.epsilon = -1.0;
        assert_int_equal(ask(accountants[i], &event, DELTA), DPF_E_NUMERIC);
        event = case_event(DPF_EVENT_NON_PRIVATE, 0.0, 1.0);
        assert_true(isinf(case_epsilon(accountants[i], &event, 1, DELTA)));
        event = case_event(DPF_EVENT_GAUSSIAN, 1.0, 1.0);
        assert_true(isinf(case_epsilon(accountants[i], &event, 1, 0.0)));
        assert_true(case_epsilon(accountants[i], &event, 0, 0.0) == 0.0);
    }
    /* Nothing but mass at infinity: epsilon is 0 or there is none. */
    dpf_event lost = case_event(DPF_EVENT_APPROX, 1.0, 1.0);
    lost.p.approx.delta = 1e-6;
    assert_true(case_epsilon(&pld, &lost, 1, DELTA) == 0.0);
    assert_true(isinf(case_epsilon(&pld, &lost, 1, 1e-7)));
    dpf_event coarse = case_event(DPF_EVENT_DISCRETE_GAUSSIAN, 0.57, 6.0);
    coarse.grid = 1.0;
    assert_int_equal(ask(&pld, &coarse, DELTA), DPF_E_UNSUPPORTED);
    dpf_question question = case_question(0.0);
    dpf_answer answer = {.size = sizeof answer};
    question.epsilon = -0.0;
    assert_int_equal(zcdp.functions->delta(zcdp.host.self, NULL, 0, &question, &answer), DPF_E_RANGE);
}

TEST(memory_failures_are_reported)
{
    const dpf_event event = case_sampled(case_event(DPF_EVENT_GAUSSIAN, 1.0, 1.0), 0.1);
    plain_check_memory(plain_component("pld", DPF_ROLE_ACCOUNTANT, "pld"), "");
    plain_check_memory(plain_component("zcdp", DPF_ROLE_ACCOUNTANT, "zcdp"), "");
    for (int after = 0; after < 12; after++) {
        pld.host.fail_after = after;
        const dpf_status status = ask(&pld, &event, DELTA);
        pld.host.fail_after = -1;
        assert_true(status == DPF_E_MEMORY || status == DPF_OK);
        assert_true(after > 0 || status == DPF_E_MEMORY);
    }
    assert_int_equal(ask(&pld, &event, DELTA), DPF_OK);
}

FIXTURE(open_all, close_all)
