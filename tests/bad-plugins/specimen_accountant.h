/* SPDX-License-Identifier: Apache-2.0 */
/* specimen_accountant.h - basic composition of Laplace releases. */
#ifndef DPF_TESTS_SPECIMEN_ACCOUNTANT_H
#define DPF_TESTS_SPECIMEN_ACCOUNTANT_H

#include "specimen_role.h"

#ifndef KNOWS
#define KNOWS(KIND) ((KIND) == DPF_EVENT_LAPLACE || (KIND) == DPF_EVENT_DISCRETE_LAPLACE)
#endif
#ifndef COST
#define COST(COUNT, SENSITIVITY, SCALE) ((double)(COUNT) * (SENSITIVITY) / (SCALE))
#endif
#ifndef REFUSES
#define REFUSES(SENSITIVITY, SCALE) (!isfinite(SENSITIVITY) || !((SCALE) > 0))
#endif

#ifndef IS_NEW
#define IS_NEW(EVENT) is_new(EVENT)
#endif

/* States something that these headers do not know. */
static inline int is_new(const dpf_event *event)
{
    uint64_t any = event->flags & ~DPF_EVENT_FLAGS;
    for (size_t i = 0; i < sizeof event->reserved / sizeof *event->reserved; i++)
        any |= event->reserved[i];
    for (size_t i = 0; i < sizeof event->sampling.reserved_words / sizeof(uint64_t); i++)
        any |= event->sampling.reserved_words[i];
    return any != 0;
}

static dpf_status epsilon(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                          dpf_answer *answer)
{
    (void)self;
    answer->epsilon = 0;
    for (int64_t i = 0; i < n; i++) {
        double sensitivity = events[i].sensitivity.at[question->unit][question->adjacency].l1;
        if (IS_NEW(&events[i]) || !KNOWS(events[i].kind) || REFUSES(sensitivity, events[i].scale))
            return DPF_E_UNSUPPORTED;
        answer->epsilon += COST(events[i].count, sensitivity, events[i].scale);
    }
    return DPF_OK;
}

static const dpf_accountant functions = {.kind = DPF_ACCOUNTANT_PROOF, .epsilon = epsilon};
SPECIMEN_OF(DPF_ROLE_ACCOUNTANT, functions)

#endif
