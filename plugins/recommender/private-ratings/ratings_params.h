/* SPDX-License-Identifier: Apache-2.0 */
/* ratings_params.h - what is configured of private-ratings, and the rule that follows from it. */
#ifndef DPF_PRIVATE_RATINGS_PARAMS_H
#define DPF_PRIVATE_RATINGS_PARAMS_H

#include "dpframe/params.h"
#include "ratings_rule.h"

/* Parameters, as they stand in the component's table. */
enum {
    P_MULTIPLIER,
    P_RANK,
    P_LATENT,
    P_ROUNDS,
    P_COUNT_SHARE,
    P_ITEM_SD,
    P_FACTOR_SD,
    P_UNCOUNTED,
    P_COUNT
};
/* The most numbers of an item besides its bias; of the known directions those stay in which predictions vary most. */
#define RATINGS_LOADINGS 32

extern const dpf_param ratings_params[P_COUNT];

/* Fills in the rule, or fails with the parameter that does not fit. */
dpf_status ratings_rule_make(const dpf_host *host, const dpf_value *values,
                             const dpf_recommender_setup *setup, struct ratings_rule *rule);

#endif
