/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gram_sum.h - the sums over users, in 64-bit integers: the same bytes for any order of users, any number of
 * tasks, and either way of adding a user. They are of the users whose records are here (dpf_users_here).
 *
 * Products of a user's integers are 2^26 at most (gram_message.h): 2^31 users stay within 2^57.
 */
#ifndef PRIVATE_GRAM_SUM_H
#define PRIVATE_GRAM_SUM_H

#include "gram_message.h"

/* Users with more than this part of the columns are added by dense blocks, others pair by pair. Public; it is
   a matter of time alone. */
#define GRAM_DENSE_PART 4

/* out: n_items integers. */
dpf_status gram_sum_counts(const dpf_call *call, const dpf_interactions *records, int32_t bits, int64_t *out);
/* out: m x m integers, of which the part with row <= column is filled: out[i * m + j] = sum y_i y_j. */
dpf_status gram_sum_pairs(const dpf_call *call, const dpf_interactions *records,
                          const struct gram_columns *columns, int64_t *out);
/*
 * out: m x d integers, out[i * d + k] = sum z_i w_k, z over `columns`. w is the projection basis' y of the
 * user's row y over the directions' columns, over the larger of its norm and `least`, in integers of norm
 * 2^bits at most.
 */
dpf_status gram_sum_projected(const dpf_call *call, const dpf_interactions *records,
                              const struct gram_columns *columns, const struct gram_directions *directions,
                              int64_t *out);

#endif
