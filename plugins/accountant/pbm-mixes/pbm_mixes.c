/* SPDX-License-Identifier: Apache-2.0 */
#include "pbm_mixes.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SIMD_TEMPLATE "pbm_rows.h"
#include "each_kind.h"

/* Up to here every mix is looked at. */
#define ALL_MIXES 512
#define FEW_BLOCKS 32
#define MANY_BLOCKS 128
/* Beyond, blocks are few and tails are cut early: sums of binomials cost the product of their widths. */
#define MANY_TRIALS 20000
/* More of the others' trials are as good as none: the bound for these holds for more. */
#define MOST_TRIALS 4000000

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

/* to[j] += x[0] b[j] + .. + x[3] b[j - 3], one after the other; b begins with three zeros. */
static void add_rows(const double x[4], const double *b, int64_t width, double *to)
{
    const int kind = simd_choose(SIMD_KIND_AUTO);
    SIMD_PICK(kind, add_rows)(x, b, width, to);
}

/* The law of a sum. */
static int convolve(const dpf_host *host, const struct masses *a, const struct masses *b, struct masses *out)
{
    /* Zeros around b and after a: four rows of products are added in one pass, each number in the same order
       as by single rows, and what is added beyond them is zero. */
    const int64_t rows = (a->n + 3) / 4 * 4, width = b->n + 3;
    double *padded = take(host, b->n + 6);
    out->n = a->n + b->n - 1;
    out->p = take(host, rows + width);
    if (!out->p || !padded) {
        drop(host, padded);
        return -1;
    }
    memcpy(padded + 3, b->p, (size_t)b->n * sizeof(double));
    for (int64_t i = 0; i < rows; i += 4) {
        double x[4] = {0};
        memcpy(x, a->p + i, (size_t)(a->n - i < 4 ? a->n - i : 4) * sizeof(double));
        add_rows(x, padded, width, out->p + i);
    }
    drop(host, padded);
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

static int fill_mix(const dpf_host *host, struct pbm_mix *mix, const struct masses *w,
                    const struct masses *client, const struct masses *other)
{
    struct masses p = {0}, q = {0};
    int status = convolve(host, w, client, &p);
    if (status == 0)
        status = convolve(host, w, other, &q);
    mix->n = p.n;
    mix->p = p.p;
    mix->q = q.p;
    return status;
}

/* One mix: `high` of the others' trials succeed with probability h, `low` with l. */
static int make_mix(struct pbm_mixes *pbm, struct pbm_mix *mix, double theta, int64_t high, int64_t low,
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
        mix->rest = ((double)(high + low) + width + 2) * cut;
        const double steps = 8 * (width + (double)client->n) + 16;
        pbm->rounding = fmax(pbm->rounding, steps * DBL_EPSILON);
    }
    drop(host, a.p);
    drop(host, b.p);
    drop(host, w.p);
    return status;
}

static int make_mixes(struct pbm_mixes *pbm, double theta, int64_t others, double cut,
                      const struct masses *client, const struct masses *other)
{
    const int64_t block = (others + pbm->n) / pbm->n;
    for (int64_t m = 0; m < pbm->n; m++) {
        const int64_t first = m * block, last = first + block - 1 < others ? first + block - 1 : others;
        if (first > others) {
            pbm->n = m;
            break;
        }
        if (make_mix(pbm, &pbm->mix[m], theta, first, others - last, cut, client, other) != 0)
            return -1;
    }
    return 0;
}

struct pbm_mixes *pbm_mixes_new(const dpf_host *host, double theta, int64_t trials, int64_t clients,
                                int zero_out)
{
    const double low = 0.5 - theta, high = 0.5 + theta, other_p = zero_out ? 0.5 : low;
    const double limit = (double)MOST_TRIALS / (double)trials;
    const int64_t others = (double)(clients - 1) < limit ? (clients - 1) * trials : MOST_TRIALS;
    struct masses client = {0}, other = {0};
    struct pbm_mixes *pbm = dpf_memory(host)->allocate(host, sizeof(*pbm));
    if (!pbm)
        return NULL;
    pbm->host = host;
    pbm->complete = others <= ALL_MIXES && (double)(clients - 1) * (double)trials == (double)others;
    pbm->pure = (double)trials * (zero_out ? -log1p(-2 * theta) : log(high / low)) * (1 + 8 * DBL_EPSILON);
    pbm->n = others <= ALL_MIXES ? others + 1 : others <= MANY_TRIALS ? MANY_BLOCKS : FEW_BLOCKS;
    pbm->mix = dpf_memory(host)->allocate(host, (uint64_t)pbm->n * sizeof(*pbm->mix));
    /* Products with the client's masses, at least low^q, must not vanish. */
    const double least = 1e-290 * pow(low, -(double)trials);
    const double cut = others > MANY_TRIALS ? fmax(least, 1e-100) : least;
    const int failed = !pbm->mix || binomial(host, trials, high, 0, &client) != 0 ||
                       binomial(host, trials, other_p, 0, &other) != 0 ||
                       make_mixes(pbm, theta, others, cut, &client, &other) != 0;
    drop(host, client.p);
    drop(host, other.p);
    if (!failed)
        return pbm;
    pbm_mixes_free(host, pbm);
    return NULL;
}

void pbm_mixes_free(const dpf_host *host, struct pbm_mixes *pbm)
{
    for (int64_t m = 0; pbm && pbm->mix && m < pbm->n; m++) {
        drop(host, pbm->mix[m].p);
        drop(host, pbm->mix[m].q);
    }
    if (pbm)
        drop(host, pbm->mix);
    drop(host, pbm);
}

/* ---- what is asked ------------------------------------------------------------------------------- */

static int is_whole(double x, double lowest, double highest)
{
    return x >= lowest && x <= highest && x == floor(x);
}

const char *pbm_parameters_fault(const dpf_event_numbers *p)
{
    if (!(p->pbm.theta > 0.0 && p->pbm.theta <= 0.25) || !is_whole(p->pbm.trials, 1.0, 1e9) ||
        !is_whole(p->pbm.clients, 1.0, 1e12) || !is_whole(p->pbm.coordinates, 1.0, 0x1p53))
        return "its theta, trials, clients or coordinates are out of range";
    return p->pbm.trials <= PBM_MOST_TRIALS ? NULL : "accountants serve up to 256 trials of a client";
}

/*
 * A client that is replaced goes from any message to any other; one that is zeroed sends the middle. Other
 * neighbours differ in the number of clients, or draw clients by what they hold; and a client one record of
 * which is zeroed does not send the middle.
 */
const char *pbm_question_fault(const dpf_event *event, const dpf_question *question)
{
    if (question->unit != DPF_UNIT_USER)
        return "the Poisson binomial mechanism protects a client with all records; ask for unit user";
    if (question->adjacency != DPF_ADJ_REPLACE && question->adjacency != DPF_ADJ_ZERO_OUT)
        return "the Poisson binomial mechanism protects a client that is replaced or zeroed, not one that is "
               "absent; ask for adjacency replace or zero-out";
    return event->sampling.kind == DPF_SAMPLING_WEIGHTED
               ? "the Poisson binomial mechanism needs clients that are drawn whatever they hold"
               : NULL;
}
