/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_facts.h - declared facts about a file of records, from which a configuration is written.
 *
 * The user declares all of them. None is taken from the records, so the configuration reveals nothing about
 * them.
 */
#ifndef DPF_START_START_FACTS_H
#define DPF_START_START_FACTS_H

#include <stdint.h>

#include "base/error.h"
#include "start/look.h"

enum fact {
    FACT_FEEDBACK,
    FACT_WANT,
    FACT_USERS,
    FACT_ITEMS,
    FACT_VALUE_MIN,
    FACT_VALUE_MAX,
    FACT_EPSILON,
    FACT_DELTA,
    FACT_RECIPE,
    FACT_RECORDS,
    FACT_UNIT,
    FACT_FORMAT,
    FACT_DELIMITER,
    FACT_HEADER,
    FACT_FIELDS,
    FACT_USER,
    FACT_ITEM,
    FACT_RATING,
    FACT_TIME,
    FACT_ITEMS_FILE,
    FACT_ITEM_NAMES,
    FACT_ITEM_FEATURES,
    FACT_ITEM_FEATURES_FORMAT,
    FACT_ITEM_FEATURES_CATEGORIES,
    FACT_ITEM_FEATURES_NUMBERS,
    FACT_ITEM_FEATURES_YEAR_OF,
    N_FACTS
};

/* Texts belong to the caller that fills them in; start_facts_free frees those that the terminal asked for. */
struct start_facts {
    const char *values[N_FACTS]; /* NULL: not stated */
    char *owned[N_FACTS];
    struct look look; /* of the file's first lines: shown to a person, who may confirm it */
    struct look
        catalogue; /* of a public file of items, from which the configuration is written; lines 0: none */
    int format_by_name; /* the format was not stated */
    int form_confirmed, form_declined;
    /* The same as numbers, once start_facts_complete has succeeded. */
    int explicit_values, counts, ranking, has_header;
    int64_t users, items, records; /* records 0: not stated */
    double value_min, value_max, epsilon, delta;
    char delta_text[32];
};

/* Takes "key=value" operands, and the format from the file's name and first lines unless one is stated.
 * DPF_FAULT_DATA if these are no text, or have not the form that is stated. */
int start_facts_take(struct start_facts *facts, const char *path, const char *const *operands, int n,
                     struct dpf_error *error);
/* Shows what the first lines look like, where that was not stated, and asks whether it is right; then asks for
   missing facts, one question a line; Enter keeps a default. Stops at the end of
   input. */
void start_facts_ask(struct start_facts *facts, const char *path);
/* Looks at the catalogue, if one is named. It is public, so what its first lines say is written. */
int start_facts_look_at_items(struct start_facts *facts, struct dpf_error *error);
/* Checks all facts; those that are missing are listed in the error, with what to write. */
int start_facts_complete(struct start_facts *facts, struct dpf_error *error);
/* The keys with their meaning, for the help of the command. */
void start_facts_print_help(void);
void start_facts_free(struct start_facts *facts);

#endif
