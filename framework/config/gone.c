/* SPDX-License-Identifier: Apache-2.0 */
#include "config/gone.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "config/config_store.h"

/* section is a pattern. NULL for the value: the line is refused whatever it says. Of values that are parted by '|' none means
   anything now. A key of one component has its name behind the section. */
struct gone_key {
    const char *section, *key, *value, *instead;
};

/* What files say now: the value left the choice to the program. */
static const struct gone_key told[] = {
    {"data", "catalogue.delimiter", "tab",
     "write items-file = FILE:COLUMN for a table, whose first line says it"},
    {"data", "catalogue.header", "no", "write items-file = FILE:COLUMN with the name of the column"},
    {"data", "catalogue.column", "1", "write items-file = FILE:COLUMN"},
    {"data", "item-features.header", "yes", "the first line is a header if keys name columns by it"},
    {"data", "item-features.delimiter", "", "the first line says it"},
    {"data", "item-features.column.id", "1",
     "it is the column that the header calls as in the records, or the first"},
};

/* The value holds always now. */
static const struct gone_key fixed[] = {
    {"model.recommender", "loading-share", "0.02",
     "count-share and factor-sd say what biases and loadings get"},
    {"model.recommender", "factor-share", "0.6", "count-share divides the budget"},
    {"model.recommender", "factor-decay", "0.9", "factor-sd scales all directions"},
    {"model.recommender", "latent-sd", "0.15", "latent says how many directions rounds find"},
    {"model.recommender", "latent-start", "0.03", "latent says how many directions rounds find"},
    {"model.recommender private-als", "lambda-per-count", "0.1", "lambda regularises"},
    {"model.recommender", "count-offset", "20", "count-share says how well counts are known"},
    {"model.recommender", "count-weight", "0.5", "count-share divides the budget"},
    {"model.recommender private-als", "matrix-share", "-1", "count-share divides the budget"},
    {"model.recommender private-als", "row-norm", "1.5", "noise-multiplier says how much noise there is"},
    {"*.solver", "schedule", NULL, "the rate drops where drop-at says; without it, it is constant"},
    {"*.solver", "decay", NULL, "the rate drops where drop-at says"},
    {"*.solver", "epsilon", "1e-8", "adam has the usual 1e-8"},
    {"*.solver", "drop-at", "", "the rate of adam is constant; solvers of gradient descent have drops"},
    {"*.solver", "drop-factor", "0.2", "the rate of adam is constant"},
    {"*.solver", "refine", "0", "solutions have the precision of float32, as rows have"},
    {"*.solver", "prior", "zero", "rows are shrunk to 0"},
    {"*.sampler", "lifetime", "solve", "each solve has a fresh sample"},
    {"*.transform.*", "seed", "0", "run.seed selects it"},
    {"*.transform.*", "block-weights", "", "block-bounds gives each block a bound of its own"},
    {"*.loss", "objective", "full", "alpha is the weight of the whole term: halve it"},
    {"model.recommender dplcf", "similarity", "jaccard", "ldpicf has cosine similarity"},
    {"model.recommender ldpicf", "similarity", "cosine", "dplcf has Jaccard similarity"},
    {"model.recommender private-als", "exponent", "0.25", "head says how many items are learnt"},
    {"model.recommender private-als", "clip", "1.5", "residuals are clipped to 1.5 quarters of the range"},
    {"model.recommender private-ratings", "exponent", "0.2", "count-share says how well counts are known"},
    {"model.recommender private-biases", "exponent", "0.2", "count-share says how well counts are known"},
    {"model.recommender private-ratings", "clip", "2", "residuals are clipped to half of the range"},
    {"model.recommender private-biases", "clip", "2", "residuals are clipped to half of the range"},
    {"model.recommender", "residual-variance", "0.75", "it is that of usual ratings"},
    {"model.recommender private-biases", "item-sd", "0.45", "it is that of usual ratings"},
    {"model.recommender private-ratings", "forget", "0.7", "rounds says how many corrections there are"},
    {"model.recommender private-ratings", "loadings", "32",
     "rank and latent say how many directions rounds correct"},
    {"model.recommender private-gram", "weight-offset", "10",
     "weight-exponent says how much less popular items weigh"},
    {"model.recommender", "iterations", "100", "estimator says how counts are reconstructed"},
    {"accountants.published", "c0", "1", "the publication leaves it open"},
    {"*.solver", "momentum", "0", "adam keeps moments of the gradient"},
    {"*.solver", "kernel", "auto",
     "the environment variable DPFRAME_SIMD names the best instructions to use"},
    {"*.loss", "kernel", "auto", "the environment variable DPFRAME_SIMD names the best instructions to use"},
    {"*.aggregator", "lost-before-*", "0", "losses = KEYS, SHARES, INPUT, UNMASKING simulates them"},
    {"federation", "in-front", NULL, "remove it: it was for tests of dpframe"},
    {"federation.link", "patience", "10", "a party tries again until join-time is over"},
    {"*.mechanism", "precision", "exact", "noise is drawn as integers on a grid"},
    {"*.mechanism", "matrix", "square-root", "bands says how many of its coefficients count"},
    {"*.mechanism", "coefficients", "1", "bands says how many coefficients of the square root count"},
    {"*.mechanism", "grid-bits", "34|30|23|21|16",
     "the plan takes the finest grid on which sums fit into 64 bits"},
    {"data", "user-features", "", "no component reads facts about users"},
    {"data", "user-features.*", NULL, "no component reads facts about users"},
    {"data", "item-features.separator", "|", "'|' separates the categories of one field"},
    {"data", "item-features.flags", "", "name flags of 0 and 1 among the numbers"},
    {"data", "filter.item-max", "0", "leave such items out of the catalogue, items-file"},
    {"data", "filter.core", "no|0", "each filter passes once: make a k-core of the file before"},
    {"data", "filter.time-from", "-inf", "cut the file before, or split by time ([split] kind = time)"},
    {"data", "filter.time-to", "inf", "cut the file before, or split by time ([split] kind = time)"},
    {"data", "relation.column.from", "1", "links lead from the first column to the second"},
    {"data", "relation.column.to", "2", "links lead from the first column to the second"},
    {"data", "weights.seed", "-1", "run.seed draws weights"},
    {"data", "weights.delimiter", "spaces", "blanks or TABs stand between id and weight"},
    {"federation", "silence", "3600", "a party leaves after an hour in which it hears nothing"},
    {"audit", "candidates", "8", "the canary is one of eight"},
    {"audit", "one-run", "no", "canaries says how many one run has; -1 takes as many as there are"},
    {"audit", "trainings", "128", "trials counts trainings of attacks, too"},
    {"audit", "attack-item", "random", "attack = rarest asks about the rarest item"},
    {"audit", "claim-delta", NULL, "a claim has the delta of [privacy]"},
    {"audit", "list-length", "10", "attacks see lists of 10"},
};

