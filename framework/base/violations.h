/* SPDX-License-Identifier: Apache-2.0 */
/*
 * violations.h - a list of faults in protected records, for the curator alone.
 *
 * A record that breaks a rule (a line that cannot be parsed, a value out of range, a gradient that is not
 * finite) must not decide whether a run completes: that would tell others that the record exists. The program
 * collects such faults here instead of reporting errors; [privacy] on-violation decides afterwards whether the
 * first of them is an error.
 */
#ifndef DPF_BASE_VIOLATIONS_H
#define DPF_BASE_VIOLATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define VIOLATIONS_KEPT 1000 /* texts that are kept; all are counted */

struct violation {
    int64_t order[2]; /* where it stands among the others: smaller ones are told first */
    enum dpf_fault fault;
    char *text;
};

/* Starts as all zeros. Not for several threads at once: each has its own, and they are joined. */
struct violations {
    int64_t n;
    struct violation *list;
    size_t kept, capacity;
};

/* Takes over the text of error, which is cleared. Only counted once there are enough, or no memory. */
void violations_add(struct violations *violations, int64_t first, int64_t second, struct dpf_error *error);
/* Whether a text would be kept: texts need not be made otherwise. */
int violations_want(const struct violations *violations);
/* Moves all of from to the end of into, in order, which leaves from empty. */
void violations_join(struct violations *into, struct violations *from);
/* The lists of all ranks become one, sorted, on each of them. */
int violations_gather(struct violations *violations, struct dpf_error *error);
/* Sorts by order. */
void violations_sort(struct violations *violations);
/* The first as an error. 0 if there is none, else -1. */
int violations_report(const struct violations *violations, struct dpf_error *error);
/* One line each, and how many more there were. NULL without memory; free it. */
char *violations_text(const struct violations *violations);
void violations_free(struct violations *violations);

#endif
