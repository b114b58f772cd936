/* SPDX-License-Identifier: Apache-2.0 */
#include "pld_pair.h"

#include <float.h>

#include "dpframe/integer_noise.h"

static double normal_above(double x)
{
    return 0.5 * erfc(x * 0.70710678118654752440);
}

static const struct pld_tails nothing_low = {0.0, 0.0, 1.0, 1.0, 0.0};
static const struct pld_tails nothing_high = {1.0, 1.0, 0.0, 0.0, 0.0};

/* Where tails are small, the rounding of their arguments counts: (ln Phi)' is at most |x| + 1 in size. */
static struct pld_tails gaussian_tails(double mu, double loss)
{
    const double p = loss / mu - mu / 2.0, q = loss / mu + mu / 2.0;
    const double p_small = normal_above(fabs(p)), q_small = normal_above(fabs(q));
    const double size = fabs(loss / mu) + mu / 2.0;
    return (struct pld_tails){
        p > 0.0 ? 1.0 - p_small : p_small,
        q > 0.0 ? 1.0 - q_small : q_small,
        p > 0.0 ? p_small : 1.0 - p_small,
        q > 0.0 ? q_small : 1.0 - q_small,
        DBL_EPSILON * (4.0 + 2.0 * size * (fabs(q) < fabs(p) ? fabs(p) : fabs(q)) + 2.0 * size),
    };
}

static struct pld_tails laplace_tails(double size, double loss)
{
    if (loss < -size)
        return nothing_low;
    if (loss >= size)
        return nothing_high;
    const double p = 0.5 * exp((loss - size) / 2.0), q = 0.5 * exp(-(loss + size) / 2.0);
    return (struct pld_tails){p, 1.0 - q, 1.0 - p, q, DBL_EPSILON * (4.0 + 2.0 * size)};
}

/* Losses s(m-2k), k = 0 .. m: P has x^k/(1+x) from k on, for 0 < k <= m, x = e^{-s}; Q from m-k on. */
static struct pld_tails discrete_laplace_tails(double step, double steps, double loss)
{
    const double first = ceil((steps - loss / step) / 2.0); /* the first k with a loss of at most that */
    if (first > steps)
        return nothing_low;
    if (first <= 0.0)
        return nothing_high;
    const double one = 1.0 / (1.0 + exp(-step));
    const double p = one * exp(-step * first), q = one * exp(-step * (steps - first + 1.0));
    return (struct pld_tails){p, 1.0 - q, 1.0 - p, q, DBL_EPSILON * (8.0 + 2.0 * step * steps)};
}

static struct pld_tails response_tails(double size, double lost, double loss)
{
    const double likely = 1.0 / (1.0 + exp(-size)), rare = 1.0 / (1.0 + exp(size)), keep = 1.0 - lost;
    if (loss < -size)
        return (struct pld_tails){0.0, lost, 1.0, keep, 4.0 * DBL_EPSILON};
    if (loss >= size)
        return (struct pld_tails){keep, 1.0, lost, 0.0, 4.0 * DBL_EPSILON};
    return (struct pld_tails){keep * rare, lost + keep * likely, lost + keep * likely, keep * rare,
                              8.0 * DBL_EPSILON};
}

/* Sum of e^{-x^2/(2 s^2)} over the integers x >= first >= 1. */
static double gaussian_sum(double scale, double first)
{
    double sum = 0.0, term = 1.0;
    for (double x = first; term > 1e-18 * sum; x += 1.0) {
        term = exp(-x * x / (2.0 * scale * scale));
        sum += term;
    }
    return sum;
}

static double discrete_gaussian_above(const struct pld_pair *pair, double first)
{
    return first >= 1.0 ? gaussian_sum(pair->step, first) / pair->norm
                        : 1.0 - gaussian_sum(pair->step, 1.0 - first) / pair->norm;
}

/* Losses (2x-1)/(2 s^2) at the integers x; P is centred at 1. */
static struct pld_tails discrete_gaussian_tails(const struct pld_pair *pair, double loss)
{
    double first = floor(loss * pair->step * pair->step + 0.5) + 1.0;
    const double most = 40.0 * pair->step + 4.0; /* nothing is left there */
    first = first > most ? most : first < -most ? -most : first;
    return (struct pld_tails){
        discrete_gaussian_above(pair, 2.0 - first),
        discrete_gaussian_above(pair, 1.0 - first),
        discrete_gaussian_above(pair, first - 1.0),
        discrete_gaussian_above(pair, first),
        DBL_EPSILON * (200.0 + 4.0 * fabs(first) + first * first / (pair->step * pair->step)),
    };
}

static struct pld_tails table_tails(const struct pld_table *table, double loss)
{
    const int64_t i = pld_table_find(table, loss);
    return (struct pld_tails){table->p_below[i], table->q_below[i], table->p_above[i] + table->infinite,
                              table->q_above[i], 4.0 * DBL_EPSILON};
}