/* Keys of components that are one key of a section now: of the one that names the component, where no other is named. The value
   is the default, which saved runs may state. */
static const struct moved {
    const char *section, *key, *value, *to_section, *to_key;
} moved[] = {
    {"*.mechanism", "min-honest", "0", "privacy", "min-honest"},
    {"*.mechanism", "max-curious", "0", "privacy", "max-curious"},
    {"*.mechanism", "honest", "0", "privacy", "min-honest"},
    {"*.mechanism", "curious", "0", "privacy", "max-curious"},
    {"*.mechanism", "clients", "0", "privacy", "min-honest"},
    {"*.mechanism", "gram-share", "0", NULL, "gram-share"},
    {"*.mechanism", "shared-share", "0", NULL, "gram-share"},
    {"*.mechanism", "shares", "", NULL, "block-shares"},
    {"*.sampler", "secrecy", "outsider", NULL, "sample-secrecy"},
    {"model", "min-honest", "0", "privacy", "min-honest"},
    {"model", "max-curious", "0", "privacy", "max-curious"},
};

static const struct {
    const char *role, *id, *instead;
} components[] = {
    {"sampler", "count-weights",
     "recommenders private-als and private-ratings weigh records by counts that they release"},
};

const char *gone_component(const char *id)
{
    for (size_t i = 0; i < sizeof components / sizeof components[0]; i++)
        if (strcmp(components[i].id, id) == 0)
            return components[i].instead;
    return NULL;
}

const char *gone_component_named(const struct config_entry *entry)
{
    const char *dot = strrchr(entry->key, '.'), *role = dot ? dot + 1 : entry->key;
    for (size_t i = 0; i < sizeof components / sizeof components[0]; i++)
        if (strcmp(components[i].id, entry->value) == 0 && strcmp(components[i].role, role) == 0)
            return components[i].instead;
    return NULL;
}

int gone_same_value(const char *a, const char *b)
{
    double x, y;
    return strcmp(a, b) == 0 || (text_to_real(a, &x) == 0 && text_to_real(b, &y) == 0 && x == y);
}

