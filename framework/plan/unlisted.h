/* SPDX-License-Identifier: Apache-2.0 */
/* unlisted.h - finds accountants that would prove a smaller epsilon but are not in the configured list. */
#ifndef DPF_PLAN_UNLISTED_H
#define DPF_PLAN_UNLISTED_H

#include "plan/plan.h"

struct unlisted {
    char accountant[32]; /* the one with the least epsilon, or "" */
    double epsilon;
    double listed; /* the least of those that are listed; infinity if there is none */
};

/* Asks, with default parameters, every accountant that proves its answer and is not listed. Of a completed
   plan. Accountants that refuse are left out. */
int unlisted_find(struct plan *plan, struct unlisted *out, struct dpf_error *error);

#endif
