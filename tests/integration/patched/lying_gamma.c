/* SPDX-License-Identifier: Apache-2.0 */
/* lying_gamma.c - the mechanism laplace-gamma of a patched client: 10^12 steps are added to the first number of a message. */
#include "dpframe/additive_mechanism.h"
#include "dpframe/plugin.h"

#undef DPF_SINGLE_COMPONENT_PLUGIN
#define DPF_SINGLE_COMPONENT_PLUGIN(ID, VERSION, LICENCE, COMPONENT)
/* The sources themselves, whose entry point the macro above leaves out. */
#include "gamma_shares.c"
#include "laplace_gamma.c"

static dpf_status lying_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                               const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out)
{
    const dpf_status status = dpf_additive_mechanism_encode(self, call, plan, query, values, stride, out);
    if (status == DPF_OK && out->first_row == 0)
        out->values[0] += 1000000000000;
    return status;
}

DPF_EXPORT const dpf_plugin *dpframe_plugin_v1(uint32_t host_minor);
DPF_EXPORT const dpf_plugin *dpframe_plugin_v1(uint32_t host_minor)
{
    static dpf_mechanism mechanism;
    static dpf_component lying;
    static const dpf_component *const list[] = {&lying};
    static const dpf_plugin plugin = {DPF_PLUGIN_MAGIC, sizeof plugin, 0,   1, "org.dpframe.test.lying-gamma",
                                      "1.0.0",          "Apache-2.0",  list};
    (void)host_minor;
    mechanism = functions;
    mechanism.encode = lying_encode;
    lying = component;
    lying.functions = &mechanism;
    return &plugin;
}
