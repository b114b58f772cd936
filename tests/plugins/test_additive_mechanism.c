/* SPDX-License-Identifier: Apache-2.0 */
/* additive_mechanism.h: what is left out is refused, and what is filled in for norm LINF, APPROX and vectors.
 */
#include "kit/plain_random.h"
#include "kit/plain_release.h"

#define LENGTH 100 /* of a row: longer than what is drawn at once on the stack */
#define ROWS 3

enum { P_EPSILON, P_SHARED };

static const dpf_param params[] = {
    [P_EPSILON] =
        DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "", "Budget."),
    DPF_ADDITIVE_PARAMS,
};

static int64_t calls, longest;

static dpf_status multiplier(const dpf_host *host, const dpf_value *values, double *out)
{
    (void)host;
    *out = 1 / values[P_EPSILON].real;
    return DPF_OK;
}

/* Noise that tells its place in the draw: 1, 2, ... */
static dpf_status draw(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n)
{
    (void)from, (void)steps;
    for (int64_t i = 0; i < n; i++)
        out[i] = i + 1;
    calls++;
    longest = n > longest ? n : longest;
    return DPF_OK;
}

static double variance(const dpf_noise_source *from, double steps, int64_t n)
{
    (void)from;
    return steps * steps * (double)n;
}

static void state(const dpf_value *values, const dpf_release *release, const dpf_noise_plan *plan,
                  double moved, dpf_event *event)
{
    (void)values, (void)plan, (void)moved;
    event->p.approx.delta = 0.5;
    dpf_event_normalise(event, event->sensitivity.at[release->unit][release->adjacency].l1);
}

static const dpf_additive_mechanism whole = {
    .norm = DPF_NORM_L1,
    .event = DPF_EVENT_PURE,
    .bits = 20,
    .max_bits = 40,
    .shared = P_SHARED,
    .multiplier = multiplier,
    .draw = draw,
    .variance = variance,
};
static dpf_additive_mechanism spec;
DPF_ADDITIVE_COMPONENT(component, spec, dpf_additive_functions, .id = "test-additive", .version = "1.0.0",
                       .summary = "A test", .citation = "", DPF_PARAMS(params))

static void refused(const char *what)
{
    struct plain_host host;
    plain_init(&host, &component);
    host.random = &plain_random;
    if (plain_create(&host, "") != DPF_E_INTERNAL)
        fail_msg("%s is taken", what);
    assert_true(host.report[0] != '\0');
    plain_close(&host);
}

/* A forgotten event would be DPF_EVENT_NO_OP, which costs nothing. */
TEST(what_is_left_out_is_refused)
{
    spec = whole, spec.event = 0, refused("no event");
    spec = whole, spec.event = DPF_EVENT_NON_PRIVATE, refused("an event without noise");
    spec = whole, spec.norm = 0, refused("no norm");
    spec = whole, spec.norm = 5, refused("an unknown norm");
    spec = whole, spec.multiplier = NULL, refused("no multiplier");
    spec = whole, spec.draw = NULL, refused("no draw");
    spec = whole, spec.variance = NULL, refused("no variance");
    spec = whole, spec.max_bits = 0, refused("no max_bits");
    spec = whole, spec.event = DPF_EVENT_APPROX, refused("APPROX without its numbers");
    spec = whole, spec.event = DPF_EVENT_ZCDP, refused("ZCDP without its numbers");
    spec = whole, spec.norm = DPF_NORM_LINF, spec.event = DPF_EVENT_DISCRETE_LAPLACE,
    refused("LINF of Laplace");
    spec = whole, spec.norm = DPF_NORM_L2, spec.event = DPF_EVENT_PURE, refused("PURE of L2");
    spec = whole, spec.norm = DPF_NORM_ROWS, refused("ROWS of single numbers");
    spec = whole, spec.norm = DPF_NORM_ROWS, spec.whole_blocks = 1, spec.event = DPF_EVENT_DISCRETE_LAPLACE,
    refused("ROWS of Laplace");
    spec = whole, spec.shared = P_SHARED + 1, refused("another place of the shared parameters");
    spec = whole, spec.max_bits = 31, spec.in_shares = DPF_SHARES_VARIANCE,
    refused("shares in a table without their flags");
    spec = whole;
    struct plain_host host;
    plain_init(&host, &component);
    host.random = &plain_random;
    assert_int_equal(plain_create(&host, ""), DPF_OK);
    plain_close(&host);
}

