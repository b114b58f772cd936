/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ldpicf.c - locally differentially private item-based collaborative filtering (Guo, Luo, Dong, Yang,
 * Information Sciences 502, 2019).
 *
 * Users send their bits through randomised response. For each pair of items the server reconstructs how many
 * users have neither, one, or both of them, and makes a similarity of these four numbers. See
 * ../neighbours/neighbours.h.
 */
#include <math.h>

#include "dpframe/plugin.h"
#include "neighbours.h"

#define MOST_UPDATES 100 /* of a pair, for estimator = bayes */

enum { P_EPSILON, P_KEEP, P_ESTIMATOR, P_NEIGHBOURS, P_HISTORY, P_COUNT };

static const dpf_enum_value estimators[] = {
    {"inverse", "the inverse of the response's matrix: unbiased, but counts can be negative"},
    {"bayes", "counts of largest likelihood, by iterated Bayesian updates: never negative, biased"},
};

static const dpf_param params[P_COUNT] = {
    [P_EPSILON] = NEIGHBOURS_EPSILON,
    [P_KEEP] = NEIGHBOURS_KEEP,
    [P_ESTIMATOR] = DPF_PARAM_ENUM_F("estimator", ESTIMATOR_INVERSE, estimators, 0,
                                     "How the four counts of a pair of items are reconstructed."),
    [P_NEIGHBOURS] = NEIGHBOURS_K,
    [P_HISTORY] = NEIGHBOURS_HISTORY,
};

static dpf_status ldpicf_create(const dpf_host *host, const dpf_params *given, void **self)
{
    const dpf_value *v = given->values;
    const struct neighbours settings = {.epsilon = v[P_EPSILON].real,
                                        .keep = v[P_KEEP].real,
                                        .similarity = SIMILARITY_COSINE,
                                        .estimator = (int32_t)v[P_ESTIMATOR].integer,
                                        .history = (int32_t)v[P_HISTORY].integer,
                                        .k = (int32_t)v[P_NEIGHBOURS].integer,
                                        .iterations = MOST_UPDATES};
    return neighbours_new(host, &settings, P_EPSILON, self);
}

DPF_COMPONENT(
    component, DPF_ROLE_RECOMMENDER, neighbours_recommender, .id = "ldpicf", .version = "1.0.0",
    .summary = "Item neighbours by cosine, from pair counts that are reconstructed from flipped bits",
    .citation = "Guo, Luo, Dong, Yang, Locally Differentially Private Item-Based Collaborative Filtering, "
                "Information Sciences 502, 2019",
    DPF_PARAMS(params), .create = ldpicf_create, .instance_bytes = sizeof(struct neighbours))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.recommender.ldpicf", "1.0.0", "Apache-2.0", component)
