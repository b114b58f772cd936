/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold of every accountant and every kind of event, whatever the numbers are: the tests that need
 * no table, over the whole product of kinds and accountants of accounting_table.h.
 */
#include "golden/accounting_table.h"

/* A kind and an accountant that serves it, with a question that it answers. */
struct pairing {
    int32_t kind;
    int column;
    dpf_question question;
    const char *name;
};

static int answers(struct pairing *pairing)
{
    static const int32_t questions[][2] = {{DPF_UNIT_USER, DPF_ADJ_ADD_REMOVE},
                                           {DPF_UNIT_USER, DPF_ADJ_REPLACE},
                                           {DPF_UNIT_RECORD, DPF_ADJ_ADD_REMOVE}};
    for (int i = 0; i < 3; i++)
        if (table_verdict(pairing->kind, pairing->column, questions[i][0], questions[i][1]) == 'v') {
            pairing->question = table_question(questions[i][0], questions[i][1]);
            return 1;
        }
    return 0;
}

/* Calls a law for every kind and accountant; claims keep those that do not concern what a run composes. */
static void for_all(void (*law)(const struct pairing *), int claims)
{
    static char name[120];
    int n = 0;
    for (int32_t kind = 0; kind < N_ROWS; kind++)
        for (int column = 0; column < N_COLUMNS_OF_ACCOUNTANTS; column++) {
            struct pairing pairing = {.kind = kind, .column = column, .name = name};
            if ((!claims && columns[column].instance.functions->kind == DPF_ACCOUNTANT_CLAIM) ||
                !answers(&pairing))
                continue;
            snprintf(name, sizeof name, "%s by %s", rows[kind].event, columns[column].id);
            law(&pairing);
            n++;
        }
    assert_true(n >= 30);
}

static double epsilon_of(const struct pairing *pairing, const dpf_event *events, int64_t n, double delta)
{
    dpf_question question = pairing->question;
    double epsilon = NAN;
    question.delta = delta;
    if (table_ask(pairing->column, events, n, &question, &epsilon) != DPF_OK)
        fail_msg("%s: %s", pairing->name, columns[pairing->column].instance.host.report);
    return epsilon;
}

/* NaN where the accountant has no deltas. */
static double delta_of(const struct pairing *pairing, const dpf_event *events, int64_t n, double epsilon)
{
    struct case_accountant *accountant = &columns[pairing->column].instance;
    dpf_question question = pairing->question;
    dpf_answer answer = {.size = sizeof answer};
    if (!accountant->functions->delta)
        return NAN;
    question.epsilon = epsilon;
    plain_clear(&accountant->host);
    if (accountant->functions->delta(accountant->host.self, events, n, &question, &answer) != DPF_OK)
        fail_msg("%s: %s", pairing->name, accountant->host.report);
    return answer.delta;
}

static void near(const struct pairing *pairing, const char *what, double x, double y)
{
    if (!(fabs(x - y) <= 2e-6 * (fabs(x) + fabs(y))))
        fail_msg("%s, %s: %.12g and %.12g", pairing->name, what, x, y);
}

static void at_most(const struct pairing *pairing, const char *what, double x, double y)
{
    if (!(x <= y * (1.0 + 1e-6)))
        fail_msg("%s, %s: %.12g above %.12g", pairing->name, what, x, y);
}

static int is_exact(const struct pairing *pairing)
{
    return pairing->kind != DPF_EVENT_SKELLAM || strcmp(columns[pairing->column].id, "pld") != 0;
}

#define DELTA 1e-5
#define COPIES 7

/* ---- composition --------------------------------------------------------------------------------- */

static dpf_event drawn(const struct pairing *pairing, double rate)
{
    dpf_event event = case_sampled(row_event(pairing->kind), rate);
    event.sampling.unit = pairing->question.unit;
    return event;
}

static void copies_law(const struct pairing *pairing)
{
    for (double rate = 1.0; rate > 0.1; rate *= 0.2) {
        dpf_event list[COPIES], many = drawn(pairing, rate);
        for (int i = 0; i < COPIES; i++)
            list[i] = many;
        many.count = COPIES;
        near(pairing, "copies", epsilon_of(pairing, list, COPIES, DELTA),
             epsilon_of(pairing, &many, 1, DELTA));
        const double delta = delta_of(pairing, list, COPIES, 0.7);
        if (!isnan(delta))
            near(pairing, "copies", delta, delta_of(pairing, &many, 1, 0.7));
    }
}

TEST(a_count_is_a_list_of_copies)
{
    for_all(copies_law, 0);
}