static const dpf_param params_of_shares[] = {
    [P_EPSILON] =
        DPF_PARAM_REAL_F("epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "", "Budget."),
};
DPF_ADDITIVE_COMPONENT(shares, spec, dpf_additive_shares_functions, .id = "test-shares", .version = "1.0.0",
                       .summary = "A test", .citation = "", DPF_PARAMS(params_of_shares))

/* A plan has the steps of a share of a row and of the Gram row in one word: more would be other noise than is stated. */
TEST(steps_of_shares_that_no_plan_keeps_are_refused)
{
    for (int32_t law = DPF_SHARES_VARIANCE; law <= DPF_SHARES_LAW; law++)
        for (int32_t bits = 31; bits <= 42; bits++) {
            struct plain_host host;
            spec = whole, spec.in_shares = law, spec.max_bits = bits;
            plain_init(&host, &shares);
            host.random = &plain_random;
            const int kept = law == DPF_SHARES_LAW || bits == 31;
            assert_int_equal(plain_create(&host, ""), kept ? DPF_OK : DPF_E_INTERNAL);
            if (!kept)
                assert_non_null(strstr(host.report, "32 bits"));
            plain_close(&host);
        }
}

static dpf_event planned(struct plain_host *host, struct plain_release *r, dpf_noise_plan *plan)
{
    dpf_event events[2 * DPF_MAX_BLOCKS];
    plain_release_gradient(r, LENGTH, ROWS);
    plain_release_bound(r, 0, 5, 2); /* linf 2 as well */
    plain_open_random(host, &component, "epsilon=0.5; where=sum");
    assert_int_equal(plain_plan(host, r, plan, events), 1);
    return events[0];
}

/* The change of one number, or of one row, is charged for each that may move, rounding included. */
TEST(linf_is_charged_for_each)
{
    for (int vectors = 0; vectors < 2; vectors++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        spec = whole, spec.norm = DPF_NORM_LINF, spec.whole_blocks = vectors;
        const dpf_event event = planned(&host, &r, &plan);
        const double moved = vectors ? ROWS : ROWS * LENGTH, change = moved * (2 + plan.grid[0]);
        const dpf_norms *norms = &event.sensitivity.at[r.release.unit][r.release.adjacency];
        assert_int_equal(event.kind, DPF_EVENT_PURE);
        assert_true(fabs(norms->l1 / change - 1) < 1e-12);
        assert_true(plan.scale[0] >= change / 0.5);
        assert_true(plan.scale[0] < change / 0.5 * 1.001);
        assert_true(event.p.pure.epsilon * norms->l1 <= 0.5 * (1 + 1e-12));
        assert_true(event.p.pure.epsilon * norms->l1 > 0.499);
        assert_true(plan.variance[0] == plan.scale[0] * plan.scale[0] * (vectors ? LENGTH : 1));
        plain_close(&host);
    }
}

/* The sum of rows' L2 norms: the L1 norm, or sqrt(rows) times the L2 norm, whichever is smaller. */
TEST(rows_are_charged_by_the_smaller_bound)
{
    for (int i = 0; i < 2; i++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        dpf_event events[2 * DPF_MAX_BLOCKS];
        spec = whole, spec.norm = DPF_NORM_ROWS, spec.whole_blocks = 1;
        plain_release_gradient(&r, LENGTH, ROWS);
        plain_release_bound(&r, 0, i ? 3 : 5, 2);
        plain_open_random(&host, &component, "epsilon=0.5; where=sum");
        assert_int_equal(plain_plan(&host, &r, &plan, events), 1);
        const double change = (i ? 3 : sqrt(ROWS) * 2) + ROWS * LENGTH * plan.grid[0];
        const double l1 = events[0].sensitivity.at[r.release.unit][r.release.adjacency].l1;
        assert_true(l1 > change * 0.999 && l1 <= change * (1 + 1e-12));
        assert_true(plan.scale[0] >= change / 0.5 && plan.scale[0] < change / 0.5 * 1.001);
        plain_close(&host);
    }
}

/* What a draw is told about the change, and `state` about that of its event. */
TEST(draws_know_the_change)
{
    static const int32_t norms[] = {DPF_NORM_L1, DPF_NORM_L2, DPF_NORM_LINF, DPF_NORM_ROWS};
    static const double bounds[] = {5, 2, 2, 0};
    for (int i = 0; i < 4; i++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        spec = whole, spec.norm = norms[i], spec.whole_blocks = norms[i] == DPF_NORM_ROWS;
        spec.event = norms[i] == DPF_NORM_L2 ? DPF_EVENT_UNSUPPORTED : DPF_EVENT_PURE;
        const dpf_event event = planned(&host, &r, &plan);
        const double norm = norms[i] == DPF_NORM_ROWS ? sqrt(ROWS) * 2 : bounds[i];
        const double steps = norms[i] == DPF_NORM_L2     ? sqrt(ROWS * LENGTH)
                             : norms[i] == DPF_NORM_LINF ? 1
                                                         : ROWS * LENGTH;
        const double change = norm / plan.grid[0] + steps;
        assert_true((double)dpf_event_change(&plan, &event) >= change);
        assert_true((double)dpf_event_change(&plan, &event) < change * 1.000001 + 1);
        plain_close(&host);
    }
}

TEST(a_theorem_is_stated_for_a_change_of_1)
{
    struct plain_host host;
    struct plain_release r;
    dpf_noise_plan plan;
    spec = whole, spec.event = DPF_EVENT_APPROX, spec.state = state;
    const dpf_event event = planned(&host, &r, &plan);
    assert_int_equal(event.kind, DPF_EVENT_APPROX);
    assert_true(event.p.approx.delta == 0.5);
    assert_true(event.sensitivity.at[r.release.unit][r.release.adjacency].l1 == 1);
    plain_close(&host);
}

/* One call has all numbers of a row's block, however long, at the sum and at the party. */
TEST(vectors_are_drawn_in_one_call)
{
    static const double zeros[ROWS * LENGTH];
    static double out[ROWS * LENGTH];
    static int64_t sums[ROWS * LENGTH];
    for (int at_party = 0; at_party < 2; at_party++) {
        struct plain_host host;
        struct plain_release r;
        dpf_noise_plan plan;
        spec = whole, spec.whole_blocks = 1;
        planned(&host, &r, &plan);
        plan.where = at_party ? DPF_NOISE_AT_PARTY : DPF_NOISE_AT_SUM;
        calls = longest = 0;
        dpf_encoded sum = plain_integers(&r, sums);
        sum.survivors = 1;
        const dpf_mechanism *mechanism = component.functions;
        assert_int_equal(
            mechanism->encode(host.self, plain_call(&host), &plan, &r.query, zeros, LENGTH, &sum), DPF_OK);
        assert_int_equal(mechanism->decode(host.self, plain_call(&host), &plan, &r.query, &sum, out, LENGTH),
                         DPF_OK);
        assert_int_equal(calls, ROWS);
        assert_int_equal(longest, LENGTH);
        for (int i = 0; i < ROWS * LENGTH; i++)
            if (out[i] != (i % LENGTH + 1) * plan.grid[0])
                fail_msg("number %d is %g steps", i, out[i] / plan.grid[0]);
        plain_close(&host);
    }
}

static int setup(void **unused)
{
    (void)unused;
    plain_random_start(7);
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    plain_random_stop();
    return 0;
}

FIXTURE(setup, teardown)
