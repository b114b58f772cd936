/* SPDX-License-Identifier: Apache-2.0 */
/*
 * negatives.h - the random items among which sampled ranking ranks positives.
 *
 * A user's negatives depend on the seeded root, the user's id, the pool and the items excluded for that user, and not
 * on the model or the workers; on other users just where the pool or the numbers of records do.
 */
#ifndef DPF_EVALUATE_NEGATIVES_H
#define DPF_EVALUATE_NEGATIVES_H

#include <stdint.h>

#include "base/random.h"

/*
 * Draws `wanted` items uniformly without replacement from the pool less the excluded items, or takes
 * all of them if there are fewer. The pool is pool[0 .. n_pool-1], or 0 .. n_pool-1 if pool is NULL;
 * pool and excluded ascend without repeats, and excluded items are in the pool. marks, by item, has
 * `bit` clear for all and is left so. Returns how many were written to out.
 */
int64_t negatives_draw(const dpf_stream *stream, const char *user, const int32_t *pool, int64_t n_pool,
                       const int32_t *excluded, int64_t n_excluded, int64_t wanted, uint8_t *marks,
                       uint8_t bit, int32_t *out);

/*
 * The same, one item after the other, each with a probability proportional to its number of records among those
 * that are left: ptr[i] is the number of records of all items before i, of n_items. One without records is never drawn.
 */
int64_t negatives_draw_by_records(const dpf_stream *stream, const char *user, const int64_t *ptr,
                                  int64_t n_items, const int32_t *pool, int64_t n_pool,
                                  const int32_t *excluded, int64_t n_excluded, int64_t wanted, uint8_t *marks,
                                  uint8_t bit, int32_t *out);

#endif
