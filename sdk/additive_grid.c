/* SPDX-License-Identifier: Apache-2.0 */
/* additive_grid.c - grids and scales of a planned release. */
#include "additive_parts.h"

dpf_status dpf_draw_discrete_laplace(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n)
{
    return from->random->discrete_laplace(from->cursor, steps, out, n);
}

dpf_status dpf_draw_discrete_gaussian(const dpf_noise_source *from, uint64_t steps, int64_t *out, int64_t n)
{
    return from->random->discrete_gaussian(from->cursor, steps, out, n);
}

double dpf_additive_limit(int64_t n_parties)
{
    double limit = DPF_ADDITIVE_MAX / (double)(n_parties > 1 ? n_parties : 1);
    return limit < 4503599627370496.0 ? limit : 4503599627370496.0;
}

int32_t dpf_additive_bits(int32_t usual, const dpf_release *release)
{
    const int32_t fit = (int32_t)floor(log2(dpf_additive_limit(release->n_parties))) - 16;
    const int32_t fewer = usual - release->fewer_bits > 8 ? usual - release->fewer_bits : 8;
    const int32_t bits = fit < fewer ? fit : fewer;
    return bits > 1 ? bits : 1;
}

dpf_status dpf_additive_begin(const dpf_host *host, const dpf_release *release, int32_t where, double grid,
                              dpf_noise_plan *out)
{
    const dpf_query *query = release->query;
    if (query->n_blocks < 1 || query->n_blocks > DPF_MAX_BLOCKS || release->rows < 1)
        return host->fail(host, DPF_E_INTERNAL, -1, "a release without blocks or rows cannot be planned");
    if (!(release->noise_factor > 0) || isinf(release->noise_factor))
        return host->fail(host, DPF_E_INTERNAL, -1, "the noise factor of a release is not a positive number");
    for (int32_t b = 0; b < query->n_blocks; b++)
        if (query->blocks[b].layout & (DPF_LAYOUT_LOWER | DPF_LAYOUT_OPERATOR))
            return host->fail(
                host, DPF_E_UNSUPPORTED, -1,
                "a quadratic block in a layout for local sides cannot be encoded; use packed or full");
    dpf_clear(out);
    out->where = where;
    out->n_blocks = query->n_blocks;
    for (int32_t b = 0; b < query->n_blocks; b++)
        out->grid[b] = out->gram_grid[b] = grid;
    return DPF_OK;
}

static const char *additive_block_name(int32_t kind)
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

dpf_status dpf_additive_check(const dpf_host *host, const dpf_release *release, int32_t block, double norm)
{
    if (norm >= 0 && isfinite(norm))
        return DPF_OK;
    char text[360] = "the sensitivity of the ";
    strcat(text, additive_block_name(release->query->blocks[block].kind));
    strcat(text, isnan(norm) ? " block is not stated for this privacy unit and adjacency, so no noise can be "
                               "chosen; ask [privacy] for another unit or adjacency, or "
                             : " block has no bound for this privacy unit and adjacency, so no noise can be "
                               "chosen; ");
    strcat(text, release->side == DPF_SIDE_ITEMS
                     ? "bound a contribution, for example by [items] transforms = clip-user"
                     : "bound a contribution, for example by [users] transforms = clip-user");
    return host->fail(host, DPF_E_PRIVACY, -1, text);
}

double dpf_additive_coordinates(const dpf_release *release, int32_t block, int32_t gram)
{
    int64_t rows = gram ? 1 : release->rows - (release->query->has_gram ? 1 : 0);
    return (double)rows * (double)release->query->blocks[block].length;
}

double dpf_additive_round_up(double x, double grid)
{
    return ceil(x / grid * (1 + 4e-15)) * grid;
}

int dpf_additive_choose(double ideal, double per_step, double norm, int32_t bits, int32_t max_bits,
                        double *grid, double *scale)
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

dpf_status dpf_additive_shares(const dpf_host *host, const dpf_release *release, const double *norms,
                               double *out)
{
    const int32_t n_blocks = release->query->n_blocks;
    int32_t moved = 0;
    for (int32_t b = 0; b < n_blocks; b++)
        moved += norms[b] > 0;
    for (int32_t b = 0; b < n_blocks; b++) {
        out[b] = release->block_shares ? release->block_shares[b] : norms[b] > 0 ? 1.0 / moved : 0;
        if (norms[b] > 0 && !(out[b] > 0))
            return host->fail(host, DPF_E_CONFIG, -1,
                              "a block that needs noise has a share of 0 in block-shares");
    }
    return DPF_OK;
}

dpf_message_norms dpf_additive_message(const dpf_release *release)
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

double *dpf_additive_at(double *rows, double *gram, int32_t bit)
{
    return bit < DPF_GRAM_BIT ? &rows[bit] : &gram[bit - DPF_GRAM_BIT];
}

double dpf_additive_rounding(const dpf_message_norms *message, uint32_t blocks, const double *grid,
                             const double *unit, int32_t p)
{
    double sum = 0;
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        const double step = blocks >> b & 1 ? grid[b] / unit[b] : 0;
        sum += (blocks >> b & 1 ? dpf_block_numbers(message, b) : 0) * dpf_joint_power(step, p);
    }
    return p == 1 ? sum : sqrt(sum);
}

void dpf_additive_relative(const dpf_message_norms *message, uint32_t blocks, int32_t p, int32_t unit,
                           int32_t adjacency, const double *norms, double gram_share, double *relative)
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
static int additive_choose_joint(const dpf_release *release, uint32_t blocks, const double *relative,
                                 int32_t p, double factor, double shares, double norm, int32_t bits,
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

/* Relative scales from configured shares of a budget: |x_b| / s_b is a block's part. */
static dpf_status additive_by_shares(const dpf_host *host, const dpf_release *release, int32_t p,
                                     const double *norms, double part, double *relative)
{
    double shares[DPF_MAX_BLOCKS];
    const dpf_status status = dpf_additive_shares(host, release, norms, shares);
    for (int32_t b = 0; status == DPF_OK && b < release->query->n_blocks; b++) {
        const double of_budget = shares[b] * part;
        relative[b] = norms[b] > 0 ? norms[b] / (p == 1 ? of_budget : sqrt(of_budget)) : 0;
    }
    return status;
}

dpf_status dpf_additive_together(const dpf_host *host, const dpf_release *release,
                                 const dpf_additive_request *ask, dpf_noise_plan *out, int *done)
{
    const dpf_message_norms message = dpf_additive_message(release);
    const double gram_share = message.gram ? release->gram_share : 0;
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
    for (int32_t gram = 0; release->block_shares && gram < n_parts; gram++) {
        const int32_t from = gram ? DPF_GRAM_BIT : 0;
        const dpf_status status = additive_by_shares(host, release, ask->p, norms + from,
                                                     gram ? gram_share : 1 - gram_share, relative + from);
        if (status != DPF_OK)
            return status;
    }
    *done = -1;
    if (additive_choose_joint(release, moved, relative, ask->p, ask->factor, ask->parts,
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
