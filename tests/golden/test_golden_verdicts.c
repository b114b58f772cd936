/* SPDX-License-Identifier: Apache-2.0 */
/* What each accountant says to each kind of event, privacy unit, adjacency and sampling: a value, or a
 * refusal. */
#include "golden/accounting_table.h"

static const char *where(int32_t kind, int column, int32_t unit, int32_t adjacency)
{
    static char text[160];
    snprintf(text, sizeof text, "%s, %s by %s (%s)", dpf_event_kind_name(kind), dpf_unit_name(unit),
             dpf_adjacency_name(adjacency), columns[column].id);
    return text;
}

/* Calls f for every kind, accountant, unit and adjacency. */
static void for_all(void (*f)(int32_t kind, int column, int32_t unit, int32_t adjacency))
{
    for (int32_t kind = 0; kind < N_ROWS; kind++)
        for (int column = 0; column < N_COLUMNS_OF_ACCOUNTANTS; column++)
            for (int32_t unit = 0; unit < DPF_N_UNITS; unit++)
                for (int32_t adjacency = 0; adjacency < DPF_N_ADJACENCIES; adjacency++)
                    f(kind, column, unit, adjacency);
}

static char verdict_of(dpf_status status, double epsilon)
{
    if (status == DPF_E_UNSUPPORTED)
        return '-';
    return status != DPF_OK ? 'e' : isinf(epsilon) ? 'i' : epsilon == 0.0 ? '0' : epsilon > 0.0 ? 'v' : '?';
}

static void check_verdict(int32_t kind, int column, int32_t unit, int32_t adjacency)
{
    const dpf_event event = row_event(kind);
    const dpf_question question = table_question(unit, adjacency);
    double epsilon;
    const dpf_status status = table_ask(column, &event, 1, &question, &epsilon);
    const char expected = table_verdict(kind, column, unit, adjacency), found = verdict_of(status, epsilon);
    if (found != expected)
        fail_msg("%s: %c in place of %c", where(kind, column, unit, adjacency), found, expected);
}

TEST(verdicts_are_those_of_the_table)
{
    for (int32_t kind = 0; kind < N_ROWS; kind++) {
        assert_int_equal(strlen(rows[kind].verdicts), N_COLUMNS_OF_ACCOUNTANTS);
        assert_int_equal(strlen(rows[kind].draws), N_COLUMNS_OF_ACCOUNTANTS);
    }
    for_all(check_verdict);
}

/* ---- what is stated for one question says nothing about another ---------------------------------- */

static void check_stated(int32_t kind, int column, int32_t unit, int32_t adjacency)
{
    dpf_event event = row_event(kind);
    const dpf_question question = table_question(unit, adjacency);
    const dpf_norms stated = event.sensitivity.at[unit][adjacency];
    double epsilon;
    if (table_verdict(kind, column, unit, adjacency) != 'v')
        return;
    event.sensitivity.at[unit][adjacency] = (dpf_norms){NAN, NAN, NAN};
    dpf_status status = table_ask(column, &event, 1, &question, &epsilon);
    if (status != DPF_E_UNSUPPORTED && kind != DPF_EVENT_APPROX)
        fail_msg("%s: answers without a sensitivity", where(kind, column, unit, adjacency));
    for (int u = 0; u < DPF_N_UNITS; u++)
        for (int a = 0; a < DPF_N_ADJACENCIES; a++)
            event.sensitivity.at[u][a] = (dpf_norms){NAN, NAN, NAN};
    event.sensitivity.at[unit][adjacency] = stated;
    status = table_ask(column, &event, 1, &question, &epsilon);
    if (status != DPF_OK || !(epsilon > 0.0) || isinf(epsilon))
        fail_msg("%s: no answer though its own sensitivity is stated", where(kind, column, unit, adjacency));
}

TEST(only_the_stated_sensitivity_counts)
{
    for_all(check_stated);
}

/* ---- nonsense ------------------------------------------------------------------------------------ */

static void set_all(dpf_event *event, double value)
{
    event->sensitivity = case_event(0, 1.0, value).sensitivity;
}

