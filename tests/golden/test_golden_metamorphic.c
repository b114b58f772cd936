/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of every accountant whatever the numbers are, and what each must refuse. */
#include "kit/accounting_case.h"

struct sample {
    const char *event;
    int pure; /* the pure accountant serves it */
};

static const struct sample samples[] = {
    {"laplace scale=3", 1},
    {"laplace scale=3 q=.2", 1},
    {"discrete-laplace scale=3 grid=.5", 1},
    {"discrete-laplace scale=3 grid=.5 q=.1", 1},
    {"gaussian scale=4", 0},
    {"gaussian scale=2 q=.05", 0},
    {"discrete-gaussian scale=4 grid=1", 0},
    {"discrete-gaussian scale=4 grid=1 q=.3", 0},
    {"pure p0=.3", 1},
    {"pure p0=.3 q=.4", 1},
    {"approx p0=.2 p1=1e-8", 0},
    {"zcdp p0=.01 p1=.02", 0},
    {"skellam p0=16 grid=.25", 0},
    {"skellam p0=16 grid=.25 q=.1", 0},
    {"randomized-response p0=.4", 1},
    {"randomized-response p0=.4 q=.5", 1},
    {"no-op", 1},
};
#define N_SAMPLES (sizeof samples / sizeof *samples)
#define DELTA 1e-5

static dpf_event sample_event(size_t i)
{
    char text[128];
    dpf_event event;
    snprintf(text, sizeof text, "%s", samples[i].event);
    assert_int_equal(case_parse(text, &event), 1);
    return event;
}

static struct case_accountant rdp, classic, pure, claim;

static int open_all(void **state)
{
    (void)state;
    case_open(&rdp, "rdp", "", NULL);
    case_open(&classic, "rdp", "conversion=classic", NULL);
    case_open(&pure, "pure", "", NULL);
    case_open(&claim, "published", "claim=gaussian-rdp-eq9", NULL);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    case_close(&rdp);
    case_close(&classic);
    case_close(&pure);
    case_close(&claim);
    return 0;
}

static void near(double x, double y)
{
    if (!(fabs(x - y) <= 1e-9 * (fabs(x) + fabs(y))) && x != y)
        fail_msg("%.17g is not near %.17g", x, y);
}

TEST(counts_are_copies)
{
    for (size_t i = 0; i < N_SAMPLES; i++) {
        for (int copies = 1; copies <= 40; copies += 13) {
            dpf_event list[CASE_MAX_EVENTS];
            for (int j = 0; j < copies; j++)
                list[j] = sample_event(i);
            dpf_event many = list[0];
            many.count = copies;
            near(case_epsilon(&rdp, list, copies, DELTA), case_epsilon(&rdp, &many, 1, DELTA));
            near(case_delta(&rdp, list, copies, 0.7), case_delta(&rdp, &many, 1, 0.7));
            near(case_epsilon(&classic, list, copies, DELTA), case_epsilon(&classic, &many, 1, DELTA));
            if (samples[i].pure) {
                near(case_epsilon(&pure, list, copies, 0.0), case_epsilon(&pure, &many, 1, 0.0));
                near(case_delta(&pure, list, copies, 0.7), case_delta(&pure, &many, 1, 0.7));
            }
            if (many.kind == DPF_EVENT_GAUSSIAN || many.kind == DPF_EVENT_DISCRETE_GAUSSIAN)
                near(case_epsilon(&claim, list, copies, DELTA), case_epsilon(&claim, &many, 1, DELTA));
        }
    }
}

TEST(order_of_events_does_not_matter)
{
    dpf_event forwards[N_SAMPLES], backwards[N_SAMPLES];
    for (size_t i = 0; i < N_SAMPLES; i++)
        forwards[i] = backwards[N_SAMPLES - 1 - i] = sample_event(i);
    near(case_epsilon(&rdp, forwards, N_SAMPLES, DELTA), case_epsilon(&rdp, backwards, N_SAMPLES, DELTA));
}

