/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private selection: the rdp accountant against figures of another program, against the closed forms of
 * Papernot and Steinke, and against exact divergences of small mechanisms whose selection is computed from
 * the generating function of the number of repetitions. No formula of the accountant is used for these.
 */
#include "kit/accounting_case.h"

#include "dpframe/selection.h"

#define ORDERS                                                                                               \
    "1.05,1.1,1.25,1.5,1.75,2,2.5,3,3.5,4,5,6,7,8,10,12,16,20,24,32,40,48,64,96,128,192,256,512,1024"

static dpf_event selection_event(double law, double eta, double second, int64_t candidates)
{
    dpf_event event = case_event(DPF_EVENT_SELECTION, 0.0, 0.0);
    event.sensitivity = dpf_unstated();
    event.p.selection.repetitions = law;
    event.p.selection.eta = eta;
    event.p.selection.gamma = second;
    event.p.selection.candidates = (double)candidates;
    return event;
}

static dpf_event candidate_event(int64_t releases)
{
    dpf_event event = case_event(DPF_EVENT_CANDIDATE, 0.0, 0.0);
    event.sensitivity = dpf_unstated();
    event.p.candidate.releases = (double)releases;
    return event;
}

/* A selection with one candidate whose releases are written as text. Returns the number of events. */
static int64_t one_candidate(double law, double eta, double second, const char *releases, dpf_event *events)
{
    char *copy = strdup(releases);
    const int64_t n = case_parse(copy, events + 2);
    free(copy);
    events[0] = selection_event(law, eta, second, 1);
    events[1] = candidate_event(n);
    return n + 2;
}

/* ---- another program ------------------------------------------------------------------------------- */

/*
 * RepeatAndSelectDpEvent of Google's dp_accounting, commit b5b0286e313b64a692abfc8c528d54ef47d960a0
 * (python/dp_accounting/dp_accounting/rdp/rdp_privacy_accountant.py), RdpAccountant with the orders above and
 * get_epsilon(1e-5). gamma: its _gamma_truncated_negative_binomial(shape, mean).
 */
static const struct reference {
    const char *releases;
    double mean, shape, gamma, epsilon; /* shape infinity: Poisson */
} references[] = {
#define LAWS(releases, a, b, c, d, e, f, g, h)                                                               \
    {releases, 10, 1, 0.1, a}, {releases, 10, 0, 0.02691825958900153, b}, {releases, 100, 1, 0.01, c},       \
        {releases, 5, 0.5, 0.1370156211778521, d}, {releases, 30, 2, 0.06273143384605645, e},                \
        {releases, 10, INFINITY, 0, f}, {releases, 50, INFINITY, 0, g},                                      \
    {                                                                                                        \
        releases, 2.5, INFINITY, 0, h                                                                        \
    }
    LAWS("gaussian scale=2", 4.32514597139144, 3.6468435103987, 5.43742616996128, 3.65470969767068,
         5.70425294000591, 4.94427676611104, 13.6998688023764, 2.90393301921758),
    LAWS("gaussian scale=4", 2.15631499382992, 1.78591376333355, 2.71938577401771, 1.80749860311153,
         2.87540820589893, 2.35390566284831, 6.14592663063817, 1.37479899257046),
    LAWS("gaussian scale=10", 0.850786154294261, 0.696150579474914, 1.07734195381047, 0.707354357876879,
         1.14501395200513, 0.898739210260712, 2.2140334971056, 0.515950790139112),
    LAWS("laplace scale=2", 1.50724296501819, 1.00744065937522, 1.51399101784563, 1.25556213002302,
         2.01076692507099, 3.04857587309224, 9.39042877496851, 1.13959519696154),
    LAWS("gaussian scale=1.1 q=.01 count=1000", 3.44401305344812, 2.9246812028609, 4.40668952690624,
         2.90890690505796, 4.53052357664771, 3.66872473766553, 9.5807836852366, 2.24922517606265),
    LAWS("gaussian scale=5; laplace scale=10", 1.86849871069544, 1.53711817764783, 2.35684898804964,
         1.56677207651841, 2.50485889391091, 2.06564742014174, 5.35165366083862, 1.18227051705211),
};

