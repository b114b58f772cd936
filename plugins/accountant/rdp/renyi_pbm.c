/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renyi_pbm.c - the curve of the Poisson binomial mechanism: the largest over the mixes of pbm_mixes.h.
 *
 * What the mixes leave out: (P + P')^a (Q + Q')^{1-a} <= P^a Q^{1-a} + P'^a Q'^{1-a}, so it adds at most its
 * mass times e^{(a-1) e}, e the pure epsilon of the client alone.
 */
#include "renyi_pbm.h"

#include <float.h>
#include <math.h>

struct pbm_mixes *renyi_pbm_new(const dpf_host *host, double theta, int64_t trials, int64_t clients,
                                int zero_out)
{
    struct pbm_mixes *pbm = pbm_mixes_new(host, theta, trials, clients, zero_out);
    for (int64_t m = 0; pbm && m < pbm->n; m++) {
        struct pbm_mix *mix = &pbm->mix[m];
        for (int64_t z = 0; z < mix->n; z++) {
            mix->q[z] = log(mix->p[z] / mix->q[z]);
            mix->p[z] = log(mix->p[z]);
        }
    }
    return pbm;
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
    for (int64_t z = 0; z < mix->n; z++)
        top = fmax(top, mix->p[z] + t * mix->q[z]);
    for (int64_t z = 0; z < mix->n; z++)
        sum += exp(mix->p[z] + t * mix->q[z] - top);
    return sum == 0 ? NAN : top + log(sum);
}

/* Of one mix, in the worse direction, with what was left out. */
static double mix_moment(const struct pbm_mixes *pbm, const struct pbm_mix *mix, double order)
{
    const double kept = larger(log_moment_of(mix, order - 1), log_moment_of(mix, -order));
    const double rest = log(mix->rest) + (order - 1) * pbm->pure;
    const double top = larger(kept, rest);
    return top + log(exp(kept - top) + exp(rest - top));
}

double renyi_pbm_at(const struct pbm_mixes *pbm, double order)
{
    double moment = 0;
    if (isinf(order))
        return pbm->pure;
    for (int64_t m = 0; m < pbm->n; m++)
        moment = larger(moment, mix_moment(pbm, &pbm->mix[m], order));
    /* P^a Q^(1-a) has 2a - 1 factors; logarithms and the sum add few roundings of their own. */
    const double value = (moment + 2 * order * pbm->rounding) / (order - 1);
    return value > pbm->pure ? pbm->pure : value;
}
