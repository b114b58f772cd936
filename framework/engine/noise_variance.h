/* SPDX-License-Identifier: Apache-2.0 */
/* noise_variance.h - the variance of the noise in a solver's blocks (dpf_solve.noise_variance). */
#ifndef DPF_ENGINE_NOISE_VARIANCE_H
#define DPF_ENGINE_NOISE_VARIANCE_H

#include "engine/step.h"

/*
 * By what a decoded sum of that many messages, times scale, multiplies the variances of the term's noise
 * plan, which are those of the sum of all senders' messages.
 */
double noise_variance_factor(const struct engine *engine, const struct term_run *term, int64_t messages,
                             double scale);
/* Fills in the side's variances from its terms' factors; after the terms were released, before rows are
 * solved. */
int noise_variance_fill(struct engine *engine, int side, struct dpf_error *error);

#endif
