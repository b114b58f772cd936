/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_facts.h - everything that could be decided by all records together, and who decides it instead.
 *
 * Under a proof, reading is a map: a line becomes a record of its user, or a fault of its user, by the declared
 * form and that line alone (line.h). Whatever else reading, planning or a round decides is a fact of the input
 * and stands in the one table of input_facts.c: who decides it in a given configuration, what is said where
 * nobody may, with the key that declares it, and what the statement then says is public. The table reads bound
 * keys and cannot look at a record. Conditions C2, C8, C11 and C12 are derived from it (input_not_allowed), so
 * that a decision that is not in it has no place to hide: docs/adr/0019-nothing-that-the-whole-input-decides.md.
 */
#ifndef DPF_READING_INPUT_FACTS_H
#define DPF_READING_INPUT_FACTS_H

#include "reading/fact_question.h"

enum input_fact {
    /* the form of the files */
    INPUT_FILES,
    INPUT_PUBLIC_FILES,
    INPUT_COMPRESSION,
    INPUT_BYTE_ORDER_MARK,
    INPUT_IS_TEXT,
    INPUT_LINE_ENDS,
    INPUT_QUOTED_LINE_ENDS,
    INPUT_QUOTES,
    INPUT_HEADER,
    INPUT_FIELDS,
    INPUT_COLUMNS,
    INPUT_COLUMNS_ALIKE,
    INPUT_VALUES,
    INPUT_TIMES,
    INPUT_WEIGHTS,
    INPUT_SECTIONS,
    INPUT_ENCODING,
    INPUT_PARSER,
    /* a record */
    INPUT_VOID_LINES,
    INPUT_DROPPED,
    INPUT_CELLS,
    INPUT_DUPLICATES,
    INPUT_BOTH_PARTS,
    /* lists and numbers */
    INPUT_USERS,
    INPUT_ITEMS,
    INPUT_ID_ORDER,
    INPUT_USERS_NUMBER,
    INPUT_ITEMS_NUMBER,
    INPUT_SIZES_DECLARED,
    INPUT_ENOUGH_USERS,
    INPUT_EMPTY_SIDE,
    INPUT_NO_RECORDS,
    /* what is kept, held out, weighed */
    INPUT_ITEMS_KEPT,
    INPUT_OWN_KEPT,
    INPUT_DRAWN,
    INPUT_TIME_WINDOW,
    INPUT_EXACT_SPLIT,
    INPUT_TEST_FILES,
    INPUT_LINKS,
    INPUT_SIMILARITIES,
    INPUT_OFFSET,
    INPUT_RANGE,
    INPUT_PRIVACY_WEIGHTS,
    INPUT_ITEM_FEATURES,
    /* while it runs, and what is written */
    INPUT_ROUND_DRAWS,
    INPUT_PARTIES,
    INPUT_DEVIATIONS,
    INPUT_PATHS_OF_SUMS,
    INPUT_CONTRIBUTORS,
    INPUT_ROUNDS,
    INPUT_METRICS,
    INPUT_RANKS,
    INPUT_RESULTS,
    INPUT_REPORTS,
    INPUT_LIMITS,
    INPUT_CONFIGURATION,
    N_INPUT_FACTS
};

/* A line of the table. */
struct fact_entry {
    const char *name; /* "header" */
    const char *what; /* "whether a file has a header" */
    const char *by;   /* who may decide it, in words */
    const char *key;  /* that decide it, as "[data] value-min, value-max; [split] kind"; "": there is none */
    int condition;    /* that fails if it is not allowed: 2, 8, 11, 12; 0: it always is */
    enum decider (*decide)(const struct fact_question *);     /* none: BY_RECORDS */
    const char *(*lost)(const struct fact_question *);        /* what is the case, and what to set */
    void (*say)(const struct fact_question *, struct text *); /* what is public then, a sentence a line */
};
const struct fact_entry *input_fact_at(enum input_fact fact);

/* "nobody", "key", "own records" ... */
const char *input_decider_name(enum decider by);
/* Whether a line of the table names this key. */
int input_fact_has_key(const char *section, const char *key);

enum decider input_decider(enum input_fact fact, const struct fact_question *question);
/* The one rule: who may decide anything where this is promised. */
int input_allows(enum decider by, const struct promise *promise);
/* The first fact of the condition, from `first` on, that is not allowed, or N_INPUT_FACTS. */
enum input_fact input_not_allowed(int condition, int first, const struct fact_question *question);
/* Whether something follows from everybody's records, whatever is promised: no party of a federation knows it. */
int input_needs_everybody(const struct fact_question *question);
/* All that is public in a configuration, a sentence a line. */
void input_say_public(const struct fact_question *question, struct text *out);
/* Whether a bound on the number of users stands in place of their list: then nothing compares it with records. */
int input_hides_users(const struct fact_question *question);
/* Where the list of ids of a side comes from, in words that are the same where the assumption is. */
const char *input_list_source(int side, const struct fact_question *question);
/* The table as one of Markdown, for docs/privacy.md. */
void input_facts_document(struct text *out);

#endif
