/* SPDX-License-Identifier: Apache-2.0 */
#include "config/gone.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "config/config_store.h"

/* section is a pattern. The value holds always now, and of [data] is what files say that leave the choice to the program; NULL:
   there is none, and the line is refused whatever it says. */
static const struct {
    const char *section, *key, *value, *instead;
} table[] = {
    {"model.recommender", "loading-share", "0.02",
     "count-share and factor-sd say what biases and loadings get"},
    {"model.recommender", "factor-share", "0.6", "count-share divides the budget"},
    {"model.recommender", "factor-decay", "0.9", "factor-sd scales all directions"},
    {"model.recommender", "latent-sd", "0.15", "latent says how many directions rounds find"},
    {"model.recommender", "latent-start", "0.03", "latent says how many directions rounds find"},
    {"model.recommender", "lambda-per-count", "0.1", "lambda regularises"},
    {"model.recommender", "count-offset", "20", "exponent says how much counts matter"},
    {"model.recommender", "count-weight", "0.5", "clip bounds what is sent"},
    {"model.recommender", "matrix-share", "-1", "it follows from clip"},
    {"model.recommender", "row-norm", "1.5", "clip bounds what a record moves"},
    {"*.solver", "schedule", NULL, "the rate drops where drop-at says; without it, it is constant"},
    {"*.solver", "decay", NULL, "the rate drops where drop-at says"},
    {"*.solver", "kernel", "auto",
     "the environment variable DPFRAME_SIMD names the best instructions to use"},
    {"*.loss", "kernel", "auto", "the environment variable DPFRAME_SIMD names the best instructions to use"},
    {"data", "catalogue.delimiter", "tab",
     "write items-file = FILE:COLUMN for a table, whose first line says it"},
    {"data", "catalogue.header", "no", "write items-file = FILE:COLUMN with the name of the column"},
    {"data", "catalogue.column", "1", "write items-file = FILE:COLUMN"},
    {"data", "item-features.header", "yes", "the first line is a header if keys name columns by it"},
    {"data", "item-features.delimiter", "", "the first line says it"},
    {"data", "item-features.column.id", "1",
     "it is the column that the header calls as in the records, or the first"},
    {"data", "user-features", "", "no component reads facts about users"},
    {"data", "user-features.*", NULL, "no component reads facts about users"},
    {"data", "item-features.separator", "|", "'|' separates the categories of one field"},
    {"data", "item-features.flags", "", "name flags of 0 and 1 among the numbers"},
    {"data", "filter.item-max", "0", "leave such items out of the catalogue, items-file"},
    {"data", "filter.core", "no", "each filter passes once: make a k-core of the file before"},
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

static const struct {
    const char *id, *instead;
} components[] = {
    {"count-weights",
     "recommenders private-als and private-ratings weigh records by counts that they release"},
};

const char *gone_component(const char *id)
{
    for (size_t i = 0; i < sizeof components / sizeof components[0]; i++)
        if (strcmp(components[i].id, id) == 0)
            return components[i].instead;
    return NULL;
}

/* Texts that mean the same: as numbers, if they are numbers. */
static int same_value(const char *a, const char *b)
{
    double x, y;
    return strcmp(a, b) == 0 || (text_to_real(a, &x) == 0 && text_to_real(b, &y) == 0 && x == y);
}

int gone_check(const struct config_entry *entry, struct dpf_error *error)
{
    char full[CONFIG_FULL_MAX], pattern[CONFIG_FULL_MAX];
    if (!config_full_name(entry->section, entry->key, full))
        return 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        snprintf(pattern, sizeof pattern, "%s.%s", table[i].section, table[i].key);
        if (fnmatch(pattern, full, 0) != 0)
            continue;
        if (table[i].value && same_value(entry->value, table[i].value))
            return 1;
        const char *always = strcmp(table[i].section, "data") == 0 ? NULL : table[i].value;
        return error_at(error, DPF_FAULT_CONFIG, entry->file, entry->line,
                        "[%s] %s is gone%s%s%s: remove the line; %s", entry->section, entry->key,
                        always ? ", and " : "", always ? always : "", always ? " holds always" : "",
                        table[i].instead);
    }
    return 0;
}
