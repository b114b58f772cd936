/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_grid.h"

#include <float.h>
#include <string.h>

/* At most `tail` of finite losses above x, or below it. */
static int leaves(const struct pld_pair *pair, double tail, int below, double x)
{
    const struct pld_tails tails = pld_pair_tails(pair, x);
    return (below ? tails.p_low : tails.p_high - pld_pair_infinite(pair)) <= tail;
}

/* Of the side of 0: the least x that leaves at most `tail` above it, or the largest with at most that below;
   to a part in 1e6. */
static double quantile(const struct pld_pair *pair, double tail, int below)
{
    const double sign = below ? -1.0 : 1.0;
    double near = 0.0, far = 1e-3;
    for (int i = 0; i < 2000 && !leaves(pair, tail, below, sign * far); i++) {
        near = far;
        far *= 2.0;
    }
    while (far - near > 1e-6 * far) {
        const double middle = near + (far - near) / 2.0;
        if (leaves(pair, tail, below, sign * middle))
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

/* Below the least normal number, numbers are off by so much at most. */
#define UNDERFLOW 0x1p-1073

/* The difference of tails on the side where they are small, and the error it may have. */
static double between(double low, double next_low, double high, double next_high, double relative,
                      double *error)
{
    const int right = high < 0.5;
    const double mass = right ? high - next_high : next_low - low;
    *error = 2.0 * relative * (right ? high : next_low) + 4.0 * UNDERFLOW;
    return mass > 0.0 ? mass : 0.0;
}

/* q e^loss where e^loss alone may be too large; `raise` is 1 or -1: no less than it is, or no more. */
static double scaled(double q, double loss, double raise)
{
    const double error = DBL_EPSILON * (loss < 700.0 ? 8.0 + 2.0 * fabs(loss) : 8.0 + 4.0 * (loss + 745.0));
    const double value = loss < 700.0 ? q * exp(loss) : q > 0.0 ? exp(log(q) + loss) : 0.0;
    return value * (1.0 + raise * error);
}

/*
 * Errors are on the safe side: from above, P has no less than it has, Q no more, and so the mass and what
 * moves up are both no less than they are; then so are all sums of increasing functions, hence all
 * compositions. From below the reverse.
 */
static struct cell cell_at(const struct pld_tails *from, const struct pld_tails *to, double loss, double h,
                           int from_below)
{
    const double relative = from->error > to->error ? from->error : to->error;
    const double side = from_below ? -1.0 : 1.0;
    double p_error, q_error;
    if (from->p_low == to->p_low && from->p_high == to->p_high && from->q_low == to->q_low &&
        from->q_high == to->q_high)
        return (struct cell){0.0, 0.0, 0.0};
    double p = between(from->p_low, to->p_low, from->p_high, to->p_high, relative, &p_error);
    double q = between(from->q_low, to->q_low, from->q_high, to->q_high, relative, &q_error);
    p += side * p_error;
    p = p > 0.0 ? p : 0.0;
    q -= side * q_error;
    q = q > 0.0 ? scaled(q, loss, -side) : 0.0;
    double up = (p - q) / -expm1(-h) * (1.0 + side * 8.0 * DBL_EPSILON);
    up = up > 0.0 ? up : 0.0;
    up = up < p ? up : p;
    return (struct cell){p, p - up, up};
}

static void fill_above(const struct pld_pair *pair, struct pld_losses *losses)
{
    const double h = losses->h, last = (double)(losses->first + losses->n - 1) * h;
    struct pld_tails from = pld_pair_tails(pair, (double)losses->first * h);
    losses->mass[0] = from.p_low * (1.0 + from.error);
    for (int64_t i = 1; i < losses->n; i++) {
        const double loss = (double)(losses->first + i - 1) * h;
        const struct pld_tails to = pld_pair_tails(pair, (double)(losses->first + i) * h);
        const struct cell cell = cell_at(&from, &to, loss, h, 0);
        losses->mass[i - 1] += cell.down;
        losses->mass[i] = cell.up;
        from = to;
    }
    const double high = from.p_high * (1.0 + from.error);
    const double q_high = from.q_high * (1.0 - from.error) - UNDERFLOW;
    const double finite = q_high > 0.0 ? scaled(q_high, last, -1.0) : 0.0;
    const double kept = finite < high ? finite : high;
    losses->mass[losses->n - 1] += kept;
    losses->infinite = high - kept;
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
        const struct pld_tails to = pld_pair_tails(pair, (double)(losses->first + i) * h);
        const struct cell cell = cell_at(&from, &to, loss, h, 1);
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
    const double high = from.p_high * (1.0 - from.error) - losses->infinite;
    losses->mass[losses->n - 1] += high > 0.0 ? high : 0.0;
}

void pld_grid_fill(const struct pld_pair *pair, int from_below, struct pld_losses *losses)
{
    if (from_below)
        fill_below(pair, losses);
    else
        fill_above(pair, losses);
    for (int64_t i = 0; i < losses->n; i++)
        losses->logs[i] = losses->mass[i] > 0.0 ? log(losses->mass[i]) : -INFINITY;
}
