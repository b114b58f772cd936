/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cyclic_users.c - users are divided into groups, and the groups take turns, one a round.
 *
 * What it is good for, privately: in any `groups` rounds in a row a user takes part once at most, so a user
 * is in ceil(rounds / groups) releases, and noise that is correlated over as many rounds as there are groups
 * protects each of them as if it was the only one (Choquette-Choo et al., arXiv 2306.08153, section 3:
 * b-min-separation).
 *
 * The group of a user is floor(groups key / 2^64), and the key follows from the seed and the user's own id
 * alone. So nobody else's group changes when a user comes or goes; groups have about the same size, not
 * exactly. Groups are as public as the seed: nothing is amplified.
 */
#include "dpframe/plugin.h"
#include "dpframe/role/sampler.h"

enum { P_GROUPS, P_COUNT };

static const dpf_param params[P_COUNT] = {
    [P_GROUPS] = DPF_PARAM_INT_F("groups", 10, 1, 16384, DPF_PARAM_PRIVACY, "",
                                 "Number of groups of users. A user takes part once in this many rounds."),
};

struct cyclic {
    int64_t groups;
};

static dpf_status cyclic_create(const dpf_host *host, const dpf_params *given, void **self)
{
    (void)host;
    struct cyclic *cyclic = *self;
    cyclic->groups = given->values[P_GROUPS].integer;
    return DPF_OK;
}

static dpf_status cyclic_describe(void *self, dpf_sampling *out)
{
    const struct cyclic *cyclic = self;
    out->kind = DPF_SAMPLING_CYCLIC;
    out->unit = DPF_UNIT_USER;
    out->hidden_from = -1;
    out->rate = 1.0 / (double)cyclic->groups;
    out->weight_max = 1.0;
    out->separation = cyclic->groups;
    return DPF_OK;
}

static dpf_status cyclic_draw(void *self, const dpf_call *call, const dpf_draw *draw, float *weights)
{
    const struct cyclic *cyclic = self;
    __extension__ typedef unsigned __int128 wide;
    if (draw->level != DPF_LEVEL_PARTY || draw->size < offsetof(dpf_draw, keys) + sizeof draw->keys ||
        !draw->keys)
        return call->host->fail(call->host, DPF_E_UNSUPPORTED, -1,
                                "cyclic-users divides users by their ids; it draws no records, and no silos");
    const int64_t turn = call->draw % cyclic->groups;
    for (int64_t i = 0; i < draw->n; i++)
        weights[i] = (int64_t)((wide)draw->keys[i] * (uint64_t)cyclic->groups >> 64) == turn;
    return DPF_OK;
}

static const dpf_sampler functions = {
    .level = DPF_LEVEL_PARTY,
    .describe = cyclic_describe,
    .draw = cyclic_draw,
};

DPF_COMPONENT(component, DPF_ROLE_SAMPLER, functions, .id = "cyclic-users", .version = "1.0.0",
              .summary = "Users in groups by their ids; the groups take turns, one a round",
              .citation = "Choquette-Choo et al., arXiv 2306.08153, section 3", DPF_PARAMS(params),
              .create = cyclic_create, .instance_bytes = sizeof(struct cyclic))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.sampler.cyclic-users", "1.0.0", "Apache-2.0", component)
