/* SPDX-License-Identifier: Apache-2.0 */
/* pld_problem.h - releases whose privacy losses are composed, and what is asked of them. */
#ifndef PLD_PROBLEM_H
#define PLD_PROBLEM_H

#include "pld_pair.h"

/* Releases with one pair. */
struct pld_group {
    struct pld_pair above;
    struct pld_pair below;
    double copies;       /* of both */
    double copies_below; /* of `below`; 0 says nothing */
};

struct pld_problem {
    const dpf_host *host;
    struct pld_group *groups;
    int64_t n;
    double tolerance; /* relative, of the two bounds */
    int for_delta;    /* what is asked: delta at epsilon, or epsilon at delta */
    double epsilon;
    double delta;
};

#endif