TEST(improved_is_never_above_classic_or_pure)
{
    for (size_t i = 0; i < N_SAMPLES; i++) {
        for (int64_t count = 1; count <= 10000; count *= 10) {
            dpf_event event = sample_event(i);
            event.count = count;
            const double improved = case_epsilon(&rdp, &event, 1, DELTA);
            assert_true(improved <= case_epsilon(&classic, &event, 1, DELTA) * (1.0 + 1e-9));
            assert_true(case_delta(&rdp, &event, 1, 1.0) <=
                        case_delta(&classic, &event, 1, 1.0) * (1.0 + 1e-9));
            if (samples[i].pure)
                assert_true(improved <= case_epsilon(&pure, &event, 1, 0.0) * (1.0 + 1e-9));
        }
    }
}

TEST(epsilon_falls_in_delta_and_grows_in_count)
{
    for (size_t i = 0; i < N_SAMPLES; i++) {
        double last = INFINITY;
        for (double delta = 1e-12; delta < 0.5; delta *= 10.0) {
            const dpf_event event = sample_event(i);
            const double epsilon = case_epsilon(&rdp, &event, 1, delta);
            assert_true(epsilon <= last * (1.0 + 1e-9));
            last = epsilon;
        }
        last = 0.0;
        for (int64_t count = 0; count < 3000; count = count * 3 + 1) {
            dpf_event event = sample_event(i);
            event.count = count;
            const double epsilon = case_epsilon(&rdp, &event, 1, DELTA);
            assert_true(epsilon >= last * (1.0 - 1e-9));
            last = epsilon;
        }
    }
}

TEST(epsilon_falls_in_scale_and_grows_in_rate_and_sensitivity)
{
    static const int32_t kinds[] = {DPF_EVENT_LAPLACE, DPF_EVENT_GAUSSIAN, DPF_EVENT_DISCRETE_LAPLACE,
                                    DPF_EVENT_DISCRETE_GAUSSIAN};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double by_scale = INFINITY, by_rate = 0.0, by_distance = 0.0;
        for (int step = 1; step <= 20; step++) {
            dpf_event event = case_event(kinds[i], 1.0, 1.0);
            event.grid = 0.125;
            event.count = 7;
            const dpf_event sampled = case_sampled(event, step / 20.0);
            const double rate = case_epsilon(&rdp, &sampled, 1, DELTA);
            event.scale = step;
            const double scale = case_epsilon(&rdp, &event, 1, DELTA);
            event.scale = 5.0;
            event.sensitivity = case_event(0, 1.0, step / 4.0).sensitivity;
            const double distance = case_epsilon(&rdp, &event, 1, DELTA);
            assert_true(scale < by_scale);
            assert_true(distance > by_distance);
            assert_true(rate >= by_rate * (1.0 - 1e-9));
            by_scale = scale;
            by_rate = rate;
            by_distance = distance;
        }
    }
}

TEST(rates_zero_and_one_are_limits)
{
    for (size_t i = 0; i < N_SAMPLES; i++) {
        dpf_event event = sample_event(i);
        event.count = 5;
        const dpf_event never = case_sampled(event, 0.0), always = case_sampled(event, 1.0);
        assert_true(case_epsilon(&rdp, &never, 1, DELTA) == 0.0);
        event.sampling.kind = DPF_SAMPLING_NONE;
        near(case_epsilon(&rdp, &always, 1, DELTA), case_epsilon(&rdp, &event, 1, DELTA));
        if (samples[i].pure) {
            assert_true(case_epsilon(&pure, &never, 1, 0.0) == 0.0);
            near(case_epsilon(&pure, &always, 1, 0.0), case_epsilon(&pure, &event, 1, 0.0));
        }
    }
}

TEST(delta_and_epsilon_are_inverse)
{
    for (size_t i = 0; i < N_SAMPLES; i++) {
        dpf_event event = sample_event(i);
        event.count = 30;
        const double epsilon = case_epsilon(&rdp, &event, 1, DELTA);
        assert_true(case_delta(&rdp, &event, 1, epsilon) <= DELTA * (1.0 + 1e-6));
        const double back = case_delta(&rdp, &event, 1, epsilon * 0.9);
        assert_true(epsilon == 0.0 || back >= case_delta(&rdp, &event, 1, epsilon));
    }
}

/* The default orders are few: the search between them must do at least as well as a dense grid. */
TEST(search_beats_a_dense_grid)
{
    struct case_accountant dense;
    case_open(&dense, "rdp", "refine=no", "1.02:10.9:.05,11:63:1,64:256:16,512,1024");
    for (size_t i = 0; i < N_SAMPLES; i++) {
        for (int64_t count = 1; count <= 1000; count *= 10) {
            dpf_event event = sample_event(i);
            event.count = count;
            assert_true(case_epsilon(&rdp, &event, 1, DELTA) <=
                        case_epsilon(&dense, &event, 1, DELTA) * (1.0 + 1e-6));
        }
    }
    case_close(&dense);
}

