/* SPDX-License-Identifier: Apache-2.0 */
/* selection.c - reads private selection among candidates from a ledger. */
#include "dpframe/selection.h"

double dpf_negative_binomial_mean(double eta, double gamma)
{
    const double fall = -log(gamma), x = eta * fall;
    if (fall <= 0.0)
        return 1.0;
    return (1.0 / gamma - 1.0) / fall * (fabs(x) < 1e-9 ? 1.0 + x / 2.0 : x / -expm1(-x));
}

dpf_status dpf_selection_read(const dpf_host *host, const dpf_event *events, int64_t index,
                              const dpf_question *question, dpf_selection *out)
{
    const dpf_event *event = &events[index];
    const double law = event->p.selection.repetitions, eta = event->p.selection.eta;
    const double gamma = event->p.selection.gamma, candidates = event->p.selection.candidates;
    memset(out, 0, sizeof *out);
    uint64_t stated = event->flags;
    for (int32_t i = 0; i < (int32_t)(sizeof event->reserved / sizeof event->reserved[0]); i++)
        stated |= event->reserved[i];
    if (stated != 0 || (law != DPF_REPETITIONS_NEGATIVE_BINOMIAL && law != DPF_REPETITIONS_POISSON))
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                "it states something that these accountants do not know; use newer ones");
    if (question->observer != DPF_OBSERVER_OUTSIDER)
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                "a selection hides the runs that lost, but the server and the parties see "
                                "every run; ask for observer = outsider");
    if (event->sampling.kind != DPF_SAMPLING_NONE)
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                "nothing is proved about a selection under a draw of units");
    out->law = (int32_t)law;
    out->eta = eta;
    out->gamma = gamma;
    out->mean = out->law == DPF_REPETITIONS_POISSON ? gamma : dpf_negative_binomial_mean(eta, gamma);
    const int32_t known = out->law == DPF_REPETITIONS_POISSON
                              ? eta == 0.0 && gamma > 0.0 && gamma < 1e6
                              : eta > -1.0 && eta < 1e6 && gamma > 0.0 && gamma <= 1.0 && isfinite(out->mean);
    if (!known || event->count < 0)
        return dpf_refuse_event(host, DPF_E_NUMERIC, event, index,
                                "its count or the parameters of its law of repetitions are out of range");
    if (!(candidates >= 1.0 && candidates < 1e9 && candidates == floor(candidates)))
        return dpf_refuse_event(host, DPF_E_RANGE, event, index,
                                "its number of candidates is not a whole number of at least 1");
    out->candidates = (int64_t)candidates;
    out->copies = (double)event->count;
    return DPF_OK;
}

dpf_status dpf_selection_candidate(const dpf_host *host, const dpf_event *events, int64_t n, int64_t index,
                                   int64_t *releases)
{
    *releases = 0;
    if (index >= n)
        return host->fail(host, DPF_E_UNSUPPORTED, -1, "a selection has fewer candidates than it states");
    const dpf_event *event = &events[index];
    const double size = event->p.candidate.releases;
    if (event->kind != DPF_EVENT_CANDIDATE || event->flags != 0 || event->count != 1 ||
        !(size >= 0.0 && size <= (double)(n - index - 1) && size == floor(size)))
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, event, index,
                                "a selection is not followed by its candidates with all of their releases");
    for (int64_t i = index + 1; i <= index + (int64_t)size; i++)
        if (events[i].kind == DPF_EVENT_SELECTION || events[i].kind == DPF_EVENT_CANDIDATE)
            return dpf_refuse_event(host, DPF_E_UNSUPPORTED, &events[i], i,
                                    "a selection among selections is not supported");
    *releases = (int64_t)size;
    return DPF_OK;
}
