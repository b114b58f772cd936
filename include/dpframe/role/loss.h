/* SPDX-License-Identifier: Apache-2.0 */
/*
 * role/loss.h - loss constructors: records and the other side's factors in, a query out.
 *
 * A loss defines three things: the blocks of its query, their sensitivities in terms of public bounds,
 * and the sum of the records' contributions. It does not know who holds the records, whether noise
 * follows, or how rows are solved.
 */
#ifndef DPFRAME_ROLE_LOSS_H
#define DPFRAME_ROLE_LOSS_H

#include "../host.h"
#include "../privacy.h"
#include "../query.h"
#include "../utility.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DPF_ROLE_LOSS "dpframe.loss/1"

/*
 * The model around a side. A factor row has `columns` numbers and a prediction is
 * offset + <user row, item row>. Of each row, columns first .. first + dimension - 1 are unknown, the
 * others are constant 1 (they pair with the other side's bias). Without biases all are unknown.
 */
typedef struct dpf_side_info {
    uint32_t size;
    int32_t side;
    int64_t n_self;
    int64_t n_other;
    int32_t columns;
    int32_t first;
    int32_t dimension;
    int32_t bias;        /* column of this side's bias, or -1 */
    uint32_t layout;     /* DPF_LAYOUT_* that quadratic blocks must have */
    int32_t is_released; /* 1 if the query will go through a mechanism */
} dpf_side_info;

/* Flags. */
/* A record's contribution is a sum of two parts: one reads only the row that is solved, the other only the
   other row, and each is 0 where its row is 0. Friends can then send their part alone. */
#define DPF_LOSS_SEPARABLE UINT32_C(1)
/* It predicts without an offset: the host refuses [model] offset. */
#define DPF_LOSS_NO_OFFSET UINT32_C(2)
/* It sums over links between users, of a weight from 0 to 1: the host refuses records. */
#define DPF_LOSS_LINKS UINT32_C(4)
/* Rows without records are 0: what cells without a record add is in the Gram row alone. Says so where the query's support is
   DPF_SUPPORT_DENSE, so that the host need not make these rows; where there is no Gram row they are 0, too. */
#define DPF_LOSS_ZERO_WITHOUT_RECORDS UINT32_C(8)

typedef struct dpf_loss {
    uint32_t layouts; /* DPF_LAYOUT_* that it can write, combined by |; 0 for gradients */
    uint32_t flags;   /* DPF_LOSS_* */

    /*
     * [setup, required] Describes the blocks for this side. Called once for each side and layout that uses
     * the instance. The Gram row of a query in layout OPERATOR has the layout of the same side's query in
     * FULL.
     */
    dpf_status (*query)(void *self, const dpf_side_info *info, dpf_query *out);

    /*
     * [setup, required] Sensitivity of each block (n_blocks entries), and of each block of the Gram row
     * (ignored without one), under the bounds. Entries arrive as NaN; leave them NaN unless you can prove a
     * bound. joint arrives empty: add bounds on several blocks together where they say more than the single
     * blocks' bounds.
     */
    dpf_status (*sensitivity)(void *self, const dpf_query *query, const dpf_bounds *bounds,
                              dpf_sensitivity *blocks, dpf_sensitivity *gram, dpf_joint_norms *joint);

    /*
     * [run, optional] Adds to out (width numbers) the part of the Gram row that comes from the other side's
     * rows first .. first+count-1. NULL if the query has no Gram row.
     */
    dpf_status (*gram)(void *self, const dpf_call *call, const dpf_query *query, const dpf_factors *other,
                       int64_t first, int64_t count, double *out);

    /*
     * [run, required] Writes the blocks of each group: out[g * stride + 0 .. width-1] (overwritten). Round
     * each record's contribution to a coordinate of block b to a multiple of grid[b] with dpf_on_grid before
     * adding it (grid NULL: do not round), so that sums do not depend on their order.
     */
    dpf_status (*accumulate)(void *self, const dpf_call *call, const dpf_query *query,
                             const dpf_groups *groups, const double *grid, double *out, int64_t stride);

    /*
     * [run, optional] The same in float32 without a grid, for sides that are not released; NULL: the host
     * uses accumulate. stride is a multiple of 16 and out is 64-byte aligned.
     */
    dpf_status (*accumulate_local)(void *self, const dpf_call *call, const dpf_query *query,
                                   const dpf_groups *groups, float *out, int64_t stride);

    /*
     * [run, optional] Operator form, for solvers that only multiply by A: out[g] = A_g x[g], d numbers for
     * each group, where A_g is the quadratic block that accumulate_local would write, without ridge and Gram
     * row. It costs O(records d) instead of O(records d^2). query has layout
     * OPERATOR; strides are multiples of 16, x and out are 64-byte aligned and their padding is zero. NULL
     * unless layouts has DPF_LAYOUT_OPERATOR.
     */
    dpf_status (*apply)(void *self, const dpf_call *call, const dpf_query *query, const dpf_groups *groups,
                        const float *x, int64_t x_stride, float *out, int64_t out_stride);
    /*
     * [run, optional] The same as accumulate, for sums of users' messages that are each multiplied by a
     * factor, without the messages: each record's contribution to a coordinate of block b, in float64 and
     * exactly as accumulate computes it for that record alone, times factors[row of the other side], is
     * rounded to the nearest multiple of grid[b] (ties to even), and the multiples are added as integers: out
     * is in grid steps, overwritten. Leave out records whose factor is 0, whatever their values. The host
     * calls it only where every product lies within 2^50 steps. NULL: messages are made one by one.
     */
    dpf_status (*accumulate_scaled)(void *self, const dpf_call *call, const dpf_query *query,
                                    const dpf_groups *groups, const double *factors, const double *grid,
                                    int64_t *out, int64_t stride);
    /*
     * [setup, optional] What is proved about the error of a release; NULL: nothing. Called twice. First with
     * n_numbers 0: adds the numbers that go in, with the plan's values; none where its theorem is not about
     * this release. Then with values that the command line may have changed, within their ranges: adds bounds
     * and notes, and sets source, title and error.
     */
    dpf_status (*utility)(void *self, const dpf_utility_setup *setup, dpf_utility *report);
    /* NULL. A later minor may name a slot; what it names is optional. */
    void (*reserved_slots[2])(void);
} dpf_loss;

#ifdef __cplusplus
}
#endif
#endif
