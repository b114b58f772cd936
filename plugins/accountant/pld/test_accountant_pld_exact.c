/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both bounds of pld against exact divergences in long double: tiny losses and tiny deltas, coarse grids,
 * both directions of a draw, compositions by enumeration, mass at infinity, integer noise from its
 * definition.
 */
#include "kit/accounting_case.h"

typedef long double real;

/* Divergence at epsilon, exactly. */
typedef real (*divergence)(const void *context, real epsilon);

/* ---- what is asked ------------------------------------------------------------------------------- */

/* Roundings of the exact side: differences of masses that cancel to 1e-6 of themselves. */
#define TOLERANCE 1e-11L

static void check_delta(struct case_accountant *pld, const dpf_event *events, int64_t n, double epsilon,
                        divergence exact, const void *context, const char *name)
{
    const real least = exact(context, epsilon);
    const double delta = case_delta(pld, events, n, epsilon);
    if (!((real)delta >= least * (1 - TOLERANCE)))
        fail_msg("%s: delta at %.17g is %.17g, exactly %.17Lg", name, epsilon, delta, least);
}

static void check_epsilon(struct case_accountant *pld, const dpf_event *events, int64_t n, double delta,
                          divergence exact, const void *context, const char *name)
{
    const dpf_question question = case_question(delta);
    dpf_answer answer = {.size = sizeof answer};
    assert_int_equal(pld->functions->epsilon(pld->host.self, events, n, &question, &answer), DPF_OK);
    const double upper = answer.epsilon, lower = answer.epsilon_lower;
    if (!(upper <= 1e300 && exact(context, upper) <= (real)delta * (1 + TOLERANCE)))
        fail_msg("%s, delta %g: epsilon %.17g has %.17Lg", name, delta, upper, exact(context, upper));
    if (lower > 0.0 && !(exact(context, lower) >= (real)delta * (1 - TOLERANCE)))
        fail_msg("%s, delta %g: lower bound %.17g has %.17Lg", name, delta, lower, exact(context, lower));
    check_delta(pld, events, n, upper * (delta < 1e-20 ? 0.8 : 0.3), exact, context, name);
}

/* For deltas from `least` on, where losses are not so many that a fine grid takes long. */
static void check(const dpf_event *events, int64_t n, double least, int fine, divergence exact,
                  const void *context, const char *name)
{
    static const double deltas[] = {0.2, 1e-6, 1e-40, 1e-290};
    struct case_accountant pld;
    for (int grid = 0; grid <= fine; grid++) {
        case_open(&pld, "pld", grid ? "" : "tolerance=.5", NULL);
        for (size_t d = 0; d < sizeof deltas / sizeof *deltas; d++)
            if (deltas[d] >= least)
                check_epsilon(&pld, events, n, deltas[d], exact, context, name);
        case_close(&pld);
    }
}

/* ---- Gaussian noise ------------------------------------------------------------------------------ */

struct gaussian {
    real mu, rate;
};

static real above(real x)
{
    return erfcl(x / sqrtl(2)) / 2;
}

/* The loss of a removal, ln(1 - q + q e^{mu x - mu^2/2}), grows in x: tests are half-lines. */
static real removal(const struct gaussian *g, real epsilon)
{
    const real odds = (expl(epsilon) - (1 - g->rate)) / g->rate;
    if (odds <= 0)
        return -expm1l(epsilon);
    const real x = logl(odds) / g->mu + g->mu / 2;
    return g->rate * above(x - g->mu) + (1 - g->rate - expl(epsilon)) * above(x);
}

static real addition(const struct gaussian *g, real epsilon)
{
    const real odds = (expl(-epsilon) - (1 - g->rate)) / g->rate;
    if (odds <= 0)
        return 0;
    const real x = logl(odds) / g->mu + g->mu / 2;
    return (1 - expl(epsilon) * (1 - g->rate)) * above(-x) - expl(epsilon) * g->rate * above(g->mu - x);
}

static real of_gaussian(const void *context, real epsilon)
{
    const struct gaussian *g = context;
    return fmaxl(removal(g, epsilon), addition(g, epsilon));
}

TEST(gaussian_noise_at_all_sizes)
{
    static const struct {
        double scale, rate;
    } settings[] = {{1e6, 1}, {1, 1}, {0.01, 1}, {100, 1e-6}, {1, 1e-6}, {2, 0.5}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct gaussian g = {1 / (real)settings[i].scale, settings[i].rate};
        const dpf_event event =
            case_sampled(case_event(DPF_EVENT_GAUSSIAN, settings[i].scale, 1), settings[i].rate);
        char name[64];
        snprintf(name, sizeof name, "gaussian %g q %g", settings[i].scale, settings[i].rate);
        check(&event, 1, 0.0, settings[i].scale > 1, of_gaussian, &g, name);
    }
}

