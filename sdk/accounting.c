/* SPDX-License-Identifier: Apache-2.0 */
/* accounting.c - the rules that all accountants share: accounting.h states them. */
#include "dpframe/accounting.h"

void dpf_text_add(char *text, size_t size, const char *more)
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

void dpf_text_add_count(char *text, size_t size, int64_t n)
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

void dpf_text_add_blocks(char *text, size_t size, uint32_t blocks)
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

const char *dpf_event_kind_name(int32_t kind)
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

const char *dpf_unit_name(int32_t unit)
{
    return unit == DPF_UNIT_RECORD ? "record" : unit == DPF_UNIT_USER ? "user" : "unknown";
}

const char *dpf_adjacency_name(int32_t adjacency)
{
    static const char *const names[] = {"replace-value", "flip", "replace", "add-remove", "zero-out"};
    return adjacency >= 0 && adjacency < DPF_N_ADJACENCIES ? names[adjacency] : "unknown";
}

void dpf_event_describe(const dpf_event *event, int64_t index, char *text, size_t size)
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

dpf_status dpf_refuse_event(const dpf_host *host, dpf_status code, const dpf_event *event, int64_t index,
                            const char *why)
{
    char text[512];
    dpf_event_describe(event, index, text, sizeof text);
    dpf_text_add(text, sizeof text, ": ");
    dpf_text_add(text, sizeof text, why);
    return host->fail(host, code, -1, text);
}

/* ---- rules -------------------------------------------------------------------------------------- */

int32_t dpf_event_norm(int32_t kind)
{
    return kind == DPF_EVENT_GAUSSIAN || kind == DPF_EVENT_DISCRETE_GAUSSIAN || kind == DPF_EVENT_ZCDP ||
                   kind == DPF_EVENT_SKELLAM || kind == DPF_EVENT_CORRELATED_GAUSSIAN
               ? 2
               : 1;
}

static double event_norm_of(const dpf_event *event, int32_t norm, int32_t unit, int32_t adjacency)
{
    const dpf_norms *norms = &event->sensitivity.at[unit][adjacency];
    return norm == 2 ? norms->l2 : norms->l1;
}

double dpf_event_sensitivity(const dpf_event *event, int32_t unit, int32_t adjacency)
{
    return event_norm_of(event, dpf_event_norm(event->kind), unit, adjacency);
}

/* 1 if one of two neighbours has the unit and the other has not, so that nothing comes in its place. */
static int32_t comes_or_goes(int32_t adjacency)
{
    return adjacency == DPF_ADJ_ADD_REMOVE || adjacency == DPF_ADJ_ZERO_OUT || adjacency == DPF_ADJ_FLIP;
}

/* The largest sensitivity that a draw of unequal probabilities leaves; see above. */
static double weighted_sensitivity(const dpf_event *event, const dpf_question *question, int32_t norm)
{
    const double stated = event_norm_of(event, norm, question->unit, question->adjacency);
    if (comes_or_goes(question->adjacency) || stated == 0.0)
        return stated;
    double alone = event_norm_of(event, norm, question->unit, DPF_ADJ_ZERO_OUT);
    if (isnan(alone))
        alone = event_norm_of(event, norm, question->unit, DPF_ADJ_ADD_REMOVE);
    if (isnan(alone) || isnan(stated))
        return NAN;
    return stated > 2.0 * alone ? stated : 2.0 * alone;
}

int32_t dpf_sizes_differ(const dpf_sampling *sampling, const dpf_question *question)
{
    const int32_t grows = question->adjacency == DPF_ADJ_ADD_REMOVE || question->adjacency == DPF_ADJ_FLIP;
    const int32_t of_user = question->unit == DPF_UNIT_USER;
    if (sampling->unit == DPF_UNIT_USER)
        return grows && of_user;
    return grows || (of_user && question->adjacency == DPF_ADJ_REPLACE);
}

int32_t dpf_amplifies(const dpf_sampling *sampling, const dpf_question *question)
{
    return sampling->kind == DPF_SAMPLING_POISSON && sampling->unit == question->unit &&
           comes_or_goes(question->adjacency) && sampling->hidden_from >= 0 &&
           question->observer <= sampling->hidden_from;
}

static dpf_status charge_unbounded(dpf_charge *out, const char *reason)
{
    out->unbounded = 1;
    out->reason = reason;
    return DPF_OK;
}

static dpf_status charge_sampling(const dpf_host *host, const dpf_event *event, int64_t index,
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
            !comes_or_goes(question->adjacency))
            return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                    "records are drawn with unequal probabilities, so a replacement may be a "
                                    "removal and an addition, of which this kind says nothing; ask for "
                                    "adjacency add-remove or zero-out");
        out->sensitivity = weighted_sensitivity(event, question, dpf_event_norm(event->kind));
        out->l1 = weighted_sensitivity(event, question, 1);
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

int32_t dpf_event_has_scale(int32_t kind)
{
    return (kind >= DPF_EVENT_LAPLACE && kind <= DPF_EVENT_DISCRETE_GAUSSIAN) ||
           kind == DPF_EVENT_CORRELATED_GAUSSIAN;
}

static dpf_status charge_noise(const dpf_host *host, const dpf_event *event, int64_t index,
                               const dpf_question *question, dpf_charge *out)
{
    const dpf_status status = charge_sampling(host, event, index, question, out);
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
        return charge_unbounded(out, "nothing bounds how far one unit moves a release");
    if ((dpf_event_has_scale(event->kind) && event->scale == 0.0) ||
        (both && event->p.skellam.variance == 0.0))
        return charge_unbounded(out, "a release is made with noise of scale 0");
    if (event->lifetime == DPF_LIFETIME_RUN && event->count > 1)
        return charge_unbounded(out, "one draw of noise serves several releases, so their difference "
                                     "has no noise");
    return DPF_OK;
}

void dpf_skellam_line(double variance, double l1, double l2, double *xi, double *rho)
{
    const double slope = l2 * l2 / (2.0 * variance), fine_rho = slope * (1.0 + 1.0 / variance);
    const double near = (6.0 * l1 - l2 * l2) / (4.0 * variance * variance);
    const double fine = (near > 0.0 ? near : 0.0) + fine_rho, coarse = 1.5 * l1 / variance + slope;
    /* Where the first is no larger at order 1, it is the one for noise worth the name. */
    const int32_t is_fine = fine + fine_rho <= coarse + slope;
    *xi = is_fine ? fine : coarse;
    *rho = is_fine ? fine_rho : slope;
}

dpf_status dpf_charge_event(const dpf_host *host, const dpf_event *event, int64_t index,
                            const dpf_question *question, dpf_charge *out)
{
    memset(out, 0, sizeof *out);
    if (question->unit < 0 || question->unit >= DPF_N_UNITS || question->adjacency < 0 ||
        question->adjacency >= DPF_N_ADJACENCIES)
        return host->fail(host, DPF_E_UNSUPPORTED, -1, "the question's privacy unit or adjacency is unknown");
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
    out->l1 = event_norm_of(event, 1, question->unit, question->adjacency);
    if (event->kind == DPF_EVENT_NON_PRIVATE) {
        if (out->sensitivity == 0.0) {
            out->copies = 0.0;
            return DPF_OK;
        }
        return charge_unbounded(out, "a release is made without noise");
    }
    if (event->kind == DPF_EVENT_UNSUPPORTED)
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                "noise is added, but nothing is proved about it");
    return charge_noise(host, event, index, question, out);
}