TEST(another_program_agrees)
{
    struct case_accountant fixed, refined;
    case_open(&fixed, "rdp", "refine=no", ORDERS);
    case_open(&refined, "rdp", "", NULL);
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        const struct reference *r = &references[i];
        dpf_event events[CASE_MAX_EVENTS];
        const int poisson = isinf(r->shape);
        const int64_t n =
            one_candidate(poisson ? DPF_REPETITIONS_POISSON : DPF_REPETITIONS_NEGATIVE_BINOMIAL,
                          poisson ? 0.0 : r->shape, poisson ? r->mean : r->gamma, r->releases, events);
        const double epsilon = case_epsilon(&fixed, events, n, 1e-5);
        const double pure = case_epsilon(&fixed, events + 2, n - 2, 0.0);
        /* Where it helps, ours uses order infinity and, of a pure or Gaussian run, its exact delta; the other program
           does not count the outcome that nothing is run, and bounds orders that are not whole less sharply.
         */
        const double above = poisson ? exp(-r->mean) / 0.05 : 0.0;
        if (!(epsilon <= r->epsilon * (1 + 1e-9) + above &&
              (poisson || isfinite(pure) || epsilon >= r->epsilon * (1 - 2e-5))))
            fail_msg("%s, mean %g, shape %g: %.15g, not %.15g", r->releases, r->mean, r->shape, epsilon,
                     r->epsilon);
        assert_true(case_epsilon(&refined, events, n, 1e-5) <= epsilon * (1 + 1e-9));
    }
    case_close(&fixed);
    case_close(&refined);
}

/* ---- Poisson: one run's delta is exact where it is Gaussian ------------------------------------------ */

static double upper(double x)
{
    return 0.5 * erfc(x / sqrt(2));
}

/* Theorem 6 with the exact delta of Gaussian noise, at the best of many orders, converted. */
static double poisson_with_exact_deltas(double mu, double mean, double delta)
{
    double least = INFINITY;
    for (double a = 1.01; a < 3000; a = 1 + (a - 1) * 1.002) {
        const double e = log1p(1 / (a - 1)), d = upper(e / mu - mu / 2) - exp(e) * upper(e / mu + mu / 2);
        const double r = log(exp(-mean) + mean * exp((a - 1) * (a * mu * mu / 2 + mean * d))) / (a - 1);
        least = fmin(least, r + log1p(-1 / a) - log(delta * a) / (a - 1));
    }
    return least;
}

/* Delta of the best of a Poisson number of Gaussian numbers, the numbers being the scores: their density is
   mean phi(x) e^{-mean (1 - Phi(x))}. */
static double best_number_delta(double mu, double mean, double epsilon, int swap)
{
    const double step = 0.002, p = swap ? 0 : mu, q = mu - p;
    double delta = 0;
    for (double x = -9; x < 9 + mu; x += step) {
        const double with = exp(-(x - p) * (x - p) / 2 - mean * upper(x - p)),
                     without = exp(-(x - q) * (x - q) / 2 - mean * upper(x - q));
        delta += fmax(0, with - exp(epsilon) * without) * mean * step / sqrt(2 * 3.14159265358979323846);
    }
    return delta;
}

TEST(poisson_uses_the_exact_delta_of_gaussian_runs)
{
    struct case_accountant accountant;
    case_open(&accountant, "rdp", "", NULL);
    for (int i = 0; i < 6; i++) {
        const double mu = (const double[]){0.1, 0.5, 1.5}[i % 3], mean = i < 3 ? 10 : 1;
        const dpf_event events[3] = {selection_event(DPF_REPETITIONS_POISSON, 0, mean, 1), candidate_event(1),
                                     case_event(DPF_EVENT_GAUSSIAN, 1 / mu, 1.0)};
        const double epsilon = case_epsilon(&accountant, events, 3, 1e-5),
                     exact = poisson_with_exact_deltas(mu, mean, 1e-5);
        assert_true(epsilon >= exact * (1 - 1e-4));
        assert_true(epsilon <= exact * (1 + 1e-4));
        for (int swap = 0; swap < 2; swap++)
            assert_true(best_number_delta(mu, mean, epsilon, swap) <= 1e-5);
    }
    case_close(&accountant);
}

/* ---- closed forms ---------------------------------------------------------------------------------- */

/* Papernot, Steinke, Corollary 4, for rho-zCDP; of its two forms the one that holds at every order. */
static double closed_form(double rho, double gamma, double eta, double delta)
{
    const double fall = -log(gamma), mean = dpf_negative_binomial_mean(eta, gamma);
    const double level = 2.0 * (1.0 + eta) * sqrt(rho * fall) - eta * rho;
    /* rho (a-1) + (ln mean + ln 1/delta) / (a-1) is least where both parts are equal */
    return level + 2.0 * sqrt(rho * (log(mean) - log(delta)));
}

