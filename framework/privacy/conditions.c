/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conditions under which the accountants' answers are a guarantee. Whatever is not known to
 * hold, fails. The texts are for a privacy officer: what is the case, and what would repair it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dpframe/accounting.h"
#include "dpframe/role/aggregator.h"
#include "dpframe/role/mechanism.h"
#include "privacy/guarantee.h"

/* What all conditions are judged from. */
struct condition_input {
    const struct config_values *privacy;
    const struct run_facts *facts;
    const struct ledger *ledger;
    int unit, adjacency, observer;
    int support_public;
};

static void set_verdict(struct condition *condition, int holds, const char *format, ...) DPF_PRINTF(3, 4);
static void set_verdict(struct condition *condition, int holds, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    condition->holds = holds;
    vsnprintf(condition->why, sizeof condition->why, format, args);
    va_end(args);
}

static int flagged(const struct ledger *ledger, uint32_t flag)
{
    for (int64_t i = 0; i < ledger->n; i++)
        if (ledger->entries[i].event.flags & flag)
            return 1;
    return 0;
}

static void check_bounds(const struct condition_input *input, struct condition *out)
{
    for (int i = 0; i < input->facts->n_terms; i++) {
        const struct term_facts *term = &input->facts->terms[i];
        if (!term->bounded) {
            set_verdict(out, 0,
                        "%s: %s. Noise is only as good as its bound: enforce a public constant with a clip.",
                        term->name, term->unbounded_why);
            return;
        }
    }
    if (flagged(input->ledger, DPF_EVENT_BOUNDS_FROM_DATA))
        set_verdict(out, 0,
                    "A sensitivity is a maximum over the private data, which itself reveals "
                    "something. Enforce a public constant with a clip.");
    else
        set_verdict(out, 1, "Every bound in a sensitivity is a public constant that is enforced.");
}

/* Must the observer not even learn that a user exists? */
static int user_comes_or_goes(const struct condition_input *input)
{
    return input->unit == DPF_UNIT_USER && input->adjacency == DPF_ADJ_ADD_REMOVE;
}

/* Whether the whole input decides what the condition is about. */
static int input_decides(const struct condition_input *input, int condition, struct condition *out)
{
    const char *why = input->facts->not_allowed[condition - 1];
    if (*why)
        set_verdict(out, 0, "%s", why);
    return *why != '\0';
}

static void check_inputs(const struct condition_input *input, struct condition *out)
{
    for (int i = 0; i < input->facts->n_terms; i++) {
        const struct term_facts *term = &input->facts->terms[i];
        const int own = term->reads == FROM_OWN_RECORD;
        if (term->reads == FROM_CONSTANT || term->reads == FROM_RELEASES ||
            (own && input->unit == DPF_UNIT_USER))
            continue;
        set_verdict(
            out, 0, "%s: %s. %s", term->name, term->reads_why,
            own ? "A user's row depends on all of the user's records: ask for unit = user."
                : "Release that side with noise too, or keep the user side local, with unit = user and "
                  "a clip of the whole contribution.");
        return;
    }
    if (input_decides(input, 2, out))
        return;
    set_verdict(out, 1,
                "Apart from the records, releases read only constants%s, earlier releases, or the user's own "
                "clipped contribution.",
                input->facts->public_features ? ", features that are declared public" : "");
}

static int side_counted(const struct ledger *ledger, int64_t entry)
{
    const dpf_event *event = &ledger->entries[entry].event;
    for (int64_t i = 0; i < entry; i++) {
        const dpf_event *earlier = &ledger->entries[i].event;
        if (earlier->side == event->side && earlier->term == event->term)
            return 0;
    }
    return event->count > 0;
}

/* Correlated noise whose event leaves rounds of the run out. */
static const struct ledger_entry *covers_too_little(const struct condition_input *input)
{
    for (int64_t i = 0; i < input->ledger->n; i++) {
        const struct ledger_entry *entry = &input->ledger->entries[i];
        if (entry->event.kind == DPF_EVENT_CORRELATED_GAUSSIAN &&
            !(entry->event.p.correlated.rounds >= (double)input->facts->rounds))
            return entry;
    }
    return NULL;
}

