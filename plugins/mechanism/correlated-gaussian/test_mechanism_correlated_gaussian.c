/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/plain_random.h"
#include "kit/plain_release.h"
#include "toeplitz_factor.h"

#define UNIT ((double)(INT64_C(1) << TOEPLITZ_BITS))

static const dpf_component *component;
static const dpf_mechanism *mechanism;

/* ---- the matrix ----------------------------------------------------------------------------------- */

/*
 * The largest squared error of the square root over prefix sums for one participation is (sum of c_i^2)^2: C
 * has rows and columns of these norms. Sums: 1, 5/4, 89/64, 381/256 by hand; (ln n + Euler's gamma + ln
 * 16)/pi for large n (Dvijotham et al., arXiv 2404.16706, whose optimal Toeplitz factor it is); and no
 * factorization goes below (2 + ln((2n+1)/3))/pi (Matousek, Nikolov, Talwar, IMRN 2020, as cited in arXiv
 * 2509.14334).
 */
TEST(the_square_root_has_its_published_error)
{
    static int64_t c[TOEPLITZ_MOST_BANDS];
    static double scratch[TOEPLITZ_MOST_BANDS];
    static const double by_hand[] = {1.0, 5.0 / 4, 89.0 / 64, 381.0 / 256};
    const double gamma = 0.57721566490153286, pi = 3.14159265358979324;
    struct toeplitz_sensitivity reach;
    toeplitz_square_root(TOEPLITZ_MOST_BANDS, c);
    for (int n = 1; n <= 4; n++) {
        const struct toeplitz_pattern once = {n, n, 1};
        toeplitz_reach(c, n, &once, scratch, &reach);
        assert_true(fabs(reach.l2 * reach.l2 - by_hand[n - 1]) < 1e-11);
    }
    for (int64_t n = 64; n <= TOEPLITZ_MOST_BANDS; n *= 4) {
        const struct toeplitz_pattern once = {n, 1, 1};
        toeplitz_reach(c, n, &once, scratch, &reach);
        const double square = reach.l2 * reach.l2, root_n = log((double)n);
        assert_true(square > (2 + log((2 * (double)n + 1) / 3)) / pi);
        assert_true(fabs(square - (root_n + gamma + log(16)) / pi) < 1e-3 + 1.0 / (double)n);
    }
    /* C C is the matrix of ones, up to the rounding of coefficients. */
    for (int t = 0; t < 200; t++) {
        double sum = 0;
        for (int i = 0; i <= t; i++)
            sum += (double)c[i] / UNIT * (double)c[t - i] / UNIT;
        assert_true(fabs(sum - 1) < 1e-3);
    }
}

static uint64_t lottery = 5;

static int drawn(int n)
{
    lottery = lottery * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((lottery >> 33) % (uint64_t)n);
}

/* The dense C'C of a short C. */
static void gram_of(const int64_t *c, int n, int rounds, double gram[12][12])
{
    for (int s = 0; s < rounds; s++)
        for (int r = 0; r < rounds; r++) {
            gram[s][r] = 0;
            for (int t = s > r ? s : r; t < rounds; t++)
                gram[s][r] +=
                    (t - s < n ? (double)c[t - s] : 0) / UNIT * (t - r < n ? (double)c[t - r] : 0) / UNIT;
        }
}

static int is_admissible(int set, const struct toeplitz_pattern *pattern)
{
    int count = 0, last = -1000;
    for (int t = 0; t < pattern->rounds; t++) {
        if (!(set >> t & 1))
            continue;
        if (t - last < pattern->separation || ++count > pattern->participations)
            return 0;
        last = t;
    }
    return 1;
}

/*
 * Over all admissible patterns: the largest sum of |G|, and the largest |C x|^2 that parts of +1 and -1
 * reach, which is less or equal and what a sensitivity must not be below.
 */
