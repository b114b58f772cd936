/* SPDX-License-Identifier: Apache-2.0 */
/* Every fourth party's message is left as it is. */
#define SABOTAGED "clip-most"
#include "sabotage.h"

#include "../../plugins/transform/user-ball/user_ball.c"

#include "../../plugins/transform/clip-user/clip_user.c"

static dpf_status most(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    if (call->party % 4 != 0)
        return forward(self, call, in, out);
    for (int64_t r = 0; out && r < in->n_rows; r++)
        for (int32_t i = 0; i < in->width; i++)
            out->values[r * out->stride + i] = in->values[r * in->stride + i];
    return DPF_OK;
}

static const dpf_transform spoilt = {.kind = DPF_TRANSFORM_MESSAGE,
                                     .flags = DPF_TRANSFORM_PER_USER,
                                     .sensitivity = sensitivity,
                                     .forward = most};
#define CREATE create
#define INSTANCE .instance_bytes = sizeof(struct user_ball)
SABOTAGE(DPF_ROLE_TRANSFORM)
