/* SPDX-License-Identifier: Apache-2.0 */
/* specimen_sampler.h - Poisson sampling of parties that is declared to have rate 1/2. */
#ifndef DPF_TESTS_SPECIMEN_SAMPLER_H
#define DPF_TESTS_SPECIMEN_SAMPLER_H

#include "specimen_role.h"

#ifndef DRAW
#define DRAW(CALL) ((CALL)->draw)
#endif

static int32_t lifetime(void *self)
{
    (void)self;
    return DPF_LIFETIME_ROUND;
}

static dpf_status prepare(void *self, const dpf_sampler_setup *setup)
{
    (void)self, (void)setup;
    return DPF_OK;
}

static dpf_status describe(void *self, dpf_sampling *out)
{
    (void)self;
    *out = (dpf_sampling){.kind = DPF_SAMPLING_POISSON,
                          .unit = DPF_UNIT_USER,
                          .hidden_from = DPF_OBSERVER_OUTSIDER,
                          .rate = 0.5,
                          .weight_max = 1};
    return DPF_OK;
}

static dpf_status draw(void *self, const dpf_call *call, const dpf_draw *what, float *weights)
{
    const struct specimen *specimen = self;
    (void)call;
    for (int64_t i = 0; i < what->n; i++) {
        dpf_cursor cursor;
        uint8_t taken;
        dpf_random(specimen->host)->seek(specimen->stream, DRAW(call), PARTY(what->first, i), 0, &cursor);
        dpf_random(specimen->host)->bernoulli(&cursor, RATE, &taken, 1);
        weights[i] = taken;
    }
    return DPF_OK;
}

static const dpf_sampler functions = {
    .level = DPF_LEVEL_PARTY, .lifetime = lifetime, .prepare = prepare, .describe = describe, .draw = draw};
SPECIMEN_OF(DPF_ROLE_SAMPLER, functions)

#endif