/* ---- compositions of few points ------------------------------------------------------------------ */

#define MOST_POINTS 4

/* P and Q at points, and mass of P where Q has none. */
struct points {
    int n;
    real p[MOST_POINTS], q[MOST_POINTS], lost;
};

struct composition {
    struct points side[2]; /* a removal and an addition */
    int sides, copies;
    const struct gaussian *beside; /* or NULL */
};

/* Two points, of which delta is lost on either side. */
static struct points two_points(real epsilon, real delta)
{
    const real likely = (1 - delta) / (1 + expl(-epsilon)), rare = (1 - delta) / (1 + expl(epsilon));
    return (struct points){2, {likely, rare}, {rare, likely}, delta};
}

static void draw(const struct points *whole, real rate, struct composition *out)
{
    struct points mixed = *whole;
    for (int i = 0; i < whole->n; i++)
        mixed.p[i] = (1 - rate) * whole->q[i] + rate * whole->p[i];
    out->sides = 2;
    out->side[0] = mixed;
    for (int i = 0; i < whole->n; i++)
        mixed.q[i] = mixed.p[i], mixed.p[i] = whole->q[i];
    out->side[1] = mixed;
    out->side[0].lost = rate * whole->lost;
    out->side[1].lost = 0;
    if (whole->lost > 0) /* what only Q has */
        for (int side = 0; side < 2; side++) {
            struct points *to = &out->side[side];
            to->p[to->n] = (side ? 1 : 1 - rate) * whole->lost;
            to->q[to->n++] = (side ? 1 - rate : 1) * whole->lost;
        }
}

static real rest_at(const struct composition *c, real epsilon)
{
    if (c->beside)
        return of_gaussian(c->beside, epsilon);
    return epsilon < 0 ? -expm1l(epsilon) : 0;
}

/* Sum over how many of `left` copies are at each point from `at` on. */
static real enumerate(const struct composition *c, const struct points *points, int at, int left, real mass,
                      real epsilon)
{
    const real loss = logl(points->p[at] / points->q[at]);
    real sum = 0, weight = 1;
    if (at + 1 == points->n || at + 1 == MOST_POINTS) /* the second for the compiler, which unrolls this */
        return mass * powl(points->p[at], left) * rest_at(c, epsilon - left * loss);
    for (int k = 0; k <= left; k++) {
        sum += enumerate(c, points, at + 1, left - k, mass * weight, epsilon - k * loss);
        weight *= points->p[at] * (left - k) / (k + 1);
    }
    return sum;
}

static real of_composition(const void *context, real epsilon)
{
    const struct composition *c = context;
    real most = 0;
    for (int side = 0; side < c->sides; side++) {
        const real finite = enumerate(c, &c->side[side], 0, c->copies, 1, epsilon);
        most = fmaxl(most, finite - expm1l(c->copies * log1pl(-c->side[side].lost)));
    }
    return most;
}

TEST(compositions_of_points)
{
    static const struct {
        double epsilon, lost, rate, scale; /* scale 0: no Gaussian beside it */
        int copies;
    } settings[] = {{2, 0, 1, 0, 1},      {0.1, 0, 1, 0, 100},    {7, 0, 0.01, 0, 17}, {2, 0, 0.3, 0, 40},
                    {0.5, 1e-9, 1, 0, 5}, {1, 1e-8, 0.25, 0, 12}, {0.7, 0, 1, 0.8, 9}, {3, 0, 0.1, 30, 20}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct gaussian beside = {settings[i].scale > 0 ? 1 / (real)settings[i].scale : 0, 1};
        const struct points whole = two_points(settings[i].epsilon, settings[i].lost);
        struct composition c = {.side = {whole}, .sides = 1, .copies = settings[i].copies};
        dpf_event events[2] = {case_event(DPF_EVENT_APPROX, 1, 1),
                               case_event(DPF_EVENT_GAUSSIAN, settings[i].scale, 1)};
        char name[64];
        if (settings[i].rate < 1)
            draw(&whole, settings[i].rate, &c);
        c.beside = settings[i].scale > 0 ? &beside : NULL;
        events[0].p.approx.epsilon = settings[i].epsilon;
        events[0].p.approx.delta = settings[i].lost;
        events[0] = case_sampled(events[0], settings[i].rate);
        events[0].count = settings[i].copies;
        snprintf(name, sizeof name, "setting %d", (int)i);
        check(events, c.beside ? 2 : 1, 2 * settings[i].copies * settings[i].lost, settings[i].copies < 10,
              of_composition, &c, name);
    }
}

