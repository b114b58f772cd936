/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renyi_pbm.c - the curve of the Poisson binomial mechanism: the largest over the mixes of pbm_mixes.h.
 *
 * What the mixes leave out: (P + P')^a (Q + Q')^{1-a} <= P^a Q^{1-a} + P'^a Q'^{1-a}, so it adds at most its
 * mass times e^{(a-1) e}, e the pure epsilon of the client alone.
 *
 * Speed. (a-1) times the divergence of a mix, the logarithm of a moment, is convex in a. So between two
 * orders at which a mix is known it is below the line through both, and where that line is below what another
 * mix has, the mix need not be looked at. Orders are asked for from below, mostly; a few are therefore looked
 * at first, as soon as a second order is asked for.
 */
#include "renyi_pbm.h"

#include <float.h>
#include <math.h>

/* Terms of a sum this much smaller than the largest, in logarithms, are not computed but bounded. */
#define NEGLIGIBLE 60.0
#define MOST_KNOWN 96

struct renyi_pbm {
    struct pbm_mixes *mixes;
    int64_t n_known;
    double orders[MOST_KNOWN]; /* ascending, from 1 */
    double *known;             /* of a mix at such an order, at least: known[k * mixes->n + mix] */
    double *found;             /* of each mix at the order that is asked for */
};

/* At order 1 the moment is the mass, which is 1 but for rounding. */
static void know_order_1(struct renyi_pbm *pbm)
{
    for (int64_t m = 0; m < pbm->mixes->n; m++)
        pbm->known[m] = 2 * pbm->mixes->rounding + 2 * pbm->mixes->mix[m].rest;
    pbm->orders[0] = 1;
    pbm->n_known = 1;
}

struct renyi_pbm *renyi_pbm_new(const dpf_host *host, double theta, int64_t trials, int64_t clients,
                                int zero_out)
{
    const dpf_memory_service *memory = dpf_memory(host);
    struct renyi_pbm *pbm = memory->allocate(host, sizeof(*pbm));
    if (!pbm)
        return NULL;
    pbm->mixes = pbm_mixes_new(host, theta, trials, clients, zero_out);
    for (int64_t m = 0; pbm->mixes && m < pbm->mixes->n; m++) {
        struct pbm_mix *mix = &pbm->mixes->mix[m];
        for (int64_t z = 0; z < mix->n; z++) {
            mix->q[z] = log(mix->p[z] / mix->q[z]);
            mix->p[z] = log(mix->p[z]);
        }
    }
    const uint64_t row = pbm->mixes ? (uint64_t)pbm->mixes->n * sizeof(double) : 0;
    pbm->known = row ? memory->allocate(host, MOST_KNOWN * row) : NULL;
    pbm->found = row ? memory->allocate(host, row) : NULL;
    if (pbm->known && pbm->found) {
        know_order_1(pbm);
        return pbm;
    }
    renyi_pbm_free(host, pbm);
    return NULL;
}

void renyi_pbm_free(const dpf_host *host, struct renyi_pbm *pbm)
{
    if (!pbm)
        return;
    pbm_mixes_free(host, pbm->mixes);
    dpf_memory(host)->release(host, pbm->known);
    dpf_memory(host)->release(host, pbm->found);
    dpf_memory(host)->release(host, pbm);
}

/* Unlike fmax, keeps NaN: what could not be computed must not become small. */
static double larger(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

/* Mixes hold ln P and ln P/Q here. ln sum P e^{t ln P/Q}: t = a - 1 for D_a(P||Q), t = -a for D_a(Q||P). */
static double log_moment_of(const struct pbm_mix *mix, double t)
{
    double top = -INFINITY, sum = 0;
    int64_t left = 0;
    for (int64_t z = 0; z < mix->n; z++) {
        const double x = mix->p[z] + t * mix->q[z];
        if (!(x <= top)) /* NaN stays */
            top = x;
    }
    for (int64_t z = 0; z < mix->n; z++) {
        const double x = mix->p[z] + t * mix->q[z] - top;
        if (x < -NEGLIGIBLE)
            left++;
        else
            sum += exp(x);
    }
    sum += (double)left * exp(-NEGLIGIBLE);
    return sum == 0 ? NAN : top + log(sum);
}

/* Of one mix, in the worse direction, with what was left out. */
static double mix_moment(const struct pbm_mixes *mixes, const struct pbm_mix *mix, double order)
{
    const double kept = larger(log_moment_of(mix, order - 1), log_moment_of(mix, -order));
    const double rest = log(mix->rest) + (order - 1) * mixes->pure;
    const double top = larger(kept, rest);
    return top + log(exp(kept - top) + exp(rest - top));
}

/* The line between the known orders on both sides, raised by its rounding. Infinity where one is missing. */
static double line_at(const struct renyi_pbm *pbm, int64_t above, int64_t mix, double order)
{
    if (above == 0 || above == pbm->n_known)
        return INFINITY;
    const double *low = &pbm->known[(above - 1) * pbm->mixes->n], *high = low + pbm->mixes->n;
    const double share = (order - pbm->orders[above - 1]) / (pbm->orders[above] - pbm->orders[above - 1]);
    const double line = low[mix] + share * (high[mix] - low[mix]);
    return line + 1e-12 * (1 + fabs(low[mix]) + fabs(high[mix]));
}

/* Keeps what was found, unless there is no room or the order is known. */
static void remember(struct renyi_pbm *pbm, int64_t above, double order)
{
    const int64_t n = pbm->mixes->n;
    if (pbm->n_known == MOST_KNOWN || pbm->orders[above - 1] == order)
        return;
    for (int64_t k = pbm->n_known; k > above; k--) {
        pbm->orders[k] = pbm->orders[k - 1];
        memcpy(&pbm->known[k * n], &pbm->known[(k - 1) * n], (size_t)n * sizeof(double));
    }
    pbm->orders[above] = order;
    memcpy(&pbm->known[above * n], pbm->found, (size_t)n * sizeof(double));
    pbm->n_known++;
}

/* The largest moment of all mixes at an order. */
static double largest_moment(struct renyi_pbm *pbm, double order)
{
    int64_t above = pbm->n_known, first = 0;
    double moment = 0;
    while (above > 1 && pbm->orders[above - 1] > order)
        above--;
    for (int64_t m = 0; m < pbm->mixes->n; m++) {
        pbm->found[m] = line_at(pbm, above, m, order);
        if (pbm->found[m] > pbm->found[first])
            first = m;
    }
    /* The most promising one first: it spares most others. */
    for (int64_t i = -1; i < pbm->mixes->n; i++) {
        const int64_t m = i < 0 ? first : i;
        if (i == first || pbm->found[m] < moment)
            continue;
        pbm->found[m] = mix_moment(pbm->mixes, &pbm->mixes->mix[m], order);
        moment = larger(pbm->found[m], moment);
    }
    remember(pbm, above, order);
    return moment;
}

double renyi_pbm_at(struct renyi_pbm *pbm, double order)
{
    static const double scattered[] = {1024, 64, 16, 6, 3, 1.75};
    if (isinf(order))
        return pbm->mixes->pure;
    if (pbm->n_known == 2 && order != pbm->orders[1])
        for (size_t i = 0; i < sizeof scattered / sizeof scattered[0]; i++)
            largest_moment(pbm, scattered[i]);
    /* P^a Q^(1-a) has 2a - 1 factors; logarithms and the sum add few roundings of their own. */
    const double value = (largest_moment(pbm, order) + 2 * order * pbm->mixes->rounding) / (order - 1);
    return value > pbm->mixes->pure ? pbm->mixes->pure : value;
}
