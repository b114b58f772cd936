/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor.h - checks a plugin's constant data before the host uses any of it.
 *
 * Faults are DPF_FAULT_PLUGIN; path names the file in messages. The checks go from the outside in:
 * each relies on the ones before it.
 */
#ifndef DPF_PLUGIN_DESCRIPTOR_H
#define DPF_PLUGIN_DESCRIPTOR_H

#include "base/error.h"
#include "dpframe/dpframe.h"

/* Everything below. */
int descriptor_check(const dpf_plugin *plugin, const char *path, struct dpf_error *error);

/* Magic, size, ABI minor, identity, and that there are components. */
int descriptor_check_plugin(const dpf_plugin *plugin, const char *path, struct dpf_error *error);
/* Size, role, identity, functions. */
int descriptor_check_component(const dpf_component *component, const char *path, struct dpf_error *error);
/* The parameter table. */
int descriptor_check_params(const dpf_component *component, const char *path, struct dpf_error *error);
/* No role and id twice in one plugin. */
int descriptor_check_unique(const dpf_plugin *plugin, const char *path, struct dpf_error *error);

/* Bytes of an instance that the host makes; 0: create does. */
uint64_t descriptor_instance_bytes(const dpf_component *component);
/* Parameter i of a component, by its stride. */
const dpf_param *descriptor_param(const dpf_component *component, uint32_t i);

#endif