static void check_composition(const struct condition_input *input, struct condition *out)
{
    int64_t counted = 0, releases = 0, together = 0;
    for (int64_t i = 0; i < input->ledger->n; i++) {
        const dpf_event *event = &input->ledger->entries[i].event;
        const int is_run = event->kind == DPF_EVENT_CORRELATED_GAUSSIAN;
        counted += side_counted(input->ledger, i);
        releases += is_run ? input->facts->rounds : event->count;
        together |= is_run;
    }
    const struct ledger_entry *short_of = covers_too_little(input);
    if (short_of) {
        set_verdict(
            out, 0,
            "%s: the event of correlated noise covers %g rounds of %lld. This is a fault of the program or "
            "of a plugin.",
            short_of->source, short_of->event.p.correlated.rounds, (long long)input->facts->rounds);
        return;
    }
    if (input->facts->rounds > 0 && counted < input->facts->n_terms)
        set_verdict(out, 0,
                    "%d terms release something, but only %lld of them are in the ledger. Each release must "
                    "be counted; this is a fault of the program or of a plugin.",
                    input->facts->n_terms, (long long)counted);
    else
        set_verdict(out, 1,
                    "Every release of a noisy block is in the ledger, %lld in all, and they are composed%s.",
                    (long long)releases,
                    together ? "; those whose noise is correlated between rounds are one event" : "");
}

static void check_hidden_noise(const struct condition_input *input, struct condition *out)
{
    int known = flagged(input->ledger, DPF_EVENT_NOISE_KNOWN);
    const char *name = "a release";
    for (int i = 0; i < input->facts->n_terms; i++) {
        if (input->facts->terms[i].noise_known) {
            known = 1;
            name = input->facts->terms[i].name;
        }
    }
    if (!known)
        set_verdict(out, 1, "Only the party that adds the noise knows any part of it.");
    else if (input->observer == DPF_OBSERVER_OUTSIDER)
        set_verdict(out, 1,
                    "%s: the server knows part of the noise, but it is trusted when the observer is an "
                    "outsider.",
                    name);
    else
        set_verdict(out, 0,
                    "%s: the server draws part of the noise, so the unknown noise is smaller than the "
                    "accounting assumes. Use noise in infinitely divisible shares, or trust the server.",
                    name);
}

/* Why the observer sees less noise than is accounted for, or NULL. Other parties see what the server sees as
   well: they may work together. */
static const char *noise_lacking(const struct condition_input *input, const struct term_facts *term)
{
    if (!term->has_mechanism || term->noise_where == DPF_NOISE_NOWHERE)
        return "it is released without noise. Add a mechanism";
    if (term->noise_where == DPF_NOISE_AT_PARTY || input->observer == DPF_OBSERVER_OUTSIDER)
        return NULL;
    if (term->noise_where == DPF_NOISE_AT_SUM && term->to_peers && !term->single_curator)
        return "users receive each other's messages without noise and add the noise themselves. Let the "
               "senders add it (where = party)";
    if (term->noise_where == DPF_NOISE_AT_SUM)
        return "the noise is added after the sum, by the server that must not learn. Let the parties add "
               "noise, or set observer = outsider";
    if (term->sees != DPF_SEES_SUM)
        return "each message has only a share of the noise, and the server sees each message. "
               "Use an aggregator that reveals the sum alone (secagg), or full noise in each message";
    if (input->observer == DPF_OBSERVER_SERVER)
        return NULL;
    if (term->sends_several)
        return "a silo sends a message for each of its users and knows the noise of all of them, but "
               "[privacy] "
               "max-curious counts messages. Set [parties] kind = users; or let silos send sums, without a "
               "sampler and with a mechanism that does not need users' messages";
    return term->spare_shares > 0
               ? NULL
               : "a party knows its own share of the noise, and the rest may be too little. Say how many "
                 "such parties there may be ([privacy] max-curious)";
}

static const struct ledger_entry *reused_noise(const struct ledger *ledger)
{
    for (int64_t i = 0; i < ledger->n; i++) {
        const dpf_event *event = &ledger->entries[i].event;
        if (event->lifetime == DPF_LIFETIME_RUN && event->count > 1 && event->kind != DPF_EVENT_NO_OP &&
            !(event->flags & DPF_EVENT_DATA_BLIND))
            return &ledger->entries[i];
    }
    return NULL;
}