static struct pld_tails whole_tails(const struct pld_pair *pair, double loss)
{
    switch (pair->shape) {
    case PLD_GAUSSIAN:
        return gaussian_tails(pair->size, loss);
    case PLD_LAPLACE:
        return laplace_tails(pair->size, loss);
    case PLD_DISCRETE_LAPLACE:
        return discrete_laplace_tails(pair->step, pair->steps, loss);
    case PLD_RESPONSE:
        return response_tails(pair->size, pair->lost, loss);
    case PLD_POINTS:
        return table_tails(pair->table, loss);
    case PLD_DISCRETE_GAUSSIAN:
    default:
        return discrete_gaussian_tails(pair, loss);
    }
}

/* ln((e^loss - (1-q)) / q): the loss before the draw. */
static double before_draw(double loss, double q)
{
    const double ratio = expm1(loss) / q;
    if (ratio <= -1.0)
        return -INFINITY;
    return isinf(ratio) ? loss - log(q) : log1p(ratio);
}

struct pld_tails pld_pair_tails(const struct pld_pair *pair, double loss)
{
    if (pair->rate >= 1.0)
        return whole_tails(pair, loss);
    const double q = pair->rate, x = before_draw(pair->adding ? -loss : loss, q);
    const struct pld_tails whole =
        isinf(x) ? (struct pld_tails){0.0, pair->lost, 1.0, 1.0 - pair->lost, 4.0 * DBL_EPSILON}
                 : whole_tails(pair, x);
    const double error = whole.error + 4.0 * DBL_EPSILON;
    const double low = (1.0 - q) * whole.q_low + q * whole.p_low;
    const double high = (1.0 - q) * whole.q_high + q * whole.p_high;
    if (!pair->adding)
        return isinf(x) && expm1(loss) / q < -1.0
                   ? nothing_low
                   : (struct pld_tails){low, whole.q_low, high, whole.q_high, error};
    /* The loss is -ln(1-q + q e^x): it is above its threshold where the other one is below. */
    return isinf(x) && expm1(-loss) / q < -1.0
               ? nothing_high
               : (struct pld_tails){whole.q_high, high, whole.q_low, low, error};
}

double pld_pair_infinite(const struct pld_pair *pair)
{
    return pair->rate < 1.0 ? (pair->adding ? 0.0 : pair->rate * pair->lost) : pair->lost;
}

/* Of the pair without its draw; the smallest is its negative, but for points that have no draw. */
static double whole_largest(const struct pld_pair *pair)
{
    switch (pair->shape) {
    case PLD_GAUSSIAN:
    case PLD_DISCRETE_GAUSSIAN:
        return INFINITY;
    case PLD_POINTS:
        return pair->table->loss[pair->table->n - 1];
    case PLD_DISCRETE_LAPLACE:
        return pair->step * pair->steps;
    case PLD_LAPLACE:
    case PLD_RESPONSE:
    default:
        return pair->size;
    }
}

/* ln(1-q + q e^x) */
static double after_draw(double x, double q)
{
    return x < 1.0 ? log1p(q * expm1(x)) : x + log(q + (1.0 - q) * exp(-x));
}

double pld_pair_largest(const struct pld_pair *pair)
{
    const double whole = whole_largest(pair), least = pair->lost > 0.0 ? INFINITY : whole;
    if (pair->rate >= 1.0)
        return whole;
    return pair->adding ? -after_draw(-least, pair->rate) : after_draw(whole, pair->rate);
}

double pld_pair_smallest(const struct pld_pair *pair)
{
    const double whole = whole_largest(pair), least = pair->lost > 0.0 ? INFINITY : whole;
    if (pair->rate >= 1.0)
        return pair->shape == PLD_POINTS ? pair->table->loss[0] : -whole;
    return pair->adding ? -after_draw(whole, pair->rate) : after_draw(-least, pair->rate);
}

/* ---- from charges ------------------------------------------------------------------------------- */

static double response_size(double flip)
{
    const double rare = flip < 0.5 ? flip : 1.0 - flip;
    return rare > 0.0 ? log1p(-rare) - log(rare) : INFINITY;
}

/* Bits that are drawn together share their draw: then they are one release of all their epsilons. */
static const char *make_response(const dpf_charge *charge, struct pld_pair *out, double *copies)
{
    const double flip = charge->p.response.flip, bits = ceil(charge->sensitivity * (1.0 - 1e-12));
    if (!(flip >= 0.0 && flip <= 1.0))
        return "its probability of a flip is not in [0, 1]";
    out->size = response_size(flip);
    if (charge->rate < 1.0)
        out->size *= bits;
    else
        *copies *= bits;
    return NULL;
}

/* Exact for one step; else from above as in integer_noise.h, from below by a convolution. */
static const char *make_discrete_gaussian(const dpf_charge *charge, int from_below, struct pld_pair *out,
                                          double *copies)
{
    const double steps = charge->sensitivity / charge->grid, scale = charge->scale / charge->grid;
    out->shape = PLD_GAUSSIAN;
    if (steps <= 1.0 + 1e-9 && scale < 16.0 && (!from_below || steps >= 1.0 - 1e-12)) {
        out->shape = PLD_DISCRETE_GAUSSIAN;
        out->step = scale;
        out->norm = 1.0 + 2.0 * gaussian_sum(scale, 1.0);
        return NULL;
    }
    out->size = from_below ? floor(steps * (1.0 + 1e-12)) / sqrt(scale * scale + 9.0)
                           : steps * dpf_discrete_gaussian_shift(scale);
    if (!from_below && isinf(out->size))
        return "its noise is less than 0.58 of a grid step; a finer grid is needed";
    if (from_below && (out->size == 0.0 || scale < 6.0))
        *copies = 0.0; /* the grid is too coarse for the convolution's error to vanish */
    return NULL;
}

