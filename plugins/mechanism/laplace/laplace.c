/* SPDX-License-Identifier: Apache-2.0 */
/* laplace.c - Laplace noise on every number of a query, whatever its layout. */
#include "laplace_noise.h"

static const dpf_additive_mechanism laplace = {LAPLACE_NOISE};

DPF_ADDITIVE_COMPONENT(
    component, laplace, dpf_additive_pure_functions, .id = "laplace", .version = "1.0.0",
    .summary = "Discrete Laplace noise on the grid, pure DP, with a budget share for each block",
    .citation = "Dwork, McSherry, Nissim, Smith, TCC 2006; Canonne, Kamath, Steinke, arXiv 2004.00010",
    DPF_PARAMS(laplace_params))
DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.mechanism.laplace", "1.0.0", "Apache-2.0", component)