static void check_enough_noise(const struct condition_input *input, struct condition *out)
{
    if (input->facts->released_raw) {
        set_verdict(out, 0, "%s. Add a mechanism, or keep that side local.", input->facts->released_raw_why);
        return;
    }
    for (int i = 0; i < input->facts->n_terms; i++) {
        const char *lacking = noise_lacking(input, &input->facts->terms[i]);
        if (lacking) {
            set_verdict(out, 0, "%s: %s.", input->facts->terms[i].name, lacking);
            return;
        }
    }
    const struct ledger_entry *reused = reused_noise(input->ledger);
    if (reused)
        set_verdict(out, 0,
                    "%s: one draw of noise serves %lld releases, and the difference of two of them has no "
                    "noise at all. Draw fresh noise in every round.",
                    reused->source, (long long)reused->event.count);
    else
        set_verdict(out, 1,
                    "Everything that the observer sees carries the noise that the ledger accounts for.");
}

/* Does a fixed-size draw push one unit out when another comes? */
static int draw_exchanges(const struct condition_input *input, const dpf_sampling *sampling)
{
    const dpf_question question = {
        .size = sizeof question, .unit = input->unit, .adjacency = input->adjacency};
    return (sampling->kind == DPF_SAMPLING_FIXED || sampling->kind == DPF_SAMPLING_REPLACED) &&
           dpf_sizes_differ(sampling, &question);
}

static int ledger_claims(const struct ledger *ledger, const struct run_facts *facts)
{
    for (int64_t i = 0; i < ledger->n; i++) {
        const dpf_sampling *claimed = &ledger->entries[i].event.sampling;
        int found = claimed->kind != DPF_SAMPLING_POISSON;
        for (int t = 0; t < facts->n_terms; t++) {
            const dpf_sampling *real = &facts->terms[t].sampling;
            found |= real->kind == claimed->kind && real->unit == claimed->unit &&
                     real->rate <= claimed->rate && real->hidden_from >= claimed->hidden_from;
        }
        if (!found)
            return 0;
    }
    return 1;
}

/* Correlated noise that counts on more rounds between two participations, or on fewer of them, than the
 * sampler enforces. */
static const struct ledger_entry *assumes_separation(const struct ledger *ledger)
{
    for (int64_t i = 0; i < ledger->n; i++) {
        const struct ledger_entry *entry = &ledger->entries[i];
        const double enforced =
            entry->event.sampling.separation > 1 ? (double)entry->event.sampling.separation : 1;
        if (entry->event.kind == DPF_EVENT_CORRELATED_GAUSSIAN &&
            (entry->event.p.correlated.separation > enforced ||
             entry->event.p.correlated.participations < (double)entry->participations))
            return entry;
    }
    return NULL;
}

static void check_sampling(const struct condition_input *input, struct condition *out)
{
    int amplified = 0, sampled = 0;
    int64_t apart = 0;
    const dpf_question question = {.size = sizeof question,
                                   .unit = input->unit,
                                   .adjacency = input->adjacency,
                                   .observer = input->observer};
    for (int i = 0; i < input->facts->n_terms; i++) {
        const struct term_facts *term = &input->facts->terms[i];
        if (draw_exchanges(input, &term->sampling)) {
            set_verdict(
                out, 0,
                "%s: the draw has a fixed size, so an added unit pushes another one out. Use a Poisson "
                "sampler, or an adjacency that keeps the number of units (replace, zero-out).",
                term->name);
            return;
        }
        amplified += dpf_amplifies(&term->sampling, &question);
        sampled += term->sampling.kind != DPF_SAMPLING_NONE;
        apart = term->sampling.separation > apart ? term->sampling.separation : apart;
    }
    const struct ledger_entry *assumed = assumes_separation(input->ledger);
    if (assumed) {
        set_verdict(
            out, 0,
            "%s: the noise counts on %g rounds from one participation of a user to the next, which no "
            "sampler "
            "enforces. Set sampler = cyclic-users with as many groups, and the mechanism's separation to 0.",
            assumed->source, assumed->event.p.correlated.separation);
        return;
    }
    if (!ledger_claims(input->ledger, input->facts))
        set_verdict(out, 0,
                    "The ledger counts on a Poisson draw that no sampler makes. This is a fault of the "
                    "program or of a plugin.");
    else if (amplified)
        set_verdict(out, 1,
                    "Amplification is counted for a Poisson draw of the protected unit that the observer "
                    "does not see.");
    else if (apart > 1)
        set_verdict(out, 1,
                    "A user takes part at most once in any %lld rounds in a row, which the sampler enforces. "
                    "The draw "
                    "is not counted in favour of privacy beyond that.",
                    (long long)apart);
    else
        set_verdict(out, 1,
                    sampled ? "Sampling does not amplify privacy here: that needs a secret Poisson draw of "
                              "the protected unit, under add-remove or zero-out."
                            : "Nothing is sampled.");
}

