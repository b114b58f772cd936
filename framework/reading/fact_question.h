/* SPDX-License-Identifier: Apache-2.0 */
/* fact_question.h - what is promised, and what facts of the input (input_facts.h) are decided from. */
#ifndef DPF_READING_FACT_QUESTION_H
#define DPF_READING_FACT_QUESTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "config/config.h"

enum decider {
    BY_NOBODY, /* the configuration does not ask */
    BY_FORMAT,
    BY_KEY,
    BY_HEADER, /* of a file; files, their names and headers are public */
    BY_PUBLIC_LIST,
    BY_ID,   /* a draw at an id, or the id itself, for each by itself */
    BY_LINE, /* each line for itself */
    BY_RELEASE,
    BY_OWN_RECORDS, /* those of the user whom it concerns, and only that user */
    BY_OWN_CELLS,   /* likewise, but not their values */
    BY_ALL_CELLS,   /* who rated what, not the values */
    BY_RECORDS      /* anything else: nothing is proved */
};

/* What [privacy] promises, as far as facts depend on it. */
struct promise {
    int unit, adjacency, observer; /* DPF_UNIT_*, DPF_ADJ_*, DPF_OBSERVER_* */
    int pattern_public, ids_public;
};
/* From the keys of [privacy], with the defaults of its table. */
void promise_read(const struct config *config, struct promise *out);
/* Whether neighbours have the same cells: pairs of user and item with a record. */
int promise_same_cells(const struct promise *promise);

/* What facts are decided from. The first three suffice for those of files, lists and records; a plan knows the
   rest before it has seen a record. */
struct fact_question {
    const struct config_values *data, *split;
    struct promise promise;
    int64_t declared[2];     /* [model] users, items; 0: not declared. Indexed as DPF_SIDE_* */
    const char *shows_users; /* how what is seen shows each user, or how many there are; NULL: it does not */
    int64_t least_users;     /* a sum of fewer messages stops the run; up to 1: never */
    int stops_by_error, offset_is_mean;
    double value_lo, value_hi; /* declared, or infinite */
    const char *public_files;  /* that have records, and what to do; NULL or "": none has */
    int releases_metrics, has_parties;
};

#endif
