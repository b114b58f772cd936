/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observed.h - a training while somebody looks on (seen/seen.h).
 *
 * Sums without noise are kept in float64 by row from what parties encode, on one worker. How large the noise of a
 * number should be follows from the noise plan and the messages that it is in, by plan_noise_part alone.
 */
#ifndef DPF_ENGINE_OBSERVED_H
#define DPF_ENGINE_OBSERVED_H

#include "engine/step.h"
#include "seen/seen.h"

/* Lets the observer look on (NULL: nobody); an error if the pool has more than one worker. */
int observed_open(struct engine *engine, const struct observer *observer, struct dpf_error *error);
void observed_close(struct engine *engine);

/* In the place of the calls that noise_calls.c makes. */
dpf_status observed_encode(struct engine *engine, struct term_run *term, const dpf_call *call,
                           const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out);
dpf_status observed_decode(struct engine *engine, struct term_run *term, const dpf_call *call,
                           const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride);
dpf_status observed_draw(struct engine *engine, struct term_run *term, const dpf_call *call,
                         const dpf_draw *draw, float *weights);

#endif
