/* SPDX-License-Identifier: Apache-2.0 */
/* pbm_case.h - for the tests of accountants of PBM: its event, and what none of them may answer. */
#ifndef DPF_PBM_CASE_H
#define DPF_PBM_CASE_H

#include "kit/accounting_case.h"

static inline dpf_event pbm_event(double theta, int trials, int clients, double coordinates)
{
    dpf_event event = case_event(DPF_EVENT_PBM, 1.0, 1.0);
    event.p.pbm.theta = theta;
    event.p.pbm.trials = trials;
    event.p.pbm.clients = clients;
    event.p.pbm.coordinates = coordinates;
    return event;
}

static inline void pbm_refused(const char *id, dpf_event event, int32_t adjacency, dpf_status code)
{
    struct case_accountant accountant;
    dpf_question question = case_question(1e-5);
    dpf_answer answer = {.size = sizeof answer};
    question.adjacency = adjacency;
    case_open(&accountant, id, "", NULL);
    assert_int_equal(accountant.functions->epsilon(accountant.host.self, &event, 1, &question, &answer),
                     code);
    case_close(&accountant);
}

/* Neighbours and draws without a proof, and parameters that the mechanism cannot have. */
static inline void pbm_unproved_is_refused(const char *id)
{
    pbm_refused(id, pbm_event(0.25, 1, 10, 1), DPF_ADJ_ADD_REMOVE, DPF_E_UNSUPPORTED);
    pbm_refused(id, pbm_event(0.3, 1, 10, 1), DPF_ADJ_REPLACE, DPF_E_NUMERIC);
    pbm_refused(id, pbm_event(0, 1, 10, 1), DPF_ADJ_REPLACE, DPF_E_NUMERIC);
    pbm_refused(id, pbm_event(NAN, 1, 10, 1), DPF_ADJ_REPLACE, DPF_E_NUMERIC);
    pbm_refused(id, pbm_event(0.25, 257, 10, 1), DPF_ADJ_REPLACE, DPF_E_UNSUPPORTED);
    pbm_refused(id, pbm_event(0.25, 1, 0, 1), DPF_ADJ_REPLACE, DPF_E_NUMERIC);
    pbm_refused(id, pbm_event(0.25, 1, 10, 0.5), DPF_ADJ_REPLACE, DPF_E_NUMERIC);
    dpf_event weighted = case_sampled(pbm_event(0.25, 1, 10, 1), 0.5);
    weighted.sampling.kind = DPF_SAMPLING_WEIGHTED;
    pbm_refused(id, weighted, DPF_ADJ_REPLACE, DPF_E_UNSUPPORTED);
}

#endif
