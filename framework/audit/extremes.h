/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extremes.h - records that a user could have and that make its messages as large as they can be.
 *
 * A user drawn from the data seldom reaches a bound, and an audit sees a missing or too wide clip only where a
 * message reaches it. A guarantee covers all data sets, so the canary may have any records. Each kind of record
 * here is the largest for some losses and recommenders; trials find the one that moves releases most.
 */
#ifndef DPF_AUDIT_EXTREMES_H
#define DPF_AUDIT_EXTREMES_H

#include "audit/pairs.h"

enum extreme {
    EXTREME_ALL_HIGH,
    EXTREME_ALL_LOW,
    EXTREME_ALL_MIXED, /* high and low in turn */
    EXTREME_HALF,      /* every other item */
    EXTREME_RAREST,    /* one item, that with the fewest records */
    EXTREME_COMMONEST, /* or the most */
    N_EXTREMES
};

struct extreme_records {
    struct canary_records records;
    int32_t *items;
    float *values;
};

/* The records, with values at the ends of the kind's range. 1: there are none of this kind that another has
   not (values of implicit feedback); -1: no memory. */
int extremes_make(const struct dataset *base, const struct neighbours *kind, enum extreme which,
                  struct extreme_records *out);
void extremes_free(struct extreme_records *extreme);
/* "all items with the highest value" */
const char *extremes_name(enum extreme which);

#endif
