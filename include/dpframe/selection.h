/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h - private selection among candidates in a ledger; a convenience, not part of the ABI.
 *
 * A number K is drawn from a public law; K times a candidate is drawn from a public law and run, which gives
 * a score; only the run with the best score is released: Liu, Talwar, arXiv 1811.07971; Papernot,
 * Steinke, arXiv 2110.03620. In a ledger this is
 *
 *     SELECTION, then for each candidate: CANDIDATE and the releases of one run of it, including its score.
 *
 * Do not compose these releases one by one: an accountant without a theorem for the whole refuses, which
 * dpf_charge_event does for it.
 */
#ifndef DPFRAME_SELECTION_H
#define DPFRAME_SELECTION_H

#include "accounting.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The truncated negative binomial law with parameters eta > -1 and gamma in (0, 1], on 1, 2, ...:
 *   Pr[K = k] = (1-gamma)^k / (gamma^-eta - 1) prod_{l<k} (l+eta)/(l+1),
 * which is geometric for eta = 1, and for eta = 0 the limit, the logarithmic law. Its mean is
 *   eta (1-gamma) / (gamma (1 - gamma^eta)),   and   (1/gamma - 1) / ln(1/gamma)   for eta = 0.
 */
double dpf_negative_binomial_mean(double eta, double gamma);

typedef struct dpf_selection {
    int32_t law;        /* DPF_REPETITIONS_* */
    int32_t reserved;   /* 0 */
    double eta;         /* of the negative binomial */
    double gamma;       /* of the negative binomial */
    double mean;        /* of the number of repetitions */
    int64_t candidates; /* at least 1 */
    double copies;      /* composed with itself this often */
} dpf_selection;

/*
 * Reads the SELECTION at events[index]; refuses it if a number is out of range or nothing is proved about it.
 * Its candidates follow: dpf_selection_candidate.
 */
dpf_status dpf_selection_read(const dpf_host *host, const dpf_event *events, int64_t index,
                              const dpf_question *question, dpf_selection *out);

/*
 * Reads the CANDIDATE at events[index] of n; its *releases events follow. Refuses incomplete candidates and
 * selections inside of them.
 */
dpf_status dpf_selection_candidate(const dpf_host *host, const dpf_event *events, int64_t n, int64_t index,
                                   int64_t *releases);

#ifdef __cplusplus
}
#endif
#endif
