/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/observed.h"

dpf_status noise_encode(struct engine *engine, struct term_run *term, const dpf_call *call,
                        const dpf_query *query, const double *values, int64_t stride, dpf_encoded *out)
{
    return engine->observed ? observed_encode(engine, term, call, query, values, stride, out)
                            : term->mechanism->encode(term->plan->mechanism->self, call, &term->noise, query,
                                                      values, stride, out);
}

dpf_status noise_decode(struct engine *engine, struct term_run *term, const dpf_call *call,
                        const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride)
{
    return engine->observed ? observed_decode(engine, term, call, query, sums, out, stride)
                            : term->mechanism->decode(term->plan->mechanism->self, call, &term->noise, query,
                                                      sums, out, stride);
}

dpf_status noise_draw(struct engine *engine, struct term_run *term, const dpf_call *call,
                      const dpf_draw *draw, float *weights)
{
    return engine->observed ? observed_draw(engine, term, call, draw, weights)
                            : term->sampler->draw(term->plan->sampler->self, call, draw, weights);
}
