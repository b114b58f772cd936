/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role/accountant.h - from a ledger to (epsilon, delta).
 *
 * An accountant answers for one unit, adjacency and observer. It refuses an event that it cannot handle
 * (DPF_E_UNSUPPORTED, with dpf_host.fail naming the event): an unknown kind, a sensitivity that is NaN, a
 * sampling that it cannot use. A NaN, negative or unconverged result is an error, never 0.
 */
#ifndef DPFRAME_ROLE_ACCOUNTANT_H
#define DPFRAME_ROLE_ACCOUNTANT_H

#include "../host.h"
#include "../privacy.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPF_ROLE_ACCOUNTANT "dpframe.accountant/1"

#define DPF_ACCOUNTANT_PROOF 1 /* its answer is a proved upper bound, if all conditions hold */
#define DPF_ACCOUNTANT_CLAIM 2 /* its answer repeats a publication */

typedef struct dpf_question {
    uint32_t size;
    int32_t unit;
    int32_t adjacency;
    int32_t observer;
    double delta;   /* in [0, 1) */
    double epsilon; /* for delta() */
    int64_t rounds;
} dpf_question;

typedef struct dpf_answer {
    uint32_t size;
    int32_t at_grid_end;  /* 1: a wider search could give a smaller value */
    double epsilon;       /* upper bound; infinity if there is none */
    double epsilon_lower; /* NaN if not computed */
    double delta;
    double order;     /* Renyi order, or NaN */
    char source[192]; /* the theorem or formula */
    char note[256];   /* a sentence for the reader, or "" */
    /* The unit and adjacency that a claim is about, as 1 + DPF_UNIT_* and 1 + DPF_ADJ_*; 0: the question's.
     */
    int32_t stated_unit;
    int32_t stated_adjacency;
} dpf_answer;

typedef struct dpf_accountant {
    int32_t kind; /* DPF_ACCOUNTANT_* */
    int32_t reserved;
    /* [any, required] Composes the events and answers for question.delta. */
    dpf_status (*epsilon)(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                          dpf_answer *answer);
    /* [any, optional] The inverse: delta for question.epsilon. NULL: not supported. */
    dpf_status (*delta)(void *self, const dpf_event *events, int64_t n, const dpf_question *question,
                        dpf_answer *answer);
    /*
     * [any, optional] Epsilon at question.delta for each of n_units units, where records have privacy
     * weights. Unit i has the records with weights[offsets[i]] .. weights[offsets[i + 1] - 1], and neighbours
     * may differ in all of them; with offsets NULL each weight is a unit of one record. The question's unit
     * is RECORD and says how a single record may change. NULL: not supported.
     */
    dpf_status (*epsilon_per_unit)(void *self, const dpf_event *events, int64_t n,
                                   const dpf_question *question, const double *weights,
                                   const int64_t *offsets, int64_t n_units, double *epsilon);
    /* NULL. A later minor may name a slot; what it names is optional. */
    void (*reserved_slots[4])(void);
} dpf_accountant;

#ifdef __cplusplus
}
#endif
#endif