TEST(gaussian_noise_has_its_closed_form)
{
    static const double rhos[] = {0.001, 0.03, 0.5}, gammas[] = {0.9, 0.2, 0.01, 1e-4},
                        etas[] = {-0.5, 0, 0.5, 1, 5}, deltas[] = {1e-3, 1e-5, 1e-9};
    struct case_accountant accountant;
    int compared = 0;
    case_open(&accountant, "rdp", "conversion=classic", NULL);
    for (int i = 0; i < 3 * 4 * 5 * 3; i++) {
        const double rho = rhos[i / 60], gamma = gammas[i / 15 % 4], eta = etas[i / 3 % 5],
                     delta = deltas[i % 3];
        const dpf_event events[3] = {selection_event(DPF_REPETITIONS_NEGATIVE_BINOMIAL, eta, gamma, 1),
                                     candidate_event(1),
                                     case_event(DPF_EVENT_GAUSSIAN, sqrt(0.5 / rho), 1.0)};
        if (-log(gamma) < 1.1 * rho) /* the best b would be below 1 */
            continue;
        const double epsilon = case_epsilon(&accountant, events, 3, delta),
                     closed = closed_form(rho, gamma, eta, delta);
        if (!(fabs(epsilon - closed) <= 1e-4 * closed)) /* orders above 64 are whole */
            fail_msg("rho %g, gamma %g, eta %g, delta %g: %.10g, not %.10g", rho, gamma, eta, delta, epsilon,
                     closed);
        compared++;
    }
    assert_true(compared > 100);
    case_close(&accountant);
}

/* Corollary 3: (2 + eta) epsilon, whatever the number of repetitions. */
TEST(pure_releases_cost_two_plus_eta)
{
    struct case_accountant accountant;
    case_open(&accountant, "rdp", "", NULL);
    for (double eta = -0.75; eta < 4; eta += 0.25)
        for (double scale = 0.5; scale < 30; scale *= 3) {
            dpf_event events[3] = {selection_event(DPF_REPETITIONS_NEGATIVE_BINOMIAL, eta, 1e-9, 1),
                                   candidate_event(1), case_event(DPF_EVENT_LAPLACE, scale, 1.0)};
            const double epsilon = case_epsilon(&accountant, events, 3, 0.0);
            assert_true(fabs(epsilon - (2 + eta) / scale) <= 1e-9 / scale);
        }
    case_close(&accountant);
}

/* ---- exact selections of small mechanisms ---------------------------------------------------------- */

/* Outputs of one run in the order of their scores; equal levels are ties. */
#define MOST_OUTPUTS 64

struct outputs {
    int n;
    long double p[2][MOST_OUTPUTS]; /* under both neighbours */
    int level[MOST_OUTPUTS];        /* ascending */
};

/* f(low + width) - f(low) of the generating function f of the number of runs, without cancellation. */
static long double generating(double law, long double eta, long double second, long double low,
                              long double width)
{
    if (law == DPF_REPETITIONS_POISSON)
        return expl(second * (low - 1)) * expm1l(second * width);
    const long double at = log1pl(-(1 - second) * low);
    const long double step = log1pl(-(1 - second) * width / (1 - (1 - second) * low));
    return eta == 0 ? step / logl(second)
                    : expl(-eta * at) * expm1l(-eta * step) / expm1l(-eta * logl(second));
}

/* The last number is the probability that nothing is run. Ties go to the first of equally many runs alike,
   that is to each in proportion to its probability. */
static void select_exactly(const struct outputs *q, int side, double law, double eta, double second,
                           long double *chosen)
{
    long double below = 0;
    for (int i = 0; i < q->n;) {
        int end = i;
        long double level = 0;
        for (; end < q->n && q->level[end] == q->level[i]; end++)
            level += q->p[side][end];
        const long double wins = generating(law, eta, second, below, level);
        for (int k = i; k < end; k++)
            chosen[k] = wins * q->p[side][k] / level;
        below += level;
        i = end;
    }
    chosen[q->n] = law == DPF_REPETITIONS_POISSON ? expl(-second) : 0;
}

static long double exact_divergence(const long double *a, const long double *b, int n, long double order)
{
    long double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] > 0 ? powl(a[i], order) * powl(b[i], 1 - order) : 0;
    return logl(sum) / (order - 1);
}

