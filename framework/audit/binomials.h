/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binomials.h - the noise of the Poisson binomial mechanism, whose law is that of what each message holds.
 *
 * A message is a binomial and a sum of messages is one of binomials of different chances, so the values of all messages
 * are kept until their sum is decoded.
 */
#ifndef DPF_AUDIT_BINOMIALS_H
#define DPF_AUDIT_BINOMIALS_H

#include "plan/plan.h"
#include "seen/trace.h"

/* Success probabilities of the trials of a number, one for each message. */
struct chances {
    double *p;
    size_t n, capacity;
};

struct binomials {
    const dpf_event *event; /* NULL: the term has noise of another law, and nothing is done */
    double *exact;          /* sums of what was encoded and not decoded yet, by row, clipped */
    double *squares;        /* and of its squares */
    struct chances *chances;
    size_t capacity;
    int64_t *senders; /* messages that hold a row and were not decoded yet */
    size_t senders_capacity;
    int64_t kept; /* chances */
    int kept_all; /* else there are too many */
};

/* Returns whether the term has such noise. */
int binomials_open(struct binomials *b, const struct plan *plan, int side, int term);
void binomials_free(struct binomials *b);
/* What a party adds; chances are kept of replays. */
dpf_status binomials_add(struct binomials *b, const struct seen *part, int replays);
/* Exact values as they are clipped, deviations, and (given: what was seen) the probability of the observation. */
dpf_status binomials_explain(struct binomials *b, const struct seen *seen, const struct observation *given,
                             struct observation *o);

#endif
