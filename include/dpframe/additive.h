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
/* n independent float64 draws of noise of scale 1. */
typedef void (*dpf_draw_reals)(const dpf_noise_source *from, double *out, int64_t n);

/* The host's draws, as functions of these two types. */
static inline dpf_status dpf_draw_discrete_laplace(const dpf_noise_source *from, uint64_t steps, int64_t *out,
                                                   int64_t n)
{
    return from->random->discrete_laplace(from->cursor, steps, out, n);
}
static inline dpf_status dpf_draw_discrete_gaussian(const dpf_noise_source *from, uint64_t steps,
                                                    int64_t *out, int64_t n)
{
    return from->random->discrete_gaussian(from->cursor, steps, out, n);
}
static inline void dpf_draw_laplace(const dpf_noise_source *from, double *out, int64_t n)
{
    from->random->laplace(from->cursor, out, n);
}
static inline void dpf_draw_normal(const dpf_noise_source *from, double *out, int64_t n)
{
    from->random->normal(from->cursor, out, n);
}

/* How a mechanism draws. Integers are exact; reals are fast but void the proof (C9). */
typedef struct dpf_additive {
    const dpf_random_service *random;
    const dpf_stream *stream;
    const dpf_value *values;
    int64_t parts;
    int32_t exact;        /* 1: integers, 0: reals */
    int32_t whole_blocks; /* 1: a draw gets all numbers of a row's block in one call */
    dpf_draw_integers integers;
    dpf_draw_reals reals;
    const uint64_t
        *steps; /* `steps` of each block's draws: of rows in the low half, of the Gram row in the high one;
                              NULL: scale over grid */
    const void *changes; /* floats: dpf_noise_source.change of the blocks of a row, and from the place
                              DPF_MAX_BLOCKS on of the Gram row's; NULL: 0 */
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
static inline DPF_COLD double dpf_additive_limit(int64_t n_parties)
{
    double limit = DPF_ADDITIVE_MAX / (double)(n_parties > 1 ? n_parties : 1);
    return limit < 4503599627370496.0 ? limit : 4503599627370496.0;
}

/*
 * log2 of noise scale over grid: the configured number, or less if many messages are added, so that one
 * message may reach 2^16 noise scales before the sum could overflow; at least 1.
 */
static inline DPF_COLD int32_t dpf_additive_bits(int64_t wished, int64_t n_parties)
{
    int32_t bits = (int32_t)floor(log2(dpf_additive_limit(n_parties))) - 16;
    if (bits > wished)
        bits = (int32_t)wished;
    return bits > 1 ? bits : 1;
}

/* ---- planning -------------------------------------------------------------------------------- */

/* Checks the query and fills in the plan except for scales. grid is for blocks without noise. */
static inline DPF_COLD dpf_status dpf_additive_begin(const dpf_host *host, const dpf_release *release,
                                                     int32_t where, double grid, dpf_noise_plan *out)
{
    const dpf_query *query = release->query;
    if (query->n_blocks < 1 || query->n_blocks > DPF_MAX_BLOCKS || release->rows < 1)
        return (host->fail)(host, DPF_E_INTERNAL, -1, "a release without blocks or rows cannot be planned");
    if (!(release->noise_factor > 0) || isinf(release->noise_factor))
        return (host->fail)(host, DPF_E_INTERNAL, -1,
                            "the noise factor of a release is not a positive number");
    for (int32_t b = 0; b < query->n_blocks; b++)
        if (query->blocks[b].layout & (DPF_LAYOUT_LOWER | DPF_LAYOUT_OPERATOR))
            return (host->fail)(
                host, DPF_E_UNSUPPORTED, -1,
                "a quadratic block in a layout for local sides cannot be encoded; use packed or full");
    dpf_clear(out);
    out->where = where;
    out->n_blocks = query->n_blocks;
    for (int32_t b = 0; b < query->n_blocks; b++)
        out->grid[b] = out->gram_grid[b] = grid;
    return DPF_OK;
}

static inline DPF_COLD const char *dpf_additive_block_name(int32_t kind)
{
    switch (kind) {
    case DPF_BLOCK_GRADIENT:
        return "gradient";
    case DPF_BLOCK_QUADRATIC:
        return "quadratic";
    case DPF_BLOCK_LINEAR:
        return "linear";
    default:
        return "count";
    }
}

/* Fails unless norm, a sensitivity, is finite; the error says what would bound it. */
static inline DPF_COLD dpf_status dpf_additive_check(const dpf_host *host, const dpf_release *release,
                                                     int32_t block, double norm)
{
    if (norm >= 0 && isfinite(norm))
        return DPF_OK;
    char text[360] = "the sensitivity of the ";
    strcat(text, dpf_additive_block_name(release->query->blocks[block].kind));
    strcat(text, isnan(norm) ? " block is not stated for this privacy unit and adjacency, so no noise can be "
                               "chosen; ask [privacy] for another unit or adjacency, or "
                             : " block has no bound for this privacy unit and adjacency, so no noise can be "
                               "chosen; ");
    strcat(text, release->side == DPF_SIDE_ITEMS
                     ? "bound a contribution, for example by [items] transforms = clip-user"
                     : "bound a contribution, for example by [users] transforms = clip-user");
    return (host->fail)(host, DPF_E_PRIVACY, -1, text);
}

/* The number of coordinates of the block in a message. */
static inline DPF_COLD double dpf_additive_coordinates(const dpf_release *release, int32_t block,
                                                       int32_t gram)
{
    int64_t rows = gram ? 1 : release->rows - (release->query->has_gram ? 1 : 0);
    return (double)rows * (double)release->query->blocks[block].length;
}

/* x rounded up to a multiple of a power of two. The factor covers rounding errors in x. */
static inline DPF_COLD double dpf_additive_round_up(double x, double grid)
{
    return ceil(x / grid * (1 + 4e-15)) * grid;
}

/*
 * The grid and the scale: at least ideal + per_step * grid, and a multiple of the grid, at most
 * 2^max_bits of it. The grid is about 2^-bits of the scale, or of norm if that is larger, because values have
 * the size of contributions and must fit. The scale still has 2^12 steps if bits allow. Returns 0, or -1 if
 * there is no such grid.
 */
static inline DPF_COLD int dpf_additive_choose(double ideal, double per_step, double norm, int32_t bits,
                                               int32_t max_bits, double *grid, double *scale)
{
    if (!(ideal > 1e-200 && ideal < 1e200) || !(per_step >= 0))
        return -1;
    int exponent;
    if (norm > ideal) {
        int32_t least = bits < 12 ? bits : 12;
        bits -= (int32_t)fmin(floor(log2(norm / ideal)), bits);
        bits = bits > least ? bits : least;
    }
    frexp(ideal, &exponent); /* 2^(exponent-1) <= ideal */
    *grid = ldexp(1.0, exponent - 1 - bits);
    *scale = dpf_additive_round_up(ideal + per_step * *grid, *grid);
    return *scale / *grid <= ldexp(1.0, max_bits) ? 0 : -1;
}

/*
 * The shares of a budget: the configured list, or equal parts for the blocks that a unit can move (norms >
 * 0). A block that needs noise must have a share. param is the list's index.
 */
static inline DPF_COLD dpf_status dpf_additive_shares(const dpf_host *host, const dpf_value *list,
                                                      int32_t param, int32_t n_blocks, const double *norms,
                                                      double *out)
{
    int32_t moved = 0;
    for (int32_t b = 0; b < n_blocks; b++)
        moved += norms[b] > 0;
    if (list->count == 0) {
        for (int32_t b = 0; b < n_blocks; b++)
            out[b] = norms[b] > 0 ? 1.0 / moved : 0;
        return DPF_OK;
    }
    if (list->count != n_blocks)
        return (host->fail)(host, DPF_E_CONFIG, param, "shares needs one number for each block of the loss");
    for (int32_t b = 0; b < n_blocks; b++) {
        out[b] = list->reals[b];
        if (norms[b] > 0 && !(out[b] > 0))
            return (host->fail)(host, DPF_E_CONFIG, param,
                                "a block that needs noise has a share of 0 in shares");
    }
    return DPF_OK;
}

/* Whether a configured list of shares adds up to 1. */
static inline DPF_COLD int dpf_additive_shares_sum(const dpf_value *list)
{
    double sum = 0;
    for (int64_t i = 0; i < list->count; i++)
        sum += list->reals[i];
    return list->count == 0 || fabs(sum - 1) <= 1e-9;
}

/* The message of a release, for dpf_joint_largest. */
static inline DPF_COLD dpf_message_norms dpf_additive_message(const dpf_release *release)
{
    const int32_t gram = release->query->has_gram && release->gram;
    dpf_message_norms message;
    message.query = release->query;
    message.rows = release->rows - (release->query->has_gram ? 1 : 0);
    message.blocks = release->blocks;
    message.gram = gram ? release->gram : NULL;
    message.joint = release->joint;
    return message;
}

/* The plan's scale (or grid) of a block, by bit. */
static inline double *dpf_additive_at(double *rows, double *gram, int32_t bit)
{
    return bit < DPF_GRAM_BIT ? &rows[bit] : &gram[bit - DPF_GRAM_BIT];
}

/* What rounding to grids adds to |(x_b / unit_b)_b|_p over these blocks. */
static inline DPF_COLD double dpf_additive_rounding(const dpf_message_norms *message, uint32_t blocks,
                                                    const double *grid, const double *unit, int32_t p)
{
    double sum = 0;
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        const double step = blocks >> b & 1 ? grid[b] / unit[b] : 0;
        sum += (blocks >> b & 1 ? dpf_block_numbers(message, b) : 0) * dpf_joint_power(step, p);
    }
    return p == 1 ? sum : sqrt(sum);
}