static long double exact_delta(const long double *a, const long double *b, int n, long double epsilon)
{
    long double sum = 0;
    for (int i = 0; i < n; i++)
        sum += fmaxl(a[i] - expl(epsilon) * b[i], 0);
    return sum;
}

/* A candidate whose release is one flipped bit, and whose score is the bit. */
static void flipped_bit(struct outputs *q, double flip)
{
    *q = (struct outputs){.n = 2, .level = {0, 1}};
    q->p[0][0] = q->p[1][1] = flip;
    q->p[0][1] = q->p[1][0] = 1 - (long double)flip;
}

/* Several bits with one flip probability, scored by how many are set: ties. */
static void flipped_bits(struct outputs *q, double flip, int bits)
{
    q->n = 0;
    for (int ones = 0; ones <= bits; ones++)
        for (int pattern = 0; pattern < 1 << bits; pattern++) {
            if (__builtin_popcount((unsigned)pattern) != ones)
                continue;
            q->level[q->n] = ones;
            q->p[0][q->n] = powl(flip, ones) * powl(1 - (long double)flip, bits - ones);
            q->p[1][q->n] = powl(flip, bits - ones) * powl(1 - (long double)flip, ones);
            q->n++;
        }
}

/* Two candidates, drawn alike, with a bit of their own each; the second one's ones score above the first
 * one's. */
static void two_candidates(struct outputs *q, double first, double second)
{
    const double flips[] = {first, second};
    *q = (struct outputs){.n = 4, .level = {0, 0, 1, 2}};
    for (int i = 0; i < 4; i++) { /* outputs: first 0, second 0, first 1, second 1 */
        const long double flip = flips[i % 2], one = i >= 2;
        q->p[0][i] = 0.5L * (one ? 1 - flip : flip);
        q->p[1][i] = 0.5L * (one ? flip : 1 - flip);
    }
}

struct small_case {
    struct outputs q;
    dpf_event events[8]; /* of the candidates */
    int64_t n, candidates;
};

static dpf_event response_event(double flip, double bits)
{
    dpf_event event = case_event(DPF_EVENT_RANDOMIZED_RESPONSE, 1.0, bits);
    event.p.response.flip = flip;
    return event;
}

static int small_cases(struct small_case *out)
{
    static const double flips[] = {0.45, 0.3, 0.1, 0.01};
    int n = 0;
    for (int i = 0; i < 4; i++) {
        flipped_bit(&out[n].q, flips[i]);
        out[n] = (struct small_case){.q = out[n].q, .n = 2, .candidates = 1};
        out[n].events[0] = candidate_event(1);
        out[n++].events[1] = response_event(flips[i], 1);
        flipped_bits(&out[n].q, flips[i], 4);
        out[n] = (struct small_case){.q = out[n].q, .n = 2, .candidates = 1};
        out[n].events[0] = candidate_event(1);
        out[n++].events[1] = response_event(flips[i], 4);
        two_candidates(&out[n].q, flips[i], flips[3 - i]);
        out[n] = (struct small_case){.q = out[n].q, .n = 4, .candidates = 2};
        out[n].events[0] = out[n].events[2] = candidate_event(1);
        out[n].events[1] = response_event(flips[i], 1);
        out[n++].events[3] = response_event(flips[3 - i], 1);
    }
    return n;
}

static const double laws[][3] = {
    {DPF_REPETITIONS_NEGATIVE_BINOMIAL, 1, 0.1},
    {DPF_REPETITIONS_NEGATIVE_BINOMIAL, 0, 0.03},
    {DPF_REPETITIONS_NEGATIVE_BINOMIAL, -0.6, 0.01},
    {DPF_REPETITIONS_NEGATIVE_BINOMIAL, 3, 0.5},
    {DPF_REPETITIONS_NEGATIVE_BINOMIAL, 0.5, 1.0 - 1e-6},
    {DPF_REPETITIONS_POISSON, 0, 0.05},
    {DPF_REPETITIONS_POISSON, 0, 1},
    {DPF_REPETITIONS_POISSON, 0, 12},
};
#define N_LAWS (int)(sizeof laws / sizeof *laws)

/* 1 if some bound was within a factor of 4 of the exact delta: the test would not see a bound of nonsense
 * size. */