/* ---- what must be infinite, free, or refused ----------------------------------------------------- */

static void infinite_with_a_note(dpf_event event)
{
    struct case_accountant *const accountants[] = {&rdp, &pure};
    for (size_t i = 0; i < 2; i++) {
        const dpf_question question = case_question(DELTA);
        dpf_answer answer = {.size = sizeof answer};
        assert_int_equal(
            accountants[i]->functions->epsilon(accountants[i]->host.self, &event, 1, &question, &answer),
            DPF_OK);
        assert_true(isinf(answer.epsilon));
        assert_true(answer.note[0] != '\0');
    }
}

TEST(unbounded_releases_have_no_epsilon)
{
    infinite_with_a_note(case_event(DPF_EVENT_NON_PRIVATE, 0.0, 1.0));
    infinite_with_a_note(case_event(DPF_EVENT_NON_PRIVATE, 0.0, NAN));
    infinite_with_a_note(case_event(DPF_EVENT_LAPLACE, 1.0, INFINITY));
    infinite_with_a_note(case_event(DPF_EVENT_LAPLACE, 0.0, 1.0));
    dpf_event reused = case_event(DPF_EVENT_LAPLACE, 1.0, 1.0);
    reused.lifetime = DPF_LIFETIME_RUN;
    assert_true(isfinite(case_epsilon(&rdp, &reused, 1, DELTA)));
    reused.count = 2;
    infinite_with_a_note(reused);
    reused.flags = DPF_EVENT_DATA_BLIND;
    assert_true(case_epsilon(&rdp, &reused, 1, DELTA) == 0.0);
}

TEST(immovable_releases_are_free)
{
    const dpf_event events[] = {case_event(DPF_EVENT_NON_PRIVATE, 0.0, 0.0),
                                case_event(DPF_EVENT_GAUSSIAN, 1.0, 0.0),
                                case_event(DPF_EVENT_LAPLACE, 0.0, 0.0)};
    assert_true(case_epsilon(&rdp, events, 3, DELTA) == 0.0);
    assert_true(case_epsilon(&rdp, events, 0, DELTA) == 0.0);
}

static void refused(struct case_accountant *accountant, dpf_event event, dpf_status code, const char *word)
{
    const dpf_question question = case_question(DELTA);
    dpf_answer answer = {.size = sizeof answer};
    plain_clear(&accountant->host);
    const dpf_status status =
        accountant->functions->epsilon(accountant->host.self, &event, 1, &question, &answer);
    assert_int_equal(status, code);
    assert_int_equal(accountant->host.code, code);
    if (!strstr(accountant->host.report, word) || !strstr(accountant->host.report, "event 0"))
        fail_msg("\"%s\" does not name event 0 and \"%s\"", accountant->host.report, word);
}

TEST(unknown_things_are_refused)
{
    struct case_accountant *const accountants[] = {&rdp, &pure, &claim};
    for (size_t i = 0; i < 3; i++) {
        refused(accountants[i], case_event(DPF_EVENT_UNSUPPORTED, 1.0, 1.0), DPF_E_UNSUPPORTED,
                "unsupported");
        refused(accountants[i], case_event(99, 1.0, 1.0), DPF_E_UNSUPPORTED, "unknown");
    }
    dpf_event skellam = case_event(DPF_EVENT_SKELLAM, 1.0, 1.0);
    refused(&rdp, skellam, DPF_E_NUMERIC, "skellam"); /* it has no grid */
    skellam.grid = 0.5;
    skellam.p.skellam.variance = 1.0;
    refused(&pure, skellam, DPF_E_UNSUPPORTED, "skellam");
    refused(&claim, skellam, DPF_E_UNSUPPORTED, "skellam");
    refused(&rdp, case_event(DPF_EVENT_GAUSSIAN, 1.0, NAN), DPF_E_UNSUPPORTED, "sensitivity");
    refused(&claim, case_event(DPF_EVENT_GAUSSIAN, 1.0, NAN), DPF_E_UNSUPPORTED, "sensitivity");
    refused(&pure, case_event(DPF_EVENT_LAPLACE, 1.0, NAN), DPF_E_UNSUPPORTED, "sensitivity");
    refused(&pure, case_event(DPF_EVENT_GAUSSIAN, 1.0, 1.0), DPF_E_UNSUPPORTED, "gaussian");
    refused(&claim, case_event(DPF_EVENT_LAPLACE, 1.0, 1.0), DPF_E_UNSUPPORTED, "laplace");
}