int guarantee_pair_exists(int unit, int adjacency)
{
    const int both = adjacency == DPF_ADJ_ADD_REMOVE || adjacency == DPF_ADJ_ZERO_OUT;
    return both || (unit == DPF_UNIT_USER) == (adjacency == DPF_ADJ_REPLACE);
}

static void check_unit(const struct condition_input *input, struct condition *out)
{
    const char *unit = dpf_unit_name(input->unit), *adjacency = dpf_adjacency_name(input->adjacency);
    if (!guarantee_pair_exists(input->unit, input->adjacency)) {
        set_verdict(out, 0, "Adjacency %s does not exist for the unit %s. Use %s, add-remove or zero-out.",
                    adjacency, unit, input->unit == DPF_UNIT_USER ? "replace" : "replace-value, flip");
        return;
    }
    for (int i = 0; i < input->facts->n_terms; i++) {
        const struct term_facts *term = &input->facts->terms[i];
        if (!term->unit_stated) {
            set_verdict(out, 0, "%s: %s (unit %s, adjacency %s).", term->name, term->unit_why, unit,
                        adjacency);
            return;
        }
    }
    set_verdict(out, 1, "Every sensitivity is stated for the unit %s and the adjacency %s.", unit, adjacency);
}

/*
 * Does noise hide which rows a unit touches? The adjacency must count such changes in its
 * sensitivities, and noise must be on every row whether touched or not: it is when it is added once to the
 * whole sum and only the result is seen, or when messages are dense.
 */
static int support_covered(const struct condition_input *input, const struct term_facts *term)
{
    if (input->adjacency == DPF_ADJ_REPLACE_VALUE)
        return 0;
    if (term->noise_where == DPF_NOISE_AT_SUM && input->observer == DPF_OBSERVER_OUTSIDER)
        return 1;
    return term->dense && term->noise_where != DPF_NOISE_NOWHERE && term->noise_where != DPF_NOISE_AT_SUM;
}

const char *term_shows_users(const struct term_facts *term, int observer)
{
    if (term->row_each)
        return "each user has a row of its own in what is released";
    if (term->counts_users)
        return "what is released is divided by the exact number of users that sent";
    if (term->noise_by_users)
        return "each user adds noise, so there is more noise when there is one more user";
    if (term->sent_by_users && observer != DPF_OBSERVER_OUTSIDER && term->sampling.hidden_from < observer)
        return "each user sends messages, and the observer sees who sends";
    return NULL;
}

static void check_support(const struct condition_input *input, struct condition *out)
{
    for (int i = 0; i < input->facts->n_terms && user_comes_or_goes(input); i++) {
        const char *seen = term_shows_users(&input->facts->terms[i], input->observer);
        if (seen) {
            set_verdict(
                out, 0,
                "%s: %s, but the adjacency promises to hide whether a user takes part. Protect what users "
                "did instead: adjacency = replace or zero-out, where the list of users is public.",
                input->facts->terms[i].name, seen);
            return;
        }
    }
    if (input_decides(input, 8, out))
        return;
    const int values_only = input->adjacency == DPF_ADJ_REPLACE_VALUE || input->adjacency == DPF_ADJ_ZERO_OUT;
    const int public_support = input->facts->cells_public;
    for (int i = 0; i < input->facts->n_terms; i++) {
        const struct term_facts *term = &input->facts->terms[i];
        if (public_support && term->loses_cells) {
            set_verdict(out, 0,
                        "%s: only rated cells contribute, and the recommender does not say that it keeps the "
                        "cells of records that are at fault (DPF_RECOMMENDER_READS_VOIDS), so that a fault "
                        "shows. Use adjacency = add-remove, or another recommender.",
                        term->name);
            return;
        }
        if (public_support)
            continue;
        if (term->support_observed && !support_covered(input, term)) {
            set_verdict(
                out, 0, "%s: only rated cells contribute, so who rated what can be seen, and %s. %s.",
                term->name,
                input->support_public ? "this adjacency promises to hide it" : "it is not declared public",
                values_only
                    ? "Set [privacy] interaction-pattern = public if that is so, or use dense noisy messages"
                    : "Use dense messages with noise on every row, or trust the server with the sum");
            return;
        }
        if (term->reads_degrees) {
            set_verdict(out, 0,
                        "%s: the solver or the noise reads how many records or senders each row has, without "
                        "noise. %s.",
                        term->name,
                        values_only
                            ? "Set [privacy] interaction-pattern = public if that is so, or use a solver "
                              "and noise that do not read counts"
                            : "Use a solver and noise that do not read counts");
            return;
        }
    }
    set_verdict(
        out, 1,
        public_support
            ? "Who rated what is declared public ([privacy] interaction-pattern); it is not protected."
            : "Which rows and cells contribute does not show who rated what.");
}

