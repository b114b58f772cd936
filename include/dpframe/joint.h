/* SPDX-License-Identifier: Apache-2.0 */
/*
 * joint.h - how far a whole message moves, from bounds over groups of its blocks; a convenience, not part of
 * the ABI.
 *
 * A message is one vector x over all its blocks. Its change is bounded by each block's own norms
 * (dpf_sensitivity) and by norms over several blocks (dpf_joint_norm). A mechanism with noise of scale s_b in
 * block b needs the norm of the vector divided by its noise, |(x_b / s_b)_b|_p: dpf_joint_largest bounds it.
 * p is 2 for Gaussian noise, 1 for Laplace noise.
 * Examples: one ball gives C max_b w_b / s_b; a product of balls the p-norm of C_b / s_b; an L1 norm of L2
 * norms with Gaussian noise C max_b w_b / s_b. The proof is in sdk/joint.c of the sources.
 */
#ifndef DPFRAME_JOINT_H
#define DPFRAME_JOINT_H

#include <math.h>
#include <string.h>

#include "privacy.h"
#include "query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A message and the bounds on its change. */
typedef struct dpf_message_norms {
    const dpf_query *query;
    int64_t rows; /* the Gram row left out */
    const dpf_sensitivity *blocks;
    const dpf_sensitivity *gram;  /* NULL: there is no Gram row */
    const dpf_joint_norms *joint; /* NULL: none */
} dpf_message_norms;

/* All blocks of the message. */
uint32_t dpf_message_bits(const dpf_message_norms *message);

const dpf_norms *dpf_block_norms(const dpf_message_norms *message, int32_t bit, int32_t unit,
                                 int32_t adjacency);

/* How many numbers a block has in the message. */
double dpf_block_numbers(const dpf_message_norms *message, int32_t bit);

/* A bound with weights 1 that states nothing yet. */
dpf_joint_norm dpf_joint_new(uint32_t blocks, int32_t within, int32_t across);

/* Adds it if there is room; leaving a bound out is safe. set may be NULL. */
void dpf_joint_add(dpf_joint_norms *set, const dpf_joint_norm *bound);

/*
 * A bound on |(x_b / scale[b])_b|_p over these blocks, p 1 or 2: NaN if none is stated, infinity if there is
 * none. Scales are positive, by bit. Rounding errors are on the safe side.
 */
double dpf_joint_largest(const dpf_message_norms *message, uint32_t blocks, const double *scale, int32_t p,
                         int32_t unit, int32_t adjacency);

/* The largest |x_b|_inf / scale[b]. */
double dpf_joint_largest_number(const dpf_message_norms *message, uint32_t blocks, const double *scale,
                                int32_t unit, int32_t adjacency);

/* The blocks of the joint norm that covers most of these, at least two, and is stated; 0 if there is none. */
uint32_t dpf_joint_shared(const dpf_message_norms *message, uint32_t blocks, int32_t unit, int32_t adjacency,
                          const dpf_joint_norm **out);

#ifdef __cplusplus
}
#endif
#endif
