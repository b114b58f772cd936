/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_read.h"

#include <float.h>
#include <math.h>

/* Sums over losses from the right end of the window down, in units of e^{K - t mean}. */
struct reader {
    const struct pld_transform *t;
    const struct pld_window *window;
    double h;
    double base; /* the loss at index 0 */
    int from_below;
    int64_t index;  /* of the grid point that was added last */
    int64_t at;     /* where the next one is in the transform */
    double mass;    /* above and at it */
    double shrunk;  /* mass times e^{(index-1) h - x} */
    double allowed; /* bound of all errors of delta at the grid point below it */
    double shrink;  /* e^{-h} */
    double slack;   /* relative error of sums, weights and K */
    double noise;   /* errors of the transform, for a weight of 1 */
    double beyond;  /* bound on what lies right of the window */
    double aliased; /* bound on the tilted mass that is folded into it */
};

double pld_read_norm(double tilt, double h)
{
    const double rest = -expm1(-2.0 * tilt * h), linear = h * sqrt(2.0 / rest) / rest;
    return fmin(sqrt(1.0 / rest), linear) * (1.0 + 1e-12);
}

static struct reader reader_new(const struct pld_composed *c)
{
    const struct pld_transform *t = c->transform;
    const struct pld_window *w = c->window;
    const double h = c->losses->h;
    struct reader r = {.t = t, .window = w, .h = h, .from_below = c->from_below, .shrink = exp(-h)};
    for (int64_t i = 0; i < c->n; i++)
        r.base += c->losses[i].copies * c->losses[i].offset;
    const double most = sqrt((double)t->n), plain = fmin(sqrt(-1.0 / expm1(-2.0 * w->tilt * h)), most);
    r.noise = t->error * fmin(pld_read_norm(w->tilt, h), most) + t->rounding * plain * (1.0 + 1e-9);
    r.beyond = exp(w->log_right - w->tilt * (w->high - w->law.mean));
    r.aliased = exp(w->log_right) + exp(w->log_left);
    r.slack =
        1e-12 + 16.0 * DBL_EPSILON *
                    (fabs(w->law.log_sum) + w->tilt * (fabs(w->high) + fabs(w->low) + fabs(w->law.mean)));
    return r;
}

/* Errors of delta where the weight is that: of the transforms, and of what is outside of the window. */
static double outside(const struct reader *r, double weight)
{
    return r->noise * weight + (r->from_below ? r->aliased * weight : r->beyond);
}

static void reader_start(struct reader *r, int64_t last)
{
    r->index = last;
    r->at = pld_transform_index(r->t, (double)last);
}

static double reader_weight(const struct reader *r, int64_t index)
{
    return exp(-r->window->tilt * (r->base + (double)index * r->h - r->window->law.mean));
}

static void reader_add(struct reader *r, double weight)
{
    const double value = r->t->real[r->at] > 0.0 ? r->t->real[r->at] * weight : 0.0;
    r->at = r->at == 0 ? r->t->n - 1 : r->at - 1;
    r->mass += value;
    r->shrunk = (r->shrunk + value) * r->shrink;
}

/* The same for all points from index to last, by frequencies. */
static void reader_sum(struct reader *r, int64_t index, int64_t last)
{
    const int64_t start = pld_transform_index(r->t, (double)(index - 1));
    const double weight = reader_weight(r, index - 1), tilt = r->window->tilt;
    const double decay[2] = {tilt * r->h, (tilt + 1.0) * r->h};
    double sums[2];
    pld_spectrum_sums(&r->t->spectrum, start, last - index + 1, decay, sums);
    r->index = index;
    r->mass = weight * sums[0];
    r->shrunk = weight * sums[1];
}

/* delta at index - 1, from the reader's side. */
static double reader_delta(const struct reader *r, double shrunk)
{
    const double sum = r->mass - shrunk, error = r->slack * fabs(r->mass) + r->allowed;
    return r->from_below ? sum - error : sum + error;
}

/* Whether delta at index - 1 is more than that. What cannot be compared is too much from above, and nothing from below. */
static int reader_exceeds(struct reader *r, double allowed)
{
    r->allowed = outside(r, reader_weight(r, r->index - 1));
    const double delta = reader_delta(r, r->shrunk);
    return r->from_below ? delta > allowed : !(delta <= allowed);
}

/* Moves to the largest index, at most last, from which delta exceeds what is allowed. Returns 0 if there is none down to stop. */
static int find_by_points(struct reader *r, int64_t last, int64_t stop, double allowed)
{
    reader_start(r, last);
    for (; r->index >= stop; r->index--) {
        reader_add(r, reader_weight(r, r->index));
        if (reader_exceeds(r, allowed))
            return 1;
    }
    return 0;
}

/* Left of where epsilon lies, errors grow faster than delta: the first of so many places, from the right, is next to it. */
#define PLACES 64

/* The same; of several such indices any one. */
static int find_by_frequencies(struct reader *r, int64_t last, int64_t stop, double allowed)
{
    const int64_t step = (last - stop) / PLACES + 1;
    int64_t inside = last + 1,
            beyond = last; /* delta is allowed from the first, and exceeds it from the second */
    for (;; beyond = beyond - step > stop ? beyond - step : stop) {
        reader_sum(r, beyond, last);
        if (reader_exceeds(r, allowed))
            break;
        if (beyond == stop)
            return 0;
        inside = beyond;
    }
    while (inside - beyond > 1) {
        const int64_t middle = beyond + (inside - beyond) / 2;
        reader_sum(r, middle, last);
        if (reader_exceeds(r, allowed))
            beyond = middle;
        else
            inside = middle;
    }
    reader_sum(r, beyond, last);
    return reader_exceeds(r, allowed);
}

