/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger in the names of dp_accounting. */
#include <math.h>
#include <string.h>

#include "kit/test.h"
#include "privacy/dp_event.h"

static struct ledger ledger;
static struct guarantee guarantee;

static int begin(void **state)
{
    (void)state;
    memset(&ledger, 0, sizeof ledger);
    memset(&guarantee, 0, sizeof guarantee);
    guarantee.unit = DPF_UNIT_USER;
    guarantee.adjacency = DPF_ADJ_ADD_REMOVE;
    guarantee.observer = DPF_OBSERVER_OUTSIDER;
    return 0;
}

static int end(void **state)
{
    (void)state;
    ledger_free(&ledger);
    return 0;
}

static dpf_event make(int32_t kind, double scale, double grid, double sensitivity)
{
    dpf_event event;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.lifetime = DPF_LIFETIME_ROUND;
    event.count = 7;
    event.scale = scale;
    event.grid = grid;
    for (int unit = 0; unit < DPF_N_UNITS; unit++)
        for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
            event.sensitivity.at[unit][adjacency] = (dpf_norms){sensitivity, sensitivity, sensitivity};
    event.sampling = (dpf_sampling){.hidden_from = -1, .rate = 1.0};
    return event;
}

static void add(dpf_event event)
{
    ledger_add(&ledger, &event, "test");
}

/* Event i of the export, without its repetition if it has one. */
static const json_t *inner(const json_t *whole, size_t i, json_int_t count)
{
    const json_t *event = json_array_get(json_object_get(whole, "events"), i);
    if (strcmp(json_string_value(json_object_get(event, "class_name")), "SelfComposedDpEvent") != 0)
        return event;
    assert_int_equal(json_integer_value(json_object_get(event, "count")), count);
    return json_object_get(event, "event");
}

static void is(const json_t *event, const char *class_name)
{
    assert_string_equal(json_string_value(json_object_get(event, "module_name")), "dp_accounting.dp_event");
    assert_string_equal(json_string_value(json_object_get(event, "class_name")), class_name);
}

static void has(const json_t *event, const char *field, double value)
{
    const double found = json_number_value(json_object_get(event, field));
    if (!(fabs(found - value) <= 1e-12 * fabs(value)))
        fail_msg("%s is %.17g instead of %.17g", field, found, value);
}

TEST_WITH(kinds_have_their_names_and_fields, begin, end)
{
    add(make(DPF_EVENT_GAUSSIAN, 6, 0, 2));
    add(make(DPF_EVENT_LAPLACE, 5, 0, 2));
    add(make(DPF_EVENT_DISCRETE_GAUSSIAN, 6, 0.5, 2));
    add(make(DPF_EVENT_DISCRETE_LAPLACE, 4, 0.5, 2.2));
    dpf_event pure = make(DPF_EVENT_PURE, 0, 0, 3);
    pure.p.pure.epsilon = 0.25;
    add(pure);
    dpf_event concentrated = make(DPF_EVENT_ZCDP, 0, 0, 1);
    concentrated.p.zcdp.xi = 0.125;
    concentrated.p.zcdp.rho = 0.5;
    add(concentrated);
    json_t *whole = dp_event_json(&ledger, &guarantee);
    is(whole, "ComposedDpEvent");
    is(inner(whole, 0, 7), "GaussianDpEvent");
    has(inner(whole, 0, 7), "noise_multiplier", 3);
    is(inner(whole, 1, 7), "LaplaceDpEvent");
    has(inner(whole, 1, 7), "noise_multiplier", 2.5);
    is(inner(whole, 2, 7), "GaussianDpEvent"); /* 4 steps, scale 12: K^2 (1 - K^2/12) = 1/144 */
    has(inner(whole, 2, 7), "noise_multiplier", 0.25 / sqrt(6 - sqrt(36 - 12.0 / 144)));
    is(inner(whole, 3, 7), "LaplaceDpEvent"); /* 4 whole grid steps within 2.2, of an eighth of the scale */
    const double r = exp(0.125), part = (r - 1) * (r - 1) / (4 * r + 4);
    has(inner(whole, 3, 7), "noise_multiplier", 1 / (0.5 - 2 * log(1 - part)));
    is(inner(whole, 4, 7), "EpsilonDeltaDpEvent");
    has(inner(whole, 4, 7), "epsilon", 0.75);
    is(inner(whole, 5, 7), "ZCDpEvent");
    has(inner(whole, 5, 7), "xi", 0.125);
    has(inner(whole, 5, 7), "rho", 0.5);
    json_decref(whole);
}

TEST_WITH(only_draws_that_amplify_are_exported, begin, end)
{
    dpf_event event = make(DPF_EVENT_GAUSSIAN, 2, 0, 1);
    event.sampling.kind = DPF_SAMPLING_POISSON;
    event.sampling.unit = DPF_UNIT_USER;
    event.sampling.rate = 0.25;
    event.sampling.hidden_from = DPF_OBSERVER_OUTSIDER;
    add(event);
    json_t *whole = dp_event_json(&ledger, &guarantee);
    is(inner(whole, 0, 7), "PoissonSampledDpEvent");
    has(inner(whole, 0, 7), "sampling_probability", 0.25);
    is(json_object_get(inner(whole, 0, 7), "event"), "GaussianDpEvent");
    json_decref(whole);
    guarantee.observer = DPF_OBSERVER_SERVER; /* who sees the draw */
    whole = dp_event_json(&ledger, &guarantee);
    is(inner(whole, 0, 7), "GaussianDpEvent");
    json_decref(whole);
}

