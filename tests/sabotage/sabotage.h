/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sabotage.h - a component of the tree with one function spoilt, as a plugin of its own.
 *
 * A file defines SABOTAGED, the id of its component, includes this, then the component's source, and then
 * defines `spoilt`, a copy of the function table with other functions in it, and SABOTAGE(role).
 * tests/sabotage is told which checks have to notice.
 */
#ifndef DPF_TESTS_SABOTAGE_H
#define DPF_TESTS_SABOTAGE_H

#include "dpframe/dpframe.h"

/* The component's own entry point is left out. */
#undef DPF_SINGLE_COMPONENT_PLUGIN
#define DPF_SINGLE_COMPONENT_PLUGIN(ID, VERSION, LICENCE, COMPONENT)

#define SABOTAGE(ROLE)                                                                                       \
    static const dpf_component spoilt_component = {.size = sizeof(dpf_component),                            \
                                                   .role = ROLE,                                             \
                                                   .id = SABOTAGED,                                          \
                                                   .version = "1.0.0",                                       \
                                                   .summary = "Spoilt on purpose",                           \
                                                   .citation = "none",                                       \
                                                   .params = params,                                         \
                                                   .n_params = sizeof params / sizeof params[0],             \
                                                   .param_stride = sizeof(dpf_param),                        \
                                                   .create = CREATE,                                         \
                                                   INSTANCE,                                                 \
                                                   .functions = &spoilt};                                    \
    static const dpf_component *const spoilt_list[] = {&component, &spoilt_component};                       \
    static const dpf_plugin spoilt_plugin = {                                                                \
        DPF_PLUGIN_MAGIC, sizeof(dpf_plugin), 0, 1, "org.dpframe.test." SABOTAGED, "1.0.0",                  \
        "Apache-2.0",     &spoilt_list[1]};                                                                  \
    DPF_PLUGIN_ENTRY(spoilt_plugin)

#endif