static int compare_exactly(struct case_accountant *accountant, const struct small_case *c, const double *law)
{
    long double chosen[2][MOST_OUTPUTS + 1];
    dpf_event events[9];
    int close = 0;
    for (int side = 0; side < 2; side++)
        select_exactly(&c->q, side, law[0], law[1], law[2], chosen[side]);
    events[0] = selection_event(law[0], law[1], law[2], c->candidates);
    memcpy(events + 1, c->events, (size_t)c->n * sizeof *events);
    for (int side = 0; side < 2; side++) {
        const long double *a = chosen[side], *b = chosen[1 - side];
        for (double order = 1.1; order < 200; order *= 1.6) {
            const double bound = case_divergence(events, c->n + 1, order);
            const long double exact = exact_divergence(a, b, c->q.n + 1, order);
            if (!(bound >= exact * (1 - 1e-12L) - 1e-15L))
                fail_msg("law %g %g %g, order %g: %.12g below %.12Lg", law[0], law[1], law[2], order, bound,
                         exact);
        }
        for (double epsilon = 0.05; epsilon < 12; epsilon *= 1.5) {
            const double bound = case_delta(accountant, events, c->n + 1, epsilon);
            const long double exact = exact_delta(a, b, c->q.n + 1, epsilon);
            if (!(bound >= exact * (1 - 1e-12L)))
                fail_msg("law %g %g %g, epsilon %g: %.12g below %.12Lg", law[0], law[1], law[2], epsilon,
                         bound, exact);
            close |= exact > 1e-9L && bound < 4 * exact;
        }
        assert_true(case_epsilon(accountant, events, c->n + 1, 1e-6) >= 0);
    }
    return close;
}

TEST(small_selections_stay_below_the_bound)
{
    static struct small_case cases[16];
    const int n = small_cases(cases);
    struct case_accountant accountant;
    int close = 0;
    case_open(&accountant, "rdp", "", NULL);
    for (int i = 0; i < n; i++)
        for (int law = 0; law < N_LAWS; law++)
            close += compare_exactly(&accountant, &cases[i], laws[law]);
    assert_true(close > n * N_LAWS / 3);
    case_close(&accountant);
}

/* What is released may not depend on the number of runs of a mechanism that reads no data; Theorem 6, which
   leaves out that nothing may be run, would give a negative divergence here. */
TEST(nothing_run_is_an_outcome)
{
    dpf_event free_of_data = case_event(DPF_EVENT_GAUSSIAN, 1.0, 0.0);
    const dpf_event events[3] = {selection_event(DPF_REPETITIONS_POISSON, 0, 0.1, 1), candidate_event(1),
                                 free_of_data};
    for (double order = 1.5; order < 100; order *= 2) {
        const double value = case_divergence(events, 3, order);
        assert_true(value >= 0);
        assert_true(log(0.1) / (order - 1) < 0);
    }
}

/* ---- how it composes -------------------------------------------------------------------------------- */

TEST(one_run_costs_one_run)
{
    struct case_accountant accountant;
    case_open(&accountant, "rdp", "", NULL);
    const dpf_event noise = case_event(DPF_EVENT_GAUSSIAN, 3.0, 1.0),
                    other = case_event(DPF_EVENT_LAPLACE, 5.0, 1.0);
    const dpf_event one[4] = {selection_event(DPF_REPETITIONS_NEGATIVE_BINOMIAL, 1, 1, 1), candidate_event(1),
                              noise, other},
                    both[2] = {noise, other};
    assert_true(fabs(case_epsilon(&accountant, one, 4, 1e-6) - case_epsilon(&accountant, both, 2, 1e-6)) <
                1e-9);
    case_close(&accountant);
}

/* The largest curve counts at each order: of a candidate with Gaussian and one with Laplace noise, both. */
TEST(the_largest_candidate_counts)
{
    const dpf_event gaussian = case_event(DPF_EVENT_GAUSSIAN, 2.0, 1.0),
                    laplace = case_event(DPF_EVENT_LAPLACE, 1.4, 1.0);
    const dpf_event header = selection_event(DPF_REPETITIONS_NEGATIVE_BINOMIAL, 0, 1, 2),
                    one = candidate_event(1);
    const dpf_event events[5] = {header, one, gaussian, one, laplace};
    int first = 0, second = 0;
    for (double order = 1.2; order < 60; order *= 1.3) {
        const double a = case_divergence(&gaussian, 1, order), b = case_divergence(&laplace, 1, order);
        const double both = case_divergence(events, 5, order);
        assert_true(fabs(both - fmax(a, b)) <= 1e-9 * both);
        first += a > b;
        second += b > a;
    }
    assert_true(first > 0);
    assert_true(second > 0);
}

