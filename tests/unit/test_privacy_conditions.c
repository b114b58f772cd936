/* SPDX-License-Identifier: Apache-2.0 */
/* Each condition, broken alone: it must fail, say what is wrong, and take the guarantee with it. */
#include "kit/privacy_case.h"

/* The only failing conditions are those named ("C1 C5"); word is in the first one's text. */
static void expect_failing(struct privacy_case *c, const char *ids, const char *word)
{
    char failing[128] = "";
    const char *why = "";
    case_judge(c);
    for (int i = 0; i < N_CONDITIONS; i++) {
        const struct condition *condition = &c->guarantee.conditions[i];
        assert_true(condition->why[0] != '\0');
        assert_true(strlen(condition->why) < sizeof condition->why - 1); /* not cut */
        if (condition->holds)
            continue;
        if (!failing[0])
            why = condition->why;
        snprintf(failing + strlen(failing), sizeof failing - strlen(failing), "%s%s", failing[0] ? " " : "",
                 condition->id);
    }
    assert_string_equal(failing, ids);
    if (word && !strstr(why, word))
        fail_msg("\"%s\" does not mention \"%s\"", why, word);
    const int only_c9 = strcmp(ids, "C9") == 0;
    assert_int_equal(c->guarantee.plan_holds, !ids[0] || only_c9);
    assert_int_equal(c->guarantee.run_holds, !ids[0]);
}

TEST(a_good_run_holds)
{
    struct privacy_case c;
    case_start(&c);
    expect_failing(&c, "", NULL);
    assert_int_equal(c.guarantee.unit, DPF_UNIT_USER);
    assert_int_equal(c.guarantee.adjacency, DPF_ADJ_REPLACE);
    assert_true(c.guarantee.delta == 1e-5);
    assert_true(c.guarantee.delta_is_default);
    case_end(&c);
}

TEST(bounds_must_be_public)
{
    struct privacy_case c;
    case_start(&c);
    c.term.bounded = 0;
    snprintf(c.term.unbounded_why, sizeof c.term.unbounded_why, "row norms are maxima over private factors");
    expect_failing(&c, "C1", "maxima over private");
    c.term.bounded = 1;
    c.ledger.entries[0].event.flags = DPF_EVENT_BOUNDS_FROM_DATA;
    expect_failing(&c, "C1", "clip");
    case_end(&c);
}

TEST(inputs_must_be_public)
{
    struct privacy_case c;
    case_start(&c);
    c.term.reads = FROM_RAW_DATA;
    snprintf(c.term.reads_why, sizeof c.term.reads_why, "user factors come from raw ratings");
    expect_failing(&c, "C2", "raw ratings");
    c.term.reads = FROM_OWN_RECORD;
    expect_failing(&c, "", NULL);
    case_privacy(&c, "unit = record\nadjacency = zero-out\ntuning = public-data");
    expect_failing(&c, "C2", "unit = user");
    c.term.reads = FROM_CONSTANT;
    expect_failing(&c, "", NULL);
    case_end(&c);
}

TEST(every_term_must_be_counted)
{
    struct privacy_case c;
    case_start(&c);
    struct term_facts terms[2] = {c.term, c.term};
    c.facts.terms = terms;
    c.facts.n_terms = 2;
    expect_failing(&c, "C3", "1 of them");
    dpf_event event = c.ledger.entries[0].event;
    event.blocks = 2;
    ledger_add(&c.ledger, &event, "a second block of the same term");
    expect_failing(&c, "C3", NULL);
    event.term = 1;
    ledger_add(&c.ledger, &event, "the second term");
    expect_failing(&c, "", NULL);
    case_end(&c);
}

TEST(known_noise_hides_nothing_from_those_who_know_it)
{
    struct privacy_case c;
    case_start(&c);
    c.term.noise_where = DPF_NOISE_AT_PARTY;
    c.ledger.entries[0].event.flags = DPF_EVENT_NOISE_KNOWN;
    expect_failing(&c, "", NULL); /* the server knows it, an outsider does not */
    case_privacy(&c, "unit = user\nadjacency = replace\nobserver = server\ntuning = public-data");
    expect_failing(&c, "C4", "draws part of the noise");
    c.ledger.entries[0].event.flags = 0;
    expect_failing(&c, "", NULL);
    c.term.noise_known = 1;
    expect_failing(&c, "C4", "items");
    case_end(&c);
}

