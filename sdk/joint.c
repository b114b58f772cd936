/* SPDX-License-Identifier: Apache-2.0 */
/* joint.c - how far a message moves under bounds over groups of its blocks.
 *
 * Why it is a bound. Let u_b = |x_b|_p / s_b <= c_b, block b's own bound. The p-th power of the norm is the
 * sum of the u_b^p. Any partition of the blocks into groups gives a bound: the sum, over groups, of the
 * largest value that a group's bound and its blocks' own bounds leave. A group of one block gives c_b^p. A
 * joint norm with y_b = |x_b|_within / w_b and |y|_across <= C gives u_b <= r_b y_b, r_b = k_b w_b / s_b,
 * where k_b relates the norms: |x|_2 <= |x|_1, |x|_1 <= sqrt(n) |x|_2 over n numbers. Then, by case:
 *   across = p       sum r_b^p z_b with z_b = y_b^p, sum z_b <= C^p, z_b <= (c_b/r_b)^p: a fractional
 *                    knapsack, solved by filling blocks in the order of r_b;
 *   across 1, p 2    y_b <= m_b = min(C, c_b/r_b), so r_b^2 y_b^2 <= (r_b^2 m_b) y_b: a knapsack again, an
 *                    upper bound that is exact if one block takes all;
 *   across 2, p 1    sum r_b y_b with sum y_b^2 <= C^2: y is proportional to r if nothing is capped (Cauchy);
 *                    capped blocks are taken out one after another.
 * All partitions into the given joint norms are tried, and the least bound counts.
 */
#include "dpframe/joint.h"

#include "additive_parts.h"

uint32_t dpf_message_bits(const dpf_message_norms *message)
{
    const uint32_t rows = dpf_row_bits(message->query);
    return rows | (message->gram ? rows << DPF_GRAM_BIT : 0);
}

const dpf_norms *dpf_block_norms(const dpf_message_norms *message, int32_t bit, int32_t unit,
                                 int32_t adjacency)
{
    const dpf_sensitivity *block =
        bit < DPF_GRAM_BIT ? &message->blocks[bit] : &message->gram[bit - DPF_GRAM_BIT];
    return &block->at[unit][adjacency];
}

double dpf_block_numbers(const dpf_message_norms *message, int32_t bit)
{
    const int32_t in_gram = bit >= DPF_GRAM_BIT, block = in_gram ? bit - DPF_GRAM_BIT : bit;
    return (in_gram ? 1.0 : (double)message->rows) * message->query->blocks[block].length;
}

dpf_joint_norm dpf_joint_new(uint32_t blocks, int32_t within, int32_t across)
{
    dpf_joint_norm bound;
    memset(&bound, 0, sizeof bound);
    bound.blocks = blocks;
    bound.within = within;
    bound.across = across;
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++)
        bound.weight[b] = 1.0;
    for (int32_t u = 0; u < DPF_UNIT_ROWS; u++)
        for (int32_t a = 0; a < DPF_ADJACENCY_ROWS; a++)
            bound.at[u][a] = NAN;
    return bound;
}

void dpf_joint_add(dpf_joint_norms *set, const dpf_joint_norm *bound)
{
    if (set && set->n < set->capacity)
        set->bounds[set->n++] = *bound;
}

/* ---- the largest norm ------------------------------------------------------------------------ */

/* One block under a joint norm: u <= r y. */
typedef struct joint_part {
    double ratio; /* r */
    double cap;   /* largest u; infinite where the block by itself is not stated */
} joint_part;

/* The largest sum of gain_b z_b with sum z_b <= room and z_b <= most_b: blocks in the order of their gain. */
static double joint_knapsack(int32_t n, const double *gain, const double *most, double room)
{
    uint32_t taken = 0;
    double sum = 0;
    for (int32_t step = 0; step < n && room > 0; step++) {
        int32_t best = -1;
        for (int32_t i = 0; i < n; i++)
            if (!(taken >> i & 1) && (best < 0 || gain[i] > gain[best]))
                best = i;
        const double z = most[best] < room ? most[best] : room;
        taken |= UINT32_C(1) << best;
        sum += gain[best] * z;
        room -= z;
    }
    return sum;
}

/* The largest sum of r_b y_b with sum y_b^2 <= C^2 and r_b y_b <= cap_b. */
static double joint_filled(int32_t n, const joint_part *parts, double c)
{
    uint32_t capped = 0;
    for (;;) {
        double room = c * c, squares = 0, sum = 0;
        for (int32_t i = 0; i < n; i++) {
            const double y = parts[i].cap / parts[i].ratio;
            if (capped >> i & 1) {
                room -= y * y;
                sum += parts[i].cap;
            } else {
                squares += parts[i].ratio * parts[i].ratio;
            }
        }
        if (!(squares > 0) || !(room > 0))
            return sum;
        /* y = t r for the others. */
        const double t = sqrt(room / squares);
        const uint32_t before = capped;
        for (int32_t i = 0; i < n; i++)
            if (!(capped >> i & 1) && t * parts[i].ratio * parts[i].ratio > parts[i].cap)
                capped |= UINT32_C(1) << i;
        if (capped == before)
            return sum + t * squares;
    }
}

