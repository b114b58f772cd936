/* SPDX-License-Identifier: Apache-2.0 */
/*
 * additive.h - the common part of mechanisms that add noise to a value on a grid; a convenience, not part of
 * the ABI.
 *
 * Idea: a value is rounded to a multiple of a public power of two, the grid, and integer noise is
 * added to the multiple. The grid depends only on the noise scale. The mechanism itself decides how much
 * noise it needs and how to draw it.
 *
 * Scenario, with a mechanism whose noise scale is c times the L1 sensitivity:
 *     plan:    dpf_additive_begin, dpf_additive_check of each block's norm,
 *              dpf_additive_choose(c * l1, c * dpf_additive_coordinates(...), l1, ...) for grid and scale;
 *     events:  dpf_additive_events;
 *     encode:  dpf_additive_encode;   decode: dpf_additive_decode.
 * additive_mechanism.h does all of this from a few facts about the noise: begin there.
 *
 * Rounding and sensitivity. Rounding moves each coordinate of a message by at most half a grid step, so the
 * rounded messages of two neighbours differ in each coordinate by at most one step more than the messages:
 * L1 grows by d g, L2 by g sqrt(d), the maximum by g. d is the number of coordinates of the whole block,
 * since transforms may spread one record over all of them. The same bound holds if contributions are rounded
 * one by one before they are summed (dpf_on_grid), as a unit has at most one contribution to each coordinate.
 * A block that no unit can move is not moved by rounding either.
 *
 * Blocks that share a bound (dpf_joint_norm). A message is one vector; divided block by block by the scales
 * of the noise, it is a vector with noise of scale 1. The price of the release is how far one unit moves that
 * vector in the norm of the noise: dpf_joint_largest of the message plus the effect of rounding, over all
 * blocks. So one ball of radius C costs C max_b w_b / s_b, not C / s_b once for each block, and the
 * release is one event. Its norms are in units of `scale`, the first block's. Gaussian noise: the blocks side
 * by side are one Gaussian mechanism, whatever their scales; a discrete Gaussian on several grids is
 * dominated by the Gaussian pairs of each block, which multiply, so the grid with the fewest steps of noise
 * stands for all. Laplace noise: masses differ by at most exp(sum of |x_b| / s_b); where all blocks have as
 * many steps of noise this is one discrete Laplace mechanism on the grid, else the event is PURE.
 */
#ifndef DPFRAME_ADDITIVE_H
#define DPFRAME_ADDITIVE_H

#include <math.h>
#include <string.h>

#include "host.h"
#include "joint.h"
#include "params.h"
#include "privacy.h"
#include "query.h"
#include "role/mechanism.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums, and noise, stay below 2^62 grid steps: their sum fits into 64 bits. */
#define DPF_ADDITIVE_MAX 4611686018427387904.0

/* The inputs of a draw of noise. */
typedef struct dpf_noise_source {
    const dpf_random_service *random;
    dpf_cursor *cursor;      /* of one row: draws follow one another on it */
    const dpf_value *values; /* the mechanism's parameters */
    int64_t parts;           /* noise in shares: how many shares make up enough noise; else 1 */
    /* The change of the block that the plan protects, in your norm and in grid steps, rounding included and
       rounded up; with DPF_NORM_LINF of one number (or row). 0: unknown (is_scale), or noise in shares. */
    uint64_t change;
} dpf_noise_source;

/* n independent draws of integer noise of scale `steps`. */
typedef dpf_status (*dpf_draw_integers)(const dpf_noise_source *from, uint64_t steps, int64_t *out,
                                        int64_t n);

/* The host's draws, as functions of this type. */
dpf_status dpf_draw_discrete_laplace(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n);
dpf_status dpf_draw_discrete_gaussian(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n);

