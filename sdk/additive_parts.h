/* SPDX-License-Identifier: Apache-2.0 */
/* additive_parts.h - what the sources of joint.h, additive.h and additive_mechanism.h share, and authors do not need. */
#ifndef ADDITIVE_PARTS_H
#define ADDITIVE_PARTS_H

#include "dpframe/additive_mechanism.h"

/* The words of dpf_noise_plan.opaque, which a plan keeps for the run. */
enum {
    DPF_ADDITIVE_KEEPS_LIMIT,  /* double: the largest size of a message, in grid steps */
    DPF_ADDITIVE_KEEPS_FACTOR, /* double: dpf_release.noise_factor */
    DPF_ADDITIVE_KEEPS_PARTS,  /* t, of noise in shares; else 1 */
    DPF_ADDITIVE_KEEPS_STEPS, /* of shares whose variances add up: dpf_additive.steps; without shares, changes */
    DPF_ADDITIVE_KEEPS_CHANGES = DPF_ADDITIVE_KEEPS_STEPS
};
DPF_STATIC_ASSERT(DPF_ADDITIVE_KEEPS_STEPS + DPF_MAX_BLOCKS <= 16, "a plan has 16 words");

/* Of the rows' blocks. */
static inline uint32_t dpf_row_bits(const dpf_query *query)
{
    return (UINT32_C(1) << query->n_blocks) - 1;
}

/* u^p for p 1 or 2. */
static inline double dpf_joint_power(double u, int32_t p)
{
    return p == 1 ? u : u * u;
}

/* Where `changes` has the number of a block. */
static inline size_t dpf_additive_change_place(int32_t b, int32_t gram)
{
    return (size_t)(gram ? DPF_MAX_BLOCKS + b : b) * sizeof(float);
}

static inline uint64_t dpf_additive_read_change(const void *changes, int32_t b, int32_t gram)
{
    float change;
    memcpy(&change, (const char *)changes + dpf_additive_change_place(b, gram), sizeof change);
    return (uint64_t)change;
}

/*
 * The shares of a budget: those of the release, or equal parts for the blocks that a unit can move (norms > 0). A block that
 * needs noise must have a share.
 */
dpf_status dpf_additive_shares(const dpf_host *host, const dpf_release *release, const double *norms,
                               double *out);

#endif