TEST(shares_need_secure_aggregation)
{
    struct privacy_case c;
    case_start(&c);
    case_privacy(&c, "unit = user\nadjacency = replace\nobserver = server\ntuning = public-data");
    c.term.noise_where = DPF_NOISE_IN_SHARES;
    c.term.sees = DPF_SEES_MESSAGES;
    expect_failing(&c, "C5", "secagg");
    c.term.sees = DPF_SEES_SUM;
    expect_failing(&c, "", NULL);
    c.term.noise_where = DPF_NOISE_AT_SUM;
    expect_failing(&c, "C5", "after the sum");
    c.term.noise_where = DPF_NOISE_AT_PARTY;
    c.term.sees = DPF_SEES_MESSAGES;
    expect_failing(&c, "", NULL);
    case_privacy(&c, "unit = user\nadjacency = replace\nobserver = parties\ntuning = public-data");
    c.term.noise_where = DPF_NOISE_IN_SHARES;
    c.term.sees = DPF_SEES_SUM;
    expect_failing(&c, "C5", "max-curious");
    c.term.spare_shares = 1;
    expect_failing(&c, "", NULL);
    /* One silo of many users takes off many shares, and max-curious counts messages. */
    c.term.sends_several = 1;
    expect_failing(&c, "C5", "noise of all of them");
    case_privacy(&c, "unit = user\nadjacency = replace\nobserver = server\ntuning = public-data");
    expect_failing(&c, "", NULL);
    case_privacy(&c, "unit = user\nadjacency = replace\nobserver = parties\ntuning = public-data");
    c.term.sends_several = 0;
    /* Parties may work with the server. */
    c.term.sees = DPF_SEES_MESSAGES;
    expect_failing(&c, "C5", "secagg");
    c.term.noise_where = DPF_NOISE_AT_SUM;
    expect_failing(&c, "C5", "after the sum");
    case_end(&c);
}

TEST(noise_must_be_there_and_fresh)
{
    struct privacy_case c;
    case_start(&c);
    c.term.has_mechanism = 0;
    expect_failing(&c, "C5", "without noise");
    c.term.has_mechanism = 1;
    c.term.noise_where = DPF_NOISE_NOWHERE;
    expect_failing(&c, "C5", "without noise");
    c.term.noise_where = DPF_NOISE_AT_SUM;
    c.ledger.entries[0].event.lifetime = DPF_LIFETIME_RUN;
    expect_failing(&c, "C5", "fresh noise");
    c.ledger.entries[0].event.flags = DPF_EVENT_DATA_BLIND;
    expect_failing(&c, "", NULL);
    c.facts.released_raw = 1;
    snprintf(c.facts.released_raw_why, sizeof c.facts.released_raw_why, "users are released as they are");
    expect_failing(&c, "C5", "users are released");
    case_end(&c);
}

TEST(sampling_is_claimed_only_where_it_happens)
{
    struct privacy_case c;
    case_start(&c);
    case_privacy(&c, "unit = user\nadjacency = add-remove\ntuning = public-data");
    c.term.sampling = (dpf_sampling){.kind = DPF_SAMPLING_POISSON,
                                     .unit = DPF_UNIT_USER,
                                     .hidden_from = DPF_OBSERVER_OUTSIDER,
                                     .rate = 0.1};
    c.ledger.entries[0].event.sampling = c.term.sampling;
    expect_failing(&c, "", NULL);
    assert_non_null(strstr(c.guarantee.conditions[5].why, "Amplification is counted"));
    c.ledger.entries[0].event.sampling.rate = 0.01; /* the ledger claims less than is drawn */
    expect_failing(&c, "C6", "no sampler makes");
    c.ledger.entries[0].event.sampling = c.term.sampling;
    c.term.sampling.kind = DPF_SAMPLING_NONE;
    expect_failing(&c, "C6", "no sampler makes");
    c.ledger.entries[0].event.sampling.kind = c.term.sampling.kind = DPF_SAMPLING_REPLACED;
    expect_failing(&c, "C6", "pushes another one out");
    case_privacy(&c, "unit = user\nadjacency = replace\ntuning = public-data");
    expect_failing(&c, "", NULL);
    assert_non_null(strstr(c.guarantee.conditions[5].why, "does not amplify"));
    case_end(&c);
}

