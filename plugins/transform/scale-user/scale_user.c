/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale_user.c - scales a user's whole message onto a sphere: m * C / |m|; see ../user-ball/user_ball.h.
 *
 * Clipping shortens the messages of active users and leaves those of light ones short, under noise for the
 * longest. Scaling lets every user say as much: the sum is then of directions, a weighted one, in which a
 * user's records count less the more the user has.
 */
#include "user_ball.h"

static const dpf_param params[USER_BALL_PARAMS] = USER_BALL_PARAM_TABLE("made equal to the bound");

static dpf_status create(const dpf_host *host, const dpf_params *values, void **self)
{
    return user_ball_new(host, values, 1, self);
}

DPF_COMPONENT(
    component, DPF_ROLE_TRANSFORM, user_ball_functions, .id = "scale-user", .version = "1.0.0",
    .summary =
        "Scales a user's whole message to a norm exactly, up or down: no noise is wasted on light users",
    .citation = "normalised gradients: Bu et al., Automatic clipping (NeurIPS 2023), for whole users",
    DPF_PARAMS(params), .create = create, .instance_bytes = sizeof(struct user_ball))

DPF_SINGLE_COMPONENT_PLUGIN("org.dpframe.scale-user", "1.0.0", "Apache-2.0", component)