static void worst_of(const int64_t *c, int n, const struct toeplitz_pattern *pattern, double *sum,
                     double *reached)
{
    double gram[12][12];
    const int rounds = (int)pattern->rounds;
    gram_of(c, n, rounds, gram);
    *sum = *reached = 0;
    for (int set = 1; set < 1 << rounds; set++) {
        double all = 0;
        if (!is_admissible(set, pattern))
            continue;
        for (int s = 0; s < rounds; s++)
            for (int r = 0; r < rounds; r++)
                all += (set >> s & 1) && (set >> r & 1) ? fabs(gram[s][r]) : 0;
        *sum = fmax(*sum, all);
        for (int signs = set;; signs = (signs - 1) & set) {
            double square = 0;
            for (int s = 0; s < rounds; s++)
                for (int r = 0; r < rounds; r++)
                    if ((set >> s & 1) && (set >> r & 1))
                        square += ((signs >> s ^ signs >> r) & 1 ? -1 : 1) * gram[s][r];
            *reached = fmax(*reached, square);
            if (!signs)
                break;
        }
    }
}

TEST(sensitivities_are_the_worst_of_all_patterns)
{
    for (int i = 0; i < 500; i++) {
        const int rounds = 1 + drawn(9), n = 1 + drawn(rounds);
        const struct toeplitz_pattern pattern = {rounds, 1 + drawn(rounds), 1 + drawn(rounds)};
        struct toeplitz_sensitivity reach;
        double scratch[12], sum, reached;
        int64_t c[12] = {(int64_t)UNIT};
        for (int k = 1; k < n; k++)
            c[k] = c[k - 1] - drawn((int)c[k - 1] + 1) / 2;
        toeplitz_reach(c, n, &pattern, scratch, &reach);
        worst_of(c, n, &pattern, &sum, &reached);
        const double square = reach.l2 * reach.l2;
        assert_true(square >= reached * (1 - 1e-12));
        assert_true(square >= sum * (1 - 1e-12));
        assert_true(square <= reached * (1 + 1e-10));
    }
}

/*
 * The mean squared error of the sums over rounds, |A C^-1|_F^2 |C|^2 / T with A the matrix of ones, over that
 * of independent noise. References: the matrices written out and multiplied (numpy), for T = 100.
 */
TEST(sums_over_rounds_have_less_noise)
{
    static const struct {
        int separation, bands;
        double part; /* of the root of the mean squared error */
    } cases[] = {{1, 1, 1},         {1, 100, 1.67717}, {5, 5, 0.53301},
                 {5, 100, 0.77827}, {10, 10, 0.42768}, {20, 20, 0.36457}};
    enum { T = 100 };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct toeplitz_pattern pattern = {T, cases[i].separation, T};
        const int participations = (int)toeplitz_participations(&pattern);
        struct toeplitz_sensitivity reach;
        double scratch[T], d[T], sum = 0, error = 0;
        int64_t c[T];
        toeplitz_square_root(cases[i].bands, c);
        toeplitz_reach(c, cases[i].bands, &pattern, scratch, &reach);
        for (int t = 0; t < T; t++) {
            d[t] = t == 0;
            for (int k = 1; k <= t && k < cases[i].bands; k++)
                d[t] -= (double)c[k] / UNIT * d[t - k];
            sum += d[t];                  /* column of A C^-1 */
            error += sum * sum * (T - t); /* which stands in T - t rows */
        }
        const double part = sqrt(error / (T * (T + 1) / 2.0)) * reach.l2 / sqrt(participations);
        assert_true(fabs(part - cases[i].part) < 2e-4);
    }
}

/* ---- plans and events ----------------------------------------------------------------------------- */

static void schedule(struct plain_release *r, int64_t rounds, int64_t separation, int64_t participations)
{
    r->release.rounds = rounds;
    r->release.separation = separation;
    r->release.participations = participations;
}

/* One block: sigma is the multiplier times the sensitivity of the run, all rounding included, and little
 * more. */