/* With a release of noise that the accountant also serves, in either order. */
static void order_law(const struct pairing *pairing)
{
    for (int32_t other = DPF_EVENT_LAPLACE; other <= DPF_EVENT_GAUSSIAN; other++) {
        if (table_verdict(other, pairing->column, pairing->question.unit, pairing->question.adjacency) != 'v')
            continue;
        dpf_event forwards[2] = {row_event(pairing->kind), row_event(other)};
        forwards[1].count = 3;
        const dpf_event backwards[2] = {forwards[1], forwards[0]};
        const double both = epsilon_of(pairing, forwards, 2, DELTA);
        near(pairing, "order", both, epsilon_of(pairing, backwards, 2, DELTA));
        at_most(pairing, "one release less", epsilon_of(pairing, &forwards[1], 1, DELTA), both);
        at_most(pairing, "some releases less", epsilon_of(pairing, forwards, 1, DELTA), both);
    }
}

TEST(order_does_not_matter_and_releases_add)
{
    for_all(order_law, 0);
}

static void nothing_law(const struct pairing *pairing)
{
    dpf_event event = row_event(pairing->kind);
    event.count = 0;
    assert_true(epsilon_of(pairing, &event, 1, DELTA) == 0.0);
    assert_true(epsilon_of(pairing, &event, 0, DELTA) == 0.0);
    event.count = 5;
    event.flags = DPF_EVENT_DATA_BLIND;
    assert_true(epsilon_of(pairing, &event, 1, DELTA) == 0.0);
    event.flags = 0;
    event.sensitivity = case_event(0, 1.0, 0.0).sensitivity;
    assert_true(epsilon_of(pairing, &event, 1, DELTA) == 0.0);
}

TEST(what_releases_nothing_is_free)
{
    for_all(nothing_law, 0);
}

/* ---- monotony ------------------------------------------------------------------------------------ */

static void delta_law(const struct pairing *pairing)
{
    dpf_event event = row_event(pairing->kind);
    double last = INFINITY;
    event.count = 4;
    for (double delta = 1e-7; delta < 0.9; delta *= 100.0) {
        const double epsilon = epsilon_of(pairing, &event, 1, delta);
        at_most(pairing, "a larger delta", epsilon, last);
        last = epsilon;
    }
    if (isnan(delta_of(pairing, &event, 1, 0.0)))
        return;
    last = 1.0;
    for (double epsilon = 0.0; epsilon < 3.0; epsilon += 0.7) {
        const double delta = delta_of(pairing, &event, 1, epsilon);
        at_most(pairing, "a larger epsilon", delta, last);
        last = delta;
    }
}

TEST(epsilon_falls_in_delta_and_delta_in_epsilon)
{
    for_all(delta_law, 0);
}

static void count_law(const struct pairing *pairing)
{
    double last = 0.0;
    for (int64_t count = 1; count < 1000; count *= 9) {
        dpf_event event = drawn(pairing, 0.5);
        event.count = count;
        const double epsilon = epsilon_of(pairing, &event, 1, DELTA);
        at_most(pairing, "more releases", last, epsilon);
        last = epsilon;
    }
    assert_true(last > 0.0);
}

TEST(epsilon_grows_in_the_count)
{
    for_all(count_law, 0);
}

/* The same release with about twice the noise, however the kind says that. */
static dpf_event with_more_noise(int32_t kind)
{
    dpf_event event = row_event(kind);
    if (dpf_event_has_scale(kind))
        event.scale *= 2.0;
    else if (kind == DPF_EVENT_SKELLAM)
        event.p.skellam.variance *= 4.0;
    else if (kind == DPF_EVENT_PBM)
        event.p.pbm.clients *= 4.0; /* clients */
    else if (kind == DPF_EVENT_RANDOMIZED_RESPONSE)
        event.p.response.flip = (event.p.response.flip + 0.5) / 2.0;
    else
        event.p.all[0] = event.p.all[0] / 2.0, event.p.all[1] = event.p.all[1] / 2.0;
    return event;
}

static void noise_law(const struct pairing *pairing)
{
    dpf_event less = row_event(pairing->kind), more = with_more_noise(pairing->kind);
    less.count = more.count = 50;
    const double before = epsilon_of(pairing, &less, 1, DELTA), after = epsilon_of(pairing, &more, 1, DELTA);
    if (!(after < 0.8 * before))
        fail_msg("%s: %g with twice the noise, %g before", pairing->name, after, before);
}

TEST(epsilon_falls_in_the_noise)
{
    for_all(noise_law, 1);
}

/* Noise is relative: twice the sensitivity with twice the noise costs the same; replaced costs what 2 D
 * costs. */
