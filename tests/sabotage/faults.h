/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - one plugin of several components, each a component of the tree with one fault of its own.
 *
 * A file includes this, then the component's source, and defines a function table for each fault, `faults` of
 * FAULT_COMPONENT, and SEVEN_FAULTS. docs/sabotage.md has the table of who notices.
 */
#ifndef DPF_TESTS_FAULTS_H
#define DPF_TESTS_FAULTS_H

#include "dpframe/dpframe.h"

/* The component's own entry point is left out. */
#undef DPF_SINGLE_COMPONENT_PLUGIN
#define DPF_SINGLE_COMPONENT_PLUGIN(ID, VERSION, LICENCE, COMPONENT)

#define FAULT_COMPONENT(NAME, ROLE, TABLE, PARAMS, N_PARAMS, CREATE, ...)                                    \
    {                                                                                                        \
        .size = sizeof(dpf_component), .role = (ROLE), .id = (NAME), .version = "1.0.0",                     \
        .summary = "Spoilt on purpose", .citation = "none", .params = (PARAMS), .n_params = (N_PARAMS),      \
        .param_stride = sizeof(dpf_param), .create = (CREATE), .functions = (TABLE),                         \
        .instance_bytes = __VA_ARGS__                                                                        \
    }

/* The plugin of faults[0 .. 6]; `component` is the sound one, which is not offered. */
#define SEVEN_FAULTS(ID)                                                                                     \
    static const dpf_component *const list[] = {&component, &faults[0], &faults[1], &faults[2],              \
                                                &faults[3], &faults[4], &faults[5], &faults[6]};             \
    static const dpf_plugin                                                                                  \
        plugin = {DPF_PLUGIN_MAGIC, sizeof(dpf_plugin), 0,       7, "org.dpframe.test." ID,                  \
                  "1.0.0",          "Apache-2.0",       &list[1]};                                           \
    DPF_PLUGIN_ENTRY(plugin)

#endif
