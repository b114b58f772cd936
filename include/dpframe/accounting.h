/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accounting.h - the rules that all accountants share; a convenience, not part of the ABI.
 *
 * Before an accountant computes anything it must decide, for its question, how far one unit can move
 * a release, whether that is stated at all, and whether the sampling amplifies. These decisions do not depend
 * on the accounting method, and a mistake in them gives a wrong guarantee, so they are made once, here:
 * dpf_charge_event turns an event and a question into a dpf_charge, or refuses.
 *
 * The rules:
 *  - NO_OP, DATA_BLIND and events with count 0 are free. So is a release that the unit cannot move
 *    (sensitivity exactly 0).
 *  - NON_PRIVATE, an infinite sensitivity, a scale of 0, and one draw of noise for several releases (their
 *    difference has no noise) have no finite epsilon.
 *  - A sensitivity that is not stated (NaN) and UNSUPPORTED noise are refused.
 *  - SELECTION and CANDIDATE are refused; an accountant with a theorem for the whole reads them with
 *    selection.h.
 *  - Unknown flags and reserved fields other than 0 state something new and are refused.
 *  - CORRELATED_GAUSSIAN covers a whole run, and no draw amplifies it.
 *  - APPROX and ZCDP state their parameters for a sensitivity of 1. How they grow with it is unknown: a
 *    larger sensitivity is refused, a smaller one keeps the parameters.
 *  - Amplification by sampling is used for a Poisson draw of exactly the unit asked about, hidden
 *    from the observer, under add-remove, zero-out or flip (a flip adds or removes a record): only
 *    then do neighbouring data sets give the pair Q, (1-q) Q + q P. In all other cases the rate is 1.
 *  - Rate 1 is a bound if the same draw is possible for both neighbours (joint quasi-convexity of Renyi and
 *    hockey-stick divergences). It is not possible if a fixed number is drawn from data sets of different
 *    sizes: such draws are refused under add-remove and flip.
 *  - Unequal probabilities may depend on the record. Then replacing it can turn "drawn" into "not
 *    drawn", and the sensitivity is that of a removal and an addition: twice the one of zero-out.
 *    APPROX and ZCDP hold at one distance only, and are refused then. A record that appears or disappears (flip,
 *    add-remove, zero-out) is in one of the two data sets only: each other record has the same draw in both, and given all
 *    draws the release moves by this record's weighted contribution or not at all. That is the stated sensitivity, once.
 */
#ifndef DPFRAME_ACCOUNTING_H
#define DPFRAME_ACCOUNTING_H

#include <math.h>
#include <string.h>

#include "host.h"
#include "privacy.h"
#include "role/accountant.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dpf_charge {
    int32_t kind;       /* DPF_EVENT_* */
    int32_t unbounded;  /* 1: no finite epsilon; reason says why */
    double copies;      /* composed with itself this often; 0: free */
    double sensitivity; /* in the norm that the kind needs, for the unit and adjacency asked for */
    double l1;          /* the same in L1, for kinds that need both norms */
    double rate;        /* of a Poisson draw that amplifies; 1: none */
    double scale;
    double grid;
    dpf_event_numbers p;
    const char *reason;
} dpf_charge;

/* ---- texts without stdio ------------------------------------------------------------------------ */

void dpf_text_add(char *text, size_t size, const char *more);

void dpf_text_add_count(char *text, size_t size, int64_t n);

/* "block 1", "blocks 0+1+gram 0", or "the whole message" for no bits. */
void dpf_text_add_blocks(char *text, size_t size, uint32_t blocks);

/* ---- names -------------------------------------------------------------------------------------- */

const char *dpf_event_kind_name(int32_t kind);

const char *dpf_unit_name(int32_t unit);

const char *dpf_adjacency_name(int32_t adjacency);

/* "event 3 (users, term 0, blocks 0+1, gaussian)" */
void dpf_event_describe(const dpf_event *event, int64_t index, char *text, size_t size);

/* Fails, naming the event. Returns code. */
dpf_status dpf_refuse_event(const dpf_host *host, dpf_status code, const dpf_event *event, int64_t index,
                            const char *why);

/* ---- rules -------------------------------------------------------------------------------------- */

/* The norm in which a kind's sensitivity counts: 2 or 1. */
int32_t dpf_event_norm(int32_t kind);

double dpf_event_sensitivity(const dpf_event *event, int32_t unit, int32_t adjacency);

/* 1 if two neighbours may be data sets of different sizes for a draw of that unit. */
int32_t dpf_sizes_differ(const dpf_sampling *sampling, const dpf_question *question);

int32_t dpf_amplifies(const dpf_sampling *sampling, const dpf_question *question);

/* 1 if the kind's noise has a scale. */
int32_t dpf_event_has_scale(int32_t kind);

/*
 * A line xi + rho a above the Renyi curve of Skellam noise, at every order a > 1. In grid steps: its variance
 * V, and the norms of a shift. At integer orders the curve is at most
 *   a L2^2/(2V) + min(((2a-1) L2^2 + 6 L1)/(4V^2), 3 L1/(2V))
 * (Agarwal, Kairouz, Liu, arXiv 2110.04995, Theorem 3.5), that is xi + rho a with either
 *   rho = L2^2/(2V) (1 + 1/V), xi = (6 L1 - L2^2)/(4V^2),   or   rho = L2^2/(2V), xi = 3 L1/(2V).
 * Divergences grow with the order, so at any order the one at the next integer is a bound: xi + rho more does
 * for all of them.
 */
void dpf_skellam_line(double variance, double l1, double l2, double *xi, double *rho);

/* The cost of one event under a question. index is for messages. */
dpf_status dpf_charge_event(const dpf_host *host, const dpf_event *event, int64_t index,
                            const dpf_question *question, dpf_charge *out);

#ifdef __cplusplus
}
#endif
#endif
