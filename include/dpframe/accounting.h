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

static inline void dpf_text_add(char *text, size_t size, const char *more)
{
    const size_t used = strlen(text);
    size_t length = strlen(more);
    if (used + 1 >= size)
        return;
    if (length > size - used - 1)
        length = size - used - 1;
    memcpy(text + used, more, length);
    text[used + length] = '\0';
}

static inline void dpf_text_add_count(char *text, size_t size, int64_t n)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (n < 0)
        digits[--at] = '-';
    dpf_text_add(text, size, digits + at);
}

/* "block 1", "blocks 0+1+gram 0", or "the whole message" for no bits. */
static inline void dpf_text_add_blocks(char *text, size_t size, uint32_t blocks)
{
    int32_t n = 0;
    if (blocks == 0)
        dpf_text_add(text, size, "the whole message");
    else
        dpf_text_add(text, size, (blocks & (blocks - 1)) != 0 ? "blocks " : "block ");
    for (int32_t bit = 0; bit < DPF_BLOCK_BITS; bit++) {
        if (!(blocks >> bit & 1))
            continue;
        dpf_text_add(text, size, n++ > 0 ? "+" : "");
        dpf_text_add(text, size, bit < DPF_GRAM_BIT ? "" : "gram ");
        dpf_text_add_count(text, size, bit < DPF_GRAM_BIT ? bit : bit - DPF_GRAM_BIT);
    }
}

/* ---- names -------------------------------------------------------------------------------------- */

static inline const char *dpf_event_kind_name(int32_t kind)
{
    static const char *const names[] = {"no-op",
                                        "non-private",
                                        "unsupported",
                                        "laplace",
                                        "gaussian",
                                        "discrete-laplace",
                                        "discrete-gaussian",
                                        "pure",
                                        "approx",
                                        "zcdp",
                                        "skellam",
                                        "pbm",
                                        "randomized-response",
                                        "selection",
                                        "candidate",
                                        "correlated-gaussian"};
    const int32_t n = (int32_t)(sizeof names / sizeof names[0]);
    return kind >= 0 && kind < n ? names[kind] : "unknown";
}

static inline const char *dpf_unit_name(int32_t unit)
{
    return unit == DPF_UNIT_RECORD ? "record" : unit == DPF_UNIT_USER ? "user" : "unknown";
}

static inline const char *dpf_adjacency_name(int32_t adjacency)
{
    static const char *const names[] = {"replace-value", "flip", "replace", "add-remove", "zero-out"};
    return adjacency >= 0 && adjacency < DPF_N_ADJACENCIES ? names[adjacency] : "unknown";
}

/* "event 3 (users, term 0, blocks 0+1, gaussian)" */
static inline void dpf_event_describe(const dpf_event *event, int64_t index, char *text, size_t size)
{
    text[0] = '\0';
    dpf_text_add(text, size, "event ");
    dpf_text_add_count(text, size, index);
    dpf_text_add(text, size, event->side == DPF_SIDE_USERS ? " (users, term " : " (items, term ");
    dpf_text_add_count(text, size, event->term);
    dpf_text_add(text, size, ", ");
    dpf_text_add_blocks(text, size, event->blocks);
    dpf_text_add(text, size, ", ");
    dpf_text_add(text, size, dpf_event_kind_name(event->kind));
    dpf_text_add(text, size, ")");
}

/* Fails, naming the event. Returns code. ("fail" in parentheses: test libraries have macros of that name.) */
static inline dpf_status dpf_refuse_event(const dpf_host *host, dpf_status code, const dpf_event *event,
                                          int64_t index, const char *why)
{
    char text[512];
    dpf_event_describe(event, index, text, sizeof text);
    dpf_text_add(text, sizeof text, ": ");
    dpf_text_add(text, sizeof text, why);
    return (host->fail)(host, code, -1, text);
}

/* ---- rules -------------------------------------------------------------------------------------- */