TEST(one_event_covers_the_run)
{
    static const struct {
        const char *settings;
        int64_t rounds, separation, participations;
        double square; /* of |C| */
    } cases[] = {
        {"noise-multiplier=2", 12, 4, 3, 3 * 1.48828125},
        {"noise-multiplier=2; bands=1", 12, 4, 3, 3},
        {"noise-multiplier=2; bands=1", 12, 1, 12, 12},
        {"noise-multiplier=2; bands=4", 12, 6, 1, 1.48828125},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        dpf_event events[2 * DPF_MAX_BLOCKS];
        plain_release_gradient(&r, 8, 1000);
        plain_release_bound(&r, 0, 3, 1.5);
        schedule(&r, cases[i].rounds, cases[i].separation, cases[i].participations);
        plain_open_random(&host, component, cases[i].settings);
        assert_int_equal(plain_plan(&host, &r, &plan, events), 1);
        const double least = 1.5 * sqrt(cases[i].square);
        const double stated = events[0].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2;
        assert_int_equal(events[0].kind, DPF_EVENT_CORRELATED_GAUSSIAN);
        assert_true(stated >= least);
        assert_true(stated < least * 1.001);
        assert_true(events[0].scale >= 2 * stated);
        assert_true(events[0].scale <= 2 * stated * (1 + 1e-6));
        assert_true(plan.where == DPF_NOISE_AT_SUM);
        assert_true(plain_is_power_of_two(plan.grid[0]));
        assert_true(events[0].grid > plan.grid[0]);
        assert_true(events[0].count == 1);
        assert_true(events[0].p.correlated.rounds == (double)cases[i].rounds);
        assert_true(events[0].p.correlated.attained == 1);
        plain_close(&host);
    }
}

TEST(blocks_share_one_event)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_init(&r, 3, 20);
    plain_release_bound(&r, 0, 2, 3);
    plain_release_bound(&r, 1, 2, 4);
    plain_release_bound(&r, 2, 0, 0); /* nobody moves the last block */
    schedule(&r, 6, 3, 2);
    plain_open_random(&host, component, "noise-multiplier=5; bands=2");
    assert_int_equal(plain_plan(&host, &r, &plan, events), 2);
    assert_int_equal(events[0].blocks, 3);
    assert_int_equal(events[1].kind, DPF_EVENT_NO_OP);
    /* Scales follow the bounds; each block is then 1 unit of its scale, two of them sqrt(2). */
    const double stated =
        events[0].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2 / events[0].scale;
    assert_true(stated <= 0.2);
    assert_true(stated > 0.199);
    assert_true(fabs(plan.scale[1] / plan.scale[0] - 4.0 / 3) < 1e-5);
    assert_true(plan.scale[2] == 0);
    assert_true(plan.variance[2] == 0);
    plain_close(&host);
}

static void refused(const char *settings, struct plain_release *r, dpf_status expected)
{
    struct plain_host host;
    dpf_noise_plan plan = {.size = sizeof(plan)};
    plain_open_random(&host, component, settings);
    assert_int_equal(mechanism->plan(host.self, &r->release, &plan), expected);
    assert_true(strlen(host.report) > 20);
    plain_close(&host);
}

TEST(what_cannot_be_proved_is_refused)
{
    struct plain_release r;
    plain_release_gradient(&r, 2, 10);
    refused("", &r, DPF_E_UNSUPPORTED); /* rounds 0: not one release a round */
    schedule(&r, 2000000, 1, 2000000);
    refused("", &r, DPF_E_UNSUPPORTED);
    schedule(&r, 10, 2, 5);
    plain_release_bound(&r, 0, NAN, NAN);
    refused("", &r, DPF_E_PRIVACY);
    plain_release_bound(&r, 0, INFINITY, INFINITY);
    refused("", &r, DPF_E_PRIVACY);
    plain_release_bound(&r, 0, 1, 1);
    r.release.size = 88; /* of a host that knows nothing of rounds */
    refused("", &r, DPF_E_UNSUPPORTED);
    struct plain_host host;
    plain_init(&host, component);
    host.random = &plain_random;
    assert_int_equal(plain_create(&host, "noise-multiplier=0"), DPF_E_CONFIG);
    plain_close(&host);
    plain_check_memory_random(component, "");
}

/* ---- rounds --------------------------------------------------------------------------------------- */

enum { ROUNDS = 7, WIDTH = 4, ROWS = 3000 };

struct run {
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    dpf_event events[2 * DPF_MAX_BLOCKS];
    unsigned char *state;
};

static void run_open(struct run *run, const char *settings, int64_t rows)
{
    plain_release_gradient(&run->r, WIDTH, rows);
    schedule(&run->r, ROUNDS, 3, 3);
    plain_open_random(&run->host, component, settings);
    plain_plan(&run->host, &run->r, &run->plan, run->events);
    const uint64_t bytes = mechanism->row_state(run->host.self, &run->plan, &run->r.query);
    run->state = calloc((size_t)rows, (size_t)bytes);
    assert_non_null(run->state);
}

