/* SPDX-License-Identifier: Apache-2.0 */
/* renyi_total.h - a ledger as one curve: releases, and selections among candidates. */
#ifndef RENYI_TOTAL_H
#define RENYI_TOTAL_H

#include "renyi_selection.h"

struct renyi_total {
    struct renyi_releases own; /* of no selection */
    struct renyi_selection *selections;
    int64_t n_selections;
};

/* Reads n events; total is empty before, and freed by renyi_total_free even after a failure. */
dpf_status renyi_total_fill(const dpf_host *host, const struct order_list *list, const dpf_event *events,
                            int64_t n, const dpf_question *question, struct renyi_total *total);
void renyi_total_free(const dpf_host *host, struct renyi_total *total);
/* The Renyi divergence of all releases together; NaN if it cannot be computed. The order may be INFINITY. */
double renyi_total_at(const struct renyi_total *total, double order);

#endif