/* The norm in which a kind's sensitivity counts: 2 or 1. */
static inline int32_t dpf_event_norm(int32_t kind)
{
    return kind == DPF_EVENT_GAUSSIAN || kind == DPF_EVENT_DISCRETE_GAUSSIAN || kind == DPF_EVENT_ZCDP ||
                   kind == DPF_EVENT_SKELLAM || kind == DPF_EVENT_CORRELATED_GAUSSIAN
               ? 2
               : 1;
}

static inline double dpf_event_norm_of(const dpf_event *event, int32_t norm, int32_t unit, int32_t adjacency)
{
    const dpf_norms *norms = &event->sensitivity.at[unit][adjacency];
    return norm == 2 ? norms->l2 : norms->l1;
}

static inline double dpf_event_sensitivity(const dpf_event *event, int32_t unit, int32_t adjacency)
{
    return dpf_event_norm_of(event, dpf_event_norm(event->kind), unit, adjacency);
}

/* 1 if one of two neighbours has the unit and the other has not, so that nothing comes in its place. */
static inline int32_t dpf_comes_or_goes(int32_t adjacency)
{
    return adjacency == DPF_ADJ_ADD_REMOVE || adjacency == DPF_ADJ_ZERO_OUT || adjacency == DPF_ADJ_FLIP;
}

/* The largest sensitivity that a draw of unequal probabilities leaves; see above. */
static inline double dpf_weighted_sensitivity(const dpf_event *event, const dpf_question *question,
                                              int32_t norm)
{
    const double stated = dpf_event_norm_of(event, norm, question->unit, question->adjacency);
    if (dpf_comes_or_goes(question->adjacency) || stated == 0.0)
        return stated;
    double alone = dpf_event_norm_of(event, norm, question->unit, DPF_ADJ_ZERO_OUT);
    if (isnan(alone))
        alone = dpf_event_norm_of(event, norm, question->unit, DPF_ADJ_ADD_REMOVE);
    if (isnan(alone) || isnan(stated))
        return NAN;
    return stated > 2.0 * alone ? stated : 2.0 * alone;
}

/* 1 if two neighbours may be data sets of different sizes for a draw of that unit. */
static inline int32_t dpf_sizes_differ(const dpf_sampling *sampling, const dpf_question *question)
{
    const int32_t grows = question->adjacency == DPF_ADJ_ADD_REMOVE || question->adjacency == DPF_ADJ_FLIP;
    const int32_t of_user = question->unit == DPF_UNIT_USER;
    if (sampling->unit == DPF_UNIT_USER)
        return grows && of_user;
    return grows || (of_user && question->adjacency == DPF_ADJ_REPLACE);
}

static inline int32_t dpf_amplifies(const dpf_sampling *sampling, const dpf_question *question)
{
    return sampling->kind == DPF_SAMPLING_POISSON && sampling->unit == question->unit &&
           dpf_comes_or_goes(question->adjacency) && sampling->hidden_from >= 0 &&
           question->observer <= sampling->hidden_from;
}

static inline dpf_status dpf_charge_unbounded(dpf_charge *out, const char *reason)
{
    out->unbounded = 1;
    out->reason = reason;
    return DPF_OK;
}