static void distance_law(const struct pairing *pairing)
{
    dpf_event event = row_event(pairing->kind), wide = event;
    const int in_steps = pairing->kind == DPF_EVENT_DISCRETE_LAPLACE ||
                         pairing->kind == DPF_EVENT_DISCRETE_GAUSSIAN || pairing->kind == DPF_EVENT_SKELLAM ||
                         pairing->kind == DPF_EVENT_CORRELATED_GAUSSIAN;
    if (!dpf_event_has_scale(pairing->kind) && pairing->kind != DPF_EVENT_SKELLAM)
        return;
    event.count = wide.count = 3;
    wide.sensitivity = case_event(0, 1.0, 2.0).sensitivity;
    const double narrow = epsilon_of(pairing, &event, 1, DELTA), twice = epsilon_of(pairing, &wide, 1, DELTA);
    if (!(twice > 1.3 * narrow))
        fail_msg("%s: %g with twice the sensitivity, %g before", pairing->name, twice, narrow);
    dpf_event scaled = wide;
    scaled.scale *= 2.0;
    scaled.p.skellam.variance *= 4.0;
    if (in_steps)
        scaled.grid *= 2.0;
    near(pairing, "other units of measurement", epsilon_of(pairing, &scaled, 1, DELTA), narrow);
    dpf_event replaced = event;
    for (int unit = 0; unit < DPF_N_UNITS; unit++)
        replaced.sensitivity.at[unit][DPF_ADJ_REPLACE] = wide.sensitivity.at[unit][DPF_ADJ_REPLACE];
    struct pairing other = *pairing;
    other.question.adjacency = DPF_ADJ_REPLACE;
    near(pairing, "replace", epsilon_of(&other, &replaced, 1, DELTA), twice);
    near(pairing, "add-remove", epsilon_of(pairing, &replaced, 1, DELTA), narrow);
}

TEST(epsilon_follows_the_distance)
{
    for_all(distance_law, 1);
}

/* ---- draws --------------------------------------------------------------------------------------- */

static dpf_event drawn_often(const struct pairing *pairing, double rate)
{
    dpf_event event = drawn(pairing, rate);
    event.count = 5;
    return event;
}

static void rate_law(const struct pairing *pairing)
{
    dpf_event event = row_event(pairing->kind), never = drawn_often(pairing, 0.0),
              always = drawn_often(pairing, 1.0);
    double last = 0.0;
    event.count = 5;
    const double whole = epsilon_of(pairing, &event, 1, DELTA);
    if (pairing->question.adjacency == DPF_ADJ_ADD_REMOVE)
        assert_true(epsilon_of(pairing, &never, 1, DELTA) == 0.0);
    near(pairing, "a rate of 1", epsilon_of(pairing, &always, 1, DELTA), whole);
    for (double rate = 0.01; rate < 1.0; rate *= 4.0) {
        const dpf_event sampled = drawn_often(pairing, rate);
        const double epsilon = epsilon_of(pairing, &sampled, 1, DELTA);
        at_most(pairing, "a larger rate", last, epsilon);
        at_most(pairing, "a draw", epsilon, whole);
        last = epsilon;
    }
}

TEST(draws_lie_between_nobody_and_everybody)
{
    for_all(rate_law, 0);
}

/* ---- one accountant against another -------------------------------------------------------------- */

static void inverse_law(const struct pairing *pairing)
{
    dpf_event event = row_event(pairing->kind);
    event.count = 30;
    const double epsilon = epsilon_of(pairing, &event, 1, 1e-3);
    if (isnan(delta_of(pairing, &event, 1, epsilon)) || epsilon == 0.0)
        return;
    at_most(pairing, "delta of epsilon of delta", delta_of(pairing, &event, 1, epsilon * (1 + 1e-9)),
            1e-3 * (1 + 1e-3));
    const double below = delta_of(pairing, &event, 1, epsilon * 0.99);
    if (strcmp(columns[pairing->column].id, "pure") != 0 && !(below > 1e-3 * (1 - 1e-3)))
        fail_msg("%s: delta is %g a hundredth below epsilon(1e-3)", pairing->name, below);
}

TEST(delta_and_epsilon_are_inverse)
{
    for_all(inverse_law, 0);
}

/* All that prove something bound the same number: none is below the lower bound of another. */
static void lower_law(const struct pairing *pairing)
{
    struct pairing lower = *pairing;
    struct case_accountant *accountant = NULL;
    for (int c = 0; c < N_COLUMNS_OF_ACCOUNTANTS; c++)
        if (strcmp(columns[c].id, "pld") == 0) {
            lower.column = c;
            accountant = &columns[c].instance;
        }
    if (rows[pairing->kind].verdicts[lower.column] == '-' || !is_exact(&lower))
        return;
    for (int sampled = 0; sampled < 2; sampled++) {
        dpf_event event = drawn_often(pairing, sampled ? 0.2 : 1.0);
        dpf_answer answer = {.size = sizeof answer};
        dpf_question question = lower.question;
        question.delta = DELTA;
        plain_clear(&accountant->host);
        assert_int_equal(accountant->functions->epsilon(accountant->host.self, &event, 1, &question, &answer),
                         DPF_OK);
        if (!isnan(answer.epsilon_lower))
            at_most(pairing, "the lower bound of pld", answer.epsilon_lower,
                    epsilon_of(pairing, &event, 1, DELTA));
    }
}

TEST(no_proof_is_below_the_lower_bound)
{
    for_all(lower_law, 0);
}

FIXTURE(accounting_table_open, accounting_table_close)
