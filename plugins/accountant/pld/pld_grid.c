/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_grid.h"

#include <float.h>

/* The least x with at most `tail` above it, or the largest with at most that below; to a part in 1e6. */
static double quantile(const struct pld_pair *pair, double tail, int below)
{
    const double sign = below ? -1.0 : 1.0;
    double near = 0.0, far = 1e-3;
    for (int i = 0; i < 2000; i++) {
        const struct pld_tails tails = pld_pair_tails(pair, sign * far);
        if ((below ? tails.p_low : tails.p_high - pld_pair_infinite(pair)) <= tail)
            break;
        near = far;
        far *= 2.0;
    }
    while (far - near > 1e-6 * far) {
        const double middle = near + (far - near) / 2.0;
        const struct pld_tails tails = pld_pair_tails(pair, sign * middle);
        if ((below ? tails.p_low : tails.p_high - pld_pair_infinite(pair)) <= tail)
            far = middle;
        else
            near = middle;
    }
    return sign * far;
}

void pld_grid_range(const struct pld_pair *pair, double tail, double *low, double *high)
{
    const double largest = pld_pair_largest(pair), smallest = pld_pair_smallest(pair);
    const double above = quantile(pair, tail, 0), below = quantile(pair, tail, 1);
    *high = above < largest ? above : largest;
    *low = below > smallest ? below : smallest;
}

/* What lies between two neighbouring grid points, as it moves to the lower and to the upper one. */
struct cell {
    double p;
    double down;
    double up;
};

/* The difference of tails on the side where they are small, and the rounding error it may have. */
static double between(double low, double next_low, double high, double next_high, double *error)
{
    const int right = high < 0.5;
    *error = 4.0 * DBL_EPSILON * (right ? high : next_low);
    const double mass = right ? high - next_high : next_low - low;
    return mass > 0.0 ? mass : 0.0;
}

/* q e^loss where e^loss alone may be too large. */
static double scaled(double q, double loss)
{
    return loss < 700.0 ? q * exp(loss) : q > 0.0 ? exp(log(q) + loss) : 0.0;
}

static struct cell cell_at(const struct pld_tails *from, const struct pld_tails *to, double loss, double h,
                           double *rounding)
{
    double p_error, q_error;
    const double p = between(from->p_low, to->p_low, from->p_high, to->p_high, &p_error);
    const double q =
        scaled(between(from->q_low, to->q_low, from->q_high, to->q_high, &q_error), loss); /* <= p */
    double up = (p - q) / -expm1(-h);
    up = up > 0.0 ? up : 0.0;
    up = up < p ? up : p;
    *rounding += p_error + scaled(q_error, loss);
    return (struct cell){p, p - up, up};
}

static void fill_above(const struct pld_pair *pair, struct pld_losses *losses)
{
    const double h = losses->h, last = (double)(losses->first + losses->n - 1) * h;
    struct pld_tails from = pld_pair_tails(pair, (double)losses->first * h);
    losses->mass[0] = from.p_low;
    for (int64_t i = 1; i < losses->n; i++) {
        const double loss = (double)(losses->first + i - 1) * h;
        const struct pld_tails to = pld_pair_tails(pair, loss + h);
        const struct cell cell = cell_at(&from, &to, loss, h, &losses->rounding);
        losses->mass[i - 1] += cell.down;
        losses->mass[i] = cell.up;
        from = to;
    }
    const double finite = scaled(from.q_high, last);
    const double kept = finite < from.p_high ? finite : from.p_high;
    losses->mass[losses->n - 1] += kept;
    losses->infinite = from.p_high - kept;
}

/* How much of the lower cell may join the upper one at the point between them. */
static double joined(const struct cell *lower, const struct cell *upper, double h)
{
    if (lower->down <= 0.0)
        return 1.0;
    const double part = upper->up * exp(-h) / lower->down;
    return part < 1.0 ? part : 1.0;
}

static void fill_below(const struct pld_pair *pair, struct pld_losses *losses)
{
    const double h = losses->h;
    struct pld_tails from = pld_pair_tails(pair, (double)losses->first * h);
    struct cell lower = {0.0, 0.0, 0.0};
    double used = 1.0; /* part of the lower cell that has moved down */
    losses->mass[0] = 0.0;
    for (int64_t i = 1; i < losses->n; i++) {
        const double loss = (double)(losses->first + i - 1) * h;
        const struct pld_tails to = pld_pair_tails(pair, loss + h);
        const struct cell cell = cell_at(&from, &to, loss, h, &losses->rounding);
        double part = joined(&lower, &cell, h);
        part = part < 1.0 - used ? part : 1.0 - used;
        if (i > 1)
            losses->mass[i - 2] += (1.0 - used - part) * lower.p;
        used = cell.up > 0.0 ? part * lower.down * exp(h) / cell.up : 1.0;
        used = used < 1.0 ? used : 1.0;
        losses->mass[i - 1] += part * lower.p + used * cell.p;
        losses->mass[i] = 0.0;
        lower = cell;
        from = to;
    }
    losses->infinite = pld_pair_infinite(pair);
    if (losses->n > 1)
        losses->mass[losses->n - 2] += (1.0 - used) * lower.p;
    losses->mass[losses->n - 1] += from.p_high - losses->infinite;
}

void pld_grid_fill(const struct pld_pair *pair, int from_below, struct pld_losses *losses)
{
    losses->rounding = 0.0;
    if (from_below)
        fill_below(pair, losses);
    else
        fill_above(pair, losses);
    for (int64_t i = 0; i < losses->n; i++)
        losses->logs[i] = losses->mass[i] > 0.0 ? log(losses->mass[i]) : -INFINITY;
}