/* A theorem for one change is pure if its delta is 0: its epsilon, for any smaller change as well. */
TEST(approximate_without_delta_is_pure)
{
    dpf_event event = case_event(DPF_EVENT_APPROX, 1.0, 1.0);
    event.p.approx.epsilon = 0.5;
    event.count = 3;
    const double whole = case_epsilon(&pure, &event, 1, DELTA);
    assert_true(whole >= 1.5 && whole < 1.5 * (1 + 1e-9));
    event.sensitivity = case_event(0, 1.0, 0.25).sensitivity;
    assert_true(case_epsilon(&pure, &event, 1, DELTA) == whole);
    refused(&pure, case_event(DPF_EVENT_APPROX, 1.0, 1.5), DPF_E_UNSUPPORTED, "sensitivity of 1");
    event.p.approx.delta = 1e-9;
    refused(&pure, event, DPF_E_UNSUPPORTED, "delta is not 0");
}

TEST(nonsense_is_an_error)
{
    dpf_event event = case_event(DPF_EVENT_GAUSSIAN, NAN, 1.0);
    refused(&rdp, event, DPF_E_NUMERIC, "not a number");
    event = case_event(DPF_EVENT_GAUSSIAN, -1.0, 1.0);
    refused(&rdp, event, DPF_E_NUMERIC, "negative");
    event = case_event(DPF_EVENT_GAUSSIAN, 1.0, -1.0);
    refused(&rdp, event, DPF_E_NUMERIC, "negative");
    event = case_sampled(case_event(DPF_EVENT_GAUSSIAN, 1.0, 1.0), NAN);
    refused(&rdp, event, DPF_E_NUMERIC, "rate");
    event = case_event(DPF_EVENT_PURE, 1.0, 1.0);
    event.p.pure.epsilon = NAN;
    refused(&rdp, event, DPF_E_NUMERIC, "epsilon");
    refused(&pure, event, DPF_E_NUMERIC, "epsilon");
    event = case_event(DPF_EVENT_GAUSSIAN, 1.0, 1.0);
    event.count = -1;
    refused(&rdp, event, DPF_E_RANGE, "count");
}

/* ---- sampling and adjacency ---------------------------------------------------------------------- */

static double ask(dpf_event event, int32_t unit, int32_t adjacency, int32_t observer)
{
    dpf_question question = case_question(DELTA);
    dpf_answer answer = {.size = sizeof answer};
    question.unit = unit;
    question.adjacency = adjacency;
    question.observer = observer;
    plain_clear(&rdp.host);
    const dpf_status status = rdp.functions->epsilon(rdp.host.self, &event, 1, &question, &answer);
    return status == DPF_OK ? answer.epsilon : NAN;
}

TEST(only_a_secret_poisson_draw_of_the_unit_amplifies)
{
    const dpf_event plain = case_event(DPF_EVENT_GAUSSIAN, 2.0, 1.0);
    dpf_event event = case_sampled(plain, 0.01);
    const int32_t user = DPF_UNIT_USER, outsider = DPF_OBSERVER_OUTSIDER, server = DPF_OBSERVER_SERVER;
    const double whole = ask(plain, user, DPF_ADJ_ADD_REMOVE, outsider);
    event.sampling.hidden_from = outsider;
    const double amplified = ask(event, user, DPF_ADJ_ADD_REMOVE, outsider);
    assert_true(amplified < whole / 2.0);
    near(ask(event, user, DPF_ADJ_ZERO_OUT, outsider), amplified);
    near(ask(event, user, DPF_ADJ_ADD_REMOVE, server), whole);
    near(ask(event, user, DPF_ADJ_REPLACE, outsider), whole);
    near(ask(event, DPF_UNIT_RECORD, DPF_ADJ_ADD_REMOVE, outsider), whole);
    event.sampling.hidden_from = -1;
    near(ask(event, user, DPF_ADJ_ADD_REMOVE, outsider), whole);
    event.sampling.hidden_from = DPF_OBSERVER_PARTIES;
    for (int32_t kind = DPF_SAMPLING_FIXED; kind <= DPF_SAMPLING_WEIGHTED; kind++) {
        event.sampling.kind = kind;
        near(ask(event, user, DPF_ADJ_ZERO_OUT, outsider), whole);
    }
}