/*
 * Relative scales of blocks that share bounds, into relative[bit]: blocks of a joint norm get its weights
 * times its bound, a block in none gets its own norm, so that all parts have equal prices. Blocks of the Gram
 * row that share nothing with the rows get gram_share of the budget (of 1/z^2 for p = 2, of epsilon for p =
 * 1), if it is above 0. norms are the blocks' own, by bit.
 */
static inline DPF_COLD void dpf_additive_relative(const dpf_message_norms *message, uint32_t blocks,
                                                  int32_t p, int32_t unit, int32_t adjacency,
                                                  const double *norms, double gram_share, double *relative)
{
    const uint32_t rows = dpf_row_bits(message->query);
    uint32_t rest = blocks, gram_alone = 0;
    while (rest) {
        const dpf_joint_norm *bound = NULL;
        uint32_t group = dpf_joint_shared(message, rest, unit, adjacency, &bound);
        if (!group)
            group = rest & (~rest + 1);
        const double price = bound ? dpf_joint_largest(message, group, bound->weight, p, unit, adjacency) : 1;
        for (int32_t b = 0; b < DPF_BLOCK_BITS; b++)
            if (group >> b & 1)
                relative[b] = bound ? price * bound->weight[b] : norms[b];
        gram_alone |= group & rows ? 0 : group;
        rest &= ~group;
    }
    for (int32_t b = 0; gram_alone && b < DPF_BLOCK_BITS; b++) {
        const double part = gram_alone >> b & 1 ? gram_share : 1 - gram_share;
        if ((blocks >> b & 1) && part > 0)
            relative[b] /= p == 1 ? part : sqrt(part);
    }
}

