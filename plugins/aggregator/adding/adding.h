/* SPDX-License-Identifier: Apache-2.0 */
/* adding.h - what aggregators that add the parties' integers in the open share. */
#ifndef DPF_ADDING_H
#define DPF_ADDING_H

#include "dpframe/dpframe.h"

/* See role/aggregator.h and dpf_component. */
dpf_status adding_create(const dpf_host *host, const dpf_params *values, void **self);
void adding_destroy(void *self);
dpf_status adding_absorb(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_encoded *message);
dpf_status adding_merge(void *self, const dpf_call *call, dpf_aggregation *into, const dpf_aggregation *from);

#endif
