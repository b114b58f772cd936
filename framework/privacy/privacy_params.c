/* SPDX-License-Identifier: Apache-2.0 */
/* The [privacy] section: what is promised, to whom, against whom. */
#include <math.h>

#include "privacy/guarantee.h"

static const dpf_enum_value units[] = {
    {"record", "one user-item pair; a user with many records is protected less than each of them"},
    {"user", "all of a user's records at once"},
};

static const dpf_enum_value adjacencies[] = {
    {"replace-value", "unit record: its value changes; who rated what is public"},
    {"flip", "unit record: an implicit record appears or disappears"},
    {"replace", "unit user: all records are replaced by any others"},
    {"add-remove", "the unit is present or absent; needed for amplification by sampling"},
    {"zero-out", "the unit's contribution becomes nothing; the number of units is public"},
};

static const dpf_enum_value observers[] = {
    {"outsider", "sees the released factors only; server and parties are trusted"},
    {"server", "sees every message that reaches the server"},
    {"parties", "other parties as well: they see what the server sees, and their own messages and noise"},
};

static const dpf_enum_value randomness[] = {
    {"secure", "keys from the operating system, never written"},
    {"reproducible", "keys from noise-seed: for tests and sweeps; fails condition C9"},
};

static const dpf_enum_value ledger_runs[] = {
    {"adaptive", "A run, or its noise, may have been chosen by what earlier runs released: epsilons add up."},
    {"planned", "All runs were fixed before the first one, like the points of a sweep: the accountants "
                "compose all their releases."},
};
static const dpf_enum_value lists[] = {
    {"private", "Private. Lists of the ids that occur show which users and items there are; nothing is "
                "proved if one unit can change them (C11)."},
    {"public", "Public for any data: neighbours have the same lists, so a user who alone has an item is not "
               "protected. The statement says so."},
};
static const dpf_enum_value supports[] = {
    {"private", "who rated what is protected"},
    {"public", "who rated what is known to everybody; only the values are protected"},
};

static const dpf_enum_value tunings[] = {
    {"unaccounted", "the guarantee does not cover the choice of hyper-parameters, and says so"},
    {"public-data", "hyper-parameters were fixed in advance or chosen on public data"},
    {"accounted", "the choice was private and its cost is part of the budget elsewhere"},
};

static const dpf_enum_value violations[] = {
    {"auto", "zero if something is proved provided that faults stop nothing, else error"},
    {"zero",
     "the record, or the party's message, counts as zero, with all of its noise, and the run goes on"},
    {"error", "the run stops with the fault, so that whether it completes depends on single records"},
};

static const dpf_enum_value budgets[] = {
    {"per-release", "mechanisms add the noise that their own parameters demand for one release"},
    {"total", "one factor multiplies the noise of all releases, so that the whole run has total-epsilon"},
};