/*
 * Grids and scales of blocks that share bounds, by bit: multiples of relative[bit] such that factor times the
 * norm of the message divided by them, rounding included, is at most 1. Noise comes in `shares` parts whose
 * scales add up by `shares`: scale is that of one part. Other arguments as in dpf_additive_choose. 0, or -1
 * if no grid fits.
 */
static inline DPF_COLD int dpf_additive_choose_joint(const dpf_release *release, uint32_t blocks,
                                                     const double *relative, int32_t p, double factor,
                                                     double shares, double norm, int32_t bits,
                                                     int32_t max_bits, double *grid, double *scale)
{
    const dpf_message_norms message = dpf_additive_message(release);
    const double whole = dpf_joint_largest(&message, blocks, relative, p, release->unit, release->adjacency);
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++)
        if ((blocks >> b & 1) && dpf_additive_choose(factor * whole * relative[b] / shares, 0, norm, bits,
                                                     max_bits, &grid[b], &scale[b]) != 0)
            return -1;
    const double rounding = dpf_additive_rounding(&message, blocks, grid, relative, p);
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        if (!(blocks >> b & 1))
            continue;
        scale[b] = dpf_additive_round_up(factor * (whole + rounding) * relative[b] / shares, grid[b]);
        if (!(scale[b] / grid[b] <= ldexp(1.0, max_bits)))
            return -1;
    }
    return 0;
}