TEST(unit_and_adjacency_must_fit)
{
    struct privacy_case c;
    case_start(&c);
    c.term.unit_stated = 0;
    snprintf(c.term.unit_why, sizeof c.term.unit_why, "loss x states no sensitivity");
    expect_failing(&c, "C7", "loss x");
    c.term.unit_stated = 1;
    case_privacy(&c, "unit = record\nadjacency = replace\ntuning = public-data");
    expect_failing(&c, "C7", "does not exist");
    case_privacy(&c, "unit = user\nadjacency = flip\ntuning = public-data");
    expect_failing(&c, "C7", "does not exist");
    case_end(&c);
}

TEST(who_rated_what_must_be_public_or_hidden)
{
    static const char record[] =
        "unit = record\nadjacency = replace-value\ntuning = public-data\ninteraction-pattern = ";
    struct privacy_case c;
    char settings[256];
    case_start(&c);
    c.term.support_observed = 1;
    expect_failing(&c, "", NULL); /* an outsider sees a sum with noise on every row */
    snprintf(settings, sizeof settings, "%sprivate", record);
    case_privacy(&c, settings);
    expect_failing(&c, "C8", "interaction-pattern = public");
    snprintf(settings, sizeof settings, "%spublic", record);
    case_privacy(&c, settings);
    c.term.reads_degrees = 1;
    c.facts.cells_public = 1;
    expect_failing(&c, "", NULL);
    c.facts.cells_public = 0;
    case_privacy(&c, "unit = user\nadjacency = replace\ntuning = public-data");
    expect_failing(&c, "C8", "how many records or senders");
    c.term.reads_degrees = 0;
    c.term.noise_where = DPF_NOISE_AT_PARTY; /* noise only on the rows that a party sends */
    expect_failing(&c, "C8", "dense");
    c.term.dense = 1;
    expect_failing(&c, "", NULL);
    case_privacy(&c, "unit = user\nadjacency = replace\nobserver = server\ninteraction-pattern = "
                     "public\ntuning = public-data");
    expect_failing(&c, "", NULL);
    c.term.dense = 0;
    expect_failing(&c, "C8", "promises to hide");
    case_end(&c);
}

/* Zeroed records still count for a solver that reads counts, unless who rated what is public. */
TEST(counts_are_read_under_zero_out_too)
{
    struct privacy_case c;
    case_start(&c);
    c.term.reads_degrees = 1;
    case_privacy(&c, "unit = user\nadjacency = zero-out\ntuning = public-data");
    expect_failing(&c, "C8", "how many records");
    case_privacy(&c, "unit = user\nadjacency = zero-out\ninteraction-pattern = public\ntuning = public-data");
    c.facts.cells_public = 1;
    expect_failing(&c, "", NULL);
    case_end(&c);
}

TEST(presence_must_not_show)
{
    static const char *const who[] = {"outsider", "server", "parties"};
    static const char *const adjacencies[] = {"add-remove", "replace"};
    struct privacy_case c;
    char settings[128];
    case_start(&c);
    for (int seen = 0; seen < 4; seen++)
        for (int i = 0; i < 6; i++) {
            int *const facts[] = {&c.term.row_each, &c.term.counts_users, &c.term.noise_by_users,
                                  &c.term.sent_by_users};
            static const char *const why[] = {"a row of its own", "exact number", "each user adds noise",
                                              "who sends"};
            const int hidden = i / 3 == 0, visible = seen < 3 || i % 3 > 0;
            c.term.noise_where = DPF_NOISE_AT_PARTY;
            *facts[seen] = 1;
            snprintf(settings, sizeof settings,
                     "unit = user\nadjacency = %s\nobserver = %s\ntuning = public-data", adjacencies[i / 3],
                     who[i % 3]);
            case_privacy(&c, settings);
            expect_failing(&c, hidden && visible ? "C8" : "", hidden && visible ? why[seen] : NULL);
            *facts[seen] = 0;
        }
    case_end(&c);
}