static inline dpf_status dpf_charge_sampling(const dpf_host *host, const dpf_event *event, int64_t index,
                                             const dpf_question *question, dpf_charge *out)
{
    const dpf_sampling *sampling = &event->sampling;
    uint64_t reserved = (uint32_t)sampling->reserved;
    for (int32_t i = 0; i < (int32_t)(sizeof sampling->reserved_words / sizeof(uint64_t)); i++)
        reserved |= sampling->reserved_words[i];
    if (reserved != 0)
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                "its sampling states something that these accountants do not know; use newer "
                                "ones");
    const int32_t fixed = sampling->kind == DPF_SAMPLING_FIXED || sampling->kind == DPF_SAMPLING_REPLACED;
    if (sampling->kind < DPF_SAMPLING_NONE || sampling->kind > DPF_SAMPLING_CYCLIC ||
        sampling->separation < 0)
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index, "its kind of sampling is unknown");
    if (fixed && dpf_sizes_differ(sampling, question))
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                "a fixed number is drawn, so under this adjacency the unit that comes "
                                "pushes another one out; ask for an adjacency that keeps the number of "
                                "units, or sample by independent (Poisson) draws");
    if (sampling->kind == DPF_SAMPLING_WEIGHTED) {
        if ((event->kind == DPF_EVENT_APPROX || event->kind == DPF_EVENT_ZCDP) && out->sensitivity != 0.0 &&
            !dpf_comes_or_goes(question->adjacency))
            return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                    "records are drawn with unequal probabilities, so a replacement may be a "
                                    "removal and an addition, of which this kind says nothing; ask for "
                                    "adjacency add-remove or zero-out");
        out->sensitivity = dpf_weighted_sensitivity(event, question, dpf_event_norm(event->kind));
        out->l1 = dpf_weighted_sensitivity(event, question, 1);
    }
    if (!dpf_amplifies(sampling, question))
        return DPF_OK;
    /* Correlated noise is one event for all draws: given them it is Gaussian, which bounds the mixture. */
    if (event->kind == DPF_EVENT_CORRELATED_GAUSSIAN && sampling->rate > 0.0)
        return DPF_OK;
    if (!(sampling->rate >= 0.0 && sampling->rate <= 1.0))
        return dpf_refuse_event(host, DPF_E_NUMERIC, event, index, "its sampling rate is not in [0, 1]");
    out->rate = sampling->rate;
    return DPF_OK;
}

/* 1 if the kind's noise has a scale. */
static inline int32_t dpf_event_has_scale(int32_t kind)
{
    return (kind >= DPF_EVENT_LAPLACE && kind <= DPF_EVENT_DISCRETE_GAUSSIAN) ||
           kind == DPF_EVENT_CORRELATED_GAUSSIAN;
}

static inline dpf_status dpf_charge_noise(const dpf_host *host, const dpf_event *event, int64_t index,
                                          const dpf_question *question, dpf_charge *out)
{
    const dpf_status status = dpf_charge_sampling(host, event, index, question, out);
    if (status != DPF_OK)
        return status;
    const int32_t both = event->kind == DPF_EVENT_SKELLAM;
    if (isnan(out->sensitivity) || (both && isnan(out->l1)))
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                "no sensitivity is stated for this privacy unit and adjacency");
    if (out->sensitivity < 0.0 ||
        (both && !(out->l1 >= 0.0 && event->p.skellam.variance >= 0.0 && event->grid > 0.0)) ||
        (dpf_event_has_scale(event->kind) && !(event->scale >= 0.0 && event->grid >= 0.0)))
        return dpf_refuse_event(host, DPF_E_NUMERIC, event, index,
                                "its sensitivity, scale or grid is negative or not a number");
    if (out->sensitivity == 0.0 || out->rate == 0.0) {
        out->copies = 0.0;
        return DPF_OK;
    }
    if ((event->kind == DPF_EVENT_APPROX || event->kind == DPF_EVENT_ZCDP) && out->sensitivity > 1.0 &&
        isfinite(out->sensitivity))
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                "its parameters are stated for a sensitivity of 1, but under this privacy "
                                "unit, adjacency and sampling a release moves by more");
    if (isinf(out->sensitivity) || (both && isinf(out->l1)))
        return dpf_charge_unbounded(out, "nothing bounds how far one unit moves a release");
    if ((dpf_event_has_scale(event->kind) && event->scale == 0.0) ||
        (both && event->p.skellam.variance == 0.0))
        return dpf_charge_unbounded(out, "a release is made with noise of scale 0");
    if (event->lifetime == DPF_LIFETIME_RUN && event->count > 1)
        return dpf_charge_unbounded(out, "one draw of noise serves several releases, so their difference "
                                         "has no noise");
    return DPF_OK;
}