/* The inputs of dpf_additive_together. */
typedef struct dpf_additive_request {
    int32_t p;               /* 2: Gaussian noise, 1: Laplace noise */
    int32_t shares_param;    /* index of the list of shares */
    double factor;           /* scale over sensitivity: a noise multiplier, or 1 / epsilon */
    const dpf_value *shares; /* of the budget for the blocks, as configured; empty: the ratio of the bounds */
    double gram_share;       /* of the budget for the Gram row; 0: it gets no noise */
    int32_t one_scale;       /* 1: the same scale for all blocks */
    double parts;            /* noise in shares: scale of the whole over scale of one share; else 1 */
    int32_t bits;            /* as in dpf_additive_choose */
    int32_t max_bits;
} dpf_additive_request;

/* Relative scales from configured shares of a budget: |x_b| / s_b is a block's part. */
static inline DPF_COLD dpf_status dpf_additive_by_shares(const dpf_host *host,
                                                         const dpf_additive_request *ask, int32_t n_blocks,
                                                         const double *norms, double part, double *relative)
{
    double shares[DPF_MAX_BLOCKS];
    const dpf_status status =
        dpf_additive_shares(host, ask->shares, ask->shares_param, n_blocks, norms, shares);
    for (int32_t b = 0; status == DPF_OK && b < n_blocks; b++) {
        const double of_budget = shares[b] * part;
        relative[b] = norms[b] > 0 ? norms[b] / (ask->p == 1 ? of_budget : sqrt(of_budget)) : 0;
    }
    return status;
}

/*
 * Grids and scales of all blocks that a unit can move, if some of them share a bound: the smallest that the
 * factor allows for all together. *done: 1; 0 if nothing is shared; -1 if no grid fits.
 */
static inline DPF_COLD dpf_status dpf_additive_together(const dpf_host *host, const dpf_release *release,
                                                        const dpf_additive_request *ask, dpf_noise_plan *out,
                                                        int *done)
{
    const dpf_message_norms message = dpf_additive_message(release);
    const int32_t n = release->query->n_blocks;
    const double gram_share = message.gram ? ask->gram_share : 0;
    double norms[DPF_BLOCK_BITS] = {0}, relative[DPF_BLOCK_BITS] = {0}, most = 0;
    double grid[DPF_BLOCK_BITS], scale[DPF_BLOCK_BITS];
    uint32_t moved = 0;
    *done = 0;
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        if (!(dpf_message_bits(&message) >> b & 1) || (b >= DPF_GRAM_BIT && !(gram_share > 0)))
            continue;
        const dpf_norms *own = dpf_block_norms(&message, b, release->unit, release->adjacency);
        norms[b] = ask->p == 1 ? own->l1 : own->l2;
        moved |= norms[b] > 0 ? UINT32_C(1) << b : 0;
        most = fmax(most, norms[b]);
    }
    if (!dpf_joint_shared(&message, moved, release->unit, release->adjacency, NULL))
        return DPF_OK;
    dpf_additive_relative(&message, moved, ask->p, release->unit, release->adjacency, norms, gram_share,
                          relative);
    for (int32_t b = 0; ask->one_scale && b < DPF_BLOCK_BITS; b++)
        relative[b] = 1;
    const int32_t n_parts = gram_share > 0 ? 2 : 1;
    for (int32_t gram = 0; ask->shares->count > 0 && gram < n_parts; gram++) {
        const int32_t from = gram ? DPF_GRAM_BIT : 0;
        const dpf_status status = dpf_additive_by_shares(host, ask, n, norms + from,
                                                         gram ? gram_share : 1 - gram_share, relative + from);
        if (status != DPF_OK)
            return status;
    }
    *done = -1;
    if (dpf_additive_choose_joint(release, moved, relative, ask->p, ask->factor, ask->parts,
                                  ask->p == 1 ? most : 0, ask->bits, ask->max_bits, grid, scale) != 0)
        return DPF_OK;
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++)
        if (moved >> b & 1) {
            *dpf_additive_at(out->grid, out->gram_grid, b) = grid[b];
            *dpf_additive_at(out->scale, out->gram_scale, b) = scale[b];
        }
    *done = 1;
    return DPF_OK;
}

/* ---- running --------------------------------------------------------------------------------- */

#define DPF_ADDITIVE_CHUNK 64

/* steps rounded to the nearest integer, halves to even as dpf_on_grid has it; 1 if |steps| < limit, and
 * finite. */