/* A proof must not come to a finite epsilon. */
static void must_not_prove(int32_t kind, int column, int32_t unit, int32_t adjacency, const dpf_event *event,
                           const char *what)
{
    const dpf_question question = table_question(unit, adjacency);
    double epsilon;
    const dpf_status status = table_ask(column, event, 1, &question, &epsilon);
    if (status == DPF_OK && !isinf(epsilon))
        fail_msg("%s: %g with %s", where(kind, column, unit, adjacency), epsilon, what);
}

static void check_nonsense(int32_t kind, int column, int32_t unit, int32_t adjacency)
{
    static const double wrong[] = {NAN, -1.0, -INFINITY};
    dpf_event event = row_event(kind);
    if (table_verdict(kind, column, unit, adjacency) != 'v' ||
        columns[column].instance.functions->kind == DPF_ACCOUNTANT_CLAIM)
        return;
    for (int i = 0; i < 3; i++) {
        set_all(&event, wrong[i]);
        must_not_prove(kind, column, unit, adjacency, &event, "a sensitivity that is none");
        event = row_event(kind);
        if (dpf_event_has_scale(kind)) {
            event.scale = wrong[i];
            must_not_prove(kind, column, unit, adjacency, &event, "a scale that is none");
        } else {
            event.p.all[0] = wrong[i];
            must_not_prove(kind, column, unit, adjacency, &event, "a parameter that is none");
        }
        event = row_event(kind);
        if (kind == DPF_EVENT_APPROX || kind == DPF_EVENT_ZCDP || kind == DPF_EVENT_PBM) {
            event.p.all[1] = wrong[i];
            must_not_prove(kind, column, unit, adjacency, &event, "a second parameter that is none");
            event = row_event(kind);
        }
        if (event.grid > 0.0) {
            event.grid = wrong[i];
            must_not_prove(kind, column, unit, adjacency, &event, "a grid that is none");
            event = row_event(kind);
        }
    }
    set_all(&event, INFINITY);
    must_not_prove(kind, column, unit, adjacency, &event, "no bound");
    event = row_event(kind);
    event.count = -1;
    must_not_prove(kind, column, unit, adjacency, &event, "a negative count");
    event = row_event(kind);
    event.lifetime = DPF_LIFETIME_RUN;
    event.count = 2;
    must_not_prove(kind, column, unit, adjacency, &event, "one draw of noise for two releases");
    event = row_event(kind);
    event.sampling.kind = 99;
    must_not_prove(kind, column, unit, adjacency, &event, "an unknown sampling");
    event.kind = 99;
    event.sampling.kind = DPF_SAMPLING_NONE;
    must_not_prove(kind, column, unit, adjacency, &event, "an unknown kind");
}

TEST(nonsense_proves_nothing)
{
    for_all(check_nonsense);
}

TEST(unknown_questions_are_refused)
{
    static const int32_t wrong[][2] = {{-1, 0}, {DPF_N_UNITS, 0}, {0, -1}, {0, DPF_N_ADJACENCIES}};
    for (int32_t kind = 1; kind < N_ROWS; kind++)
        for (int column = 0; column < N_COLUMNS_OF_ACCOUNTANTS; column++)
            for (int i = 0; i < 4; i++) {
                const dpf_event event = row_event(kind);
                const dpf_question question = table_question(wrong[i][0], wrong[i][1]);
                double epsilon;
                assert_int_equal(table_ask(column, &event, 1, &question, &epsilon), DPF_E_UNSUPPORTED);
            }
}

/* Parameters that hold for a sensitivity of 1 are not used for more, also not where a draw doubles it. */
TEST(parameters_are_for_a_sensitivity_of_one)
{
    const dpf_question question = table_question(DPF_UNIT_USER, DPF_ADJ_REPLACE);
    double epsilon, less;
    for (int32_t kind = DPF_EVENT_APPROX; kind <= DPF_EVENT_ZCDP; kind++)
        for (int column = 0; column < N_COLUMNS_OF_ACCOUNTANTS; column++) {
            dpf_event event = row_event(kind);
            if (table_verdict(kind, column, DPF_UNIT_USER, DPF_ADJ_REPLACE) != 'v' ||
                columns[column].instance.functions->kind == DPF_ACCOUNTANT_CLAIM)
                continue;
            assert_int_equal(table_ask(column, &event, 1, &question, &epsilon), DPF_OK);
            set_all(&event, 0.5);
            assert_int_equal(table_ask(column, &event, 1, &question, &less), DPF_OK);
            assert_true(less == epsilon);
            set_all(&event, 1.0 + 0x1p-52);
            assert_int_equal(table_ask(column, &event, 1, &question, &epsilon), DPF_E_UNSUPPORTED);
            set_all(&event, 1.0);
            event.sampling.kind = DPF_SAMPLING_WEIGHTED;
            assert_int_equal(table_ask(column, &event, 1, &question, &epsilon), DPF_E_UNSUPPORTED);
        }
}

