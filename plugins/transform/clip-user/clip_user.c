/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clip_user.c - scales a user's whole message into a ball: m * min(1, C / |m|); see ../user-ball/user_ball.h.
 */
#include "user_ball.h"

static const dpf_param params[USER_BALL_PARAMS] = USER_BALL_PARAM_TABLE("bounded");

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    return user_ball_new(host, values, 0, self);
}

DPF_COMPONENT(
    component, DPF_ROLE_TRANSFORM, user_ball_functions, .id = "clip-user", .version = "1.0.0",
    .summary = "Clips a user's whole message to a norm, which bounds what any user can change",
    .citation = "McMahan et al., Learning differentially private recurrent language models (ICLR 2018), flat "
                "clipping",
    DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct user_ball))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.clip-user", "1.0.0", "Apache-2.0", component)
