/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise_shares.h - what the mechanisms have in common whose noise comes in shares.
 *
 * Each party adds a share to its message; t of them add up to enough, where t is the least number of honest
 * parties whose messages are in a sum. That needs: only the sum is seen (C5); every party sends every row
 * (C8), hence DPF_MECHANISM_DENSE; and fewer than t messages are never decoded. A Gram row of the query,
 * which not all parties know, cannot have shares.
 */
#ifndef DPF_PLUGINS_NOISE_SHARES_H
#define DPF_PLUGINS_NOISE_SHARES_H

#include "dpframe/additive.h"
#include "dpframe/plugin.h"
#include "dpframe/role/mechanism.h"

struct noise_shares {
    const dpf_host *host;
    const dpf_value *values; /* of the parameters, in the plugin's order */
    const dpf_random_service *random;
    dpf_stream *stream;
};

#define NOISE_SHARES_HONEST_HELP                                                                             \
    "t: how many honest parties' messages are in every sum at the least. 0: as many as the plan knows to "   \
    "take part, all of them honest."
#define NOISE_SHARES_CURIOUS_HELP                                                                            \
    "How many of those whose messages are in a sum may pool what they know of their own shares; at least 1 " \
    "for observer = parties. A sum of fewer than honest + curious messages is refused."

/* create and destroy of a component whose self is a struct noise_shares. */
dpf_status noise_shares_create(const dpf_host *host, const dpf_params *given, void **self);
void noise_shares_destroy(void *self);
/* Fresh in every round. */
int32_t noise_shares_lifetime(void *self);

/* Begins a plan whose blocks all wait for their scale. honest and curious are the parameters' indices. */
dpf_status noise_shares_begin(const struct noise_shares *shares, const dpf_release *release, int32_t honest,
                              int32_t curious, dpf_noise_plan *out);
/* t, of a plan that has begun. */
int64_t noise_shares_needed(const dpf_noise_plan *plan);

/* The L1 or L2 sensitivities of all blocks into norms; *moved is how many are above 0. */
dpf_status noise_shares_norms(const struct noise_shares *shares, const dpf_release *release, int32_t norm,
                              double norms[DPF_MAX_BLOCKS], int32_t *moved);

/*
 * Grids and shares for noise whose standard deviations add in squares: t shares have `multiplier` times the
 * L2 sensitivity of all blocks, rounding included. steps[b] is one share's deviation in grid steps, an
 * integer of 2^8 to 2^24, or 0 where nothing moves. grid_bits is the index of that parameter.
 */
dpf_status noise_shares_choose(const struct noise_shares *shares, const dpf_release *release,
                               double multiplier, int32_t grid_bits, dpf_noise_plan *out,
                               double steps[DPF_MAX_BLOCKS]);

/*
 * Where blocks share a bound (dpf_joint_norm): grids, and the scale of one share, such that the norm of the
 * message divided by `parts` times the scales is at most 1 / factor; p is 2 or 1, norms are the blocks' own.
 * *done: 1; 0 if nothing is shared; -1 if no grid fits.
 */
void noise_shares_together(const dpf_release *release, int32_t p, double factor, double parts,
                           const double *norms, int32_t bits, int32_t max_bits, dpf_noise_plan *out,
                           double scale[DPF_MAX_BLOCKS], int *done);

/* The events of all blocks, marked as noise in shares. */
dpf_status noise_shares_events(const struct noise_shares *shares, const dpf_release *release,
                               const dpf_noise_plan *plan, int32_t kind, dpf_event *out, int32_t capacity,
                               int32_t *n);

/*
 * Encodes, and adds to every number of a block with noise one draw of integers(cursor, plan->opaque[2 + b]),
 * which stays below 2^61.
 */
dpf_status noise_shares_encode(const struct noise_shares *shares,
                               dpf_status (*integers)(dpf_cursor *, uint64_t, int64_t *, int64_t),
                               const dpf_call *call, const dpf_noise_plan *plan, const dpf_query *query,
                               const double *values, int64_t stride, dpf_encoded *out);

/* Fails if fewer messages are in the sum than it needs. */
dpf_status noise_shares_enough(const dpf_call *call, const dpf_noise_plan *plan, const dpf_encoded *sums,
                               int32_t honest);

#endif