static void check_randomness(const struct condition_input *input, struct condition *out)
{
    if (!input->facts->secure) {
        set_verdict(
            out, 0,
            "The noise comes from a seed, and anybody who knows the seed can remove it. Set [privacy] "
            "randomness = secure for a run whose result is published.");
        return;
    }
    for (int i = 0; i < input->facts->n_terms; i++) {
        const struct term_facts *term = &input->facts->terms[i];
        if (!term->exact_grid && term->has_mechanism) {
            set_verdict(
                out, 0,
                "%s: noise is drawn or added in floating point, whose low bits can reveal the value below. "
                "Use a mechanism whose noise is integers on a grid.",
                term->name);
            return;
        }
    }
    if (flagged(input->ledger, DPF_EVENT_FLOATING_POINT))
        set_verdict(out, 0,
                    "Some noise is drawn or added in floating point. Use noise of integers on a grid.");
    else
        set_verdict(out, 1, "Noise comes from the system's generator and is exact on an integer grid.");
}

static void check_tuning(const struct condition_input *input, struct condition *out)
{
    switch (input->privacy->params.values[PRIVACY_TUNING].integer) {
    case 1:
        set_verdict(out, 1, "Declared: hyper-parameters were fixed in advance or chosen on public data.");
        break;
    case 2:
        set_verdict(out, 1,
                    "Declared: hyper-parameters were chosen privately, and the cost is accounted for.");
        break;
    default:
        set_verdict(out, 1,
                    "The guarantee is for these hyper-parameters. If they were chosen on the same "
                    "private data, that choice leaks more, and this is not accounted for.");
    }
}

/* Whoever comes or goes must not change what is assigned to others, nor how others' records are read. */
static void check_whole_input(const struct condition_input *input, struct condition *out)
{
    if (!input_decides(input, 11, out))
        set_verdict(
            out, 1,
            "What is assigned to users, items and records follows from their own ids, and the form of "
            "the data is declared.");
}

/* What could stop a run even though single faults do not, or NULL. */
static const char *stopping(const struct term_facts *term)
{
    if (term->sum_may_overflow)
        return term->overflow_why;
    if (term->component_may_stop)
        return "the recommender does not promise to end whatever the records are";
    return NULL;
}

/*
 * Whether there is a result must not tell about one unit. `zero`: faults of single records stop nothing. A
 * solver of released rows may still fail: it computes from what was released, and so does whoever sees that.
 */
static void check_completion(const struct condition_input *input, int zero, struct condition *out)
{
    if (input_decides(input, 12, out))
        return;
    for (int i = 0; i < input->facts->n_terms; i++) {
        const char *stop = stopping(&input->facts->terms[i]);
        if (stop) {
            set_verdict(out, 0, "%s: %s.", input->facts->terms[i].name, stop);
            return;
        }
    }
    const int chosen = input->privacy->params.values[PRIVACY_ON_VIOLATION].integer != ON_VIOLATION_AUTO;
    if (zero)
        set_verdict(
            out, 1,
            "A fault in one unit's records makes that unit's contribution zero, with all of its noise, "
            "and stops nothing ([privacy] on-violation = zero). Outside of the model: failures of the "
            "machine (disk, memory, signals), and how long the run takes. Messages and the exit status "
            "are for the curator.");
    else if (chosen)
        set_verdict(
            out, 0,
            "A fault in one unit's records (a bad line, a value out of range, a message that is not "
            "finite) stops the run, so whether there is a result tells about that unit. Set [privacy] "
            "on-violation = zero.");
    else
        set_verdict(
            out, 1,
            "If all other conditions held, a fault in one unit's records would stop nothing ([privacy] "
            "on-violation = auto). As they do not, and nothing is proved, a fault stops this run.");
}

