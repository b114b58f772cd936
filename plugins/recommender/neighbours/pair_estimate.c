/* SPDX-License-Identifier: Apache-2.0 */
#include "pair_estimate.h"

#include <math.h>

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

/* One step: each reported cell is divided among the true ones as the present estimate makes them likely.
   Returns how far the estimate moved. */
static double update(const double channel[PAIR_CELLS][PAIR_CELLS], const double reported[PAIR_CELLS],
                     double estimate[PAIR_CELLS])
{
    double factor[PAIR_CELLS] = {0}, moved = 0.0;
    for (int r = 0; r < PAIR_CELLS; r++) {
        double expected = 0.0;
        for (int t = 0; t < PAIR_CELLS; t++)
            expected += channel[r][t] * estimate[t];
        const double ratio = expected > 0.0 ? reported[r] / expected : 0.0;
        for (int t = 0; t < PAIR_CELLS; t++)
            factor[t] += channel[r][t] * ratio;
    }
    for (int t = 0; t < PAIR_CELLS; t++) {
        moved += estimate[t] * fabs(factor[t] - 1.0);
        estimate[t] *= factor[t];
    }
    return moved;
}

void pair_estimate_bayes(const struct bit_response *channel, const double reported[PAIR_CELLS],
                         int64_t iterations, double estimate[PAIR_CELLS])
{
    double table[PAIR_CELLS][PAIR_CELLS];
    pair_estimate_inverse(channel, reported, estimate);
    if (estimate[0] >= 0 && estimate[1] >= 0 && estimate[2] >= 0 && estimate[3] >= 0)
        return;
    const double n = reported[0] + reported[1] + reported[2] + reported[3];
    channel_of(channel, table);
    for (int t = 0; t < PAIR_CELLS; t++)
        estimate[t] = n / PAIR_CELLS;
    for (int64_t i = 0; i < iterations && update(table, reported, estimate) > 1e-9 * n; i++)
        continue;
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
