/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gram_shares.h - all releases as sums through an aggregator (dpf_fit.summing).
 *
 * A user's message has the integers that gram_sum.h adds, and to each number the user's share of the noise, read
 * at (draw, user, row): row 0 of the counts, row i of the Gram (what is off the diagonal first) and of the
 * projection. So the sum of all messages is the plain sum and the sum of the shares.
 */
#ifndef PRIVATE_GRAM_SHARES_H
#define PRIVATE_GRAM_SHARES_H

#include "gram_message.h"
#include "gram_plan.h"

struct gram_shares {
    const dpf_random_service *random;
    const dpf_stream *noise;
    const struct gram_noise *scales;
    const dpf_fit *fit;
    int32_t release;
    int64_t survivors; /* out: of the last sum */
};

/* n_items integers. */
dpf_status gram_shares_counts(const dpf_call *call, struct gram_shares *shares, int64_t *out);
/* m x m integers, zeros where row > column; with directions m x d. */
dpf_status gram_shares_matrix(const dpf_call *call, struct gram_shares *shares,
                              const struct gram_columns *columns, const struct gram_directions *directions,
                              int64_t *out);

#endif