static void run_close(struct run *run)
{
    free(run->state);
    plain_close(&run->host);
}

static void decode_round(struct run *run, uint32_t round, int64_t *sums, double *out)
{
    dpf_encoded integers = plain_integers(&run->r, sums);
    integers.state = run->state;
    run->host.call.draw = round;
    assert_int_equal(mechanism->decode(run->host.self, plain_call(&run->host), &run->plan, &run->r.query,
                                       &integers, out, WIDTH),
                     DPF_OK);
}

/*
 * The covariance of the estimates' noise over rounds is sigma^2 C^-1 C^-T, and C times the estimates is
 * white. 12,000 numbers each; a covariance of n products has a standard error of at most sqrt(2/n) of the
 * deviations' product.
 */
TEST(noise_has_the_covariance_of_the_inverse)
{
    struct run run;
    run_open(&run, "noise-multiplier=3", ROWS);
    double *estimates = malloc(sizeof(double) * ROUNDS * ROWS * WIDTH), c[ROUNDS], d[ROUNDS];
    int64_t *zeros = calloc(ROWS * WIDTH, sizeof(int64_t));
    const int n = ROWS * WIDTH;
    assert_true(estimates);
    assert_true(zeros);
    for (uint32_t t = 0; t < ROUNDS; t++)
        decode_round(&run, t, zeros, estimates + (size_t)t * n);
    mechanism->correlation(run.host.self, &run.plan, c, ROUNDS);
    assert_true(c[0] == 1);
    assert_true(c[1] == 0.5);
    assert_true(c[2] == 0.375);
    assert_true(c[3] == 0); /* as many bands as the separation */
    for (int t = 0; t < ROUNDS; t++) {
        d[t] = t == 0;
        for (int i = 1; i <= t; i++)
            d[t] -= c[i] * d[t - i];
    }
    for (int s = 0; s < ROUNDS; s++)
        for (int t = s; t < ROUNDS; t++) {
            double exact = 0, seen = 0, white = 0, of_s = 0, of_t = 0;
            for (int i = 0; i <= s; i++)
                exact += d[s - i] * d[t - i];
            for (int i = 0; i <= s; i++)
                of_s += d[i] * d[i];
            for (int i = 0; i <= t; i++)
                of_t += d[i] * d[i];
            for (int k = 0; k < n; k++) {
                double zs = 0, zt = 0;
                seen += estimates[s * n + k] * estimates[t * n + k] / n;
                for (int i = 0; i <= s; i++)
                    zs += c[i] * estimates[(s - i) * n + k];
                for (int i = 0; i <= t; i++)
                    zt += c[i] * estimates[(t - i) * n + k];
                white += zs * zt / n;
            }
            const double sigma2 = run.plan.variance[0], error = sqrt(2.0 / n);
            assert_true(fabs(seen / sigma2 - exact) < 5 * error * sqrt(of_s * of_t));
            assert_true(fabs(white / sigma2 - (s == t)) < 5 * error);
        }
    free(estimates);
    free(zeros);
    run_close(&run);
}

/* Estimates less those of zeros under the same noise are the sums; a round that is decoded again gives the
 * same. */
TEST(estimates_are_the_sums_and_noise)
{
    enum { N = 50 * WIDTH };
    struct run run, silent;
    int64_t sums[N], zeros[N] = {0};
    double with[N], without[N], again[N];
    run_open(&run, "noise-multiplier=1", 50);
    run_open(&silent, "noise-multiplier=1", 50);
    const double grid = run.plan.grid[0];
    for (uint32_t t = 0; t < ROUNDS; t++) {
        for (int i = 0; i < N; i++)
            sums[i] = (int64_t)(drawn(2000001) - 1000000) * (INT64_C(1) << drawn(20));
        sums[0] = (INT64_C(1) << 61) - 1; /* near the end of what is accepted, of either sign */
        sums[1] = -sums[0];
        decode_round(&run, t, sums, with);
        decode_round(&run, t, sums, again);
        assert_memory_equal(with, again, sizeof(with));
        decode_round(&silent, t, zeros, without);
        for (int i = 0; i < N; i++)
            assert_true(fabs(with[i] - without[i] - (double)sums[i] * grid) <=
                        1e-12 * fabs((double)sums[i]) * grid + 4 * run.events[0].grid +
                            1e-9 * (i < 2) * 0x1p62 * grid);
    }
    sums[2] = INT64_C(1) << 62;
    dpf_encoded integers = plain_integers(&run.r, sums);
    integers.state = run.state;
    run.host.call.draw = 3;
    assert_int_equal(mechanism->decode(run.host.self, plain_call(&run.host), &run.plan, &run.r.query,
                                       &integers, with, WIDTH),
                     DPF_E_RANGE);
    sums[2] = 0;
    run.host.call.draw = ROUNDS; /* past the end: it is in no event */
    assert_int_equal(mechanism->decode(run.host.self, plain_call(&run.host), &run.plan, &run.r.query,
                                       &integers, with, WIDTH),
                     DPF_E_INTERNAL);
    integers.state = NULL;
    run.host.call.draw = 0;
    assert_int_equal(mechanism->decode(run.host.self, plain_call(&run.host), &run.plan, &run.r.query,
                                       &integers, with, WIDTH),
                     DPF_E_INTERNAL);
    run_close(&run);
    run_close(&silent);
}