/* Losses s (m - 2k) of discrete Laplace noise of scale 1/s, shifted by m steps (pld_pair.h). */
static struct points laplace_points(real s, int m)
{
    struct points points = {.n = m + 1};
    for (int k = 0; k <= m; k++) {
        const real part = k == 0 || k == m ? 1 : -expm1l(-s);
        points.p[k] = points.q[m - k] = expl(-s * k) * part / (1 + expl(-s));
    }
    return points;
}

/* A rare draw leaves all losses but the largest within a cell of the grid: the spike (pld_grid.c). */
TEST(compositions_of_a_spike)
{
    static const struct {
        double scale, rate;
        int steps, copies;
    } settings[] = {{0.4, 1e-3, 3, 40}, {0.3, 0.01, 3, 20}, {1, 1e-4, 3, 30}, {0.25, 1e-6, 3, 40},
                    {0.5, 1e-5, 2, 60}, {0.2, 1e-3, 2, 60}, {2, 0.01, 3, 30}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct points whole = laplace_points(1 / (real)settings[i].scale, settings[i].steps);
        struct composition c = {.copies = settings[i].copies};
        dpf_event event = case_sampled(
            case_event(DPF_EVENT_DISCRETE_LAPLACE, settings[i].scale, settings[i].steps), settings[i].rate);
        char name[64];
        draw(&whole, settings[i].rate, &c);
        event.grid = 1;
        event.count = settings[i].copies;
        snprintf(name, sizeof name, "spike %d", (int)i);
        check(&event, 1, 1e-40, 1, of_composition, &c, name);
    }
}

/* ---- integer noise ------------------------------------------------------------------------------- */

#define REACH 700

/* Masses at -REACH .. REACH. */
struct noise {
    real mass[2 * REACH + 1];
};

static void noise_fill(struct noise *noise, const real *side)
{
    real sum = side[0];
    for (int k = 1; k <= REACH; k++)
        sum += 2 * side[k];
    for (int k = 0; k <= REACH; k++)
        noise->mass[REACH + k] = noise->mass[REACH - k] = side[k] / sum;
}

static void noise_gaussian(struct noise *noise, real scale)
{
    static real side[REACH + 1];
    for (int k = 0; k <= REACH; k++)
        side[k] = expl(-(real)k * k / (2 * scale * scale));
    noise_fill(noise, side);
}

/* The difference of two Poisson numbers: I_k(V), by its recurrence from far out. */
static void noise_skellam(struct noise *noise, real variance)
{
    static real ratio[2 * REACH + 2], side[REACH + 1];
    ratio[2 * REACH + 1] = 0;
    for (int k = 2 * REACH; k > 0; k--)
        ratio[k] = 1 / (2 * k / variance + ratio[k + 1]);
    side[0] = 1;
    for (int k = 1; k <= REACH; k++)
        side[k] = side[k - 1] * ratio[k];
    noise_fill(noise, side);
}

struct shift {
    struct noise noise;
    int by[2];
    real rate;
};

/* Mass in one coordinate whose centre is moved. */
static real mass_at(const struct noise *noise, int x)
{
    return x < -REACH || x > REACH ? 0 : noise->mass[x + REACH];
}

/* Over points that both have in range: a sum over fewer points is less. */
static real of_shift(const void *context, real epsilon)
{
    const struct shift *s = context;
    const real y = expl(epsilon), q = s->rate;
    const int far = s->by[1] ? 80 : REACH - s->by[0], across = s->by[1] ? far : 0;
    real leave = 0, come = 0;
    for (int i = -far; i <= far; i++)
        for (int j = -across; j <= across; j++) {
            const real aside = s->by[1] ? mass_at(&s->noise, j) : 1;
            const real moved_aside = s->by[1] ? mass_at(&s->noise, j - s->by[1]) : 1;
            const real without = mass_at(&s->noise, i) * aside;
            const real with = (1 - q) * without + q * mass_at(&s->noise, i - s->by[0]) * moved_aside;
            leave += with > y * without ? with - y * without : 0;
            come += without > y * with ? without - y * with : 0;
        }
    return fmaxl(leave, come);
}

