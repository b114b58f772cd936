/* SPDX-License-Identifier: Apache-2.0 */
#include "shift_mixes.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define DEVIATIONS 37.0 /* e^{-37^2/2} is 1e-297 */
#define LEFT_OUT 1e-290
#define MOST_MIXES 512

struct search {
    const dpf_host *host;
    struct pbm_mixes *mixes;
    double *noise;                       /* masses at -reach .. reach */
    double *laws[SHIFT_MOST_SQUARE + 1]; /* of Y at -width .. width, by the number of coordinates */
    int64_t reach, width;
};

static double *take(const dpf_host *host, int64_t n)
{
    return dpf_memory(host)->allocate(host, (uint64_t)n * sizeof(double));
}

/* The law with one coordinate more, which moves by v. */
static void add_coordinate(const struct search *s, const double *law, int64_t v, double *out)
{
    const int64_t n = 2 * s->width + 1;
    memset(out, 0, (size_t)n * sizeof(double));
    for (int64_t x = -s->reach; x <= s->reach; x++) {
        const double mass = s->noise[x + s->reach];
        const int64_t by = v * x, from = by > 0 ? by : 0, to = by > 0 ? n : n + by;
        for (int64_t i = from; i < to; i++)
            out[i] += mass * law[i - by];
    }
}

/* Where both laws have mass. */
static dpf_status record(struct search *s, const double *law, int64_t square)
{
    struct pbm_mix *mix = &s->mixes->mix[s->mixes->n];
    if (s->mixes->n == MOST_MIXES)
        return DPF_E_NUMERIC;
    *mix = (struct pbm_mix){take(s->host, 2 * s->width + 1), take(s->host, 2 * s->width + 1), 0, LEFT_OUT};
    s->mixes->n++;
    if (!mix->p || !mix->q)
        return DPF_E_MEMORY;
    for (int64_t i = square; i <= 2 * s->width; i++)
        if (law[i] > LEFT_OUT * 1e-9 && law[i - square] > LEFT_OUT * 1e-9) {
            mix->p[mix->n] = law[i - square];
            mix->q[mix->n++] = law[i];
        }
    return DPF_OK;
}

/* Coordinates of falling size, while any fits. */
static dpf_status search(struct search *s, int depth, int64_t square, int64_t rest, int64_t l1, int64_t most)
{
    dpf_status status = DPF_OK;
    if (rest < 1 || l1 < 1)
        return record(s, s->laws[depth], square);
    for (int64_t v = most < l1 ? most : l1; v >= 1 && status == DPF_OK; v--) {
        if (v * v > rest)
            continue;
        if (!s->laws[depth + 1])
            s->laws[depth + 1] = take(s->host, 2 * s->width + 1);
        if (!s->laws[depth + 1])
            return DPF_E_MEMORY;
        add_coordinate(s, s->laws[depth], v, s->laws[depth + 1]);
        status = search(s, depth + 1, square + v * v, rest - v * v, l1 - v, v);
    }
    return status;
}

static dpf_status start(struct search *s, double scale, int64_t square)
{
    s->reach = (int64_t)ceil(DEVIATIONS * scale);
    s->width = (int64_t)ceil(DEVIATIONS * scale * sqrt((double)square)) + square;
    s->noise = take(s->host, 2 * s->reach + 1);
    s->laws[0] = take(s->host, 2 * s->width + 1);
    if (!s->noise || !s->laws[0])
        return DPF_E_MEMORY;
    double norm = 0.0;
    for (int64_t x = s->reach; x >= -s->reach; x--)
        norm += s->noise[x + s->reach] = exp(-(double)(x * x) / (2.0 * scale * scale));
    for (int64_t x = -s->reach; x <= s->reach; x++)
        s->noise[x + s->reach] /= norm;
    memset(s->laws[0], 0, (size_t)(2 * s->width + 1) * sizeof(double));
    s->laws[0][s->width] = 1.0;
    return DPF_OK;
}

struct pbm_mixes *shift_mixes_new(const dpf_host *host, double scale, int64_t square, int64_t l1)
{
    const dpf_memory_service *memory = dpf_memory(host);
    struct search s = {.host = host, .mixes = memory->allocate(host, sizeof *s.mixes)};
    if (!s.mixes)
        return NULL;
    memset(s.mixes, 0, sizeof *s.mixes);
    s.mixes->mix = memory->allocate(host, MOST_MIXES * sizeof *s.mixes->mix);
    dpf_status status = s.mixes->mix ? start(&s, scale, square) : DPF_E_MEMORY;
    if (status == DPF_OK)
        status = search(&s, 0, 0, square, l1, SHIFT_MOST_SQUARE);
    /* A mass has as many roundings as its sums have terms, and the exponential's own. */
    s.mixes->rounding = DBL_EPSILON * (double)(square + 2) * (double)(2 * s.reach + 800);
    s.mixes->complete = 1;
    memory->release(host, s.noise);
    for (int i = 0; i <= SHIFT_MOST_SQUARE; i++)
        memory->release(host, s.laws[i]);
    if (status == DPF_OK)
        return s.mixes;
    pbm_mixes_free(host, s.mixes);
    return NULL;
}
