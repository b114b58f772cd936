/* SPDX-License-Identifier: Apache-2.0 */
/*
 * violations.h - a list of faults in protected records, for the curator alone.
 *
 * A record that breaks a rule (a line that cannot be parsed, a value out of range, a gradient that is not
 * finite) must not decide whether a run completes: that would tell others that the record exists. The program
 * collects such faults here instead of reporting errors; [privacy] on-violation decides afterwards whether
 * the first of them is an error.
 */
#ifndef DPF_BASE_VIOLATIONS_H
#define DPF_BASE_VIOLATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define VIOLATIONS_KEPT 1000 /* texts that are kept, of the smallest order; all are counted */

struct violation {
    int64_t order[2]; /* its place among the others: smaller ones are reported first */
    enum dpf_fault fault;
    char *text;
};

/* Starts as all zeros. Not for several threads at once: each has its own, and they are merged. */
struct violations {
    int64_t n;
    struct violation *list;
    size_t kept, capacity; /* kept: less than twice VIOLATIONS_KEPT */
    int is_cut;            /* the first VIOLATIONS_KEPT are the smallest of those before, sorted */
};

/* Takes over the text of error, which is cleared. Only counted where enough smaller ones are there. */
void violations_add(struct violations *violations, int64_t first, int64_t second, struct dpf_error *error);
/* Whether the text of this order would be kept: texts need not be made otherwise. */
int violations_want(const struct violations *violations, int64_t first, int64_t second);
/* The lists of n threads become one, sorted: the same for any number of threads. They are left empty. */
void violations_merge(struct violations *into, struct violations *lists, int n);
/* Moves from to the end of into, as far as there is room, which leaves from empty. */
void violations_join(struct violations *into, struct violations *from);
/* The lists of all ranks become one, sorted, on each of them. */
int violations_gather(struct violations *violations, struct dpf_error *error);
/* The first as an error. 0 if there is none, else -1. */
int violations_report(const struct violations *violations, struct dpf_error *error);
/* One line each, and how many more there were. Free it. */
char *violations_text(const struct violations *violations);
void violations_free(struct violations *violations);

#endif