/* What has no class of its own goes by a bound that has: Skellam noise, flipped bits; with the draw inside.
 */
TEST_WITH(bounds_stand_for_what_has_no_class, begin, end)
{
    dpf_event skellam = make(DPF_EVENT_SKELLAM, 0, 0.25, 1);
    skellam.p.skellam.variance = 16; /* 256 squared steps; a shift of 4 in either norm */
    add(skellam);
    dpf_event bits = make(DPF_EVENT_RANDOMIZED_RESPONSE, 0, 0, 3);
    bits.p.response.flip = 0.25;
    add(bits);
    bits.p.response.flip = 0.75; /* the other name of the same bit */
    add(bits);
    bits.sampling = (dpf_sampling){.kind = DPF_SAMPLING_POISSON,
                                   .unit = DPF_UNIT_USER,
                                   .hidden_from = DPF_OBSERVER_OUTSIDER,
                                   .rate = 0.5};
    add(bits);
    dpf_event drawn = make(DPF_EVENT_APPROX, 0, 0, 1);
    drawn.p.approx.epsilon = 1;
    drawn.p.approx.delta = 0.01;
    drawn.sampling = bits.sampling;
    add(drawn);
    drawn.kind = DPF_EVENT_ZCDP;
    add(drawn);
    json_t *whole = dp_event_json(&ledger, &guarantee);
    is(inner(whole, 0, 7), "GaussianDpEvent");
    const double multiplier = json_number_value(json_object_get(inner(whole, 0, 7), "noise_multiplier"));
    assert_true(multiplier < 4);
    assert_true(multiplier > 3.99); /* 16 steps of deviation, a shift of 4 */
    for (size_t i = 1; i <= 2; i++) {
        is(inner(whole, i, 21), "EpsilonDeltaDpEvent"); /* three bits, seven times */
        has(inner(whole, i, 21), "epsilon", log(3));
        has(inner(whole, i, 21), "delta", 0);
    }
    is(inner(whole, 3, 7), "EpsilonDeltaDpEvent"); /* they share a draw */
    has(inner(whole, 3, 7), "epsilon", log1p(0.5 * (27 - 1)));
    is(inner(whole, 4, 7), "EpsilonDeltaDpEvent");
    has(inner(whole, 4, 7), "epsilon", log1p(0.5 * expm1(1)));
    has(inner(whole, 4, 7), "delta", 0.005);
    is(inner(whole, 5, 7), "ZCDpEvent"); /* no gain by the draw is proved */
    has(inner(whole, 5, 7), "rho", 0.01);
    assert_int_equal(dp_event_unsupported(whole), 0);
    json_decref(whole);
}

/* ---- the margin, against the definition ---------------------------------------------------------- */

#define REACH 2000

/* Divergence at epsilon of integer noise with these masses at 0, 1, ..., against a shift. */
static double integer_delta(const double *mass, int shift, double epsilon)
{
    double sum = 0;
    for (int k = -REACH; k <= REACH; k++) {
        const int moved = abs(k - shift), here = abs(k);
        const double over = (moved <= REACH ? mass[moved] : 0) - exp(epsilon) * mass[here];
        sum += over > 0 ? over : 0;
    }
    return sum;
}

static double exported_delta(const json_t *event, double epsilon)
{
    const double multiplier = json_number_value(json_object_get(event, "noise_multiplier"));
    if (strcmp(json_string_value(json_object_get(event, "class_name")), "LaplaceDpEvent") == 0)
        return fmax(1 - exp((epsilon - 1 / multiplier) / 2), 0);
    const double a = epsilon * multiplier - 0.5 / multiplier, b = a + 1 / multiplier;
    return 0.5 * erfc(a / sqrt(2)) - exp(epsilon) * 0.5 * erfc(b / sqrt(2));
}