static const dpf_param params[PRIVACY_N_PARAMS] = {
    [PRIVACY_UNIT] = DPF_PARAM_ENUM_F(
        "unit", DPF_UNIT_RECORD, units, DPF_PARAM_PRIVACY,
        "What is protected: the difference between two data sets that an observer must not tell apart."),
    [PRIVACY_ADJACENCY] = DPF_PARAM_ENUM_F("adjacency", DPF_ADJ_REPLACE_VALUE, adjacencies, DPF_PARAM_PRIVACY,
                                           "How they differ. Sensitivities are stated for each unit and "
                                           "adjacency; one is never computed from another."),
    [PRIVACY_OBSERVER] = DPF_PARAM_ENUM_F("observer", DPF_OBSERVER_OUTSIDER, observers, DPF_PARAM_PRIVACY,
                                          "From whom the unit is protected."),
    [PRIVACY_MIN_HONEST] = DPF_PARAM_INT_F(
        "min-honest", 0, 0, 2147483647, DPF_PARAM_PRIVACY, "parties",
        "For noise that parties add in shares, which only the sum of their messages has enough of: the "
        "fewest honest parties of a sum, whose shares make up the noise. 1 makes each message private by "
        "itself; 0 counts on all parties but max-curious, provided that none is sampled."),
    [PRIVACY_MAX_CURIOUS] = DPF_PARAM_INT_F(
        "max-curious", 0, 0, 2147483647, DPF_PARAM_PRIVACY, "parties",
        "For such noise: how many parties of a sum may pool what they know of their own messages and "
        "shares; at least 1 for observer = parties. A sum of fewer than min-honest + max-curious messages "
        "is not opened."),
    [PRIVACY_DELTA] = DPF_PARAM_REAL_F("delta", 1e-5, 0.0, 1.0, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_HI, "",
                                       "The probability that the stated epsilon may fail. Choose it well "
                                       "below 1 / (number of units). 0 asks for pure differential privacy."),
    [PRIVACY_RANDOMNESS] = DPF_PARAM_ENUM_F("randomness", 0, randomness, DPF_PARAM_PRIVACY,
                                            "The source of the keys of noise and private sampling."),
    [PRIVACY_NOISE_SEED] = DPF_PARAM_INT_F("noise-seed", 1, 0.0, 9007199254740992.0, DPF_PARAM_PRIVACY, "",
                                           "Seed of noise and private sampling for randomness = "
                                           "reproducible. Anybody who knows it can remove the noise."),
    [PRIVACY_INTERACTION_PATTERN] =
        DPF_PARAM_ENUM_F("interaction-pattern", 0, supports, DPF_PARAM_PRIVACY,
                         "Is it public who rated what? A declaration about the data."),
    [PRIVACY_ID_LISTS] =
        DPF_PARAM_ENUM_F("id-lists", 0, lists, DPF_PARAM_PRIVACY,
                         "Is it public which users and items occur in the data? A declaration about the "
                         "data, needed without a catalogue ([data] items-file, users-file)."),
    [PRIVACY_TUNING] =
        DPF_PARAM_ENUM_F("tuning", 0, tunings, DPF_PARAM_PRIVACY,
                         "How hyper-parameters were chosen. A declaration about the experiment."),
    [PRIVACY_ON_VIOLATION] = DPF_PARAM_ENUM_F(
        "on-violation", ON_VIOLATION_AUTO, violations, DPF_PARAM_PRIVACY,
        "What to do with a fault in a protected record: a line that cannot be parsed, a value out of range, "
        "a forbidden duplicate, a message that is not finite. Reports go to the terminal and private/."),
    [PRIVACY_BUDGET] = DPF_PARAM_ENUM_F("budget", BUDGET_PER_RELEASE, budgets, DPF_PARAM_PRIVACY,
                                        "What decides the amount of noise."),
    [PRIVACY_TOTAL_EPSILON] =
        DPF_PARAM_REAL_F("total-epsilon", 1.0, 0.0, 1e6, DPF_PARAM_PRIVACY | DPF_PARAM_OPEN_LO, "",
                         "Epsilon of the whole run at delta, for budget = total. The parameters of "
                         "mechanisms then decide how releases and blocks share it, not its size."),
    [PRIVACY_CALIBRATE_BY] =
        DPF_PARAM_TEXT_F("calibrate-by", DPF_TYPE_STRING, "", DPF_PARAM_PRIVACY,
                         "The accountant of [accountants] list whose epsilon must be total-epsilon. Default: "
                         "the first one that proves its answer."),
    [PRIVACY_LEDGER] = DPF_PARAM_TEXT_F(
        "ledger", DPF_TYPE_PATH, "", DPF_PARAM_PRIVACY,
        "A file that adds up the epsilon and delta of all runs on this data: each run adds what is proved "
        "for it "
        "before it releases anything. Use one file for each combination of unit, adjacency, observer, "
        "id-lists, "
        "interaction-pattern, and lists of ids from catalogues or from the data. Noise must be secure."),
    [PRIVACY_MAX_EPSILON] = DPF_PARAM_REAL_F("max-epsilon", 0.0, 0.0, 1e9, DPF_PARAM_PRIVACY, "",
                                             "The epsilon that all runs in `ledger` may spend together: a "
                                             "run that would exceed it is refused. 0: no limit."),
    [PRIVACY_LEDGER_RUNS] = DPF_PARAM_ENUM_F(
        "ledger-runs", 0, ledger_runs, DPF_PARAM_PRIVACY,
        "A declaration of how the runs in `ledger` were chosen; it decides which sum max-epsilon limits."),
};

const dpf_param *privacy_params(int64_t *n)
{
    *n = PRIVACY_N_PARAMS;
    return params;
}