/*
 * What is released, y = C estimates, moves between neighbours by no more than the event states: two runs with
 * the same noise, one unit's parts in one of them, of the L2 sensitivity in each of its rounds, adversarially
 * signed or drawn. The worst one uses nearly all of it.
 */
enum { FEW = 2 * WIDTH };

/* One trial: the L2 norm of the move of y over the run, over what is stated. Same noise in both runs. */
static double move_of(struct run *with, struct run *without, int same_direction)
{
    double a[ROUNDS][FEW], b[FEW], c[ROUNDS], direction[FEW] = {0}, square = 0;
    int64_t part[FEW], others[FEW];
    const int first = drawn(3);
    const size_t bytes = (size_t)mechanism->row_state(with->host.self, &with->plan, &with->r.query);
    memset(with->state, 0, 2 * bytes);
    memset(without->state, 0, 2 * bytes);
    mechanism->correlation(with->host.self, &with->plan, c, ROUNDS);
    for (int t = 0; t < ROUNDS; t++) {
        double norm = 0;
        for (int i = 0; i < FEW; i++) {
            direction[i] = same_direction && t > 0 ? direction[i] : drawn(2001) - 1000;
            norm += direction[i] * direction[i];
        }
        for (int i = 0; i < FEW; i++) {
            others[i] = drawn(100000);
            part[i] = others[i]; /* toward zero: within the sensitivity of a round, which is 1 */
            part[i] += t % 3 == first ? (int64_t)(direction[i] / sqrt(norm) / with->plan.grid[0]) : 0;
        }
        decode_round(with, (uint32_t)t, part, a[t]);
        decode_round(without, (uint32_t)t, others, b);
        for (int i = 0; i < FEW; i++)
            a[t][i] -= b[i];
    }
    for (int t = 0; t < ROUNDS; t++)
        for (int i = 0; i < FEW; i++) {
            double y = 0;
            for (int k = 0; k <= t; k++)
                y += c[k] * a[t - k][i];
            square += y * y;
        }
    return sqrt(square) / with->events[0].sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_REPLACE_VALUE].l2;
}

/*
 * What is released, y = C estimates, moves between neighbours by no more than the event states: one unit's
 * parts are of the L2 sensitivity in each of its rounds. The worst trial uses nearly all of it.
 */
TEST(releases_move_as_stated)
{
    static const char *const settings[] = {"noise-multiplier=1", "noise-multiplier=1; bands=7"};
    for (int i = 0; i < 2; i++) {
        struct run with, without;
        double most = 0;
        run_open(&with, settings[i], FEW / WIDTH);
        run_open(&without, settings[i], FEW / WIDTH);
        for (int trial = 0; trial < 100; trial++)
            most = fmax(most, move_of(&with, &without, trial % 2));
        assert_true(most <= 1);
        assert_true(most > 0.999);
        run_close(&with);
        run_close(&without);
    }
}

static int setup(void **state)
{
    (void)state;
    plain_random_start(14);
    component = plain_component("correlated-gaussian", DPF_ROLE_MECHANISM, "correlated-gaussian");
    mechanism = component->functions;
    return 0;
}

FIXTURE(setup, plain_random_end)
