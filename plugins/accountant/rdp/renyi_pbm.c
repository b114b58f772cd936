/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renyi_pbm.c - the curve of the Poisson binomial mechanism, exact up to 512 trials of the others.
 *
 * Let B(p) be a trial of probability p, W the others' trials, h = 1/2 + theta, l = 1/2 - theta.
 *
 * The client. Bin(q, p) + W grows in the likelihood ratio order with p, since W has a log-concave mass
 * function and that order survives sums with such (Shanthikumar, Yao, 1986). For three laws in that order the
 * likelihood ratio of the outer two dominates that of the inner two in the convex order, so every
 * f-divergence grows when p and p' move apart: the extremes are the ends, h against l, or h against 1/2
 * for zero-out (l against 1/2 is its mirror image).
 *
 * The others. A trial of probability p in [l, h] is a mixture of B(l) and B(h), the same one in both
 * neighbours, and E_Q[(P/Q)^a] is jointly convex in (P, Q): the worst case has every trial at an end. So W =
 * Bin(i, h) + Bin(N - i, l), and the curve is the largest value over i = 0 .. N, N = (n - 1) q, in both
 * directions.
 *
 * Many trials. Dropping some of the others' trials adds nothing but a sum with them, so divergence does not
 * fall (data processing). For i in [i0, i1] the law with i0 trials at h and N - i1 at l is therefore an upper
 * bound: N is cut into blocks of i, which costs about one part in the number of blocks.
 *
 * Tails. Masses of W below a cut are left out. (P + P')^a (Q + Q')^{1-a} <= P^a Q^{1-a} + P'^a Q'^{1-a}, so
 * what is left out adds at most its mass times e^{(a-1) e}, e the pure epsilon of the client alone.
 *
 * Rounding. All masses are sums and products of positive numbers: relative errors, bounded by `rounding`.
 */
#include "renyi_pbm.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Up to here every mix is looked at. */
#define ALL_MIXES 512
#define FEW_BLOCKS 32
#define MANY_BLOCKS 128
/* Beyond, blocks are few and tails are cut early: sums of binomials cost the product of their widths. */
#define MANY_TRIALS 20000
/* More of the others' trials are as good as none: the bound for these holds for more. */
#define MOST_TRIALS 4000000

/* ln P and ln P/Q at each value of Z, for one mix. */
struct mix {
    double *log_p;
    double *log_ratio;
    int64_t n;
    double log_rest; /* ln of the mass that is left out */
};

struct renyi_pbm {
    const dpf_host *host;
    int64_t n_mixes;
    struct mix *mixes;
    double pure;     /* epsilon of the client alone */
    double rounding; /* relative error of a mass */
};

/* Masses of successive values, the first of which does not matter. */
struct masses {
    double *p;
    int64_t n;
};

static void *take(const dpf_host *host, int64_t n)
{
    return dpf_memory(host)->allocate(host, (uint64_t)n * sizeof(double));
}

static void drop(const dpf_host *host, void *block)
{
    dpf_memory(host)->release(host, block);
}

/*
 * Bin(n, p) where it is at least cut times its largest value, by recurrence from there; at most 1 + n values.
 * Each step has three roundings, and the sum that normalises one for each value.
 */
static int binomial(const dpf_host *host, int64_t n, double p, double cut, struct masses *out)
{
    const double odds = p / (1 - p);
    int64_t mode = (int64_t)((double)(n + 1) * p);
    int64_t low, high;
    double x = 1, sum = 1;
    mode = mode > n ? n : mode;
    for (low = mode; low > 0 && x >= cut; low--)
        x *= (double)low / ((double)(n - low + 1) * odds);
    for (x = 1, high = mode; high < n && x >= cut; high++)
        x *= (double)(n - high) / (double)(high + 1) * odds;
    out->n = high - low + 1;
    out->p = take(host, out->n);
    if (!out->p)
        return -1;
    out->p[mode - low] = 1;
    for (int64_t k = mode; k > low; k--)
        sum += out->p[k - 1 - low] = out->p[k - low] * ((double)k / ((double)(n - k + 1) * odds));
    for (int64_t k = mode; k < high; k++)
        sum += out->p[k + 1 - low] = out->p[k - low] * ((double)(n - k) / (double)(k + 1) * odds);
    for (int64_t i = 0; i < out->n; i++)
        out->p[i] /= sum;
    return 0;
}

/* The law of a sum. */
static int convolve(const dpf_host *host, const struct masses *a, const struct masses *b, struct masses *out)
{
    out->n = a->n + b->n - 1;
    out->p = take(host, out->n);
    if (!out->p)
        return -1;
    for (int64_t i = 0; i < a->n; i++) {
        const double x = a->p[i];
        double *restrict to = out->p + i;
        const double *restrict from = b->p;
        for (int64_t j = 0; j < b->n; j++)
            to[j] += x * from[j];
    }
    return 0;
}

/* Leaves out values at both ends that are below the cut. */
static void trim(struct masses *w, double cut)
{
    int64_t first = 0;
    while (w->n > 1 && w->p[w->n - 1] < cut)
        w->n--;
    while (first < w->n - 1 && w->p[first] < cut)
        first++;
    w->n -= first;
    memmove(w->p, w->p + first, (size_t)w->n * sizeof(double));
}

static int fill_mix(const dpf_host *host, struct mix *mix, const struct masses *w,
                    const struct masses *client, const struct masses *other)
{
    struct masses p = {0}, q = {0};
    int status = convolve(host, w, client, &p);
    if (status == 0)
        status = convolve(host, w, other, &q);
    mix->n = p.n;
    mix->log_p = p.p;
    mix->log_ratio = q.p;
    for (int64_t z = 0; status == 0 && z < mix->n; z++) {
        mix->log_ratio[z] = log(p.p[z] / q.p[z]);
        mix->log_p[z] = log(p.p[z]);
    }
    return status;
}