/* How a mechanism draws. */
typedef struct dpf_additive {
    const dpf_random_service *random;
    const dpf_stream *stream;
    const dpf_value *values;
    int64_t parts;
    int32_t whole_blocks; /* 1: a draw gets all numbers of a row's block in one call */
    dpf_draw_integers integers;
    /* `steps` of each block's draws: of rows in the low half, of the Gram row in the high one; NULL: scale
       over grid. */
    const uint64_t *steps;
    /* Floats: dpf_noise_source.change of the blocks of a row, and from the place DPF_MAX_BLOCKS on of the
       Gram row's; NULL: 0. */
    const void *changes;
} dpf_additive;

/* What a mechanism states about its noise. */
typedef struct dpf_additive_claim {
    int32_t norm;     /* DPF_NORM_* that measures the change of a message */
    int32_t kind;     /* DPF_EVENT_* of blocks with noise */
    int32_t exact;    /* 1: the noise is integers on the grid */
    int32_t separate; /* 1: each block is a separate event, even if blocks share a bound */
    int32_t lifetime; /* DPF_LIFETIME_* */
} dpf_additive_claim;

#define DPF_NORM_L1 1
#define DPF_NORM_L2 2
#define DPF_NORM_LINF 3 /* only for one block at a time */
#define DPF_NORM_ROWS 4 /* the sum over rows of their L2 norms; only for one block at a time */

/*
 * The largest size of one message, in grid steps: |sum| stays below 2^62 if all n messages keep to it, and a
 * party's own sum of contributions (dpf_on_grid) is exact below 2^52.
 */
double dpf_additive_limit(int64_t n_parties);

/*
 * log2 of noise scale over grid: the usual number, but release->fewer_bits less, though then at least 8; or less if
 * many messages are added, so that one message may reach 2^16 noise scales before the sum could overflow; at least 1.
 */
int32_t dpf_additive_bits(int32_t usual, const dpf_release *release);

/* ---- planning ------------------------------------------------------------------------------------- */

/* Checks the query and fills in the plan except for scales. grid is for blocks without noise. */
dpf_status dpf_additive_begin(const dpf_host *host, const dpf_release *release, int32_t where, double grid,
                              dpf_noise_plan *out);

/* Fails unless norm, a sensitivity, is finite; the error says what would bound it. */
dpf_status dpf_additive_check(const dpf_host *host, const dpf_release *release, int32_t block, double norm);

/* The number of coordinates of the block in a message. */
double dpf_additive_coordinates(const dpf_release *release, int32_t block, int32_t gram);

/* x rounded up to a multiple of a power of two. The factor covers rounding errors in x. */
double dpf_additive_round_up(double x, double grid);

/*
 * The grid and the scale: at least ideal + per_step * grid, and a multiple of the grid, at most
 * 2^max_bits of it. The grid is about 2^-bits of the scale, or of norm if that is larger, because values have
 * the size of contributions and must fit. The scale still has 2^12 steps if bits allow. Returns 0, or -1 if
 * there is no such grid.
 */
int dpf_additive_choose(double ideal, double per_step, double norm, int32_t bits, int32_t max_bits,
                        double *grid, double *scale);

/* The message of a release, for dpf_joint_largest. */
dpf_message_norms dpf_additive_message(const dpf_release *release);

/* The plan's scale (or grid) of a block, by bit. */
double *dpf_additive_at(double *rows, double *gram, int32_t bit);

/* What rounding to grids adds to |(x_b / unit_b)_b|_p over these blocks. */
double dpf_additive_rounding(const dpf_message_norms *message, uint32_t blocks, const double *grid,
                             const double *unit, int32_t p);

/*
 * Relative scales of blocks that share bounds, into relative[bit]: blocks of a joint norm get its weights
 * times its bound, a block in none gets its own norm, so that all parts have equal prices. Blocks of the Gram
 * row that share nothing with the rows get gram_share of the budget (of 1/z^2 for p = 2, of epsilon for p =
 * 1), if it is above 0. norms are the blocks' own, by bit.
 */