static int is_one_of(const char *values, const char *given)
{
    char one[64];
    for (const char *at = values;; at++) {
        const size_t n = strcspn(at, "|");
        snprintf(one, sizeof one, "%.*s", (int)n, at);
        if (gone_same_value(one, given) || strcmp(values, given) == 0)
            return 1;
        at += n;
        if (!*at)
            return 0;
    }
}

/* Whether the component that this section is of is that one, if one is named: [items.sampler] of [items] sampler. */
static int is_of(const struct config *config, const char *section, const char *component)
{
    char parent[CONFIG_FULL_MAX];
    if (!*component)
        return 1;
    snprintf(parent, sizeof parent, "%s", section);
    char *dot = strrchr(parent, '.');
    if (!dot || !config)
        return 0;
    *dot = '\0';
    const struct config_entry *entry = config_find(config, parent, dot + 1);
    return entry && strcmp(entry->value, component) == 0;
}

static const struct moved *find_moved(const struct config_entry *entry, char full[CONFIG_FULL_MAX])
{
    char pattern[CONFIG_FULL_MAX];
    const int is_named = config_full_name(entry->section, entry->key, full) != NULL;
    for (size_t i = 0; is_named && i < sizeof moved / sizeof moved[0]; i++) {
        snprintf(pattern, sizeof pattern, "%s.%s", moved[i].section, moved[i].key);
        if (fnmatch(pattern, full, 0) == 0)
            return &moved[i];
    }
    return NULL;
}

const char *gone_place(const struct config_entry *entry, char section[CONFIG_FULL_MAX])
{
    char full[CONFIG_FULL_MAX];
    const struct moved *found = find_moved(entry, full);
    if (!found || gone_same_value(found->value, entry->value))
        return NULL;
    /* Without another section: "items.a" of items.a.mechanism.shares, whose end the pattern has behind its star. */
    const size_t end = strlen(found->section) + strlen(found->key);
    if (found->to_section)
        snprintf(section, CONFIG_FULL_MAX, "%s", found->to_section);
    else
        snprintf(section, CONFIG_FULL_MAX, "%.*s", (int)(strlen(full) - end), full);
    return found->to_key;
}

static int check_moved(const struct config_entry *entry, struct dpf_error *error)
{
    char section[CONFIG_FULL_MAX], full[CONFIG_FULL_MAX];
    const char *key = gone_place(entry, section);
    return key ? error_at(error, DPF_FAULT_CONFIG, entry->file, entry->line,
                          "[%s] %s has moved: write it as [%s] %s = %s", entry->section, entry->key, section,
                          key, entry->value)
               : find_moved(entry, full) != NULL;
}

/* 1 if this is the entry's key with a value that says nothing, -1 with an error if it says something; 0 if it is another key. */
static int check_key(const struct gone_key *gone, const char *always, const struct config *config,
                     const struct config_entry *entry, const char *full, struct dpf_error *error)
{
    char pattern[CONFIG_FULL_MAX];
    const int n = (int)strcspn(gone->section, " ");
    snprintf(pattern, sizeof pattern, "%.*s.%s", n, gone->section, gone->key);
    if (fnmatch(pattern, full, 0) != 0 ||
        !is_of(config, entry->section, gone->section + n + strspn(gone->section + n, " ")))
        return 0;
    if (gone->value && is_one_of(gone->value, entry->value))
        return 1;
    if (!always || !*always || strchr(always, '|'))
        always = NULL;
    /* A dotted key, and a section with a key, are one place: the table has it as files do. */
    const int literal = !strpbrk(pattern, "*?[") && !gone->section[n];
    return error_at(error, DPF_FAULT_CONFIG, entry->file, entry->line,
                    "[%s] %s is gone%s%s%s: remove the line; %s", literal ? gone->section : entry->section,
                    literal ? gone->key : entry->key, always ? ", and " : "", always ? always : "",
                    always ? " holds always" : "", gone->instead);
}

int gone_check(const struct config *config, const struct config_entry *entry, struct dpf_error *error)
{
    char full[CONFIG_FULL_MAX];
    int found = 0;
    if (!config_full_name(entry->section, entry->key, full))
        return 0;
    for (size_t i = 0; i < sizeof told / sizeof told[0] && !found; i++)
        found = check_key(&told[i], NULL, config, entry, full, error);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0] && !found; i++)
        found = check_key(&fixed[i], fixed[i].value, config, entry, full, error);
    return found ? found : check_moved(entry, error);
}