static void check_shift(int32_t kind, double size, int x, int y, double rate)
{
    static struct shift s;
    dpf_event event = case_event(kind, size, sqrt((double)(x * x + y * y)) * (1 + 1e-15));
    struct case_accountant pld;
    char name[80];
    event.grid = 1;
    event.p.skellam.variance = kind == DPF_EVENT_SKELLAM ? size : 0;
    for (int unit = 0; unit < DPF_N_UNITS; unit++)
        for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
            event.sensitivity.at[unit][adjacency].l1 = x + y;
    if (kind == DPF_EVENT_SKELLAM)
        noise_skellam(&s.noise, size);
    else
        noise_gaussian(&s.noise, size);
    s.by[0] = x;
    s.by[1] = y;
    s.rate = rate;
    event = case_sampled(event, rate);
    snprintf(name, sizeof name, "%s %g by (%d, %d) q %g", dpf_event_kind_name(kind), size, x, y, rate);
    case_open(&pld, "pld", "", NULL);
    for (double epsilon = 0; epsilon < 12; epsilon = epsilon * 2 + 0.3)
        check_delta(&pld, &event, 1, epsilon, of_shift, &s, name);
    case_close(&pld);
}

TEST(integer_noise_is_no_worse_than_its_gaussian)
{
    static const double variances[] = {0.5, 1, 3, 40, 700};
    static const double scales[] = {0.6, 1, 2.5, 20};
    for (size_t i = 0; i < sizeof variances / sizeof *variances; i++) {
        check_shift(DPF_EVENT_SKELLAM, variances[i], 1, 0, 1);
        check_shift(DPF_EVENT_SKELLAM, variances[i], 7, 0, 0.2);
        check_shift(DPF_EVENT_SKELLAM, variances[i], 3, 1, i < 3 ? 0.5 : 1);
    }
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        check_shift(DPF_EVENT_DISCRETE_GAUSSIAN, scales[i], 2, 0, 1);
        check_shift(DPF_EVENT_DISCRETE_GAUSSIAN, scales[i], 1, 1, 0.1);
        check_shift(DPF_EVENT_DISCRETE_GAUSSIAN, scales[i], 5, 2, 1);
    }
}

/* It costs next to nothing: the Gaussian pair has the variance but for two steps at most. */
TEST(integer_noise_is_hardly_worse_than_a_gaussian)
{
    struct case_accountant pld;
    case_open(&pld, "pld", "", NULL);
    for (double variance = 16; variance < 1e9; variance *= 64) {
        dpf_event skellam = case_event(DPF_EVENT_SKELLAM, 1, 10);
        dpf_event discrete = case_event(DPF_EVENT_DISCRETE_GAUSSIAN, sqrt(variance), 10);
        const dpf_event less = case_event(DPF_EVENT_GAUSSIAN, sqrt(variance - 3), 10);
        skellam.p.skellam.variance = variance;
        skellam.grid = discrete.grid = 1;
        const double most = case_epsilon(&pld, &less, 1, 1e-6);
        assert_true(case_epsilon(&pld, &skellam, 1, 1e-6) <= most);
        assert_true(case_epsilon(&pld, &discrete, 1, 1e-6) <= most);
    }
    case_close(&pld);
}

/* Each noise value is a loss of its own: both bounds come from the rarest one that is likelier than delta. */
TEST(coarse_noise_under_rare_draws)
{
    static const struct {
        int32_t kind;
        double size, l, rate, count;
        double least; /* epsilon_lower over epsilon */
    } cases[] = {{DPF_EVENT_DISCRETE_GAUSSIAN, .4, 1, 1e-5, 1e5, .99},
                 {DPF_EVENT_DISCRETE_GAUSSIAN, .4, 1, 1e-6, 1e6, .98},
                 {DPF_EVENT_DISCRETE_GAUSSIAN, .5, 1, 1e-6, 1e4, .98},
                 {DPF_EVENT_DISCRETE_LAPLACE, .3, 3, 1e-6, 1e6, .99}};
    struct case_accountant pld;
    case_open(&pld, "pld", "", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dpf_event event = case_event(cases[i].kind, cases[i].size, cases[i].l);
        event.grid = 1;
        event = case_sampled(event, cases[i].rate);
        event.count = (int64_t)cases[i].count;
        const dpf_question question = case_question(1e-6);
        dpf_answer answer = {.size = sizeof answer};
        assert_int_equal(pld.functions->epsilon(pld.host.self, &event, 1, &question, &answer), DPF_OK);
        printf("%d: %.6g to %.6g\n", (int)i, answer.epsilon_lower, answer.epsilon);
        assert_true(answer.epsilon_lower <= answer.epsilon);
        assert_true(answer.epsilon_lower >= cases[i].least * answer.epsilon);
    }
    case_close(&pld);
}
