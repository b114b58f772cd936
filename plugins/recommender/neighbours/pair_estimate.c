/* SPDX-License-Identifier: Apache-2.0 */
#include "pair_estimate.h"

#include <math.h>
#include <string.h>

void pair_estimate_inverse(const struct bit_response *channel, const double reported[PAIR_CELLS],
                           double estimate[PAIR_CELLS])
{
    const double q = channel->invent, d = channel->keep - channel->invent;
    const double n = reported[0] + reported[1] + reported[2] + reported[3];
    const double first = reported[PAIR_FIRST] + reported[PAIR_BOTH],
                 second = reported[PAIR_SECOND] + reported[PAIR_BOTH];
    const double both = (reported[PAIR_BOTH] - q * (first + second) + n * q * q) / (d * d);
    const double true_first = (first - n * q) / d, true_second = (second - n * q) / d;
    estimate[PAIR_BOTH] = both;
    estimate[PAIR_FIRST] = true_first - both;
    estimate[PAIR_SECOND] = true_second - both;
    estimate[PAIR_NEITHER] = n - true_first - true_second + both;
}

/* channel[r][t] = Pr[reported cell r | true cell t]. */
static void channel_of(const struct bit_response *response, double channel[PAIR_CELLS][PAIR_CELLS])
{
    const double bit[2][2] = {{1.0 - response->invent, 1.0 - response->keep},
                              {response->invent, response->keep}}; /* report, truth */
    for (int r = 0; r < PAIR_CELLS; r++)
        for (int t = 0; t < PAIR_CELLS; t++)
            channel[r][t] = bit[r >> 1][t >> 1] * bit[r & 1][t & 1];
}

/* A number, or a mask, for each lane: vectors of the compiler, of whatever width the processor has. */
typedef double lanes_of_reals __attribute__((vector_size(8 * PAIR_LANES)));
typedef int64_t lanes_of_bits __attribute__((vector_size(8 * PAIR_LANES)));

struct climb {
    double channel[PAIR_CELLS][PAIR_CELLS];
    lanes_of_reals reported[PAIR_CELLS], estimate[PAIR_CELLS];
    lanes_of_reals still; /* a pair that moves by no more than this stays as it is from then on */
    lanes_of_bits going;  /* all ones for pairs that do not */
    lanes_of_reals one;
};

#define LANES_INLINE static inline __attribute__((always_inline))

/* The factors of one step: each reported cell is divided among the true ones as the estimate makes them
 * likely. */
LANES_INLINE void climb_factors(const struct climb *climb, lanes_of_reals factor[PAIR_CELLS])
{
    for (int r = 0; r < PAIR_CELLS; r++) {
        lanes_of_reals expected = climb->estimate[0] * climb->channel[r][0];
        for (int t = 1; t < PAIR_CELLS; t++)
            expected += climb->estimate[t] * climb->channel[r][t];
        /* Nothing is expected only of lanes without users, where nothing is reported: x / 1 = 0. */
        expected += (lanes_of_reals)((expected == 0.0) & (lanes_of_bits)climb->one);
        const lanes_of_reals ratio = climb->reported[r] / expected;
        for (int t = 0; t < PAIR_CELLS; t++)
            factor[t] = r == 0 ? ratio * climb->channel[r][t] : factor[t] + ratio * climb->channel[r][t];
    }
}

LANES_INLINE void climb_all(struct climb *climb, int64_t iterations)
{
    for (int64_t i = 0; i < iterations; i++) {
        lanes_of_reals factor[PAIR_CELLS] = {{0}}, moved = {0};
        climb_factors(climb, factor);
        for (int t = 0; t < PAIR_CELLS; t++) {
            const lanes_of_reals next = climb->estimate[t] * factor[t];
            const lanes_of_bits change = (lanes_of_bits)(next - climb->estimate[t]) & INT64_MAX;
            moved += (lanes_of_reals)change;
            climb->estimate[t] = (lanes_of_reals)((climb->going & (lanes_of_bits)next) |
                                                  (~climb->going & (lanes_of_bits)climb->estimate[t]));
        }
        climb->going &= moved > climb->still;
        int64_t any = 0;
        for (int l = 0; l < PAIR_LANES; l++)
            any |= climb->going[l];
        if (!any)
            return;
    }
}

#define SIMD_TEMPLATE "pair_estimate_loops.h"
#include "each_kind.h"

static void climb_start(const struct bit_response *response, double reported[PAIR_CELLS][PAIR_LANES],
                        struct climb *climb)
{
    channel_of(response, climb->channel);
    for (int l = 0; l < PAIR_LANES; l++) {
        double one[PAIR_CELLS], inverse[PAIR_CELLS], n = 0.0, least = 0.0;
        for (int c = 0; c < PAIR_CELLS; c++)
            n += one[c] = reported[c][l];
        pair_estimate_inverse(response, one, inverse);
        for (int c = 0; c < PAIR_CELLS; c++)
            least = fmin(least, inverse[c]);
        for (int c = 0; c < PAIR_CELLS; c++) {
            climb->reported[c][l] = one[c];
            climb->estimate[c][l] = least < 0.0 ? n / PAIR_CELLS : inverse[c];
        }
        climb->going[l] = least < 0.0 ? -1 : 0;
        climb->still[l] = 1e-9 * n;
        climb->one[l] = 1.0;
    }
}

void pair_estimate_bayes_lanes(const struct bit_response *channel, double reported[PAIR_CELLS][PAIR_LANES],
                               int64_t iterations, double estimate[PAIR_CELLS][PAIR_LANES])
{
    struct climb climb;
    climb_start(channel, reported, &climb);
    const int kind = simd_choose(SIMD_KIND_AUTO);
    SIMD_PICK(kind, climb_all)(&climb, iterations);
    for (int c = 0; c < PAIR_CELLS; c++)
        for (int l = 0; l < PAIR_LANES; l++)
            estimate[c][l] = climb.estimate[c][l];
}

void pair_estimate_bayes(const struct bit_response *channel, const double reported[PAIR_CELLS],
                         int64_t iterations, double estimate[PAIR_CELLS])
{
    double lanes[PAIR_CELLS][PAIR_LANES] = {{0}}, out[PAIR_CELLS][PAIR_LANES];
    for (int c = 0; c < PAIR_CELLS; c++)
        lanes[c][0] = reported[c];
    pair_estimate_bayes_lanes(channel, lanes, iterations, out);
    for (int c = 0; c < PAIR_CELLS; c++)
        estimate[c] = out[c][0];
}

static double in_unit(double x)
{
    return x > 0.0 ? fmin(x, 1.0) : 0.0;
}

double pair_jaccard(const double cells[PAIR_CELLS])
{
    const double any = cells[PAIR_FIRST] + cells[PAIR_SECOND] + cells[PAIR_BOTH];
    return any > 0.0 ? in_unit(cells[PAIR_BOTH] / any) : 0.0;
}

double pair_cosine(const double cells[PAIR_CELLS])
{
    const double first = cells[PAIR_FIRST] + cells[PAIR_BOTH], second = cells[PAIR_SECOND] + cells[PAIR_BOTH];
    return first > 0.0 && second > 0.0 ? in_unit(cells[PAIR_BOTH] / sqrt(first * second)) : 0.0;
}

void pair_similarities(int kind, const struct pair_row *row, float out[PAIR_ROW])
{
    SIMD_PICK(kind, similarities)(row, out);
}