TEST(seeded_or_inexact_noise_fails_the_run_only)
{
    struct privacy_case c;
    case_start(&c);
    c.facts.secure = 0;
    expect_failing(&c, "C9", "seed");
    assert_int_equal(c.guarantee.reproducible, 1);
    c.facts.secure = 1;
    c.term.exact_grid = 0;
    expect_failing(&c, "C9", "floating point");
    c.term.exact_grid = 1;
    c.ledger.entries[0].event.flags = DPF_EVENT_FLOATING_POINT;
    expect_failing(&c, "C9", "floating point");
    case_end(&c);
}

TEST(tuning_is_declared_or_warned_of)
{
    struct privacy_case c;
    case_start(&c);
    case_judge(&c);
    assert_int_equal(c.guarantee.tuning_stated, 1);
    case_privacy(&c, "unit = user\nadjacency = replace");
    expect_failing(&c, "", NULL);
    assert_int_equal(c.guarantee.tuning_stated, 0);
    assert_non_null(strstr(c.guarantee.conditions[9].why, "not accounted for"));
    case_end(&c);
}

/* Which facts these are, and when they may be decided, is for reading/input_facts.h to say. */
TEST(what_the_whole_input_decides_fails_its_condition)
{
    static const int conditions[] = {2, 8, 11, 12};
    struct privacy_case c;
    char id[8];
    case_start(&c);
    for (int i = 0; i < 4; i++) {
        char *why = c.facts.not_allowed[conditions[i] - 1];
        snprintf(why, sizeof c.facts.not_allowed[0], "Records decide. Set [data] some-key.");
        snprintf(id, sizeof id, "C%d", conditions[i]);
        expect_failing(&c, id, "[data] some-key");
        *why = '\0';
    }
    expect_failing(&c, "", NULL);
    case_end(&c);
}

TEST(a_deviation_voids_the_run)
{
    struct privacy_case c;
    case_start(&c);
    ledger_deviate(&c.ledger, "round 3 had too few survivors");
    case_judge(&c);
    assert_int_equal(c.guarantee.plan_holds, 1);
    assert_int_equal(c.guarantee.run_holds, 0);
    assert_string_equal(c.guarantee.deviation, "round 3 had too few survivors");
    case_end(&c);
}

TEST(defaults_are_the_weakest_promise_stated_in_full)
{
    struct privacy_case c;
    case_start(&c);
    case_privacy(&c, "");
    const dpf_value *values = c.privacy.params.values;
    assert_int_equal(values[PRIVACY_UNIT].integer, DPF_UNIT_RECORD);
    assert_int_equal(values[PRIVACY_ADJACENCY].integer, DPF_ADJ_REPLACE_VALUE);
    assert_int_equal(values[PRIVACY_OBSERVER].integer, DPF_OBSERVER_OUTSIDER);
    assert_int_equal(values[PRIVACY_RANDOMNESS].integer, 0);
    assert_int_equal(values[PRIVACY_INTERACTION_PATTERN].integer, 0);
    expect_failing(&c, "", NULL);
    case_end(&c);
}

/* What stops a run because of one unit's records, or of a number that is to be hidden. */
TEST(completion_must_not_depend_on_a_unit)
{
    struct privacy_case c;
    case_start(&c);
    expect_failing(&c, "", NULL);
    assert_true(c.guarantee.zero_violations); /* auto, as all others hold */
    c.term.sum_may_overflow = 1;
    snprintf(c.term.overflow_why, sizeof c.term.overflow_why, "sums may leave 64 bits");
    expect_failing(&c, "C12", "64 bits");
    assert_false(c.guarantee.zero_violations);
    c.term.sum_may_overflow = 0;
    c.term.component_may_stop = 1;
    expect_failing(&c, "C12", "does not promise to end");
    c.term.component_may_stop = 0;
    case_privacy(&c, "unit = user\nadjacency = replace\ntuning = public-data\non-violation = error");
    expect_failing(&c, "C12", "on-violation = zero");
    assert_false(c.guarantee.zero_violations);
    case_privacy(&c, "unit = user\nadjacency = replace\ntuning = public-data\non-violation = zero");
    c.term.bounded = 0; /* what is chosen is in effect, whether it proves anything or not */
    expect_failing(&c, "C1", NULL);
    assert_true(c.guarantee.zero_violations);
    case_privacy(&c, "unit = user\nadjacency = replace\ntuning = public-data");
    expect_failing(&c, "C1", NULL);
    assert_false(c.guarantee.zero_violations);
    case_end(&c);
}
