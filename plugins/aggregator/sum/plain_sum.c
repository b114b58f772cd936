/* SPDX-License-Identifier: Apache-2.0 */
/* plain_sum.c - the plain sum: whoever adds sees every message. */
#include "adding.h"

static double scale(void *self, int64_t survivors)
{
    (void)self;
    (void)survivors;
    return 1.0;
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
    .id = "sum",
    .version = "1.0.0",
    .summary = "Plain sum of the messages; the server sees each of them",
    .citation = "",
    .params = NULL,
    .n_params = 0,
    .param_stride = sizeof(dpf_param),
    .create = adding_create,
    .destroy = adding_destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.sum", "1.0.0", "Apache-2.0", component)