/*
 * A line xi + rho a above the Renyi curve of Skellam noise, at every order a > 1. In grid steps: its variance
 * V, and the norms of a shift. At integer orders the curve is at most
 *   a L2^2/(2V) + min(((2a-1) L2^2 + 6 L1)/(4V^2), 3 L1/(2V))
 * (Agarwal, Kairouz, Liu, arXiv 2110.04995, Theorem 3.5), that is xi + rho a with either
 *   rho = L2^2/(2V) (1 + 1/V), xi = (6 L1 - L2^2)/(4V^2),   or   rho = L2^2/(2V), xi = 3 L1/(2V).
 * Divergences grow with the order, so at any order the one at the next integer is a bound: xi + rho more does
 * for all of them.
 */
static inline void dpf_skellam_line(double variance, double l1, double l2, double *xi, double *rho)
{
    const double slope = l2 * l2 / (2.0 * variance), fine_rho = slope * (1.0 + 1.0 / variance);
    const double near = (6.0 * l1 - l2 * l2) / (4.0 * variance * variance);
    const double fine = (near > 0.0 ? near : 0.0) + fine_rho, coarse = 1.5 * l1 / variance + slope;
    /* Where the first is no larger at order 1, it is the one for noise worth the name. */
    const int32_t is_fine = fine + fine_rho <= coarse + slope;
    *xi = is_fine ? fine : coarse;
    *rho = is_fine ? fine_rho : slope;
}

/* The cost of one event under a question. index is for messages. */
static inline dpf_status dpf_charge_event(const dpf_host *host, const dpf_event *event, int64_t index,
                                          const dpf_question *question, dpf_charge *out)
{
    memset(out, 0, sizeof *out);
    if (question->unit < 0 || question->unit >= DPF_N_UNITS || question->adjacency < 0 ||
        question->adjacency >= DPF_N_ADJACENCIES)
        return (host->fail)(host, DPF_E_UNSUPPORTED, -1,
                            "the question's privacy unit or adjacency is unknown");
    out->kind = event->kind;
    out->rate = 1.0;
    out->scale = event->scale;
    out->grid = event->grid;
    out->p = event->p;
    out->reason = "";
    uint64_t reserved = event->flags & ~DPF_EVENT_FLAGS;
    for (int32_t i = 0; i < (int32_t)(sizeof event->reserved / sizeof(uint64_t)); i++)
        reserved |= event->reserved[i];
    if (reserved != 0)
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                "it states something that these accountants do not know; use newer ones");
    if (event->count < 0)
        return dpf_refuse_event(host, DPF_E_RANGE, event, index, "its count is negative");
    if (event->kind == DPF_EVENT_SELECTION || event->kind == DPF_EVENT_CANDIDATE)
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                "the best of several runs is released, for which this accountant has no "
                                "theorem; ask rdp ([accountants] list)");
    if (event->kind == DPF_EVENT_NO_OP || event->count == 0 || (event->flags & DPF_EVENT_DATA_BLIND))
        return DPF_OK;
    out->copies = (double)event->count;
    out->sensitivity = dpf_event_sensitivity(event, question->unit, question->adjacency);
    out->l1 = dpf_event_norm_of(event, 1, question->unit, question->adjacency);
    if (event->kind == DPF_EVENT_NON_PRIVATE) {
        if (out->sensitivity == 0.0) {
            out->copies = 0.0;
            return DPF_OK;
        }
        return dpf_charge_unbounded(out, "a release is made without noise");
    }
    if (event->kind == DPF_EVENT_UNSUPPORTED)
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                "noise is added, but nothing is proved about it");
    return dpf_charge_noise(host, event, index, question, out);
}

#ifdef __cplusplus
}
#endif
#endif
