/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_calls.h - the engine's only calls of encode, decode and draw, and who looks on.
 *
 * While nobody looks they call the component and do nothing else. An observer is told of what was encoded,
 * decoded and drawn; the engine then keeps sums without noise and passes by no message.
 */
#ifndef DPF_ENGINE_NOISE_CALLS_H
#define DPF_ENGINE_NOISE_CALLS_H

#include "engine/step.h"

/* As dpf_mechanism.encode and decode, and dpf_sampler.draw, of the term's components. */
dpf_status noise_encode(struct engine *engine, struct term_run *term, const dpf_call *call,
                        const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out);
dpf_status noise_decode(struct engine *engine, struct term_run *term, const dpf_call *call,
                        const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride);
dpf_status noise_draw(struct engine *engine, struct term_run *term, const dpf_call *call,
                      const dpf_draw *draw, float *weights);

#endif