/* The least epsilon whose delta, in the reader's units, is at most `allowed`. */
static double least_epsilon(struct reader *r, double allowed)
{
    const int64_t last = (int64_t)ceil((r->window->high - r->base) / r->h);
    /* The first index whose lower neighbour is a loss below 0 is the last that tells anything. */
    const int64_t zero = (int64_t)ceil(-r->base / r->h), lowest = last - r->t->n + 1;
    const int64_t stop = zero > last ? last : zero > lowest ? zero : lowest;
    const int found = r->t->spectrum.n > 0 ? find_by_frequencies(r, last, stop, allowed)
                                           : find_by_points(r, last, stop, allowed);
    if (!found)
        return r->from_below || stop > lowest ? 0.0 : fmax(r->base + (double)(stop - 1) * r->h, 0.0);
    /* Nothing is known right of the first grid point, where errors alone may be too much. */
    if (!r->from_below && r->index == last && !(r->window->log_right == -INFINITY))
        return INFINITY;
    const double error = r->slack * fabs(r->mass) + r->allowed;
    const double kept = r->mass + (r->from_below ? -error : error) - allowed;
    /* Where rounding leaves nothing that shrinks, only the upper end of the step is known from above. */
    const double part = kept > 0.0 && r->shrunk > 0.0 ? log(kept / r->shrunk) : r->from_below ? 0.0 : r->h;
    return r->base + (double)(r->index - 1) * r->h + (part > 0.0 ? part < r->h ? part : r->h : 0.0);
}

static double delta_at(struct reader *r, double epsilon)
{
    const int64_t last = (int64_t)ceil((r->window->high - r->base) / r->h), stop = last - r->t->n + 1;
    const int64_t wanted = (int64_t)floor((epsilon - r->base) / r->h) + 1;
    if (wanted < stop)
        return r->from_below ? 0.0 : INFINITY;
    if (r->t->spectrum.n > 0) {
        reader_sum(r, wanted, last);
    } else {
        reader_start(r, last);
        for (; r->index >= wanted; r->index--)
            reader_add(r, reader_weight(r, r->index));
    }
    const double weight = reader_weight(r, wanted - 1);
    r->allowed = outside(r, weight);
    return reader_delta(r, r->shrunk * exp(epsilon - r->base - (double)(wanted - 1) * r->h));
}

/* d delta / d epsilon is -e^epsilon Q(loss > epsilon). */
static double slope_of(const struct reader *r)
{
    const double delta = r->mass - r->shrunk;
    return delta > 0.0 ? r->shrunk / delta : NAN;
}

static double infinite_mass(const struct pld_losses *losses, int64_t n)
{
    double kept = 0.0;
    for (int64_t i = 0; i < n; i++)
        kept += losses[i].copies * log1p(-losses[i].infinite);
    return -expm1(kept);
}

/* What the losses of grid points may be off by, in the sum over all releases. */
static double shift_of(const struct pld_composed *c)
{
    double shift = 0.0;
    for (int64_t i = 0; i < c->n; i++) {
        const struct pld_losses *losses = &c->losses[i];
        const double first = losses->offset + losses->at[0] * losses->h;
        const double last = losses->offset + losses->at[losses->n - 1] * losses->h;
        shift += losses->copies * 4.0 * DBL_EPSILON * fmax(fabs(first), fabs(last));
    }
    return c->from_below ? -shift : shift;
}

double pld_read_epsilon(const struct pld_composed *c, double delta, double *slope)
{
    const struct pld_window *w = c->window;
    const double sign = c->from_below ? 1.0 : -1.0;
    *slope = NAN;
    const double left = delta * (1.0 + sign * 1e-15) - infinite_mass(c->losses, c->n) * (1.0 - sign * 1e-14);
    if (left <= 0.0)
        return INFINITY;
    const double allowed = left * exp(w->tilt * w->law.mean - w->law.log_sum);
    if (!isfinite(allowed)) /* beyond the range of a double: this tilt says nothing */
        return c->from_below ? 0.0 : INFINITY;
    struct reader reader = reader_new(c);
    const double epsilon = least_epsilon(&reader, allowed);
    *slope = slope_of(&reader);
    return fmax(epsilon + shift_of(c), 0.0);
}

double pld_read_delta(const struct pld_composed *c, double epsilon, double *slope)
{
    const struct pld_window *w = c->window;
    const int beyond = epsilon >= pld_law_end(c->losses, c->n, 1); /* nothing finite is there */
    struct reader reader = reader_new(c);
    const double finite =
        beyond ? 0.0 : delta_at(&reader, epsilon - shift_of(c)) * exp(w->law.log_sum - w->tilt * w->law.mean);
    const double delta = finite + infinite_mass(c->losses, c->n);
    *slope = slope_of(&reader);
    if (isnan(delta)) /* beyond the range of a double: this tilt says nothing */
        return c->from_below ? 0.0 : 1.0;
    return delta > 1.0 ? 1.0 : delta > 0.0 ? delta : 0.0;
}
