/* SPDX-License-Identifier: Apache-2.0 */
#include "federation/federation_options.h"

#include <math.h>
#include <string.h>

static const dpf_param federation_table[FEDERATION_N_PARAMS] = {
    [FEDERATION_LINK] = DPF_PARAM_TEXT_F("link", DPF_TYPE_STRING, "local", 0,
                                         "The link over which parties join; its parameters are those of "
                                         "[federation.link]."),
    [FEDERATION_DEADLINE] =
        DPF_PARAM_REAL_F("deadline", 30, 0, 86400, DPF_PARAM_OPEN_LO, "s",
                         "The server waits so long for the answers of each phase of a round; "
                         "who is later is lost for the round."),
    [FEDERATION_JOIN_TIME] =
        DPF_PARAM_REAL_F("join-time", 60, 0, 1e6, 0, "s",
                         "The server waits so long for parties before the first round, "
                         "and starts as soon as all of the list are there. A party tries so "
                         "long to reach the server."),
    [FEDERATION_LEAST_PARTIES] =
        DPF_PARAM_INT_F("least-parties", 2, 2, 1048576, 0, "",
                        "With fewer parties after join-time the server does not begin."),
    [FEDERATION_STATE] = DPF_PARAM_TEXT_F(
        "state", DPF_TYPE_PATH, "federation-state", 0,
        "A party's directory: statements, the rounds that it has answered, and the ledger of "
        "all runs that it has joined. One for each party, and always the same one."),
    [FEDERATION_PARTIES] =
        DPF_PARAM_TEXT_F("parties", DPF_TYPE_PATH, "", 0,
                         "A file with a line for each party, its name and, against a malicious server, its "
                         "Ed25519 public key. "
                         "The same at all ends. Where parties are users, it is needed for keys only."),
    [FEDERATION_SITE] = DPF_PARAM_TEXT_F("site", DPF_TYPE_STRING, "", 0,
                                         "A party's own name, where parties are sites and not users."),
    [FEDERATION_SIGNING_KEY] =
        DPF_PARAM_TEXT_F("signing-key", DPF_TYPE_PATH, "", 0,
                         "A party's own Ed25519 key in PEM, where the list of parties has keys."),
    [FEDERATION_RECONNECT] = DPF_PARAM_REAL_F("reconnect", 0, 0, 86400, 0, "s",
                                              "How long the server waits in a phase for a party whose "
                                              "connection is lost. A party that is back by then "
                                              "continues; any other is lost for the round."),
    [FEDERATION_METRICS] = DPF_PARAM_TEXT_F("metrics", DPF_TYPE_STRING, "", 0,
                                            "Address and port, 127.0.0.1:9464, at which the server answers "
                                            "GET /metrics in OpenMetrics text. Empty: "
                                            "nowhere."),
    [FEDERATION_ENROLLED] = DPF_PARAM_TEXT_F(
        "enrolled", DPF_TYPE_PATH, "", 0,
        "The server's file of the parties that may connect now, a name on each line. It is read again "
        "when it changes: take a line out to revoke a party. Empty: all parties on the list."),
    [FEDERATION_QUORUM] = DPF_PARAM_INT_F("quorum", 0, 0, 1048576, 0, "parties",
                                          "Once so many have answered a phase, the others have as much time "
                                          "again and a second more, at most until "
                                          "deadline. At least as many as the noise needs; refused with a "
                                          "sample that amplifies. 0: all have until deadline."),
    [FEDERATION_EXCLUDE_AFTER] = DPF_PARAM_INT_F(
        "exclude-after", 3, 0, 1000000, 0, "phases",
        "The server asks a party that has missed so many phases in a row no more, until it joins anew. "
        "0: it is asked in every round."),
};

static const dpf_enum_value units[] = {
    {"any", "A guarantee for records or for users."},
    {"record", "A guarantee for records, or for users, which is more."},
    {"user", "A guarantee for all records of a user together."},
};

static const dpf_enum_value observers[] = {
    {"outsider", "It may trust the server."},
    {"server", "It has to hold against the server."},
    {"parties", "It has to hold against the server and other parties."},
};

static const dpf_param consent_table[CONSENT_N_PARAMS] = {
    [CONSENT_MAX_EPSILON] = DPF_PARAM_REAL_F(
        "max-epsilon", 0, 0, INFINITY, DPF_PARAM_OPEN_LO, "",
        "The most that all runs that this party has ever joined may have together, by the sum of their "
        "proved epsilons. It must be set, unless proved = no."),
    [CONSENT_UNIT] = DPF_PARAM_ENUM_F("unit", CONSENT_USER, units, 0, "What has to be protected, at least."),
    [CONSENT_OBSERVER] = DPF_PARAM_ENUM_F("observer", CONSENT_SERVER, observers, 0, "From whom, at least."),
    [CONSENT_LEAST_PARTIES] = DPF_PARAM_INT_F(
        "least-parties", 2, 2, 1048576, 0, "",
        "A sum over fewer parties, this one among them, must not be opened by what the run states."),
    [CONSENT_PROVED] = DPF_PARAM_BOOL_F(
        "proved", 1, 0,
        "The party joins only runs with a proved guarantee. no: only runs without one, such as "
        "a method as published; they have no epsilon to limit, and the ledger does not count "
        "them."),
};

const dpf_param *federation_params(int64_t *n)
{
    *n = FEDERATION_N_PARAMS;
    return federation_table;
}

const dpf_param *consent_params(int64_t *n)
{
    *n = CONSENT_N_PARAMS;
    return consent_table;
}

static int check(struct config *config, const char *section, const dpf_param *table, int64_t n,
                 struct dpf_error *error)
{
    struct config_values values;
    if (config_bind(config, section, table, n, sizeof *table, NULL, 1, &values, error) != 0)
        return -1;
    config_values_free(&values);
    return 0;
}

int federation_check(struct config *config, struct dpf_error *error)
{
    return check(config, "federation", federation_table, FEDERATION_N_PARAMS, error);
}

int consent_check(struct config *config, struct dpf_error *error)
{
    return check(config, "consent", consent_table, CONSENT_N_PARAMS, error);
}

/* Its ledger, name and key: a shared file that names another state gives each run an empty ledger. */
static int is_of_a_party(const struct config_entry *entry)
{
    static const int keys[] = {FEDERATION_STATE, FEDERATION_SITE, FEDERATION_SIGNING_KEY};
    if (strcmp(entry->section, "federation") != 0)
        return 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(entry->key, federation_table[keys[i]].name) == 0)
            return 1;
    return 0;
}

/* An override has no line. */
static int is_included(const struct config *config, const struct config_entry *entry)
{
    return entry->line > 0 && strcmp(entry->file, config_path(config)) != 0;
}

int federation_check_own(const struct config *config, struct dpf_error *error)
{
    for (int64_t i = 0; i < config_size(config); i++) {
        const struct config_entry *entry = config_at(config, i);
        const int is_consent = strcmp(entry->section, "consent") == 0;
        if ((is_consent || is_of_a_party(entry)) && is_included(config, entry))
            return config_error(
                config, entry->section, entry->key, error,
                "it stands in a file that is included: %s must stand in its own file; nothing is sent. "
                "Write the key into %s, or remove it",
                is_consent ? "a party's consent" : "a party's state, site and signing-key",
                config_path(config));
    }
    return 0;
}