/* The largest sum of u_b^p under |y|_across <= c. */
static double joint_group(int32_t n, const joint_part *parts, int32_t across, double c, int32_t p)
{
    double gain[DPF_BLOCK_BITS], most[DPF_BLOCK_BITS];
    if (across == 2 && p == 1)
        return joint_filled(n, parts, c);
    for (int32_t i = 0; i < n; i++) {
        const double y = fmin(c, parts[i].cap / parts[i].ratio);
        gain[i] = dpf_joint_power(parts[i].ratio, p) * (across == p ? 1 : y);
        most[i] = across == p ? dpf_joint_power(y, p) : y;
    }
    return joint_knapsack(n, gain, most, across == p ? dpf_joint_power(c, p) : c);
}

/* Blocks whose own bound is 0 do not move, whatever else is known. */
static double joint_cap(const dpf_message_norms *message, int32_t bit, int32_t p, int32_t unit,
                        int32_t adjacency)
{
    const dpf_norms *norms = dpf_block_norms(message, bit, unit, adjacency);
    return p == 1 ? norms->l1 : norms->l2;
}

/* The sum of u_b^p over `blocks`, by bounds `from` on; NaN where nothing is stated. */
static double joint_least(const dpf_message_norms *message, uint32_t blocks, const double *scale, int32_t p,
                          int32_t unit, int32_t adjacency, int32_t from)
{
    const int32_t n = message->joint ? message->joint->n : 0;
    joint_part parts[DPF_BLOCK_BITS];
    if (from >= n) {
        double sum = 0;
        for (int32_t b = 0; b < DPF_BLOCK_BITS; b++)
            if (blocks >> b & 1)
                sum += dpf_joint_power(joint_cap(message, b, p, unit, adjacency) / scale[b], p);
        return sum;
    }
    const double without = joint_least(message, blocks, scale, p, unit, adjacency, from + 1);
    const dpf_joint_norm *bound = &message->joint->bounds[from];
    const uint32_t group = blocks & bound->blocks;
    const double c = bound->at[unit][adjacency];
    if (!group || !(c >= 0) || isinf(c))
        return without;
    int32_t size = 0;
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        if (!(group >> b & 1))
            continue;
        const double own = joint_cap(message, b, p, unit, adjacency) / scale[b];
        const double change = p == 1 && bound->within == 2 ? sqrt(dpf_block_numbers(message, b)) : 1;
        if (own == 0)
            continue;
        parts[size].ratio = change * bound->weight[b] / scale[b];
        parts[size++].cap = isnan(own) ? INFINITY : own;
    }
    const double with = joint_group(size, parts, bound->across, c, p) +
                        joint_least(message, blocks & ~group, scale, p, unit, adjacency, from + 1);
    return fmin(with, without); /* NaN: not stated, does not count */
}

double dpf_joint_largest(const dpf_message_norms *message, uint32_t blocks, const double *scale, int32_t p,
                         int32_t unit, int32_t adjacency)
{
    const double sum = joint_least(message, blocks, scale, p, unit, adjacency, 0);
    return (p == 1 ? sum : sqrt(sum)) * (1 + 1.5e-14);
}

double dpf_joint_largest_number(const dpf_message_norms *message, uint32_t blocks, const double *scale,
                                int32_t unit, int32_t adjacency)
{
    double most = 0;
    for (int32_t b = 0; b < DPF_BLOCK_BITS; b++) {
        if (!(blocks >> b & 1))
            continue;
        const double linf = dpf_block_norms(message, b, unit, adjacency)->linf / scale[b];
        most = isnan(linf) || linf > most ? linf : most;
    }
    return most;
}

uint32_t dpf_joint_shared(const dpf_message_norms *message, uint32_t blocks, int32_t unit, int32_t adjacency,
                          const dpf_joint_norm **out)
{
    uint32_t best = 0;
    int32_t most = 1;
    for (int32_t i = 0; message->joint && i < message->joint->n; i++) {
        const dpf_joint_norm *bound = &message->joint->bounds[i];
        const uint32_t group = bound->blocks & blocks;
        const double c = bound->at[unit][adjacency];
        const int32_t count = __builtin_popcount(group);
        if (count > most && c >= 0 && !isinf(c)) {
            best = group;
            most = count;
            if (out)
                *out = bound;
        }
    }
    return best;
}
