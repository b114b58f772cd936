/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mean.c - the mean of the messages: whoever adds sees every one of them.
 *
 * Made for rows that parties have solved (site = party). A mean of rows that lie in a ball lies in it,
 * so the solver's radius bounds what the others read, which a sum of rows would not.
 */
#include "adding.h"

static double scale(void *self, int64_t survivors)
{
    (void)self;
    return survivors > 0 ? 1.0 / (double)survivors : 0.0;
}

static const dpf_aggregator functions = {
    .sees = DPF_SEES_MESSAGES,
    .flags = DPF_AGGREGATOR_BY_ROWS | DPF_AGGREGATOR_ADDS,
    .absorb = adding_absorb,
    .merge = adding_merge,
    .scale = scale,
    ADDING_EXCHANGE,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_AGGREGATOR,
    .id = "mean",
    .version = "1.0.0",
    .summary = "Mean of the messages; the server sees each of them",
    .citation = "DPIMF (Ran, Ye, Huang, Hu), Algorithm 1: the parties' solved rows",
    .params = NULL,
    .n_params = 0,
    .param_stride = sizeof(dpf_param),
    .create = adding_create,
    .destroy = adding_destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mean", "1.0.0", "Apache-2.0", component)