/* Of all rounds together, each given the ones before. A move that is a bound only need not occur. */
static const char *make_correlated(const dpf_charge *charge, int from_below, struct pld_pair *out,
                                   double *copies)
{
    const double steps = charge->sensitivity / charge->grid, scale = charge->scale / charge->grid;
    out->shape = PLD_GAUSSIAN;
    out->size = from_below ? floor(steps * (1.0 + 1e-12)) / sqrt(scale * scale + 9.0)
                           : steps * dpf_discrete_gaussian_shift(scale);
    if (from_below && (out->size == 0.0 || scale < 6.0 || charge->p.correlated.attained < 1.0))
        *copies = 0.0;
    if (!(charge->grid > 0.0))
        return "correlated noise is discrete, but no grid is stated";
    return isinf(out->size) ? "its noise is less than 0.58 of a grid step; a finer grid is needed" : NULL;
}

/* No pair is known to occur: which vectors of integers have the stated norms is not. */
static const char *make_skellam(const dpf_charge *charge, int from_below, struct pld_pair *out,
                                double *copies)
{
    const double variance = charge->p.skellam.variance / (charge->grid * charge->grid);
    out->shape = PLD_GAUSSIAN;
    out->size = charge->sensitivity / charge->grid * dpf_skellam_shift(variance);
    if (from_below)
        *copies = 0.0;
    return isinf(out->size) ? "its noise is less than a grid step; a finer grid is needed" : NULL;
}

static const char *make_discrete_laplace(const dpf_charge *charge, struct pld_pair *out)
{
    if (charge->grid == 0.0) {
        out->shape = PLD_LAPLACE;
        return NULL;
    }
    out->step = charge->grid / charge->scale;
    out->steps = floor(charge->sensitivity / charge->grid * (1.0 + 1e-12));
    out->steps = out->steps < 1.0 ? 1.0 : out->steps;
    return NULL;
}

static const char *make_pair(const dpf_charge *charge, int from_below, struct pld_pair *out, double *copies)
{
    const dpf_event_numbers *p = &charge->p;
    *out = (struct pld_pair){
        PLD_RESPONSE, charge->sensitivity / charge->scale, 0.0, 0.0, 0.0, 0.0, charge->rate, 0, NULL};
    *copies = charge->copies;
    switch (charge->kind) {
    case DPF_EVENT_GAUSSIAN:
        out->shape = PLD_GAUSSIAN;
        return NULL;
    case DPF_EVENT_LAPLACE:
        out->shape = PLD_LAPLACE;
        return NULL;
    case DPF_EVENT_DISCRETE_LAPLACE:
        out->shape = PLD_DISCRETE_LAPLACE;
        return make_discrete_laplace(charge, out);
    case DPF_EVENT_DISCRETE_GAUSSIAN:
        out->shape = PLD_GAUSSIAN;
        return charge->grid == 0.0 ? NULL : make_discrete_gaussian(charge, from_below, out, copies);
    case DPF_EVENT_CORRELATED_GAUSSIAN:
        return make_correlated(charge, from_below, out, copies);
    case DPF_EVENT_SKELLAM:
        return make_skellam(charge, from_below, out, copies);
    case DPF_EVENT_PURE:
        out->size = p->pure.epsilon * charge->sensitivity;
        return p->pure.epsilon >= 0.0 ? NULL : "its epsilon is negative or not a number";
    case DPF_EVENT_APPROX:
        out->size = p->approx.epsilon;
        out->lost = p->approx.delta;
        return p->approx.epsilon >= 0.0 && p->approx.delta >= 0.0 && p->approx.delta <= 1.0
                   ? NULL
                   : "its epsilon or delta is out of range";
    case DPF_EVENT_RANDOMIZED_RESPONSE:
        return make_response(charge, out, copies);
    default:
        return "the pld accountant has no dominating pair for this kind";
    }
}

/* Roundings of what pairs are made of are on the safe side. */
const char *pld_pair_make(const dpf_charge *charge, int from_below, struct pld_pair *out, double *copies)
{
    const char *fault = make_pair(charge, from_below, out, copies);
    const double rounding = 1.0 + (from_below ? -16.0 : 16.0) * DBL_EPSILON;
    out->size *= rounding;
    if (out->shape == PLD_DISCRETE_LAPLACE)
        out->step *= rounding;
    return fault;
}

struct pld_pair pld_pair_points(const struct pld_table *table)
{
    return (struct pld_pair){.shape = PLD_POINTS,
                             .size = table->loss[table->n - 1],
                             .lost = table->infinite,
                             .rate = 1.0,
                             .table = table};
}
