/* SPDX-License-Identifier: Apache-2.0 */
/* The transform "clip-user", which bounds what a user sends, with one fault each. */
#include "faults.h"

#include "../../plugins/transform/user-ball/user_ball.c"

#include "../../plugins/transform/clip-user/clip_user.c"

static dpf_status as_it_is(const dpf_message *in, dpf_message *out)
{
    for (int64_t r = 0; out && r < in->n_rows; r++)
        for (int32_t i = 0; i < in->width; i++)
            out->values[r * out->stride + i] = in->values[r * in->stride + i];
    return DPF_OK;
}

/* One user of fifty is not clipped. */
static dpf_status one_user(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    return call->party % 50 == 49 ? as_it_is(in, out) : forward(self, call, in, out);
}

/* Nobody is clipped from the second round on. */
static dpf_status first_round(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    return call->round > 0 ? as_it_is(in, out) : forward(self, call, in, out);
}

/* Messages are clipped to twice the bound. */
static dpf_status twice(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    struct user_ball wider = *(const struct user_ball *)self;
    wider.bound *= 2;
    return forward(&wider, call, in, out);
}

/* Each row is clipped by itself. */
static dpf_status by_row(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    dpf_status status = DPF_OK;
    for (int64_t r = 0; r < in->n_rows && status == DPF_OK; r++) {
        dpf_message one = *in, to = *out;
        one.n_rows = to.n_rows = 1;
        one.values += r * in->stride;
        to.values += r * out->stride;
        one.rows = to.rows = NULL;
        one.first_row = to.first_row = in->rows ? in->rows[r] : in->first_row + r;
        status = forward(self, call, &one, &to);
    }
    return status;
}

/* Messages with a number below 0 are left as they are. */
static dpf_status by_sign(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    int any = 0;
    for (int64_t r = 0; r < in->n_rows; r++)
        for (int32_t i = 0; i < in->width; i++)
            any |= in->values[r * in->stride + i] < 0;
    return any ? as_it_is(in, out) : forward(self, call, in, out);
}

/* What is clipped gets a number beside it, of the user's own length before. */
static dpf_status tells_length(void *self, const dpf_call *call, const dpf_message *in, dpf_message *out)
{
    double square = 0;
    for (int64_t r = 0; r < in->n_rows; r++)
        for (int32_t i = 0; i < in->width; i++)
            square += in->values[r * in->stride + i] * in->values[r * in->stride + i];
    const dpf_status status = forward(self, call, in, out);
    if (status == DPF_OK && in->n_rows)
        out->values[0] += sqrt(square);
    return status;
}

/* Half of what a user can change is stated. */
static dpf_status half_of_it(void *self, const dpf_query *query, int64_t rows_in, dpf_sensitivity *blocks,
                             dpf_sensitivity *gram, const dpf_joint_norms *before, dpf_joint_norms *after)
{
    const dpf_status status = sensitivity(self, query, rows_in, blocks, gram, before, after);
    for (int32_t b = 0; status == DPF_OK && b < query->n_blocks; b++)
        for (int32_t a = 0; a < DPF_N_ADJACENCIES; a++) {
            blocks[b].at[DPF_UNIT_USER][a].l1 /= 2;
            blocks[b].at[DPF_UNIT_USER][a].l2 /= 2;
            blocks[b].at[DPF_UNIT_USER][a].linf /= 2;
        }
    after->n = 0;
    return status;
}

#define TRANSFORM(FORWARD, SENSITIVITY)                                                                      \
    {                                                                                                        \
        .kind = DPF_TRANSFORM_MESSAGE, .flags = DPF_TRANSFORM_PER_USER, .sensitivity = (SENSITIVITY),        \
        .forward = (FORWARD)                                                                                 \
    }
static const dpf_transform tables[] = {TRANSFORM(one_user, sensitivity), TRANSFORM(first_round, sensitivity),
                                       TRANSFORM(twice, sensitivity),    TRANSFORM(by_row, sensitivity),
                                       TRANSFORM(by_sign, sensitivity),  TRANSFORM(tells_length, sensitivity),
                                       TRANSFORM(forward, half_of_it)};
#define SPOILT(NAME, I)                                                                                      \
    FAULT_COMPONENT(NAME, DPF_ROLE_TRANSFORM, &tables[I], params, USER_BALL_PARAMS, create,                  \
                    sizeof(struct user_ball))
static const dpf_component faults[] = {SPOILT("clip-not-one-user", 0), SPOILT("clip-first-round", 1),
                                       SPOILT("clip-twice", 2),        SPOILT("clip-by-row", 3),
                                       SPOILT("clip-by-sign", 4),      SPOILT("clip-tells-length", 5),
                                       SPOILT("clip-half-stated", 6)};
SEVEN_FAULTS("transform")
