/* SPDX-License-Identifier: Apache-2.0 */
/* laplace.c - Laplace noise on every number of a query, whatever its layout. */
#include "laplace_noise.h"

static const dpf_mechanism functions = {
    .lifetime = laplace_lifetime,
    .budget = laplace_budget,
    .plan = laplace_plan,
    .events = laplace_events,
    .profile = laplace_profile,
    .encode = laplace_encode,
    .decode = laplace_decode,
};

static const dpf_component component = {
    .size = sizeof(dpf_component),
    .role = DPF_ROLE_MECHANISM,
    .id = "laplace",
    .version = "1.0.0",
    .summary = "Discrete Laplace noise on the grid, pure DP, with a budget share for each block",
    .citation = "Dwork, McSherry, Nissim, Smith, TCC 2006; Canonne, Kamath, Steinke, arXiv 2004.00010",
    .params = laplace_params,
    .n_params = LAPLACE_N_PARAMS,
    .param_stride = sizeof(dpf_param),
    .create = laplace_create,
    .destroy = laplace_destroy,
    .functions = &functions,
};

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.laplace", "1.0.0", "Apache-2.0", component)
