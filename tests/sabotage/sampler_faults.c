/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler "poisson-users", whose rate amplifies, with one fault each. */
#include "faults.h"

#include "../../plugins/sampler/poisson-users/poisson_users.c"

static dpf_status draw_and(void *self, const dpf_call *call, const dpf_draw *draw, float *weights,
                           float (*change)(const struct poisson *poisson, const dpf_call *call, int64_t i,
                                           int64_t unit, float weight))
{
    const dpf_status status = poisson_draw(self, call, draw, weights);
    for (int64_t i = 0; status == DPF_OK && i < draw->n; i++)
        weights[i] = change(self, call, i, draw->first + i, weights[i]);
    return status;
}

/* Everybody takes part. */
static float everybody(const struct poisson *poisson, const dpf_call *call, int64_t i, int64_t unit,
                       float weight)
{
    (void)call, (void)i, (void)unit, (void)weight;
    return poisson->weight;
}

/* Who takes part counts three times. */
static float heavier(const struct poisson *poisson, const dpf_call *call, int64_t i, int64_t unit,
                     float weight)
{
    (void)poisson, (void)call, (void)i, (void)unit;
    return 3 * weight;
}

/* One user of fifty always takes part. */
static float one_user(const struct poisson *poisson, const dpf_call *call, int64_t i, int64_t unit,
                      float weight)
{
    (void)call, (void)i;
    return unit % 50 == 49 ? poisson->weight : weight;
}

/* A weight is no number. */
static float no_number(const struct poisson *poisson, const dpf_call *call, int64_t i, int64_t unit,
                       float weight)
{
    (void)poisson, (void)i;
    return unit == 7 && call->draw == 1 ? (float)__builtin_nanf("") : weight;
}

#define DRAW(NAME, CHANGE)                                                                                   \
    static dpf_status NAME(void *self, const dpf_call *call, const dpf_draw *draw, float *weights)           \
    {                                                                                                        \
        return draw_and(self, call, draw, weights, CHANGE);                                                  \
    }
DRAW(draws_everybody, everybody)
DRAW(draws_heavier, heavier)
DRAW(draws_one_user, one_user)
DRAW(draws_no_number, no_number)

/* The first draw is used in all rounds. */
static dpf_status draws_again(void *self, const dpf_call *call, const dpf_draw *draw, float *weights)
{
    dpf_call first = *call;
    first.draw = 0;
    return poisson_draw(self, &first, draw, weights);
}

/* Two users share a coin: who sees that one takes part knows it of the other. */
static dpf_status draws_in_pairs(void *self, const dpf_call *call, const dpf_draw *draw, float *weights)
{
    dpf_status status = DPF_OK;
    for (int64_t i = 0; i < draw->n && status == DPF_OK; i++) {
        dpf_draw one = *draw;
        one.first = draw->first + i;
        one.first -= one.first % 2;
        one.n = 1;
        status = poisson_draw(self, call, &one, weights + i);
    }
    return status;
}

/* It states that nobody is in two rounds of a row. */
static dpf_status describes_apart(void *self, dpf_sampling *out)
{
    const dpf_status status = poisson_describe(self, out);
    out->kind = DPF_SAMPLING_CYCLIC;
    out->hidden_from = -1;
    out->separation = 2;
    return status;
}

#define SAMPLER(DRAW, DESCRIBE)                                                                              \
    {                                                                                                        \
        .level = DPF_LEVEL_PARTY, .describe = (DESCRIBE), .draw = (DRAW)                                     \
    }
static const dpf_sampler tables[] = {
    SAMPLER(draws_everybody, poisson_describe), SAMPLER(draws_heavier, poisson_describe),
    SAMPLER(draws_one_user, poisson_describe),  SAMPLER(draws_no_number, poisson_describe),
    SAMPLER(draws_again, poisson_describe),     SAMPLER(draws_in_pairs, poisson_describe),
    SAMPLER(poisson_draw, describes_apart)};
#define SPOILT(NAME, I)                                                                                      \
    FAULT_COMPONENT(NAME, DPF_ROLE_SAMPLER, &tables[I], params, P_COUNT, poisson_create,                     \
                    sizeof(struct poisson))
static const dpf_component faults[] = {SPOILT("draws-everybody", 0), SPOILT("draws-heavier", 1),
                                       SPOILT("draws-one-user", 2),  SPOILT("draws-no-number", 3),
                                       SPOILT("draws-again", 4),     SPOILT("draws-in-pairs", 5),
                                       SPOILT("draws-too-soon", 6)};
SEVEN_FAULTS("sampler")