static inline int dpf_additive_to_integer(double steps, double limit, int64_t *out)
{
    if (!(fabs(steps) < limit))
        return 0;
    int64_t whole = (int64_t)steps;
    double rest = steps - (double)whole; /* exact */
    int64_t odd = whole & 1;
    *out = whole + (rest > 0.5) - (rest < -0.5) + (rest == 0.5 ? odd : rest == -0.5 ? -odd : 0);
    return 1;
}

/*
 * values / grid as integers. All of them, or DPF_E_RANGE. First in a loop without branches: with M = 1.5 2^52
 * the bits of x + M are those of M plus the nearest integer, for |x| < 2^51; and x + 3 P has the exponent of
 * 3 P if |x| < P, a power of two below both limits. What is beyond P is looked at one by one.
 */
static inline dpf_status dpf_additive_round(double grid, double limit, const double *values, int64_t n,
                                            int64_t *out)
{
    const double steps_per_unit = 1 / grid; /* exact for powers of two, as is the product below */
    const double magic = 6755399441055744.0;
    uint64_t magic_bits, guard_bits, far = 0;
    double guard; /* 3 P, P at most half of the limit */
    int ok = 1;
    memcpy(&magic_bits, &magic, sizeof magic_bits);
    memcpy(&guard_bits, &limit, sizeof guard_bits);
    guard_bits = (guard_bits & UINT64_C(0x7ff0000000000000)) | UINT64_C(0x0008000000000000);
    guard_bits = guard_bits < magic_bits ? guard_bits : magic_bits;
    memcpy(&guard, &guard_bits, sizeof guard);
    for (int64_t i = 0; i < n; i++) {
        const double steps = values[i] * steps_per_unit, moved = steps + magic, guarded = steps + guard;
        uint64_t bits, check;
        memcpy(&bits, &moved, sizeof bits);
        memcpy(&check, &guarded, sizeof check);
        out[i] = (int64_t)(bits - magic_bits);
        far |= (check ^ guard_bits) >> 52;
    }
    for (int64_t i = 0; far && i < n; i++)
        ok &= dpf_additive_to_integer(values[i] * steps_per_unit, limit, &out[i]);
    return ok ? DPF_OK : DPF_E_RANGE;
}

/* Buffers for the noise of n numbers. */
typedef struct dpf_additive_room {
    int64_t *integers;
    double *reals;
    int64_t n;
} dpf_additive_room;

/*
 * values / grid + noise, as integers, for at most room->n numbers. All of them, or DPF_E_RANGE. limit is at
 * most 2^62, and so is exact noise.
 */
static inline dpf_status dpf_additive_chunk(const dpf_additive *noise, const dpf_noise_source *from,
                                            const dpf_additive_room *room, double grid, double scale,
                                            uint64_t steps, double limit, const double *values, int64_t n,
                                            int64_t *out)
{
    if (!(scale > 0))
        return dpf_additive_round(grid, limit, values, n, out);
    const double steps_per_unit = 1 / grid, steps_of_scale = scale / grid;
    if (noise->exact) {
        dpf_status status = noise->integers(from, steps, room->integers, n);
        if (status != DPF_OK)
            return status;
    } else {
        noise->reals(from, room->reals, n);
    }
    int ok = 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t whole = 0;
        double at = values[i] * steps_per_unit + (noise->exact ? 0 : steps_of_scale * room->reals[i]);
        ok &= dpf_additive_to_integer(at, limit, &whole);
        out[i] = whole + (noise->exact ? room->integers[i] : 0);
        ok &= fabs((double)out[i]) < limit;
    }
    return ok ? DPF_OK : DPF_E_RANGE;
}