TEST(a_fixed_number_does_not_fit_add_remove)
{
    dpf_event event = case_sampled(case_event(DPF_EVENT_GAUSSIAN, 2.0, 1.0), 0.01);
    for (int32_t kind = DPF_SAMPLING_FIXED; kind <= DPF_SAMPLING_REPLACED; kind++) {
        event.sampling.kind = kind;
        refused(&rdp, event, DPF_E_UNSUPPORTED, "fixed number");
        assert_true(isfinite(ask(event, DPF_UNIT_USER, DPF_ADJ_REPLACE, 0)));
        assert_true(isfinite(ask(event, DPF_UNIT_RECORD, DPF_ADJ_ADD_REMOVE, 0))); /* users are drawn */
        event.sampling.unit = DPF_UNIT_RECORD;
        assert_true(isnan(ask(event, DPF_UNIT_USER, DPF_ADJ_REPLACE, 0)));
        event.sampling.unit = DPF_UNIT_USER;
    }
}

/* Unequal probabilities: replacing a record may switch it on or off, which moves 2 x zero-out. */
TEST(a_weighted_draw_doubles_what_a_replacement_moves)
{
    const int32_t record = DPF_UNIT_RECORD;
    dpf_event event = case_event(DPF_EVENT_GAUSSIAN, 2.0, 1.0);
    event.sensitivity.at[record][DPF_ADJ_REPLACE_VALUE].l2 = 0.5;
    const dpf_event doubled = case_event(DPF_EVENT_GAUSSIAN, 2.0, 2.0);
    event.sampling.kind = DPF_SAMPLING_WEIGHTED;
    event.sampling.unit = record;
    near(ask(event, record, DPF_ADJ_REPLACE_VALUE, 0), ask(doubled, record, DPF_ADJ_REPLACE_VALUE, 0));
    /* A record that comes or goes is not replaced: it is drawn or not, and counts once, whatever the adjacency is called. */
    const int32_t alone[] = {DPF_ADJ_FLIP, DPF_ADJ_ADD_REMOVE, DPF_ADJ_ZERO_OUT};
    for (int i = 0; i < 3; i++)
        near(ask(event, record, alone[i], 0),
             ask(case_event(DPF_EVENT_GAUSSIAN, 2.0, 1.0), record, alone[i], 0));
    /* What holds at one distance says nothing of twice that. */
    event.kind = DPF_EVENT_APPROX;
    event.p.approx.epsilon = 0.5;
    assert_true(isnan(ask(event, record, DPF_ADJ_REPLACE_VALUE, 0)));
    assert_true(isfinite(ask(event, record, DPF_ADJ_ZERO_OUT, 0)));
    assert_true(isfinite(ask(event, record, DPF_ADJ_FLIP, 0)));
    event.kind = DPF_EVENT_ZCDP;
    event.p.zcdp.rho = 0.1;
    assert_true(isnan(ask(event, record, DPF_ADJ_REPLACE_VALUE, 0)));
    assert_true(isfinite(ask(event, record, DPF_ADJ_ADD_REMOVE, 0)));
}

/* Each unit and adjacency has its own sensitivity; none is computed from another. */
TEST(adjacencies_are_not_mixed_up)
{
    for (int unit = 0; unit < DPF_N_UNITS; unit++) {
        for (int adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++) {
            dpf_event event = case_event(DPF_EVENT_GAUSSIAN, 2.0, NAN);
            event.sensitivity.at[unit][adjacency] = (dpf_norms){NAN, 1.0, NAN};
            for (int u = 0; u < DPF_N_UNITS; u++)
                for (int a = 0; a < DPF_N_ADJACENCIES; a++)
                    assert_int_equal(isnan(ask(event, u, a, 0)), u != unit || a != adjacency);
        }
    }
    dpf_event event = case_event(DPF_EVENT_GAUSSIAN, 1.0, 1.0);
    event.sensitivity.at[DPF_UNIT_USER][DPF_ADJ_REPLACE] = (dpf_norms){2.0, 2.0, 2.0};
    const double replace = ask(event, DPF_UNIT_USER, DPF_ADJ_REPLACE, 0);
    assert_true(replace >= 9.99726); /* exact for sigma = 1, replace-one, delta = 1e-5 */
    near(replace, ask(case_event(DPF_EVENT_GAUSSIAN, 0.5, 1.0), DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE, 0));
}