/* ---- sampling ------------------------------------------------------------------------------------ */

static int comes_or_goes(int32_t adjacency)
{
    return adjacency == DPF_ADJ_ADD_REMOVE || adjacency == DPF_ADJ_ZERO_OUT || adjacency == DPF_ADJ_FLIP;
}

static dpf_event drawn(int32_t kind, int32_t sampling, int32_t unit, int32_t hidden_from)
{
    dpf_event event = case_sampled(row_event(kind), 0.2);
    event.count = 9;
    event.sampling.kind = sampling;
    event.sampling.unit = unit;
    event.sampling.hidden_from = hidden_from;
    return event;
}

static void check_draws(int32_t kind, int column, int32_t unit, int32_t adjacency)
{
    const dpf_question question = table_question(unit, adjacency);
    dpf_event event = row_event(kind);
    double whole, epsilon;
    if (table_verdict(kind, column, unit, adjacency) != 'v')
        return;
    event.count = 9;
    assert_int_equal(table_ask(column, &event, 1, &question, &whole), DPF_OK);
    for (int32_t of = 0; of < DPF_N_UNITS; of++)
        for (int32_t secret = -1; secret <= DPF_OBSERVER_PARTIES; secret++) {
            if (strcmp(columns[column].id, "pld") == 0 && (of != unit || secret > question.observer))
                continue; /* slow, and the rule is that of all accountants */
            event = drawn(kind, DPF_SAMPLING_POISSON, of, secret);
            assert_int_equal(table_ask(column, &event, 1, &question, &epsilon), DPF_OK);
            const int amplified = rows[kind].draws[column] == 'a' && of == unit &&
                                  secret >= question.observer && comes_or_goes(adjacency);
            if (amplified ? !(epsilon < 0.9 * whole) : fabs(epsilon - whole) > 1e-9 * whole)
                fail_msg("%s: %g of %g, drawn %ss, secret up to %d", where(kind, column, unit, adjacency),
                         epsilon, whole, dpf_unit_name(of), (int)secret);
        }
}

TEST(draws_amplify_where_the_table_says)
{
    for_all(check_draws);
}

/* A fixed number of units: refused where the data sets differ in size, else no gain. */
static void check_fixed(int32_t kind, int column, int32_t unit, int32_t adjacency)
{
    const dpf_question question = table_question(unit, adjacency);
    double whole, epsilon;
    if (table_verdict(kind, column, unit, adjacency) != 'v' ||
        columns[column].instance.functions->kind == DPF_ACCOUNTANT_CLAIM)
        return;
    dpf_event event = row_event(kind);
    event.count = 9;
    assert_int_equal(table_ask(column, &event, 1, &question, &whole), DPF_OK);
    for (int32_t of = 0; of < DPF_N_UNITS; of++) {
        event = drawn(kind, DPF_SAMPLING_FIXED, of, DPF_OBSERVER_PARTIES);
        const int differ = adjacency == DPF_ADJ_ADD_REMOVE || adjacency == DPF_ADJ_FLIP ||
                           (of == DPF_UNIT_RECORD && unit == DPF_UNIT_USER && adjacency == DPF_ADJ_REPLACE);
        const int refused = of == DPF_UNIT_USER ? differ && unit == DPF_UNIT_USER : differ;
        const dpf_status status = table_ask(column, &event, 1, &question, &epsilon);
        if (refused ? status != DPF_E_UNSUPPORTED : status != DPF_OK || fabs(epsilon - whole) > 1e-9 * whole)
            fail_msg("%s: a fixed number of %ss is %s", where(kind, column, unit, adjacency),
                     dpf_unit_name(of), refused ? "accepted" : "refused, or has a gain");
    }
}

TEST(a_fixed_number_has_no_gain)
{
    for_all(check_fixed);
}

FIXTURE(accounting_table_open, accounting_table_close)
