/* SPDX-License-Identifier: Apache-2.0 */
/* renyi_releases.h - releases that are charged by themselves as one curve: like charges in one. */
#ifndef RENYI_RELEASES_H
#define RENYI_RELEASES_H

#include "renyi_pbm.h"

struct renyi_releases {
    dpf_charge *charges;
    struct renyi_pbm **pbm; /* of each charge of that kind, else NULL */
    int64_t n;
    const char *unbounded; /* why there is no finite epsilon, or NULL */
    double log_keep;       /* ln of the product of 1 - delta over all approximate releases */
};

/* Room for so many events; empty before, and freed by renyi_releases_free even after a failure. */
dpf_status renyi_releases_open(const dpf_host *host, int64_t most, struct renyi_releases *releases);
/* Adds the event at index. */
dpf_status renyi_releases_add(const dpf_host *host, const dpf_event *events, int64_t index,
                              const dpf_question *question, struct renyi_releases *releases);
/* All are there: curves that take long to make, once for each charge. */
dpf_status renyi_releases_complete(const dpf_host *host, const dpf_question *question,
                                   struct renyi_releases *releases);
/* Their Renyi divergence together; NaN if it cannot be computed. The order may be INFINITY. */
double renyi_releases_at(const struct renyi_releases *releases, double order);
void renyi_releases_free(const dpf_host *host, struct renyi_releases *releases);

#endif
