/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_grid.h"

#include <float.h>
#include <string.h>

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

/* The last cell that has mass, and how much of it has moved down to join the one before it. */
struct lower {
    struct cell cell;
    int64_t at; /* the grid point above it */
    double used;
};

/*
 * Parts of the lower cell and of this one, which begins `gap` grid points higher, join at the point above the
 * lower cell: by e1 the lower one is below it, by e2 this one above, in masses of P.
 */
static void join(struct lower *lower, const struct cell *cell, double gap, double h, double *mass)
{
    const double e1 = lower->cell.down * expm1(h);
    const double e2 = cell->p - (cell->p + cell->up * expm1(-h)) * exp(-gap * h);
    double part = e1 > 0.0 ? (e2 > 0.0 ? e2 / e1 : 0.0) : 1.0;
    part = part < 1.0 - lower->used ? part : 1.0 - lower->used;
    double used = e2 > 0.0 ? part * e1 / e2 : 1.0;
    used = used < 1.0 ? used : 1.0;
    if (lower->at > 0)
        mass[lower->at - 1] += (1.0 - lower->used - part) * lower->cell.p;
    mass[lower->at] += part * lower->cell.p + used * cell->p;
    lower->used = used;
}

static void fill_below(const struct pld_pair *pair, struct pld_losses *losses)
{
    const double h = losses->h;
    struct pld_tails from = pld_pair_tails(pair, (double)losses->first * h);
    struct lower lower = {{0.0, 0.0, 0.0}, 0, 1.0};
    memset(losses->mass, 0, (size_t)losses->n * sizeof(double));
    for (int64_t i = 1; i < losses->n; i++) {
        const double loss = (double)(losses->first + i - 1) * h;
        const struct pld_tails to = pld_pair_tails(pair, loss + h);
        const struct cell cell = cell_at(&from, &to, loss, h, &losses->rounding);
        from = to;
        if (cell.p <= 0.0)
            continue;
        if (lower.cell.p <= 0.0)
            lower.at = i - 1;
        join(&lower, &cell, (double)(i - 1 - lower.at), h, losses->mass);
        lower.cell = cell;
        lower.at = i;
    }
    losses->infinite = pld_pair_infinite(pair);
    if (lower.at > 0)
        losses->mass[lower.at - 1] += (1.0 - lower.used) * lower.cell.p;
    losses->mass[losses->n - 1] += from.p_high - losses->infinite;
}

void pld_grid_fill(const struct pld_pair *pair, int from_below, struct pld_losses *losses)
{
    losses->rounding = pair->shape == PLD_POINTS ? pair->table->rounding : 0.0;
    if (from_below)
        fill_below(pair, losses);
    else
        fill_above(pair, losses);
    for (int64_t i = 0; i < losses->n; i++)
        losses->logs[i] = losses->mass[i] > 0.0 ? log(losses->mass[i]) : -INFINITY;
}
