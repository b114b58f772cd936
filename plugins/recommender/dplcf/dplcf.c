/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dplcf.c - differentially private local collaborative filtering (Gao, Huang, Lin, Jin, Li, SIGIR 2020).
 *
 * Users flip their bits before they send them; the server estimates, for each pair of items, how many users
 * have both and how many have any, takes their ratio for a similarity, and sends each item's nearest
 * neighbours back; scores are made at home from the true records. See ../neighbours/neighbours.h.
 */
#include <math.h>

#include "dpframe/plugin.h"
#include "neighbours.h"

enum { P_EPSILON, P_KEEP, P_NEIGHBOURS, P_HISTORY, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_EPSILON] = NEIGHBOURS_EPSILON,
    [P_KEEP] = NEIGHBOURS_KEEP,
    [P_NEIGHBOURS] = NEIGHBOURS_K,
    [P_HISTORY] = NEIGHBOURS_HISTORY,
};

static dpf_status dplcf_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_value *v = given->values;
    const struct neighbours settings = {.epsilon = v[P_EPSILON].real,
                                        .keep = v[P_KEEP].real,
                                        .similarity = SIMILARITY_JACCARD,
                                        .estimator = ESTIMATOR_INVERSE,
                                        .history = (int32_t)v[P_HISTORY].integer,
                                        .k = (int32_t)v[P_NEIGHBOURS].integer};
    return neighbours_new(host, &settings, P_EPSILON, self);
}

DPF_COMPONENT(
    component, DPF_ROLE_RECOMMENDER, neighbours_recommender, .id = "dplcf", .version = "1.0.0",
    .summary = "Item neighbours by Jaccard similarity, estimated from users' flipped bits",
    .citation =
        "Gao, Huang, Lin, Jin, Li, DPLCF: Differentially Private Local Collaborative Filtering, SIGIR "
        "2020",
    DPF_PARAMS(params), .create = dplcf_create, .instance_bytes = sizeof(struct neighbours))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.recommender.dplcf", "1.0.0", "Apache-2.0", component)
