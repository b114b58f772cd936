/* SPDX-License-Identifier: Apache-2.0 */
/* The loss "squared-error", whose gradients are bounded by clip-error and the other side's rows, with one fault each. */
#include "faults.h"

#include "../../plugins/loss/squared-error/squared_error.c"

/* Numbers of group g times factor(group). */
static dpf_status scaled(void *self, const dpf_call *call, const dpf_query *query_, const dpf_groups *groups,
                         const double *grid, double *out, int64_t stride,
                         double (*factor)(const dpf_call *call, const dpf_groups *groups, int64_t g))
{
    const dpf_status status = accumulate(self, call, query_, groups, grid, out, stride);
    for (int64_t g = 0; status == DPF_OK && g < groups->n_groups; g++) {
        const double times = factor(call, groups, g);
        for (int32_t i = 0; i < query_->width; i++)
            out[g * stride + i] *= times;
    }
    return status;
}

/* Every record counts twice. */
static double two(const dpf_call *call, const dpf_groups *groups, int64_t g)
{
    (void)call, (void)groups, (void)g;
    return 2;
}

/* Records of one row of ten count four times. */
static double one_row(const dpf_call *call, const dpf_groups *groups, int64_t g)
{
    (void)call;
    return groups->rows[g] % 10 == 7 ? 4 : 1;
}

/* Records of one user of fifty count four times: of the other side's row 49. */
static double one_other(const dpf_call *call, const dpf_groups *groups, int64_t g)
{
    (void)call;
    for (int64_t i = groups->offsets[g]; i < groups->offsets[g + 1]; i++)
        if (groups->others[i] % 50 == 49)
            return 4;
    return 1;
}

/* Records of one value count four times: the least. */
static double one_value(const dpf_call *call, const dpf_groups *groups, int64_t g)
{
    (void)call;
    for (int64_t i = groups->offsets[g]; i < groups->offsets[g + 1]; i++)
        if (groups->values && groups->values[i] <= 1)
            return 4;
    return 1;
}

/* All count four times from the second round on. */
static double later(const dpf_call *call, const dpf_groups *groups, int64_t g)
{
    (void)groups, (void)g;
    return call->round > 0 ? 4 : 1;
}

#define SCALED(NAME, FACTOR)                                                                                 \
    static dpf_status NAME(void *self, const dpf_call *call, const dpf_query *query_,                        \
                           const dpf_groups *groups, const double *grid, double *out, int64_t stride)        \
    {                                                                                                        \
        return scaled(self, call, query_, groups, grid, out, stride, FACTOR);                                \
    }
SCALED(counts_twice, two)
SCALED(counts_one_row, one_row)
SCALED(counts_one_other, one_other)
SCALED(counts_one_value, one_value)
SCALED(counts_later, later)

/* Errors are clipped to three times what is stated. */
static dpf_status clips_late(void *self, const dpf_call *call, const dpf_query *query_,
                             const dpf_groups *groups, const double *grid, double *out, int64_t stride)
{
    struct squared_error wider = *(const struct squared_error *)self;
    wider.clip *= 3;
    return accumulate(&wider, call, query_, groups, grid, out, stride);
}

/* Half of what a record can change is stated. */
static dpf_status half(void *self, const dpf_query *query_, const dpf_bounds *bounds, dpf_sensitivity *blocks,
                       dpf_sensitivity *gram, dpf_joint_norms *joint)
{
    const dpf_status status = squared_error_sensitivity(self, query_, bounds, blocks, gram, joint);
    for (int32_t u = 0; status == DPF_OK && u < DPF_N_UNITS; u++)
        for (int32_t a = 0; a < DPF_N_ADJACENCIES; a++) {
            blocks[0].at[u][a].l1 /= 2;
            blocks[0].at[u][a].l2 /= 2;
            blocks[0].at[u][a].linf /= 2;
        }
    return status;
}

#define LOSS(ACCUMULATE, SENSITIVITY)                                                                        \
    {                                                                                                        \
        .query = query, .sensitivity = (SENSITIVITY), .accumulate = (ACCUMULATE),                            \
        .accumulate_local = accumulate_local                                                                 \
    }
static const dpf_loss tables[] = {LOSS(counts_twice, squared_error_sensitivity),
                                  LOSS(counts_one_row, squared_error_sensitivity),
                                  LOSS(counts_one_other, squared_error_sensitivity),
                                  LOSS(counts_one_value, squared_error_sensitivity),
                                  LOSS(counts_later, squared_error_sensitivity),
                                  LOSS(clips_late, squared_error_sensitivity),
                                  LOSS(accumulate, half)};
#define SPOILT(NAME, I)                                                                                      \
    FAULT_COMPONENT(NAME, DPF_ROLE_LOSS, &tables[I], params, P_COUNT, create, sizeof(struct squared_error),  \
                    .destroy = destroy)
static const dpf_component faults[] = {SPOILT("loss-twice", 0),      SPOILT("loss-one-row", 1),
                                       SPOILT("loss-one-user", 2),   SPOILT("loss-one-value", 3),
                                       SPOILT("loss-later", 4),      SPOILT("loss-clips-late", 5),
                                       SPOILT("loss-half-stated", 6)};
SEVEN_FAULTS("loss")
