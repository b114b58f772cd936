/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sampler that lets every tenth user take part, as it states. With TEST_STOPS_IN = N it has the run interrupted in
 * round N, once it has drawn; with TEST_CROWD everybody then takes part.
 */
#include <signal.h>
#include <stdlib.h>

#include "stateless.h"

static int32_t lifetime(void *self)
{
    (void)self;
    return DPF_LIFETIME_ROUND;
}

static dpf_status prepare(void *self, const dpf_sampler_setup *setup)
{
    (void)self;
    (void)setup;
    return DPF_OK;
}

static dpf_status describe(void *self, dpf_sampling *out)
{
    (void)self;
    out->kind = DPF_SAMPLING_POISSON;
    out->unit = DPF_UNIT_USER;
    out->hidden_from = -1;
    out->rate = 0.1;
    out->weight_max = 1;
    return DPF_OK;
}

static dpf_status draw(void *self, const dpf_call *call, const dpf_draw *users, float *weights)
{
    const char *round = getenv("TEST_STOPS_IN");
    const int stops = round && atoi(round) == call->round + 1;
    (void)self;
    for (int64_t i = 0; i < users->n; i++)
        weights[i] = i % 10 == 0 || (stops && getenv("TEST_CROWD"));
    if (stops)
        raise(SIGINT);
    return DPF_OK;
}

static const dpf_sampler functions = {
    .level = DPF_LEVEL_PARTY, .lifetime = lifetime, .prepare = prepare, .describe = describe, .draw = draw};

STATELESS_PLUGIN(DPF_ROLE_SAMPLER, "test-crowded", NULL, 0, functions)