/* `steps` of a draw for block b. */
static inline uint64_t dpf_additive_steps(const dpf_additive *noise, int32_t b, int gram, double grid,
                                          double scale)
{
    if (!noise || !noise->steps)
        return (uint64_t)(scale / grid);
    return gram ? noise->steps[b] >> 32 : noise->steps[b] & UINT32_MAX;
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
static inline void dpf_additive_set_change(const dpf_additive *noise, int32_t b, int gram,
                                           dpf_noise_source *from)
{
    if (from)
        from->change = noise->changes ? dpf_additive_read_change(noise->changes, b, gram) : 0;
}

/* One row. from is NULL if it gets no noise. */
static inline dpf_status dpf_additive_row(const dpf_additive *noise, dpf_noise_source *from,
                                          const dpf_additive_room *room, const dpf_noise_plan *plan,
                                          const dpf_query *query, int gram, double limit,
                                          const double *values, int64_t *out)
{
    for (int32_t b = 0; b < query->n_blocks; b++) {
        double grid = gram ? plan->gram_grid[b] : plan->grid[b];
        double scale = !from ? 0 : gram ? plan->gram_scale[b] : plan->scale[b];
        uint64_t steps = dpf_additive_steps(noise, b, gram, grid, scale);
        int64_t end = (int64_t)query->blocks[b].offset + query->blocks[b].length;
        dpf_additive_set_change(noise, b, gram, from);
        for (int64_t at = query->blocks[b].offset; at < end; at += room->n) {
            int64_t n = end - at < room->n ? end - at : room->n;
            dpf_status status =
                dpf_additive_chunk(noise, from, room, grid, scale, steps, limit, values + at, n, out + at);
            if (status != DPF_OK)
                return status;
        }
    }
    return DPF_OK;
}

/* Buffers on the stack, or in the call's scratch memory if draws take whole blocks. */
static inline dpf_status dpf_additive_find_room(const dpf_additive *noise, const dpf_call *call,
                                                int32_t width, dpf_additive_room *room)
{
    if (!noise || !noise->whole_blocks || width <= DPF_ADDITIVE_CHUNK)
        return DPF_OK;
    room->integers = (int64_t *)call->scratch(call, (uint64_t)width * sizeof(*room->integers));
    room->reals = (double *)call->scratch(call, (uint64_t)width * sizeof(*room->reals));
    room->n = width;
    return room->integers && room->reals ? DPF_OK : DPF_E_MEMORY;
}

static inline int64_t dpf_additive_row_id(const dpf_encoded *integers, int64_t i)
{
    return integers->rows ? integers->rows[i] : integers->first_row + i;
}

static inline int dpf_additive_is_gram(const dpf_query *query, const dpf_encoded *integers, int64_t row)
{
    return query->has_gram && row == integers->total_rows - 1;
}

static inline DPF_COLD dpf_status dpf_additive_out_of_range(const dpf_call *call, dpf_status status)
{
    return (call->host->fail)(call->host, status, -1,
                              "a value of a message is not finite or too large for its grid; bound the "
                              "contributions, or lower grid-bits of the mechanism");
}

/* Whether all numbers stand behind one another on one grid. */
static inline int dpf_additive_is_plain(const dpf_query *query, int64_t stride, const dpf_encoded *out)
{
    return query->n_blocks == 1 && !query->has_gram && query->blocks[0].offset == 0 &&
           query->blocks[0].length == out->width && stride == out->width && out->stride == out->width;
}

/*
 * The role's encode. noise may be NULL if no block has any. limit: dpf_additive_limit of the planned number
 * of parties.
 */
static inline dpf_status dpf_additive_encode(const dpf_additive *noise, const dpf_call *call,
                                             const dpf_noise_plan *plan, const dpf_query *query, double limit,
                                             const double *values, int64_t stride, dpf_encoded *out)
{
    const int noisy = noise && (plan->where == DPF_NOISE_AT_PARTY || plan->where == DPF_NOISE_IN_SHARES);
    int64_t integers[DPF_ADDITIVE_CHUNK];
    double reals[DPF_ADDITIVE_CHUNK];
    dpf_additive_room room = {integers, reals, DPF_ADDITIVE_CHUNK};
    dpf_cursor cursor;
    dpf_noise_source from = {NULL, &cursor, NULL, 1, 0};
    if (noisy) {
        from.random = noise->random;
        from.values = noise->values;
        from.parts = noise->parts;
    }
    dpf_status status = dpf_additive_find_room(noise, call, query->width, &room);
    if (status != DPF_OK)
        return (call->host->fail)(call->host, status, -1, "out of memory");
    if (!noisy && dpf_additive_is_plain(query, stride, out)) {
        status = dpf_additive_round(plan->grid[0], limit, values, out->n_rows * out->width, out->values);
        return status == DPF_OK ? DPF_OK : dpf_additive_out_of_range(call, status);
    }
    for (int64_t i = 0; i < out->n_rows; i++) {
        int64_t row = dpf_additive_row_id(out, i);
        int64_t *to = out->values + i * out->stride;
        memset(to, 0, (size_t)out->width * sizeof(*to));
        if (noisy)
            noise->random->seek(noise->stream, call->draw, call->party, (uint32_t)row, &cursor);
        status = dpf_additive_row(noise, noisy ? &from : NULL, &room, plan, query,
                                  dpf_additive_is_gram(query, out, row), limit, values + i * stride, to);
        if (status != DPF_OK)
            return dpf_additive_out_of_range(call, status);
    }
    return DPF_OK;
}

/*
 * Adds a trusted curator's noise to one row of a sum and scales it. Float noise is rounded to the grid as
 * well, so that later steps get the same kind of numbers.
 */
static inline dpf_status dpf_additive_decode_row(const dpf_additive *noise, dpf_noise_source *from,
                                                 const dpf_additive_room *room, const dpf_noise_plan *plan,
                                                 const dpf_query *query, int gram, const int64_t *sums,
                                                 int64_t *drawn, const double *zeros, double *out)
{
    for (int32_t b = 0; b < query->n_blocks; b++) {
        double grid = gram ? plan->gram_grid[b] : plan->grid[b];
        double scale = !from ? 0 : gram ? plan->gram_scale[b] : plan->scale[b];
        uint64_t steps = dpf_additive_steps(noise, b, gram, grid, scale);
        int64_t end = (int64_t)query->blocks[b].offset + query->blocks[b].length;
        dpf_additive_set_change(noise, b, gram, from);
        for (int64_t at = query->blocks[b].offset; at < end; at += room->n) {
            int64_t n = end - at < room->n ? end - at : room->n;
            if (scale > 0) {
                dpf_status status = dpf_additive_chunk(noise, from, room, grid, scale, steps,
                                                       DPF_ADDITIVE_MAX, zeros, n, drawn);
                if (status != DPF_OK)
                    return status;
            }
            for (int64_t i = 0; i < n; i++) {
                if (!(fabs((double)sums[at + i]) < DPF_ADDITIVE_MAX))
                    return DPF_E_RANGE;
                out[at + i] = (double)(sums[at + i] + (scale > 0 ? drawn[i] : 0)) * grid;
            }
        }
    }
    return DPF_OK;
}

/* The role's decode. */
static inline dpf_status dpf_additive_decode(const dpf_additive *noise, const dpf_call *call,
                                             const dpf_noise_plan *plan, const dpf_query *query,
                                             const dpf_encoded *sums, double *out, int64_t stride)
{
    static const double no_values[DPF_ADDITIVE_CHUNK] = {0};
    const int noisy = noise && plan->where == DPF_NOISE_AT_SUM;
    int64_t integers[DPF_ADDITIVE_CHUNK], more[DPF_ADDITIVE_CHUNK], *drawn = more;
    double reals[DPF_ADDITIVE_CHUNK];
    const double *zeros = no_values;
    dpf_additive_room room = {integers, reals, DPF_ADDITIVE_CHUNK};
    dpf_cursor cursor;
    dpf_noise_source from = {NULL, &cursor, NULL, 1, 0};
    if (noisy) {
        from.random = noise->random;
        from.values = noise->values;
        from.parts = noise->parts;
    }
    dpf_status status = dpf_additive_find_room(noise, call, query->width, &room);
    if (status == DPF_OK && room.n > DPF_ADDITIVE_CHUNK) {
        double *none = (double *)call->scratch(call, (uint64_t)room.n * sizeof(*none));
        drawn = (int64_t *)call->scratch(call, (uint64_t)room.n * sizeof(*drawn));
        if (none)
            memset(none, 0, (size_t)room.n * sizeof(*none));
        zeros = none;
        status = none && drawn ? DPF_OK : DPF_E_MEMORY;
    }
    if (status != DPF_OK)
        return (call->host->fail)(call->host, status, -1, "out of memory");
    for (int64_t i = 0; i < sums->n_rows; i++) {
        int64_t row = dpf_additive_row_id(sums, i);
        double *to = out + i * stride;
        memset(to, 0, (size_t)sums->width * sizeof(*to));
        if (noisy)
            noise->random->seek(noise->stream, call->draw, DPF_PARTY_AGGREGATE, (uint32_t)row, &cursor);
        status = dpf_additive_decode_row(noise, noisy ? &from : NULL, &room, plan, query,
                                         dpf_additive_is_gram(query, sums, row),
                                         sums->values + i * sums->stride, drawn, zeros, to);
        if (status != DPF_OK)
            return dpf_additive_out_of_range(call, status);
    }
    return DPF_OK;
}

#ifdef __cplusplus
}
#endif

#include "additive_events.h"

#endif
