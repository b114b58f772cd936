/* SPDX-License-Identifier: Apache-2.0 */
#include "renyi_total.h"

double renyi_total_at(const struct renyi_total *total, double order)
{
    double sum = renyi_releases_at(&total->own, order);
    for (int64_t i = 0; i < total->n_selections; i++)
        if (total->selections[i].law.copies > 0.0)
            sum += total->selections[i].law.copies * renyi_selection_at(&total->selections[i], order);
    return sum >= 0.0 ? sum : NAN;
}

static dpf_status fill_candidate(const dpf_host *host, const dpf_event *events, int64_t n, int64_t index,
                                 const dpf_question *question, struct renyi_releases *candidate)
{
    dpf_status status = renyi_releases_open(host, n, candidate);
    for (int64_t i = 0; i < n && status == DPF_OK; i++)
        status = renyi_releases_add(host, events + index + 1, i, question, candidate);
    if (status == DPF_OK)
        status = renyi_releases_complete(host, question, candidate);
    if (status == DPF_OK && candidate->log_keep < 0.0)
        return dpf_refuse_event(host, DPF_E_UNSUPPORTED, &events[index], index,
                                "it has a release that fails with a delta of its own, which the theorems on "
                                "selections do not allow");
    return status;
}

/* Reads the SELECTION at *index and moves *index to its last event. */
static dpf_status add_selection(const dpf_host *host, const struct order_list *list, const dpf_event *events,
                                int64_t n, int64_t *index, const dpf_question *question,
                                struct renyi_total *total)
{
    struct renyi_selection *selection = &total->selections[total->n_selections];
    dpf_status status = dpf_selection_read(host, events, *index, question, &selection->law);
    if (status != DPF_OK)
        return status;
    total->n_selections++; /* from here on it is freed with the total */
    selection->candidates =
        dpf_memory(host)->allocate(host, (uint64_t)selection->law.candidates * sizeof *selection->candidates);
    if (!selection->candidates)
        return host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    for (int64_t i = 0; i < selection->law.candidates && status == DPF_OK; i++) {
        int64_t releases;
        status = dpf_selection_candidate(host, events, n, ++*index, &releases);
        if (status == DPF_OK)
            status = fill_candidate(host, events, releases, *index, question, &selection->candidates[i]);
        *index += releases;
        if (selection->candidates[i].unbounded && selection->law.copies > 0.0)
            total->own.unbounded = selection->candidates[i].unbounded;
    }
    return status == DPF_OK && !total->own.unbounded ? renyi_selection_prepare(host, list, selection)
                                                     : status;
}

static int64_t count_selections(const dpf_event *events, int64_t n)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++)
        found += events[i].kind == DPF_EVENT_SELECTION;
    return found;
}

dpf_status renyi_total_fill(const dpf_host *host, const struct order_list *list, const dpf_event *events,
                            int64_t n, const dpf_question *question, struct renyi_total *total)
{
    total->selections =
        dpf_memory(host)->allocate(host, (uint64_t)count_selections(events, n) * sizeof *total->selections);
    dpf_status status = renyi_releases_open(host, n, &total->own);
    if (status == DPF_OK && !total->selections)
        status = host->fail(host, DPF_E_MEMORY, -1, "out of memory");
    for (int64_t i = 0; i < n && status == DPF_OK; i++)
        status = events[i].kind == DPF_EVENT_SELECTION
                     ? add_selection(host, list, events, n, &i, question, total)
                     : renyi_releases_add(host, events, i, question, &total->own);
    return status == DPF_OK ? renyi_releases_complete(host, question, &total->own) : status;
}

void renyi_total_free(const dpf_host *host, struct renyi_total *total)
{
    for (int64_t i = 0; i < total->n_selections; i++)
        renyi_selection_free(host, &total->selections[i]);
    dpf_memory(host)->release(host, total->selections);
    renyi_releases_free(host, &total->own);
}