/* What is exported has no smaller divergence at any epsilon than the noise that is drawn, and hardly more. */
TEST_WITH(exported_noise_is_no_more_private, begin, end)
{
    static const double scales[] = {0.7, 1, 3, 12, 50};
    static const int shifts[] = {1, 2, 5, 40};
    static double mass[REACH + 1];
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
        for (size_t m = 0; m < sizeof shifts / sizeof *shifts; m++)
            for (int gaussian = 0; gaussian < 2; gaussian++) {
                double sum = 0;
                for (int k = REACH; k >= 0; k--) {
                    mass[k] = gaussian ? exp(-0.5 * k * k / (scales[s] * scales[s])) : exp(-k / scales[s]);
                    sum += k > 0 ? 2 * mass[k] : mass[k];
                }
                for (int k = 0; k <= REACH; k++)
                    mass[k] /= sum;
                ledger_free(&ledger);
                add(make(gaussian ? DPF_EVENT_DISCRETE_GAUSSIAN : DPF_EVENT_DISCRETE_LAPLACE, scales[s], 1,
                         shifts[m]));
                json_t *whole = dp_event_json(&ledger, &guarantee);
                const json_t *event = inner(whole, 0, 7);
                for (double epsilon = 0; epsilon < 12; epsilon += 0.037) {
                    const double drawn = integer_delta(mass, shifts[m], epsilon);
                    const double exported = exported_delta(event, epsilon);
                    if (!(exported >= drawn * (1 - 1e-9) - 1e-13))
                        fail_msg("scale %g, shift %d, epsilon %g: %.12g is exported, %.12g drawn", scales[s],
                                 shifts[m], epsilon, exported, drawn);
                }
                json_decref(whole);
            }
}

/* Candidates that cost the same are one RepeatAndSelectDpEvent; others, and other laws, have no class. */
TEST_WITH(selections_are_events_of_their_own, begin, end)
{
    for (int variant = 0; variant < 4; variant++) {
        dpf_event header = make(DPF_EVENT_SELECTION, 0, 0, NAN),
                  candidate = make(DPF_EVENT_CANDIDATE, 0, 0, NAN);
        header.count = candidate.count = 1;
        header.p.selection.repetitions =
            variant == 1 ? DPF_REPETITIONS_POISSON : DPF_REPETITIONS_NEGATIVE_BINOMIAL;
        header.p.selection.eta = variant == 1 ? 0 : variant == 2 ? -0.5 : 1;
        header.p.selection.gamma = variant == 1 ? 4 : 0.25;
        header.p.selection.candidates = 2;
        candidate.p.candidate.releases = 1;
        ledger_free(&ledger);
        add(header);
        add(candidate);
        add(make(DPF_EVENT_GAUSSIAN, 3, 0, 1));
        add(candidate);
        add(make(DPF_EVENT_GAUSSIAN, variant == 3 ? 4 : 3, 0, 1));
        add(make(DPF_EVENT_LAPLACE, 2, 0, 1));
        json_t *whole = dp_event_json(&ledger, &guarantee);
        const json_t *events = json_object_get(whole, "events"), *event = json_array_get(events, 0);
        assert_int_equal(json_array_size(events), 2);
        is(event, variant == 0 ? "RepeatAndSelectDpEvent" : "UnsupportedDpEvent");
        is(inner(whole, 1, 7), "LaplaceDpEvent");
        assert_int_equal(dp_event_unsupported(whole), variant > 0);
        if (variant == 0) {
            assert_true(json_real_value(json_object_get(event, "mean")) == 4);
            assert_true(json_real_value(json_object_get(event, "shape")) == 1);
            assert_int_equal(json_array_size(json_object_get(json_object_get(event, "event"), "events")), 1);
        }
        json_decref(whole);
    }
}

/* Nothing that is not proved here may look private there. */
TEST_WITH(what_is_not_private_stays_so, begin, end)
{
    add(make(DPF_EVENT_NON_PRIVATE, 0, 0, 1));
    add(make(DPF_EVENT_GAUSSIAN, 1, 0, INFINITY));
    add(make(DPF_EVENT_GAUSSIAN, 1, 0, NAN));
    add(make(DPF_EVENT_UNSUPPORTED, 1, 0, 1));
    add(make(DPF_EVENT_PBM, 0, 0, 1));
    add(make(DPF_EVENT_GAUSSIAN, 1, 0, 0));
    add(make(DPF_EVENT_RANDOMIZED_RESPONSE, 0, 0, 1)); /* never flipped */
    dpf_event wrong = make(DPF_EVENT_RANDOMIZED_RESPONSE, 0, 0, 1);
    wrong.p.response.flip = NAN;
    add(wrong);
    wrong.kind = DPF_EVENT_PURE;
    wrong.p.pure.epsilon = -1;
    add(wrong);
    wrong.kind = DPF_EVENT_ZCDP;
    add(wrong);
    dpf_event larger = make(DPF_EVENT_ZCDP, 0, 0, 2); /* stated for a sensitivity of 1 */
    larger.p.zcdp.rho = 0.5;
    add(larger);
    json_t *whole = dp_event_json(&ledger, &guarantee);
    is(inner(whole, 0, 7), "NonPrivateDpEvent");
    is(inner(whole, 1, 7), "NonPrivateDpEvent");
    is(inner(whole, 2, 7), "UnsupportedDpEvent");
    is(inner(whole, 3, 7), "UnsupportedDpEvent");
    is(inner(whole, 4, 7), "UnsupportedDpEvent");
    is(inner(whole, 5, 7), "NoOpDpEvent");
    is(inner(whole, 6, 7), "NonPrivateDpEvent");
    for (size_t i = 7; i <= 10; i++)
        is(inner(whole, i, 7), "UnsupportedDpEvent");
    assert_int_equal(dp_event_unsupported(whole), 7);
    json_decref(whole);
}