/* One mix: `high` of the others' trials succeed with probability h, `low` with l. */
static int make_mix(struct renyi_pbm *pbm, struct mix *mix, double theta, int64_t high, int64_t low,
                    double cut, const struct masses *client, const struct masses *other)
{
    const dpf_host *host = pbm->host;
    struct masses a = {0}, b = {0}, w = {0};
    int status = binomial(host, high, 0.5 + theta, cut, &a);
    if (status == 0)
        status = binomial(host, low, 0.5 - theta, cut, &b);
    if (status == 0)
        status = convolve(host, &a, &b, &w);
    if (status == 0) {
        const double width = (double)w.n;
        trim(&w, cut);
        status = fill_mix(host, mix, &w, client, other);
        mix->log_rest = log(((double)(high + low) + width + 2) * cut);
        const double steps = 8 * (width + (double)client->n) + 16;
        pbm->rounding = fmax(pbm->rounding, steps * DBL_EPSILON);
    }
    drop(host, a.p);
    drop(host, b.p);
    drop(host, w.p);
    return status;
}

static int make_mixes(struct renyi_pbm *pbm, double theta, int64_t others, double cut,
                      const struct masses *client, const struct masses *other)
{
    const int64_t block = (others + pbm->n_mixes) / pbm->n_mixes;
    for (int64_t m = 0; m < pbm->n_mixes; m++) {
        const int64_t first = m * block, last = first + block - 1 < others ? first + block - 1 : others;
        if (first > others) {
            pbm->n_mixes = m;
            break;
        }
        if (make_mix(pbm, &pbm->mixes[m], theta, first, others - last, cut, client, other) != 0)
            return -1;
    }
    return 0;
}

struct renyi_pbm *renyi_pbm_new(const dpf_host *host, double theta, int64_t trials, int64_t clients,
                                int zero_out)
{
    const double low = 0.5 - theta, high = 0.5 + theta, other_p = zero_out ? 0.5 : low;
    const double limit = (double)MOST_TRIALS / (double)trials;
    const int64_t others = (double)(clients - 1) < limit ? (clients - 1) * trials : MOST_TRIALS;
    struct masses client = {0}, other = {0};
    struct renyi_pbm *pbm = dpf_memory(host)->allocate(host, sizeof(*pbm));
    if (!pbm)
        return NULL;
    pbm->host = host;
    pbm->pure = (double)trials * (zero_out ? -log1p(-2 * theta) : log(high / low)) * (1 + 8 * DBL_EPSILON);
    pbm->n_mixes = others <= ALL_MIXES ? others + 1 : others <= MANY_TRIALS ? MANY_BLOCKS : FEW_BLOCKS;
    pbm->mixes = dpf_memory(host)->allocate(host, (uint64_t)pbm->n_mixes * sizeof(*pbm->mixes));
    /* Products with the client's masses, at least low^q, must not vanish. */
    const double least = 1e-290 * pow(low, -(double)trials);
    const double cut = others > MANY_TRIALS ? fmax(least, 1e-100) : least;
    const int failed = !pbm->mixes || binomial(host, trials, high, 0, &client) != 0 ||
                       binomial(host, trials, other_p, 0, &other) != 0 ||
                       make_mixes(pbm, theta, others, cut, &client, &other) != 0;
    drop(host, client.p);
    drop(host, other.p);
    if (!failed)
        return pbm;
    renyi_pbm_free(host, pbm);
    return NULL;
}

void renyi_pbm_free(const dpf_host *host, struct renyi_pbm *pbm)
{
    for (int64_t m = 0; pbm && pbm->mixes && m < pbm->n_mixes; m++) {
        drop(host, pbm->mixes[m].log_p);
        drop(host, pbm->mixes[m].log_ratio);
    }
    if (pbm)
        drop(host, pbm->mixes);
    drop(host, pbm);
}

/* Unlike fmax, keeps NaN: what could not be computed must not become small. */
static double larger(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

/* ln sum P e^{t ln P/Q}: t = a - 1 for D_a(P||Q), t = -a for D_a(Q||P). */
static double log_moment_of(const struct mix *mix, double t)
{
    double top = -INFINITY, sum = 0;
    for (int64_t z = 0; z < mix->n; z++)
        top = fmax(top, mix->log_p[z] + t * mix->log_ratio[z]);
    for (int64_t z = 0; z < mix->n; z++)
        sum += exp(mix->log_p[z] + t * mix->log_ratio[z] - top);
    return sum == 0 ? NAN : top + log(sum);
}

/* Of one mix, in the worse direction, with what was left out. */
static double mix_moment(const struct renyi_pbm *pbm, const struct mix *mix, double order)
{
    const double kept = larger(log_moment_of(mix, order - 1), log_moment_of(mix, -order));
    const double rest = mix->log_rest + (order - 1) * pbm->pure;
    const double top = larger(kept, rest);
    return top + log(exp(kept - top) + exp(rest - top));
}

double renyi_pbm_at(const struct renyi_pbm *pbm, double order)
{
    double moment = 0;
    if (isinf(order))
        return pbm->pure;
    for (int64_t m = 0; m < pbm->n_mixes; m++)
        moment = larger(moment, mix_moment(pbm, &pbm->mixes[m], order));
    /* P^a Q^(1-a) has 2a - 1 factors; logarithms and the sum add few roundings of their own. */
    const double value = (moment + 2 * order * pbm->rounding) / (order - 1);
    return value > pbm->pure ? pbm->pure : value;
}
