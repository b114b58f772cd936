/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/sum_range.h"

#include <math.h>

#include "plan/release.h"
#include "plan/sensitivity.h"

#define DEVIATIONS 64.0
#define MOST_FEWER 64
#define ROUNDING 1e-9 /* of float64 sums, relative */

static const dpf_sensitivity *block_of(const struct term_plan *term, int b)
{
    const int n = term->sent.n_blocks;
    return b < n ? &term->sensitivity.blocks[b] : &term->sensitivity.gram[b - n];
}

struct sum_range plan_sum_range(const struct plan *plan, const struct term_plan *term, int b, double users)
{
    const int other = term->source == SOURCE_RELATION ? term->side : 1 - term->side;
    const int whole = term->by_user || plan_sends_rows(term); /* a message is a user's */
    const double record = plan_largest_contribution(block_of(term, b), DPF_UNIT_RECORD);
    const double user = plan_largest_contribution(block_of(term, b), DPF_UNIT_USER);
    const double records = (double)plan_rows(plan, DPF_SIDE_ITEMS); /* that a user has at most */
    /* A user's part of the Gram row is there without a record: no number of records bounds it. */
    const int of_records = b < term->sent.n_blocks;
    return (struct sum_range){.most = !whole       ? record
                                      : of_records ? fmin(user, records * record)
                                                   : user,
                              .each = term->pooled              ? users
                                      : whole                   ? 1
                                      : other == DPF_SIDE_USERS ? users
                                                                : (double)plan_rows(plan, other),
                              .messages =
                                  term->by_user && !term->pooled && !plan_sends_rows(term) ? users : 1};
}

/* ---- whether sums fit -------------------------------------------------------------------------------- */

/* limit: of a message, in grid steps. */
static int fits(const struct sum_range *range, double limit, double grid, double scale)
{
    const double message = range->each * (range->most / grid + 1);
    return message < limit && range->messages * message + 4096 * scale / grid < DPF_ADDITIVE_MAX;
}

/* Each bit fewer doubles the grid. -1: no grid helps. */
static int bits_fewer(const struct sum_range *range, double limit, double grid, double scale)
{
    int fewer = 0;
    while (fewer <= MOST_FEWER && !fits(range, limit, ldexp(grid, fewer), scale))
        fewer++;
    return fewer <= MOST_FEWER ? fewer : -1;
}

/* Sums stay within 64 bits if contributions are bounded and there are not too many of them. */
struct sum_fit plan_sums_fit(const struct plan *plan, const struct term_plan *term, double users)
{
    const double limit = dpf_additive_limit(plan_senders(plan, term));
    struct sum_fit out = {.block = -1};
    int helps = 1;
    if (term->noise.modulus > 0 || term->noise.where == DPF_NOISE_NOWHERE)
        return out; /* encoded numbers are bounded by themselves; or nothing is proved anyway */
    for (int b = 0; b < term->sent.n_blocks * (1 + term->sent.has_gram); b++) {
        const int gram = b >= term->sent.n_blocks, k = b % term->sent.n_blocks;
        const struct sum_range range = plan_sum_range(plan, term, b, users);
        const int fewer = bits_fewer(&range, limit, gram ? term->noise.gram_grid[k] : term->noise.grid[k],
                                     gram ? term->noise.gram_scale[k] : term->noise.scale[k]);
        if (fewer == 0)
            continue;
        out.block = out.block < 0 ? k : out.block;
        out.unbounded |= !isfinite(range.most);
        out.fewer_bits = fewer > out.fewer_bits ? fewer : out.fewer_bits;
        helps &= fewer > 0;
    }
    out.fewer_bits = helps ? out.fewer_bits : 0;
    return out;
}

/* ---- bounds of sums that were opened ------------------------------------------------------------------- */

/* Of a block with that grid and variance of a sum of all senders. */
static struct sum_bound bound_of(const struct plan *plan, const struct term_plan *term,
                                 const dpf_noise_plan *noise, int b)
{
    const dpf_mechanism *mechanism = term->mechanism->functions;
    const int gram = b >= term->sent.n_blocks, k = b % term->sent.n_blocks;
    const double grid = gram ? noise->gram_grid[k] : noise->grid[k];
    const double all = (gram ? noise->gram_variance[k] : noise->variance[k]) / (grid * grid);
    const int sent =
        !noise->bare && (noise->where == DPF_NOISE_AT_PARTY || noise->where == DPF_NOISE_IN_SHARES);
    const int once = sent && (mechanism->flags & DPF_MECHANISM_CONTRIBUTORS);
    const struct sum_range range = plan_sum_range(plan, term, b, (double)plan_rows(plan, DPF_SIDE_USERS));
    return (struct sum_bound){.message = range.each * (range.most / grid * (1 + ROUNDING) + 1),
                              .messages = range.messages == 1 ? 1 : 0,
                              .variance = sent && !once ? all / (double)plan_senders(plan, term) : 0,
                              .once = once ? all : 0,
                              .most = noise->message_most};
}

/* What is bounded by data, or goes from friend to friend, is not known here; nor is a Gram row that is not a user's. */
static int is_unknown(const struct term_plan *term, const dpf_noise_plan *noise, int b)
{
    const int gram = b >= term->sent.n_blocks;
    return !noise->message_most && (term->bounds_from_data || term->source == SOURCE_RELATION ||
                                    (gram && !(term->by_user && term->side == DPF_SIDE_ITEMS)));
}

void plan_sum_bounds(const struct plan *plan, const struct term_plan *term, const dpf_noise_plan *noise,
                     struct sum_bound *out)
{
    const dpf_query *sent = &term->sent;
    for (int32_t i = 0; i < 2 * sent->width; i++)
        out[i] = (struct sum_bound){.message = NAN};
    for (int b = 0; b < sent->n_blocks * (1 + sent->has_gram); b++) {
        const dpf_block *block = &sent->blocks[b % sent->n_blocks];
        const struct sum_bound bound = bound_of(plan, term, noise, b);
        for (int32_t i = block->offset; !is_unknown(term, noise, b) && i < block->offset + block->length; i++)
            out[i + (b < sent->n_blocks ? 0 : sent->width)] = bound;
    }
}

double sum_bound_largest(const struct sum_bound *bound, int64_t n)
{
    if (bound->most > 0)
        return (double)n * bound->most;
    const double deviation = sqrt((double)n * bound->variance + bound->once);
    const double largest = (bound->messages > 0 ? bound->messages : (double)n) * bound->message +
                           (deviation > 0 ? DEVIATIONS * (deviation + 1) : 0);
    return largest * (1 + ROUNDING) + 1;
}
