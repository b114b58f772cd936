/* SPDX-License-Identifier: Apache-2.0 */
/* instance.h - parts of instances that the conformance kit reads. */
#ifndef DPF_PLUGIN_INSTANCE_H
#define DPF_PLUGIN_INSTANCE_H

#include "plugin/registry.h"
#include "plugin/services.h"

/* Blocks of memory that the component holds. */
int64_t instance_blocks(const struct instance *instance);
/* As instance_free; returns how many blocks the component did not give back. */
int64_t instance_end(struct instance *instance);

#endif