void dpf_additive_relative(const dpf_message_norms *message, uint32_t blocks, int32_t p, int32_t unit,
                           int32_t adjacency, const double *norms, double gram_share, double *relative);

/* The inputs of dpf_additive_together. */
typedef struct dpf_additive_request {
    int32_t p;         /* 2: Gaussian noise, 1: Laplace noise */
    int32_t one_scale; /* 1: the same scale for all blocks */
    double factor;     /* scale over sensitivity: a noise multiplier, or 1 / epsilon */
    double parts;      /* noise in shares: scale of the whole over scale of one share; else 1 */
    int32_t bits;      /* as in dpf_additive_choose */
    int32_t max_bits;
} dpf_additive_request;

/*
 * Grids and scales of all blocks that a unit can move, if some of them share a bound: the smallest that the
 * factor allows for all together, in the ratio of the bounds, or of release->block_shares. *done: 1; 0 if nothing is shared; -1 if no grid fits.
 */
dpf_status dpf_additive_together(const dpf_host *host, const dpf_release *release,
                                 const dpf_additive_request *ask, dpf_noise_plan *out, int *done);

/* ---- running -------------------------------------------------------------------------------------- */

/* steps rounded to the nearest integer, halves to even as dpf_on_grid has it; 1 if |steps| < limit, and
 * finite. */
int dpf_additive_to_integer(double steps, double limit, int64_t *out);

/* values / grid as integers, rounded like that. All of them, or DPF_E_RANGE. */
dpf_status dpf_additive_round(double grid, double limit, const double *values, int64_t n, int64_t *out);

/* Which row of the message the i-th one is, and whether it is the Gram row. */
int64_t dpf_additive_row_id(const dpf_encoded *integers, int64_t i);
int dpf_additive_is_gram(const dpf_query *query, const dpf_encoded *integers, int64_t row);

/* Fails with the sentence for values that do not fit their grid. */
dpf_status dpf_additive_out_of_range(const dpf_call *call, dpf_status status);

/*
 * The role's encode. noise may be NULL if no block has any; none is added if the plan is bare. limit:
 * dpf_additive_limit of the planned number of parties.
 */
dpf_status dpf_additive_encode(const dpf_additive *noise, const dpf_call *call, const dpf_noise_plan *plan,
                               const dpf_query *query, double limit, const double *values, int64_t stride,
                               dpf_encoded *out);

/* The role's decode: a trusted curator's noise, and the grids. */
dpf_status dpf_additive_decode(const dpf_additive *noise, const dpf_call *call, const dpf_noise_plan *plan,
                               const dpf_query *query, const dpf_encoded *sums, double *out, int64_t stride);

/* ---- events --------------------------------------------------------------------------------------- */

int dpf_additive_is_still(const dpf_norms *norms);

/*
 * The event of one block. Without noise it is NON_PRIVATE, or NO_OP if no unit under any adjacency can move
 * it: an accountant may be asked about another unit than the one that the noise was chosen for.
 */
dpf_event dpf_additive_event(const dpf_release *release, const dpf_noise_plan *plan, int32_t block,
                             int32_t gram, const dpf_additive_claim *claim);

/* A release's scales and grids by bit; 0 without noise. Returns the blocks with noise. */
uint32_t dpf_additive_scales(const dpf_release *release, const dpf_noise_plan *plan, double *scale,
                             double *grid);

/* Whether the noise of all these blocks has the same number of grid steps. */
int dpf_additive_alike(uint32_t blocks, const double *scale, const double *grid, double *fewest);

/*
 * The events of a release: one for blocks that share a bound, one for each other block, the Gram row's last.
 */
dpf_status dpf_additive_events(const dpf_host *host, const dpf_release *release, const dpf_noise_plan *plan,
                               const dpf_additive_claim *claim, dpf_event *out, int32_t capacity, int32_t *n);

#ifdef __cplusplus
}
#endif

#endif