/* Also after many releases, where most orders say nothing of delta. */
TEST(delta_is_found_at_large_epsilons)
{
    for (double scale = 0.3; scale < 2.0; scale *= 3.0) {
        dpf_event event = case_event(DPF_EVENT_GAUSSIAN, scale, 1.0);
        event.count = 100000;
        for (double delta = 1e-9; delta < 0.1; delta *= 100.0)
            assert_true(
                fabs(case_delta(&rdp, &event, 1, case_epsilon(&rdp, &event, 1, delta)) / delta - 1.0) < 1e-3);
    }
}

TEST(a_grid_end_is_reported)
{
    struct case_accountant narrow;
    const dpf_question question = case_question(DELTA);
    dpf_answer answer = {.size = sizeof answer};
    const dpf_event event = case_event(DPF_EVENT_GAUSSIAN, 50.0, 1.0);
    case_open(&narrow, "rdp", "refine=no", "2,3,4");
    assert_int_equal(narrow.functions->epsilon(narrow.host.self, &event, 1, &question, &answer), DPF_OK);
    assert_int_equal(answer.at_grid_end, 1);
    assert_true(answer.order == 4.0);
    assert_true(answer.note[0]);
    assert_true(narrow.host.warnings == 1);
    case_close(&narrow);
    case_open(&narrow, "rdp", "", "2,3,4");
    assert_int_equal(narrow.functions->epsilon(narrow.host.self, &event, 1, &question, &answer), DPF_OK);
    assert_int_equal(answer.at_grid_end, 0);
    near(answer.epsilon, case_epsilon(&rdp, &event, 1, DELTA));
    case_close(&narrow);
}

TEST(memory_failures_are_reported)
{
    const dpf_question question = case_question(DELTA);
    dpf_answer answer = {.size = sizeof answer};
    const dpf_event event = case_event(DPF_EVENT_GAUSSIAN, 1.0, 1.0);
    plain_check_memory(plain_component("rdp", DPF_ROLE_ACCOUNTANT, "rdp"), "");
    plain_check_memory(plain_component("pure", DPF_ROLE_ACCOUNTANT, "pure"), "");
    plain_check_memory(plain_component("published", DPF_ROLE_ACCOUNTANT, "published"), "");
    plain_clear(&rdp.host);
    rdp.host.fail_after = 0;
    assert_int_equal(rdp.functions->epsilon(rdp.host.self, &event, 1, &question, &answer), DPF_E_MEMORY);
    rdp.host.fail_after = -1;
}

/* ---- claims -------------------------------------------------------------------------------------- */

TEST(claims_follow_their_publication)
{
    struct case_accountant other;
    dpf_event blocks[3];
    /* sigma = sqrt(2 ln(1.25/delta))/epsilon, the Gaussian mechanism's formula, gives epsilon back. */
    dpf_event gaussian = case_event(DPF_EVENT_GAUSSIAN, sqrt(2.0 * log(1.25 / DELTA)) / 0.4, 1.0);
    gaussian.count = 100;
    case_open(&other, "published", "claim=per-release", NULL);
    near(case_epsilon(&other, &gaussian, 1, DELTA), 0.4);
    /* Three blocks of one release add; a second release does not. */
    for (int i = 0; i < 3; i++) {
        blocks[i] = case_event(DPF_EVENT_LAPLACE, 10.0, 1.0);
        blocks[i].blocks = UINT32_C(1) << i;
        blocks[i].count = 50;
    }
    near(case_epsilon(&other, blocks, 3, DELTA), 0.3);
    blocks[2].round = 7;
    near(case_epsilon(&other, blocks, 3, DELTA), 0.2);
    case_close(&other);
    case_open(&other, "published", "claim=gaussian-rdp-eq7; order=4.728", NULL);
    const double at_order = case_epsilon(&other, &gaussian, 1, DELTA);
    assert_true(at_order >= case_epsilon(&claim, &gaussian, 1, DELTA));
    near(at_order, 4.728 * 100.0 / (2.0 * gaussian.scale * gaussian.scale) - log(DELTA) / 3.728);
    case_close(&other);
    assert_int_equal(claim.functions->kind, DPF_ACCOUNTANT_CLAIM);
    assert_int_equal(rdp.functions->kind, DPF_ACCOUNTANT_PROOF);
}