typedef void (*judge)(const struct condition_input *input, struct condition *out);

static const struct {
    const char *id, *title;
    judge judge;
} judges[N_CONDITIONS - 1] = {
    {"C1", "bounded", check_bounds},
    {"C2", "public inputs", check_inputs},
    {"C3", "composed", check_composition},
    {"C4", "hidden noise", check_hidden_noise},
    {"C5", "enough noise", check_enough_noise},
    {"C6", "sampling", check_sampling},
    {"C7", "unit", check_unit},
    {"C8", "support", check_support},
    {"C9", "randomness", check_randomness},
    {"C10", "tuning", check_tuning},
    {"C11", "whole input", check_whole_input},
};
#define RANDOMNESS_INDEX 8

/* The last one: auto follows from the others. */
static void decide_completion(const struct condition_input *input, int others_hold, struct guarantee *out)
{
    const int64_t chosen = input->privacy->params.values[PRIVACY_ON_VIOLATION].integer;
    struct condition *condition = &out->conditions[N_CONDITIONS - 1];
    condition->id = "C12";
    condition->title = "completion";
    check_completion(input, 1, condition);
    const int provable = others_hold && condition->holds && input->facts->n_terms > 0;
    out->zero_violations = chosen == ON_VIOLATION_ZERO || (chosen == ON_VIOLATION_AUTO && provable);
    check_completion(input, out->zero_violations, condition);
}

/* Noise in shares is enough as long as few parties take theirs off; the fewest of all terms count. */
static int64_t most_curious(const struct run_facts *facts)
{
    int64_t most = -1;
    for (int i = 0; i < facts->n_terms; i++) {
        const struct term_facts *term = &facts->terms[i];
        if (term->noise_where == DPF_NOISE_IN_SHARES && (most < 0 || term->spare_shares < most))
            most = term->spare_shares;
    }
    return most;
}

void guarantee_conditions(const struct config_values *privacy, const struct run_facts *facts,
                          const struct ledger *ledger, struct guarantee *out)
{
    const dpf_value *values = privacy->params.values;
    const struct condition_input input = {
        .privacy = privacy,
        .facts = facts,
        .ledger = ledger,
        .unit = (int)values[PRIVACY_UNIT].integer,
        .adjacency = (int)values[PRIVACY_ADJACENCY].integer,
        .observer = (int)values[PRIVACY_OBSERVER].integer,
        .support_public = values[PRIVACY_INTERACTION_PATTERN].integer == 1,
    };
    out->unit = input.unit;
    out->adjacency = input.adjacency;
    out->observer = input.observer;
    out->delta = values[PRIVACY_DELTA].real;
    out->delta_is_default = !values[PRIVACY_DELTA].is_set;
    out->tuning_stated = values[PRIVACY_TUNING].integer != 0;
    out->joint = facts->local_users;
    out->max_curious = most_curious(facts);
    out->reproducible = !facts->secure;
    snprintf(out->taken_as_public, sizeof out->taken_as_public, "%s", facts->taken_as_public);
    out->n_releases = facts->n_terms;
    out->released_raw = facts->released_raw;
    int holding = 1;
    for (int i = 0; i < N_CONDITIONS - 1; i++) {
        struct condition *condition = &out->conditions[i];
        condition->id = judges[i].id;
        condition->title = judges[i].title;
        judges[i].judge(&input, condition);
        if (i != RANDOMNESS_INDEX)
            holding &= condition->holds;
    }
    decide_completion(&input, holding, out);
    holding &= out->conditions[N_CONDITIONS - 1].holds;
    snprintf(out->deviation, sizeof out->deviation, "%s", ledger->deviation);
    out->plan_holds = holding;
    out->run_holds = holding && out->conditions[RANDOMNESS_INDEX].holds && !out->deviation[0];
}
