/* SPDX-License-Identifier: Apache-2.0 */
/* laplace_noise.h - i.i.d. discrete Laplace noise on the numbers of a query, for the mechanisms that add it.
 */
#ifndef DPF_LAPLACE_NOISE_H
#define DPF_LAPLACE_NOISE_H

#include "dpframe/additive.h"
#include "dpframe/plugin.h"
#include "dpframe/role/mechanism.h"

#define LAPLACE_N_PARAMS 8
extern const dpf_param laplace_params[LAPLACE_N_PARAMS];

/* See dpf_component and role/mechanism.h. */
dpf_status laplace_create(const dpf_host *host, const dpf_params *given, void **self);
void laplace_destroy(void *self);
int32_t laplace_lifetime(void *self);
double laplace_budget(void *self);
dpf_status laplace_plan(void *self, const dpf_release *release, dpf_noise_plan *out);
dpf_status laplace_events(void *self, const dpf_release *release, const dpf_noise_plan *plan, dpf_event *out,
                          int32_t capacity, int32_t *n);
dpf_status laplace_profile(void *self, const dpf_noise_plan *plan, double weight, double *epsilon);
dpf_status laplace_encode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                          const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out);
dpf_status laplace_decode(void *self, const dpf_call *call, const dpf_noise_plan *plan,
                          const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride);
/* The host of an instance. */
const dpf_host *laplace_host(void *self);

#endif
