/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - what the server tells a monitoring system: GET /metrics, in OpenMetrics text.
 *
 * Whoever reaches the address reads it, so each number is one that the statement's outsider may see. How far the
 * run is and its public sizes follow from the configuration and from rounds that are complete. How many parties are
 * there, and are in a sum, does not depend on anybody's records; it depends on who takes part, and is left out where the
 * statement protects that (adjacency = add-remove). Seconds and bytes of single rounds are left out: the slowest
 * party sets the time, and its records may set how slow it is.
 */
#ifndef DPF_FEDERATION_METRICS_H
#define DPF_FEDERATION_METRICS_H

#include <stdint.h>

#include "plan/plan.h"

struct metrics {
    struct metrics_end *end; /* NULL: nobody is told */
};

/* address: HOST:PORT, or "": nowhere. Needs libmicrohttpd, which is loaded here. */
int metrics_open(struct metrics *metrics, const struct plan *plan, int64_t listed, const char *address,
                 struct dpf_error *error);
void metrics_parties(struct metrics *metrics, int64_t joined);
/* A round is complete. */
void metrics_round(struct metrics *metrics, int64_t round, int64_t survivors);
/* So many parties have missed a phase. */
void metrics_missed(struct metrics *metrics, int64_t parties);
void metrics_close(struct metrics *metrics);

#endif
