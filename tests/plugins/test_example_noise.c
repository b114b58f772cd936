/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mechanism of examples/plugins, included as NOISE: its draws follow the law of its comment, that law has
 * the planned variance, and all of its neighbours keep to the stated epsilon and delta, by enumeration.
 */
#include "kit/plain_random.h"
#include "kit/plain_release.h"
#include "kit/goodness.h"

#undef fail    /* a macro of cmocka, and a function of the host */
#include NOISE /* after the helpers, which have names of their own */

#define SETTINGS "epsilon=2; where=sum"
#define REACH 100 /* of the small law, in every number of a row */
#define SIDE (2 * REACH + 1)
#define DRAWS 200000

/* Numbers of a row, and the law's weight of noise x. */
#if defined(STAIRCASE)
#define NUMBERS 1
static double weight(const int64_t *x, const dpf_noise_source *from, uint64_t steps)
{
    const uint64_t size = (uint64_t)(x[0] < 0 ? -x[0] : x[0]), stair = size / from->change;
    const int high = size % from->change < inner_of(from->change, (double)steps);
    return exp(-(double)((stair + (high ? 0 : 1)) * from->change) / (double)steps);
}
#elif defined(BALL)
#define NUMBERS 2
static double weight(const int64_t *x, const dpf_noise_source *from, uint64_t steps)
{
    (void)from;
    const double square = (double)(x[0] * x[0] + x[1] * x[1]) * FINE * FINE;
    double m = floor(sqrt(square));
    m += m * m < square;
    return exp(-m / (FINE * (double)steps));
}
#elif defined(TRUNCATED)
#define NUMBERS 1
static double weight(const int64_t *x, const dpf_noise_source *from, uint64_t steps)
{
    const double size = (double)(x[0] < 0 ? -x[0] : x[0]);
    return size > bound_of(from->values, (double)steps) ? 0 : exp(-size / (double)steps);
}
#endif

/* 1 while there is a next vector of -reach .. reach. */
static int next(int64_t *x, int64_t reach)
{
    for (int i = 0; i < NUMBERS; i++) {
        if (++x[i] <= reach)
            return 1;
        x[i] = -reach;
    }
    return 0;
}

static void start(int64_t *x, int64_t reach)
{
    for (int i = 0; i < NUMBERS; i++)
        x[i] = -reach;
}

/* A release of one row, planned. */
static dpf_event planned(struct plain_host *host, struct plain_release *r, dpf_noise_plan *plan)
{
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_gradient(r, NUMBERS, 1);
    plain_release_bound(r, 0, sqrt(NUMBERS), 1);
    r->release.fewer_bits = 32;
    plain_open_random(host, &component, SETTINGS);
    assert_int_equal(plain_plan(host, r, plan, events), 1);
    return events[0];
}

/* At a scale so small that all values can be counted. */
TEST(draws_follow_the_law)
{
    static int64_t counts[NUMBERS == 1 ? SIDE : SIDE * SIDE];
    static double law[NUMBERS == 1 ? SIDE : SIDE * SIDE];
    const uint64_t steps = 5;
    struct plain_host host;
    dpf_cursor cursor;
    dpf_stream *stream;
    int64_t x[NUMBERS], square = 0;
    double total = 0, outside = 0;
    plain_open_random(&host, &component, SETTINGS);
    const dpf_noise_source from = {&plain_random, &cursor, host.params.values, 1, 7};
    assert_int_equal(plain_random.open(&host.host, "law", &stream), DPF_OK);
    plain_random.seek(stream, 0, 0, 0, &cursor);
    start(x, REACH);
    for (int i = 0; i == 0 || next(x, REACH); i++)
        total += law[i] = weight(x, &from, steps);
    for (int i = 0; i < (int)(sizeof law / sizeof law[0]); i++)
        law[i] /= total;
    for (int i = 0; i < DRAWS; i++) {
        int64_t place = 0, width = 1;
        int inside = 1;
        assert_int_equal(draw(&from, steps, x, NUMBERS), DPF_OK);
        for (int j = 0; j < NUMBERS; j++, width *= SIDE) {
            inside &= x[j] >= -REACH && x[j] <= REACH;
            place += (x[j] + REACH) * width;
            square += x[j] * x[j];
        }
        if (inside)
            counts[place]++;
        else
            outside++;
    }
    assert_true(outside <= 3); /* exp(-100 / 5) of the draws */
    goodness_assert(goodness_chi_square(counts, law, (int)(sizeof law / sizeof law[0])), "law",
                    (double)steps);
    /* The formula for the variance is that of a fine grid. */
    assert_true(fabs((double)square / (NUMBERS * (double)DRAWS) / variance(&from, 5, NUMBERS) - 1) < 0.05);
    plain_close(&host);
}

/* The part of a row's law that a shift by `by` lifts above e^epsilon. */
static double hockey_stick(const dpf_noise_source *from, uint64_t steps, int64_t reach, const int64_t *by,
                           double epsilon_)
{
    double total = 0, above = 0;
    int64_t x[NUMBERS];
    start(x, reach);
    do {
        int64_t moved[NUMBERS];
        for (int i = 0; i < NUMBERS; i++)
            moved[i] = x[i] + by[i];
        const double here = weight(x, from, steps), there = weight(moved, from, steps);
        total += here;
        above += fmax(here - exp(epsilon_) * there, 0);
    } while (next(x, reach));
    return above / total;
}

/* No shift by at most the planned change is worse than stated, and one of them is about as bad. */
TEST(neighbours_keep_to_the_statement)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    double worst = 0;
    const dpf_event event = planned(&host, &r, &plan);
    const int approx = event.kind == DPF_EVENT_APPROX;
    const dpf_norms *norms = &event.sensitivity.at[r.release.unit][r.release.adjacency];
    const uint64_t steps = (uint64_t)(plan.scale[0] / plan.grid[0]);
    const dpf_noise_source from = {&plain_random, NULL, host.params.values, 1,
                                   dpf_event_change(&plan, &event)};
    const double stated = approx ? event.p.approx.epsilon : event.p.pure.epsilon * norms->l1;
    const double delta = approx ? event.p.approx.delta : 0;
    const int64_t change = (int64_t)floor((1 / plan.grid[0] + 1));
    assert_true(stated > 1.9 && stated < 2.01);
    assert_true(norms->l1 > 0.99 || !approx);
    for (int64_t by = change; by > 0; by /= 3) {
        const int64_t shift[2] = {NUMBERS == 1 ? by : by * 3 / 5, by * 4 / 5};
        const int64_t reach = NUMBERS == 1 ? 40 * (int64_t)steps : 600;
        const double above = hockey_stick(&from, steps, reach, shift, stated);
        assert_true(above <= delta * (1 + 1e-9) + 1e-13);
        worst = fmax(worst, above);
        if (by == change) /* a smaller epsilon would not do */
            assert_true(hockey_stick(&from, steps, reach, shift, 0.95 * stated) > delta + 1e-9);
    }
    assert_true(delta == 0 || worst > 0.9 * delta);
    plain_close(&host);
}

static int setup(void **unused)
{
    (void)unused;
    plain_random_start(11);
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    plain_random_stop();
    return 0;
}

FIXTURE(setup, teardown)