TEST(more_runs_cost_more)
{
    struct case_accountant accountant;
    case_open(&accountant, "rdp", "", NULL);
    dpf_event events[3] = {candidate_event(0), candidate_event(1), case_event(DPF_EVENT_GAUSSIAN, 4.0, 1.0)};
    for (double eta = -0.5; eta <= 2; eta += 0.5) {
        double before = case_epsilon(&accountant, events + 2, 1, 1e-6);
        for (double gamma = 0.9; gamma > 1e-5; gamma *= 0.4) {
            events[0] = selection_event(DPF_REPETITIONS_NEGATIVE_BINOMIAL, eta, gamma, 1);
            const double now = case_epsilon(&accountant, events, 3, 1e-6);
            assert_true(now > before);
            before = now;
        }
    }
    case_close(&accountant);
}

/* ---- refusals --------------------------------------------------------------------------------------- */

static dpf_status asked(struct case_accountant *accountant, const dpf_event *events, int64_t n, int observer)
{
    dpf_question question = case_question(1e-5);
    dpf_answer answer = {.size = sizeof answer};
    question.observer = observer;
    plain_clear(&accountant->host);
    return accountant->functions->epsilon(accountant->host.self, events, n, &question, &answer);
}

TEST(others_refuse)
{
    static const char *const ids[] = {"pld", "zcdp", "pure", "heterogeneous", "published"};
    const dpf_event events[3] = {selection_event(DPF_REPETITIONS_NEGATIVE_BINOMIAL, 1, 0.1, 1),
                                 candidate_event(1), case_event(DPF_EVENT_LAPLACE, 2.0, 1.0)};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct case_accountant accountant;
        case_open(&accountant, ids[i], "", NULL);
        assert_int_equal(asked(&accountant, events, 3, DPF_OBSERVER_OUTSIDER), DPF_E_UNSUPPORTED);
        case_close(&accountant);
    }
}

TEST(what_is_not_proved_is_refused)
{
    struct case_accountant accountant;
    case_open(&accountant, "rdp", "", NULL);
    const dpf_event good[3] = {selection_event(DPF_REPETITIONS_NEGATIVE_BINOMIAL, 1, 0.1, 1),
                               candidate_event(1), case_event(DPF_EVENT_LAPLACE, 2.0, 1.0)};
    dpf_event bad[5];
    const int outsider = DPF_OBSERVER_OUTSIDER;
    assert_int_equal(asked(&accountant, good, 3, outsider), DPF_OK);
    assert_int_equal(asked(&accountant, good, 3, DPF_OBSERVER_SERVER), DPF_E_UNSUPPORTED);
    for (int64_t n = 1; n < 3; n++) /* cut off */
        assert_int_not_equal(asked(&accountant, good, n, outsider), DPF_OK);
    assert_int_not_equal(asked(&accountant, good + 1, 2, outsider), DPF_OK); /* no selection before it */
    memcpy(bad, good, sizeof good);
    bad[2].kind = DPF_EVENT_APPROX;
    bad[2].p.approx.epsilon = 1.0;
    bad[2].p.approx.delta = 1e-9;
    assert_int_equal(asked(&accountant, bad, 3, outsider), DPF_E_UNSUPPORTED);
    bad[0] = good[0], bad[1] = candidate_event(3); /* a selection inside of one */
    memcpy(bad + 2, good, sizeof good);
    assert_int_equal(asked(&accountant, bad, 5, outsider), DPF_E_UNSUPPORTED);
    static const double wrong[][4] = {{2, 1, 0.1, 1},   {0, -1, 0.1, 1}, {0, 1, 0, 1},    {0, 1, 1.5, 1},
                                      {0, 1, 0.1, 0},   {0, 1, 0.1, 2},  {1, 0, -3, 1},   {1, 0, 0, 1},
                                      {0, NAN, 0.1, 1}, {0, 1, NAN, 1},  {0, 1, 0.1, 1.5}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(bad, good, sizeof good);
        memcpy(bad[0].p.all, wrong[i], sizeof wrong[i]);
        assert_int_not_equal(asked(&accountant, bad, 3, outsider), DPF_OK);
    }
    memcpy(bad, good, sizeof good);
    bad[0] = case_sampled(bad[0], 0.5);
    assert_int_equal(asked(&accountant, bad, 3, outsider), DPF_E_UNSUPPORTED);
    case_close(&accountant);
}
