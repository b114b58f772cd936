/* SPDX-License-Identifier: Apache-2.0 */
/*
 * candidates.h - the points of a sweep as candidates of a private selection: their cost and their statement.
 *
 * Each candidate has its own plan. One run of it costs its releases, including the score. The ledger of the
 * selection has the law of the number of runs and then the releases of all candidates (dpframe/selection.h);
 * the guarantee is computed from that ledger. A condition holds if it holds for each candidate. With budget =
 * total every candidate gets a smaller total, the largest with which the selection stays within [privacy]
 * total-epsilon.
 */
#ifndef DPF_SELECT_CANDIDATES_H
#define DPF_SELECT_CANDIDATES_H

#include "run/session.h"
#include "select/select_options.h"
#include "sweep/points.h"

struct candidate {
    const struct point *point;
    int64_t first, n; /* its releases in the ledger of the selection */
    double epsilon;   /* of one run of it alone, the least of the accountants; NaN: none */
    char digest[65];  /* of its resolved configuration and its plugins' files */
};

struct candidates {
    struct arguments arguments; /* as given, and with the candidates' own total */
    struct design design;
    struct points points;
    struct select_options options;
    struct candidate *list;
    int64_t n;
    /* Of the first candidate; its ledger and guarantee are those of the selection. */
    struct session carrier;
    int64_t users, items; /* of the data; -1: not read */
    double share;         /* total-epsilon of each candidate; NaN: budget = per-release */
    char share_override[64];
    json_t *parts; /* what the certificate says of them: {"metric", "repetitions", "candidates": [...]} */
};

/*
 * Plans all candidates, with the sizes of the data where it can be read, and accounts for the selection. Free
 * it by candidates_close, on failure too. Faults: DPF_FAULT_CONFIG for what cannot be selected privately: a
 * candidate without a proof, another privacy unit, other data, a metric that is not released.
 */
int candidates_open(const struct arguments *arguments, struct candidates *out, struct dpf_error *error);
/* Computes what the guarantee implies for groups and tests, for display. */
int candidates_measure(struct candidates *candidates, struct dpf_error *error);
void candidates_close(struct candidates *candidates);

/* The arguments with which that candidate is opened alone; they point into candidates and its point. */
void candidates_arguments(const struct candidates *candidates, int64_t i, struct arguments *out);

#endif
