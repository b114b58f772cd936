/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renyi_pbm.h - Renyi divergence of one coordinate of the Poisson binomial mechanism.
 *
 * Z is a sum of binomials: one of the protected client, and the others' trials, each of which succeeds with
 * probability 1/2 + theta or 1/2 - theta. Which, nobody knows: the curve is the largest divergence over
 * all mixes.
 */
#ifndef RENYI_PBM_H
#define RENYI_PBM_H

#include "pbm_mixes.h"

struct renyi_pbm;

/* See pbm_mixes_new. */
struct renyi_pbm *renyi_pbm_new(const dpf_host *host, double theta, int64_t trials, int64_t clients,
                                int zero_out);
void renyi_pbm_free(const dpf_host *host, struct renyi_pbm *pbm);

/* An upper bound in nats for an order a > 1, or INFINITY: the pure epsilon of a coordinate. */
double renyi_pbm_at(struct renyi_pbm *pbm, double order);

#endif
