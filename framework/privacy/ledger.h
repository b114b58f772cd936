/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - the releases of a run, in order.
 *
 * The planned ledger follows from the plan, before data is read, with nominal rates. The run compares its
 * releases with it; a deviation voids the run's guarantee and gives the reason.
 */
#ifndef DPF_PRIVACY_LEDGER_H
#define DPF_PRIVACY_LEDGER_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"
#include "dpframe/privacy.h"

/* Information about an event for a reader, beside its numbers. */
struct ledger_entry {
    dpf_event event;
    int64_t per_round; /* of its releases, those that one unit can have in a round; 0: any number of them */
    int64_t participations; /* releases of the run that one unit can be in; 0: not known */
    char source[96];        /* "items, mechanism laplace, block linear" */
};

struct ledger {
    struct ledger_entry *entries;
    int64_t n;
    int64_t capacity;
    char deviation[256]; /* first deviation from the plan seen while running, or "" */
};

/* The number of the only block of a set, of the rows or of the Gram row; -1: there are several. */
int ledger_block(uint32_t blocks);
/* The new entry, until the next is added. */
struct ledger_entry *ledger_add(struct ledger *ledger, const dpf_event *event, const char *source);
/* Records that reality differs from the plan. Later ones are ignored. */
void ledger_deviate(struct ledger *ledger, const char *format, ...) DPF_PRINTF(2, 3);
void ledger_free(struct ledger *ledger);
/* Like events become one event of them all, so that a thousand runs are composed as fast as one; returns how many are
   left. A selection's events follow each other, and stay. */
int64_t ledger_join_events(dpf_event *events, int64_t n);
/* The releases of so many runs on the same data, each with noise of its own. */
void ledger_times(const struct ledger *ledger, int64_t runs, struct ledger *out);
/* As JSON, named fields, one object per entry. A new reference. */
json_t *ledger_json(const struct ledger *ledger);

#endif