/* A publication's unit may differ from the one asked for; its number must say so. */
TEST(claims_name_their_unit)
{
    struct case_accountant other;
    const dpf_question question = case_question(DELTA);
    dpf_answer answer = {.size = sizeof answer};
    dpf_event event = case_event(DPF_EVENT_LAPLACE, 10.0, NAN);
    event.sensitivity.at[DPF_UNIT_RECORD][DPF_ADJ_FLIP].l1 = 4.0;
    case_open(&other, "published", "unit=record; adjacency=flip", NULL);
    assert_int_equal(other.functions->epsilon(other.host.self, &event, 1, &question, &answer), DPF_OK);
    near(answer.epsilon, 0.4);
    assert_non_null(strstr(answer.note, "unit record, adjacency flip"));
    case_close(&other);
}

/* A release of records that are kept in secret with probability 1/w and then weigh w; sensitivities have the
 * weight. */
static dpf_event weighted(double epsilon, double w)
{
    dpf_event event = case_event(DPF_EVENT_DISCRETE_LAPLACE, 1 / epsilon, w);
    event.sampling.kind = DPF_SAMPLING_POISSON;
    event.sampling.unit = DPF_UNIT_RECORD;
    event.sampling.hidden_from = DPF_OBSERVER_PARTIES;
    event.sampling.rate = 1 / w;
    event.sampling.weight_max = w;
    return event;
}

/*
 * DPIMF's Theorem 2 beside what holds: phi_max = ln(1 + 2 (e - 1)) with records kept half of the time is
 * called 1; with weights of 2 in the loss it is ln(1 + (e^(2 phi_max) - 1) / 2) = 2.34.
 */
TEST(theorem_2_is_a_claim_below_what_is_proved)
{
    struct case_accountant theorem, proof;
    dpf_question question = case_question(0);
    dpf_answer answer = {.size = sizeof answer};
    question.unit = DPF_UNIT_RECORD;
    question.adjacency = DPF_ADJ_FLIP;
    case_open(&theorem, "published", "claim=dpimf-theorem-2", NULL);
    case_open(&proof, "pure", "", NULL);
    for (int i = 0; i < 12; i++) {
        const double target = 0.05 * exp2(i / 2.0), w = 1 + i % 4, phi = log1p(w * expm1(target));
        dpf_event event = weighted(phi, w);
        event.count = 20; /* stated for one */
        assert_int_equal(theorem.functions->epsilon(theorem.host.self, &event, 1, &question, &answer),
                         DPF_OK);
        near(answer.epsilon, target);
        assert_non_null(strstr(answer.source, "Theorem 2"));
        event.count = 1;
        assert_int_equal(proof.functions->epsilon(proof.host.self, &event, 1, &question, &answer), DPF_OK);
        near(answer.epsilon, log1p(expm1(w * phi) / w));
        assert_true(w == 1 ? answer.epsilon < target * (1 + 1e-9) : answer.epsilon > phi);
    }
    /* Blocks of a release are added before the draw is taken into account, other releases are not; without a
       draw the claim is that of a single release. */
    dpf_event blocks[3] = {weighted(0.5, 2), weighted(0.25, 2), weighted(0.3, 2)};
    blocks[1].blocks = 2;
    blocks[2].round = 3;
    assert_int_equal(theorem.functions->epsilon(theorem.host.self, blocks, 3, &question, &answer), DPF_OK);
    near(answer.epsilon, log1p(expm1(0.75) / 2));
    dpf_event plain = case_event(DPF_EVENT_LAPLACE, 4, 3);
    assert_int_equal(theorem.functions->epsilon(theorem.host.self, &plain, 1, &question, &answer), DPF_OK);
    near(answer.epsilon, 0.75);
    case_close(&theorem);
    case_close(&proof);
}

FIXTURE(open_all, close_all)
